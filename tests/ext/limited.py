"""An app whose declarations have rate limits, and a real Redis to count in."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from marshmallow import fields

from flask_arandu_mcp import Elicit, Request, Server, prompt, public, resource, tool

from ..app import create_app as create_unlimited_app


def make_server(limits: str = "2/hour") -> Server:
    """A server with the same limit on each declaration but one."""

    @tool(access=public, arguments={"a": fields.Integer()})
    def ping(request: Request, a: int = 0) -> str:
        """Answers, and takes a while."""
        time.sleep(a / 1000)
        return str(os.getpid())

    @tool(access=public)
    def pong(request: Request) -> str:
        """Answers."""
        return "pong"

    @tool(access=public)
    def farewell(request: Request) -> Generator[Any, Any, str]:
        """Asks twice, and says goodbye."""
        for key in ("sure", "quite"):
            answer = yield Elicit(key, "Sure?", {"yes": fields.Boolean(required=True)})
            assert answer.accepted
        return "bye"

    @resource("note://{name}", access=public)
    def note(request: Request, name: str) -> str:
        """A note."""
        return name

    @prompt(name="ping", access=public, arguments={"topic": fields.String()})
    def ping_prompt(request: Request, topic: str = "") -> str:
        """Has the name of a tool."""
        return topic

    @note.completes("name")
    def names(request: Request, value: str) -> list[str]:
        return [value]

    return Server("limited", tools=[ping, pong, farewell], resources=[note], prompts=[ping_prompt], limits=limits)


def create_app(
    config: dict[str, Any] | None = None, *, server: Server | None = None, limits: str = "2/hour", **options: Any
) -> Flask:
    """The tests' users, and a Flask-Limiter that was initialised after the server."""
    limits = os.environ.get("TEST_LIMITS", limits)
    app = create_unlimited_app(config, server=server or make_server(limits))
    options.setdefault("storage_uri", os.environ.get("TEST_STORAGE", "memory://"))
    options.setdefault("default_limits", [os.environ[key] for key in ["TEST_DEFAULT"] if key in os.environ])
    Limiter(options.pop("key_func", get_remote_address), app=app, **options)
    return app


def limiter_of(app: Flask) -> Limiter:
    """The limiter that `create_app` gave to the app."""
    limiter: Limiter = next(iter(app.extensions["limiter"]))
    return limiter


def blueprint_of(app: Flask) -> Blueprint:
    """What serves the server of an app."""
    blueprint = app.blueprints["arandu_mcp"]
    assert isinstance(blueprint, Blueprint)
    return blueprint


class Redis:
    """A Redis of its own, while the context lasts and it is not stopped."""

    def __enter__(self) -> Redis:
        # Not pytest's folder: the path of a socket has to be short.
        self._folder = Path(tempfile.mkdtemp())
        self._path = self._folder / "redis.sock"
        self.uri = f"redis+unix://{self._path}"
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        assert shutil.which("redis-server"), "the tests need Redis: apt-get install redis-server"
        command = ["redis-server", "--port", "0", "--unixsocket", str(self._path), "--save", "", "--dir"]
        self._process = subprocess.Popen(
            [*command, str(self._folder)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 20
        while not self._answers():
            assert self._process.poll() is None, "redis-server has ended"
            assert time.monotonic() < deadline, "redis-server does not answer"
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop it at once; what it counted is lost."""
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        with socket.socket(socket.AF_UNIX) as connection, suppress(OSError):
            connection.connect(str(self._path))
            connection.sendall(b"PING\r\n")
            return connection.recv(16) == b"+PONG\r\n"
        return False
