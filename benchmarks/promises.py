"""What must hold of our figures, each as a bound on a ratio of one run, and whether a run has held it. Nothing fails by
it: what a clock says is read by people."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .messages import Era
from .plans import BEARER, SESSION
from .table import Group, number, ratios, spread

HANDSHAKE, STATELESS = Era.HANDSHAKE.value, Era.STATELESS.value
Place = tuple[str, str]
"""A group's title and the name of a variant in it."""


class Promise(NamedTuple):
    """A bound.

    :ivar figure: what is bound.
    :ivar base: what it is held against; None where the figure itself is bound.
    :ivar bound: of the ratio, or of the figure.
    :ivar least: whether it is the least that is wanted, and not the most.
    """

    figure: Place
    base: Place | None
    bound: float
    least: bool = False


def promises() -> Iterator[Promise]:
    """All of them, in the order of the parts."""
    yield from _in_process()
    for count in ("1 connection", "16 connections"):
        yield from _over_http(count)
    listed = "tools/list, 200, gthread, 1 connection"
    for era in (HANDSHAKE, STATELESS):
        yield Promise((listed, f"ours {era}"), (listed, "floor"), 2, least=True)
    yield from _over_stdio()
    yield from _of_memory()


def lines(groups: Sequence[Group]) -> Iterator[str]:
    """What a run has held, in Markdown."""
    figures = {(group.title, of): found for group in groups for of, found in group.figures.items() if found}
    wanted = list(promises())
    measured = [each for each in wanted if each.figure in figures and (each.base is None or each.base in figures)]
    yield "| what must hold | to | measured | spread | wanted | held |"
    yield "| --- | --- | ---: | --- | --- | --- |"
    for promise in measured:
        found = figures[promise.figure]
        yield _line(promise, found if promise.base is None else ratios(found, figures[promise.base]))
    yield ""
    yield f"Of {len(wanted)} such bounds {len(measured)} were measured in this run."


def _line(promise: Promise, values: Sequence[float]) -> str:
    measured, (low, high) = statistics.median(values), spread(values)
    held = measured >= promise.bound if promise.least else measured <= promise.bound
    title, of = promise.figure
    base = "" if promise.base is None else ", ".join(promise.base if promise.base[0] != title else promise.base[1:])
    wanted = f"at {'least' if promise.least else 'most'} {promise.bound:g}"
    cells = [f"{title}: {of}", base, number(measured), f"{low:.2f} to {high:.2f}", wanted, "yes" if held else "NO"]
    return f"| {' | '.join(cells)} |"


def _in_process() -> Iterator[Promise]:
    for era in (HANDSHAKE, STATELESS):
        ours = f"ours {era}"
        yield Promise(("add", ours), ("add", "same job"), 1.10)
        for kind in (SESSION, BEARER):
            yield Promise(("what knowing who asks costs", f"{kind}, {ours} over Flask-Login"), None, 15)
        yield Promise(("tools/list, 200", ours), ("tools/list, 200", "floor"), 0.5)
        yield Promise(("tools/list, 200", ours), ("tools/list, 200", "fixed bytes, asked who"), 1.10)
        yield Promise(("tools/list, 200", ours), ("add", ours), 1.10)
        yield Promise(("a listed tool, half hidden", f"{ours}, without asking"), None, 1.0)
        counted = f"add, by number of tools, {era}"
        yield Promise((counted, "1000 tools"), (counted, "1 tools"), 1.05)
        yield Promise(("refused", ours), ("add", ours), 1.5)
        yield Promise(("five faults", ours), ("book", ours), 1.5)


def _over_http(connections: str) -> Iterator[Promise]:
    add, posts = f"add, gthread, {connections}", f"list_posts, gthread, {connections}"
    bounds = {"SDK": {HANDSHAKE: 2.2, STATELESS: 1.6}, "FastMCP": {HANDSHAKE: 3.2, STATELESS: 2.2}}
    for era in (HANDSHAKE, STATELESS):
        ours = f"ours {era}"
        yield Promise((add, ours), (add, "floor"), 0.85, least=True)
        yield Promise((add, ours), (add, f"django-mcpz {era}"), 0.95, least=True)
        for of, bound in bounds.items():
            yield Promise((add, ours), (add, f"{of} {era}"), bound[era], least=True)
        yield Promise((f"add, granian, {connections}", ours), (add, f"SDK tuned {era}"), 1.3, least=True)
        yield Promise((posts, ours), (posts, "floor"), 0.80, least=True)


def _over_stdio() -> Iterator[Promise]:
    single = "add, stdio, 1 in flight"
    for era in (HANDSHAKE, STATELESS):
        yield Promise((single, f"ours {era}"), (single, "SDK"), 0.35)
    waiting = "wait 5 ms, stdio, 16 in flight"
    for more, fewer in (("ours", "ours, 1 worker"), ("ours, 16 workers", "ours")):
        yield Promise((waiting, more), (waiting, fewer), 0.5)


def _of_memory() -> Iterator[Promise]:
    for place in ("in process", "of a gunicorn worker"):
        for era in (HANDSHAKE, STATELESS):
            yield Promise((f"peak memory {place}, a 1 MB argument", f"ours {era}"), None, 6)
            yield Promise((f"peak memory {place}, a 2 MB result", f"ours {era}"), None, 8)
    rows = "peak memory in process, take 5000 rows"
    for era in (HANDSHAKE, STATELESS):
        yield Promise((rows, f"ours {era}"), (rows, "json.loads and the schema's load"), 1.2)
    for what in ("HTTP", "stdio"):
        kept = f"resident memory, {what}"
        yield Promise((kept, "after very many calls"), (kept, "after many calls"), 1.02)
    for unit, bound in (("ms", 30.0), ("MiB", 3.0)):
        yield Promise((f"import, {unit} over a bare interpreter", "ours, on top of what it needs"), None, bound)
