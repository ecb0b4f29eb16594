"""Memory as the machine sees it: what one large call takes of a gunicorn worker, and whether a server that has answered
very many calls keeps more than one that has answered many."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import jobs, over_stdio
from .environments import Environments
from .jobs import Job
from .load import load
from .messages import Era, line, message
from .pipe import Pipe, piped
from .plans import OUR, SAME, Plan, named, plain_path, wsgi
from .processes import Process, forget_peak, peak, resident, serving
from .table import Group, Sheet

LARGE = [(jobs.taking(1000), 1_000_000, "a 1 MB argument"), (jobs.giving(2000), 2_000_000, "a 2 MB result")]
KEPT = [*jobs.JOBS, jobs.listing(8)]
"""What is called in turn while memory is watched: all that a server does, refusals and faults included. A guest sees
eight of its nine tools."""
ASKED = [
    (SAME, wsgi(SAME, "same_job", ()), Era.HANDSHAKE),
    *((named(OUR, era), wsgi(OUR, "ours", ()), era) for era in Era),
]
"""Whose peaks are taken: the name in the table, the server, and the era that it is asked in."""


def peaks(environments: Environments, rounds: int) -> list[Group]:
    """What a large call takes of a worker at most, as multiples of its size, each time in a fresh one."""
    sheet = Sheet()
    for job, size, what in LARGE:
        title = f"peak memory of a gunicorn worker, {what}"
        for _ in range(rounds):
            for of, plan, era in ASKED:
                sheet.open(title, "x its size", of, SAME)
                sheet.note(title, of, _peak(environments, plan, job, era) * 2**20 / size)
    return sheet.groups()


def kept(environments: Environments, many: int, very_many: int) -> list[Group]:
    """What our server has in memory after many calls of all kinds, and after very many."""
    plan = wsgi(OUR, "ours", ())
    with serving(environments.command(plan.environment, plan.command), plan.setup) as process:
        over_http = [_after(process, count) for count in (many, very_many - many)]
    talker = over_stdio.ours()
    with piped(talker.of, environments.command(talker.environment, talker.command), talker.setup) as pipe:
        over_pipe = [_after_lines(pipe, count) for count in (many, very_many - many)]
    return [_growth("HTTP", over_http), _growth("stdio", over_pipe)]


def _growth(what: str, found: Sequence[float]) -> Group:
    figures = {f"after {of} calls": [figure] for of, figure in zip(("many", "very many"), found, strict=True)}
    return Group(f"resident memory, {what}", "MiB", figures, "after many calls")


def _peak(environments: Environments, plan: Plan, job: Job, era: Era) -> float:
    """The MiB that a worker has at most during a call, over what it had before."""
    with serving(environments.command(plan.environment, plan.command), plan.setup) as process:
        _ask(process, plan, jobs.ADD, era)
        worker = process.worker()
        forget_peak(worker)
        before = resident(worker)
        _ask(process, plan, job, era)
        return peak(worker) - before


def _ask(process: Process, plan: Plan, job: Job, era: Era) -> None:
    path = "/mcp" if plan.of == OUR else plain_path(job)
    process.post(path, *message(job, era)).judge(job, plan.of)


def _after(process: Process, calls: int) -> float:
    """What the worker has after as many more calls, or a few more than that."""
    asked = [(job, message(job, era)) for era in Era for job in KEPT]
    for job, each in asked:
        process.post("/mcp", *each).judge(job, OUR)
    url, seconds = f"http://127.0.0.1:{process.port}/mcp", 1.0
    while calls > 0:
        print(f"resident memory, HTTP: {calls:,} calls to go", file=sys.stderr, flush=True)
        found = load(url, [each for _, each in asked], 4, seconds)
        calls -= found.requests
        seconds = min(10.0, max(0.2, calls / found.rate))
    return resident(process.worker())


def _after_lines(pipe: Pipe, calls: int) -> float:
    """What the process of a pipe has after as many more calls."""
    asked = [(job, era) for era in Era for job in KEPT]
    for job, era in asked:
        pipe.judge(job, era)
    while calls > 0:
        print(f"resident memory, stdio: {calls:,} calls to go", file=sys.stderr, flush=True)
        lines = [line(*asked[id % len(asked)], id) for id in range(min(calls, 5000))]
        pipe.exchange(lines, 4)
        calls -= len(lines)
    return resident(pipe.pid)
