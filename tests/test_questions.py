"""Questions in the stateless era: the state that goes out and comes back belongs to one call of one subject, and an
answer belongs to one question."""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import Elicit, Request, Response, guest
from flask_arandu_mcp.messages import Unfit
from flask_arandu_mcp.rounds import PURPOSE

from .talk import AGE, NAME, NONSENSE, SURE, YES, ask, create_app, greet, lines, make_server
from .wire import META, Wire, bearer, modern, modern_headers


@pytest.fixture
def app(journal: Path) -> Flask:
    return create_app({"JOURNAL": str(journal)})


def asked(answer: Any) -> tuple[dict[str, Any], str]:
    """The questions of an answer that asks, and its state."""
    result = answer.get_json()["result"]
    assert result["resultType"] == "input_required", result
    return result["inputRequests"], result["requestState"]


def done(answer: Any) -> str:
    """The text of an answer that is the end."""
    result = answer.get_json()["result"]
    assert result["resultType"] == "complete", result
    return str(result["content"][0]["text"])


def refused(answer: Any) -> str:
    """The words of an answer that refuses a state."""
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert error["code"] == -32602
    return str(error["message"])


def test_a_question_is_asked_and_its_answer_given_to_the_handler(wire: Wire, journal: Path) -> None:
    """The handler stands at the question, and goes on behind it when it was answered."""
    questions, state = asked(ask(wire, "delete_posts", headers=bearer("bob")))
    assert questions["sure"]["method"] == "elicitation/create"
    assert questions["sure"]["params"]["message"] == "Delete 3 posts?"
    assert questions["sure"]["params"]["requestedSchema"]["required"] == ["yes"]
    answer = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": YES})
    assert done(answer) == "Deleted 3 posts."
    assert sum(line.startswith("deleted 3") for line in lines(journal)) == 1


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_the_user_may_say_no(wire: Wire, action: str) -> None:
    """What the user did reaches the handler, which says what comes of it."""
    _, state = asked(ask(wire, "delete_posts", headers=bearer("bob")))
    no = {"sure": {"action": action}}
    answer = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses=no)
    assert done(answer) == f"The user said {action}; nothing was deleted."


def test_a_call_may_have_several_rounds(wire: Wire, journal: Path) -> None:
    """Each round runs the handler from its start with the answers so far, under the same attempt."""
    questions, state = asked(ask(wire, "greet"))
    assert set(questions) == {"name"}
    questions, state = asked(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))
    assert questions["age"]["params"]["message"] == "How old is Ann?"
    assert done(ask(wire, "greet", requestState=state, inputResponses={"age": AGE})) == "Hello, Ann, 7."
    rounds = [line.split() for line in lines(journal) if line.startswith(("round", "greeted"))]
    assert len(rounds) == 4
    assert len({attempt for _, attempt, *_ in rounds}) == 1


def test_another_call_is_another_attempt(wire: Wire, journal: Path) -> None:
    """The id of an attempt is random, and none of another call."""
    asked(ask(wire, "greet"))
    asked(ask(wire, "greet"))
    attempts = [line.split()[1] for line in lines(journal) if line.startswith("round")]
    assert len(set(attempts)) == 2


def test_two_questions_may_be_asked_at_once(wire: Wire) -> None:
    """Those that were not answered are asked again, and those that were are not."""
    questions, state = asked(ask(wire, "both"))
    assert set(questions) == {"name", "sure"}
    questions, state = asked(ask(wire, "both", requestState=state, inputResponses={"name": NAME}))
    assert set(questions) == {"sure"}
    answer = ask(wire, "both", requestState=state, inputResponses={"sure": YES}).get_json()["result"]
    assert answer["structuredContent"] == {"name": "Ann", "yes": True}


UNFIT: list[Any] = [{"action": "accept", "content": {"yes": "perhaps"}}, {"action": "accept"}, {"action": "x"}, 3, None]


@pytest.mark.parametrize("answer", UNFIT)
def test_an_answer_that_does_not_fit_is_none(wire: Wire, answer: Any) -> None:
    """What the form refuses is asked again, as if nothing had been said, until something fits."""
    _, state = asked(ask(wire, "delete_posts", headers=bearer("bob")))
    again = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": answer})
    questions, state = asked(again)
    assert set(questions) == {"sure"}
    last = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": YES})
    assert done(last) == "Deleted 3 posts."


def test_a_yes_counts_for_the_very_question(wire: Wire, app: Flask, journal: Path) -> None:
    """Where what is asked about changed meanwhile, the question is another one, and is asked."""
    _, state = asked(ask(wire, "delete_posts", headers=bearer("bob")))
    app.extensions["posts"] = 300
    again = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": YES})
    questions, state = asked(again)
    assert questions["sure"]["params"]["message"] == "Delete 300 posts?"
    assert not any(line.startswith("deleted") for line in lines(journal))
    last = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": YES})
    assert done(last) == "Deleted 300 posts."


def test_an_answer_without_a_state_is_taken_as_it_is_asked_now(wire: Wire) -> None:
    """A client that knows the question may answer it in its first message."""
    assert done(ask(wire, "greet", inputResponses={"name": NAME, "age": AGE})) == "Hello, Ann, 7."


def test_an_answer_without_a_state_destroys_nothing(wire: Wire, journal: Path) -> None:
    """What is destructive wants an answer to the question that this server asked."""
    questions, _ = asked(ask(wire, "delete_posts", headers=bearer("bob"), inputResponses={"sure": YES}))
    assert set(questions) == {"sure"}
    assert not any(line.startswith("deleted") for line in lines(journal))


@pytest.mark.parametrize("place", [0, 10, -1])
def test_a_state_that_was_altered_is_refused(wire: Wire, place: int) -> None:
    """Nobody but the server writes a state."""
    _, state = asked(ask(wire, "greet"))
    letters = list(state)
    letters[place] = "A" if letters[place] != "A" else "B"
    assert "state" in refused(ask(wire, "greet", requestState="".join(letters), inputResponses={"name": NAME}))


@pytest.mark.parametrize("state", ["", "x", "a.b.c", 3, {}, [], True])
def test_what_is_no_state_is_refused(wire: Wire, state: Any) -> None:
    """A state of another kind is none of this server's."""
    assert "state" in refused(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))


@pytest.mark.parametrize("given", [[], "x", 3, True])
def test_answers_are_an_object(wire: Wire, given: Any) -> None:
    """Answers come by the keys of their questions."""
    assert "inputResponses" in refused(ask(wire, "greet", inputResponses=given))


def test_a_state_belongs_to_one_subject(wire: Wire) -> None:
    """What bob was asked, nobody else answers: no other user, and no guest."""
    _, state = asked(ask(wire, "greet", headers=bearer("bob")))
    for headers in (bearer("alice"), {}):
        refused(ask(wire, "greet", headers=headers, requestState=state, inputResponses={"name": NAME}))


def test_a_guests_state_is_no_users_whatever_they_are_called(wire: Wire, app: Flask) -> None:
    """A user whose id is the word None is not nobody."""
    users = app.extensions["test_users"]
    users["None"] = type(users["bob"])("None")
    _, state = asked(ask(wire, "greet"))
    refused(ask(wire, "greet", headers=bearer("None"), requestState=state, inputResponses={"name": NAME}))


def test_a_state_belongs_to_one_declaration(wire: Wire) -> None:
    """A yes to one tool is no yes to another, though they ask the same."""
    _, state = asked(ask(wire, "both"))
    refused(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))


def test_a_state_belongs_to_its_arguments(wire: Wire) -> None:
    """A call that asks for something else is another call; the order of its arguments is of no account."""
    _, state = asked(ask(wire, "greet", {"greeting": "Hi"}))
    refused(ask(wire, "greet", {"greeting": "Ho"}, requestState=state, inputResponses={"name": NAME}))
    refused(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))
    asked(ask(wire, "greet", {"greeting": "Hi"}, requestState=state, inputResponses={"name": NAME}))


def test_no_arguments_are_the_same_as_empty_ones(wire: Wire) -> None:
    """A client may leave out what is empty, in one round and not in the other."""
    _, state = asked(ask(wire, "greet"))
    params = {"name": "greet", "requestState": state, "inputResponses": {"name": NAME}}
    message = modern("tools/call", params, **{f"{META}clientCapabilities": {"elicitation": {}}})
    questions, _ = asked(wire.post(message, modern_headers(message)))
    assert set(questions) == {"age"}


def test_a_number_that_overflowed_is_a_fault_of_the_arguments(wire: Wire) -> None:
    """A state beside arguments that JSON cannot carry is compared all the same, and found to be another call's."""
    _, state = asked(ask(wire, "greet"))
    params = {"name": "greet", "arguments": {"greeting": 0.5}, "requestState": state}
    message = modern("tools/call", params, **{f"{META}clientCapabilities": {"elicitation": {}}})
    body = json.dumps(message).replace("0.5", "1e999")
    assert "state" in refused(wire.post(body, modern_headers(message)))


def test_a_state_ends(wire: Wire, app: Flask) -> None:
    """After MCP_ASK_TIMEOUT seconds it is too late to answer."""
    _, state = asked(ask(wire, "greet"))
    sealer = app.extensions["arandu_mcp"]["default"].host.sealer
    inside: Any = sealer.open(PURPOSE, state)
    assert 590 < inside["until"] - time.time() <= 600
    late = sealer.seal(PURPOSE, {**inside, "until": int(time.time()) - 1})
    assert "too old" in refused(ask(wire, "greet", requestState=late, inputResponses={"name": NAME}))


def test_a_state_is_no_session_and_a_session_no_state(wire: Wire, app: Flask) -> None:
    """What was signed for one purpose is worth nothing for another."""
    sealer = app.extensions["arandu_mcp"]["default"].host.sealer
    _, state = asked(ask(wire, "greet"))
    forged = sealer.seal("session", sealer.open(PURPOSE, state))
    refused(ask(wire, "greet", requestState=forged, inputResponses={"name": NAME}))


def test_a_key_may_be_changed_while_a_question_is_open(wire: Wire, app: Flask) -> None:
    """What the old key signed is read as long as it is among SECRET_KEY_FALLBACKS, and no longer."""
    _, state = asked(ask(wire, "greet"))
    app.config.update(SECRET_KEY="a new key", SECRET_KEY_FALLBACKS=["a key for the tests"])
    asked(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))
    app.config.update(SECRET_KEY_FALLBACKS=[])
    refused(ask(wire, "greet", requestState=state, inputResponses={"name": NAME}))


def test_an_app_without_a_key_asks_nobody(journal: Path) -> None:
    """Without a SECRET_KEY the handler is told why it cannot ask, and may go on."""
    wire = Wire(create_app({"JOURNAL": str(journal), "SECRET_KEY": None}))
    assert "SECRET_KEY" in done(ask(wire, "forgiving"))


CAPABILITIES: list[tuple[str, Any, Any]] = [
    ("both", {}, {"elicitation": {"form": {}}}),
    ("both", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
    ("page", {"elicitation": {}}, {"elicitation": {"url": {}}}),
    ("roots", {"elicitation": {}}, {"roots": {}}),
]


@pytest.mark.parametrize(("name", "declares", "needed"), CAPABILITIES)
def test_a_client_that_did_not_say_it_can_be_asked_is_told(wire: Wire, name: str, declares: Any, needed: Any) -> None:
    """The answer is -32021, with what the client must declare."""
    answer = ask(wire, name, asks=declares)
    assert answer.status_code == 400
    error = answer.get_json()["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": needed})


@pytest.mark.parametrize("declares", [{"elicitation": {}}, {"elicitation": {"form": {}}}])
def test_a_client_that_says_nothing_of_forms_draws_forms(wire: Wire, declares: Any) -> None:
    """Forms were first, and need not be named."""
    asked(ask(wire, "both", asks=declares))


def test_a_page_may_be_opened(wire: Wire) -> None:
    """For what must not pass through the client."""
    questions, state = asked(ask(wire, "page"))
    assert questions["pay"]["params"] == {"mode": "url", "message": "Please pay.", "url": "https://shop.example/pay"}
    assert done(ask(wire, "page", requestState=state, inputResponses={"pay": {"action": "accept"}})) == "accept"


def test_what_has_no_name_can_be_asked_too(wire: Wire) -> None:
    """A ClientRequest carries any method, and its answer is the client's result."""
    questions, state = asked(ask(wire, "roots"))
    assert questions["roots"] == {"method": "roots/list", "params": {}}
    given = {"roots": {"roots": [{"uri": "file:///home"}]}}
    answer = ask(wire, "roots", requestState=state, inputResponses=given).get_json()["result"]
    assert answer["structuredContent"] == ["file:///home"]


@pytest.mark.parametrize(
    ("method", "params"), [("resources/read", {"uri": "talk://greeting"}), ("prompts/get", {"name": "interview"})]
)
def test_resources_and_prompts_may_ask(wire: Wire, method: str, params: Mapping[str, Any]) -> None:
    """Whatever is declared may ask, and answers in its own shape when it was answered."""
    able: dict[str, Any] = {f"{META}clientCapabilities": {"elicitation": {}}}
    message = modern(method, params, **able)
    questions, state = asked(wire.post(message, modern_headers(message)))
    assert set(questions) == {"name"}
    message = modern(method, {**params, "requestState": state, "inputResponses": {"name": NAME}}, **able)
    assert b"Ann" in wire.post(message, modern_headers(message)).data


def test_a_user_demoted_meanwhile_is_refused(wire: Wire, app: Flask, journal: Path) -> None:
    """The policy is asked in each round: who was let in to the question may be kept out of the rest."""
    _, state = asked(ask(wire, "delete_posts", headers=bearer("bob")))
    app.extensions["test_users"]["bob"].enabled = False
    answer = ask(wire, "delete_posts", headers=bearer("bob"), requestState=state, inputResponses={"sure": YES})
    assert "result" not in answer.get_json() or answer.get_json()["result"]["isError"]
    assert not any(line.startswith("deleted") for line in lines(journal))


def _demoting(app: Flask) -> Any:
    def allows(subject: Any) -> bool:
        return bool(next(app.extensions["visits"]) == 0)

    return allows


def test_a_question_is_rechecked_like_an_answer(journal: Path) -> None:
    """A question may hold what its subject may not see any more, so that it does not go out."""
    app = create_app({"JOURNAL": str(journal)}, access=lambda subject: True, recheck=True)
    prepared = app.extensions["arandu_mcp"]["default"].server.catalogue.tool("greet")
    app.extensions["visits"] = itertools.count()
    prepared.access = _demoting(app)
    answer = done(ask(Wire(app), "greet"))
    assert answer.startswith("403")
    assert "carried out" not in answer


def test_a_guard_sees_questions(journal: Path) -> None:
    """What a guard would change in a question does not go out, and what it lets be does."""

    def guard(request: Request, response: Response) -> Response | None:
        return Response.json([]) if "Who" in str(response.data) else None

    wire = Wire(create_app({"JOURNAL": str(journal)}, recheck=True, guard=guard))
    assert "may not be asked" in done(ask(wire, "greet"))
    asked(ask(wire, "page"))


@pytest.mark.parametrize("what", NONSENSE)
def test_what_a_handler_must_not_yield_is_its_mistake(wire: Wire, journal: Path, what: str) -> None:
    """The handler is told where it stands, the log says what is right, and the client learns no more than a ref."""
    answer = ask(wire, "nonsense", {"what": what}).get_json()["result"]
    assert answer["isError"]
    assert answer["content"][0]["text"].startswith("Internal error (ref ")
    assert "went on" not in lines(journal)


@pytest.mark.parametrize(("how", "ends"), [("no", True), ("swallow", True), ("yield", False), ("raise", False)])
def test_a_handler_that_does_not_end_is_ended(wire: Wire, journal: Path, how: str, ends: bool) -> None:
    """Whatever a handler does when it is closed, the question goes out, and its clean-up ran as far as it can."""
    asked(ask(wire, "stubborn", {"how": how}))
    assert "told to end" in lines(journal)
    assert ("ended" in lines(journal)) is ends


def test_a_key_is_text() -> None:
    """A key becomes a member's name in JSON, so that no other kind of key would come back."""
    for key in (3, None, "", ("a",)):
        with pytest.raises(TypeError, match="key"):
            Elicit(key, "Sure?", SURE)  # type: ignore[arg-type]  # what is refused is not of the type


def test_the_answers_of_a_test_are_given_by_key(app: Flask, journal: Path) -> None:
    """`answers=` gives a handler what a client would, through the form's own schema."""
    server = make_server()
    with app.test_request_context():
        answer = server.call(
            guest, "greet", answers={"name": NAME, "age": {"action": "accept", "content": {"age": "7"}}}
        )
        assert answer.text == "Hello, Ann, 7."
        with pytest.raises(LookupError, match="'age'"):
            server.call(guest, "greet", answers={"name": NAME})
        with pytest.raises(LookupError, match="'age'"):
            server.call(guest, "greet", answers={"name": NAME, "age": {"action": "accept", "content": {"age": "x"}}})
        assert server.call(guest, "forgiving", answers={"sure": {"error": "no"}}).text.startswith("Without asking")


def test_a_handler_is_tested_as_the_generator_that_it_is(app: Flask) -> None:
    """A decorated handler stays callable, and is played by hand."""
    with app.test_request_context():
        played = greet(Request(subject=guest), greeting="Hi")
        question = next(played)
    assert isinstance(question, Elicit)
    assert question.answer(NAME).content == {"name": "Ann"}
    with pytest.raises(Unfit):
        question.answer({"action": "accept", "content": {}})
