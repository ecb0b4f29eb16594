"""The table of what is measured in process: which figures stand together, and which are differences of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import jobs
from .growth import COUNTS
from .in_process import NO_USERS, variants
from .messages import Era
from .plans import BEARER, SESSION
from .rounds import measure
from .table import Figures, Group


def report(rounds: int, seconds: float) -> list[Group]:
    """Measure everything.

    :param seconds: how long a variant runs in a round.
    """
    return list(_groups(measure(variants(), rounds, seconds)))


def _groups(taken: Figures) -> Iterator[Group]:
    for title in [job.name for job in jobs.JOBS]:
        yield _group(taken, title, "same job")
    for count in (3, 200):
        yield _group(taken, f"tools/list, {count}", "floor")
    yield _group(taken, jobs.HALF.name, "floor")
    for era in Era:
        yield Group(f"add, by number of tools, {era.value}", "us", _by_count(taken, era), f"{COUNTS[0]} tools")
        yield Group(f"refusals and faults, {era.value}", "us", _beside_add(taken, era), "add")
    yield Group("what knowing who asks costs", "us", _of_identity(taken))
    yield Group("a listed tool, half hidden", "us", _of_listed(taken))


def _group(taken: Figures, title: str, base: str) -> Group:
    """All that were given one job, the floor first."""
    prefix = f"{title}: "
    found = {name.removeprefix(prefix): figures for name, figures in taken.items() if name.startswith(prefix)}
    order = sorted(found, key=lambda name: (name.startswith("ours"), not name.startswith("f")))
    return Group(title, "us", {name: found[name] for name in order}, base)


def _by_count(taken: Figures, era: Era) -> Figures:
    return {f"{count} tools": taken[f"of {count}: ours {era.value}"] for count in COUNTS}


def _beside_add(taken: Figures, era: Era) -> Figures:
    """Calls that fail, beside those that do not, on our server."""
    return {name: taken[f"{name}: ours {era.value}"] for name in ("add", "refused", "book", "five faults")}


def _of_identity(taken: Figures) -> Figures:
    """What knowing who asks costs in the plain view, by Flask-Login itself, and in ours: how much longer the same call
    takes than in an app without users."""
    found: dict[str, Sequence[float]] = {}
    for kind in (SESSION, BEARER):
        for of in ("same job", *(f"ours {era.value}" for era in Era)):
            found[f"{kind}, {of}"] = _less(taken[f"add: {of}, {kind}"], taken[f"add: {of}, {NO_USERS}"])
        for era in Era:
            ours, plain = found[f"{kind}, ours {era.value}"], found[f"{kind}, same job"]
            found[f"{kind}, ours {era.value} over Flask-Login"] = _less(ours, plain)
    return found


def _of_listed(taken: Figures) -> Figures:
    found: dict[str, Sequence[float]] = {}
    for era in Era:
        more = _less(taken[f"{jobs.HALF.name}: ours {era.value}"], taken[f"tools/list, 3: ours {era.value}"])
        found[f"ours {era.value}"] = [each / 100 for each in more]
        # For each tool that is listed there is one that is hidden, and both are asked about.
        asking = [2 * each for each in taken["access: 100 callables"]]
        found[f"ours {era.value}, without asking"] = [each / 100 for each in _less(more, asking)]
    found["an access callable by itself"] = [each / 100 for each in taken["access: 100 callables"]]
    return found


def _less(figures: Sequence[float], base: Sequence[float]) -> list[float]:
    return [figure - reference for figure, reference in zip(figures, base, strict=True)]
