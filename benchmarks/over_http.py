"""HTTP: in every round all servers are started anew, one after another in an order that is shuffled, and each is asked
all that it is to do. Every answer is judged before it is measured and after."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import jobs, work
from .environments import Environments
from .jobs import Job
from .load import FailedLoad, Load, load
from .machine import Others
from .messages import Message, message
from .plans import BEARER, FLOOR, GUEST, SESSION, Case, Plan, plain_path
from .processes import Process, serving
from .table import Group, Sheet

STARTED, MEMORY = "from start to the first answer", "memory after load, all processes"


class Rounds:
    """The rounds of some servers.

    :param answers: what the floor answers, by a job's slug.
    :param seconds: how long a case is measured in a round.
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
        self._seconds = seconds
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
            for plan in random.sample(self._plans, len(self._plans)):
                print(f"round {number + 1} of {rounds}: {plan.of}, {plan.kind}", file=sys.stderr, flush=True)
                self._measure(plan)

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

    def _measure(self, plan: Plan) -> None:
        with serving(self._environments.command(plan.environment, plan.command), plan.setup) as process:
            shown = _credentials(process, plan)
            for case in plan.cases:
                title, found = case.title(plan.kind), self._ask(process, case, shown[case.credential])
                self._sheet.note(title, case.of, found.rate)
                if case.job is jobs.ADD:
                    self._sheet.note(f"{title}, p99", case.of, found.p99)
            if plan.weighed:
                self._sheet.note(STARTED, plan.of, process.ready)
                self._sheet.note(MEMORY, plan.of, process.memory())

    def _ask(self, process: Process, case: Case, shown: Mapping[str, str]) -> Load:
        sent = _sent(case.job, case, shown)
        url = f"http://127.0.0.1:{process.port}{case.path}"
        process.post(case.path, *sent).judge(case.job, case.of)
        if case.credential != GUEST:
            # A guest may add, too, so that only what a guest may not shows that a credential is taken.
            path = case.path if case.path == "/mcp" else plain_path(jobs.CLOSE)
            process.post(path, *_sent(jobs.CLOSE, case, shown)).judge(jobs.CLOSE, case.of)
        load(url, [sent], case.connections, min(0.3, self._seconds / 2))
        with self._others.watched():
            found = load(url, [sent], case.connections, self._seconds)
        if not found.requests:
            raise FailedLoad(f"{case.of} answered nothing in {self._seconds} s: {case.job.name}")
        process.post(case.path, *sent).judge(case.job, case.of)
        return found


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
