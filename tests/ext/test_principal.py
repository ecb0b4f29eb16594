"""A permission of Flask-Principal decides as it does in the app's own views, for the subject that is asked."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, current_app
from flask_login import current_user
from flask_principal import Denial, Identity, Need, Permission, Principal, RoleNeed, UserNeed, identity_loaded

from flask_arandu_mcp import ProtocolError, Request, Server, guest, public, resource, tool
from flask_arandu_mcp.ext.principal import permitted

from ..app import create_app
from ..wire import Wire, bearer

ADMIN = Permission(RoleNeed("admin"))


@tool(access=permitted(ADMIN))
def purge(request: Request) -> str:
    """For admins."""
    return "purged"


@tool(access=permitted(Permission(UserNeed("alice"), RoleNeed("admin"))))
def write(request: Request) -> str:
    """For Alice and for admins."""
    return "written"


@tool(access=permitted(Denial(RoleNeed("admin"))))
def play(request: Request) -> str:
    """For everybody but admins."""
    return "played"


@tool(access=permitted(Permission(Need("known as", "Bob")), identity=lambda user: Identity(user.id.capitalize())))
def greet(request: Request) -> str:
    """For whom the app knows as Bob."""
    return "greeted"


@tool(access=public)
def purge_as_bob(request: Request) -> str:
    """Calls the server for another user."""
    answer = SERVER.call(current_app.extensions["test_users"]["bob"], "purge")
    return f"{answer.text} / {current_user.get_id()}"


@resource("shop://secrets", access=permitted(ADMIN))
def secrets(request: Request) -> str:
    """For admins."""
    return "secret"


SERVER = Server(name="shop", tools=[purge, write, play, greet, purge_as_bob], resources=[secrets], recheck=True)


@pytest.fixture
def app() -> Flask:
    app = create_app(server=SERVER)
    principal = Principal(app, use_sessions=False)

    @principal.identity_loader  # type: ignore[untyped-decorator]  # Flask-Principal ships no types
    def load() -> Identity | None:
        return Identity(current_user.get_id()) if current_user.is_authenticated else None

    @identity_loaded.connect_via(app)  # type: ignore[untyped-decorator]
    def provide(sender: Flask, identity: Any) -> None:
        # As its documentation has it: from the current user.
        identity.provides.add(UserNeed(current_user.id))
        identity.provides.add(Need("known as", identity.id))
        if current_user.admin:
            identity.provides.add(RoleNeed("admin"))

    app.add_url_rule("/purge", view_func=ADMIN.require(403)(lambda: "purged"))
    app.extensions["provide"] = provide  # which signals hold weakly
    return app


def listed(wire: Wire, headers: dict[str, str]) -> set[str]:
    return {entry["name"] for entry in wire.call("tools/list", None, headers)["tools"]}


def called(wire: Wire, name: str, headers: dict[str, str]) -> Any:
    return wire.call("tools/call", {"name": name, "arguments": {}}, headers)["content"][0]["text"]


@pytest.mark.parametrize(
    ("name", "may"),
    [("root", {"purge", "write"}), ("alice", {"write", "play"}), ("bob", {"play", "greet"}), ("", {"play"})],
)
def test_a_permission_decides_what_is_listed_and_called(app: Flask, name: str, may: set[str]) -> None:
    """What a permission allows is listed and answers; the rest is hidden, and refused when it is called by name."""
    wire, headers = Wire(app), bearer(name) if name else {}
    assert listed(wire, headers) == may | {"purge_as_bob"}
    for tool_name in ("purge", "write", "play", "greet"):
        told = called(wire, tool_name, headers)
        assert told == "403 Forbidden: you may not use this." if tool_name not in may else "403" not in told


@pytest.mark.parametrize(("name", "status"), [("root", 200), ("alice", 403)])
def test_it_decides_as_in_a_view(app: Flask, name: str, status: int) -> None:
    """The same permission on a view and on a resource lets in the same users."""
    wire = Wire(app)
    assert wire.client.get("/purge", headers=bearer(name)).status_code == status
    answer = wire.modern("resources/read", {"uri": "shop://secrets"}, **bearer(name)).get_json()
    assert ("result" in answer) is (status == 200)


def test_the_needs_are_those_of_the_subject(app: Flask) -> None:
    """An admin's request that calls the server for somebody else lends them nothing, and goes on as the admin's."""
    assert called(Wire(app), "purge_as_bob", bearer("root")) == "403 Forbidden: you may not use this. / root"


def test_a_demotion_counts_at_once(app: Flask) -> None:
    """Needs are asked for anew each time, for a list as for a call."""
    wire = Wire(app)
    assert "purge" in listed(wire, bearer("root"))
    app.extensions["test_users"]["root"].admin = False
    assert "purge" not in listed(wire, bearer("root"))
    assert called(wire, "purge", bearer("root")) == "403 Forbidden: you may not use this."


def test_without_an_app_nobody_is_let_in() -> None:
    """Where no app says what a user may, a permission that needs something lets nobody in."""
    assert SERVER.call(guest, "purge").is_error
    with pytest.raises(ProtocolError) as refused:
        SERVER.read(guest, "shop://secrets")
    assert refused.value.code == 403


def test_the_word_in_a_list_is_the_permission() -> None:
    """`flask mcp list` says what is needed."""
    described: Any = SERVER.describe()["tools"]
    words = {entry["name"]: entry["access"] for entry in described}
    assert words["purge"] == "permitted(role admin)"
    assert words["write"] == "permitted(id alice, role admin)"
    assert words["play"] == "permitted(not role admin)"
