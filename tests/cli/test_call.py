"""`flask mcp call`: a tool's answer on stdout, everything else on stderr, and a code that scripts can go by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from flask_arandu_mcp import ArandoMCP, Server

from .desk import create_app, whoami
from .running import Terminal, found, invoke, mcp


def call(*args: str, **options: Any) -> tuple[int, str, str]:
    result = invoke(create_app(), "call", *args, **options)
    return result.exit_code, result.stdout, result.stderr


def said(*args: str) -> Any:
    """The data that a tool answers."""
    code, out, err = call(*args)
    assert code == 0, err
    return json.loads(out)


# ------------------------------------------------------------------------------------------------ arguments


def test_arguments_are_typed_by_the_schema() -> None:
    """What is typed is text, and the tool gets what its schema says."""
    words = ["text=3", "count=3", "share=0.5", "sure=yes", "tags=a", "tags=b", "numbers=1", 'window={"first": 1}']
    assert said("echo", *words, "maybe=null", "any=[1]") == {
        "text": "3",
        "count": 3,
        "share": 0.5,
        "sure": True,
        "tags": ["a", "b"],
        "numbers": [1],
        "window": {"first": 1},
        "maybe": None,
        "any": [1],
    }


def test_arguments_come_from_a_file(tmp_path: Path) -> None:
    """Nested arguments are given as JSON, and the answer is JSON, too."""
    (tmp_path / "args.json").write_text('{"window": {"first": 1, "last": 2}, "text": "\\u00fc"}')
    code, out, _ = call("echo", "--json", str(tmp_path / "args.json"))
    assert code == 0
    assert json.loads(out)["structuredContent"] == {"window": {"first": 1, "last": 2}, "text": "ü"}
    assert out.isascii()


def test_arguments_come_from_stdin() -> None:
    """A dash is stdin, for what another program writes."""
    done = mcp("call", "echo", "--json", "-", stdin='{"count": 4}')
    assert (done.code, json.loads(done.out)["structuredContent"]) == (0, {"count": 4})


def test_the_last_word_json_asks_for_json() -> None:
    """Without a file, the arguments are those that were typed, and the answer is the result as a client gets it."""
    code, out, _ = call("echo", "count=4", "--json")
    assert code == 0
    assert json.loads(out) == {
        "content": [{"type": "text", "text": '{"count":4}'}],
        "structuredContent": {"count": 4},
    }


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["ecko"], "there is no tool 'ecko': did you mean 'echo'?"),
        (["zzz"], "there is no tool 'zzz': see `flask mcp list` for those that there are."),
        (["echo", "count=x"], "count: 'x' does not fit: write a whole number."),
        (["echo", "cuont=3"], "the tool has no argument 'cuont': write one of text, count,"),
        (["echo", "--json", "count=3"], "--json count=3: no arguments can be read there ([Errno 2]"),
        (
            ["echo", "count=3", "--json", "args.json"],
            "the arguments are in 'count=3' and in --json args.json",
        ),
        (
            ["echo", "--answer", "sure"],
            "--answer sure: it is no answer: give an object, such as sure='{",
        ),
        (["echo", "--answer", "sure=maybe"], "--answer sure=maybe: it is no answer"),
        (["echo", "--answer", "sure=[1]"], "--answer sure=[1]: it is no answer"),
        (["echo", "--answer", 'sure="foo"'], '--answer sure="foo": it is no answer'),
        (["echo", "--answer", "sure=" + "[" * 100_000], "it is no answer: give an object"),
        (["echo", "any=" + "[" * 100_000], "any: its lists and objects are too deep to be read: give flatter ones."),
        ([], "Missing argument 'TOOL'"),
    ],
)
def test_what_cannot_be_asked_is_told(args: list[str], says: str) -> None:
    """The code is 2, nothing was called, and the message names the culprit, the rule and the way out."""
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize(
    ("stdin", "says"),
    [
        ("[1]", "--json -: the arguments are an object, such as {}: write one."),
        ("{", "--json -: no arguments can be read there (Expecting property name"),
        ("[" * 100_000, "--json -: no arguments can be read there (maximum recursion depth exceeded"),
        ('{"any": NaN}', "the arguments cannot be sent: "),
        ('{"any": ' + "[" * 70 + "]" * 70 + "}", "the arguments cannot be sent: "),
    ],
)
def test_json_that_no_client_could_send_is_told(stdin: str, says: str) -> None:
    """What is read is held to what a transport takes."""
    code, out, err = call("echo", "--json", "-", input=stdin)
    assert (code, out) == (2, "")
    assert says in err


# ------------------------------------------------------------------------------------------------ who acts


@pytest.mark.parametrize(("args", "subject"), [(["--as", "ana"], "ana"), (["--guest"], None), (["--as", "off"], None)])
def test_a_call_is_a_users(args: list[str], subject: str | None) -> None:
    """The user is Flask-Login's, and the app's before_request functions have run."""
    assert said("whoami", *args) == {"subject": subject, "current": subject, "seen": "/mcp"}


def test_a_call_is_the_local_subjects_without_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who else is not said acts as an assistant on this machine does."""
    monkeypatch.setenv("DESK_LOCAL", "ben")
    assert said("whoami")["subject"] == "ben"
    assert call("bens")[:2] == (0, "for ben\n")


def test_a_call_needs_somebody() -> None:
    """Where nobody is declared, nobody acts; and the way out is named."""
    app = Flask("x")
    ArandoMCP(app, Server("x", tools=[whoami]))
    result = invoke(app, "call", "whoami")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "with @mcp.local_subject. Or say who acts, with --as USER or --guest." in result.stderr


def test_an_endpoints_tool_acts_as_the_user() -> None:
    """The inner request has the same user, loaded anew."""
    assert said("shred", "id=4", "--as", "ana", '--answer=confirm={"yes": true}') == {"shredded": 4, "by": "ana"}


# ------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["fail"], "Error: The drawer is stuck."),
        (["bens", "--as", "ana"], "Error: 403 Forbidden: you may not use this."),
        (["work", "--guest"], "Error: 403 Forbidden: sign in to use this."),
        (["echo", "count=10"], "Error: Invalid arguments:\n- count: "),
        (["whoami", "--as", "banned"], "Error: 403 Forbidden: the application refused this request."),
    ],
)
def test_an_error_is_told_on_stderr(args: list[str], says: str) -> None:
    """The code is 1, in the words that the model would read; with --json the result is on stdout all the same."""
    code, out, err = call(*args)
    assert (code, out) == (1, "")
    assert says in err
    code, out, err = call(*args, "--json")
    assert code == 1
    assert {"isError", "error"} & set(json.loads(out))
    assert says in err


def test_a_concealed_tool_is_told_of_to_the_operator() -> None:
    """The assistant is told that there is none; whoever is at the terminal has declared it, and is told why."""
    code, out, err = call("secret")
    assert (code, out) == (1, "")
    assert "Error: Unknown tool: 'secret'." in err
    assert "There is such a tool: its policy conceals it" in err


# ------------------------------------------------------------------------------------------------ what is shown


def test_stdout_is_the_answer_alone() -> None:
    """Neither what the app prints while it is imported nor what a handler prints is in it."""
    done = mcp("call", "echo", "count=1")
    assert json.loads(done.out) == {"count": 1}
    assert done.err == "a print of the handler's\n"


def test_every_kind_of_content_is_shown() -> None:
    """Text is text as it was sent to a pipe, and what is none is named."""
    lines = call("show")[1].splitlines()
    assert lines == ["plain \x1b[31mred", "[image: image/png, 4 bytes]", "[pen: desk://pen]", "a pen"]


def test_a_terminal_is_not_steered_by_an_answer() -> None:
    """What would colour the terminal, or move its cursor, is spelt out there."""
    with Terminal("call", "show") as terminal:
        code, shown = terminal.ends()
    assert code == 0
    assert "plain \\x1b[31mred\n" in shown


def test_progress_is_lines_where_no_terminal_is() -> None:
    """A log gets a line for each step, and what the handler logs to its client is among them."""
    code, out, err = call("work", "--as", "ana")
    assert (code, out) == (0, "3 steps\n")
    assert err.splitlines() == ["1/3  step 1", "2/3  step 2", "3/3  step 3", "[info] all steps are taken"]
    assert call("work", "known=no", "--as", "ana")[2].splitlines()[:2] == ["1  step 1", "2  step 2"]


def test_progress_is_a_bar_at_a_terminal() -> None:
    """The bar is full in the end, and the answer has lines of its own."""
    with Terminal("call", "work", "--as", "ana") as terminal:
        terminal.sees("step 1  [####").sees(" 33%").sees("step 3  [####################################]  100%")
        terminal.sees("\n\x1b[2m[info] all steps are taken")
        code, shown = terminal.ends()
    assert (code, shown.splitlines()[-1]) == (0, "3 steps")


def test_progress_without_an_end_is_told_at_a_terminal() -> None:
    """Where nobody knows how much there is to do, how far it is stands beside the bar."""
    with Terminal("call", "work", "known=no", "--as", "ana") as terminal:
        terminal.sees("1  step 1").sees("3  step 3")
        assert terminal.ends()[0] == 0


def test_what_only_another_server_has_is_found_by_its_name() -> None:
    """`--server` chooses among several."""
    app = create_app()
    ArandoMCP(app, name="empty", url="/empty")
    assert found(invoke(app, "call", "whoami", "--guest", "--json"))["structuredContent"]["seen"] == "/mcp"
    assert "there is no tool 'whoami'" in invoke(app, "call", "whoami", "--server", "empty").stderr
