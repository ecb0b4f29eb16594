"""HTTP: in every round all servers are started anew, one after another in an order that is shuffled, and each is asked
all that it is to do. Every answer is judged before it is measured and after."""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from . import work
from .environments import Environments
from .load import Load, load
from .machine import Others
from .messages import Message, message
from .plans import BEARER, FLOOR, GUEST, SESSION, Case, Plan
from .processes import Process, serving
from .setups import Setup
from .table import Group


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
        self._programs = {plan.environment: environments.programs(plan.environment) for plan in plans}
        self._others = others
        self._seconds = seconds
        self._loads: dict[str, dict[str, list[float]]] = {}
        self._started: dict[str, list[float]] = {}
        self._memory: dict[str, list[float]] = {}

    def run(self, rounds: int) -> list[Group]:
        """Run all rounds.

        :raises WrongAnswer: where a server does not do what it is asked.
        :raises FailedLoad: where it fails under load.
        """
        for number in range(rounds):
            for plan in random.sample(self._plans, len(self._plans)):
                print(f"round {number + 1} of {rounds}: {plan.of}, {plan.kind}", file=sys.stderr, flush=True)
                self._measure(plan)
        return self._groups()

    def _measure(self, plan: Plan) -> None:
        program, *arguments = plan.command
        command = [str(self._programs[plan.environment] / program), *arguments]
        with serving(command, plan.setup) as process:
            shown = _credentials(process, plan)
            for case in plan.cases:
                self._take(plan, case, self._ask(process, case, shown[case.credential]))
            if plan.kind == "gthread" and plan.setup == Setup(tuned=plan.setup.tuned, answers=plan.setup.answers):
                self._started.setdefault(plan.of, []).append(process.ready)
                self._memory.setdefault(plan.of, []).append(process.memory())

    def _ask(self, process: Process, case: Case, shown: Mapping[str, str]) -> Load:
        sent = _sent(case, shown)
        url = f"http://127.0.0.1:{process.port}{case.path}"
        process.post(case.path, *sent).judge(case.job, case.of)
        load(url, [sent], case.connections, min(0.3, self._seconds))
        with self._others.watched():
            found = load(url, [sent], case.connections, self._seconds)
        process.post(case.path, *sent).judge(case.job, case.of)
        return found

    def _take(self, plan: Plan, case: Case, found: Load) -> None:
        counted = "1 connection" if case.connections == 1 else f"{case.connections} connections"
        title = f"{case.job.name}, {plan.kind}, {counted}"
        self._loads.setdefault(title, {}).setdefault(case.of, []).append(found.rate)
        if case.connections == 1 and case.job.name == "add":
            self._loads.setdefault(f"{title}, p99", {}).setdefault(case.of, []).append(found.p99)

    def _groups(self) -> list[Group]:
        groups = []
        for plan_title in self._titles():
            unit = "us" if plan_title.endswith("p99") else "1/s"
            groups.append(Group(plan_title, unit, self._ordered(self._loads[plan_title]), FLOOR))
        groups.append(Group("from start to the first answer", "s", self._ordered(self._started), FLOOR))
        groups.append(Group("memory after load, all processes", "MiB", self._ordered(self._memory), FLOOR))
        return groups

    def _titles(self) -> list[str]:
        """In the order of the plans, which rounds have shuffled."""
        wanted = [f"{case.job.name}, {plan.kind}, " for plan in self._plans for case in plan.cases]
        first = {title: next(n for n, start in enumerate(wanted) if title.startswith(start)) for title in self._loads}
        return sorted(self._loads, key=lambda title: (first[title], len(title), title))

    def _ordered(self, figures: Mapping[str, list[float]]) -> dict[str, list[float]]:
        order = dict.fromkeys([*(case.of for plan in self._plans for case in plan.cases), *(p.of for p in self._plans)])
        return {of: figures[of] for of in order if of in figures}


def _told(plan: Plan, answers: Mapping[str, Any]) -> Plan:
    return plan._replace(setup=plan.setup._replace(answers=answers)) if plan.of == FLOOR else plan


def _sent(case: Case, shown: Mapping[str, str]) -> Message:
    sent = message(case.job, case.era)
    return Message(sent.body, {**sent.headers, "User-Agent": work.AGENT, **shown})


def _credentials(process: Process, plan: Plan) -> dict[str, Mapping[str, str]]:
    """The headers that show who asks, as this server gave them."""
    shown: dict[str, Mapping[str, str]] = {GUEST: {}, BEARER: {"Authorization": f"Bearer {work.TOKEN}"}}
    if any(case.credential == SESSION for case in plan.cases):
        cookie = process.post("/sign-in", b"", {"User-Agent": work.AGENT}).cookie
        assert cookie is not None, "signing in sets a cookie"
        shown[SESSION] = {"Cookie": cookie.partition(";")[0]}
    return shown
