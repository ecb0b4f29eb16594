"""Answers to questions that do not fit them, from a client that is a program and gives the same one each time."""

from __future__ import annotations

from typing import Any

import pytest

from .wire import Pipe, call

UNFIT: dict[str, Any] = {
    "no object": "yes",
    "no action": {"content": {"username": "u", "email": "e"}},
    "no content": {"action": "accept"},
    "a field is missing": {"action": "accept", "content": {"username": "u"}},
    "a field is wrong": {"action": "accept", "content": {"username": 3, "email": "e"}},
}


@pytest.mark.parametrize("answer", UNFIT.values(), ids=UNFIT)
def test_a_question_is_sent_three_times_at_most(answer: object) -> None:
    """An answer that does not fit is as if not given, but a client that always gives it is not asked forever."""
    with Pipe("tests.conformance.app") as pipe:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c"}}
        pipe.ask(call("initialize", hello))
        pipe.send(call("tools/call", {"name": "test_elicitation", "arguments": {"message": "Who?"}}, id=2))
        asked = 0
        while "method" in (message := pipe.receive()):
            assert message["method"] == "elicitation/create"
            asked += 1
            pipe.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
    assert asked == 3
    assert message["id"] == 2
    assert message["result"]["isError"]
    assert "do not fit it: call again" in message["result"]["content"][0]["text"]


def test_a_question_may_be_answered_at_the_third_time() -> None:
    """Whoever answers wrongly at first is asked the same again, and goes on when the answer fits."""
    with Pipe("tests.conformance.app") as pipe:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {"name": "c"}}
        pipe.ask(call("initialize", hello))
        pipe.send(call("tools/call", {"name": "test_elicitation", "arguments": {"message": "Who?"}}, id=2))
        for content in ({}, {"username": "u"}, {"username": "u", "email": "e"}):
            question = pipe.receive()
            result = {"action": "accept", "content": content}
            pipe.send({"jsonrpc": "2.0", "id": question["id"], "result": result})
        answer = pipe.receive()["result"]
    assert not answer.get("isError")
    assert "'username': 'u'" in answer["content"][0]["text"]
