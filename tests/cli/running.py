"""How the commands are run: within this process, as a program with pipes, and as a program at a terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner, Result
from flask import Flask
from flask.cli import FlaskGroup

from ..environs import ROOT, environment

DESK = "tests.cli.desk:create_app"
_TIMEOUT = 60.0


def invoke(app: Flask, *args: str, **options: Any) -> Result:
    """Run `flask mcp` within this process."""
    return CliRunner().invoke(FlaskGroup(create_app=lambda: app), ["mcp", *args], **options)


def found(result: Result) -> Any:
    """The JSON that a command printed, and nothing else, on stdout."""
    return json.loads(result.stdout)


class Done(NamedTuple):
    """A program that has ended."""

    code: int
    out: str
    err: str


def flask(*args: str, cwd: Path = ROOT, stdin: str = "", env: Mapping[str, str] | None = None) -> Done:
    """Run `flask` as a program, with pipes."""
    command = [sys.executable, "-m", "flask", *args]
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, cwd=cwd, env=environment(**(env or {})), timeout=_TIMEOUT
    )
    return Done(done.returncode, done.stdout, done.stderr)


def mcp(*args: str, stdin: str = "", **env: str) -> Done:
    """Run `flask mcp` of the desk's app as a program, with pipes."""
    return flask("--app", DESK, "mcp", *args, stdin=stdin, env=env)


class Terminal:
    """`flask mcp` of the desk's app at a terminal, while the context lasts."""

    def __init__(self, *args: str) -> None:
        self._args = args
        self._seen = ""
        self._looked = 0

    def __enter__(self) -> Terminal:
        command = [sys.executable, "-m", "flask", "--app", DESK, "mcp", *self._args]
        self._terminal, theirs = pty.openpty()
        self._process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=ROOT, env=environment(), start_new_session=True
        )
        os.close(theirs)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._terminal)

    def sees(self, text: str) -> Terminal:
        """Wait until a text is shown that was not seen before."""
        deadline = time.monotonic() + _TIMEOUT
        while text not in self._seen[self._looked :]:
            assert self._read(deadline), f"{text!r} is not shown after {self._seen[self._looked :]!r}"
        self._looked = self._seen.index(text, self._looked) + len(text)
        return self

    def types(self, line: str) -> Terminal:
        """Type a line."""
        os.write(self._terminal, f"{line}\n".encode())
        return self

    def ends(self) -> tuple[int, str]:
        """The exit code, and what was shown since it was last looked at."""
        deadline = time.monotonic() + _TIMEOUT
        while self._read(deadline):
            pass
        return self._process.wait(_TIMEOUT), self._seen[self._looked :]

    def _read(self, deadline: float) -> bool:
        left = deadline - time.monotonic()
        readable, _, _ = select.select([self._terminal], [], [], max(left, 0))
        try:
            chunk = os.read(self._terminal, 65536) if readable else b""
        except OSError:  # on Linux, once nobody has the other end any more
            chunk = b""
        self._seen += chunk.decode().replace("\r\n", "\n")
        return bool(chunk)
