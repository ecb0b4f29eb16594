"""The example application as it is really served: by gunicorn on loopback, and over the pipe of `flask mcp start`.
Both serve the same data, which is in a folder of the test's own."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from .environs import ROOT, environment
from .wire import Pipe

STARTS_WITHIN = 60.0


class Blog:
    """The example, served over HTTP while the context lasts."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self.app = f"example:create_app({{'INSTANCE_PATH': {str(folder)!r}}})"
        self._workers = workers
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self) -> Blog:
        self.folder.mkdir(parents=True, exist_ok=True)
        # gunicorn inherits a socket that listens already, so no other process can take the port in between.
        listener = self._socket.fileno()
        command = [sys.executable, "-m", "gunicorn", "--workers", str(self._workers), "--bind", f"fd://{listener}"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, self.app],
                cwd=ROOT,
                # Newer versions of gunicorn keep a control socket in the home folder.
                env={**os.environ, "HOME": str(self.folder)},
                pass_fds=[listener],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()
        assert self.process.returncode == 0, self.log.read_text()

    @property
    def log(self) -> Path:
        """What gunicorn and the app have written."""
        return self.folder / "gunicorn.log"

    def _wait(self) -> None:
        deadline = time.monotonic() + STARTS_WITHIN
        # The socket takes connections from the beginning, so that a worker which never comes is a read that ends late.
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                status, _, _ = self.request("GET", "/sign-in", timeout=2.0)
                assert status == 200, self.log.read_text()
                return
        raise AssertionError(f"gunicorn does not answer:\n{self.log.read_text()}")

    def _stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._socket.close()

    def request(
        self,
        method: str,
        path: str = "/mcp",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float = 20.0,
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send one request on a connection of its own, which any of the workers may take."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def token(self, user: str) -> str:
        """A new API token of a user, from the blog's own command."""
        command = [sys.executable, "-m", "flask", "--app", self.app, "token", user]
        done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def pipe_environment(self) -> dict[str, str]:
        """What lets `flask --app example …` find this blog's data, as an operator would set it."""
        database = f"sqlite:///{self.folder / 'blog.sqlite'}"
        return environment(FLASK_SQLALCHEMY_DATABASE_URI=database, FLASK_SECRET_KEY="of the pipe")

    def pipe(self) -> Pipe:
        """A process that serves this blog over a pipe."""
        return Pipe("example", env=self.pipe_environment(), cwd=ROOT)
