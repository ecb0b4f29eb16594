"""The work that every server does, in plain Python: nothing of a framework is imported, so that each server's own
environment has it. What differs between servers is then their own cost alone."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TypedDict


class Post(TypedDict):
    """One row of a list."""

    id: int
    slug: str
    title: str
    author: str
    status: str


POSTS: list[Post] = [
    {
        "id": number,
        "slug": f"a-note-on-beans-and-peas-{number}",
        "title": f"A note on beans and peas, part {number}",
        "author": "ana" if number % 2 else "ben",
        "status": "published",
    }
    for number in range(1, 101)
]
ROWS = 20
KINDS = ["talk", "class", "party"]
TEXT = "Beans want warmth, and peas do not mind the cold.\n" * 20
URI = "notes://beans"
SECRET_KEY = "a key for benchmarks"
TOKEN, USER = "ana's token", "ana"
REFUSAL = "403 Forbidden: sign in to use this."
AGENT = "benchmark"
"""What the client calls itself: Flask-Login binds a session to it."""


def add(a: int, b: int) -> dict[str, int]:
    """The least work."""
    return {"sum": a + b}


def posts(limit: int) -> list[Post]:
    """The first rows of a list."""
    return POSTS[:limit]


def booking(room: str, floor: int, seats: int, kind: str, quiet: bool) -> dict[str, object]:
    """Something with five arguments."""
    return {"room": room, "floor": floor, "seats": seats, "kind": kind, "quiet": quiet}


def take_text(text: str) -> dict[str, int]:
    """A call with a large argument."""
    return {"length": len(text)}


def give_text(size: int) -> str:
    """A call with a large result."""
    return "x" * size


def take_rows(rows: Sequence[object]) -> dict[str, int]:
    """A call with many arguments."""
    return {"count": len(rows)}


def wait(seconds: float) -> dict[str, float]:
    """A call that waits for something else, as for a database."""
    time.sleep(seconds)
    return {"waited": seconds}
