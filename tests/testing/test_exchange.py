"""Nothing that goes out is out of a test's sight, in whatever shape it goes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import fields

from flask_arandu_mcp import (
    Audio,
    Elicit,
    EmbeddedResource,
    Image,
    Notification,
    Progress,
    ProtocolError,
    Request,
    ResourceLink,
    Response,
    Server,
    Text,
    ToolError,
    public,
    resource,
    tool,
)
from flask_arandu_mcp.testing import MCPClient

from ..app import create_app
from ..talk import Talk
from .failing import failure

SECRET = 'die "Zäune"\n kosten'
YES = {"go": {"yes": True}}


def in_error(request: Request) -> Any:
    raise ToolError(f"because {SECRET} viel")


def in_progress(request: Request) -> Talk:
    yield Progress(1, message=SECRET)
    return "done"


def in_a_notification(request: Request) -> Talk:
    yield Notification("notifications/message", {"level": "info", "data": {"deep": [SECRET]}})
    return "done"


def in_a_question(request: Request) -> Talk:
    yield Elicit("go", f"Sure that {SECRET}?", {"yes": fields.Boolean()})
    return "done"


def in_a_form(request: Request) -> Talk:
    yield Elicit("go", "Sure?", {"yes": fields.Boolean(metadata={"description": SECRET})})
    return "done"


WAYS: dict[str, Any] = {
    "text": lambda request: SECRET,
    "data": lambda request: {"posts": [{"title": SECRET}]},
    "a name in data": lambda request: {"posts": {SECRET: 1}},
    "JSON in data": lambda request: {"kept": json.dumps({"title": SECRET})},
    "JSON behind white space": lambda request: "\n " + json.dumps({"title": SECRET}),
    "a string of JSON": lambda request: json.dumps(SECRET),
    "JSON within JSON": lambda request: json.dumps(json.dumps([SECRET])),
    "_meta": lambda request: Response.text("done", meta={"hidden": {"deep": SECRET}}),
    "a picture": lambda request: Image(b"\x89PNG" + SECRET.encode(), "image/png"),
    "a sound": lambda request: Audio(b"RIFF" + SECRET.encode(), "audio/wav"),
    "a file": lambda request: EmbeddedResource("x://y", b"\x00" + SECRET.encode(), mime_type="application/x-y"),
    "a text file": lambda request: EmbeddedResource("x://y", SECRET),
    "a link": lambda request: ResourceLink("x://y", "y", description=SECRET),
    "an annotation": lambda request: [Text("done").annotated(last_modified=SECRET)],
    "an error": in_error,
    "an error of data": lambda request: Response.error(SECRET),
    "progress": in_progress,
    "a notification": in_a_notification,
    "a question": in_a_question,
    "a form": in_a_form,
}


@pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])
@pytest.mark.parametrize("way", WAYS)
def test_what_goes_out_in_any_way_is_seen(way: str, revision: str) -> None:
    """Text is found as it was written, whatever JSON, Base64 or ASCII made of it on the way."""
    declared = tool(access=public, name="leak", description="Leaks.")(WAYS[way])
    app = create_app(server=Server("s", tools=[declared], logging=True))
    result = MCPClient(app, revision=revision).answering(YES).call("leak")
    result.assert_sees(SECRET)
    assert f"should not have shown {SECRET!r}" in failure(lambda: result.assert_does_not_see(SECRET))


def test_what_an_error_of_the_protocol_holds_is_seen() -> None:
    """An error of a resource shows its data too."""

    @resource("x://y", access=public)
    def leak(request: Request) -> str:
        """Leaks."""
        raise ProtocolError(409, "Taken.", {"by": {"whom": SECRET}})

    app = create_app(server=Server("s", resources=[leak]))

    @app.after_request
    def mark(response: Any) -> Any:
        response.headers["X-Marked"] = "in a header"
        return response

    MCPClient(app).read("x://y").assert_sees("in a header")


@pytest.mark.parametrize("text", ["{beans", "[1] and more", "Zäune", "beans", "bean", "YmVhbnM="])
def test_what_only_looks_like_something_else_is_text(text: str) -> None:
    """What begins as JSON and is none, or stands where Base64 might and is none, is the text that it is."""
    declared = tool(access=public, name="leak", description="Leaks.")(lambda request: {"data": text, "blob": [text]})
    client = MCPClient(create_app(server=Server("s", tools=[declared])))
    client.call("leak").assert_sees(text).assert_does_not_see("peas")


def test_a_number_is_seen() -> None:
    """What is looked for as text is found as a number too."""
    declared = tool(access=public, name="leak", description="Leaks.")(lambda request: {"cost": 840})
    client = MCPClient(create_app(server=Server("s", tools=[declared])))
    client.call("leak").assert_sees("840").assert_does_not_see("841")


def test_what_is_the_protocols_own_is_not_the_apps() -> None:
    """The server's name, which goes out with every answer, is nothing that a call shows."""
    declared = tool(access=public, name="quiet", description="Is quiet.")(lambda request: "done")
    client = MCPClient(create_app(server=Server("The Common Plot", version="7.8.9", tools=[declared])))
    client.call("quiet").assert_ok().assert_does_not_see("The Common Plot", "7.8.9")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ECHO = MCPClient(create_app())


@given(around=st.lists(st.sampled_from(["list", "member", "name"]) | JSON, max_size=6), secret=st.text(min_size=1))
def test_no_place_in_data_is_out_of_sight(around: list[Any], secret: str) -> None:
    """Wherever in a result a text is, however deep, it is found."""
    value: Any = secret
    for shape in around:
        if shape == "name":
            value = {secret: value}
        elif shape == "member":
            value = {"member": value}
        else:
            value = [shape, value]
    secret.encode("utf-8", "strict")
    ECHO.call("echo", value=value).assert_ok().assert_sees(secret)
