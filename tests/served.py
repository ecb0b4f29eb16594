"""The tests' app as it is really served: by gunicorn, in one process whose memory can be asked for. Bytes go over plain
sockets, so that a reset connection is seen as one."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from flask import Flask

from . import app as tests_app
from .environs import ROOT

_TIMEOUT = 60.0


def create_app() -> Flask:
    """The tests' app, which also says how much memory its process has ever held."""
    app = tests_app.create_app()

    @app.get("/peak")
    def peak() -> str:
        unit = 1 if sys.platform == "darwin" else 1024
        return str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)

    return app


class Raw(NamedTuple):
    """An answer, as it came."""

    status: int
    head: str
    body: bytes


def exchange(port: int, parts: Iterable[bytes]) -> Raw:
    """Send bytes to a server on this machine and read its answer to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), _TIMEOUT) as connection:
        for part in parts:
            connection.sendall(part)
        received = bytearray()
        while chunk := connection.recv(65536):
            received += chunk
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    return Raw(int(head.split()[1]), head.decode("latin-1"), body)


def post(*headers: str, path: str = "/mcp", method: str = "POST") -> bytes:
    """The head of a request that ends its connection."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def chunked(parts: Iterable[bytes]) -> Iterable[bytes]:
    """A body without a length."""
    for part in parts:
        yield b"%x\r\n%s\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


class Gunicorn:
    """The tests' app, or another, on a port of its own, while the context lasts."""

    def __init__(
        self, folder: Path, app: str = "tests.served", *options: str, env: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._command = [*options, f"{app}:create_app()"]
        self._env = env or {}
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    def __enter__(self) -> Gunicorn:
        # gunicorn inherits a socket that listens already, so no other process can take the port in between.
        listener = self._socket.fileno()
        command = [sys.executable, "-m", "gunicorn", "--bind", f"fd://{listener}", *self._command]
        with (self._folder / "gunicorn.log").open("wb") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                # Newer versions of gunicorn keep a control socket in the home folder.
                env={**os.environ, "HOME": str(self._folder), **self._env},
                pass_fds=[listener],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._socket.close()

    def peak(self) -> int:
        """Bytes that the process has ever held."""
        return int(exchange(self.port, [post(path="/peak", method="GET")]).body)
