"""Runs the official suite, in both pinned versions, against the fixtures in a real gunicorn, for every revision that is
served: `python -m tests.conformance`. What it finds must be what `expected.yml` says, no less and no more."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

from ..served import Gunicorn
from .suite import SCENARIOS, Findings, expected, run

STATELESS = "2026-07-28"
NEWEST_HANDSHAKE = "2025-11-25"
REVISIONS = (STATELESS, NEWEST_HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05")
_LOGGED = "%({mcp-protocol-version}i)s"


class Plan(NamedTuple):
    """One run of the suite.

    :ivar revision: what is spoken.
    :ivar workers: of gunicorn, each a process with threads.
    """

    version: str
    revision: str
    workers: int

    @property
    def scenarios(self) -> str:
        """The revision whose scenarios are run: those that the suite has none for are tested with the next one's."""
        return self.revision if self.revision in SCENARIOS[self.version] else "2025-06-18"

    @property
    def is_forced(self) -> bool:
        """Whether the suite's own client would have proposed another revision."""
        return self.revision not in (STATELESS, NEWEST_HANDSHAKE)


def plans(versions: list[str], revisions: list[str], workers: list[int]) -> Iterator[Plan]:
    """Every run that was asked for and that there is."""
    for version, revision, count in product(versions, revisions, workers):
        if revision != STATELESS or revision in SCENARIOS[version]:
            yield Plan(version, revision, count)


def carry_out(plan: Plan) -> bool:
    """Serve, run and report; whether all was as expected."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        options = ["--workers", str(plan.workers), "--worker-class", "gthread", "--threads", "8"]
        options += ["--access-logfile", str(folder / "access.log"), "--access-logformat", _LOGGED]
        env = {"FORCE_REVISION": plan.revision if plan.is_forced else ""}
        with Gunicorn(folder, "tests.conformance.app", *options, env=env) as served:
            url = f"http://127.0.0.1:{served.port}/mcp"
            found = run(plan.version, plan.scenarios, url, expected(plan.revision), folder / "results")
        spoken = Counter((folder / "access.log").read_text().split())
        faults = list(_faults(plan, found, spoken))
        _report(plan, found, spoken, faults)
        if faults:
            print(
                "\n".join([*found.output.splitlines()[-60:], *(folder / "gunicorn.log").read_text().splitlines()[-60:]])
            )
        return not faults


def _faults(plan: Plan, found: Findings, spoken: Counter[str]) -> Iterator[str]:
    there_are, wanting = SCENARIOS[plan.version][plan.scenarios], expected(plan.revision)
    if found.total != there_are:
        yield f"{found.total} scenarios were run, and there are {there_are}."
    for scenario in found.failed.keys() - wanting:
        yield f"{scenario} failed: name it in expected.yml with the reason, or mend it."
    for scenario in wanting.intersection(found.passed):
        yield f"{scenario} passed: take it out of expected.yml."
    if not found.accepted:
        yield "the suite itself did not find what expected.yml says."
    if spoken.most_common(1)[0][0] != plan.revision:
        yield f"{plan.revision} was to be spoken, and was not: {dict(spoken)}."


def _report(plan: Plan, found: Findings, spoken: Counter[str], faults: list[str]) -> None:
    scenarios = "" if plan.scenarios == plan.revision else f" (scenarios of {plan.scenarios})"
    workers = "1 worker" if plan.workers == 1 else f"{plan.workers} workers"
    requests = ", ".join(f"{count} {name}" for name, count in spoken.most_common())
    print(
        f"{plan.version}  {plan.revision}{scenarios}, {workers}: {len(found.passed)} of {found.total} scenarios, "
        f"{found.checks} checks; requests by header: {requests}",
        flush=True,
    )
    for scenario, said in found.failed.items():
        mark = "expected" if scenario in expected(plan.revision) else "UNEXPECTED"
        print("\n".join([f"    {mark}: {scenario}", *(f"        {line}" for line in said)]), flush=True)
    for fault in faults:
        print(f"  FAULT: {fault}", flush=True)


def main() -> int:
    """Carry out what the command line asks for; the exit code is that of the process."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--spec-version", choices=REVISIONS, action="append", help="only this revision")
    parser.add_argument("--suite-version", choices=list(SCENARIOS), action="append", help="only this suite")
    parser.add_argument("--workers", type=int, action="append", help="only with so many processes")
    asked = parser.parse_args()
    todo = list(
        plans(asked.suite_version or list(SCENARIOS), asked.spec_version or list(REVISIONS), asked.workers or [1, 3])
    )
    if not todo:
        parser.error("that version of the suite has no scenarios for that revision.")
    failed = [plan for plan in todo if not carry_out(plan)]
    print(f"{len(todo) - len(failed)} of {len(todo)} runs found what was expected.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
