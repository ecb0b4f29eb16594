"""Measures what calls cost: this package beside plain Flask views, the official SDK, FastMCP and django-mcpz. It makes
the environments of all of them by itself, once, and prints one table."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from . import environments, growth, inside, machine, memory, over_http, over_stdio, plans, promises, start_up, table
from .environments import Environments
from .machine import Others
from .table import Group


class Effort(NamedTuple):
    """How long a run takes.

    :ivar rounds: of everything; None for as many as a part has by default.
    :ivar seconds: that wrk loads a server with one case in a round.
    :ivar quick: whether only the least is measured.
    """

    rounds: int | None
    seconds: float
    quick: bool

    def times(self, full: int, quick: int) -> int:
        """As many rounds as were asked for, else one of these."""
        return self.rounds or (quick if self.quick else full)


Part = Callable[[Environments, Others, Effort], list[Group]]


def _in_process(made: Environments, others: Others, effort: Effort) -> list[Group]:
    with others.watched():
        return inside.groups(made, "in_process", effort.times(41, 7), 0.01 if effort.quick else 0.02)


def _http(made: Environments, others: Others, effort: Effort) -> list[Group]:
    return _loaded(plans.quick() if effort.quick else plans.full(), made, others, effort)


def _growth(made: Environments, others: Others, effort: Effort) -> list[Group]:
    return _loaded(growth.quick() if effort.quick else growth.full(), made, others, effort)


def _loaded(wanted: Sequence[plans.Plan], made: Environments, others: Others, effort: Effort) -> list[Group]:
    answers = inside.ask(made, "answers")
    return over_http.Rounds(wanted, made, answers, others, seconds=effort.seconds).run(effort.times(4, 1))


def _stdio(made: Environments, others: Others, effort: Effort) -> list[Group]:
    return over_stdio.Rounds(over_stdio.talkers(), made, others, 200 if effort.quick else 2000).run(effort.times(4, 1))


def _start_up(made: Environments, others: Others, effort: Effort) -> list[Group]:
    return start_up.report(made, others, effort.times(15, 3))


def _memory(made: Environments, others: Others, effort: Effort) -> list[Group]:
    calls = (2_000, 10_000) if effort.quick else (20_000, 200_000)
    return [
        *inside.groups(made, "peaks"),
        *memory.peaks(made, effort.times(4, 1)),
        *memory.kept(made, *calls),
    ]


PARTS: dict[str, tuple[Part, str]] = {
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
    effort = Effort(options.rounds, options.seconds or (0.3 if options.quick else 2.0), options.quick)
    made, others, groups = Environments(options.environments), Others(), list[Group]()
    try:
        for part in options.parts or PARTS:
            groups += PARTS[part][0](made, others, effort)
    finally:
        _print(groups, made, others, options)


def _print(groups: Sequence[Group], made: Environments, others: Others, options: argparse.Namespace) -> None:
    print(f"{machine.description()}; {others}\n")
    for name in environments.WANTED:
        print(f"- {name}: {made.versions(name)}")
    for line in ["", *table.lines(groups), "", *promises.lines(groups)]:
        print(line)
    if options.json:
        options.json.write_text(json.dumps([group._asdict() for group in groups], indent=1))


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
