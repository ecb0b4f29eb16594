"""This package: a Flask app with users and an MCP server at `/mcp`, over HTTP and as `flask mcp start`. Its tools are
declared as README shows them, without anything that a benchmark alone would do."""

from __future__ import annotations

from typing import Any

from flask import Flask
from marshmallow import fields

from flask_arandu_mcp import ArandoMCP, Request, Server, Tool, guest, public, resource, signed_in, tool

from .. import work
from ..setups import Setup
from .schemas import AddSchema, BookSchema, LimitSchema, PostSchema, RowsSchema
from .users import with_users


@tool(access=public, arguments=AddSchema)
def add(request: Request, a: int, b: int) -> Any:
    """Adds two numbers."""
    return work.add(a, b)


@tool(access=public, arguments=LimitSchema, result=PostSchema(many=True))
def list_posts(request: Request, limit: int) -> Any:
    """Lists the posts, newest first."""
    return work.posts(limit)


@tool(access=public, arguments=LimitSchema)
def list_rows(request: Request, limit: int) -> Any:
    """Lists the posts, newest first, without a schema."""
    return work.posts(limit)


@tool(access=public, arguments=BookSchema)
def book(request: Request, room: str, floor: int, seats: int, kind: str, quiet: bool) -> Any:
    """Books a room."""
    return work.booking(room, floor, seats, kind, quiet)


@tool(access=signed_in, arguments=AddSchema)
def close(request: Request, a: int, b: int) -> Any:
    """Adds two numbers for those who are signed in."""
    return work.add(a, b)


@tool(access=public, arguments={"text": fields.String(required=True)})
def take_text(request: Request, text: str) -> Any:
    """Measures a text."""
    return work.take_text(text)


@tool(access=public, arguments={"size": fields.Integer(required=True)})
def give_text(request: Request, size: int) -> str:
    """Makes a text."""
    return work.give_text(size)


@tool(access=public, arguments=RowsSchema)
def take_rows(request: Request, rows: list[Any]) -> Any:
    """Counts rows."""
    return work.take_rows(rows)


@tool(access=public, arguments={"seconds": fields.Float(required=True)})
def wait(request: Request, seconds: float) -> Any:
    """Waits."""
    return work.wait(seconds)


@resource(work.URI, access=public, mime_type="text/plain")
def note(request: Request) -> str:
    """A note."""
    return work.TEXT


WORKING: list[Tool] = [add, list_posts, list_rows, book, close, take_text, give_text, take_rows, wait]


def insiders(subject: Any) -> bool:
    """The policy of what is hidden from guests."""
    return bool(subject.is_authenticated)


def _another(number: int, hidden: bool) -> Tool:
    @tool(name=f"add_{number}", access=insiders if hidden else public, arguments=AddSchema)
    def another(request: Request, a: int, b: int) -> Any:
        """Adds two numbers, as one of many tools of the same kind."""
        return work.add(a, b)

    return another


def tools_of(setup: Setup) -> list[Tool]:
    """As many tools as a setup wants, of which `add` is the first."""
    if setup.tools is None:
        return WORKING
    return [add, *(_another(number, setup.half and number % 2 == 1) for number in range(1, setup.tools))]


def create_app(setup: Setup | None = None) -> Flask:
    """The app."""
    setup = setup or Setup.read()
    app = with_users(Flask(__name__), setup)
    if setup.workers is not None:
        app.config["MCP_STDIO_WORKERS"] = setup.workers
    server = Server(name="benchmark", version="1", tools=tools_of(setup), resources=[note], recheck=setup.recheck)
    mcp = ArandoMCP(app, server)
    mcp.local_subject(lambda: guest)
    mcp.check(app)
    return app
