"""Arguments that are repeated in headers: declared as clients accept them, and compared before the tool runs."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from marshmallow import fields

from flask_arandu_mcp import DeclarationError, Request, Server, public, signed_in, tool

from .app import create_app
from .wire import Wire, call

RAN: list[Any] = []


def header(name: Any, kind: type[fields.Field[Any]] = fields.String, **options: Any) -> fields.Field[Any]:
    return kind(metadata={"x-mcp-header": name}, **options)


ARGUMENTS = {
    "region": header("Region", allow_none=True),
    "count": header("Count", fields.Integer),
    "dry": header("Dry", fields.Boolean),
    "place": fields.Nested({"city": header("City")}),
}


@tool(access=public, arguments=ARGUMENTS)
def query(request: Request, **given: Any) -> str:
    """Queries."""
    RAN.append(given)
    return "ran"


@tool(access=signed_in, arguments={"region": header("Region")})
def closed(request: Request, region: str = "") -> str:
    """Is not for guests."""
    return "ran"


@pytest.fixture
def wire() -> Wire:
    RAN.clear()
    return Wire(create_app(server=Server(name="test", tools=[query, closed])))


def b64(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({}, {}),
        ({"region": None}, {}),
        ({"region": "eu"}, {"Mcp-Param-Region": "eu"}),
        ({"region": "eu"}, {"mcp-param-region": " eu "}),
        ({"region": "Zürich"}, {"Mcp-Param-Region": b64("Zürich")}),
        ({"region": " x "}, {"Mcp-Param-Region": b64(" x ")}),
        ({"region": "=?base64?x?="}, {"Mcp-Param-Region": b64("=?base64?x?=")}),
        ({"region": "eHg="}, {"Mcp-Param-Region": "eHg="}),
        ({"count": 42}, {"Mcp-Param-Count": "42.0"}),
        ({"dry": True}, {"Mcp-Param-Dry": "true"}),
        ({"place": {"city": "Bern"}}, {"Mcp-Param-City": "Bern"}),
        ({}, {"Mcp-Param-Unknown": "x"}),
    ],
)
def test_headers_that_agree_are_taken(wire: Wire, arguments: Any, headers: Any) -> None:
    """The text, the number or the word of an argument is in its header; what is absent has none."""
    answer = wire.modern("tools/call", {"name": "query", "arguments": arguments}, **headers)
    assert answer.status_code == 200, answer.get_json()
    assert answer.get_json()["result"]["content"][0]["text"] == "ran"


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        ({"region": "eu"}, {}),
        ({}, {"Mcp-Param-Region": "eu"}),
        ({"region": "eu"}, {"Mcp-Param-Region": "EU"}),
        ({"region": "x"}, {"Mcp-Param-Region": "=?base64?eA?="}),
        ({"region": "x"}, {"Mcp-Param-Region": "=?base64?!?="}),
        ({"count": 42}, {"Mcp-Param-Count": "43"}),
        ({"count": 42}, {"Mcp-Param-Count": "many"}),
        ({"dry": True}, {"Mcp-Param-Dry": "True"}),
        ({"place": {"city": "Bern"}}, {}),
    ],
)
def test_headers_that_disagree_are_refused(wire: Wire, arguments: Any, headers: Any) -> None:
    """A gateway that read the header would have decided about something else, so nothing runs."""
    answer = wire.modern("tools/call", {"name": "query", "arguments": arguments}, **headers)
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (400, -32020)
    assert RAN == []


def test_who_may_not_call_is_told_first(wire: Wire) -> None:
    """The headers of a refused call are not looked at: they would tell what the tool takes."""
    answer = wire.modern("tools/call", {"name": "closed", "arguments": {"region": "eu"}})
    assert answer.status_code == 200
    assert answer.get_json()["result"]["isError"] is True


def test_older_clients_send_no_such_headers(wire: Wire) -> None:
    """The handshake era knows nothing of them."""
    answer = wire.post(call("tools/call", {"name": "query", "arguments": {"region": "eu"}}))
    assert answer.get_json()["result"]["content"][0]["text"] == "ran"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"a": header("")}, "is no name of a header"),
        ({"a": header("a b")}, "is no name of a header"),
        ({"a": header("a\r\nb")}, "is no name of a header"),
        ({"a": header(5)}, "is no name of a header"),
        ({"a": header("X", fields.Float)}, "must be a string, integer or boolean"),
        ({"a": header("X"), "b": header("x")}, "two arguments have the x-mcp-header"),
        ({"a": fields.List(header("X"))}, "out of reach"),
        ({"a": fields.Dict(values=header("X"))}, "out of reach"),
    ],
)
def test_a_header_that_clients_refuse_is_a_mistake(arguments: Any, says: str) -> None:
    """Clients leave a tool out whose declaration breaks the rules, so it stops the app at boot."""
    declared = tool(access=public, name="t", description="D.", arguments=arguments)(lambda request, **given: "")
    with pytest.raises(DeclarationError, match=says):
        Server(name="test", tools=[declared]).validate()
