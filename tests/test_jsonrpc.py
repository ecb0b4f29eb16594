"""Reading and writing messages: strict in, compact ASCII out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flask_arandu_mcp.errors import Failure, ProtocolError, attempt
from flask_arandu_mcp.jsonrpc import Call, Malformed, Notice, Reply, parse
from flask_arandu_mcp.writing import encode, encode_twice, write_error, write_result

from .wire import Wire, call


def refusal(body: bytes) -> Malformed:
    with pytest.raises(Malformed) as caught:
        parse(body)
    return caught.value


def test_a_request_is_read() -> None:
    """A message with an id is a request."""
    message = parse(b'{"jsonrpc":"2.0","id":"a","method":"ping","params":{"x":1}}')
    assert isinstance(message, Call)
    assert (message.id, message.method, message.params, message.suspect) == ("a", "ping", {"x": 1}, False)


def test_a_message_without_id_is_a_notification() -> None:
    """What decides is the absence of the member, not its value."""
    assert isinstance(parse(b'{"jsonrpc":"2.0","method":"tools/call"}'), Notice)


def test_a_result_or_an_error_is_a_reply() -> None:
    """A response is told from a request by having no method."""
    assert isinstance(parse(b'{"jsonrpc":"2.0","id":9,"result":{}}'), Reply)
    assert isinstance(parse(b'{"jsonrpc":"2.0","id":null,"error":{}}'), Reply)


@pytest.mark.parametrize("id", [None, True, 1.0, 1.5, 2**53, -(2**53), [], {}, "\ud800"])
def test_j01_an_id_that_is_none_is_refused_with_null(id: Any) -> None:
    """An id is a string or a safe integer; anything else is no id, null included."""
    error = refusal(json.dumps(call("tools/list", id=id)).encode())
    assert (error.code, error.id, error.status) == (-32600, None, 400)


def test_j01_null_id_is_answered_with_null_over_http(wire: Wire) -> None:
    """A null id is an error with a null id, and never a notification."""
    answer = wire.post(call("tools/list", id=None))
    assert answer.status_code == 400
    assert answer.data.startswith(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,')


@pytest.mark.parametrize("id", ["", "x", "é", 0, -1, 2**53 - 1, -(2**53) + 1])
def test_an_id_comes_back_as_it_was(wire: Wire, id: Any) -> None:
    """The answer has the very id of the request."""
    assert wire.post(call("ping", id=id)).get_json() == {"jsonrpc": "2.0", "id": id, "result": {}}


@pytest.mark.parametrize("body", [b"[]", b"  [ ]", json.dumps([call("tools/call"), call("ping")]).encode()])
def test_j03_batches_are_refused(wire: Wire, body: bytes) -> None:
    """An array is no message, and none of its elements runs."""
    answer = wire.post(body)
    assert answer.status_code == 400
    error = answer.get_json()
    assert error["id"] is None
    assert error["error"]["code"] == -32600
    assert "atches are not supported" in error["error"]["message"]


NOTIFICATIONS = [
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "method": "x/unknown", "params": {}},
    {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "delete_user", "arguments": {"id": 1}}},
    {"jsonrpc": "2.0", "method": "tools/call", "params": 5},
]


@pytest.mark.parametrize("message", NOTIFICATIONS)
def test_j04_notifications_are_never_answered(wire: Wire, message: Any) -> None:
    """A message without id gets 202 and no body, and runs nothing."""
    from .app import calls

    wire.sign_in("alice")
    answer = wire.post(message)
    assert (answer.status_code, answer.data) == (202, b"")
    assert calls == []


def test_a_notification_with_an_id_is_refused() -> None:
    """`notifications/…` with an id would be owed an answer that does not exist."""
    error = refusal(json.dumps(call("notifications/initialized", id=4)).encode())
    assert (error.code, error.id) == (-32600, 4)


NOT_JSON = [b"", b"   ", b'{"jsonrpc":"2.0","id":1,"method"', b"}{", b"\xff\xfe{", b"\xef\xbb\xbf{}"]


@pytest.mark.parametrize("body", NOT_JSON)
def test_j05_what_is_not_json_is_a_parse_error(wire: Wire, body: bytes) -> None:
    """Broken, empty or badly encoded JSON is -32700 with a null id, as JSON."""
    answer = wire.post(body)
    assert (answer.status_code, answer.mimetype) == (400, "application/json")
    assert answer.get_json()["id"] is None
    assert answer.get_json()["error"]["code"] == -32700


@pytest.mark.parametrize(
    ("body", "id"),
    [
        (b"null", None),
        (b"7", None),
        (b'"x"', None),
        (b"{}", None),
        (b'{"id":3,"method":"ping"}', 3),
        (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":5}', 3),
        (b'{"jsonrpc":"2.0","id":3}', 3),
        (b'{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}', 3),
        (b'{"jsonrpc":"2.0","id":3,"Method":"ping"}', 3),
    ],
)
def test_j05_json_that_is_no_message_is_an_invalid_request(wire: Wire, body: bytes, id: Any) -> None:
    """Valid JSON in a wrong envelope is -32600, with its id where that is legal."""
    answer = wire.post(body)
    assert answer.status_code == 400
    assert answer.get_json()["id"] == id
    assert answer.get_json()["error"]["code"] == -32600


def test_j05_a_stray_response_is_never_dispatched(wire: Wire) -> None:
    """A response that nobody waits for is 202 in the handshake era, and 400 in the stateless one."""
    stray = {"jsonrpc": "2.0", "id": 9, "result": {}}
    assert wire.post(stray).status_code == 202
    assert wire.post(stray, {"MCP-Protocol-Version": "2026-07-28"}).status_code == 400


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_j07_tokens_that_json_does_not_have_are_refused(token: str) -> None:
    """NaN and the infinities are Python's, not JSON's."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":%s}}' % token.encode()
    assert refusal(body).code == -32700


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 400 + ".0"])
@pytest.mark.parametrize("tool", ["wait", "echo"])
def test_j07_a_number_that_overflows_is_an_argument_fault(wire: Wire, number: str, tool: str) -> None:
    """A number that no float can hold is refused for every kind of field, and no answer holds Infinity."""
    name = {"wait": "seconds", "echo": "value"}[tool]
    arguments = f'{{"{name}":{number}}}' if tool == "wait" else f'{{"value":{{"in":[{number}]}}}}'
    body = f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'
    answer = wire.post(body)
    assert answer.get_json()["result"]["isError"] is True
    assert name in answer.get_json()["result"]["content"][0]["text"]
    assert b"Infinity" not in answer.data


def test_a_lone_surrogate_is_an_argument_fault(wire: Wire) -> None:
    """Half a surrogate pair is no text; a whole pair is."""
    body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"value":"%s"}}}'
    answer = wire.post(body % "\\ud83d").get_json()["result"]
    assert answer["isError"] is True
    assert "value" in answer["content"][0]["text"]
    newest = {"MCP-Protocol-Version": "2025-11-25"}
    whole = wire.post(body % "\\ud83d\\ude00", newest).get_json()["result"]
    assert whole["structuredContent"] == {"value": "😀"}


def test_j08_brackets_without_end_are_refused(wire: Wire) -> None:
    """Depth cannot overflow anything: it is a parse error where no id can be read."""
    answer = wire.post(b"[" * 20_000 + b"]" * 20_000)
    assert answer.status_code == 400
    assert answer.get_json()["error"]["code"] == -32700
    assert "too deeply" in answer.get_json()["error"]["message"]


@pytest.mark.parametrize(("levels", "fits"), [(61, True), (62, False), (400, False), (5000, False)])
def test_j08_depth_is_counted(wire: Wire, levels: int, fits: bool) -> None:
    """64 levels are read, and 65 are not; the id is echoed where the message could be read."""
    value = '{"c":' * levels + "1" + "}" * levels
    params = f'{{"name":"echo","arguments":{{"value":{value}}}}}'
    body = f'{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{params}}}'
    answer = wire.post(body).get_json()
    if fits:
        assert "isError" not in answer["result"]
    else:
        assert answer["error"]["code"] in (-32600, -32700)
        assert answer["id"] == (5 if answer["error"]["code"] == -32600 else None)


def test_j08_a_result_may_be_deep_but_not_endless() -> None:
    """Brackets inside strings are not counted."""
    message = parse(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"' + b"[" * 500 + b'"}}')
    assert isinstance(message, Call)


@pytest.mark.parametrize("params", [{}, {"params": None}, {"params": []}])
def test_j10_missing_params_are_none(wire: Wire, params: Any) -> None:
    """Missing, null and an empty array are an empty object."""
    assert "result" in wire.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", **params}).get_json()


@pytest.mark.parametrize("params", ["x", 5, True, [1]])
def test_j10_other_params_are_invalid(wire: Wire, params: Any) -> None:
    """Anything else than an object is -32602, with the id."""
    answer = wire.post(call("tools/list", params))
    assert answer.status_code == 200
    assert answer.get_json()["error"]["code"] == -32602
    assert answer.get_json()["id"] == 1


@pytest.mark.parametrize("given", [{}, {"arguments": None}, {"arguments": {}}])
def test_j10_missing_arguments_are_none(wire: Wire, given: Any) -> None:
    """A tool that takes nothing can be called without arguments."""
    assert wire.call("tools/call", {"name": "no_args", **given})["content"][0]["text"] == "nothing taken"


@pytest.mark.parametrize(
    "params",
    [{"name": "no_args", "arguments": []}, {"name": "no_args", "arguments": "{}"}, {"arguments": {}}, {"name": 7}],
)
def test_j10_other_arguments_and_names_are_invalid(wire: Wire, params: Any) -> None:
    """Arguments are an object and the name is a string, else -32602."""
    assert wire.post(call("tools/call", params)).get_json()["error"]["code"] == -32602


def test_duplicate_members_are_refused() -> None:
    """Two readers could take different ones of them, so neither is taken; the names are exact."""
    error = refusal(b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}')
    assert (error.code, error.id) == (-32700, None)
    assert "'method'" in error.message
    assert isinstance(parse(b'{"jsonrpc":"2.0","id":1,"method":"ping","Method":"x"}'), Call)


def test_many_duplicates_are_found_at_once() -> None:
    """Finding a duplicate takes no longer than reading the object."""
    members = b",".join(b'"k%d":1' % i for i in range(40_000)) + b',"k39999":1'
    assert refusal(b"{" + members + b"}").code == -32700


def test_an_integer_with_too_many_digits_is_refused() -> None:
    """Python refuses to read an integer of over 4300 digits, and so does the reader."""
    assert refusal(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"n":' + b"9" * 5000 + b"}}").code == -32700


def test_answers_are_compact_ascii() -> None:
    """No white space, no letter beyond ASCII, and no half of a pair."""
    assert write_result("é", "{", encode({"a": ["ü", "\ud83d", "😀", "\\ud800"]})[1:-1], "}") == (
        b'{"jsonrpc":"2.0","id":"\\u00e9","result":{"a":["\\u00fc","\\ufffd","\\ud83d\\ude00","\\\\ud800"]}}'
    )
    assert write_error(None, ProtocolError(-32600, "no", {"x": 1})) == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no","data":{"x":1}}}'
    )


def test_a_number_that_is_not_finite_is_never_written() -> None:
    """NaN and the infinities have no place in JSON."""
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"a": float("nan")})


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_a_value_and_its_text_agree(value: Any) -> None:
    """What goes out twice says the same twice, and reads back as what it was."""
    structured, text = encode_twice(value)
    assert structured.isascii()
    assert text.isascii()
    assert json.loads(structured) == json.loads(json.loads(text)) == value


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_anything_is_a_message_or_malformed(body: bytes) -> None:
    """Whatever comes in, the reader answers with a message or with the error to send."""
    message = attempt(parse, body)
    read = message.error if isinstance(message, Failure) else message
    assert isinstance(read, (Call, Notice, Reply, Malformed))
