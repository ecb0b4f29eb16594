"""A server on a pipe: started on the servers' core, and asked line by line from the load's. The driver is Python, which
takes far less than any server does."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from .environments import ROOT
from .jobs import Job, WrongAnswer
from .machine import cores, on
from .messages import Era, line
from .processes import environment
from .setups import Setup

_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {
        "protocolVersion": Era.HANDSHAKE.value,
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}
_INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Pipe:
    """A server on a pipe that has answered `initialize`.

    :ivar of: its name, for errors.
    :ivar ready: seconds from its start to that answer.
    """

    def __init__(self, of: str, process: subprocess.Popen[bytes], start: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.of = of
        self.pid = process.pid
        self._to, self._from = process.stdin, process.stdout
        self._send(json.dumps(_INITIALIZE).encode() + b"\n")
        answer = self._receive()
        self.ready = perf_counter() - start
        if b'"result"' not in answer:
            raise WrongAnswer(f"{of} does not let a client in: {answer!r:.300}")
        self._send(json.dumps(_INITIALIZED).encode() + b"\n")

    def judge(self, job: Job, era: Era) -> None:
        """Let a job judge its answer.

        :raises WrongAnswer: naming the server.
        """
        self._send(line(job, era))
        answer = self._receive()
        try:
            job.judge(json.loads(answer))
        except (WrongAnswer, KeyError, TypeError, ValueError) as error:
            raise WrongAnswer(f"{self.of}, {job.name}: {error!r}; it answered {answer!r:.300}") from error

    def exchange(self, lines: Sequence[bytes], in_flight: int = 1) -> float:
        """Send lines, of which no more than `in_flight` wait for an answer at once.

        :return: seconds until all were answered.
        :raises WrongAnswer: where an answer is none.
        """
        waiting = iter(lines)
        answers = []
        start = perf_counter()
        for _ in range(min(in_flight, len(lines))):
            self._send(next(waiting))
        for _ in lines:
            answers.append(self._receive())
            following = next(waiting, None)
            if following is not None:
                self._send(following)
        taken = perf_counter() - start
        wrong = next((answer for answer in answers if b'"result"' not in answer), None)
        if wrong is not None:
            raise WrongAnswer(f"{self.of} answered {wrong!r:.300}")
        return taken

    def _send(self, sent: bytes) -> None:
        self._to.write(sent)
        self._to.flush()

    def _receive(self) -> bytes:
        answer = self._from.readline()
        if not answer:
            raise WrongAnswer(f"{self.of} has ended")
        return answer


@contextmanager
def piped(of: str, command: Sequence[str], setup: Setup) -> Iterator[Pipe]:
    """A server on a pipe for as long as this lasts. What it writes to its log is shown if it fails."""
    server, driver = cores()
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+b") as log:
        start = perf_counter()
        with on(server):
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(setup, Path(folder)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        try:
            with on(driver):
                yield Pipe(of, process, start)
        except BaseException as error:
            error.add_note(f"{of} has written: {(Path(folder) / 'log').read_text(errors='replace')[-2000:]}")
            raise
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=30)  # closes its input, at which it ends
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
