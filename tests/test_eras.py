"""What each revision is served, over HTTP: the handshake era, the stateless era, and both at the same time."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import Server, answer

from .app import create_app
from .wire import META, MODERN, Wire, call, modern, modern_headers

HANDSHAKE = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]


def initialize(wire: Wire, **params: Any) -> Any:
    return wire.post(call("initialize", params)).get_json()["result"]


# ------------------------------------------------------------------------------------------------ handshake


@pytest.mark.parametrize("version", HANDSHAKE)
def test_v01_a_served_version_is_agreed_to(wire: Wire, version: str) -> None:
    """A handshake revision that is served is answered with itself."""
    assert initialize(wire, protocolVersion=version)["protocolVersion"] == version


@pytest.mark.parametrize("version", [MODERN, "2099-01-01", "not-a-version", "", 20250618, None, [], {}])
def test_v01_any_other_version_is_answered_with_the_newest_handshake_one(wire: Wire, version: Any) -> None:
    """What is not served is never echoed, and never an error."""
    assert initialize(wire, protocolVersion=version)["protocolVersion"] == "2025-11-25"


def test_v01_initialize_without_params_is_answered(wire: Wire) -> None:
    """A missing version is as one that is not served."""
    result = wire.post(call("initialize")).get_json()["result"]
    assert result["protocolVersion"] == "2025-11-25"
    assert result["serverInfo"] == {"name": "shop", "version": "1.2.3", "title": "The shop"}


def test_v01_capabilities_are_what_there_is() -> None:
    """A server declares what it has, and nothing else."""
    wire = Wire(create_app())
    assert initialize(wire)["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
    assert initialize(Wire(create_app(server=Server(name="empty"))))["capabilities"] == {}


def test_instructions_begin_with_the_frameworks_own(wire: Wire) -> None:
    """Every model is told what a refusal is, before it is told of the app."""
    instructions = initialize(wire)["instructions"]
    assert instructions.startswith("You act as the signed-in user")
    assert instructions.endswith("\n\nPrices are in euros.")


def test_v04_the_handshake_is_read_by_any_worker(app: Flask) -> None:
    """The session id is the handshake itself, signed: another process with the same key reads it."""
    first, second = Wire(app), Wire(create_app())
    hello = call("initialize", {"protocolVersion": "2025-06-18", "clientInfo": {"name": "me", "version": "1"}})
    session = {"Mcp-Session-Id": first.post(hello).headers["Mcp-Session-Id"]}
    result = second.post(call("tools/call", {"name": "whoami"}), session).get_json()["result"]
    assert result["structuredContent"]["client"] == "me"
    assert result["structuredContent"]["revision"] == "2025-06-18"


def test_v04_every_request_stands_alone(wire: Wire) -> None:
    """No request needs another one before it, and a second initialize is answered like the first."""
    assert wire.post(call("ping", {"_meta": {}})).get_json()["result"] == {}
    assert len(wire.call("tools/list")["tools"]) > 3
    assert initialize(wire, protocolVersion="2025-06-18") != initialize(wire, protocolVersion="2025-11-25")


def test_without_a_header_the_revision_is_2025_03_26(wire: Wire) -> None:
    """A client that names no revision speaks the last one that had no header: no structured results."""
    result = wire.post(call("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})).get_json()["result"]
    assert result == {"content": [{"type": "text", "text": '{"sum":3}'}]}


@pytest.mark.parametrize("version", ["2099-01-01", "x", "2025-11-26"])
def test_a_header_that_names_no_served_revision_is_400(wire: Wire, version: str) -> None:
    """What is not served is said so, with what is."""
    answered = wire.post(call("tools/list"), {"MCP-Protocol-Version": version})
    assert answered.status_code == 400
    assert "2025-11-25" in answered.get_json()["error"]["message"]


@pytest.mark.parametrize("version", HANDSHAKE)
def test_v03_handshake_results_have_nothing_of_the_stateless_era(wire: Wire, version: str) -> None:
    """No result type, no cache hints, and no list entry with what its revision does not know."""
    for method in LISTS:
        result = wire.call(method, headers={"MCP-Protocol-Version": version})
        assert len(result) == 1
    tool = wire.call("tools/list", headers={"MCP-Protocol-Version": version})["tools"][0]
    assert ("annotations" in tool) == (version != "2024-11-05")


def test_a_list_is_wrapped_where_results_are_objects(wire: Wire) -> None:
    """An array as structured content is an object's member `result`, in every handshake revision that has it."""
    asked = {"name": "search", "arguments": {"limit": 2}}
    result = wire.call("tools/call", asked)
    assert result["structuredContent"] == {"result": ["None-None", "None-None"]}
    bare = wire.modern("tools/call", asked).get_json()["result"]
    assert bare["structuredContent"] == ["None-None", "None-None"]


# ------------------------------------------------------------------------------------------------ stateless


def test_discover_says_what_is_served(wire: Wire) -> None:
    """The versions of the stateless era, what the server has and who it is."""
    result = wire.modern("server/discover").get_json()["result"]
    assert result["supportedVersions"] == [MODERN]
    assert result["capabilities"] == {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
    assert result["_meta"][f"{META}serverInfo"]["name"] == "shop"
    assert "Prices are in euros." in result["instructions"]


@pytest.mark.parametrize("method", [*LISTS, "server/discover"])
def test_v03_stateless_lists_say_how_long_they_keep(wire: Wire, method: str) -> None:
    """Every result has its type; what may be cached says for how long and for whom."""
    result = wire.modern(method).get_json()["result"]
    assert result["resultType"] == "complete"
    assert result["ttlMs"] == 0
    assert result["cacheScope"] == ("public" if method == "resources/templates/list" else "private")


def test_v03_calls_reads_and_prompts_have_their_type(wire: Wire) -> None:
    """Every result of the era has its type, and a read says how long it keeps."""
    added = wire.modern("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}).get_json()["result"]
    assert (added["resultType"], added["structuredContent"]) == ("complete", {"sum": 3})
    read = wire.modern("resources/read", {"uri": "shop://about"}).get_json()["result"]
    assert (read["resultType"], read["ttlMs"], read["cacheScope"]) == ("complete", 0, "private")
    got = wire.modern("prompts/get", {"name": "outline", "arguments": {"topic": "x"}}).get_json()["result"]
    assert got["resultType"] == "complete"


def test_nothing_may_be_shared_where_a_login_is_required() -> None:
    """What only users see is private, though every declaration is public."""
    wire = Wire(create_app({"MCP_LOGIN_REQUIRED": True}))
    message = modern("resources/templates/list")
    result = wire.post(message, {**modern_headers(message), "Authorization": "Bearer token-bob"}).get_json()["result"]
    assert result["cacheScope"] == "private"


def refused(wire: Wire, message: Any, **headers: str) -> tuple[int, int, Any]:
    sent = {**modern_headers(message), **headers}
    answered = wire.post(message, {name: value for name, value in sent.items() if value})
    error = answered.get_json()
    assert error["id"] == message["id"]
    return answered.status_code, error["error"]["code"], error["error"].get("data")


def test_v02_a_version_that_is_not_served_is_named(wire: Wire) -> None:
    """The client learns what it may ask for, and what it asked for."""
    message = modern("tools/list", {}, 1, **{f"{META}protocolVersion": "2027-01-01"})
    data = {"supported": [MODERN], "requested": "2027-01-01"}
    assert refused(wire, message, **{"MCP-Protocol-Version": "2027-01-01"}) == (400, -32022, data)


@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
def test_v02_incomplete_meta_is_invalid(wire: Wire, missing: str) -> None:
    """The era's facts are required on each request."""
    message = modern("tools/list")
    del message["params"]["_meta"][f"{META}{missing}"]
    assert refused(wire, message)[:2] == (400, -32602)


@pytest.mark.parametrize("meta", [5, None, [], "x", {}])
def test_v02_meta_that_is_no_object_is_invalid(wire: Wire, meta: Any) -> None:
    """`_meta` is an object that holds the era's facts."""
    message = call("tools/list", {"_meta": meta})
    assert refused(wire, message)[:2] == (400, -32602)


@pytest.mark.parametrize("key", ["protocolVersion", "clientCapabilities", "clientInfo"])
@pytest.mark.parametrize("value", [None, 5, []])
def test_v02_facts_of_another_type_are_invalid(wire: Wire, key: str, value: Any) -> None:
    """A fact of the wrong type is refused like a missing one."""
    assert refused(wire, modern("tools/list", **{f"{META}{key}": value}))[:2] == (400, -32602)


def test_v02_params_that_are_no_object_are_invalid(wire: Wire) -> None:
    """Where a header names the era, its status holds for what cannot be read too."""
    assert refused(wire, call("tools/list", "x"))[:2] == (400, -32602)


def test_v02_client_info_may_be_absent(wire: Wire) -> None:
    """A client need not say who it is."""
    assert wire.modern("tools/list").status_code == 200


@pytest.mark.parametrize("body", ["server/discover", "initialize"])
def test_v02_both_eras_are_served_side_by_side(wire: Wire, body: str) -> None:
    """The same endpoint answers a modern client's first message, and an older one's."""
    answered = wire.modern(body) if body == "server/discover" else wire.post(call(body))
    assert answered.status_code == 200
    assert "result" in answered.get_json()


@pytest.mark.parametrize("method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "tools/lst"])
def test_v07_stateless_unknown_methods_are_404(wire: Wire, method: str) -> None:
    """What the era does not serve is 404, as JSON."""
    assert refused(wire, modern(method))[:2] == (404, -32601)


@pytest.mark.parametrize(
    "method",
    ["tools/lst", "Tools/List", "rpc.discover", "resources/subscribe", "logging/setLevel", "server/discover", ""],
)
def test_v07_handshake_unknown_methods_are_200(wire: Wire, method: str) -> None:
    """A 404 would end an older client's session."""
    answered = wire.post(call(method, id=8))
    assert answered.status_code == 200
    assert (answered.get_json()["id"], answered.get_json()["error"]["code"]) == (8, -32601)


@pytest.mark.parametrize("method", [*LISTS, "tools/call", "resources/read", "prompts/get", "completion/complete"])
def test_v07_what_a_server_has_not_is_not_served(method: str) -> None:
    """A method without its capability does not exist."""
    wire = Wire(create_app(server=Server(name="empty")))
    params = {"name": "x", "uri": "x:y"}
    assert wire.post(call(method, params)).get_json()["error"]["code"] == -32601
    assert refused(wire, modern(method, params))[:2] == (404, -32601)


@pytest.mark.parametrize(("method", "params"), [("tools/call", {"name": "nope"}), ("prompts/get", {"name": "nope"})])
def test_v07_unknown_names_are_invalid_params(wire: Wire, method: str, params: Any) -> None:
    """An unknown tool or prompt is -32602 in both eras."""
    answered = wire.post(call(method, params))
    assert (answered.status_code, answered.get_json()["error"]["code"]) == (200, -32602)
    assert refused(wire, modern(method, params))[:2] == (200, -32602)


@pytest.mark.parametrize("version", HANDSHAKE)
def test_u03_unknown_resources_of_the_handshake_era(wire: Wire, version: str) -> None:
    """A URI that leads nowhere is -32002, and its data says which; a missing object answers the same."""
    for uri in ("shop://nope", "shop://items/missing"):
        answered = wire.post(call("resources/read", {"uri": uri}), {"MCP-Protocol-Version": version})
        error = answered.get_json()["error"]
        assert (answered.status_code, error["code"], error["data"]) == (200, -32002, {"uri": uri})


def test_u03_unknown_resources_of_the_stateless_era(wire: Wire) -> None:
    """A URI that leads nowhere is -32602 there."""
    assert refused(wire, modern("resources/read", {"uri": "shop://nope"})) == (200, -32602, {"uri": "shop://nope"})


def test_a_cursor_that_nobody_handed_out_is_invalid(wire: Wire) -> None:
    """Lists come in one page, so no cursor is known."""
    assert wire.post(call("tools/list", {"cursor": "abc"})).get_json()["error"]["code"] == -32602


# ------------------------------------------------------------------------------------------------ without Flask


def test_answer_speaks_the_protocol_without_flask() -> None:
    """One message in, the bytes that answer it out, for a transport of one's own."""
    server = Server(name="bare")
    assert list(answer(server, None, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')) == [
        b'{"jsonrpc":"2.0","id":1,"result":{}}'
    ]
    assert list(answer(server, None, b'{"jsonrpc":"2.0","method":"notifications/initialized"}')) == []
    assert b"-32700" in next(answer(server, None, b"{"))
