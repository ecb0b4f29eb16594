"""How a server is set up for a measurement: its number of tools, what is hidden of them, and what it does beside. A
process that serves is told by one environment variable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

VARIABLE = "BENCHMARK_SETUP"


class Setup(NamedTuple):
    """What a server serves.

    :ivar tools: how many tools it lists; None for those that do work.
    :ivar half: whether every second of them is hidden from guests.
    :ivar recheck: whether it asks again before it answers.
    :ivar answers: what a view answers that does no work, by job.
    """

    tools: int | None = None
    half: bool = False
    recheck: bool = False
    answers: Mapping[str, Any] = {}

    @classmethod
    def read(cls) -> Setup:
        """What this process was told."""
        return cls(**json.loads(os.environ.get(VARIABLE, "{}")))

    def written(self) -> dict[str, str]:
        """The environment variable that tells a process."""
        return {VARIABLE: json.dumps(self._asdict())}
