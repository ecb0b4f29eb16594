"""Measures what calls cost: this package beside plain Flask views, the official SDK, FastMCP and django-mcpz. It makes
the environments of all of them by itself, once, and prints one table."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from . import environments, growth, inside, machine, memory, over_http, over_stdio, plans, promises, start_up, table
from .environments import Environments
from .machine import Others
from .table import Group


class Run(NamedTuple):
    """What is to be measured, how long that may take, and what was found.

    :ivar rounds: of everything; None for as many as a part has by default.
    :ivar seconds: that wrk loads a server with one case in a round.
    :ivar quick: whether only the least is measured.
    :ivar groups: what was found, also where a part has failed later.
    """

    environments: Environments
    others: Others
    rounds: int | None
    seconds: float
    quick: bool
    groups: list[Group]

    def times(self, full: int, quick: int) -> int:
        """As many rounds as were asked for, else one of these."""
        return self.rounds or (quick if self.quick else full)

    def load(self, wanted: Sequence[plans.Plan], full: int) -> None:
        """Load servers over HTTP."""
        answers = inside.ask(self.environments, "answers")
        rounds = over_http.Rounds(wanted, self.environments, answers, self.others, seconds=self.seconds)
        try:
            rounds.run(self.times(full, 1))
        finally:
            self.groups.extend(rounds.groups())


def _in_process(run: Run) -> None:
    rounds, seconds = run.times(41, 7), 0.01 if run.quick else 0.02
    with run.others.watched():
        run.groups.extend(inside.groups(run.environments, "in_process", rounds, seconds))


def _http(run: Run) -> None:
    run.load(plans.quick() if run.quick else plans.full(), 4)


def _growth(run: Run) -> None:
    run.load(growth.quick() if run.quick else growth.full(), 2)


def _stdio(run: Run) -> None:
    talkers, calls = over_stdio.talkers(), 200 if run.quick else 2000
    rounds = over_stdio.Rounds(talkers, run.environments, run.others, calls)
    try:
        rounds.run(run.times(4, 1))
    finally:
        run.groups.extend(rounds.groups())


def _start_up(run: Run) -> None:
    run.groups.extend(start_up.report(run.environments, run.others, run.times(15, 3)))


def _memory(run: Run) -> None:
    many, very_many = (2_000, 10_000) if run.quick else (20_000, 200_000)
    run.groups.extend(inside.groups(run.environments, "peaks"))
    run.groups.extend(memory.peaks(run.environments, run.times(4, 1)))
    run.groups.extend(memory.kept(run.environments, many, very_many))


PARTS: dict[str, tuple[Callable[[Run], None], str]] = {
    "inprocess": (_in_process, "calls without sockets, in us of CPU"),
    "http": (_http, "requests a second, from wrk"),
    "growth": (_growth, "more tools, bytes and connections, over HTTP"),
    "stdio": (_stdio, "calls over a pipe, one and many in flight"),
    "startup": (_start_up, "what importing takes"),
    "memory": (_memory, "peaks of large calls, and what is left after many"),
}


def main() -> None:
    """Run the parts that were named, all of them by default, and print what they found."""
    options = _options()
    # Whoever ends a run wants its servers ended, too, and what it has found.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    seconds = options.seconds or (0.3 if options.quick else 2.0)
    run = Run(Environments(options.environments), Others(), options.rounds, seconds, options.quick, [])
    try:
        for part in options.parts or PARTS:
            PARTS[part][0](run)
    finally:
        _print(run, options.json)


def _print(run: Run, file: Path | None) -> None:
    print(f"{machine.description()}; {run.others}\n")
    for name in environments.WANTED:
        print(f"- {name}: {run.environments.versions(name)}")
    for line in ["", *table.lines(run.groups), "", *promises.lines(run.groups)]:
        print(line)
    if file is not None:
        file.write_text(json.dumps([group._asdict() for group in run.groups], indent=1))


def _options() -> argparse.Namespace:
    parts = "".join(f"\n  {name:10} {what}" for name, (_, what) in PARTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog=f"The parts are:{parts}\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("parts", nargs="*", metavar="part", help="what is measured; all by default")
    parser.add_argument("--quick", action="store_true", help="the least that says something, in under two minutes")
    parser.add_argument("--rounds", type=int, help="how often everything is measured, in an order shuffled anew")
    parser.add_argument("--seconds", type=float, help="how long wrk loads a server with one case in a round")
    where = f"where environments are kept (default: {environments.folder()}, or what {environments.VARIABLE} names)"
    parser.add_argument("--environments", type=Path, metavar="FOLDER", help=where)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure of every round to this file, too")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part {', '.join(unknown)}; the parts are {', '.join(PARTS)}")
    return options


_EPILOG = """\
A ratio is the median of the ratios of each round, and its spread goes from the tenth to the ninetieth percentile.
Run it on a machine that does nothing else; the first line says how far that was so. wrk must be installed.

What a statement of SQL costs under `require_grant`, and what importing takes module by module, have programs of their
own, which need the package's test extra: benchmarks/grants.py and benchmarks/import_time.py."""


if __name__ == "__main__":
    main()
