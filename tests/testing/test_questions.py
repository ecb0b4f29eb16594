"""Questions to the user in a test: answered from a dict or a function, in every era, and never left open in silence."""

from __future__ import annotations

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import Request, Server, public, tool
from flask_arandu_mcp.testing import Answer, MCPClient, Question

from ..app import Users, create_app
from ..talk import Talk, lines
from ..talk import create_app as create_talk
from .failing import failure

ASKING = ["2025-06-18", "2025-11-25", "2026-07-28"]


@pytest.fixture
def app(journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Flask:
    """An app whose handlers ask; its mailbox is in a folder of the test's own."""
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return create_talk({"JOURNAL": str(journal)})


@pytest.fixture(params=ASKING)
def client(request: pytest.FixtureRequest, app: Flask) -> MCPClient:
    """A user's client, in each revision that has questions."""
    users: Users = app.extensions["test_users"]
    return MCPClient(app, revision=request.param).acting_as(users["bob"])


def deleted(journal: Path) -> int:
    """How often something was really deleted."""
    return sum(line.startswith("deleted") for line in lines(journal))


def test_a_yes(client: MCPClient, journal: Path) -> None:
    """A dict is what the user fills in, and accepts the form."""
    result = client.answering({"sure": {"yes": True}}).call("delete_posts").assert_ok().assert_asked("sure")
    assert result.text == "Deleted 3 posts."
    assert result.questions[0].message == "Delete 3 posts?"
    assert result.questions[0].form["yes"] == {"type": "boolean"}
    assert deleted(journal) == 1


@pytest.mark.parametrize("word", ["decline", "cancel"])
def test_a_no(client: MCPClient, journal: Path, word: Any) -> None:
    """A word is what the user does instead."""
    result = client.answering({"sure": word}).call("delete_posts").assert_ok()
    assert result.text == f"The user said {word}; nothing was deleted."
    assert deleted(journal) == 0


def test_a_function_is_given_each_question(client: MCPClient) -> None:
    """It sees the key and all that the user would, and answers as a dict would."""

    def answer(question: Question) -> Answer:
        return {"name": "Ann"} if question.key == "name" else {"age": len(question.message)}

    result = client.answering(answer).call("greet", greeting="Hi").assert_asked("name", "age")
    assert result.text == "Hi, Ann, 15."


def test_two_questions_at_once(client: MCPClient) -> None:
    """Those that are asked together are answered together."""
    result = client.answering({"name": {"name": "Ann"}, "sure": {"yes": False}}).call("both").assert_ok()
    result.assert_asked("name", "sure").assert_sees("Ann", '"yes":false')


@pytest.mark.parametrize(
    ("revision", "told"), [("2025-11-25", [1, 2, 3]), ("2026-07-28", [1, 2, 1, 2, 3])], ids=["handshake", "stateless"]
)
def test_progress_and_questions(app: Flask, revision: str, told: list[int]) -> None:
    """What is told before a question and after it is one account; a request that is sent again tells it again."""
    result = MCPClient(app, revision=revision).answering({"sure": {"yes": True}}).call("steps").assert_ok()
    assert result.text == "stepped"
    assert [step.progress for step in result.progress] == told
    assert {step.total for step in result.progress} == {3}


def test_resources_and_prompts_ask_too(client: MCPClient) -> None:
    """Whatever asks is answered."""
    answering = client.answering({"name": {"name": "Ann"}})
    assert answering.read("talk://greeting").assert_asked("name").text == "Hello, Ann."
    assert answering.prompt("interview").assert_asked("name").text == "Interview Ann."


def test_the_client_is_asked_too(client: MCPClient) -> None:
    """A ClientRequest is answered with the client's result as it stands."""
    answering = client.answering({"roots": {"roots": [{"uri": "file:///garden"}]}})
    answering.call("roots").assert_ok().assert_sees("file:///garden")


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
def test_a_page_to_open(app: Flask, revision: str) -> None:
    """A page is accepted by a word, as there is nothing to fill in."""
    client = MCPClient(app, revision=revision)
    assert client.answering({"pay": "accept"}).call("page").text == "accept"
    told = failure(lambda: client.call("page"))
    assert "with the page https://shop.example/pay, and nobody answers" in told
    assert "client.answering({'pay': 'accept'})" in told


@pytest.mark.parametrize("revision", ASKING)
def test_a_form_that_wants_nothing_is_accepted_by_a_word(revision: str) -> None:
    """An empty form is filled in by accepting it."""
    from flask_arandu_mcp import Elicit

    @tool(access=public)
    def ask(request: Request) -> Talk:
        """Asks."""
        answer = yield Elicit("go", "Go on?", {})
        return answer.action

    app = create_app(server=Server("s", tools=[ask]))
    assert MCPClient(app, revision=revision).answering({"go": "accept"}).call("ask").text == "accept"


def test_a_question_that_nobody_answers(client: MCPClient, journal: Path) -> None:
    """The test fails with what was asked, and a line that answers it; the call goes no further."""
    told = failure(lambda: client.call("delete_posts"))
    assert told == (
        "call('delete_posts') as User 'bob' asked its user 'sure', “Delete 3 posts?”, with a form of yes (boolean), "
        "and nobody answers. Answer with client.answering({'sure': {'yes': True}}), or with 'decline' or 'cancel' in "
        "its place."
    )
    assert deleted(journal) == 0
    assert [line for line in lines(journal) if line == "teardown"]


def test_a_client_that_has_no_answer(client: MCPClient) -> None:
    """What the client itself is asked fails in the same way, as nobody can make up its result."""
    assert failure(lambda: client.call("roots")) == (
        "call('roots') as User 'bob' asked its client for 'roots/list' (key 'roots'), and nobody answers. Answer with "
        "the client's result: client.answering({'roots': {...}})."
    )


def test_a_key_that_is_misspelt(client: MCPClient) -> None:
    """An answer to nothing that was asked is pointed out where it may be meant."""
    told = failure(lambda: client.answering({"sur": {"yes": True}}).call("delete_posts"))
    assert told.endswith("'decline' or 'cancel' in its place; you have an answer to 'sur'.")


def test_a_function_that_has_no_answer(client: MCPClient) -> None:
    """A function may leave a question open, and is told that it did."""
    told = failure(lambda: client.answering(lambda question: None).call("delete_posts"))
    assert told.endswith("in its place, or let your function return such an answer.")


def test_an_answer_that_does_not_fit(client: MCPClient, journal: Path) -> None:
    """What the form refuses is asked again, which no test waits for."""
    told = failure(lambda: client.answering({"sure": {"yes": "perhaps"}}).call("delete_posts"))
    assert "was answered with {'yes': 'perhaps'}, and asked again, as that does not fit." in told
    assert deleted(journal) == 0


@pytest.mark.parametrize(("key", "answer"), [("sure", "yes"), ("sure", True), ("roots", "accept")])
def test_an_answer_that_is_none(client: MCPClient, key: str, answer: Any) -> None:
    """A word that means nothing is a mistake of the test's."""
    name = {"sure": "delete_posts", "roots": "roots"}[key]
    with pytest.raises(TypeError, match=f"The question '{key}' is answered with {answer!r}: it must be"):
        client.answering({key: answer}).call(name)


def test_what_a_function_raises(client: MCPClient, journal: Path) -> None:
    """An assertion within it fails the test as any other one, and leaves nothing waiting."""

    def answer(question: Question) -> Answer:
        raise AssertionError(f"I did not expect {question.key}")

    assert failure(lambda: client.answering(answer).call("delete_posts")) == "I did not expect sure"
    assert deleted(journal) == 0


def test_nothing_is_left_behind(client: MCPClient, tmp_path: Path) -> None:
    """No thread is started, and no question stays open, whether it was answered or not."""
    threads = threading.enumerate()
    failure(lambda: client.call("delete_posts"))
    client.answering({"sure": {"yes": True}}).call("delete_posts").assert_ok()
    assert threading.enumerate() == threads
    left = [name for _, _, files in os.walk(tmp_path / "tmp") for name in files]
    assert left == []


def test_an_assertion_of_what_was_asked(client: MCPClient) -> None:
    """A test can say what must be asked, and that nothing may be."""
    result = client.answering({"sure": {"yes": True}}).call("delete_posts")
    assert "should have asked nothing, and asked 'sure':" in failure(result.assert_asked)
    assert "should have asked 'sure', 'name', and asked 'sure':" in failure(lambda: result.assert_asked("sure", "name"))


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-11-25"])
def test_a_client_that_cannot_be_asked(app: Flask, revision: str) -> None:
    """A handler that can do without goes on without, where the revision has no questions or the client no user."""
    client = MCPClient(app, revision=revision, capabilities={})
    client.call("forgiving").assert_ok().assert_asked().assert_sees("Without asking: The user cannot be asked here")


def test_a_client_of_the_newest_revision_that_cannot_be_asked(app: Flask) -> None:
    """It is told what it lacks."""
    result = MCPClient(app, capabilities={}).call("forgiving")
    result.assert_error("must declare the capability 'elicitation.form'")
    assert "failed for another reason" in failure(result.assert_refused)
