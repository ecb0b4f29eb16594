"""The HTTP headers of the protocol: what a media type may be, and headers that must say the same as the body.
A gateway decides by the headers and the server acts on the body, so a difference is never served."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flask_arandu_mcp.headers import decode, encode, is_json

from .app import calls
from .wire import META, MODERN, Wire, bearer, call, modern, modern_headers

DELETE: dict[str, Any] = {"name": "delete_user", "arguments": {"id": 7}}


def sentinel(text: str) -> str:
    """A value as the protocol encodes it where a header cannot carry it."""
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def without(headers: dict[str, str], name: str) -> dict[str, str]:
    return {key: value for key, value in headers.items() if key != name}


# -------------------------------------------------------------------------------- header and body must agree

MISMATCHES = {
    "another tool": {"Mcp-Name": "add"},
    "another case of the name": {"Mcp-Name": "DELETE_USER"},
    "a name with more behind it": {"Mcp-Name": "delete_user,delete_user"},
    "an empty name": {"Mcp-Name": ""},
    "another method": {"Mcp-Method": "tools/list"},
    "another case of the method": {"Mcp-Method": "TOOLS/CALL"},
    "an encoded method": {"Mcp-Method": sentinel("tools/call")},
    "an empty method": {"Mcp-Method": ""},
    "another tool, encoded": {"Mcp-Name": sentinel("add")},
    "a prefix in another case": {"Mcp-Name": sentinel("delete_user").replace("base64", "BASE64")},
    "a prefix of another encoding": {"Mcp-Name": sentinel("delete_user").replace("base64", "base32")},
    "no suffix": {"Mcp-Name": sentinel("delete_user").removesuffix("?=")},
    "a suffix of another kind": {"Mcp-Name": sentinel("delete_user").removesuffix("=")},
    "no prefix": {"Mcp-Name": sentinel("delete_user").removeprefix("=?base64?")},
    "no Base64": {"Mcp-Name": "=?base64?%%%?="},
    "Base64 without padding": {"Mcp-Name": sentinel("delete_user").replace("=?=", "?=")},
    "Base64 with a space": {"Mcp-Name": "=?base64?ZGVsZXRl X3VzZXI=?="},
    "Base64 for URLs": {"Mcp-Name": "=?base64?-_-_?="},
    "Base64 of no UTF-8": {"Mcp-Name": "=?base64?/w==?="},
    "only the sentinel": {"Mcp-Name": "=?base64??="},
    "half of the sentinel": {"Mcp-Name": "=?base64?="},
    "bytes beyond ASCII": {"Mcp-Name": "delete_us\u00e9r"},
    "an older revision": {"MCP-Protocol-Version": "2025-11-25"},
    "an unknown revision": {"MCP-Protocol-Version": "2026-07-29"},
    "two revisions": {"MCP-Protocol-Version": f"{MODERN},{MODERN}"},
    "an empty revision": {"MCP-Protocol-Version": ""},
}


@pytest.mark.parametrize("change", MISMATCHES.values(), ids=MISMATCHES)
def test_h08_a_header_that_says_something_else_is_refused(wire: Wire, change: dict[str, str]) -> None:
    """A header that differs from the body, or cannot be decoded, is 400 and -32020 with the id; nothing runs."""
    message = modern("tools/call", DELETE, id="x-1")
    answer = wire.post(message, {**modern_headers(message), **bearer("alice"), **change})
    assert answer.status_code == 400
    assert answer.get_json()["id"] == "x-1"
    assert answer.get_json()["error"]["code"] == -32020
    assert next(iter(change)) in answer.get_json()["error"]["message"]
    assert calls == []


@pytest.mark.parametrize("absent", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
def test_h08_a_header_that_is_absent_is_refused(wire: Wire, absent: str) -> None:
    """A header that the body needs and that is not there is 400 and -32020 with the id; nothing runs."""
    message = modern("tools/call", DELETE, id=41)
    answer = wire.post(message, {**without(modern_headers(message), absent), **bearer("alice")})
    assert answer.status_code == 400
    assert answer.get_json()["id"] == 41
    assert answer.get_json()["error"] == {
        "code": -32020,
        "message": f"The header {absent} is missing: send in it what the body says.",
    }
    assert calls == []


@pytest.mark.parametrize("name", [None, 7, ["delete_user"], {}])
def test_h08_a_name_that_the_body_lacks_agrees_with_no_header(wire: Wire, name: Any) -> None:
    """A header cannot name what the body does not: text is never equal to what is no text."""
    message = modern("tools/call", {"name": name, "arguments": {}})
    answer = wire.post(message, {**modern_headers(modern("tools/list")), "Mcp-Method": "tools/call", "Mcp-Name": "7"})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, -32020)


def test_h08_headers_that_agree_are_served(wire: Wire) -> None:
    """The same headers that are refused when they differ let the call through when they agree."""
    answer = wire.modern("tools/call", DELETE, **bearer("alice"))
    assert answer.status_code == 200
    assert answer.get_json()["result"]["content"][0]["text"] == "deleted"
    assert calls == ["delete_user 7"]


def test_h08_names_of_headers_have_no_case_and_values_no_space_around(wire: Wire) -> None:
    """The names of headers are case-insensitive, and the white space around a value is not part of it."""
    message = modern("tools/call", DELETE)
    headers = {"MCP-PROTOCOL-VERSION": f" {MODERN} ", "mcp-method": "tools/call ", "MCP-name": " delete_user\t"}
    assert wire.post(message, {**headers, **bearer("alice")}).status_code == 200
    assert calls == ["delete_user 7"]


def test_h08_a_resource_is_named_by_its_uri(wire: Wire) -> None:
    """`resources/read` repeats the URI of the body, as it stands there, and a prompt its name."""
    read = modern("resources/read", {"uri": "shop://items/apple"})
    assert wire.post(read, modern_headers(read)).get_json()["result"]["contents"][0]["text"] == "# apple"
    for other in ("shop://items/pear", "SHOP://items/apple", "shop://items/%61pple"):
        answer = wire.post(read, {**modern_headers(read), "Mcp-Name": other})
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, -32020)
    got = modern("prompts/get", {"name": "outline", "arguments": {"topic": "x"}})
    assert "messages" in wire.post(got, modern_headers(got)).get_json()["result"]
    answer = wire.post(got, {**modern_headers(got), "Mcp-Name": "secret_prompt"})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("name", ["café", "a b", "=?base64?x?=", "日本", " padded ", "", "a\nb", "=?base64?YQ==?="])
def test_h08_an_encoded_name_is_decoded_before_it_is_compared(wire: Wire, name: str) -> None:
    """Base64 between the very sentinel stands for the text that it encodes, whatever letters that has."""
    message = modern("tools/call", {"name": name})
    headers = {**modern_headers(modern("ping")), "Mcp-Method": "tools/call"}
    answer = wire.post(message, {**headers, "Mcp-Name": sentinel(name)})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (200, -32602)
    assert answer.get_json()["error"]["message"].startswith(f"Unknown tool: {name!r}")
    answer = wire.post(message, {**headers, "Mcp-Name": sentinel(name + "!")})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, -32020)


def test_h08_an_encoded_name_of_ascii_is_the_name(wire: Wire) -> None:
    """A client may encode a name that needs no encoding."""
    message = modern("tools/call", DELETE)
    headers = {**modern_headers(message), "Mcp-Name": sentinel("delete_user"), **bearer("alice")}
    assert wire.post(message, headers).status_code == 200
    assert calls == ["delete_user 7"]


@pytest.mark.parametrize("version", [None, "2025-11-25", "2024-11-05"])
@pytest.mark.parametrize("extra", [{}, {"Mcp-Method": "tools/list", "Mcp-Name": "other"}])
def test_h08_the_handshake_era_needs_no_such_headers(wire: Wire, version: str | None, extra: dict[str, str]) -> None:
    """A request without the facts of the stateless era is not asked for its headers, and none of them is compared."""
    headers = extra if version is None else {**extra, "MCP-Protocol-Version": version}
    answer = wire.post(call("tools/call", {"name": "no_args"}), headers)
    assert answer.status_code == 200
    assert answer.get_json()["result"]["content"][0]["text"] == "nothing taken"


def test_h08_the_body_alone_makes_a_request_stateless(wire: Wire) -> None:
    """A body that names a revision in `_meta` is held to the headers even when there are none."""
    answer = wire.post(modern("tools/call", DELETE, id=5), bearer("alice"))
    assert (answer.status_code, answer.get_json()["id"]) == (400, 5)
    assert answer.get_json()["error"]["code"] == -32020
    assert calls == []


def test_h08_a_body_of_another_revision_is_a_mismatch(wire: Wire) -> None:
    """A stateless header beside a body of another revision is refused whichever of the two is newer."""
    for version in ("2025-11-25", "2099-01-01", ""):
        message = modern("tools/call", DELETE, id=6, **{f"{META}protocolVersion": version})
        answer = wire.post(message, {**modern_headers(message), **bearer("alice")})
        assert (answer.status_code, answer.get_json()["id"]) == (400, 6)
        assert answer.get_json()["error"]["code"] == -32020
    assert calls == []


def test_a_revision_that_both_name_and_nobody_serves_is_told_apart(wire: Wire) -> None:
    """Where header and body agree on a revision that is not served, the answer says which are."""
    message = modern("tools/call", DELETE, id=8, **{f"{META}protocolVersion": "2099-01-01"})
    answer = wire.post(message, {**modern_headers(message), "MCP-Protocol-Version": "2099-01-01"})
    assert (answer.status_code, answer.get_json()["id"]) == (400, 8)
    error = answer.get_json()["error"]
    assert (error["code"], error["data"]) == (-32022, {"supported": [MODERN], "requested": "2099-01-01"})


# -------------------------------------------------------------------------------------------- single values

GOOD_TYPES = [
    "application/json",
    "APPLICATION/JSON",
    "Application/Json ; charset=UTF-8",
    "application/json;charset=utf-8",
    'application/json; charset="utf-8"',
    "application/json; profile=x",
    " application/json",
]
BAD_TYPES = [
    None,
    "",
    "text/plain",
    "text/plain; application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=application/json",
    "application/jsonp",
    "application/json-rpc",
    "application/ld+json",
    "application/vnd.api+json",
    "text/json",
    "application/*",
    "application/json, text/plain",
    "application/json;charset=latin-1",
    "application/json; charset=utf-16",
    "application/json; charset=utf-8; charset=latin-1",
    "application/json; charset=",
]


@pytest.mark.parametrize("value", GOOD_TYPES)
def test_h04_json_in_utf8_is_json(value: str) -> None:
    """`application/json` is taken in any case, with any parameter but another charset."""
    assert is_json(value)


@pytest.mark.parametrize("value", BAD_TYPES)
def test_h04_anything_else_is_not_json(value: str | None) -> None:
    """No other media type, none at all, and no other charset."""
    assert not is_json(value)


@given(st.text())
def test_what_is_encoded_is_what_is_decoded(text: str) -> None:
    """Every text that UTF-8 can carry survives the way through a header, and as itself where it can."""
    assert decode(sentinel(text)) == text
    assert decode(encode(text)) == text
    assert encode(text).isascii()


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E)))
def test_plain_text_stands_for_itself(text: str) -> None:
    """Visible ASCII is itself, unless it wears the sentinel."""
    if not (text.startswith("=?base64?") and text.endswith("?=")):
        assert decode(text) == text


@given(st.text())
def test_no_value_breaks_the_reader(text: str) -> None:
    """Whatever a client sends, the reader answers with a text or with None."""
    assert decode(text) is None or isinstance(decode(text), str)
