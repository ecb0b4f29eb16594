"""A handler that talks while it works is watched in each of its steps, and granted anew in each round of questions."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from marshmallow import fields
from sqlalchemy import select

from flask_arandu_mcp import Elicit, GrantRequired, Progress, Request, answer, authorize, public, tool

from ..wire import META, Wire, modern, modern_headers
from .library import Book, connect, create_app, db, make_server

REFUSED = "403 Forbidden: nothing had allowed this (ref "
ANA = {"Authorization": "Bearer ana"}
YES = {"sure": {"action": "accept", "content": {"yes": True}}}
Steps = Generator[Any, Any, str]


def titles() -> str:
    return str(connect(select(Book.title)))


def sure() -> Elicit:
    return Elicit("sure", "Sure?", {"yes": fields.Boolean(required=True)})


@tool(access=public)
def granted_first(request: Request) -> Steps:
    """Is granted in its first step."""
    authorize(public, request.subject, "list books")
    yield Progress(1, total=2)
    return titles()


@tool(access=public)
def bare_step(request: Request) -> Steps:
    """Queries between two steps."""
    yield Progress(1, total=2)
    found = titles()
    yield Progress(2, total=2)
    return found


@tool(access=public)
def bare_end(request: Request) -> Steps:
    """Queries when it is closed."""
    try:
        yield Progress(1, total=2)
        return "done"
    finally:
        titles()


@tool(access=public)
def swallowed(request: Request) -> Steps:
    """Asks its user after a refusal."""
    try:
        titles()
    except GrantRequired:
        yield sure()
    return "done"


@tool(access=public)
def granted_once(request: Request) -> Steps:
    """Asks the policy in the first round only."""
    if request.attempt not in seen:
        seen.add(request.attempt)
        authorize(public, request.subject, "list books")
    yield sure()
    return titles()


@tool(access=public)
def granted_always(request: Request) -> Steps:
    """Asks the policy in every round."""
    authorize(public, request.subject, "list books")
    yield sure()
    return titles()


seen: set[str] = set()
TOOLS = [granted_first, bare_step, bare_end, swallowed, granted_once, granted_always]
LISTED = "[('Emma',)]"


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = create_app(f"sqlite:///{tmp_path / 'library.sqlite'}", server=make_server(*TOOLS))
    yield app
    with app.app_context():
        db.engine.dispose()


@pytest.fixture
def result_of(app: Flask) -> Callable[..., Any]:
    """Calls a tool over HTTP in the stateless era, with what an earlier round left behind."""
    wire = Wire(app)

    def call(name: str, **more: Any) -> Any:
        message = modern("tools/call", {"name": name, **more}, **{f"{META}clientCapabilities": {"elicitation": {}}})
        return wire.post(message, {**modern_headers(message), **ANA}).get_json()["result"]

    return call


@pytest.mark.parametrize(
    ("name", "told"), [("granted_first", LISTED), ("bare_step", REFUSED), ("bare_end", REFUSED), ("swallowed", REFUSED)]
)
def test_every_step_is_watched(result_of: Callable[..., Any], name: str, told: str) -> None:
    """A Grant lasts over steps; without one each step is refused, the last one and the closing too, and no user is
    asked anything after it."""
    result = result_of(name)
    assert result["resultType"] == "complete"
    assert result["content"][0]["text"].startswith(told)


@pytest.mark.parametrize(("name", "told"), [("granted_always", LISTED), ("granted_once", REFUSED)])
def test_each_round_is_granted_anew(result_of: Callable[..., Any], name: str, told: str) -> None:
    """What was granted before a question may be wrong when the answer comes, so that the policy is asked again."""
    first = result_of(name)
    assert first["resultType"] == "input_required"
    second = result_of(name, inputResponses=YES, requestState=first["requestState"])
    assert second["content"][0]["text"].startswith(told)


def test_nothing_is_watched_between_steps(app: Flask) -> None:
    """While a handler waits, whoever drives it may read what it likes."""
    with app.app_context():
        message = modern("tools/call", {"name": "bare_step"}, progressToken=1)
        said = answer(make_server(*TOOLS), None, json.dumps(message).encode())
        assert b"notifications/progress" in next(said)
        assert titles() == LISTED
        assert REFUSED.encode() in b"".join(said)
