"""An app whose handlers talk while they work: they tell how far they are, and ask. What happens in it is written down
in a journal, which a test reads from whichever process the app is in."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from flask import Flask, Response, current_app, g, has_request_context
from flask_login import current_user
from marshmallow import fields
from werkzeug.test import TestResponse

from flask_arandu_mcp import (
    ClientRequest,
    Elicit,
    Message,
    Notification,
    Progress,
    Request,
    Server,
    ToolError,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

from . import app as tests_app
from .surface import Sent
from .wire import META, MODERN, Wire, call, modern, modern_headers

Talk: TypeAlias = Generator[Any, Any, Any]
SURE: dict[str, Any] = {"yes": fields.Boolean(required=True)}
ASKS: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
"""What a client declares that can be asked everything."""

# What a client answers to the questions below.
YES = {"action": "accept", "content": {"yes": True}}
NAME = {"action": "accept", "content": {"name": "Ann"}}
AGE = {"action": "accept", "content": {"age": 7}}


def note(*words: object) -> None:
    """Write a line into the journal."""
    with Path(current_app.config["JOURNAL"]).open("a") as journal:
        journal.write(" ".join(map(str, words)) + "\n")


def write_meanwhile(journal: Path) -> None:
    """Write into the database of `locking` as another process would, without waiting for anybody."""
    with closing(sqlite3.connect(f"{journal}.db", timeout=0)) as db, db:
        db.execute("CREATE TABLE IF NOT EXISTS meanwhile (id INTEGER)")
        db.execute("INSERT INTO meanwhile VALUES (1)")


def lines(journal: Path) -> list[str]:
    """What is in a journal."""
    return journal.read_text().splitlines() if journal.exists() else []


def wait_for(is_so: Callable[[], bool], timeout: float = 20.0) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + timeout
    while not is_so():
        assert time.monotonic() < deadline, "it did not come to be so"
        time.sleep(0.01)


@tool(access=public, arguments={"numbers": fields.List(fields.Float(), required=True)})
def count(request: Request, numbers: list[float]) -> Talk:
    """Counts up to a hundred."""
    try:
        for number in numbers:
            yield Progress(number, total=100, message=f"at {number:g}")
        return "counted"
    finally:
        note("counting ended", request.subject.get_id())


@tool(access=public)
def endless(request: Request) -> Talk:
    """Works until it is stopped."""
    try:
        for number in range(1, 100_000):
            if number == 2:
                note("under way")
            yield Progress(number)
            time.sleep(0.002)
    finally:
        note("stopped", current_user.get_id(), has_request_context())


@tool(access=public)
def long(request: Request) -> Talk:
    """Works for a while and then does what it is for."""
    for number in range(1, 60):
        yield Progress(number)
        time.sleep(0.01)
    note("done")
    return "done"


@tool(access=public)
def who(request: Request) -> Talk:
    """Says who asks, before and after it sent something."""
    seen = []
    for number in (1, 2):
        seen.append([request.subject.get_id(), current_user.get_id(), g.visit, current_user == request.subject])
        yield Progress(number)
    return {"seen": seen}


@tool(access=signed_in, destructive=True)
def delete_posts(request: Request) -> Talk:
    """Deletes all posts."""
    posts = current_app.extensions["posts"]
    answer = yield Elicit("sure", f"Delete {posts} posts?", SURE)
    if not (answer.accepted and answer.content["yes"]):
        return f"The user said {answer.action}; nothing was deleted."
    note("deleted", posts, request.attempt)
    return f"Deleted {posts} posts."


@tool(access=public, arguments={"greeting": fields.String(load_default="Hello")})
def greet(request: Request, greeting: str) -> Talk:
    """Greets, once it knows whom."""
    note("round", request.attempt, request.subject.get_id())
    name = yield Elicit("name", "Who are you?", {"name": fields.String(required=True)})
    if not name.accepted:
        return f"The user said {name.action}."
    age = yield Elicit("age", f"How old is {name.content['name']}?", {"age": fields.Integer(required=True)})
    note("greeted", request.attempt)
    return f"{greeting}, {name.content['name']}, {age.content['age']}."


@tool(access=public)
def both(request: Request) -> Talk:
    """Asks two things at once."""
    name, sure = yield (
        Elicit("name", "Who are you?", {"name": fields.String(required=True)}),
        Elicit("sure", "Sure?", SURE),
    )
    return {"name": name.content["name"], "yes": sure.content["yes"]}


@tool(access=public)
def page(request: Request) -> Talk:
    """Asks to open a page."""
    answer = yield Elicit.url("pay", "Please pay.", "https://shop.example/pay")
    return answer.action


@tool(access=public)
def roots(request: Request) -> Talk:
    """Asks the client for its roots."""
    answer = yield ClientRequest("roots", "roots/list")
    return [root["uri"] for root in answer["roots"]]


@tool(access=public)
def forgiving(request: Request) -> Talk:
    """Goes on without an answer."""
    try:
        answer = yield Elicit("sure", "Sure?", SURE)
    except ToolError as error:
        return f"Without asking: {error}"
    return answer.action


@tool(access=public)
def steps(request: Request) -> Talk:
    """Says how far it is, and asks in between."""
    yield Progress(1, total=3)
    yield Progress(2, total=3)
    yield Elicit("sure", "Sure?", SURE)
    yield Progress(3, total=3)
    return "stepped"


NONSENSE: Mapping[str, Any] = {
    "a number": 3,
    "nothing": None,
    "no questions": [],
    "mixed": [Progress(1), Elicit("sure", "Sure?", SURE)],
    "one key twice": [Elicit("sure", "Sure?", SURE), Elicit("sure", "Really?", SURE)],
    "an object": Notification("notifications/x", {"at": object()}),
    "no JSON": ClientRequest("x", "sampling/createMessage", {"at": object()}),
    "no number": Notification("notifications/x", {"at": float("nan")}),
    "no number asked": ClientRequest("x", "sampling/createMessage", {"at": float("nan")}),
}


@tool(access=public, arguments={"what": fields.String(required=True)})
def nonsense(request: Request, what: str) -> Talk:
    """Yields what means nothing."""
    yield NONSENSE[what]
    note("went on")
    return "went on"


@tool(access=public, arguments={"how": fields.String(required=True)})
def stubborn(request: Request, how: str) -> Talk:
    """Does not end as it should."""
    try:
        yield Elicit("sure", "Sure?", SURE)
    except GeneratorExit:
        note("told to end")
        if how == "swallow":
            yield Progress(1)
        raise
    finally:
        if how == "yield":
            yield Progress(2)
        if how == "raise":
            raise RuntimeError("the end's secret")
        note("ended")
    return "answered"


@tool(access=public)
def locking(request: Request) -> Talk:
    """Writes into a database, and asks before it commits."""
    g.db = sqlite3.connect(f"{current_app.config['JOURNAL']}.db", timeout=0)
    g.db.execute("BEGIN IMMEDIATE")
    yield Elicit("sure", "Sure?", SURE)
    g.db.commit()
    return "written"


@tool(access=public)
def crash(request: Request) -> Talk:
    """Fails after it has sent something."""
    yield Progress(1)
    raise RuntimeError("the handler's secret")


@resource("talk://greeting", access=public)
def greeting(request: Request) -> Talk:
    """A greeting by name."""
    yield Progress(1)
    answer = yield Elicit("name", "Who are you?", {"name": fields.String(required=True)})
    return f"Hello, {answer.content['name']}."


@prompt(access=public)
def interview(request: Request) -> Talk:
    """An interview with the user."""
    answer = yield Elicit("name", "With whom?", {"name": fields.String(required=True)})
    return [Message.user(f"Interview {answer.content['name']}.")]


def make_server(**options: Any) -> Server:
    """A server with all of these declarations."""
    tools: list[Any] = [
        count,
        endless,
        long,
        who,
        delete_posts,
        greet,
        both,
        page,
        roots,
        forgiving,
        steps,
        nonsense,
        stubborn,
        locking,
        crash,
    ]
    return Server(name="talk", tools=tools, resources=[greeting], prompts=[interview], **options)


def create_app(config: Mapping[str, Any] | None = None, **options: Any) -> Flask:
    """The app; its journal is in the environment, where it runs in a process of its own."""
    journal = os.environ.get("TALK_JOURNAL", os.devnull)
    app = tests_app.create_app({"JOURNAL": journal, **(config or {})}, server=make_server(**options))
    app.extensions["posts"] = 3

    @app.before_request
    def visit() -> None:
        note("before")
        g.visit = "visited"

    @app.after_request
    def mark(response: Response) -> Response:
        response.headers["X-Marked"] = "yes"
        response.set_cookie("tracking", "1")
        return response

    @app.teardown_appcontext
    def leave(error: BaseException | None) -> None:
        if "db" in g:
            g.db.close()
        if "visit" in g:
            note("teardown")

    return app


STREAMED = {"Accept": "application/json, text/event-stream"}


def ask(wire: Wire, name: str, arguments: Any = None, headers: Mapping[str, str] | None = None, **params: Any) -> Any:
    """Call a tool in the stateless era, as a client that takes events and can be asked everything."""
    asks = params.pop("asks", ASKS)
    meta = {f"{META}clientCapabilities": asks, "progressToken": "here"}
    message = modern("tools/call", {"name": name, "arguments": arguments or {}, **params}, **meta)
    return wire.post(message, {**modern_headers(message), **STREAMED, **(headers or {})})


def stream(answer: TestResponse, version: str = MODERN) -> Iterator[Any]:
    """The messages of an event stream, as they come, each held against the schema of its revision."""
    assert answer.content_type == "text/event-stream", answer.data
    sent = Sent(version)
    sent.note(json.dumps(call("tools/call")).encode())
    for chunk in answer.iter_encoded():
        for line in chunk.splitlines():
            if line.startswith(b"data: "):
                sent.judge(line.removeprefix(b"data: "))
                yield json.loads(line.removeprefix(b"data: "))
