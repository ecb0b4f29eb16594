"""What a tool asks: at a terminal field by field, and elsewhere answered with the command."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flask_arandu_mcp.commands.fields import example

from .desk import create_app
from .running import Done, Terminal, invoke


def call(*args: str) -> Done:
    """Call a tool where there is no terminal."""
    result = invoke(create_app(), "call", *args)
    return Done(result.exit_code, result.stdout, result.stderr)


# ------------------------------------------------------------------------------------------------ with the command


@pytest.mark.parametrize(
    ("answers", "out"),
    [
        (['sure={"yes": true}', "really=accept"], "True, accept"),
        (['sure={"yes": false}', "really={}"], "False, accept"),
        (['sure={"yes": true}', "really=cancel"], "True, cancel"),
        (["sure=decline"], "The user said decline."),
        (["sure=cancel"], "The user said cancel."),
    ],
)
def test_answers_are_given_with_the_command(answers: list[str], out: str) -> None:
    """A question that was answered beforehand is not asked, in any of its rounds, also of what is destructive."""
    done = call("clear", *(f"--answer={answer}" for answer in answers))
    assert done == (0, f"{out}\n", "")


@pytest.mark.parametrize(
    ("tool", "given", "says"),
    [
        ("clear", [], ["sure: Clear the desk?", """Give the answers: --answer sure='{"yes": true}'"""]),
        ("clear", ['--answer=sure={"yes": true}'], ["really: Really?", "Give the answers: --answer really='{}'"]),
        ("pay", [], ["pay: Please pay.", "Give the answers: --answer pay='{}'"]),
        (
            "introduce",
            [],
            [
                "profile: Who are you?",
                '"age": 0, "share": 0.5, "color": "r", "tags": ["a"], "mail": "...", "happy": true',
            ],
        ),
    ],
)
def test_without_a_terminal_the_answers_to_give_are_named(tool: str, given: list[str], says: list[str]) -> None:
    """Nobody is there to be asked: the code is 2, nothing was done, and the message can be pasted."""
    done = call(tool, *given)
    assert (done.code, done.out) == (2, "")
    assert "the tool asks, and there is no terminal to ask at:" in done.err
    assert all(each in done.err for each in says), done.err


def test_an_answer_that_does_not_fit_is_told() -> None:
    """Every fault of the form is named, and a form that would fit."""
    done = call("introduce", '--answer=profile={"age": -1, "hue": 1}')
    assert (done.code, done.out) == (2, "")
    assert "--answer profile: it does not fit the question (" in done.err
    assert "name: Missing data for required field." in done.err
    assert "hue: Unknown field." in done.err
    assert "age: Must be greater than or equal to 0." in done.err


def test_an_answer_that_nobody_asked_for_is_told() -> None:
    """A key that is misspelt would otherwise go unnoticed."""
    done = call("whoami", "--answer=sure=accept")
    assert done.code == 0
    assert "--answer sure: the tool did not ask this: drop it, or mend the key." in done.err


def test_a_page_is_opened_or_not() -> None:
    """A question that is a page has no form: what the user did is the answer."""
    assert call("pay", "--answer=pay=accept").out == "accept\n"
    assert call("pay", "--answer=pay=decline").out == "decline\n"


@pytest.mark.parametrize(
    ("args", "out"),
    [
        (['--answer=model={"content": {"text": "Hello"}}'], "Hello\n"),
        (["--answer=model=decline"], "went on without: The user could not be asked: the user said decline.\n"),
        (
            [],
            "went on without: The user could not be asked: a terminal has no answer to 'sampling/createMessage': give "
            "it with --answer model=JSON.\n",
        ),
    ],
)
def test_what_a_terminal_is_not_can_be_given(args: list[str], out: str) -> None:
    """The client's own result is given as it is; a handler may go on without it."""
    assert call("sample", *args).out == out


# ------------------------------------------------------------------------------------------------ at a terminal


def test_a_form_is_asked_field_by_field() -> None:
    """Each field has its words, its type and its choices; what is left empty is not sent, and what is wrong is asked
    again, with what was given before as its default."""
    with Terminal("call", "introduce") as terminal:
        terminal.sees("Who are you?").sees("(!decline says no, !cancel leaves it)")
        terminal.sees("name (What to call you): ").types("").sees("name (What to call you): ").types("Ann")
        terminal.sees("age (optional): ").types("old").sees("'old' is no whole number: write one such as 3.").types(
            "-1"
        )
        terminal.sees("share (optional) [0.5]: ").types("much").sees(
            "'much' is no number: write one such as 2.5."
        ).types("2")
        terminal.sees("1  Red (r)").sees("2  Green (g)").sees("color (optional): ")
        terminal.types("blue").sees("'blue' is none of these: give a number from 1 to 2, or the words.").types("2")
        terminal.sees("1  a").sees("3  c").sees("tags [several, with commas] (optional): ").types("a, 3")
        terminal.sees("mail (An email address) (optional): ").types("")
        terminal.sees("happy [y/n] (optional) [y]: ").types("n")
        terminal.sees("- age: Must be greater than or equal to 0.")
        terminal.sees("name (What to call you) [Ann]: ").types("")
        terminal.sees("age (optional) [-1]: ").types("41")
        for shown in ("[2]: ", "[g]: ", "[a, c]: ", "(optional): ", "[n]: "):
            terminal.sees(shown).types("")
        code, out = terminal.ends()
    assert code == 0
    assert json.loads(out) == {
        "action": "accept",
        "name": "Ann",
        "age": 41,
        "share": 2.0,
        "color": "g",
        "tags": ["a", "c"],
        "happy": False,
    }


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_form_can_be_declined(action: str) -> None:
    """At any field."""
    with Terminal("call", "introduce") as terminal:
        terminal.sees("name (What to call you): ").types("Ann").sees("age (optional): ").types(f"!{action}")
        code, out = terminal.ends()
    assert (code, json.loads(out[out.index("{") :])) == (0, {"action": action})


def test_questions_are_asked_in_rounds() -> None:
    """A handler asks again with what it was answered; a question without a form is accepted by that very word."""
    with Terminal("call", "clear") as terminal:
        terminal.sees("Clear the desk?").sees("yes [y/n]: ").types("perhaps").sees("yes [y/n]: ").types("y")
        terminal.sees("Really?").sees("Your answer (accept, decline, cancel): ").types("accept")
        code, out = terminal.ends()
    assert (code, out.splitlines()[-1]) == (0, "True, accept")


def test_some_answers_are_given_and_some_asked() -> None:
    """What was given with the command is not asked for."""
    with Terminal("call", "clear", '--answer=sure={"yes": true}') as terminal:
        terminal.sees("Really?").sees("cancel): ").types("decline")
        code, out = terminal.ends()
    assert (code, out.splitlines()[-1]) == (0, "True, decline")


def test_a_page_is_shown_with_its_address() -> None:
    """The user opens it, or not, and says which."""
    with Terminal("call", "pay") as terminal:
        terminal.sees("Please pay.").sees("It is at https://desk.example/pay").sees("Your answer").types("accept")
        code, out = terminal.ends()
    assert (code, out.splitlines()[-1]) == (0, "accept")


def test_what_a_terminal_is_not_is_said() -> None:
    """A question to the client's model has no answer here, and the handler is told."""
    with Terminal("call", "sample") as terminal:
        terminal.sees("a terminal has no answer to 'sampling/createMessage': give it with --answer model=JSON.")
        code, out = terminal.ends()
    assert code == 0
    assert "went on without: The user could not be asked: a terminal has no answer" in out


def test_an_interrupt_ends_the_call() -> None:
    """Nothing is answered in the user's place: the code is click's own."""
    with Terminal("call", "clear") as terminal:
        terminal.sees("yes [y/n]: ").types("\x04")
        code, out = terminal.ends()
    assert code == 1
    assert "Aborted!" in out


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"type": "string"}, "..."),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "integer", "minimum": 3}, 3),
        ({"type": "number"}, 1),
        ({"type": "boolean"}, True),
        ({"type": "array", "items": {"anyOf": [{"const": "x", "title": "X"}]}}, ["x"]),
        ({"type": "string", "default": "d"}, "d"),
    ],
)
def test_an_example_is_what_a_field_takes(said: dict[str, Any], value: object) -> None:
    """What is shown to be pasted has the field's own type."""
    assert example(said) == value
