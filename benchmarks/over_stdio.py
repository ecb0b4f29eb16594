"""stdio: the same jobs over a pipe, one call after another and several at once, beside a loop that only reads and
writes lines of JSON. Servers are started anew and shuffled in every round."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import jobs
from .environments import OURS, Environments
from .jobs import Job
from .machine import Others
from .messages import Era, line
from .pipe import Pipe, piped
from .plans import named
from .setups import Setup
from .table import Group, Sheet

LINES = "line loop"
IN_FLIGHT = [1, 2, 4, 8, 16]
WAITING = jobs.waiting(0.005)


class Talker(NamedTuple):
    """A server on a pipe.

    :ivar works: whether it does more than answer lines.
    """

    of: str
    environment: str
    command: tuple[str, ...]
    setup: Setup
    eras: tuple[Era, ...] = (Era.HANDSHAKE,)
    works: bool = True


def ours(workers: int | None = None) -> Talker:
    """Our server, with as many workers; there are four by default."""
    of = "ours" if workers is None else f"ours, {workers} worker{'s' if workers > 1 else ''}"
    command = ("flask", "--app", "benchmarks.servers.ours:create_app", "mcp", "start")
    return Talker(of, OURS, command, Setup(workers=workers), tuple(Era))


def talkers() -> list[Talker]:
    """All servers that speak over a pipe."""
    return [
        Talker(LINES, OURS, ("python", "-m", "benchmarks.servers.line_loop"), Setup(), works=False),
        ours(),
        ours(1),
        ours(16),
        Talker("SDK", "sdk", ("python", "-m", "benchmarks.servers.sdk"), Setup()),
        Talker("SDK tuned", "sdk", ("python", "-m", "benchmarks.servers.sdk"), Setup(tuned=True)),
        Talker("FastMCP", "fastmcp", ("python", "-m", "benchmarks.servers.fast"), Setup()),
    ]


class Case(NamedTuple):
    """Something to ask of one of them, with so many calls at once."""

    of: str
    job: Job
    era: Era
    in_flight: int

    @property
    def title(self) -> str:
        """The group of the table that it belongs to."""
        return f"{self.job.name}, stdio, {self.in_flight} in flight"


STARTED = "from start to the answer to initialize, stdio"


class Rounds:
    """The rounds of some servers.

    :param calls: how many calls a case has in a round.
    """

    def __init__(self, talkers: Sequence[Talker], environments: Environments, others: Others, calls: int) -> None:
        self._talkers = talkers
        self._environments = environments
        self._others = others
        self._calls = calls
        self._sheet = Sheet()
        for talker in talkers:
            environments.programs(talker.environment)  # made before anything is measured
            self._sheet.open(STARTED, "s", talker.of, LINES)
            for case in _cases(talker):
                self._sheet.open(case.title, "us", case.of, LINES if case.job is jobs.ADD else "SDK")

    def run(self, rounds: int) -> None:
        """Run all rounds.

        :raises WrongAnswer: where a server does not do what it is asked.
        """
        for number in range(rounds):
            for talker in random.sample(self._talkers, len(self._talkers)):
                print(f"round {number + 1} of {rounds}: {talker.of}, stdio", file=sys.stderr, flush=True)
                command = self._environments.command(talker.environment, talker.command)
                with piped(talker.of, command, talker.setup) as pipe:
                    self._sheet.note(STARTED, talker.of, pipe.ready)
                    for case in _cases(talker):
                        self._sheet.note(case.title, case.of, self._microseconds(pipe, case))

    def groups(self) -> list[Group]:
        """What the rounds have found so far."""
        return self._sheet.groups()

    def _microseconds(self, pipe: Pipe, case: Case) -> float:
        # Calls that wait take long enough to be few.
        calls = max(4 * case.in_flight, self._calls // (20 if case.job is WAITING else 1))
        pipe.judge(case.job, case.era)
        lines = [line(case.job, case.era, id) for id in range(calls)]
        pipe.exchange(lines[: max(1, calls // 10)], case.in_flight)
        with self._others.watched():
            return pipe.exchange(lines, case.in_flight) / calls * 1e6


def _cases(talker: Talker) -> Iterator[Case]:
    for era in talker.eras:
        of = named(talker.of, era) if len(talker.eras) > 1 else talker.of
        for count in IN_FLIGHT:
            yield Case(of, jobs.ADD, era, count)
        if talker.works:
            yield Case(of, jobs.LIST_POSTS, era, 1)
    if talker.works:
        for count in IN_FLIGHT:
            yield Case(talker.of, WAITING, Era.HANDSHAKE, count)
