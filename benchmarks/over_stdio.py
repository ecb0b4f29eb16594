"""stdio: the same jobs over a pipe, one call after another and several at once, beside a loop that only reads and
writes lines of JSON. Servers are started anew and shuffled in every round."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping
from typing import NamedTuple

from . import jobs
from .environments import OURS, Environments
from .jobs import Job
from .machine import Others
from .messages import Era, line
from .pipe import Pipe, piped
from .setups import Setup
from .table import Group

LINES = "line loop"
IN_FLIGHT = [1, 2, 4, 8, 16]
WAITING = jobs.waiting(0.005)
WORKERS = [1, 4, 16]


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
    """Our server, with as many workers."""
    of = "ours" if workers is None else f"ours, {workers} workers"
    command = ("flask", "--app", "benchmarks.servers.ours:create_app", "mcp", "start")
    return Talker(of, OURS, command, Setup(workers=workers), tuple(Era))


def talkers() -> list[Talker]:
    """All servers that speak over a pipe."""
    return [
        Talker(LINES, OURS, ("python", "-m", "benchmarks.servers.line_loop"), Setup(), works=False),
        ours(),
        *(ours(workers) for workers in WORKERS),
        Talker("SDK", "sdk", ("python", "-m", "benchmarks.servers.sdk"), Setup()),
        Talker("SDK tuned", "sdk", ("python", "-m", "benchmarks.servers.sdk"), Setup(tuned=True)),
        Talker("FastMCP", "fastmcp", ("python", "-m", "benchmarks.servers.fast"), Setup()),
    ]


class Rounds:
    """The rounds of all servers.

    :param calls: how many calls a case has in a round.
    """

    def __init__(self, environments: Environments, others: Others, calls: int) -> None:
        self._talkers = talkers()
        self._programs = {talker.environment: environments.programs(talker.environment) for talker in self._talkers}
        self._others = others
        self._calls = calls
        self._figures: dict[str, dict[str, list[float]]] = {}

    def run(self, rounds: int) -> list[Group]:
        """Run all rounds.

        :raises WrongAnswer: where a server does not do what it is asked.
        """
        for number in range(rounds):
            for talker in random.sample(self._talkers, len(self._talkers)):
                print(f"round {number + 1} of {rounds}: {talker.of}, stdio", file=sys.stderr, flush=True)
                program, *arguments = talker.command
                command = [str(self._programs[talker.environment] / program), *arguments]
                with piped(talker.of, command, talker.setup) as pipe:
                    self._measure(talker, pipe)
        return self._groups()

    def _measure(self, talker: Talker, pipe: Pipe) -> None:
        self._note("stdio, from start to initialize, s", talker.of, pipe.ready)
        for era in talker.eras:
            of = f"{talker.of} {era.value}" if len(talker.eras) > 1 else talker.of
            for job in (jobs.ADD, jobs.LIST_POSTS) if talker.works else (jobs.ADD,):
                self._time(pipe, of, job, era, 1, self._calls)
            for count in IN_FLIGHT[1:]:
                self._time(pipe, of, jobs.ADD, era, count, self._calls)
        if talker.works:
            for count in IN_FLIGHT:
                self._time(pipe, talker.of, WAITING, Era.HANDSHAKE, count, max(4 * count, self._calls // 20))

    def _time(self, pipe: Pipe, of: str, job: Job, era: Era, in_flight: int, calls: int) -> None:
        pipe.judge(job, era)
        lines = [line(job, era, id) for id in range(calls)]
        pipe.exchange(lines[: max(1, calls // 10)], in_flight)
        with self._others.watched():
            taken = pipe.exchange(lines, in_flight)
        self._note(f"{job.name}, stdio, {in_flight} in flight, us a call", of, taken / calls * 1e6)

    def _note(self, title: str, of: str, figure: float) -> None:
        self._figures.setdefault(title, {}).setdefault(of, []).append(figure)

    def _groups(self) -> list[Group]:
        groups = []
        for title in sorted(self._figures, key=_order):
            name, _, unit = title.rpartition(", ")
            figures = self._figures[title]
            groups.append(Group(name, unit.removesuffix(" a call"), _sorted(figures), _base(figures)))
        return groups


def _base(figures: Mapping[str, object]) -> str:
    return LINES if LINES in figures else "SDK"


def _sorted(figures: Mapping[str, list[float]]) -> dict[str, list[float]]:
    order = [talker.of for talker in talkers()]
    # The longest name that fits: there are several of ours.
    place = {of: max((len(each), order.index(each)) for each in order if of.startswith(each))[1] for of in figures}
    return {of: figures[of] for of in sorted(figures, key=lambda of: (place[of], of))}


def _order(title: str) -> tuple[str, int]:
    numbers = [int(word) for word in title.replace(",", "").split() if word.isdigit()]
    return title.partition(",")[0], numbers[-1] if numbers else 0
