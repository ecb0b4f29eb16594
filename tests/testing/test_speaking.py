"""Progress and streams in a test, in each revision: what comes while a call works is collected, in order."""

from __future__ import annotations

from pathlib import Path

import pytest

from flask_arandu_mcp.revisions import REVISIONS
from flask_arandu_mcp.testing import MCPClient, Step

from ..app import Users, create_app
from ..talk import create_app as create_talk
from ..talk import lines
from .failing import failure


@pytest.fixture(params=list(REVISIONS))
def client(request: pytest.FixtureRequest, journal: Path) -> MCPClient:
    """A user's client of an app whose handlers talk."""
    app = create_talk({"JOURNAL": str(journal)})
    users: Users = app.extensions["test_users"]
    return MCPClient(app, revision=request.param).acting_as(users["bob"])


def test_progress(client: MCPClient) -> None:
    """Every step is there, with its total and its words."""
    result = client.call("count", numbers=[1, 2.5]).assert_ok()
    assert result.progress == [Step(1, 100, "at 1"), Step(2.5, 100, "at 2.5")]
    assert [note["method"] for note in result.notifications] == ["notifications/progress"] * 2
    assert result.text == "counted"
    result.assert_sees("at 2.5")


def test_a_call_that_tells_nothing(client: MCPClient) -> None:
    """Where nothing is told, nothing is there."""
    result = client.call("count", numbers=[])
    assert (result.progress, result.notifications, result.questions) == ([], [], ())


def test_the_request_of_a_stream_ends_with_it(client: MCPClient, journal: Path) -> None:
    """When a test goes on, the handler's request is over, and what the app does at its end is done."""
    client.call("count", numbers=[1]).assert_ok()
    seen = lines(journal)
    assert seen.count("before") == seen.count("teardown") > 0
    assert "counting ended bob" in seen


def test_the_user_is_there_at_every_step(client: MCPClient) -> None:
    """A handler that goes on after it has told something acts as the same user."""
    client.call("who").assert_ok().assert_sees('[["bob","bob","visited",true],["bob","bob","visited",true]]')


def test_a_failure_after_the_first_event(client: MCPClient) -> None:
    """A call that breaks on its way shows what it told before, and the test what broke it."""
    result = client.call("crash")
    assert [step.progress for step in result.progress] == [1]
    assert [type(error) for error in result.raised] == [RuntimeError]
    assert "It broke: RuntimeError: the handler's secret." in failure(result.assert_ok)
    result.assert_does_not_see("secret")


def test_an_introduction_serves_for_all_calls() -> None:
    """A client of the handshake introduces itself once, and again only as another client."""
    methods: list[str] = []
    app = create_app()

    @app.before_request
    def note() -> None:
        from flask import request

        methods.append(request.get_json()["method"])

    client = MCPClient(app, revision="2025-11-25")
    client.call("no_args")
    client.tools()
    client.answering({}).call("no_args")
    hello = ["initialize", "notifications/initialized"]
    assert methods == [*hello, "tools/call", "tools/list", *hello, "tools/call"]


def test_a_handshake_without_a_key() -> None:
    """An app that hands out no session ids is spoken to without one."""
    client = MCPClient(create_app({"SECRET_KEY": None}), revision="2025-06-18")
    assert client.call("whoami").data["revision"] == "2025-06-18"
