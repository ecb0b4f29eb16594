"""How a server is set up for a measurement: its number of tools, what is hidden of them, and what it does beside. A
process that serves reads it from a file, whose name is in one environment variable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

VARIABLE = "BENCHMARK_SETUP"


class Setup(NamedTuple):
    """What a server serves.

    :ivar tools: how many tools it lists; None for those that do work.
    :ivar half: whether every second of them is hidden from guests.
    :ivar recheck: whether it asks again before it answers.
    :ivar users: whether its app has Flask-Login, and a user with a token.
    :ivar sessions: whether its app has a key to sign sessions with, as one with pages has.
    :ivar tuned: whether its tools are written for its framework's best speed.
    :ivar workers: how many calls a pipe works on at once; None for as many as by default.
    :ivar answers: what a view answers that does no work, by job.
    """

    tools: int | None = None
    half: bool = False
    recheck: bool = False
    users: bool = True
    sessions: bool = False
    tuned: bool = False
    workers: int | None = None
    answers: Mapping[str, Any] = {}

    @classmethod
    def read(cls) -> Setup:
        """What this process was told."""
        file = os.environ.get(VARIABLE)
        return cls(**json.loads(Path(file).read_text())) if file else cls()

    def write(self, file: Path) -> dict[str, str]:
        """Write it down for a process.

        :return: the environment variable that tells it.
        """
        file.write_text(json.dumps(self._asdict()))
        return {VARIABLE: str(file)}
