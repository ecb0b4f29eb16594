"""`flask mcp list`: all that a server offers, and what the assistant of one user sees of it."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_login import LoginManager, UserMixin

from flask_arandu_mcp import ArandoMCP, Response, Server, public, tool

from .desk import create_app
from .running import Terminal, found, invoke, mcp

GUESTS = ["whoami", "echo", "introduce", "clear", "pay", "sample", "show", "fail", "lamp_on"]


def names(result: Any, key: str = "tools") -> list[str]:
    return [item["name"] for item in found(result)[key]]


def test_a_tool_shows_that_it_asks_and_what_is_behind_it() -> None:
    """Where a tool asks first, the question stands there; where it is an endpoint's, its route."""
    lines = invoke(create_app(), "list").stdout.splitlines()
    at = lines.index("  shred  [signed_in, destructive, asks first]")
    assert lines[at + 1 : at + 4] == [
        "      Shreds one paper.",
        "      DELETE /papers/<int:id>  (shred)",
        "      asks: Shred paper {id}?",
    ]
    (entry,) = [item for item in found(invoke(create_app(), "list", "--json"))["tools"] if item["name"] == "shred"]
    assert (entry["route"], entry["confirm"]) == ("DELETE /papers/<int:id>  (shred)", "Shred paper {id}?")


@pytest.mark.parametrize(
    ("args", "more"),
    [
        (["--guest"], []),
        (["--as", "off"], []),
        (["--as", "ana"], ["work", "shred"]),
        (["--as", "ben"], ["work", "shred", "bens"]),
    ],
)
def test_it_shows_what_a_users_assistant_sees(args: list[str], more: list[str]) -> None:
    """Every list is what an assistant of that user is given, all of its pages, and concealed things are not in it."""
    result = invoke(create_app(), "list", "--json", *args)
    assert sorted(names(result)) == sorted(GUESTS + more)
    assert names(result, "resources") == ["pen"]
    assert names(result, "resourceTemplates") == (["drawer"] if more else [])
    assert names(result, "prompts") == (["tidy"] if more else [])
    assert found(result)["as"] == ("a guest" if args == ["--guest"] else args[1])


def test_the_screen_says_whose_view_it_is() -> None:
    """The policy's word stays, since it is the operator who looks."""
    lines = invoke(create_app(), "list", "--as", "ben").stdout.splitlines()
    assert lines[:2] == ["desk 1.0.0, served at /mcp", "as ben sees it"]
    assert "  bens  [only_ben]" in lines


def test_who_sees_nothing_is_told_so() -> None:
    """An empty list is one of policies, not of a server without declarations."""

    @tool(access=lambda subject: False)
    def closed(request: object) -> str:
        """Is closed to everybody."""
        return ""

    app = Flask("closed")
    ArandoMCP(app, Server("closed", tools=[closed]))
    out = invoke(app, "list", "--guest").stdout
    assert "It offers them nothing: every policy says no." in out
    assert "It offers nothing yet" not in out


def test_what_the_app_prints_is_not_in_the_list() -> None:
    """stdout is JSON alone, for whatever reads it."""

    def load(user_id: str) -> UserMixin:
        print("LOADED")
        return UserMixin()

    app = Flask("chatty")
    LoginManager(app).user_loader(load)
    ArandoMCP(app, Server("chatty"))
    result = invoke(app, "list", "--json", "--as", "ana")
    assert found(result)["as"] == "ana"
    assert "LOADED" in result.stderr


def test_what_the_app_refuses_is_told() -> None:
    """The app's before_request functions are asked for each list, as for an assistant's."""
    result = invoke(create_app(), "list", "--as", "banned")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "tools/list is refused to them: 403 Forbidden: the application refused this request." in result.stderr


def test_a_broken_policy_fails_the_list() -> None:
    """Half a list would look whole."""

    def broken(subject: object) -> bool:
        raise RuntimeError("broken")

    app = Flask("x")
    one = tool(access=broken, name="one", description="Does one thing.")(lambda request: "")
    ArandoMCP(app, Server("s", tools=[one]))
    result = invoke(app, "list", "--guest")
    assert result.exit_code == 1
    assert "tools/list is refused to them: Internal error (ref " in result.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--as", "eve"], "--as 'eve': the app's user_loader finds nobody by this id: give what the user's get_id()"),
        (["--as", "7"], "--as '7': the app's user_loader failed with RuntimeError: no database: give an id as"),
        (["--as", "ana", "--guest"], "`--as` and `--guest` name two who act: give one of them."),
    ],
)
@pytest.mark.parametrize("command", [["list"], ["call", "whoami"]])
def test_who_cannot_be_is_told(command: list[str], args: list[str], says: str) -> None:
    """Nobody is shown a guest's view by mistake: the code is 2, and nothing is on stdout."""
    result = invoke(create_app(), *command, *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in " ".join(result.stderr.split())


def test_a_user_who_is_switched_off_is_said_to_be() -> None:
    """It is a guest's view then, and whoever looks is told why."""
    result = invoke(create_app(), "list", "--as", "off")
    assert result.exit_code == 0
    assert "The user 'off' is switched off, and so acts as a guest." in result.stderr


@pytest.mark.parametrize("has_manager", [True, False])
def test_an_app_that_loads_nobody_by_id_says_so(has_manager: bool) -> None:
    """`--as` needs a user_loader, and `--guest` nothing."""
    app = Flask("x")
    if has_manager:
        LoginManager(app).request_loader(lambda request: None)
    ArandoMCP(app)
    result = invoke(app, "list", "--as", "ana")
    assert result.exit_code == 2
    assert "the app has no user_loader to load a user by: give its LoginManager one, or use --guest." in result.stderr
    assert invoke(app, "list", "--guest").exit_code == 0


def test_the_guard_decides_what_is_seen() -> None:
    """What a guard puts in the place of an entry is what an assistant sees, and so what is shown."""

    @tool(access=public, description="Tells of everything.")
    def told(request: object) -> str:
        return ""

    app = Flask("x")
    app.secret_key = "a key"
    server = Server("s", tools=[told], recheck=True, guard=lambda request, response: Response.json([]))
    ArandoMCP(app, server)
    assert names(invoke(app, "list", "--json")) == ["told"]
    assert names(invoke(app, "list", "--guest", "--json")) == []


def test_colours_are_for_terminals() -> None:
    """Headings stand out at a terminal, and a pipe gets text alone."""
    assert "\x1b" not in mcp("list").out
    with Terminal("list") as terminal:
        code, shown = terminal.ends()
    assert code == 0
    assert "\x1b[1mTools\x1b[0m" in shown
