"""What the pages of a listed origin may send and read. No other page may, nothing comes with a browser's own
credentials, and flask-cors is left alone where it has answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask, Response
from flask_cors import CORS
from flask_login import LoginManager
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, Progress, Request, Server, public, tool

from .app import User, Users, calls, create_app, make_server
from .wire import Wire, bearer, call

LISTED = "https://inspector.example.org"
LOCAL = "http://localhost:6274"
CONFIG = {"MCP_ALLOWED_ORIGINS": [LISTED, LOCAL]}
NO_ARGS = call("tools/call", {"name": "no_args"}, "q-1")
SENT = (
    "content-type,authorization,accept,mcp-protocol-version,mcp-method,mcp-name,mcp-session-id,last-event-id,"
    "mcp-param-region"
)
EXPOSED = {"www-authenticate", "mcp-session-id", "mcp-protocol-version", "retry-after"}


def words(answer: TestResponse, header: str) -> set[str]:
    return {word.strip().lower() for word in answer.headers.get(header, "").split(",")} - {""}


def may_read(answer: TestResponse, origin: str = LISTED) -> None:
    """A page of the origin may read an answer, once and without the browser's credentials."""
    assert answer.headers.getlist("Access-Control-Allow-Origin") == [origin]
    assert "origin" in words(answer, "Vary")
    assert len(answer.headers.getlist("Vary")) == 1
    assert "Access-Control-Allow-Credentials" not in answer.headers
    assert words(answer, "Access-Control-Expose-Headers") == EXPOSED


def may_not_read(answer: TestResponse) -> None:
    assert "access-control" not in str(answer.headers).lower()


def preflight(wire: Wire, origin: str, requested: str = SENT, **headers: str) -> TestResponse:
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": requested}
    return wire.client.options(wire.url, headers={"Origin": origin, **asked, **headers})


@pytest.fixture
def listing() -> Wire:
    """A server that lists two origins, and serves no guests."""
    return Wire(create_app({**CONFIG, "MCP_LOGIN_REQUIRED": True}))


# ------------------------------------------------------------------------------------------------ the preflight


@pytest.mark.parametrize("origin", [LISTED, LOCAL])
def test_h09_the_preflight_of_a_listed_origin_is_granted(listing: Wire, origin: str) -> None:
    """A preflight is answered before anybody is asked who they are, with all that clients send."""
    answer = preflight(listing, origin)
    assert (answer.status_code, answer.data) == (204, b"")
    may_read(answer, origin)
    assert words(answer, "Access-Control-Allow-Methods") == {"post"}
    assert words(answer, "Access-Control-Allow-Headers") == set(SENT.split(","))
    assert words(answer, "Allow") == {"post", "options"}
    assert int(answer.headers["Access-Control-Max-Age"]) > 0
    assert "WWW-Authenticate" not in answer.headers


def test_h09_mirrored_parameters_are_granted_as_asked(listing: Wire) -> None:
    """Headers that mirror arguments are granted by their prefix, and no other header that is asked for."""
    answer = preflight(listing, LISTED, "Mcp-Param-Region , MCP-PARAM-X-1,x-evil,mcp-param-,mcp-param-a b,cookie,,")
    granted = words(answer, "Access-Control-Allow-Headers")
    assert {"mcp-param-region", "mcp-param-x-1"} <= granted
    assert not granted & {"x-evil", "cookie", "mcp-param-", "mcp-param-a b", "*"}


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://inspector.example.org",
        f"{LISTED}.evil.example",
        f"{LISTED}:8443",
        f"{LISTED}/",
    ],
)
def test_h09_the_preflight_of_another_origin_is_granted_nothing(listing: Wire, origin: str) -> None:
    """An origin that is not listed is refused cheaply, without anybody being asked who they are."""
    answer = preflight(listing, origin)
    assert answer.status_code == 403
    assert "WWW-Authenticate" not in answer.headers
    may_not_read(answer)


def test_h09_where_none_is_listed_nothing_is_granted() -> None:
    """An app that lists no origin says nothing to browsers, not even to a page of this machine that may call it."""
    wire = Wire(create_app())
    answer = preflight(wire, LOCAL)
    assert answer.status_code == 204
    may_not_read(answer)
    assert "origin" not in words(answer, "Vary")
    answer = wire.post(NO_ARGS, {"Origin": LOCAL})
    assert answer.status_code == 200
    may_not_read(answer)


def test_options_that_is_no_preflight_is_answered_all_the_same(listing: Wire) -> None:
    """OPTIONS from no page is a question for the methods."""
    answer = listing.client.options("/mcp")
    assert (answer.status_code, words(answer, "Allow")) == (204, {"post", "options"})
    may_not_read(answer)


# --------------------------------------------------------------------------------------------------- the answers


def broken(*_: Any) -> Any:
    raise ConnectionError


def answers(app: Flask) -> dict[int, TestResponse]:
    """An answer of each kind, to a page of the listed origin."""
    wire = Wire(app)
    page = {"Origin": LISTED, "Sec-Fetch-Site": "cross-site"}
    good = {**page, **bearer("alice")}
    found = [
        wire.post(call("initialize", {"protocolVersion": "2025-11-25"}, 1), good),
        wire.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, good),
        wire.post("{", good),
        wire.post(NO_ARGS, page),
        wire.post(NO_ARGS, {**good, "Mcp-Session-Id": "altered"}),
        wire.client.get("/mcp", headers=page),
        wire.post("x" * 2000, good),
        wire.post(NO_ARGS, good, content_type="text/plain"),
    ]
    manager: Any = app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there
    manager.request_loader(broken)
    found.append(wire.post(NO_ARGS, good))
    return {answer.status_code: answer for answer in found}


def test_h09_every_answer_may_be_read_by_a_listed_origin() -> None:
    """Whatever is answered, errors and the challenge included, its page can read why."""
    app = create_app({**CONFIG, "MCP_LOGIN_REQUIRED": True, "MCP_MAX_MESSAGE": 1000})
    found = answers(app)
    assert set(found) == {200, 202, 400, 401, 404, 405, 413, 415, 503}
    for answer in found.values():
        may_read(answer)
    assert "Mcp-Session-Id" in found[200].headers
    assert "WWW-Authenticate" in found[401].headers


def test_h09_a_stream_may_be_read_too() -> None:
    """An answer that goes out as events is an answer."""

    @tool(access=public)
    def slow(request: Request) -> Iterator[Progress]:
        """Works for a while."""
        yield Progress(1, total=2)

    app = create_app(CONFIG, server=Server("shop", tools=[slow]))
    message = call("tools/call", {"name": "slow", "arguments": {}, "_meta": {"progressToken": 1}})
    answer = Wire(app).post(message, {"Origin": LISTED, "Accept": "application/json, text/event-stream"})
    assert (answer.status_code, answer.mimetype) == (200, "text/event-stream")
    assert "notifications/progress" in answer.text
    may_read(answer)


def test_h09_the_apps_own_refusals_may_be_read_too() -> None:
    """What the app's own code answered in the server's place goes out as the rest does."""
    app = create_app(CONFIG)
    app.before_request(lambda: ("<h1>closed</h1>", 503, {"Retry-After": "9", "Vary": "Cookie"}))
    answer = Wire(app).post(NO_ARGS, {"Origin": LISTED})
    assert (answer.status_code, answer.mimetype) == (503, "application/json")
    may_read(answer)
    assert answer.headers["Retry-After"] == "9"


def test_h09_what_the_app_adds_to_vary_stays() -> None:
    """The app's own after_request may name what it looked at."""
    app = create_app(CONFIG)

    @app.after_request
    def vary(response: Any) -> Any:
        response.vary.update(["Accept-Language", "origin"])
        return response

    answer = Wire(app).post(NO_ARGS, {"Origin": LISTED})
    # Some versions of Flask have it that a look at the session's keys, as of Flask-Login, is one at its cookie.
    assert words(answer, "Vary") - {"cookie"} == {"accept-language", "origin"}
    may_read(answer)


@pytest.mark.parametrize("headers", [{}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_h09_no_other_origin_may_read(headers: dict[str, str]) -> None:
    """To other origins, and to clients that are no pages, nothing is granted; a cache is told that it depends."""
    answer = Wire(create_app(CONFIG)).post(NO_ARGS, {**headers, **bearer("alice")})
    assert answer.status_code == (403 if headers else 200)
    may_not_read(answer)
    assert "origin" in words(answer, "Vary")


def test_h09_the_apps_own_pages_are_granted_nothing_by_us() -> None:
    """The app's other routes are the app's."""
    wire = Wire(create_app(CONFIG))
    may_not_read(wire.client.post("/sign-in/alice", headers={"Origin": LISTED}))
    may_not_read(wire.client.get("/elsewhere", headers={"Origin": LISTED}))


def test_h09_an_origin_is_answered_as_it_was_written() -> None:
    """Browsers compare what they are told with what they sent, letter by letter."""
    app = create_app({"MCP_ALLOWED_ORIGINS": ["HTTPS://Inspector.Example.org:443/"]})
    may_read(Wire(app).post(NO_ARGS, {"Origin": LISTED}))
    may_read(Wire(app).post(NO_ARGS, {"Origin": LISTED.upper()}), LISTED.upper())


@pytest.mark.parametrize(
    ("listed", "sent"),
    [
        ("https://x.example:443", "https://x.example"),
        ("http://x.example:80/", "http://x.example"),
        ("https://x.example:80", "https://x.example:80"),
        ("http://[::1]:80", "http://[::1]"),
        ("https://x.example", "https://x.example"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
    ],
)
def test_h09_a_listed_origin_is_what_browsers_send(listed: str, sent: str) -> None:
    """A port that its scheme has anyway may be written in MCP_ALLOWED_ORIGINS, and is never sent by a browser."""
    may_read(Wire(create_app({"MCP_ALLOWED_ORIGINS": [listed]})).post(NO_ARGS, {"Origin": sent}), sent)


def test_h09_a_server_on_a_public_host_grants_the_same() -> None:
    """Where the server is reached does not matter to whom it lists."""
    app = create_app({**CONFIG, "TRUSTED_HOSTS": ["api.example.com"]})
    app.wsgi_app = ProxyFix(app.wsgi_app, x_host=1, x_proto=1)  # type: ignore[method-assign]  # Flask's way
    forwarded = {"X-Forwarded-Host": "api.example.com", "X-Forwarded-Proto": "https"}
    assert preflight(Wire(app), LISTED, **forwarded).status_code == 204
    may_read(Wire(app).post(NO_ARGS, {"Origin": LISTED, **forwarded, **bearer("alice")}))
    own = Wire(app).post(NO_ARGS, {"Origin": "https://api.example.com", **forwarded})
    assert own.status_code == 200
    may_not_read(own)


@pytest.mark.parametrize("trap", [True, False])
def test_h09_a_response_class_of_the_apps_own_changes_nothing(trap: bool) -> None:
    """An app with its own kind of response, or that traps HTTP exceptions, answers the same."""

    class Own(Response):
        default_mimetype = "text/x-own"

    app = create_app({**CONFIG, "TRAP_HTTP_EXCEPTIONS": trap})
    app.response_class = Own
    app.register_error_handler(Exception, lambda error: ("<h1>no</h1>", 500))
    may_read(Wire(app).post(NO_ARGS, {"Origin": LISTED}))
    may_read(Wire(app).post(NO_ARGS, {"Origin": LISTED, **bearer("nobody")}))
    assert preflight(Wire(app), LISTED).status_code == 204


# --------------------------------------------------------------------------------------------------- flask-cors


def with_flask_cors(order: str, config: dict[str, Any], **options: Any) -> Flask:
    """An app whose flask-cors was set up before or after the server."""
    app = Flask("with_flask_cors")
    app.config.update({"SECRET_KEY": "a key for the tests", **config})
    users = Users({"alice": User("alice")})
    LoginManager(app).request_loader(users.by_token)
    app.add_url_rule("/page", "page", lambda: "a page")
    if order == "before":
        CORS(app, **options)
    ArandoMCP(app, make_server())
    if order == "after":
        CORS(app, **options)
    return app


ORDERS = pytest.mark.parametrize("order", ["before", "after"])


@ORDERS
@pytest.mark.parametrize("options", [{}, {"origins": [LISTED]}, {"send_wildcard": True}])
def test_h09_where_flask_cors_answers_nothing_is_said_twice(order: str, options: dict[str, Any]) -> None:
    """An app-wide flask-cors decides for the server's route too, whichever was set up first."""
    app = with_flask_cors(order, {**CONFIG, "MCP_MAX_MESSAGE": 1000, "MCP_LOGIN_REQUIRED": True}, **options)
    origin = "*" if "send_wildcard" in options else LISTED
    granted = preflight(Wire(app), LISTED)
    assert granted.status_code == 204
    assert words(granted, "Access-Control-Allow-Headers") == set(SENT.split(","))
    assert "post" in words(granted, "Access-Control-Allow-Methods")
    for answer in (granted, *answers(app).values()):
        assert answer.headers.getlist("Access-Control-Allow-Origin") == [origin]
        for name in ("Access-Control-Expose-Headers", "Access-Control-Allow-Headers", "Vary"):
            assert len(answer.headers.getlist(name)) <= 1
        assert "Access-Control-Expose-Headers" not in answer.headers
        assert "Access-Control-Allow-Credentials" not in answer.headers


@ORDERS
@pytest.mark.parametrize("options", [{"resources": "/api/*"}, {"origins": ["https://other.example"]}])
def test_h09_where_flask_cors_says_nothing_we_do(order: str, options: dict[str, Any]) -> None:
    """A flask-cors that is for other routes, or other origins, leaves the listed origins to the server."""
    app = with_flask_cors(order, {**CONFIG, "MCP_MAX_MESSAGE": 1000, "MCP_LOGIN_REQUIRED": True}, **options)
    granted = preflight(Wire(app), LISTED)
    assert granted.status_code == 204
    assert words(granted, "Access-Control-Allow-Headers") == set(SENT.split(","))
    for answer in (granted, *answers(app).values()):
        may_read(answer)


@ORDERS
def test_h09_flask_cors_opens_no_door(order: str) -> None:
    """An app that shows its pages to any origin, credentials and all, still lets no other origin's page call a tool."""
    app = with_flask_cors(order, CONFIG, supports_credentials=True)
    assert Wire(app).client.get("/page", headers={"Origin": "https://evil.example"}).status_code == 200
    for headers in ({}, bearer("alice")):
        delete = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}}, "q-1")
        answer = Wire(app).post(delete, {"Origin": "https://evil.example", **headers})
        assert answer.status_code == 403
        assert len(answer.headers.getlist("Access-Control-Allow-Origin")) <= 1
    assert calls == []
