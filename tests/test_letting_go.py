"""Test that nothing of a request outlives its answer: what stands in a circle waits for a garbage collection, and all
that the request holds, its body included, waits with it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, request, request_started

from flask_arandu_mcp import ArandoMCP, Request, Server, ToolError, public, tool

from .wire import Wire, call, modern, modern_headers

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("add", {"a": 1, "b": 2}),
    ("add", {"a": "x", "c": 1}),
    ("delete_user", {"id": 1}),
    ("admin_hidden", {"key": "x"}),
    ("admin_forbidden", {"key": "x"}),
    ("fail", {"how": "tool"}),
    ("fail", {"how": "notfound"}),
    ("fail", {"how": "forbidden"}),
    ("nothing of this name", {}),
]
MESSAGES: list[dict[str, Any]] = [
    *(call("tools/call", {"name": name, "arguments": arguments}) for name, arguments in CALLS),
    *(modern("tools/call", {"name": name, "arguments": arguments}) for name, arguments in CALLS),
    call("tools/list"),
    call("no/such/method"),
    call("resources/read", {"uri": "shop://items/apple"}),
    call("resources/read", {"uri": "shop://items/missing"}),
    call("initialize"),
    {"jsonrpc": "2.0"},
]


@pytest.fixture
def requests() -> Iterator[list[weakref.ref[Any]]]:
    """References to the requests that apps were sent, which keep none of them."""
    seen: list[weakref.ref[Any]] = []

    def see(sender: Flask, **given: Any) -> None:
        seen.append(weakref.ref(request._get_current_object()))  # type: ignore[attr-defined]  # of a LocalProxy

    with request_started.connected_to(see):
        yield seen


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Nothing is collected meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: str(message)[:90])
@pytest.mark.parametrize("authorization", ["", "Bearer token-nobody"])
def test_a_request_is_gone_with_its_answer(
    app: Flask, requests: list[weakref.ref[Any]], uncollected: None, message: dict[str, Any], authorization: str
) -> None:
    """However a call ends, its request is freed at once."""
    headers = modern_headers(message) if "_meta" in message.get("params", {}) else {}
    if authorization:
        headers["Authorization"] = authorization
    requests.clear()
    Wire(app).client.post("/mcp", json=message, headers=headers).close()
    assert requests
    assert [seen() for seen in requests] == [None] * len(requests)


@tool(access=public)
def caught(request: Request) -> str:
    """Fails in words of its own, and says what it caught."""
    try:
        return str(int("x"))
    except ValueError as error:
        raise ToolError("There is none.") from error


def test_an_error_with_a_cause_is_let_go_too(requests: list[weakref.ref[Any]], uncollected: None) -> None:
    """A handler that says what it caught holds nothing by it."""
    app = Flask(__name__)
    ArandoMCP(app, Server("caught", version="1", tools=[caught]))
    for _ in range(2):  # the first request of an app is asked whether the app is ready
        requests.clear()
        Wire(app).client.post("/mcp", json=call("tools/call", {"name": "caught"})).close()
    assert [seen() for seen in requests] == [None]
