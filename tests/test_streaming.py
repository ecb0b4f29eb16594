"""An answer that is more than one message over HTTP: what it looks like, in which contexts it is made, and what becomes
of it when nobody reads it any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response, abort, g, request
from flask_login import current_user

from flask_arandu_mcp import Notification, Request, Server, public, tool

from . import app as tests_app
from .talk import STREAMED, Talk, ask, create_app, lines, make_server, stream
from .wire import Wire, bearer, call, modern, modern_headers

OLD = {"MCP-Protocol-Version": "2025-11-25"}


@pytest.fixture
def app(journal: Path) -> Flask:
    return create_app({"JOURNAL": str(journal)})


def old(wire: Wire, name: str, arguments: Any = None, **headers: str) -> Any:
    """Call a tool in the handshake era, as a client that takes events."""
    params = {"name": name, "arguments": arguments or {}, "_meta": {"progressToken": "here"}}
    return wire.post(call("tools/call", params), {**OLD, **STREAMED, **headers})


def test_h13_a_stream_is_held_back_by_nobody(wire: Wire) -> None:
    """Its headers keep proxies and caches from holding it, and no cookie goes with it."""
    answer = ask(wire, "count", {"numbers": [1, 2]})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/event-stream"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.headers["X-Accel-Buffering"] == "no"
    assert "Set-Cookie" not in answer.headers
    assert "Content-Length" not in answer.headers
    assert answer.headers["X-Marked"] == "yes"


def test_h13_an_event_is_one_line_of_data(wire: Wire) -> None:
    """No ids, no names, no raw newline, and nothing after the answer."""
    body = ask(wire, "count", {"numbers": [1, 2]}).get_data()
    events = body.split(b"\n\n")
    assert events.pop() == b""
    assert [event[:6] for event in events] == [b"data: "] * 3
    assert all(b"\n" not in event and event.isascii() for event in events)
    assert json.loads(events[-1][6:])["id"] == 1


@pytest.mark.parametrize("accept", [None, "application/json", "*/*", "text/html"])
def test_h13_a_client_that_takes_no_events_gets_json(wire: Wire, accept: str | None) -> None:
    """What would have come before the answer is left out."""
    message = modern("tools/call", {"name": "count", "arguments": {"numbers": [1, 2]}}, progressToken=1)
    answer = wire.post(message, {**modern_headers(message), **({"Accept": accept} if accept else {})})
    assert answer.content_type == "application/json"
    assert answer.get_json()["result"]["content"][0]["text"] == "counted"


def test_h13_what_sends_nothing_is_json(wire: Wire) -> None:
    """A handler that could talk and does not is answered as any other."""
    answer = ask(wire, "count", {"numbers": []})
    assert answer.content_type == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("name", "arguments", "headers", "status"),
    [
        ("nothing", {}, {}, 200),
        ("count", {"numbers": "x"}, {}, 200),
        ("delete_posts", {}, {}, 200),
        ("count", {"numbers": [1]}, {"Authorization": "Bearer nobody"}, 401),
        ("count", {"numbers": [1]}, {"Mcp-Name": "other"}, 400),
        ("count", {"numbers": [1]}, {"Origin": "https://evil.example"}, 403),
        ("count", {"numbers": [1]}, {"Mcp-Method": "tools/list"}, 400),
    ],
)
def test_what_is_refused_is_json(wire: Wire, name: str, arguments: Any, headers: dict[str, str], status: int) -> None:
    """A refusal is one JSON object with its own status, though the client takes events."""
    answer = ask(wire, name, arguments, headers)
    assert (answer.status_code, answer.content_type) == (status, "application/json")


def test_a_failure_after_the_first_event_is_the_last_one(wire: Wire) -> None:
    """What has begun as a stream ends as one: with the error, and without its text."""
    first, last = stream(ask(wire, "crash"))
    assert first["method"] == "notifications/progress"
    assert last["result"]["isError"]
    assert "secret" not in json.dumps(last)


def test_a07_the_subject_is_there_at_every_step(wire: Wire) -> None:
    """current_user, g and the request are the same after a handler has sent something."""
    *_, answer = stream(ask(wire, "who", headers=bearer("bob")))
    assert answer["result"]["structuredContent"]["seen"] == [["bob", "bob", "visited", True]] * 2


def test_a07_an_app_without_logins_streams(journal: Path) -> None:
    """Without a LoginManager everybody is a guest, in a handler that talks too."""
    app = tests_app.create_app({"JOURNAL": str(journal)}, server=make_server(), login=False)
    *_, answer = stream(ask(Wire(app), "count", {"numbers": [1]}))
    assert answer["result"]["content"][0]["text"] == "counted"
    assert lines(journal) == ["counting ended None"]


def test_each_context_is_torn_down_once(wire: Wire, journal: Path) -> None:
    """The handler has a request of its own, which begins and ends once, and is gone before the answer goes out."""
    answer = ask(wire, "count", {"numbers": [1, 2]})
    messages = stream(answer)
    for _ in range(3):
        next(messages)
    seen = lines(journal)
    assert (seen.count("before"), seen.count("teardown")) == (2, 2)
    assert seen.index("counting ended None") < len(seen) - 1
    assert list(messages) == []
    assert lines(journal) == seen


def test_a_plain_handler_runs_in_the_request_of_the_post(journal: Path) -> None:
    """Only what may talk has a request of its own."""
    app = create_app({"JOURNAL": str(journal)})
    app.extensions["arandu_mcp"]["default"].server = tests_app.make_server()
    assert ask(Wire(app), "no_args").status_code == 200
    assert [line for line in lines(journal) if line in ("before", "teardown")] == ["before", "teardown"]


def test_the_request_of_a_handler_has_its_body(app: Flask, wire: Wire) -> None:
    """What the app's own code reads of a request it reads in the handler's request too."""
    seen: list[Any] = []

    @app.before_request
    def read() -> None:
        seen.append(request.get_json()["method"])

    list(stream(ask(wire, "count", {"numbers": [1]})))
    assert seen == ["tools/call", "tools/call"]


def test_h13_a_stateless_client_that_leaves_stops_the_handler(wire: Wire, journal: Path) -> None:
    """Closing the stream is cancelling: the handler's `finally` runs, in its contexts, and nothing else does."""
    answer = ask(wire, "endless", headers=bearer("bob"))
    messages = stream(answer)
    next(messages)
    next(messages)
    answer.close()
    seen = lines(journal)
    assert seen[-2:] == ["stopped bob True", "teardown"]
    assert seen.count("teardown") == 2


def test_h13_a_handshake_client_that_leaves_has_its_call_carried_out(wire: Wire, journal: Path) -> None:
    """In the handshake era a lost connection cancels nothing: the rest runs, and nobody is told."""
    answer = old(wire, "long")
    next(stream(answer, OLD["MCP-Protocol-Version"]))
    assert "done" not in lines(journal)
    answer.close()
    assert lines(journal)[-2:] == ["done", "teardown"]


def test_nothing_is_left_of_a_call_that_nobody_reads(app: Flask, journal: Path) -> None:
    """A stream that is closed before its first event is a call that is stopped, and torn down."""
    answer = ask(Wire(app), "endless")
    answer.close()
    assert lines(journal).count("teardown") == 2


def test_an_app_may_have_a_response_class_of_its_own(app: Flask, wire: Wire) -> None:
    """A stream stays one, and stays ours, where the app makes every response one of its own."""

    class Own(Response):
        default_mimetype = "text/html"

    app.response_class = Own
    answer = ask(wire, "count", {"numbers": [1]})
    assert "Set-Cookie" not in answer.headers
    assert len(list(stream(answer))) == 2


def test_a_listed_origin_may_read_a_stream(journal: Path) -> None:
    """CORS is said on a stream as on any answer."""
    page = "https://inspector.example"
    wire = Wire(create_app({"JOURNAL": str(journal), "MCP_ALLOWED_ORIGINS": [page]}))
    answer = ask(wire, "count", {"numbers": [1]}, {"Origin": page})
    assert answer.headers["Access-Control-Allow-Origin"] == page
    assert "Origin" in answer.headers["Vary"]
    assert len(list(stream(answer))) == 2


def test_r07_the_idioms_of_flask_are_tool_errors_in_a_handler_that_talks(wire: Wire, app: Flask) -> None:
    """abort() after the first event is an error of the tool, in the app's words, and never the transport's status."""

    @tool(access=public)
    def stop(request: Request) -> Talk:
        """Stops."""
        yield Notification("notifications/message", {"level": "info", "data": "x"})
        abort(404, "Order 7 not found")

    app.extensions["arandu_mcp"]["default"].server = Server(name="s", tools=[stop], logging=True)
    answer = old(wire, "stop")
    *_, last = stream(answer, OLD["MCP-Protocol-Version"])
    assert answer.status_code == 200
    assert last["result"]["isError"]
    assert last["result"]["content"][0]["text"] == "404 Not Found: Order 7 not found"


def _failing_later(app: Flask, fail: Any) -> None:
    """Let the app fail in the handler's own request, and not in the POST's."""

    @app.before_request
    def late() -> Any:
        app.extensions["visits"] = app.extensions.get("visits", 0) + 1
        return fail() if app.extensions["visits"] > 1 else None


def test_an_app_that_refuses_the_handlers_request_is_obeyed(app: Flask, wire: Wire) -> None:
    """What a before_request function answers in the server's place is the answer."""
    _failing_later(app, lambda: ("no", 403))
    answer = ask(wire, "count", {"numbers": [1]})
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (403, 403)


def test_an_app_that_fails_in_the_handlers_request_is_reported(
    app: Flask, wire: Wire, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception that nobody handles is logged as itself, and answered as a failure with a ref."""

    def fail() -> None:
        raise LookupError("the app's secret")

    _failing_later(app, fail)
    answer = ask(wire, "count", {"numbers": [1]})
    assert answer.status_code == 500
    assert answer.get_json()["error"]["data"]["ref"] in caplog.text
    assert "LookupError: the app's secret" in caplog.text


def test_an_app_that_handles_its_failures_is_asked(app: Flask, wire: Wire) -> None:
    """The app's own error handler says what becomes of an exception."""

    @app.errorhandler(LookupError)
    def handle(error: LookupError) -> tuple[str, int]:
        return "gone", 409

    def fail() -> None:
        raise LookupError

    _failing_later(app, fail)
    assert ask(wire, "count", {"numbers": [1]}).status_code == 409


def test_a_teardown_that_fails_takes_no_answer_away(app: Flask, wire: Wire, caplog: pytest.LogCaptureFixture) -> None:
    """What was answered is answered; the log says what failed afterwards."""

    @app.teardown_appcontext
    def fail(error: BaseException | None) -> None:
        if g.get("counted"):
            raise RuntimeError("the teardown's secret")

    @app.before_request
    def mark() -> None:
        g.counted = app.extensions.get("visits", 0) == 1
        app.extensions["visits"] = 1

    *_, answer = stream(ask(wire, "count", {"numbers": [1]}))
    assert answer["result"]["content"][0]["text"] == "counted"
    assert "the teardown's secret" in caplog.text


def test_a_user_who_is_gone_is_no_subject(app: Flask, wire: Wire) -> None:
    """The handler's request finds out anew who asks."""

    @app.before_request
    def leave() -> None:
        if current_user.is_authenticated:
            app.extensions["test_users"].pop(current_user.get_id(), None)

    assert ask(wire, "who", headers=bearer("bob")).status_code == 401
