"""HTTP: in every round all servers are started anew, and what stands in one group of the table is measured in one go,
in an order that is shuffled, so that little time lies between two figures of a ratio. Every answer is judged before it
is measured and after."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from . import jobs, work
from .environments import Environments
from .jobs import Job
from .load import FailedLoad, Load, load
from .machine import Others
from .messages import Message, message
from .plans import BEARER, FLOOR, GUEST, SESSION, Case, Plan, plain_path
from .processes import Process, serving
from .table import Group, Sheet

TURN = 0.5
"""Seconds that one server has the core before it is another's turn: what slows the machine down lasts longer."""

STARTED, MEMORY = "from start to the first answer", "memory after load, all processes"


class _Served(NamedTuple):
    """A server that runs, and the headers by which it knows who asks."""

    process: Process
    plan: Plan
    shown: Mapping[str, Mapping[str, str]]


class _Asked(NamedTuple):
    """A server, what it is asked, and the headers that show who asks."""

    process: Process
    case: Case
    shown: Mapping[str, str]


class Rounds:
    """The rounds of some servers.

    :param answers: what the floor answers, by a job's slug.
    :param seconds: how long a case is measured in a round, in turns.
    """

    def __init__(
        self,
        plans: Sequence[Plan],
        environments: Environments,
        answers: Mapping[str, Any],
        others: Others,
        *,
        seconds: float,
    ) -> None:
        self._plans = [_told(plan, answers) for plan in plans]
        self._environments = environments
        self._others = others
        self._turns = max(1, round(seconds / TURN))
        self._seconds = seconds / self._turns
        self._sheet = Sheet()
        for plan in plans:
            environments.programs(plan.environment)  # made before anything is measured
            self._open(plan)

    def run(self, rounds: int) -> None:
        """Run all rounds.

        :raises WrongAnswer: where a server does not do what it is asked.
        :raises FailedLoad: where it fails under load.
        """
        for number in range(rounds):
            print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            # Those that wait for their turn take none of the core's time.
            with ExitStack() as running:
                served = [self._start(plan, running) for plan in random.sample(self._plans, len(self._plans))]
                for title in dict.fromkeys(case.title(plan.kind) for plan in self._plans for case in plan.cases):
                    self._measure(title, list(_asked(served, title)))
                for process, plan, _ in served:
                    if plan.weighed:
                        self._sheet.note(MEMORY, plan.of, process.memory())

    def groups(self) -> list[Group]:
        """What the rounds have found so far."""
        return self._sheet.groups()

    def _open(self, plan: Plan) -> None:
        for case in plan.cases:
            title = case.title(plan.kind)
            self._sheet.open(title, "1/s", case.of, FLOOR)
            if case.job is jobs.ADD:
                self._sheet.open(f"{title}, p99", "us", case.of, FLOOR)
        if plan.weighed:
            self._sheet.open(STARTED, "s", plan.of, FLOOR)
            self._sheet.open(MEMORY, "MiB", plan.of, FLOOR)

    def _start(self, plan: Plan, running: ExitStack) -> _Served:
        command = self._environments.command(plan.environment, plan.command)
        process = running.enter_context(serving(command, plan.setup))
        if plan.weighed:
            self._sheet.note(STARTED, plan.of, process.ready)
        return _Served(process, plan, _credentials(process, plan))

    def _measure(self, title: str, asked: Sequence[_Asked]) -> None:
        for process, case, shown in asked:
            load(process.url(case.path), [_sent(case.job, case, shown)], case.connections, min(0.3, self._seconds))
        for _ in range(self._turns):
            for process, case, shown in random.sample(asked, len(asked)):
                found = self._ask(process, case, shown)
                self._sheet.note(title, case.of, found.rate)
                if case.job is jobs.ADD:
                    self._sheet.note(f"{title}, p99", case.of, found.p99)

    def _ask(self, process: Process, case: Case, shown: Mapping[str, str]) -> Load:
        sent = _sent(case.job, case, shown)
        process.post(case.path, *sent).judge(case.job, case.of)
        if case.credential != GUEST:
            # A guest may add, too, so that only what a guest may not shows that a credential is taken.
            path = case.path if case.path == "/mcp" else plain_path(jobs.CLOSE)
            process.post(path, *_sent(jobs.CLOSE, case, shown)).judge(jobs.CLOSE, case.of)
        with self._others.watched():
            found = load(process.url(case.path), [sent], case.connections, self._seconds)
        if not found.requests:
            raise FailedLoad(f"{case.of} answered nothing in {self._seconds} s: {case.job.name}")
        process.post(case.path, *sent).judge(case.job, case.of)
        return found


def _asked(served: Sequence[_Served], title: str) -> Iterator[_Asked]:
    """What is measured for one group of the table."""
    for process, plan, shown in served:
        for case in plan.cases:
            if case.title(plan.kind) == title:
                yield _Asked(process, case, shown[case.credential])


def _told(plan: Plan, answers: Mapping[str, Any]) -> Plan:
    return plan._replace(setup=plan.setup._replace(answers=answers)) if plan.of == FLOOR else plan


def _sent(job: Job, case: Case, shown: Mapping[str, str]) -> Message:
    sent = message(job, case.era)
    return Message(sent.body, {**sent.headers, "User-Agent": work.AGENT, **shown})


def _credentials(process: Process, plan: Plan) -> dict[str, Mapping[str, str]]:
    """The headers that show who asks, as this server gave them."""
    shown: dict[str, Mapping[str, str]] = {GUEST: {}, BEARER: {"Authorization": f"Bearer {work.TOKEN}"}}
    if any(case.credential == SESSION for case in plan.cases):
        cookie = process.post("/sign-in", b"", {"User-Agent": work.AGENT}).cookie
        assert cookie is not None, "signing in sets a cookie"
        shown[SESSION] = {"Cookie": cookie.partition(";")[0]}
    return shown
