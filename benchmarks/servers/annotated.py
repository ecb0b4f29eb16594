"""The tools as functions whose annotations are their schemas, as the official SDK and FastMCP want them. Both are given
the same functions; tuned, they are coroutine functions, which neither framework hands to a thread."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, Field

from .. import work
from ..setups import Setup

Function = Callable[..., Any]


class Post(BaseModel):
    """A row of a list."""

    id: int
    slug: str
    title: str
    author: str
    status: str


def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return work.add(a, b)


def list_posts(limit: Annotated[int, Field(ge=1, le=100)] = work.ROWS) -> list[Post]:
    """Lists the posts, newest first."""
    return [Post(**row) for row in work.posts(limit)]


def list_rows(limit: Annotated[int, Field(ge=1, le=100)] = work.ROWS) -> list[dict[str, Any]]:
    """Lists the posts, newest first, without a schema."""
    return cast("list[dict[str, Any]]", work.posts(limit))


def book(
    room: Annotated[str, Field(min_length=1, max_length=40)],
    floor: Annotated[int, Field(ge=0, le=9)],
    seats: Annotated[int, Field(ge=1)],
    kind: Literal["talk", "class", "party"],
    quiet: bool,
) -> dict[str, Any]:
    """Books a room."""
    return work.booking(room, floor, seats, kind, quiet)


def take_text(text: str) -> dict[str, int]:
    """Measures a text."""
    return work.take_text(text)


def give_text(size: int) -> str:
    """Makes a text."""
    return work.give_text(size)


def take_rows(rows: list[Post]) -> dict[str, int]:
    """Counts rows."""
    return work.take_rows(rows)


def wait(seconds: float) -> dict[str, float]:
    """Waits."""
    return work.wait(seconds)


def note() -> str:
    """A note."""
    return work.TEXT


WORKING: list[Function] = [add, list_posts, list_rows, book, take_text, give_text, take_rows, wait]


def tools_of(setup: Setup) -> list[Function]:
    """As many functions as a setup wants, of which `add` is the first."""
    functions = WORKING
    if setup.tools is not None:
        functions = [add, *(_another(number) for number in range(1, setup.tools))]
    if not setup.tuned:
        return functions
    return [wait_in_loop if function is wait else in_loop(function) for function in functions]


def in_loop(function: Function) -> Function:
    """The function as a coroutine function, which runs in the event loop."""

    @functools.wraps(function)
    async def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return run


async def wait_in_loop(seconds: float) -> dict[str, float]:
    """Waits."""
    await asyncio.sleep(seconds)
    return {"waited": seconds}


wait_in_loop.__name__ = wait.__name__


def _another(number: int) -> Function:
    def another(a: int, b: int) -> dict[str, int]:
        """Adds two numbers, as one of many tools of the same kind."""
        return work.add(a, b)

    another.__name__ = f"add_{number}"
    return another
