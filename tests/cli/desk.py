"""An app for the commands to be tried on: users, tools that take every kind of argument, and tools that talk."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any, TypeAlias

from flask import Flask, abort, g, request
from flask_login import LoginManager, UserMixin, current_user
from marshmallow import Schema, fields
from marshmallow.validate import OneOf, Range
from werkzeug.exceptions import NotFound

from flask_arandu_mcp import (
    ArandoMCP,
    ClientRequest,
    Elicit,
    EmbeddedResource,
    Image,
    Notification,
    Operation,
    Progress,
    Request,
    ResourceLink,
    Response,
    Server,
    Text,
    ToolError,
    endpoint_tool,
    guest,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

Talk: TypeAlias = Generator[Any, Any, Any]


class User(UserMixin):
    """A user of an id; one called `off` is switched off."""

    def __init__(self, id: str) -> None:
        self.id = id

    @property
    def is_active(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # seen as always True
        return self.id != "off"


def load(id: str) -> User | None:
    """The user of an id; ids of digits are those of a database that is not there."""
    if id.isdecimal():
        raise RuntimeError("no database")
    return User(id) if id in ("ana", "ben", "off", "banned") else None


def only_ben(subject: Any) -> bool:
    return bool(subject.get_id() == "ben")


def hidden(subject: Any) -> bool:
    raise NotFound


class Window(Schema):
    """A nested argument."""

    first = fields.Integer(required=True)
    last = fields.Integer()


@tool(access=public)
def whoami(request: Request) -> dict[str, Any]:
    """Says who asks, and what the app's own code saw of it."""
    return {"subject": request.subject.get_id(), "current": current_user.get_id(), "seen": g.seen}


@tool(
    access=public,
    arguments={
        "text": fields.String(),
        "count": fields.Integer(validate=Range(1, 9)),
        "share": fields.Float(),
        "sure": fields.Boolean(),
        "tags": fields.List(fields.String()),
        "numbers": fields.List(fields.Integer()),
        "window": fields.Nested(Window),
        "maybe": fields.Integer(allow_none=True),
        "any": fields.Raw(),
    },
)
def echo(request: Request, **values: Any) -> dict[str, Any]:
    """Gives back what it is given, of every kind."""
    print("a print of the handler's")
    return values


@tool(access=signed_in, arguments={"steps": fields.Integer(load_default=3), "known": fields.Boolean(load_default=True)})
def work(request: Request, steps: int, known: bool) -> Talk:
    """Works step by step, and says how far it is."""
    for step in range(1, steps + 1):
        yield Progress(step, steps if known else None, f"step {step}")
    yield Notification("notifications/message", {"level": "info", "data": "all steps are taken"})
    return f"{steps} steps"


PROFILE: dict[str, Any] = {
    "name": fields.String(required=True, metadata={"description": "What to call you"}),
    "age": fields.Integer(validate=Range(min=0)),
    "share": fields.Float(load_default=0.5),
    "color": fields.String(validate=OneOf(["r", "g"], labels=["Red", "Green"])),
    "tags": fields.List(fields.String(validate=OneOf(["a", "b", "c"]))),
    "mail": fields.Email(),
    "happy": fields.Boolean(load_default=True),
}


@tool(access=public)
def introduce(request: Request) -> Talk:
    """Asks for everything that can be asked, with progress before."""
    yield Progress(1, 2)
    profile = yield Elicit("profile", "Who are you?", PROFILE)
    return {"action": profile.action, **profile.content}


@tool(access=public, destructive=True)
def clear(request: Request) -> Talk:
    """Asks twice before it clears the desk."""
    sure = yield Elicit("sure", "Clear the desk?", {"yes": fields.Boolean(required=True)})
    if not sure.accepted:
        return f"The user said {sure.action}."
    really = yield Elicit("really", "Really?", {})
    return f"{sure.content['yes']}, {really.action}"


@tool(access=public)
def pay(request: Request) -> Talk:
    """Asks to open a page."""
    answer = yield Elicit.url("pay", "Please pay.", "https://desk.example/pay")
    return answer.action


@tool(access=public)
def sample(request: Request) -> Talk:
    """Asks the client's model, which a terminal does not have."""
    try:
        answer = yield ClientRequest("model", "sampling/createMessage", {"messages": []})
    except ToolError as error:
        return f"went on without: {error}"
    return answer["content"]["text"]


@tool(access=public)
def show(request: Request) -> Response:
    """Shows every kind of content there is."""
    return Response(
        Text("plain \x1b[31mred"),
        Image(b"\x89PNG", "image/png"),
        ResourceLink("desk://pen", "pen"),
        EmbeddedResource("desk://pen", "a pen", mime_type="text/plain"),
    )


@tool(access=public)
def fail(request: Request) -> str:
    """Fails in words for the model."""
    raise ToolError("The drawer is stuck.")


@tool(access=hidden)
def secret(request: Request) -> str:
    """Nobody is to know of it."""
    return "secret"


@tool(access=only_ben)
def bens(request: Request) -> str:
    """Only ben may use this one."""
    return "for ben"


def lamp(request: Request, arguments: Any) -> dict[str, Any]:
    """Puts the lamp on."""
    return {"on": True}


@resource("desk://pen", access=public)
def pen(request: Request) -> str:
    """A pen that lies on the desk."""
    return "a pen"


@resource("desk://drawers/{name}", access=signed_in)
def drawer(request: Request, name: str) -> str:
    """What is in one drawer."""
    return name


@prompt(access=signed_in)
def tidy(request: Request) -> str:
    """Starts to tidy the desk."""
    return "Tidy the desk."


def create_app() -> Flask:
    """The desk, one page a declaration; `DESK_LOCAL` says who a local assistant is."""
    app = Flask("desk")
    app.config["MCP_PAGE_SIZE"] = 1
    manager = LoginManager(app)
    manager.user_loader(load)

    @app.before_request
    def see() -> None:
        g.seen = request.path
        if current_user.get_id() == "banned":
            abort(403)

    @app.delete("/papers/<int:id>")
    def shred(id: int) -> dict[str, Any]:
        """Shreds one paper."""
        return {"shredded": id, "by": current_user.get_id()}

    server = Server(
        "desk",
        version="1.0.0",
        logging=True,
        tools=[
            whoami, echo, work, introduce, clear, pay, sample, show, fail, secret, bens,
            endpoint_tool("shred", access=signed_in, confirm="Shred paper {id}?"),
            Operation("lamp.on", lamp, access=public),
        ],
        resources=[pen, drawer],
        prompts=[tidy],
    )  # fmt: skip
    mcp = ArandoMCP(app, server)
    if local := os.environ.get("DESK_LOCAL", "guest"):
        mcp.local_subject(lambda: guest if local == "guest" else load(local))
    return app
