"""A small app that the tests drive: users, policies, and declarations that each show one thing."""

from __future__ import annotations

import time
from typing import Any

from flask import Flask, g, session
from flask.wrappers import Request as FlaskRequest
from flask_login import LoginManager, UserMixin, current_user, login_user
from marshmallow import fields
from marshmallow.validate import Length, OneOf, Range
from werkzeug.exceptions import Forbidden, NotFound

from flask_arandu_mcp import (
    ArandoMCP,
    Message,
    Request,
    Response,
    Server,
    Tool,
    ToolError,
    guest,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)


class User(UserMixin):
    """A user that a test can demote, disable or delete."""

    def __init__(self, id: str, *, admin: bool = False) -> None:
        self.id = id
        self.admin = admin
        self.enabled = True

    @property
    def is_active(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # seen as always True
        return self.enabled


class Users(dict[str, User]):
    """The users of one app, by id; a bearer token is `token-` and the id."""

    def by_token(self, request: FlaskRequest) -> User | None:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        return self.get(token.removeprefix("token-")) if scheme.lower() == "bearer" else None


def is_admin(subject: Any) -> bool:
    return bool(getattr(subject, "admin", False))


def hidden(subject: Any) -> bool:
    if not is_admin(subject):
        raise NotFound
    return True


def forbidden(subject: Any) -> bool:
    if not is_admin(subject):
        raise Forbidden("Ask an admin.")
    return True


def broken(subject: Any) -> bool:
    raise RuntimeError("the policy's secret")


class Add(Tool):
    """Adds two numbers."""

    name = "add"
    access = public
    arguments = {"a": fields.Integer(required=True), "b": fields.Integer(required=True)}
    read_only = True

    def handle(self, request: Request, a: int, b: int) -> dict[str, int]:
        return {"sum": a + b}


@tool(access=public)
def no_args(request: Request) -> str:
    """Takes no arguments at all."""
    return "nothing taken"


@tool(access=public, arguments={"seconds": fields.Float(load_default=0.0)})
def wait(request: Request, seconds: float) -> str:
    """Waits before it answers."""
    time.sleep(seconds)
    return "waited"


@tool(access=public, arguments={"value": fields.Raw(required=True, allow_none=True)})
def echo(request: Request, value: Any) -> Response:
    """Gives back what it is given."""
    return Response.json({"value": value})


@tool(access=public)
def whoami(request: Request) -> dict[str, Any]:
    """Says who asks."""
    return {
        "subject": request.subject.get_id(),
        "same": request.subject is current_user._get_current_object(),
        "seen": g.get("who"),
        "revision": request.revision,
        "client": request.client.get("name"),
    }


@tool(access=signed_in, arguments={"id": fields.Integer(required=True)}, destructive=True)
def delete_user(request: Request, id: int) -> str:
    """Deletes a user for good."""
    calls.append(f"delete_user {id}")
    return "deleted"


@tool(access=hidden, arguments={"key": fields.String(required=True)})
def admin_hidden(request: Request, key: str) -> str:
    """Only admins know of it."""
    calls.append("admin_hidden")
    return "hidden done"


@tool(access=forbidden, arguments={"key": fields.String(required=True)})
def admin_forbidden(request: Request, key: str) -> str:
    """Refuses all but admins, in words of its own."""
    calls.append("admin_forbidden")
    return "forbidden done"


@tool(access=is_admin, arguments={"key": fields.String(required=True)})
def admin_false(request: Request, key: str) -> str:
    """Says no to all but admins."""
    calls.append("admin_false")
    return "false done"


@tool(
    access=public,
    arguments={
        "status": fields.String(validate=OneOf(["open", "closed"])),
        "limit": fields.Integer(load_default=20, validate=Range(1, 100)),
        "tag": fields.String(validate=Length(1, 10)),
    },
)
def search(request: Request, limit: int, status: str | None = None, tag: str | None = None) -> list[str]:
    """Searches by status and tag."""
    return [f"{status}-{tag}"] * limit


@tool(access=public, arguments={"how": fields.String(required=True)})
def fail(request: Request, how: str) -> str:
    """Fails in the way that it is told."""
    errors = {
        "tool": ToolError("quantity must be > 0"),
        "notfound": NotFound("Order 7 not found"),
        "forbidden": Forbidden("Not yours."),
        "crash": RuntimeError("the handler's secret"),
    }
    raise errors[how]


@tool(access=public)
async def later(request: Request) -> str:
    """Answers once it was awaited."""
    return "awaited"


@resource("shop://about", access=public)
def about(request: Request) -> str:
    """What this is."""
    return "A shop."


@resource("shop://items/{name}", access=public, mime_type="text/markdown")
def item(request: Request, name: str) -> str:
    """One item, by its name."""
    if name == "missing":
        raise NotFound("No such item.")
    if name == "crash":
        raise RuntimeError("the resource's secret")
    return f"# {name}"


@item.completes("name")
def item_names(request: Request, value: str) -> list[str]:
    return [name for name in ("apple", "apricot", "pear") if name.startswith(value)]


@resource("shop://ledger", access=forbidden)
def ledger(request: Request) -> dict[str, int]:
    """The balance, for admins."""
    calls.append("ledger")
    return {"balance": 3}


@prompt(access=public, arguments={"topic": fields.String(required=True, metadata={"description": "What about"})})
def outline(request: Request, topic: str) -> list[Message]:
    """Outlines a text."""
    return [Message.user(f"Outline {topic}."), Message.assistant("Here:")]


@prompt(access=hidden)
def secret_prompt(request: Request) -> str:
    """A prompt for admins."""
    calls.append("secret_prompt")
    return "secret"


calls: list[str] = []
"""What the handlers that must not run unseen have done."""

TOOLS: list[Tool] = [
    Add(), no_args, wait, echo, whoami, delete_user, admin_hidden, admin_forbidden, admin_false, search, fail, later,
]  # fmt: skip


def make_server() -> Server:
    """A server with all of these declarations."""
    return Server(
        name="shop",
        version="1.2.3",
        title="The shop",
        instructions="Prices are in euros.",
        tools=TOOLS,
        resources=[about, item, ledger],
        prompts=[outline, secret_prompt],
    )


def create_app(config: dict[str, Any] | None = None, *, server: Server | None = None, login: bool = True) -> Flask:
    """An app with users `alice`, `bob` and `root` (an admin), and one server at /mcp."""
    app = Flask(__name__)
    app.config.update({"SECRET_KEY": "a key for the tests", **(config or {})})
    users = Users({name: User(name, admin=name == "root") for name in ("alice", "bob", "root")})
    app.extensions["test_users"] = users
    if login:
        manager = LoginManager(app)
        manager.login_view = "sign_in"  # pyright: ignore[reportAttributeAccessIssue]  # seen as None
        manager.user_loader(users.get)
        manager.request_loader(users.by_token)

    @app.post("/sign-in/<name>")
    def sign_in(name: str) -> str:
        login_user(users[name])
        return str(session["_user_id"])

    mcp = ArandoMCP(app, server or make_server())

    @mcp.local_subject
    def local() -> Any:
        return users.get(app.config.get("LOCAL_USER", "alice"), guest)

    return app
