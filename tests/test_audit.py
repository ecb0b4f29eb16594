"""The audit trail: one signal a call, with names and never values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from marshmallow import fields

from flask_arandu_mcp import ProtocolError, Request, Response, Server, public, tool
from flask_arandu_mcp.signals import prompt_rendered, resource_read, tool_called, tool_refused

from .app import User, make_server

ALICE, ROOT = User("alice"), User("root", admin=True)
SIGNALS = {
    "called": tool_called,
    "refused": tool_refused,
    "read": resource_read,
    "rendered": prompt_rendered,
}


@pytest.fixture
def trail() -> Iterator[list[dict[str, Any]]]:
    lines: list[dict[str, Any]] = []
    listeners = []
    for word, signal in SIGNALS.items():

        def listen(sender: Server, word: str = word, **facts: Any) -> None:
            lines.append({"signal": word, "server": sender.name, **facts})

        signal.connect(listen)
        listeners.append((signal, listen))
    yield lines
    for signal, listen in listeners:
        signal.disconnect(listen)


@pytest.mark.parametrize(
    ("name", "arguments", "outcome"),
    [
        ("add", {"a": 1, "b": 2}, "ok"),
        ("add", {"a": "secret"}, "invalid"),
        ("admin_false", {"key": "secret"}, "refused"),
        ("admin_hidden", {"key": "secret"}, "refused"),
        ("fail", {"how": "tool"}, "error"),
        ("fail", {"how": "forbidden"}, "refused"),
        ("fail", {"how": "crash"}, "failed"),
    ],
)
def test_a_call_is_one_line(trail: list[dict[str, Any]], name: str, arguments: Any, outcome: str) -> None:
    """Each call sends who, what, which arguments by name, how long and what came of it."""
    server = make_server()
    try:
        server.call(ALICE, name, arguments)
    except ProtocolError:
        assert name == "admin_hidden"
    line = trail[0]
    assert line.pop("duration") >= 0
    assert line == {
        "signal": "called",
        "server": "shop",
        "subject_id": "alice",
        "name": name,
        "arguments": tuple(arguments),
        "outcome": outcome,
    }
    assert [line["signal"] for line in trail[1:]] == (["refused"] if outcome == "refused" else [])


def test_what_nobody_declared_is_not_written(trail: list[dict[str, Any]]) -> None:
    """A name that a client made up is a value, whether it is an argument's or a tool's."""
    server = make_server()
    server.call(ALICE, "add", {"a": 1, "b": 2, "my secret": 1})
    with pytest.raises(ProtocolError):
        server.call(ALICE, "my secret", {"x": 1})
    assert trail[0]["arguments"] == ("a", "b")
    assert (trail[1]["name"], trail[1]["arguments"], trail[1]["outcome"]) == (None, (), "invalid")


def test_resources_and_prompts_have_their_own(trail: list[dict[str, Any]]) -> None:
    """A read is named by its template, and a prompt by its name."""
    server = make_server()
    server.read(ALICE, "shop://items/secret")
    server.get(ALICE, "outline", {"topic": "secret"})
    with pytest.raises(ProtocolError):
        server.read(ALICE, "shop://ledger")
    facts = [(line["signal"], line["name"], line["arguments"], line["outcome"]) for line in trail]
    assert facts == [
        ("read", "shop://items/{name}", ("name",), "ok"),
        ("rendered", "outline", ("topic",), "ok"),
        ("read", "shop://ledger", (), "refused"),
    ]


def test_who_it_was_is_read_before_the_handler_runs(trail: list[dict[str, Any]]) -> None:
    """A handler that deletes its own subject cannot take the name out of the trail."""

    @tool(access=public, arguments={"n": fields.Integer(load_default=1)})
    def vanish(request: Request, n: int) -> Response:
        """Deletes the caller."""
        request.subject.id = None
        return Response.error("Gone.")

    Server(name="test", tools=[vanish]).call(User("ben"), "vanish")
    assert trail[0]["subject_id"] == "ben"
    assert trail[0]["outcome"] == "error"


def test_a_listener_that_fails_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """An audit log that cannot be written does not take the answer with it, and is seen in the log."""

    def fail(sender: object, **facts: object) -> None:
        raise OSError("disk full")

    tool_called.connect(fail)
    try:
        assert make_server().call(ALICE, "add", {"a": 1, "b": 2}).data == {"sum": 3}
    finally:
        tool_called.disconnect(fail)
    assert "disk full" in caplog.text


def test_nothing_is_gathered_where_nobody_listens() -> None:
    """Without a listener a call does not even ask the subject for its id."""

    class Shy(User):
        def get_id(self) -> str:
            raise AssertionError("asked")

    assert make_server().call(Shy("x"), "add", {"a": 1, "b": 2}).data == {"sum": 3}
