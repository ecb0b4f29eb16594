"""The protocol's own log messages: offered where the server says so, and sent to who asked for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import ArandoMCP, Notification, Request, Server, public, tool

from .wire import META, MODERN, Wire, call, modern, modern_headers

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
EVENTS = {"Accept": "application/json, text/event-stream"}


@tool(access=public)
def chatty(request: Request) -> Iterator[Notification]:
    """Logs at every level, and once at one that there is not."""
    for level in [*LEVELS, "loud"]:
        yield Notification("notifications/message", {"level": level, "data": level})


def _wire(*, logging: bool) -> Wire:
    app = Flask(__name__)
    ArandoMCP(app, Server(name="chatty", tools=[chatty], logging=logging))
    return Wire(app)


def _logged(wire: Wire, message: dict[str, Any], headers: dict[str, str]) -> list[str]:
    """The levels that come before the response, which must come."""
    answer = wire.post(message, {**EVENTS, **headers})
    text = answer.get_data(as_text=True)
    if answer.mimetype == "application/json":
        received = [json.loads(text)]
    else:
        received = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line]
    assert "result" in received[-1], received
    assert all(one["method"] == "notifications/message" for one in received[:-1])
    return [one["params"]["level"] for one in received[:-1]]


def _stateless(level: object = None) -> tuple[dict[str, Any], dict[str, str]]:
    meta = {} if level is None else {f"{META}logLevel": level}
    message = modern("tools/call", {"name": "chatty"}, 1, **meta)
    return message, modern_headers(message)


@pytest.mark.parametrize("level", LEVELS)
def test_the_stateless_era_sends_from_the_level_that_the_message_names(level: str) -> None:
    """Messages below the level that the request names are not sent, and all others are."""
    assert _logged(_wire(logging=True), *_stateless(level)) == LEVELS[LEVELS.index(level) :]


@pytest.mark.parametrize("level", [None, "loud", 3, ["debug"]], ids=str)
def test_the_stateless_era_sends_nothing_unasked(level: object) -> None:
    """A request that names no level, or none that there is, is sent no log messages."""
    assert _logged(_wire(logging=True), *_stateless(level)) == []


def test_the_handshake_era_sends_all_levels() -> None:
    """No level is kept for a client, so all that there are are sent."""
    message = call("tools/call", {"name": "chatty"})
    assert _logged(_wire(logging=True), message, {"MCP-Protocol-Version": "2025-11-25"}) == LEVELS


@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
def test_nothing_is_logged_where_logging_is_not_offered(revision: str) -> None:
    """A server that does not declare logging sends no log messages, whatever a handler yields and a client wants."""
    wire = _wire(logging=False)
    if revision == MODERN:
        message, headers = _stateless("debug")
    else:
        message, headers = call("tools/call", {"name": "chatty"}), {"MCP-Protocol-Version": revision}
    assert _logged(wire, message, headers) == []


@pytest.mark.parametrize("logging", [True, False])
def test_logging_is_declared_where_it_is_offered(logging: bool) -> None:
    """Both eras declare the capability exactly where `Server(logging=True)`, and setLevel exists only there."""
    wire = _wire(logging=logging)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    assert ("logging" in wire.call("initialize", hello)["capabilities"]) is logging
    discovered = wire.modern("server/discover").get_json()["result"]
    assert ("logging" in discovered["capabilities"]) is logging
    answer = wire.post(call("logging/setLevel", {"level": "info"})).get_json()
    assert answer.get("result") == {} if logging else answer["error"]["code"] == -32601


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_set(level: str) -> None:
    """The eight levels of the protocol are accepted."""
    assert _wire(logging=True).call("logging/setLevel", {"level": level}) == {}


@pytest.mark.parametrize("level", ["loud", "INFO", "", None, 3, ["info"]], ids=repr)
def test_a_level_that_there_is_not_is_refused(level: object) -> None:
    """What is none of the eight levels is -32602."""
    answer = _wire(logging=True).post(call("logging/setLevel", {"level": level})).get_json()
    assert answer["error"]["code"] == -32602
    assert "level" in answer["error"]["message"]
