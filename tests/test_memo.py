"""The session id of the handshake era: a signed memo of what a client said. Nothing is stored, any worker reads it, and
it authenticates nobody."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, Request, Server, public, tool

from .app import create_app
from .wire import Wire, bearer, call, modern, modern_headers

SESSION = "Mcp-Session-Id"
CLIENT = {"name": "inspector", "version": "9.1"}


def hello(wire: Wire, version: str = "2025-06-18", headers: dict[str, str] | None = None, **more: Any) -> TestResponse:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT, **more}
    answer = wire.post(call("initialize", params), headers)
    assert answer.status_code == 200
    return answer


def memo_of(answer: TestResponse) -> str:
    memo = answer.headers[SESSION]
    assert memo.isascii()
    assert memo.isprintable()
    assert " " not in memo
    return memo


def told(wire: Wire, headers: dict[str, str]) -> dict[str, Any]:
    """What a tool knows of the client."""
    answer = wire.post(call("tools/call", {"name": "whoami"}), headers)
    assert answer.status_code == 200, answer.data
    result = answer.get_json()["result"]
    structured: dict[str, Any] = json.loads(result["content"][0]["text"])
    return structured


def is_unknown(answer: TestResponse, id: Any) -> None:
    assert (answer.status_code, answer.mimetype) == (404, "application/json")
    body = answer.get_json()
    assert (body["id"], body["error"]["code"]) == (id, -32600)
    assert "initialize again" in body["error"]["message"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_h06_initialize_hands_out_a_memo_that_any_worker_reads(version: str) -> None:
    """What a client said in `initialize` comes back with its memo, in another process with the same key too."""
    memo = memo_of(hello(Wire(create_app()), version))
    seen = told(Wire(create_app()), {SESSION: memo})
    assert (seen["client"], seen["revision"]) == ("inspector", version)


def test_the_header_names_the_revision_where_there_is_one(wire: Wire) -> None:
    """A revision in the header counts for its request, whatever the memo says."""
    memo = memo_of(hello(wire, "2025-06-18"))
    assert told(wire, {SESSION: memo, "MCP-Protocol-Version": "2025-11-25"})["revision"] == "2025-11-25"


def test_h06_a_request_without_memo_is_served(wire: Wire) -> None:
    """Without a memo the revision is the header's, and 2025-03-26 without one."""
    assert told(wire, {"MCP-Protocol-Version": "2025-06-18"})["revision"] == "2025-06-18"
    seen = told(wire, {})
    assert (seen["revision"], seen["client"]) == ("2025-03-26", None)


FORGED = ["abc", "", ".", "e30", "W10.x", "../../etc/passwd", "x" * 4000, "\u00e9", "null"]


@pytest.mark.parametrize("memo", FORGED)
def test_h06_a_memo_that_does_not_verify_is_404(wire: Wire, memo: str) -> None:
    """The client is told, with its id, to initialize again."""
    is_unknown(wire.post(call("tools/list", id="q-1"), {SESSION: memo}), "q-1")
    is_unknown(wire.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, {SESSION: memo}), None)


def test_a_memo_that_was_changed_does_not_verify(wire: Wire) -> None:
    """Not one letter of a memo can be another."""
    memo = memo_of(hello(wire))
    seeded = random.Random(7)
    for at in [0, len(memo) - 2, *seeded.sample(range(len(memo) - 1), 30)]:
        other = seeded.choice([c for c in "Az09-_." if c != memo[at]])
        assert wire.post(call("ping"), {SESSION: memo[:at] + other + memo[at + 1 :]}).status_code == 404
    assert wire.post(call("ping"), {SESSION: memo}).status_code == 200


def test_a_memo_of_another_key_does_not_verify() -> None:
    """A memo of another app is none; after a rotation of keys the old one is still read."""
    memo = memo_of(hello(Wire(create_app({"SECRET_KEY": "old"}))))
    is_unknown(Wire(create_app({"SECRET_KEY": "new"})).post(call("ping"), {SESSION: memo}), 1)
    rotated = create_app({"SECRET_KEY": "new", "SECRET_KEY_FALLBACKS": ["older", "old"]})
    assert Wire(rotated).post(call("ping"), {SESSION: memo}).status_code == 200


def test_what_the_app_signs_for_itself_is_no_memo(wire: Wire) -> None:
    """The app's session cookie is signed with the same key, and is no memo all the same."""
    wire.sign_in("alice")
    cookie = wire.client.get_cookie("session")
    assert cookie is not None
    is_unknown(wire.post(call("ping"), {SESSION: cookie.value}), 1)


def test_initialize_needs_no_good_memo(wire: Wire) -> None:
    """A client whose memo is no good any more can initialize with it still in its header."""
    assert memo_of(hello(wire, headers={SESSION: "abc"}))


def test_h06_the_stateless_era_knows_no_memo(wire: Wire) -> None:
    """There a session id is ignored, and none is handed out."""
    message = modern("tools/list")
    answer = wire.post(message, {**modern_headers(message), SESSION: "abc"})
    assert answer.status_code == 200
    assert SESSION not in answer.headers


def test_only_initialize_hands_one_out(wire: Wire) -> None:
    """No other answer carries a memo, and neither does an `initialize` that was refused."""
    memo = memo_of(hello(wire))
    assert SESSION not in wire.post(call("ping"), {SESSION: memo}).headers
    assert SESSION not in wire.post(call("initialize", {}), bearer("nobody")).headers


def test_a_memo_authenticates_nobody(wire: Wire) -> None:
    """A memo that a user got is a guest's in anybody else's hands."""
    memo = memo_of(hello(wire, headers=bearer("root")))
    assert told(Wire(wire.app), {SESSION: memo})["subject"] is None
    assert told(Wire(wire.app), {SESSION: memo, **bearer("bob")})["subject"] == "bob"


def test_without_a_key_there_is_no_memo() -> None:
    """An app without SECRET_KEY serves the handshake era all the same, without a memo."""
    app = Flask(__name__)

    @tool(access=public)
    def revision(request: Request) -> str:
        """Says the revision."""
        return request.revision

    ArandoMCP(app, Server("keyless", tools=[revision]))
    wire = Wire(app)
    assert SESSION not in hello(wire).headers
    asked = call("tools/call", {"name": "revision"})
    answer = wire.post(asked, {"MCP-Protocol-Version": "2025-06-18"})
    assert answer.get_json()["result"]["content"][0]["text"] == "2025-06-18"
    is_unknown(wire.post(asked, {SESSION: "abc"}), 1)


ODD = [
    {},
    {"name": "\U0001f600" * 5000, "version": "é" * 5000},
    {"name": "\ud800", "version": "\x00\n"},
    {"name": {"a": [1, 2]}, "version": None},
    {"name": 1e308, "version": True, "title": "x" * 9000},
]


@pytest.mark.parametrize("client", [*ODD, None, "x", 7, []])
@pytest.mark.parametrize("capabilities", [{}, None, [], "x", {"elicitation": {"form": {"x": "y" * 9000}}, "roots": 5}])
def test_whatever_a_client_says_its_memo_can_be_sent(wire: Wire, client: Any, capabilities: Any) -> None:
    """A memo fits into a header (8 KiB, at common servers) and is read again, however much the client said."""
    memo = memo_of(hello(wire, clientInfo=client, capabilities=capabilities))
    assert len(memo) < 7000
    assert wire.post(call("tools/call", {"name": "whoami"}), {SESSION: memo}).status_code == 200


def test_a_memo_of_many_letters_still_fits(wire: Wire) -> None:
    """Names that do not compress are the longest that there are."""
    seeded = random.Random(11)
    name, version = ("".join(chr(seeded.randrange(0x10000, 0x10FFFF)) for _ in range(400)) for _ in range(2))
    assert len(memo_of(hello(wire, clientInfo={"name": name, "version": version}))) < 7000


def test_h06_deleting_a_session_is_405(wire: Wire) -> None:
    """There is nothing to delete, whether the memo is good or not."""
    memo = memo_of(hello(wire))
    for given in (memo, "abc"):
        answer = wire.client.delete("/mcp", headers={SESSION: given})
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST, OPTIONS")
