"""`flask mcp check`: mistakes and advice, and the code that CI goes by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask_login import LoginManager
from marshmallow import fields

from flask_arandu_mcp import ArandoMCP, Elicit, Server, endpoint_tool, public, signed_in, tool

from .. import app as shop
from .. import talk
from ..clients import app as clients
from ..conformance.app import create_app as create_conformance
from .running import flask, found, invoke

BROKEN = """
from flask import Flask
from flask_arandu_mcp import ArandoMCP, Server, tool
print("IMPORTED")
app = Flask(__name__)
ArandoMCP(app, Server("", tools=[tool(lambda request: "")]))
"""


@tool(access=public, arguments={"value": fields.Raw()})
def take(request: object, value: Any = None) -> str:
    """Takes whatever comes."""
    return ""


@tool(access=public)
def wait(request: object) -> str:
    """Waits."""
    return ""


def app_of(*tools: Any, **options: Any) -> Flask:
    app = Flask("x")
    ArandoMCP(app, Server("desk", tools=list(tools), **options))
    return app


# ------------------------------------------------------------------------------------------------ what must be clean


def test_the_example_is_clean() -> None:
    """Both of its servers, as `flask` finds them."""
    done = flask("--app", "example", "mcp", "check", "--strict")
    assert done.code == 0, done.out
    assert [line for line in done.out.splitlines() if line.startswith("  ")] == [
        "  No mistakes, and nothing to advise.",
        "  No mistakes, and nothing to advise.",
    ]


@pytest.mark.parametrize(
    ("create", "ignored"),
    [
        (talk.create_app, ()),
        (clients.create_app, ()),
        # It takes any JSON there is, to be sent back.
        (shop.create_app, ("echo:untyped",)),
        # The suite wants these names, and this very schema.
        (
            create_conformance,
            (
                "json_schema_2020_12_tool:root-combinator",
                "json_schema_2020_12_tool:reference",
                "test_logging_tool:similar-names",
            ),
        ),
    ],
)
def test_the_servers_of_the_tests_are_clean(
    monkeypatch: pytest.MonkeyPatch, create: Any, ignored: tuple[str, ...]
) -> None:
    """What is told of them is mended, or stands here with the reason why it cannot be."""
    monkeypatch.setenv("CLIENTS_JOURNAL", "journal")
    result = invoke(create(), "check", "--strict", *(f"--ignore={each}" for each in ignored))
    assert result.exit_code == 0, result.stdout


# ------------------------------------------------------------------------------------------------ mistakes


def test_mistakes_of_the_boot_are_listed(tmp_path: Any) -> None:
    """An app that cannot be made for its declarations is told what is wrong with them, without a traceback."""
    (tmp_path / "app.py").write_text(BROKEN)
    done = flask("mcp", "check", cwd=tmp_path)
    assert done.code == 1
    assert "  fault   the server has no name: give it one, Server(name=...)." in done.out
    assert "  fault   tool '<lambda>'" in done.out
    assert (done.out.count("IMPORTED"), done.err) == (1, "")


def test_an_app_that_fails_otherwise_is_told_as_ever(tmp_path: Any) -> None:
    """A traceback is what helps there."""
    (tmp_path / "app.py").write_text("raise RuntimeError('broken')")
    done = flask("mcp", "check", cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert "RuntimeError: broken" in done.err


def test_mistakes_of_the_finished_app_are_listed() -> None:
    """What only the finished app shows, of each of its servers; the other one is advised on."""
    app = app_of(endpoint_tool("nothing", access=public))
    ArandoMCP(app, Server("two", tools=[wait]), name="two", url="/two")
    result = invoke(app, "check", "--json")
    assert result.exit_code == 1
    one, two = found(result)["servers"]
    assert (one["server"], one["advice"]) == ("desk", [])
    assert "endpoint 'nothing': the app has no such endpoint" in one["faults"][0]
    assert (two["server"], two["faults"], [each["rule"] for each in two["advice"]]) == (
        "two",
        [],
        ["short-description"],
    )
    assert invoke(app, "check", "--server", "two").exit_code == 0


def test_a_login_manager_without_loaders_is_a_mistake() -> None:
    """As every command says it."""
    app = app_of(take)
    LoginManager(app)
    result = invoke(app, "check")
    assert result.exit_code == 1
    assert "the app's LoginManager can load nobody" in result.stdout


# ------------------------------------------------------------------------------------------------ advice


def test_advice_alone_is_no_failure() -> None:
    """It names the culprit, the rule and the way out; with --strict it counts."""
    result = invoke(app_of(take, wait), "check")
    assert result.exit_code == 0
    head, *lines = result.stdout.splitlines()
    assert head.startswith("desk, served at /mcp: 2 tools, about ")
    assert lines == [
        "  advice  tool 'take' says no type at argument 'value', which clients of Gemini refuse: take a field that has "
        "one, in place of Raw.  [untyped]",
        "  advice  tool 'wait' is described as 'Waits.', by which nobody can choose it: say in 3 words or more what it "
        "does, to what, and when to use it.  [short-description]",
    ]
    assert invoke(app_of(take, wait), "check", "--strict").exit_code == 1


def test_json() -> None:
    """All of it is there as JSON, with the answer to whether it is well."""
    result = invoke(app_of(wait), "check", "--json")
    checked = found(result)
    assert checked["ok"] is True
    (server,) = checked["servers"]
    assert (server["server"], server["url"], server["tools"], server["faults"]) == ("desk", "/mcp", 1, [])
    assert server["tokens"] > 10
    (advice,) = server["advice"]
    assert (advice["culprit"], advice["rule"]) == ("tool 'wait'", "short-description")
    assert found(invoke(app_of(wait), "check", "--json", "--strict"))["ok"] is False


@pytest.mark.parametrize(
    ("ignored", "code"),
    [
        (["untyped", "short-description"], 0),
        (["take:untyped", "wait:short-description"], 0),
        (["untyped"], 1),
        (["wait:untyped", "short-description"], 1),
    ],
)
def test_advice_can_be_ignored(ignored: list[str], code: int) -> None:
    """A rule, or a rule for one tool; the rest counts."""
    args = [f"--ignore={each}" for each in ignored]
    assert invoke(app_of(take, wait), "check", "--strict", *args).exit_code == code


def test_what_ignores_nothing_is_told() -> None:
    """Else it would hide what comes later."""
    result = invoke(app_of(take), "check", "--strict", "--ignore=untyped", "--ignore=wait:untyped")
    assert result.exit_code == 1
    assert "advice  --ignore wait:untyped leaves nothing out any more: drop it.  [idle-ignore]" in result.stdout


def test_what_is_ignored_may_stand_in_the_environment() -> None:
    """So that it can be kept with the app."""
    env = {"FLASK_MCP_CHECK_IGNORE": "untyped wait:short-description"}
    assert invoke(app_of(take, wait), "check", "--strict", env=env).exit_code == 0


@pytest.mark.parametrize(("most", "rules"), [("10", ["long-list"]), ("1000", [])])
def test_the_length_of_the_list_is_a_choice(most: str, rules: list[str]) -> None:
    """How many tokens a list may have depends on who it is for."""
    (server,) = found(invoke(app_of(take), "check", "--json", "--ignore=untyped", f"--max-tokens={most}"))["servers"]
    assert [advice["rule"] for advice in server["advice"]] == rules


def test_the_servers_name_counts() -> None:
    """Clients put it before the tool's."""
    long = tool(access=public, name="a" * 40, description="Has a long name.")(lambda request: "")
    app = Flask("x")
    ArandoMCP(app, Server("a server of a name that is long", tools=[long]))
    assert "give one of them a shorter one.  [long-name]" in invoke(app, "check").stdout


def test_an_empty_server_is_no_mistake() -> None:
    """It may be the first thing that an app has; what to write next is advice."""
    found = invoke(app_of(), "check")
    assert found.exit_code == 0
    assert "the server 'desk' offers nothing: declare a tool" in found.stdout


@tool(access=signed_in)
def mine(request: object) -> str:
    """Answers whoever is signed in."""
    return ""


@tool(access=public)
def chatty(request: object) -> Iterator[Any]:
    """Asks whether it may go on."""
    yield Elicit("sure", "Sure?", {"yes": fields.Boolean(required=True)})


def test_what_is_around_a_server_is_advised_on() -> None:
    """An app in which nobody can sign in, or whose tools ask and cannot, boots; it is told what it lacks."""
    advised = invoke(app_of(mine, chatty), "check", "--strict")
    assert advised.exit_code == 1
    assert "the app 'x' has no LoginManager" in advised.stdout
    assert (
        "the app 'x' has no SECRET_KEY, without which nobody can be asked over HTTP, as 'chatty' may do"
        in advised.stdout
    )
    ready = app_of(mine, chatty)
    ready.secret_key = "a key"
    LoginManager(ready).user_loader(lambda id: None)
    assert invoke(ready, "check", "--strict").exit_code == 0
