"""What an endpoint answers, as the answer of its tool: every kind of HTTP response has one."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import ArandoMCP, Server, endpoint_tool, public

from ..wire import Wire, call
from .hard import create_app


@pytest.fixture(scope="module")
def hard() -> Flask:
    return create_app()


@pytest.fixture
def wire(hard: Flask) -> Wire:
    return Wire(hard)


def answer(wire: Wire, name: str) -> Any:
    return wire.call("tools/call", {"name": f"answers_{name}", "arguments": {}})


def text(result: Any) -> str:
    (block,) = result["content"]
    said: str = block["text"]
    return said


def test_accepted_with_a_location(wire: Wire) -> None:
    """Of a 202 the data is the result, and where to look further is in its _meta."""
    result = answer(wire, "accepted")
    assert (result["structuredContent"], result["_meta"]) == ({"job": 7}, {"Location": "/jobs/7"})


def test_an_empty_body_with_a_location(wire: Wire) -> None:
    """An empty success says so, and keeps its Location."""
    result = answer(wire, "created_empty")
    assert (text(result), result["_meta"]) == ("Done.", {"Location": "/things/7"})


def test_a_page_of_a_list(wire: Wire) -> None:
    """X-Pagination reaches the result's _meta as data, and other headers of the app do not."""
    result = answer(wire, "paged")
    assert result["structuredContent"] == {"result": [1, 2]}
    assert result["_meta"] == {"X-Pagination": {"total": 9, "page": 1}}


def test_no_content(wire: Wire) -> None:
    """A 204 is done, without data."""
    assert answer(wire, "nothing") == {"content": [{"type": "text", "text": "Done."}]}


@pytest.mark.parametrize(("name", "data"), [("a_list", ["a", "b"]), ("a_number", 7), ("null", None)])
def test_json_that_is_no_object(wire: Wire, name: str, data: object) -> None:
    """JSON of any kind is data, wrapped where the revision wants an object."""
    assert answer(wire, name)["structuredContent"] == {"result": data}
    modern = wire.modern("tools/call", {"name": f"answers_{name}", "arguments": {}}).get_json()["result"]
    assert modern["structuredContent"] == data


@pytest.mark.parametrize(("name", "said"), [("plain", "Just words."), ("markdown", "# Words"), ("csv", "one,two")])
def test_text(wire: Wire, name: str, said: str) -> None:
    """Text is text, whether it came at once or piece by piece."""
    assert answer(wire, name) == {"content": [{"type": "text", "text": said}]}


def test_a_body_that_is_made_within_the_request(wire: Wire) -> None:
    """A body that is streamed with the request's context is read while that is there, to its end or to the limit."""
    line = "/answers/in_context tests.endpoints.hard\n"
    assert text(answer(wire, "in_context")) == line * 2
    assert "over the limit" in text(answer(wire, "in_context_for_long"))
    assert text(answer(wire, "in_context")) == line * 2


def test_files(wire: Wire) -> None:
    """A picture is a picture, and any other file is a resource at the address that it came from."""
    assert answer(wire, "picture")["content"] == [
        {"type": "image", "data": base64.b64encode(b"\x89PNG").decode(), "mimeType": "image/png"}
    ]
    assert answer(wire, "sound")["content"][0]["mimeType"] == "audio/wav"
    (block,) = answer(wire, "pdf")["content"]
    assert block["resource"] == {
        "uri": "http://localhost/answers/pdf",
        "mimeType": "application/pdf",
        "blob": base64.b64encode(b"%PDF").decode(),
    }


def test_a_redirect_is_a_refusal(wire: Wire) -> None:
    """A redirect is not followed, and is never taken for success."""
    result = answer(wire, "redirected")
    assert result["isError"] is True
    assert text(result).startswith("302 Found: the application sends a browser on to '/elsewhere'")


@pytest.mark.parametrize("name", ["page", "events", "broken_json", "crash", "unavailable"])
def test_what_is_the_fault_of_the_app(wire: Wire, name: str, caplog: pytest.LogCaptureFixture) -> None:
    """A page for people, a stream without an end, bad JSON, a 5xx and a crash are internal errors with a ref, and
    nothing of them goes out."""
    result = answer(wire, name)
    assert result["isError"] is True
    said = text(result)
    assert said.startswith("Internal error (ref ")
    ref = said.removeprefix("Internal error (ref ").removesuffix(").")
    assert ref in caplog.text
    assert "hunter2" not in said


def test_what_is_too_long(wire: Wire) -> None:
    """A body is read no further than a result may be long."""
    result = answer(wire, "huge")
    assert result["isError"] is True
    assert text(result) == "The result is over the limit of 2097152 bytes: ask for less, by narrowing the query."


def test_refusals_in_the_words_of_the_app(wire: Wire) -> None:
    """A refusal carries the app's own sentence, without the page around it."""
    assert text(answer(wire, "missing")) == "404 Not Found: No such <thing>."
    assert text(answer(wire, "styled")) == "410 Gone"
    assert text(answer(wire, "conflict_listed")) == '409 Conflict: ["taken"]'


def test_a_refusal_in_json_is_the_envelope(wire: Wire) -> None:
    """The JSON of a refusal is what the tool answers with."""
    result = answer(wire, "conflict")
    assert result["isError"] is True
    assert result["structuredContent"] == {"error": "taken", "field": "slug"}


def test_a_result_that_breaks_its_schema() -> None:
    """What is not what the result declares is an internal error with a ref, be it no object, or nothing at all."""
    from marshmallow import fields

    app = Flask(__name__)
    bodies: dict[str, Any] = {"one": {"n": 1}, "text": {"n": "x"}, "list": [1], "empty": ("", 204)}

    @app.get("/<which>")
    def get(which: str) -> Any:
        """Gets one."""
        return bodies[which]

    ArandoMCP(app, Server("s", access=public, tools=[endpoint_tool("get", result={"n": fields.Integer()})]))
    wire = Wire(app)
    found = {which: wire.call("tools/call", {"name": "get", "arguments": {"which": which}}) for which in bodies}
    assert found["one"]["structuredContent"] == {"n": 1}
    for which in ("text", "list", "empty"):
        assert text(found[which]).startswith("Internal error (ref "), which


def test_a_crash_is_seen_once_and_torn_down(hard: Flask) -> None:
    """The app's listeners hear of a crash once, and the request is torn down with it."""
    from flask.signals import got_request_exception, request_tearing_down

    heard: list[object] = []

    def crashed(sender: Any, exception: Any, **_: Any) -> None:
        heard.append(type(exception).__name__)

    def torn(sender: Any, exc: Any = None, **_: Any) -> None:
        heard.append(("torn", type(exc).__name__))

    with got_request_exception.connected_to(crashed), request_tearing_down.connected_to(torn):
        Wire(hard).post(call("tools/call", {"name": "answers_crash", "arguments": {}}))
    assert heard == [("torn", "RuntimeError"), "RuntimeError", ("torn", "NoneType")]
