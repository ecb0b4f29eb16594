"""How servers take more of something: tools, bytes of arguments and results, connections. They are plans like those of
`plans`, with jobs that grow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import jobs
from .jobs import Job
from .plans import DJANGO, FAST, FLOOR, OUR, SAME, SDK, TUNED, Plan, asgi, floor_cases, mcp_cases, same_cases, wsgi
from .setups import Setup

COUNTS = [1, 10, 100, 1000]
KILOBYTES = [1, 10, 100, 1000]
CONNECTIONS = [1, 2, 4, 8, 16, 32, 64]


def sized() -> list[Job]:
    """Jobs with arguments and with results of every size."""
    return [*(jobs.taking(size) for size in KILOBYTES), *(jobs.giving(size) for size in KILOBYTES)]


def listed() -> list[Job]:
    """Lists of every length."""
    return [jobs.listing(count) for count in COUNTS]


def full() -> list[Plan]:
    """All that grows."""
    counts = [plan for count in COUNTS for plan in _with_tools(count)]
    floor = wsgi(FLOOR, "floor", [*floor_cases(listed(), (1,))])
    return [*_asked(sized(), (1,)), floor, *counts, *_asked([jobs.ADD], CONNECTIONS)]


def quick() -> list[Plan]:
    """Ours and the floor alone, and the ends of what grows."""
    ends = [jobs.taking(KILOBYTES[-1]), jobs.giving(KILOBYTES[-1])]
    ours = [*mcp_cases(OUR, ends, (1,)), *mcp_cases(OUR, [jobs.ADD], (64,))]
    return [
        wsgi(FLOOR, "floor", [*floor_cases(ends, (1,)), *floor_cases([jobs.ADD], (64,))]),
        wsgi(OUR, "ours", ours),
        next(_with_tools(COUNTS[-1])),
    ]


def _asked(of: Sequence[Job], connections: Sequence[int]) -> Iterator[Plan]:
    yield wsgi(FLOOR, "floor", [*floor_cases(of, connections)])
    yield wsgi(SAME, "same_job", [*same_cases(of, connections)])
    yield wsgi(OUR, "ours", [*mcp_cases(OUR, of, connections)])
    yield asgi(SDK, "sdk", [*mcp_cases(SDK, of, connections)])
    yield asgi(TUNED, "sdk", [*mcp_cases(TUNED, of, connections)], Setup(tuned=True))
    yield asgi(FAST, "fast", [*mcp_cases(FAST, of, connections)])
    yield wsgi(DJANGO, "mcpz", [*mcp_cases(DJANGO, of, connections)])


def _with_tools(count: int) -> Iterator[Plan]:
    setup, of = Setup(tools=count), [jobs.ADD._replace(name=f"add, of {count} tools"), jobs.listing(count)]
    yield wsgi(OUR, "ours", [*mcp_cases(OUR, of, (1,))], setup=setup)
    yield asgi(SDK, "sdk", [*mcp_cases(SDK, of, (1,))], setup)
    yield asgi(FAST, "fast", [*mcp_cases(FAST, of, (1,))], setup)
    yield wsgi(DJANGO, "mcpz", [*mcp_cases(DJANGO, of, (1,))], setup=setup)
