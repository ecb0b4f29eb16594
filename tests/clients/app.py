"""The app that these clients talk to. It has users, since a client must also be shown what refused and unknown callers
are; what its handlers lived through is in a journal, which a client can ask for."""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeAlias

from flask import Flask, current_app
from marshmallow import Schema, fields
from marshmallow.validate import Range

from flask_arandu_mcp import (
    Elicit,
    Message,
    Progress,
    Request,
    Server,
    Tool,
    ToolError,
    prompt,
    public,
    resource,
    tool,
)

from .. import app as tests_app

Talk: TypeAlias = Generator[Any, Any, Any]
NAMES = ["hoe", "rake", "spade"]
_STEP = 0.02
_STEPS = 5000
_WAITS = 30.0


def _note(line: str) -> None:
    with Path(current_app.config["JOURNAL"]).open("a") as journal:
        journal.write(f"{line}\n")


def _wait_for(line: str) -> list[str]:
    """Wait until a line is in the journal, and return all of them."""
    journal = Path(current_app.config["JOURNAL"])
    deadline = time.monotonic() + _WAITS
    while time.monotonic() < deadline:
        lines = journal.read_text().splitlines() if journal.exists() else []
        if line in lines:
            return lines
        time.sleep(0.01)
    raise ToolError(f"Nobody wrote {line!r}.")


class Sum(Schema):
    """What `add` answers."""

    sum = fields.Integer(required=True)


class Item(Schema):
    """One of what `items` answers."""

    name = fields.String(required=True)


@tool(
    access=public,
    arguments={"a": fields.Integer(required=True), "b": fields.Integer(required=True)},
    result=Sum(),
    read_only=True,
)
def add(request: Request, a: int, b: int) -> dict[str, int]:
    """Adds two numbers."""
    return {"sum": a + b}


@tool(access=public, result=Item(many=True))
def items(request: Request) -> list[dict[str, str]]:
    """Lists, which is no object."""
    return [{"name": name} for name in NAMES]


@tool(access=public, arguments={"region": fields.String(required=True, metadata={"x-mcp-header": "Region"})})
def locate(request: Request, region: str) -> str:
    """Takes an argument that a header repeats."""
    return f"in {region}"


@tool(access=public)
def whoami(request: Request) -> dict[str, Any]:
    """Says who asks, and in which revision."""
    return {"subject": request.subject.get_id(), "revision": request.revision}


@tool(access=tests_app.is_admin, destructive=True)
def wipe(request: Request) -> str:
    """Is not for these callers."""
    return "wiped"


@tool(access=public)
def fail(request: Request) -> None:
    """Fails, as the shed is locked."""
    raise ToolError("The shed is locked.")


@tool(access=public, arguments={"key": fields.String(required=True)})
def count(request: Request, key: str) -> Talk:
    """Says how far it is, and answers once it is told that it was heard."""
    for done in range(1, 6):
        yield Progress(done, total=5, message=f"row {done}")
    _wait_for(f"{key} heard")
    return "counted"


@tool(access=public, arguments={"key": fields.String(required=True)})
def heard(request: Request, key: str) -> str:
    """Takes note that the counting was heard."""
    _note(f"{key} heard")
    return "noted"


@tool(access=public)
def lend(request: Request) -> Talk:
    """Asks twice, the second time with what was answered the first time."""
    what = yield Elicit("what", "What would you like to borrow?", {"name": fields.String(required=True)})
    if not what.accepted:
        return f"The user said {what.action}."
    for_days = {"days": fields.Integer(required=True, validate=Range(min=1))}
    days = yield Elicit("days", f"For how many days is the {what.content['name']}?", for_days)
    if not days.accepted:
        return f"The user said {days.action} in the end."
    return f"{what.content['name']}, {days.content['days']} days"


@tool(access=public)
def pay(request: Request) -> Talk:
    """Asks to open a page."""
    answer = yield Elicit.url("pay", "Please pay.", "https://shop.example/pay")
    return answer.action


@tool(access=public, arguments={"key": fields.String(required=True)})
def dig(request: Request, key: str) -> Talk:
    """Takes more time than anybody has."""
    try:
        for done in range(1, _STEPS + 1):
            yield Progress(done, total=_STEPS)
            time.sleep(_STEP)
        _note(f"{key} carried out")
        return "dug"
    finally:
        _note(f"{key} ended")


@tool(access=public, arguments={"key": fields.String(required=True)})
def dug(request: Request, key: str) -> str:
    """Waits until a digging has ended, and says what became of it."""
    of_it = {f"{key} carried out": "carried out", f"{key} ended": "ended"}
    return ", ".join(of_it[line] for line in _wait_for(f"{key} ended") if line in of_it)


@resource("shed://rules", access=public, mime_type="text/plain")
def rules(request: Request) -> str:
    """The rules of the shed."""
    return "Bring it back."


@resource("shed://logo", access=public, mime_type="image/png")
def logo(request: Request) -> bytes:
    """The logo of the shed."""
    return b"\x89PNG\r\n"


@resource("shed://tools/{name}", access=public, mime_type="text/plain")
def one(request: Request, name: str) -> str:
    """One tool of the shed."""
    return f"A {name}."


@one.completes("name")
def names(request: Request, value: str) -> list[str]:
    return [name for name in NAMES if name.startswith(value)]


@prompt(access=public, arguments={"name": fields.String(required=True)})
def advise(request: Request, name: str) -> list[Message]:
    """Asks for advice."""
    return [Message.user(f"How do I use a {name}?"), Message.assistant("With care.")]


@advise.completes("name")
def named(request: Request, value: str) -> list[str]:
    return [name for name in NAMES if name.startswith(value)]


TOOLS: list[Tool] = [add, items, locate, whoami, wipe, fail, count, heard, lend, pay, dig, dug]


def create_app() -> Flask:
    """The app, whose lists are in pages of three; its journal is where the environment says."""
    server = Server(
        name="shed",
        version="1.0.0",
        title="The shed",
        instructions="Tools, lent.",
        tools=TOOLS,
        resources=[rules, logo, one],
        prompts=[advise],
    )
    config = {"JOURNAL": os.environ["CLIENTS_JOURNAL"], "MCP_PAGE_SIZE": 3}
    return tests_app.create_app(config, server=server)
