"""What the tests of these clients share: the packages, and the app at both of its doors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from ..served import Gunicorn, exchange, post
from .packages import installed

_APP = "tests.clients.app"
_THREE_WORKERS = ("--workers", "3", "--worker-class", "gthread", "--threads", "8")


class Shed(NamedTuple):
    """Where the clients find the app: at a URL, and by a command that serves it on a pipe.

    :ivar environment: what their processes, and those that they start, are to have.
    """

    modules: Path
    url: str
    command: list[str]
    environment: dict[str, str]


@pytest.fixture(scope="session")
def node_clients() -> Path:
    """The `node_modules` of the official clients; they need Node and npm."""
    return installed()


@pytest.fixture(scope="session")
def shed(node_clients: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shed]:
    folder = tmp_path_factory.mktemp("shed")
    own = {"CLIENTS_JOURNAL": str(folder / "journal"), "TMPDIR": str(folder), "HOME": str(folder)}
    command = [sys.executable, "-m", "flask", "--app", f"{_APP}:create_app", "mcp", "start"]
    with Gunicorn(folder, _APP, *_THREE_WORKERS, env=own) as gunicorn:
        # Waits for the first worker: a client's own timeout is not to be the measure of how long that takes.
        assert exchange(gunicorn.port, [post(method="GET")]).status == 405
        environment = {**os.environ, **own, "NODE_MODULES": str(node_clients)}
        yield Shed(node_clients, f"http://127.0.0.1:{gunicorn.port}/mcp", command, environment)
