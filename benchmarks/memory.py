"""Memory as the machine sees it: what one large call takes of a gunicorn worker, and whether a server that has answered
very many calls keeps more than one that has answered many."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from . import jobs, over_stdio, work
from .environments import Environments
from .load import load
from .messages import Era, Message, line, message
from .pipe import Pipe, piped
from .plans import OUR, SAME, Plan, named, wsgi
from .processes import Process, forget_peak, peak, resident, serving
from .table import Group

LARGE = [(jobs.taking(1000), 1_000_000, "a 1 MB argument"), (jobs.giving(2000), 2_000_000, "a 2 MB result")]
KEPT = [*jobs.JOBS, jobs.listing(8)]
"""What is called in turn while memory is watched: all that a server does, refusals and faults included. A guest sees
eight of its nine tools."""


def peaks(environments: Environments, rounds: int) -> list[Group]:
    """What a large call takes of a worker at most, as multiples of its size, each time in a fresh one."""
    groups = []
    for job, size, what in LARGE:
        figures: dict[str, list[float]] = {}
        for _ in range(rounds):
            for plan in (wsgi(SAME, "same_job", ()), wsgi(OUR, "ours", ())):
                for era in Era if plan.of == OUR else (Era.HANDSHAKE,):
                    of = named(OUR, era) if plan.of == OUR else SAME
                    path = "/mcp" if plan.of == OUR else f"/{job.params['name']}"
                    taken = _peak(environments, plan, path, job, era)
                    figures.setdefault(of, []).append(taken * 2**20 / size)
        groups.append(Group(f"peak memory of a gunicorn worker, {what}", "x its size", figures, SAME))
    return groups


def kept(environments: Environments, many: int, very_many: int) -> list[Group]:
    """What our server has in memory after many calls of all kinds, and after very many."""
    plan = wsgi(OUR, "ours", ())
    with serving(_command(environments, plan), plan.setup) as process:
        over_http = [_after(process, count) for count in (many, very_many - many)]
    talker = over_stdio.ours()
    command = [str(environments.programs(talker.environment) / talker.command[0]), *talker.command[1:]]
    with piped(talker.of, command, talker.setup) as pipe:
        over_pipe = [_after_lines(pipe, count) for count in (many, very_many - many)]
    return [_growth("HTTP", over_http), _growth("stdio", over_pipe)]


def _growth(what: str, found: Sequence[float]) -> Group:
    figures = {f"after {of} calls": [figure] for of, figure in zip(("many", "very many"), found, strict=True)}
    return Group(f"resident memory, {what}", "MiB", figures, "after many calls")


def _command(environments: Environments, plan: Plan) -> Sequence[str]:
    program, *arguments = plan.command
    return [str(environments.programs(plan.environment) / program), *arguments]


def _peak(environments: Environments, plan: Plan, path: str, job: jobs.Job, era: Era) -> float:
    """The MiB that a worker has at most during a call, over what it had before."""
    with serving(_command(environments, plan), plan.setup) as process:
        first = message(jobs.ADD, era)
        process.post("/mcp" if plan.of == OUR else "/add", *first).judge(jobs.ADD, plan.of)
        worker = process.worker()
        forget_peak(worker)
        before = resident(worker)
        process.post(path, *message(job, era)).judge(job, plan.of)
        return peak(worker) - before


def _after(process: Process, calls: int) -> float:
    """What the worker has after as many more calls, or a few more than that."""
    sent = [message(job, era) for era in Era for job in KEPT]
    sent = [Message(each.body, {**each.headers, "User-Agent": work.AGENT}) for each in sent]
    for each, job in zip(sent, [*KEPT, *KEPT], strict=True):
        process.post("/mcp", *each).judge(job, OUR)
    url, seconds = f"http://127.0.0.1:{process.port}/mcp", 1.0
    while calls > 0:
        print(f"resident memory, HTTP: {calls:,} calls to go", file=sys.stderr, flush=True)
        found = load(url, sent, 4, seconds)
        calls -= found.requests
        seconds = min(10.0, max(0.2, calls / found.rate))
    return resident(process.worker())


def _after_lines(pipe: Pipe, calls: int) -> float:
    """What the process of a pipe has after as many more calls."""
    for era in Era:
        for job in KEPT:
            pipe.judge(job, era)
    each = [(job, era) for era in Era for job in KEPT]
    while calls > 0:
        print(f"resident memory, stdio: {calls:,} calls to go", file=sys.stderr, flush=True)
        lines = [line(*each[id % len(each)], id) for id in range(min(calls, 5000))]
        pipe.exchange(lines, 4)
        calls -= len(lines)
    return resident(pipe.pid)
