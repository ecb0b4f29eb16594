"""Questions to clients of older revisions, which know fewer of them."""

from __future__ import annotations

from typing import Any

import pytest

from .wire import Pipe, call

EVERYTHING: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
TITLED = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]


def _first(revision: str, tool: str, *replies: dict[str, Any]) -> list[Any]:
    """What a client that declares everything is sent of a call, each of its answers included."""
    with Pipe("tests.survey") as pipe:
        hello = {"protocolVersion": revision, "capabilities": EVERYTHING, "clientInfo": {"name": "c", "version": "1"}}
        assert pipe.ask(call("initialize", hello))["result"]["protocolVersion"] == revision
        pipe.send(call("tools/call", {"name": tool}, id=2))
        received = [pipe.receive()]
        for reply in replies:
            pipe.send({"jsonrpc": "2.0", "id": received[-1]["id"], "result": reply})
            received.append(pipe.receive())
    return received


@pytest.mark.parametrize(
    ("revision", "field"),
    [
        ("2025-11-25", {"type": "string", "oneOf": TITLED}),
        ("2025-06-18", {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]}),
    ],
)
def test_labels_are_spelt_as_the_revision_has_them(revision: str, field: dict[str, Any]) -> None:
    """One question is drawn for each revision in its own style of choices, and its answer is taken in every one."""
    question, answer = _first(revision, "size", {"action": "accept", "content": {"size": "l"}})
    assert question["method"] == "elicitation/create"
    assert question["params"]["requestedSchema"]["properties"] == {"size": field}
    assert answer["result"]["content"][0]["text"] == "It is l."


@pytest.mark.parametrize(
    ("revision", "tool"),
    [
        ("2025-06-18", "sizes"),
        ("2025-06-18", "page"),
        ("2025-03-26", "size"),
        ("2025-03-26", "page"),
        ("2024-11-05", "size"),
        ("2024-11-05", "sizes"),
    ],
)
def test_what_a_revision_cannot_ask_is_not_asked(revision: str, tool: str) -> None:
    """A question that the revision has no words for is not sent, whatever the client declared, and that is said."""
    [answer] = _first(revision, tool)
    assert answer["id"] == 2
    assert answer["result"]["isError"]
    assert f"revision {revision}" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("tool", ["sizes", "page"])
def test_what_a_revision_can_ask_is_asked(tool: str) -> None:
    """The same questions go out to a client whose revision has them."""
    question, answer = _first("2025-11-25", tool, {"action": "decline"})
    assert question["method"] == "elicitation/create"
    assert answer["id"] == 2
