"""Questions on the pipe: a call that stands at one holds no worker, goes on when it is answered, and is given up when
its client takes it back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .talk import AGE, ASKS, NAME, YES, lines, wait_for, write_meanwhile
from .wire import META, Pipe, call, modern


@pytest.fixture
def pipe(journal: Path) -> Iterator[Pipe]:
    with Pipe("tests.talk", env={"TALK_JOURNAL": str(journal)}) as running:
        hello(running)
        yield running


def hello(pipe: Pipe, capabilities: Any = ASKS, revision: str = "2025-11-25") -> None:
    params = {"protocolVersion": revision, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}
    assert pipe.ask(call("initialize", params, id="hello"))["result"]["protocolVersion"] == revision


def use(name: str, id: Any = 1, token: Any = None, **arguments: Any) -> dict[str, Any]:
    """A call of a tool."""
    meta = {} if token is None else {"_meta": {"progressToken": token}}
    return call("tools/call", {"name": name, "arguments": arguments, **meta}, id=id)


def reply(question: Any, result: Any) -> dict[str, Any]:
    """The answer to a question that the server sent."""
    return {"jsonrpc": "2.0", "id": question["id"], "result": result}


def cancel(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def text_of(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def test_a_call_goes_on_when_its_question_is_answered(pipe: Pipe, journal: Path) -> None:
    """A question is a request of the server's, under a random id; each round is a request of its own in the app."""
    question = pipe.ask(use("greet"))
    assert question["method"] == "elicitation/create"
    assert re.fullmatch(r"[A-Za-z0-9_-]{22}", question["id"])
    second = pipe.ask(reply(question, NAME))
    assert second["params"]["message"] == "How old is Ann?"
    assert second["id"] != question["id"]
    answer = pipe.ask(reply(second, AGE))
    assert (answer["id"], text_of(answer)) == (1, "Hello, Ann, 7.")
    seen = lines(journal)
    rounds = [line.split() for line in seen if line.startswith("round")]
    assert len(rounds) == 3
    assert {tuple(words[1:]) for words in rounds} == {(rounds[0][1], "alice")}
    assert (seen.count("before"), seen.count("teardown")) == (3, 3)


def test_questions_that_are_asked_together_are_answered_in_any_order(pipe: Pipe) -> None:
    """The call goes on when the last of them is answered."""
    first = pipe.ask(use("both"))
    second = pipe.receive()
    by_message = {one["params"]["message"]: one for one in (first, second)}
    pipe.send(reply(by_message["Sure?"], YES))
    assert pipe.ask(call("ping", id="between"))["id"] == "between"
    answer = pipe.ask(reply(by_message["Who are you?"], NAME))
    assert answer["result"]["structuredContent"] == {"name": "Ann", "yes": True}


def test_progress_goes_forward_over_all_rounds(pipe: Pipe) -> None:
    """A handler that is run again says again how far it is, and its client hears it once."""
    told = [pipe.ask(use("steps", token="t")), pipe.receive()]
    question = pipe.receive()
    told.append(pipe.ask(reply(question, YES)))
    assert [message["params"]["progress"] for message in told] == [1, 2, 3]
    assert text_of(pipe.receive()) == "stepped"


@pytest.mark.parametrize("error", [{"code": -1, "message": "no human here"}, {"code": -1}, "x", 3])
def test_a_client_that_cannot_ask_answers_with_an_error(pipe: Pipe, error: Any) -> None:
    """The handler is told at its question, and may go on without an answer."""
    question = pipe.ask(use("forgiving"))
    answer = pipe.ask({"jsonrpc": "2.0", "id": question["id"], "error": error})
    assert text_of(answer).startswith("Without asking: The user could not be asked: ")
    assert not answer["result"].get("isError")


def test_a_handler_that_needs_an_answer_ends_in_words(pipe: Pipe) -> None:
    """What it does not catch is what the model is told."""
    question = pipe.ask(use("greet"))
    answer = pipe.ask({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no human here"}})
    assert answer["result"]["isError"]
    assert text_of(answer) == "The user could not be asked: no human here"


def test_s09_a_hundred_questions_hold_no_worker(pipe: Pipe) -> None:
    """With four workers, a hundred calls wait for people while others are answered; then all of them go on."""
    pipe.send(*[use("greet", id=number, greeting=f"Hi{number}") for number in range(100)])
    names = [pipe.receive() for _ in range(100)]
    assert len({question["id"] for question in names}) == 100
    assert text_of(pipe.ask(use("count", id="other", numbers=[1]))) == "counted"
    assert pipe.ask(call("ping", id="ping"))["id"] == "ping"
    pipe.send(*[reply(question, NAME) for question in names])
    ages = [pipe.receive() for _ in range(100)]
    pipe.send(*[reply(question, AGE) for question in reversed(ages)])
    answers = {answer["id"]: text_of(answer) for answer in (pipe.receive() for _ in range(100))}
    assert answers == {number: f"Hi{number}, Ann, 7." for number in range(100)}


def test_s09_a_call_that_waits_is_cancelled(pipe: Pipe, journal: Path) -> None:
    """Nothing more is sent for it, a late answer is of no account, and its id may be used again."""
    question = pipe.ask(use("greet"))
    pipe.send(cancel(1), reply(question, NAME))
    assert pipe.ask(call("ping", id=2))["id"] == 2
    assert text_of(pipe.ask(use("count", numbers=[1]))) == "counted"
    assert sum(line.startswith("round") for line in lines(journal)) == 1


@pytest.mark.parametrize("token", [None, "t"])
def test_s09_a_call_that_works_is_cancelled_at_its_next_step(pipe: Pipe, journal: Path, token: str | None) -> None:
    """The handler's `finally` runs, whether or not its client wanted to know how far it was."""
    pipe.send(use("endless", token=token))
    wait_for(lambda: "under way" in lines(journal))
    pipe.send(cancel(1))
    wait_for(lambda: lines(journal)[-2:] == ["stopped alice True", "teardown"])
    pipe.send(call("ping", id=2))
    while "method" in (message := pipe.receive()):
        assert message["method"] == "notifications/progress"
    assert message["id"] == 2


def test_s09_an_id_is_taken_while_its_call_waits(pipe: Pipe) -> None:
    """Two calls under one id could not be told apart."""
    question = pipe.ask(use("greet"))
    assert pipe.ask(use("count", numbers=[1]))["error"]["code"] == -32600
    assert pipe.ask(reply(question, NAME))["params"]["message"] == "How old is Ann?"


@pytest.mark.parametrize("id", ["unknown", 1, None, "A" * 22])
def test_an_answer_that_nobody_waits_for_is_dropped(pipe: Pipe, id: Any) -> None:
    """It is a response, and a response is never answered."""
    pipe.send({"jsonrpc": "2.0", "id": id, "result": {}})
    assert pipe.ask(call("ping", id=2))["id"] == 2


def test_a_question_is_answered_once(pipe: Pipe) -> None:
    """The first answer counts."""
    question = pipe.ask(use("forgiving"))
    pipe.send(reply(question, YES), reply(question, {"action": "decline"}))
    assert text_of(pipe.receive()) == "accept"
    assert pipe.ask(call("ping", id=2))["id"] == 2


def test_the_end_comes_while_a_question_is_open(pipe: Pipe) -> None:
    """Whoever closes the pipe is not waited for."""
    pipe.ask(use("greet"))
    code, out, _ = pipe.close()
    assert (code, out) == (0, b"")


def test_no_transaction_waits_for_a_human(pipe: Pipe, journal: Path) -> None:
    """The app context is gone before the question goes out, so that another writer goes on."""
    question = pipe.ask(use("locking"))
    write_meanwhile(journal)
    assert text_of(pipe.ask(reply(question, YES))) == "written"


@pytest.mark.parametrize("declares", [{}, {"elicitation": {"url": {}}}, {"sampling": {}}])
def test_a_client_that_cannot_be_asked_is_not(journal: Path, declares: Any) -> None:
    """What a client did not declare in its handshake it is not asked; the handler is told."""
    with Pipe("tests.talk", env={"TALK_JOURNAL": str(journal)}) as pipe:
        hello(pipe, declares)
        answer = pipe.ask(use("forgiving"))
    assert "must declare 'elicitation.form'" in text_of(answer)


def test_a_page_has_an_id_in_the_revision_that_wants_one(pipe: Pipe) -> None:
    """2025-11-25 tells pages apart by their ids."""
    question = pipe.ask(use("page"))
    assert question["params"]["elicitationId"] == question["id"]
    assert text_of(pipe.ask(reply(question, {"action": "accept"}))) == "accept"


def test_both_eras_are_spoken_on_one_pipe(pipe: Pipe) -> None:
    """A stateless message is answered as its era has it, between those of the other."""
    question = pipe.ask(use("greet"))
    able: dict[str, Any] = {f"{META}clientCapabilities": ASKS}
    asked = pipe.ask(modern("tools/call", {"name": "greet", "arguments": {}}, id=2, **able))
    assert asked["result"]["resultType"] == "input_required"
    given = {"requestState": asked["result"]["requestState"], "inputResponses": {"name": NAME}}
    again = pipe.ask(modern("tools/call", {"name": "greet", "arguments": {}, **given}, id=3, **able))
    assert set(again["result"]["inputRequests"]) == {"age"}
    assert pipe.ask(reply(question, NAME))["params"]["message"] == "How old is Ann?"


def test_a07_the_subject_is_there_at_every_step_of_a_pipe(pipe: Pipe) -> None:
    """current_user and g are the same after a handler has sent something."""
    pipe.send(use("who", token="t"))
    assert [pipe.receive()["params"]["progress"] for _ in (1, 2)] == [1, 2]
    seen = pipe.receive()["result"]["structuredContent"]["seen"]
    assert seen == [["alice", "alice", "visited", True]] * 2
