"""Which servers are asked what over HTTP: the programs that serve them, the eras that they speak, and what each of them
can do. What a server does not have is left out of the table, and is never replaced by something lighter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from . import jobs
from .environments import OURS
from .jobs import Job
from .messages import Era
from .setups import Setup

GUEST, SESSION, BEARER = "guest", "session", "bearer"
WITH_SESSIONS = "guest where there are sessions"
PLAIN = Setup()
KINDS = {
    "gthread": ("gunicorn", "--worker-class", "gthread", "--threads", "4"),
    "sync": ("gunicorn", "--worker-class", "sync"),
    "gevent": ("gunicorn", "--worker-class", "gevent"),
    "granian": ("granian", "--interface", "wsgi", "--factory", "--no-ws", "--blocking-threads", "4"),
}
FLOOR, SAME, OUR, SDK, TUNED, FAST, DJANGO = "floor", "same job", "ours", "SDK", "SDK tuned", "FastMCP", "django-mcpz"


class Case(NamedTuple):
    """One thing to ask of a server.

    :ivar of: who is asked and how, for the table.
    :ivar path: where it is asked.
    :ivar credential: who asks.
    """

    of: str
    job: Job
    era: Era
    path: str
    connections: int
    credential: str = GUEST

    def title(self, kind: str) -> str:
        """The group of the table that it belongs to, under a program of this kind."""
        counted = "1 connection" if self.connections == 1 else f"{self.connections} connections"
        return f"{self.job.name}, {kind}, {counted}"


class Plan(NamedTuple):
    """A server and what it is asked.

    :ivar of: its name in the table.
    :ivar kind: the program that serves it; groups of the table are of one kind.
    :ivar command: its program in its environment, and the arguments.
    :ivar weighed: whether its start and its memory are in the table, too.
    """

    of: str
    kind: str
    environment: str
    command: tuple[str, ...]
    setup: Setup
    cases: tuple[Case, ...]
    weighed: bool = False


def wsgi(of: str, module: str, cases: Sequence[Case], kind: str = "gthread", setup: Setup = PLAIN) -> Plan:
    """A WSGI app, in gunicorn or granian with one worker."""
    program, *options = KINDS[kind]
    app = f"benchmarks.servers.{module}:create_app"
    where = ["--bind", "127.0.0.1:{port}"] if program == "gunicorn" else ["--port", "{port}"]
    command = (program, *options, *where, "--log-level", "error", f"{app}()" if program == "gunicorn" else app)
    return Plan(of, kind, "django" if module == "mcpz" else OURS, command, setup, tuple(cases))


def asgi(of: str, module: str, cases: Sequence[Case], setup: Setup = PLAIN) -> Plan:
    """An ASGI app in uvicorn; tuned, on uvloop and httptools."""
    loop = ("--loop", "uvloop", "--http", "httptools") if setup.tuned else ("--loop", "asyncio", "--http", "h11")
    app = f"benchmarks.servers.{module}:create_app"
    command = ("uvicorn", "--factory", app, "--port", "{port}", "--log-level", "error", *loop)
    # They stand beside the WSGI apps in gunicorn's threads, as what their users would take.
    return Plan(of, "gthread", {"sdk": "sdk", "fast": "fastmcp"}[module], command, setup, tuple(cases))


def floor_cases(all_jobs: Sequence[Job], connections: Sequence[int]) -> Iterator[Case]:
    """The floor's own answer to each job."""
    return (Case(FLOOR, job, Era.HANDSHAKE, f"/{job.slug}", c) for job in all_jobs for c in connections)


def longer_cases(all_jobs: Sequence[Job], connections: Sequence[int]) -> Iterator[Case]:
    """The floor again, for what the stateless era sends: more headers, and a longer body, which the server reads before
    anything else is done."""
    for case in floor_cases(all_jobs, connections):
        yield case._replace(of=f"{FLOOR}, sent as {Era.STATELESS.value}", era=Era.STATELESS)


def same_cases(all_jobs: Sequence[Job], connections: Sequence[int], credential: str = GUEST) -> Iterator[Case]:
    """A plain view that does each job."""
    of = SAME if credential == GUEST else f"{SAME}, {credential}"
    for job in all_jobs:
        for count in connections:
            yield Case(of, job, Era.HANDSHAKE, plain_path(job), count, credential)


def plain_path(job: Job) -> str:
    """Where the plain view of a job is."""
    return "/notes" if job is jobs.READ else f"/{job.params['name']}"


def mcp_cases(of: str, all_jobs: Sequence[Job], connections: Sequence[int], credential: str = GUEST) -> Iterator[Case]:
    """A server of the protocol in both eras."""
    for era in Era:
        for job in all_jobs:
            for count in connections:
                yield Case(named(of, era, credential), job, era, "/mcp", count, credential)


def named(of: str, era: Era, credential: str = GUEST) -> str:
    """A server in an era, as the table calls it."""
    return f"{of} {era.value}" if credential == GUEST else f"{of} {era.value}, {credential}"


ONE, MANY, BOTH = (1,), (16,), (1, 16)
"""Connections."""
MAIN = [jobs.ADD, jobs.LIST_POSTS]
REST = [jobs.LIST_ROWS, jobs.BOOK, jobs.FAULTS, jobs.REFUSED, jobs.READ]
MCPZ = [jobs.LIST_ROWS, jobs.BOOK]
"""django-mcpz has no resources, tells the first fault alone, and answers a refusal as for an unknown name."""
LISTS = [
    (Setup(tools=3), jobs.listing(3)),
    (Setup(tools=200), jobs.listing(200)),
    (Setup(tools=200, half=True), jobs.HALF),
]


def full() -> list[Plan]:
    """All that is asked over HTTP."""
    floor = [*floor_cases(MAIN, BOTH), *floor_cases(REST, MANY), *floor_cases([job for _, job in LISTS], ONE)]
    floor += longer_cases(MAIN, BOTH)
    same = [*same_cases(MAIN, BOTH), *same_cases([jobs.LIST_ROWS, jobs.BOOK, jobs.FAULTS, jobs.READ], MANY)]
    same += same_cases([jobs.ADD], MANY, BEARER)
    ours = [*_working(OUR, REST), *mcp_cases(OUR, [jobs.ADD], MANY, BEARER)]
    rechecking = [case._replace(of=f"{case.of}, recheck") for case in mcp_cases(OUR, [jobs.ADD], MANY, BEARER)]
    plans = [
        wsgi(FLOOR, "floor", floor),
        wsgi(SAME, "same_job", same),
        wsgi(OUR, "ours", ours),
        asgi(SDK, "sdk", [*_working(SDK, REST)]),
        asgi(TUNED, "sdk", [*_working(TUNED, REST)], Setup(tuned=True)),
        asgi(FAST, "fast", [*_working(FAST, REST)]),
        wsgi(DJANGO, "mcpz", [*_working(DJANGO, MCPZ)]),
    ]
    weighed = [plan._replace(weighed=True) for plan in plans]
    rechecked = wsgi(OUR, "ours", rechecking, setup=Setup(recheck=True))
    return [*weighed, rechecked, *_with_sessions(), *_lists(), *_other_kinds()]


def quick() -> list[Plan]:
    """The least that says something of everything."""
    plans = [
        wsgi(
            FLOOR,
            "floor",
            [*floor_cases(MAIN, MANY), *longer_cases(MAIN, MANY), *floor_cases([jobs.listing(200)], ONE)],
        ),
        wsgi(SAME, "same_job", [*same_cases(MAIN, MANY)]),
        wsgi(OUR, "ours", [*mcp_cases(OUR, MAIN, MANY), *mcp_cases(OUR, [jobs.ADD], MANY, BEARER)]),
        asgi(SDK, "sdk", [*mcp_cases(SDK, MAIN, MANY)]),
        asgi(TUNED, "sdk", [*mcp_cases(TUNED, MAIN, MANY)], Setup(tuned=True)),
        asgi(FAST, "fast", [*mcp_cases(FAST, MAIN, MANY)]),
        wsgi(DJANGO, "mcpz", [*mcp_cases(DJANGO, MAIN, MANY)]),
    ]
    return [
        *(plan._replace(weighed=True) for plan in plans),
        wsgi(OUR, "ours", [*mcp_cases(OUR, [jobs.listing(200)], ONE)], setup=Setup(tools=200)),
        wsgi(FLOOR, "floor", [*floor_cases([jobs.ADD], MANY)], "granian"),
        wsgi(OUR, "ours", [*mcp_cases(OUR, [jobs.ADD], MANY)], "granian"),
    ]


def _working(of: str, rest: Sequence[Job]) -> Iterator[Case]:
    yield from mcp_cases(of, MAIN, BOTH)
    yield from mcp_cases(of, rest, MANY)


def _with_sessions() -> Iterator[Plan]:
    """An app that has pages, too: its guests, and who is signed in there."""
    setup = Setup(sessions=True)
    same = [*same_cases([jobs.ADD], MANY), *same_cases([jobs.ADD], MANY, SESSION)]
    ours = [*mcp_cases(OUR, [jobs.ADD], MANY), *mcp_cases(OUR, [jobs.ADD], MANY, SESSION)]
    yield wsgi(SAME, "same_job", [_where_sessions_are(case) for case in same], setup=setup)
    yield wsgi(OUR, "ours", [_where_sessions_are(case) for case in ours], setup=setup)


def _where_sessions_are(case: Case) -> Case:
    return case if case.credential == SESSION else case._replace(of=f"{case.of}, {WITH_SESSIONS}")


def _lists() -> Iterator[Plan]:
    for setup, job in LISTS:
        yield wsgi(OUR, "ours", [*mcp_cases(OUR, [job], ONE)], setup=setup)
        yield wsgi(DJANGO, "mcpz", [*mcp_cases(DJANGO, [job], ONE)], setup=setup)
        if not setup.half:  # neither hides tools from some of its users
            yield asgi(SDK, "sdk", [*mcp_cases(SDK, [job], ONE)], setup)
            yield asgi(TUNED, "sdk", [*mcp_cases(TUNED, [job], ONE)], setup._replace(tuned=True))
            yield asgi(FAST, "fast", [*mcp_cases(FAST, [job], ONE)], setup)


def _other_kinds() -> Iterator[Plan]:
    for kind in ("sync", "gevent", "granian"):
        yield wsgi(FLOOR, "floor", [*floor_cases(MAIN, BOTH)], kind)
        yield wsgi(OUR, "ours", [*mcp_cases(OUR, MAIN, BOTH)], kind)
