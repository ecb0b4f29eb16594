"""The app that attackers try: the tests' app, with more that could be abused. It has tools that ask before they delete,
one that takes whatever comes and gives it back, templates and files."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from flask import Flask
from marshmallow import INCLUDE, Schema, fields

from flask_arandu_mcp import Elicit, Request, Response, Server, Tool, public, resource, signed_in, tool

from . import app as tests_app
from .app import calls


class Anything(Schema):
    """Whatever comes."""

    class Meta:
        unknown = INCLUDE


@tool(access=signed_in, arguments={"count": fields.Integer(required=True)}, destructive=True)
def wipe(request: Request, count: int) -> Generator[Any, Any, Any]:
    """Deletes posts, once the user says yes."""
    answer = yield Elicit("sure", f"Delete {count} posts?", {"yes": fields.Boolean(required=True)})
    if not (answer.accepted and answer.content["yes"]):
        return Response.error("Nothing was deleted.")
    calls.append(f"wipe {count} {request.subject.get_id()}")
    return f"Deleted {count}."


@tool(access=signed_in, arguments={"count": fields.Integer(required=True)}, destructive=True)
def purge(request: Request, count: int) -> Generator[Any, Any, Any]:
    """Deletes pages, once the user says yes."""
    return (yield from wipe.function(request, count))


class Take(Tool):
    """Takes whatever comes, and gives back the names."""

    name = "take"
    access = public
    arguments = Anything

    def handle(self, request: Request, **rest: Any) -> Response:
        return Response.json({"names": sorted(rest), "of": type(rest).__name__}, meta=dict(request.meta))


@resource("shop://days/{year}-{month}-{day}", access=public)
def day(request: Request, year: str, month: str, day: str) -> str:
    """One day."""
    return f"{year} {month} {day}"


@resource("shop://files/{+path}", access=public)
def files(request: Request, path: str) -> str:
    """A file, by its path."""
    calls.append(f"files {path}")
    return f"file {path}"


def make_server() -> Server:
    """The tests' server, with all of these."""
    known = tests_app.make_server()
    return Server(
        name=known.name,
        tools=[*known.tools, wipe, purge, Take()],
        resources=[*known.resources, day, files],
        prompts=known.prompts,
    )


def create_app(config: dict[str, Any] | None = None) -> Flask:
    """The tests' app with this server."""
    return tests_app.create_app(config, server=make_server())
