"""An app whose tools ask their users in the ways that not every revision has."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from flask import Flask
from marshmallow import fields
from marshmallow.validate import OneOf

from flask_arandu_mcp import ArandoMCP, Elicit, Request, Server, guest, public, tool

SIZES = OneOf(["s", "l"], labels=["Small", "Large"])


@tool(access=public)
def size(request: Request) -> Generator[Elicit, Any, str]:
    """Asks for one choice with a label."""
    answer = yield Elicit("size", "Which size?", {"size": fields.String(required=True, validate=SIZES)})
    return f"It is {answer.content['size']}."


@tool(access=public)
def sizes(request: Request) -> Generator[Elicit, Any, str]:
    """Asks for several choices."""
    answer = yield Elicit("sizes", "Which sizes?", {"sizes": fields.List(fields.String(validate=SIZES))})
    return f"They are {answer.content.get('sizes')}."


@tool(access=public)
def page(request: Request) -> Generator[Elicit, Any, str]:
    """Asks to open a page."""
    answer = yield Elicit.url("pay", "Please pay.", "https://shop.example/pay")
    return f"The user said {answer.action}."


def create_app() -> Flask:
    """The tools on a pipe."""
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "a key for the tests"
    mcp = ArandoMCP(app, Server(name="survey", tools=[size, sizes, page]))
    mcp.local_subject(lambda: guest)
    return app
