"""How far a call is: only for a client that wants to know, only forward, and not too often."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from flask_arandu_mcp import Notification, Progress, Request, Response, Server, guest, public, tool
from flask_arandu_mcp.playing import BURST

from .talk import STREAMED, Talk, ask, count, create_app, lines, stream
from .wire import Wire, modern, modern_headers


@pytest.fixture
def wire(journal: Path) -> Wire:
    return Wire(create_app({"JOURNAL": str(journal)}))


def progress(wire: Wire, numbers: list[Any]) -> list[float]:
    sent = list(stream(ask(wire, "count", {"numbers": numbers})))
    assert sent[-1]["result"]["content"][0]["text"] == "counted"
    return [message["params"]["progress"] for message in sent[:-1]]


def test_h13_progress_comes_before_the_answer(wire: Wire) -> None:
    """Each step is one event with the client's token, and the answer comes last."""
    *steps, answer = stream(ask(wire, "count", {"numbers": [1, 2, 3]}))
    assert [step["method"] for step in steps] == ["notifications/progress"] * 3
    assert steps[1]["params"] == {"progressToken": "here", "progress": 2, "total": 100, "message": "at 2"}
    assert answer["id"] == 1


def test_progress_goes_forward_alone(wire: Wire) -> None:
    """What is not further than what was said is not said."""
    assert progress(wire, [1, 1, 0.5, 2, -1, 2.5]) == [1, 2, 2.5]


def test_progress_does_not_flood(wire: Wire) -> None:
    """However often a handler says how far it is, the client hears of it now and then, and of the last in any case."""
    sent = progress(wire, list(range(2000)))
    assert BURST <= len(sent) < 200
    assert sent[-1] == 1999


@pytest.mark.parametrize("token", [None, True, 1.5, {}, []])
def test_nobody_is_told_who_did_not_ask(wire: Wire, token: Any) -> None:
    """Without a token that is text or a whole number nothing streams, and the answer is one JSON object."""
    meta = {} if token is None else {"progressToken": token}
    message = modern("tools/call", {"name": "count", "arguments": {"numbers": [1, 2]}}, **meta)
    answer = wire.post(message, {**modern_headers(message), **STREAMED})
    assert answer.content_type == "application/json"
    assert answer.get_json()["result"]["content"][0]["text"] == "counted"


@pytest.mark.parametrize("token", ["", "x", 0, 7])
def test_a_token_comes_back_as_it_was(wire: Wire, token: Any) -> None:
    """The token is the client's, text or number."""
    message = modern("tools/call", {"name": "count", "arguments": {"numbers": [1]}}, progressToken=token)
    first, _ = stream(wire.post(message, {**modern_headers(message), **STREAMED}))
    assert first["params"]["progressToken"] == token


@pytest.mark.parametrize("number", [Decimal("0.5"), 1, 2.5, True])
def test_whatever_is_a_number_counts(number: Any) -> None:
    """What a database counts in is a number too."""
    assert float(Progress(number).progress) == float(number)


@pytest.mark.parametrize("number", ["3", None, [], float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: Any) -> None:
    """A mistake shows where it is made, in the handler."""
    with pytest.raises((TypeError, ValueError), match="of Progress is"):
        Progress(number)
    with pytest.raises((TypeError, ValueError), match="the progress of"):
        Progress(number, total=1)


def test_a_guarded_call_tells_numbers_alone(journal: Path) -> None:
    """A guard sees answers; words that it does not see do not go out."""

    @tool(access=public)
    def talk(request: Request) -> Talk:
        """Talks."""
        yield Progress(1, total=2, message="a secret")
        yield Notification("notifications/x", {"secret": 1})
        return "done"

    def guard(request: Request, response: Response) -> None:
        return None

    app = create_app({"JOURNAL": str(journal)})
    app.extensions["arandu_mcp"]["default"].server = Server(name="s", tools=[talk], recheck=True, guard=guard)
    first, last = stream(ask(Wire(app), "talk"))
    assert first["params"] == {"progressToken": "here", "progress": 1, "total": 2}
    assert last["result"]["content"][0]["text"] == "done"


def test_a_call_in_python_gets_the_answer_alone(journal: Path) -> None:
    """The door drains what a transport would send."""
    app = create_app({"JOURNAL": str(journal)})
    with app.app_context():
        answer = Server(name="s", tools=[count]).call(guest, "count", {"numbers": [1, 2]})
    assert answer.text == "counted"
    assert lines(journal) == ["counting ended None"]


def test_progress_goes_on_where_an_earlier_round_was(wire: Wire) -> None:
    """In the stateless era each round is a request of its own, and its progress begins anew."""
    *before, asked = stream(ask(wire, "steps"))
    state = asked["result"]["requestState"]
    yes = {"sure": {"action": "accept", "content": {"yes": True}}}
    *after, answer = stream(ask(wire, "steps", requestState=state, inputResponses=yes))
    assert [[m["params"]["progress"] for m in part] for part in (before, after)] == [[1, 2], [1, 2, 3]]
    assert answer["result"]["content"][0]["text"] == "stepped"
