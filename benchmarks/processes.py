"""Servers as processes of their own, pinned to the servers' core: started anew for every round, waited for until they
answer right, and measured from outside."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .environments import ROOT
from .jobs import Job, WrongAnswer
from .machine import cores, on
from .messages import answered
from .setups import Setup

PATIENCE = 60.0
"""Seconds that a server may take until it answers."""


class Answer:
    """What a server answered.

    :ivar status: of HTTP.
    :ivar body: as it came.
    :ivar cookie: that it set, if any.
    """

    def __init__(self, status: int, body: bytes, cookie: str | None = None) -> None:
        self.status = status
        self.body = body
        self.cookie = cookie

    def judge(self, job: Job, who: str, status: int = 200) -> None:
        """Let a job judge it.

        :raises WrongAnswer: naming the server.
        """
        try:
            if self.status != status:
                raise WrongAnswer(f"HTTP status {self.status}")
            if status == 200:
                job.judge(answered(self.body))
        except (WrongAnswer, KeyError, IndexError, TypeError, ValueError) as error:
            raise WrongAnswer(f"{who}, {job.name}: {error!r:.300}; it answered {self.body!r:.300}") from error


class Process:
    """A server that runs.

    :ivar port: where it listens.
    :ivar ready: seconds that it took from its start to its first answer.
    """

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port
        self.ready = 0.0

    def url(self, path: str) -> str:
        """Where it is asked."""
        return f"http://127.0.0.1:{self.port}{path}"

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Ask it something, over a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("POST", path, body, dict(headers))
            response = connection.getresponse()
            return Answer(response.status, response.read(), response.getheader("Set-Cookie"))
        finally:
            connection.close()

    def pids(self) -> list[int]:
        """All its processes."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and os.getsid(int(entry.name)) == self._process.pid:
                    found.append(int(entry.name))
            except ProcessLookupError:
                continue
        return found

    def memory(self) -> float:
        """The MiB that all its processes take, what they share counted once."""
        return sum(proportional(pid) for pid in self.pids())

    def worker(self) -> int:
        """The process that does the work: the one that takes most."""
        return max(self.pids(), key=resident)

    def wait(self, start: float) -> None:
        """Wait until it listens and answers, whatever that is."""
        while True:
            if self._process.poll() is not None:
                raise WrongAnswer(f"the server has ended with {self._process.returncode}")
            try:
                self.post("/", b"{}", {})
                self.ready = time.monotonic() - start
                return
            except OSError:
                if time.monotonic() - start > PATIENCE:
                    raise
                time.sleep(0.005)

    def stop(self) -> None:
        """End it, with all that it has started."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if self.pids():
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@contextmanager
def serving(command: Sequence[str], setup: Setup) -> Iterator[Process]:
    """A server for as long as this lasts. `{port}` in its command is where it is to listen.

    What it writes is shown if it fails.
    """
    port = free_port()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+b") as log:
        start = time.monotonic()
        with on(cores()[0]):
            process = Process(
                subprocess.Popen(
                    [part.format(port=port) for part in command],
                    cwd=ROOT,
                    env=environment(setup, Path(folder)),
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                ),
                port,
            )
        try:
            process.wait(start)
            yield process
        except BaseException as error:
            error.add_note(_tail(Path(folder) / "log"))
            raise
        finally:
            process.stop()


def environment(setup: Setup, folder: Path) -> dict[str, str]:
    """The environment variables of a server, whose setup is written into a folder."""
    # A coverage run would follow into the server and be measured with it.
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    return {**kept, "PYTHONPATH": str(ROOT), **setup.write(folder / "setup.json")}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def resident(pid: int) -> float:
    """The MiB of a process that are in memory."""
    return _rollup(pid, "Rss")


def proportional(pid: int) -> float:
    """The MiB of a process, of which those that it shares count in part."""
    return _rollup(pid, "Pss")


def peak(pid: int) -> float:
    """The MiB that a process has had in memory at most, since `forget_peak`."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def forget_peak(pid: int) -> None:
    """Let the peak of a process begin at what it has in memory now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _rollup(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def _tail(file: Path) -> str:
    written = file.read_text(errors="replace").strip()
    return f"The server has written: {written[-2000:] or 'nothing'}"
