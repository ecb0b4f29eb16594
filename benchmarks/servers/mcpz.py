"""django-mcpz: its server as the one view of a Django project without middleware, which is the least that Django can
do. It has tools alone, and tells the first fault of arguments only."""

# The annotations of its tools are read when they are declared, so they are no strings here.
import functools
from typing import Annotated, Any, Literal

import django  # pyright: ignore[reportMissingImports]  # in an environment of its own
import msgspec  # pyright: ignore[reportMissingImports]  # in an environment of its own
from django.conf import settings  # pyright: ignore[reportMissingImports]  # in an environment of its own

from .. import work
from ..setups import Setup

urlpatterns: list[Any] = []


class Add(msgspec.Struct):
    """The arguments of `add`."""

    a: int
    b: int


class Sum(msgspec.Struct):
    """The result of `add`."""

    sum: int


class Limit(msgspec.Struct):
    """The arguments of a list."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = work.ROWS


class Post(msgspec.Struct):
    """A row of a list."""

    id: int
    slug: str
    title: str
    author: str
    status: str


class Posts(msgspec.Struct):
    """The result of a list."""

    result: list[Post]


class Book(msgspec.Struct):
    """Five arguments."""

    room: Annotated[str, msgspec.Meta(min_length=1, max_length=40)]
    floor: Annotated[int, msgspec.Meta(ge=0, le=9)]
    seats: Annotated[int, msgspec.Meta(ge=1)]
    kind: Literal["talk", "class", "party"]
    quiet: bool


class Text(msgspec.Struct):
    """A large argument."""

    text: str


class Size(msgspec.Struct):
    """The size of a large result."""

    size: int


class Rows(msgspec.Struct):
    """Rows as arguments."""

    rows: list[Post]


def add(request: Any, params: Add) -> Sum:
    return Sum(**work.add(params.a, params.b))


def list_posts(request: Any, params: Limit) -> Posts:
    return Posts([Post(**row) for row in work.posts(params.limit)])


def list_rows(request: Any, params: Limit) -> dict[str, Any]:
    return {"result": work.posts(params.limit)}


def book(request: Any, params: Book) -> dict[str, Any]:
    return work.booking(params.room, params.floor, params.seats, params.kind, params.quiet)


def take_text(request: Any, params: Text) -> dict[str, Any]:
    return dict(work.take_text(params.text))


def give_text(request: Any, params: Size) -> str:
    return work.give_text(params.size)


def take_rows(request: Any, params: Rows) -> dict[str, Any]:
    return dict(work.take_rows(params.rows))


WORKING = [add, list_posts, list_rows, book, take_text, give_text, take_rows]


def nobody(request: Any) -> bool:
    """The policy of what is hidden."""
    return False


def _add_tools(server: Any, setup: Setup) -> None:
    if setup.tools is None:
        for function in WORKING:
            server.tool(description="Does a job.")(function)
        server.tool(name="close", description="Adds two numbers.", permission=nobody)(add)
        return
    server.tool(description="Adds two numbers.")(add)
    for number in range(1, setup.tools):
        description = "Adds two numbers, as one of many tools of the same kind."
        permission = nobody if setup.half and number % 2 else None
        server.tool(name=f"add_{number}", description=description, permission=permission)(add)


@functools.cache
def create_app() -> Any:
    """The WSGI app."""
    settings.configure(ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY=work.SECRET_KEY, MIDDLEWARE=[])
    django.setup()
    # What follows needs settings.
    from django.core.wsgi import get_wsgi_application  # pyright: ignore[reportMissingImports]  # as above
    from django.urls import path  # pyright: ignore[reportMissingImports]  # as above
    from django_mcpz.server import MCPServer, public  # pyright: ignore[reportMissingImports]  # as above

    server = MCPServer(name="benchmark", version="1", auth=public)
    _add_tools(server, Setup.read())
    urlpatterns.append(path("mcp", server))
    return get_wsgi_application()
