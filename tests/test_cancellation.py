"""Cancelling over HTTP in the handshake era: a notification of the client's own session stops its call, in whichever
worker that is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from .talk import ASKS, create_app, lines, wait_for
from .wire import Wire, bearer, call


@pytest.fixture
def app(journal: Path) -> Flask:
    return create_app({"JOURNAL": str(journal)})


def session(wire: Wire, **headers: str) -> dict[str, str]:
    """The headers of a client that has initialized."""
    hello = call("initialize", {"protocolVersion": "2025-11-25", "capabilities": ASKS})
    memo = wire.post(hello, headers).headers["Mcp-Session-Id"]
    accept = "application/json, text/event-stream"
    return {"Mcp-Session-Id": memo, "MCP-Protocol-Version": "2025-11-25", "Accept": accept, **headers}


def began(wire: Wire, name: str, headers: dict[str, str], id: Any = 7) -> Any:
    """The events of a call that has sent its first message."""
    message = call("tools/call", {"name": name, "_meta": {"progressToken": "p"}}, id)
    many = {"wsgi.multithread": True}
    answer = wire.client.post("/mcp", json=message, headers=headers, environ_overrides=many)
    events = iter(answer.iter_encoded())
    assert next(events).startswith(b"data: ")
    return events


def cancel(wire: Wire, headers: dict[str, str], id: Any = 7) -> None:
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}
    answer = wire.post(notice, headers)
    assert (answer.status_code, answer.data) == (202, b"")


def test_s09_a_cancelled_call_stops_at_its_next_step(app: Flask, journal: Path) -> None:
    """The handler's `finally` runs, and nothing more is sent: not even a response."""
    wire, other = Wire(app), Wire(app)
    headers = session(wire)
    events = began(wire, "endless", headers)
    cancel(other, headers)
    rest = list(events)
    assert not any(b'"id":7' in event for event in rest)
    assert any(line.startswith("stopped") for line in lines(journal))


def test_a_cancelled_call_asks_no_more(app: Flask, journal: Path) -> None:
    """A call that waits for its user ends when it is cancelled, and leaves nothing in the mailbox."""
    wire, other = Wire(app), Wire(app)
    headers = session(wire, **bearer("bob"))
    events = began(wire, "greet", headers)
    cancel(other, headers)
    assert list(events) == []
    assert not any(line.startswith("greeted") for line in lines(journal))


@pytest.mark.parametrize("whose", ["other client", "other subject", "other id", "same id as text", "no session"])
def test_nobody_else_can_cancel(app: Flask, journal: Path, whose: str) -> None:
    """Only the session that made the call, as its subject and with its id, takes it back."""
    wire, other = Wire(app), Wire(app)
    headers = session(wire, **bearer("bob"))
    events = began(wire, "long", headers)
    theirs = {
        "other client": session(other, **bearer("bob")),
        "other subject": {**headers, **bearer("alice")},
        "no session": {key: value for key, value in headers.items() if key != "Mcp-Session-Id"},
    }
    cancel(other, theirs.get(whose, headers), {"other id": 8, "same id as text": "7"}.get(whose, 7))
    assert any(b'"id":7' in event for event in events)
    wait_for(lambda: "done" in lines(journal))


@pytest.mark.parametrize("id", [None, True, [], {}, "x", 99])
def test_a_cancellation_of_nothing_is_taken(app: Flask, id: Any) -> None:
    """What names no call is accepted like any notification, and does nothing."""
    wire = Wire(app)
    cancel(wire, session(wire), id)
