"""A role or a permission of Flask-Security decides what its users may reach, for the subject that is asked."""

# pyright: reportIncompatibleVariableOverride=false
# The library's mixins declare plain attributes, which mapped ones take the place of.

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask_principal import Permission, RoleNeed
from flask_security import AsaList, RoleMixin, Security, SQLAlchemyUserDatastore, UserMixin
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import Column, ForeignKey, Table
from sqlalchemy.ext.mutable import MutableList
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from flask_arandu_mcp import ArandoMCP, Request, Server, authorize, guest, signed_in, tool
from flask_arandu_mcp.ext.principal import permitted
from flask_arandu_mcp.ext.security import has_permission, has_role
from flask_arandu_mcp.ext.sqlalchemy import require_grant
from flask_arandu_mcp.testing import MCPClient

from ..wire import Wire


class Base(DeclarativeBase):
    """The base of the models."""


db = SQLAlchemy(model_class=Base)
given = Table(
    "given", Base.metadata, Column("user_id", ForeignKey("user.id")), Column("role_id", ForeignKey("role.id"))
)


class Role(Base, RoleMixin):
    """A role, with its permissions."""

    __tablename__ = "role"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    permissions: Mapped[list[str] | None] = mapped_column(MutableList.as_mutable(AsaList()))


class User(Base, UserMixin):
    """A user, with their roles."""

    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    email: Mapped[str]
    password: Mapped[str | None]
    active: Mapped[bool] = mapped_column(default=True)
    fs_uniquifier: Mapped[str]
    roles: Mapped[list[Role]] = relationship(secondary=given)  # type: ignore[assignment]  # a list[RoleMixin] above


def give(name: str, access: Any) -> Any:
    return tool(name=name, description="Is for some.", access=access)(lambda request: f"{name}: done")


TOOLS = [
    give("edit", has_role("editor")),
    give("write", has_permission("posts-write")),
    give("moderate", permitted(Permission(RoleNeed("editor")))),
    give("look", signed_in),
]


@tool(access=signed_in)
def edit_as_ana(request: Request) -> str:
    """Calls the server for another user."""
    authorize(signed_in, request.subject, "act for others")
    ana = db.session.query(User).filter_by(email="ana@example.org").one()
    return SERVER.call(ana, "edit").text


SERVER = Server(name="blog", tools=[*TOOLS, edit_as_ana])
STRICT = Server(name="blog", tools=TOOLS, recheck=True)
ROLES = {
    "eda": {"look", "edit", "write", "moderate"},
    "ana": {"look", "write"},
    "ben": {"look"},
}


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    app = Flask(__name__)
    app.config.update(
        SECRET_KEY="a key for the tests",
        SECURITY_PASSWORD_SALT="salt",
        SECURITY_TOKEN_AUTHENTICATION_HEADER="Authorization",
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path / 'users.sqlite'}",
    )
    db.init_app(app)
    users = SQLAlchemyUserDatastore(db, User, Role)
    app.extensions["users"] = users
    Security(app, users)
    ArandoMCP(app, SERVER)
    ArandoMCP(app, STRICT, name="strict", url="/mcp/strict")
    with app.app_context():
        Base.metadata.create_all(db.engine)
        writer = users.create_role(name="writer", permissions={"posts-write", "posts-read"})
        editor = users.create_role(name="editor", permissions={"posts-write"})
        for name, roles in (("eda", [editor]), ("ana", [writer]), ("ben", [])):
            users.create_user(email=f"{name}@example.org", password="x", roles=roles)
        db.session.commit()
        require_grant(db.engine)
    yield app
    with app.app_context():
        db.engine.dispose()


def user(name: str) -> Any:
    return db.session.query(User).filter_by(email=f"{name}@example.org").one()


def token_of(app: Flask, name: str) -> dict[str, str]:
    with app.app_context():
        return {"Authorization": user(name).get_auth_token()}


def listed(wire: Wire, headers: dict[str, str]) -> set[str]:
    return {entry["name"] for entry in wire.call("tools/list", None, headers)["tools"]} - {"edit_as_ana"}


def called(wire: Wire, name: str, headers: dict[str, str]) -> Any:
    return wire.call("tools/call", {"name": name, "arguments": {}}, headers)["content"][0]["text"]


@pytest.mark.parametrize("name", ROLES)
def test_a_test_acts_as_a_user_of_flask_security(app: Flask, name: str) -> None:
    """A session that is made for a test is one of Flask-Security's users, with their roles."""
    with app.app_context():
        client = MCPClient(app).acting_as(user(name))
    assert set(client.tools().names) == ROLES[name] | {"edit_as_ana"}
    client.call("look").assert_ok()


@pytest.mark.parametrize("url", ["/mcp", "/mcp/strict"])
@pytest.mark.parametrize("name", ROLES)
def test_roles_and_permissions_decide_what_is_listed_and_called(app: Flask, name: str, url: str) -> None:
    """What a role allows is listed and answers; the rest is hidden, and refused by name; no policy needs a Grant."""
    wire, headers = Wire(app, url), token_of(app, name)
    assert listed(wire, headers) == ROLES[name]
    for tool_name in ("look", "edit", "write", "moderate"):
        told = called(wire, tool_name, headers)
        assert told == (f"{tool_name}: done" if tool_name in ROLES[name] else "403 Forbidden: you may not use this.")


def test_a_guest_has_neither_roles_nor_permissions(app: Flask) -> None:
    """Flask-Security's anonymous user, and anybody else who is not signed in, is let in nowhere."""
    assert listed(Wire(app), {}) == set()
    for tool_name in ("edit", "write"):
        assert called(Wire(app), tool_name, {}) == "403 Forbidden: you may not use this."
        assert SERVER.call(guest, tool_name).text == "403 Forbidden: you may not use this."


def test_a_role_counts_as_long_as_it_is_given(app: Flask) -> None:
    """Who loses a role loses what it allowed with the next message; who is deactivated loses everything."""
    wire, headers = Wire(app), token_of(app, "eda")
    with app.app_context():
        app.extensions["users"].remove_role_from_user(user("eda"), "editor")
        db.session.commit()
    assert listed(wire, headers) == {"look"}
    with app.app_context():
        eda = user("eda")
        app.extensions["users"].add_role_to_user(eda, "editor")
        app.extensions["users"].deactivate_user(eda)
        db.session.commit()
        assert SERVER.call(user("eda"), "edit").is_error


def test_the_subject_is_asked_and_not_the_current_user(app: Flask) -> None:
    """An editor's request that calls the server for somebody else does not lend them the role."""
    assert called(Wire(app), "edit_as_ana", token_of(app, "eda")) == "403 Forbidden: you may not use this."
    with app.app_context():
        assert SERVER.call(user("eda"), "edit").text == "edit: done"
        assert SERVER.call(user("ana"), "edit").text == "403 Forbidden: you may not use this."


def test_the_words_in_a_list_are_the_roles() -> None:
    """`flask mcp list` says what is needed."""
    described: Any = SERVER.describe()["tools"]
    words = {entry["name"]: entry["access"] for entry in described}
    assert words["edit"] == "has_role('editor')"
    assert words["write"] == "has_permission('posts-write')"
