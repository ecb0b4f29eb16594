"""A tool that asks its user to confirm, with the call's own arguments, before anything is done."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from marshmallow import fields

from flask_arandu_mcp import ArandoMCP, Operation, Server, endpoint_tool, guest, public

from ..app import calls
from ..wire import Wire, modern, modern_headers

ASKS: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}


def create_app() -> Flask:
    app = Flask(__name__)
    app.config.from_mapping(SECRET_KEY="a key for the tests", TESTING=True)

    @app.delete("/posts/<slug>")
    def delete(slug: str) -> tuple[str, int]:
        """Deletes a post."""
        calls.append(slug)
        return "", 204

    tool = endpoint_tool("delete", confirm="Delete {slug}, because of {reason}?", arguments={"reason": fields.String()})
    ArandoMCP(app, Server("posts", access=public, tools=[tool]))
    return app


def ask(wire: Wire, arguments: dict[str, Any], **params: Any) -> Any:
    message = modern("tools/call", {"name": "delete", "arguments": arguments, **params}, **ASKS)
    answer = wire.post(message, modern_headers(message)).get_json()
    assert "result" in answer, answer
    return answer["result"]


def answered(asked: Any, content: dict[str, Any] | None) -> dict[str, Any]:
    (key,) = asked["inputRequests"]
    answer = {"action": "decline"} if content is None else {"action": "accept", "content": content}
    return {"inputResponses": {key: answer}, "requestState": asked["requestState"]}


def test_the_question_has_the_arguments_of_the_call() -> None:
    """The user is asked about this very call, and nothing is done before they answer."""
    asked = ask(Wire(create_app()), {"slug": "a-post"})
    assert asked["resultType"] == "input_required"
    (question,) = asked["inputRequests"].values()
    assert question["params"]["message"] == "Delete a-post, because of (none)?"
    assert calls == []


def test_a_yes_does_it_once() -> None:
    """Confirmed, it is done."""
    wire = Wire(create_app())
    asked = ask(wire, {"slug": "a-post", "reason": "spam"})
    done = ask(wire, {"slug": "a-post", "reason": "spam"}, **answered(asked, {"yes": True}))
    assert done["content"][0]["text"] == "Done."
    assert calls == ["a-post"]


@pytest.mark.parametrize("content", [None, {"yes": False}])
def test_a_no_does_nothing(content: dict[str, Any] | None) -> None:
    """Declined, or answered no, nothing is done, and the model is told."""
    wire = Wire(create_app())
    asked = ask(wire, {"slug": "a-post"})
    done = ask(wire, {"slug": "a-post"}, **answered(asked, content))
    assert (done["isError"], done["content"][0]["text"]) == (True, "The user said no; nothing was done.")
    assert calls == []


def test_a_yes_counts_for_its_own_question_alone() -> None:
    """A yes to one post deletes no other."""
    wire = Wire(create_app())
    asked = ask(wire, {"slug": "a-post"})
    message = modern(
        "tools/call",
        {"name": "delete", "arguments": {"slug": "another"}, **answered(asked, {"yes": True})},
        **ASKS,
    )
    wire.post(message, modern_headers(message))
    assert calls == []


def test_what_cannot_be_is_not_asked_about() -> None:
    """A call whose arguments do not fit is refused before the user is bothered."""
    refused = ask(Wire(create_app()), {"reason": "spam"})
    assert refused["isError"] is True
    assert "slug: Missing data for required field." in refused["content"][0]["text"]


def test_a_client_that_cannot_ask_deletes_nothing() -> None:
    """Where the user cannot be asked, nothing is done."""
    wire = Wire(create_app())
    answer = wire.modern("tools/call", {"name": "delete", "arguments": {"slug": "a-post"}}).get_json()
    assert "error" in answer
    assert calls == []


def test_arguments_are_said_and_not_read_as_a_format() -> None:
    """Braces in an argument are only text."""
    asked = ask(Wire(create_app()), {"slug": "{reason}"})
    (question,) = asked["inputRequests"].values()
    assert question["params"]["message"] == "Delete {reason}, because of (none)?"


def test_arguments_cannot_make_the_question_another_one() -> None:
    """A line break in an argument, or a sign that turns the writing around, is shown for what it is."""
    asked = ask(Wire(create_app()), {"slug": "a?\n\nNo, keep b\u202e"})
    (question,) = asked["inputRequests"].values()
    assert question["params"]["message"] == r"Delete a?\n\nNo, keep b\u202e, because of (none)?"


def test_an_operation_by_hand_confirms_too() -> None:
    """Any operation may ask first, one that talks by itself included."""

    def remove(request: Any, arguments: Any) -> Any:
        """Removes."""
        calls.append(arguments["slug"])
        return "Removed."

    tool = Operation("remove", remove, access=public, input={"slug": fields.String()}, confirm="Remove {slug}?")
    server = Server("s", tools=[tool])
    yes = {"confirm": {"action": "accept", "content": {"yes": True}}}
    no = {"confirm": {"action": "accept", "content": {"yes": False}}}
    assert server.call(guest, "remove", {"slug": "x"}, answers=no).is_error
    assert calls == []
    assert server.call(guest, "remove", {"slug": "x"}, answers=yes).text == "Removed."
    with pytest.raises(LookupError, match="confirm"):
        server.call(guest, "remove", {"slug": "x"})
