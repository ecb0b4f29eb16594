"""One POST route that answers in JSON, whatever the application around it does. What the app's own code says in the
server's place reaches the client as the error of its status."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, Response, abort, got_request_exception, jsonify, make_response, redirect, request
from flask.cli import routes_command
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import HTTPException, TooManyRequests, Unauthorized
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client, TestResponse

from flask_arandu_mcp import ArandoMCP, DeclarationError, Request, Server, public, tool

from .app import calls, create_app, make_server
from .wire import Wire, bearer, call, modern, modern_headers

LIST = call("tools/list", id="q-1")
DELETE = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}}, "q-1")


def is_ours(answer: TestResponse) -> None:
    """An answer of the server: compact JSON, not to be kept, without a cookie or a redirect."""
    assert answer.mimetype == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    assert "Location" not in answer.headers
    assert answer.data.isascii()
    if answer.data:
        assert answer.text == json.dumps(json.loads(answer.data), separators=(",", ":"))


def is_error(answer: TestResponse, status: int, code: int, id: Any = "q-1") -> str:
    """An error of the server; its words."""
    is_ours(answer)
    assert answer.status_code == status, answer.data
    body = answer.get_json()
    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", id, code)
    assert "<" not in body["error"]["message"]
    return str(body["error"]["message"])


def is_served(answer: TestResponse) -> None:
    is_ours(answer)
    assert answer.status_code == 200
    assert "result" in answer.get_json()


# ---------------------------------------------------------------------------------------------- the route itself

OTHER_METHODS = ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "FOO", "get"]


@pytest.mark.parametrize("method", OTHER_METHODS)
@pytest.mark.parametrize("headers", [{}, bearer("nobody"), {"Accept": "text/event-stream"}, {"Mcp-Session-Id": "abc"}])
def test_h06_what_is_no_post_is_405(wire: Wire, method: str, headers: dict[str, str]) -> None:
    """Any other method is 405 with the methods that there are, as JSON, before anybody is asked who they are."""
    answer = wire.client.open("/mcp", method=method, headers=headers)
    is_ours(answer)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST, OPTIONS"
    assert "WWW-Authenticate" not in answer.headers
    if method.upper() == "HEAD":
        assert answer.data == b""
    else:
        assert answer.get_json()["id"] is None
        assert answer.get_json()["error"]["code"] == -32600


@pytest.mark.parametrize("config", [{"MCP_LOGIN_REQUIRED": True}, {"TESTING": True}, {"TRAP_HTTP_EXCEPTIONS": True}])
def test_h06_a_405_is_the_same_for_whoever_asks(config: dict[str, Any]) -> None:
    """Neither a session, nor a sign-in page, nor the app's handling of errors changes it."""
    app = create_app(config)
    app.register_error_handler(405, lambda error: ("<h1>no</h1>", 405))
    wire = Wire(app)
    wire.sign_in("alice")
    answer = wire.client.get("/mcp", headers={"Accept": "text/event-stream"})
    is_error(answer, 405, -32600, None)
    assert answer.headers["Allow"] == "POST, OPTIONS"


def test_options_says_what_there_is(wire: Wire) -> None:
    """OPTIONS costs nothing and asks nobody; without listed origins it grants no page anything."""
    answer = wire.client.options("/mcp", headers={**bearer("nobody"), "Access-Control-Request-Method": "POST"})
    assert (answer.status_code, answer.data) == (204, b"")
    assert answer.headers["Allow"] == "POST, OPTIONS"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Access-Control" not in str(answer.headers)


@pytest.mark.parametrize("url", ["/mcp", "/mcp/", "/ai/tools", "/ai/tools/", "/"])
def test_the_final_slash_makes_no_difference(url: str) -> None:
    """The URL is served with and without its final slash, and neither redirects to the other."""
    app = Flask(__name__)
    ArandoMCP(app, make_server(), url=url)
    for path in {url.rstrip("/") or "/", url.rstrip("/") + "/"}:
        is_served(Wire(app, path).post(LIST))
        assert app.test_client().get(path).status_code == 405
    assert app.test_client().post("/elsewhere").status_code == 404


def test_the_url_comes_before_the_apps_own_rules() -> None:
    """A rule of the app that matches every path does not take the server's."""
    app = create_app()
    app.add_url_rule("/<path:path>", "everything", lambda path: "a page", methods=["GET", "POST", "OPTIONS"])
    is_served(Wire(app).post(LIST))
    is_served(Wire(app, "/mcp/").post(LIST))
    assert app.test_client().get("/mcp").status_code == 405
    assert app.test_client().post("/mcp/more").text == "a page"


def test_the_route_is_listed_with_the_others(app: Flask) -> None:
    """`flask routes` shows where the server is."""
    shown = app.test_cli_runner().invoke(routes_command)
    assert shown.exit_code == 0
    assert "arandu_mcp.serve" in shown.output
    with app.test_request_context():
        assert app.url_for("arandu_mcp.serve") in ("/mcp", "/mcp/")


def test_an_app_below_a_path_serves_there() -> None:
    """Under a SCRIPT_NAME the URL is one of the app's own, as any other."""
    outer = DispatcherMiddleware(Flask("outer"), {"/blog": create_app()})
    client = Client(outer)
    is_served(client.post("/blog/mcp", json=LIST))
    is_served(client.post("/blog/mcp/", json=LIST))
    assert client.post("/mcp", json=LIST).status_code == 404


@pytest.mark.parametrize(
    "accept",
    [None, "", "*/*", "application/json", "text/event-stream", "application/json, text/event-stream", "text/html", "x"],
)
def test_accept_is_read_generously(wire: Wire, accept: str | None) -> None:
    """Whatever a client says it accepts, it gets the one kind of answer that there is."""
    is_served(wire.post(LIST, {} if accept is None else {"Accept": accept}))


@pytest.mark.parametrize("event", ["5", "", "x/y"])
def test_h06_last_event_id_is_ignored(wire: Wire, event: str) -> None:
    """There is no stream to resume, and nobody is refused for asking."""
    is_served(wire.post(LIST, {"Last-Event-ID": event}))
    message = modern("tools/list")
    is_served(wire.post(message, {**modern_headers(message), "Last-Event-ID": event, "Mcp-Session-Id": "abc"}))


def test_what_is_owed_no_answer_is_202(wire: Wire) -> None:
    """A notification is taken without a body."""
    answer = wire.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    is_ours(answer)
    assert (answer.status_code, answer.data) == (202, b"")


# ------------------------------------------------------------------------------------------------- media types

FORM = "multipart/form-data; boundary=x"


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", FORM, None, "application/jsonp"])
@pytest.mark.parametrize("body", [json.dumps(DELETE), "{", "a=1"])
def test_h04_another_media_type_is_415_unread(wire: Wire, type: str | None, body: str) -> None:
    """What a page could send without a preflight is refused as JSON, unread, and nothing runs."""
    wire.sign_in("alice")
    answer = wire.post(body, bearer("nobody"), content_type=type)
    assert "application/json" in is_error(answer, 415, -32600, None)
    assert calls == []


@pytest.mark.parametrize(
    "type", ["application/json; charset=utf-8", "APPLICATION/JSON", 'application/json;charset="utf8"']
)
def test_h04_json_in_utf8_is_served(wire: Wire, type: str) -> None:
    """`application/json` is taken in any case, with UTF-8 or no charset."""
    body = json.dumps(call("tools/call", {"name": "echo", "arguments": {"value": "é"}}), ensure_ascii=False)
    answer = wire.post(body.encode(), {"MCP-Protocol-Version": "2025-11-25"}, content_type=type)
    assert answer.get_json()["result"]["structuredContent"] == {"value": "é"}


@pytest.mark.parametrize("type", ["application/json;charset=latin-1", "application/json; charset=utf-16"])
def test_h04_another_charset_is_415(wire: Wire, type: str) -> None:
    """JSON is UTF-8; a body that says otherwise is not guessed at."""
    is_error(wire.post(LIST, content_type=type), 415, -32600, None)


def test_the_checks_come_in_their_order() -> None:
    """Origin, method, media type, size, parse, identity: what comes first is what is answered."""
    wire = Wire(create_app({"MCP_MAX_MESSAGE": 500}))
    sent: dict[str, Any] = {"method": "PUT", "data": "{" * 600, "content_type": "text/plain"}
    headers = {"Origin": "https://evil.example", **bearer("nobody")}
    statuses = []
    for mended in ({"headers": bearer("nobody")}, {"method": "POST"}, {"content_type": "application/json"},
                   {"data": "{"}, {"data": json.dumps(LIST)}, {"headers": bearer("alice")}):  # fmt: skip
        statuses.append(wire.client.open("/mcp", **{"headers": headers, **sent}).status_code)
        sent |= mended
    statuses.append(wire.client.open("/mcp", **sent).status_code)
    assert statuses == [403, 405, 415, 413, 400, 401, 200]


# ------------------------------------------------------------------------- the app's own code, in the server's place


def respond(answer: ResponseReturnValue) -> Callable[[], ResponseReturnValue]:
    return lambda: answer


def fail(error: BaseException) -> Callable[[], ResponseReturnValue]:
    def raising() -> ResponseReturnValue:
        raise error

    return raising


def with_cookie() -> Response:
    response = make_response("<h1>Hello</h1>", 200)
    response.set_cookie("mine", "1")
    return response


ANSWERS: dict[str, tuple[Callable[[], ResponseReturnValue], int, int]] = {
    "redirects": (lambda: redirect("/sign-in"), 401, 401),
    "redirects for good": (lambda: redirect("https://example.org/", 308), 401, 401),
    "raises a redirect": (lambda: abort(redirect("/sign-in")), 401, 401),
    "aborts with 400": (lambda: abort(400), 400, 400),
    "aborts with 401": (lambda: abort(401), 401, 401),
    "aborts with 403": (lambda: abort(403, "<b>not you</b>"), 403, 403),
    "aborts with 404": (lambda: abort(404), 404, 404),
    "aborts with 429": (lambda: abort(429), 429, 429),
    "aborts with 503": (lambda: abort(503), 503, -32603),
    "aborts with a response": (lambda: abort(Response("<h1>no</h1>", 418)), 418, 418),
    "raises": (fail(RuntimeError("the app's secret")), 500, -32603),
    "returns text": (respond("<h1>Hello</h1>"), 500, -32603),
    "returns a cookie": (with_cookie, 500, -32603),
    "returns nothing much": (respond(("", 204)), 500, -32603),
    "returns JSON": (lambda: jsonify(result={}, jsonrpc="2.0", id="q-1"), 500, -32603),
    "returns a JSON error": (lambda: (jsonify(error="no"), 402), 402, 402),
    "returns no status": (respond(("odd", 299)), 500, -32603),
    "returns an odd status": (respond(("odd", 499)), 499, 499),
}


def _page(error: Exception) -> ResponseReturnValue:
    """What an app's handler makes of an error: a page with its status."""
    response = make_response(f"<!doctype html><h1>{error}</h1>", getattr(error, "code", None) or 500)
    response.set_cookie("seen", "1")
    return response


HANDLERS: dict[str, tuple[type[Exception] | int, ...]] = {
    "no handlers": (),
    "a handler of everything": (Exception,),
    "a handler of HTTP errors": (HTTPException,),
    "handlers of codes": (400, 401, 403, 404, 405, 413, 415, 500),
}


def handle_with_pages(app: Flask, what: tuple[type[Exception] | int, ...]) -> None:
    for one in what:
        app.register_error_handler(one, _page)


@pytest.mark.parametrize("handlers", HANDLERS.values(), ids=HANDLERS)
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_h11_an_answer_of_the_apps_own_becomes_the_error_of_its_status(
    answer: tuple[Callable[[], ResponseReturnValue], int, int], handlers: tuple[type[Exception] | int, ...]
) -> None:
    """A before_request that answers first is a JSON-RPC error with the id, and no word or cookie of it goes out."""
    before, status, code = answer
    app = create_app()
    handle_with_pages(app, handlers)
    app.before_request(before)
    wire = Wire(app)
    words = is_error(wire.post(LIST), status, code)
    assert "secret" not in words
    assert wire.post({"jsonrpc": "2.0", "method": "notifications/x"}).get_json()["id"] is None


def test_a01_a_redirect_of_somebody_signed_in_is_403(app: Flask) -> None:
    """Who is signed in already is not told to sign in; a page that must come first is a refusal."""
    app.before_request(lambda: redirect("/terms"))
    is_error(Wire(app).post(LIST, bearer("alice")), 403, 403)
    is_error(Wire(app).post(modern("tools/list", id="q-1"), bearer("alice")), 403, 403)


def test_a01_a_401_of_the_apps_own_has_a_challenge(app: Flask) -> None:
    """A client can act on a 401 only when it is told how; what the app says of that is kept."""
    answers = iter([Unauthorized(), Unauthorized(www_authenticate=WWWAuthenticate("basic", {"realm": "x"}))])

    @app.before_request
    def refuse() -> None:
        raise next(answers)

    wire = Wire(app)
    assert wire.post(LIST).headers["WWW-Authenticate"] == 'Bearer realm="shop"'
    assert wire.post(LIST).headers["WWW-Authenticate"] == "Basic realm=x"


def test_when_to_try_again_is_kept(app: Flask) -> None:
    """A Retry-After of the app's own goes out with the error."""
    app.before_request(fail(TooManyRequests(retry_after=30)))
    answer = Wire(app).post(LIST)
    is_error(answer, 429, 429)
    assert answer.headers["Retry-After"] == "30"


class NotAMember(Exception):
    """An error of the app's own."""


def test_an_error_of_the_apps_own_is_what_its_handler_says(app: Flask) -> None:
    """An app that maps errors of its own to answers has them mapped here too; the status is what counts."""
    app.register_error_handler(NotAMember, lambda error: (jsonify(error="members only"), 403))
    app.before_request(fail(NotAMember()))
    is_error(Wire(app).post(LIST), 403, 403)


def test_nothing_runs_where_the_app_refuses(app: Flask) -> None:
    """The app's refusal comes before the server sees the message."""
    app.before_request(lambda: abort(403))
    is_error(Wire(app).post(DELETE, bearer("alice")), 403, 403)
    assert calls == []


def test_the_apps_own_code_may_read_the_body(app: Flask) -> None:
    """A before_request that reads every JSON body, as an audit log does, finds it and is in nobody's way."""
    read: list[Any] = []

    @app.before_request
    def audit() -> None:
        read.append((request.get_json(), request.get_data(), len(request.form)))

    is_served(Wire(app).post(LIST))
    assert read == [(LIST, json.dumps(LIST).encode(), 0)]


def test_an_app_wide_preprocessor_that_breaks_is_an_error_too(app: Flask) -> None:
    """Even what runs before the server's own checks is answered as JSON; without a message there is no id."""

    @app.url_value_preprocessor
    def choose(endpoint: str | None, values: dict[str, Any] | None) -> None:
        abort(redirect("/choose"))

    is_error(Wire(app).post(LIST), 401, 401, None)


@pytest.mark.parametrize("handlers", HANDLERS.values(), ids=HANDLERS)
@pytest.mark.parametrize(
    "config", [{}, {"TRAP_HTTP_EXCEPTIONS": True}, {"TESTING": True, "TRAP_HTTP_EXCEPTIONS": True}, {"DEBUG": True}]
)
def test_h11_no_handler_of_the_app_restyles_an_answer(
    config: dict[str, Any], handlers: tuple[type[Exception] | int, ...]
) -> None:
    """The server's own refusals are not errors of the app: no handler sees them, none is logged, none is raised."""
    app = create_app(config)
    seen: list[Any] = []
    handle_with_pages(app, handlers)
    got_request_exception.connect(lambda *_, **said: seen.append(said), app, weak=False)
    wire = Wire(app)
    is_error(wire.client.get("/mcp"), 405, -32600, None)
    is_error(wire.post(LIST, content_type="text/plain"), 415, -32600, None)
    is_error(wire.post("{"), 400, -32700, None)
    is_error(wire.post(LIST, bearer("nobody")), 401, 401)
    is_error(wire.post(call("no/such", id="q-1")), 200, -32601)
    assert wire.post(LIST, {"Origin": "null"}).status_code == 403
    assert wire.client.options("/mcp").status_code == 204
    assert seen == []


class OwnResponse(Response):
    """An app's response class, which thinks that every answer is a page."""

    default_mimetype = "text/html"


def test_h11_a_response_class_of_the_apps_own_changes_nothing() -> None:
    """An app that makes all responses its own kind of response gets the server's as they are."""
    app = create_app()
    app.response_class = OwnResponse
    app.before_request(lambda: abort(418) if request.headers.get("X-Tea") else None)
    wire = Wire(app)
    wire.sign_in("alice")
    is_served(wire.post(LIST))
    is_error(wire.post(LIST, bearer("nobody")), 401, 401)
    is_error(wire.post(LIST, {"X-Tea": "1"}), 418, 418)
    is_error(wire.client.put("/mcp"), 405, -32600, None)
    assert wire.client.get("/none").mimetype == "text/html"


@pytest.mark.parametrize("config", [{}, {"TESTING": True}, {"PROPAGATE_EXCEPTIONS": True}, {"DEBUG": True}])
def test_h11_a_tool_that_crashes_is_reported_and_answered(
    config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The exception of a tool is logged and signalled, and never reaches the app's handlers or the client."""
    app = create_app(config)
    app.register_error_handler(Exception, _page)
    signalled: list[Exception] = []
    got_request_exception.connect(lambda sender, exception: signalled.append(exception), app, weak=False)
    answer = Wire(app).post(call("tools/call", {"name": "fail", "arguments": {"how": "crash"}}, "q-1"))
    is_served(answer)
    result = answer.get_json()["result"]
    assert result["isError"] is True
    assert "secret" not in answer.text
    assert [type(error) for error in signalled] == [RuntimeError]
    ref = result["content"][0]["text"].partition("(ref ")[2].partition(")")[0]
    assert ref
    assert ref in caplog.text
    assert "the handler's secret" in caplog.text


@pytest.mark.parametrize("config", [{}, {"TESTING": True}])
def test_h11_a_resource_and_a_prompt_that_crash_are_errors(config: dict[str, Any]) -> None:
    """What has no tool error is -32603 with the ref, at 200 as every answered request."""
    app = create_app(config)
    app.register_error_handler(Exception, _page)
    answer = Wire(app).post(call("resources/read", {"uri": "shop://items/crash"}, "q-1"))
    assert answer.get_json()["error"]["data"]["ref"] in is_error(answer, 200, -32603)
    assert "secret" not in answer.text


# -------------------------------------------------------------------------------------- several servers, several apps


@tool(access=public)
def where(request: Request) -> str:
    """Says which server this is."""
    return "here"


def small(name: str) -> Server:
    return Server(name, tools=[where], instructions=f"I am {name}.")


def name_at(app: Flask, url: str) -> str:
    answer = Wire(app, url).post(call("initialize", {"protocolVersion": "2025-11-25"}))
    return str(answer.get_json()["result"]["serverInfo"]["name"])


def test_several_servers_on_one_app() -> None:
    """Each server has its own URL, and none answers for another, nested as they may be."""
    app = create_app()
    ArandoMCP(app, small("admin"), name="admin", url="/mcp/admin")
    ArandoMCP(app, small("third"), name="third", url="/third/")
    assert [name_at(app, url) for url in ("/mcp", "/mcp/admin", "/mcp/admin/", "/third")] == [
        "shop", "admin", "admin", "third",
    ]  # fmt: skip
    tools = Wire(app, "/mcp/admin").call("tools/list")["tools"]
    assert [one["name"] for one in tools] == ["where"]
    refused = Wire(app, "/mcp/admin").post(LIST, bearer("nobody"))
    assert refused.headers["WWW-Authenticate"].startswith('Bearer realm="admin"')


def test_several_servers_need_names_and_urls_of_their_own() -> None:
    """A second server of one name or URL stops the app, and says what to write."""
    app = create_app()
    with pytest.raises(DeclarationError, match=r"the name 'default' is taken.*ArandoMCP\(name=") as caught:
        ArandoMCP(app, small("again"))
    assert len(caught.value.faults) == 1
    with pytest.raises(DeclarationError, match=r"url '/mcp/' is taken by the server 'default'"):
        ArandoMCP(app, small("admin"), name="admin", url="/mcp/")
    with pytest.raises(DeclarationError, match="must begin with a slash"):
        ArandoMCP(app, small("admin"), name="admin", url="admin")


def test_two_apps_on_one_extension_object() -> None:
    """An extension object keeps nothing of an app: each app has its settings, its server and its users."""
    mcp = ArandoMCP(server=small("shared"))
    apps = [Flask("one"), Flask("two"), Flask("three")]
    apps[0].config["MCP_LOGIN_REQUIRED"] = True
    mcp.init_app(apps[0])
    mcp.init_app(apps[1])
    mcp.init_app(apps[2], small("own"))
    assert Wire(apps[0]).post(LIST).status_code == 401
    assert [name_at(app, "/mcp") for app in apps[1:]] == ["shared", "own"]


def test_an_app_without_a_server_serves_an_empty_one() -> None:
    """`ArandoMCP(app)` alone answers, under the app's name, that there is nothing yet."""
    app = Flask("nothing")
    ArandoMCP(app)
    assert name_at(app, "/mcp") == "nothing"
    is_error(Wire(app).post(LIST), 200, -32601)


def test_an_answer_that_the_app_rewrites_has_its_new_length(app: Flask) -> None:
    """What the app's after_request does to an answer goes out whole, as from any view."""

    @app.after_request
    def rewrite(response: Response) -> Response:
        response.set_data(response.get_data() + b" " * 10)
        response.headers["X-Seen"] = "yes"
        return response

    @app.after_request
    def clear(response: Response) -> Response:
        response.headers.clear()
        response.content_type = "application/json"
        return response

    answer = Wire(app).post(call("ping"))
    assert answer.get_json()["result"] == {}
    assert answer.headers["X-Seen"] == "yes"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert int(answer.headers["Content-Length"]) == len(answer.data)


def test_a_copy_of_an_answer_is_not_stored_either() -> None:
    """The app's own code sees that an answer is not to be kept, and takes that along into one that it makes of it."""
    app, seen = create_app(), []

    @app.after_request
    def copy(response: Response) -> Response:
        response.headers.setdefault("Cache-Control", "public, max-age=600")
        return Response(response.get_data(), response.status, response.headers)

    @app.after_request
    def look(response: Response) -> Response:
        seen.append(response.cache_control.no_store)
        return response

    wire = Wire(app)
    for answer in (wire.post(LIST), wire.post(b"{"), wire.client.get("/mcp")):
        assert answer.headers["Cache-Control"] == "no-store"
    assert seen == [True] * 3


@pytest.mark.parametrize("pieces", [list, iter])
@pytest.mark.parametrize("origins", [[], ["https://chat.example"]])
def test_no_answer_is_stored_whatever_the_app_says_of_its_pages(
    origins: list[str], pieces: Callable[[list[bytes]], Any]
) -> None:
    """Whole answers are for who asked, errors and 405 too: an app that lets its pages be kept does not mean them."""
    app = create_app({"MCP_ALLOWED_ORIGINS": origins})

    @app.after_request
    def keep(response: Response) -> Response:
        response.headers["cache-control"] = "public, max-age=600"
        response.response = pieces([response.get_data()])
        return response

    wire = Wire(app)
    headers = {"Origin": "https://chat.example"} if origins else {}
    answers = [wire.post(LIST, headers), wire.post(b"{", headers), wire.client.get("/mcp", headers=headers)]
    assert [answer.status_code for answer in answers] == [200, 400, 405]
    for answer in answers:
        assert answer.headers.getlist("Cache-Control") == ["no-store"]
    assert app.test_client().get("/elsewhere").headers["Cache-Control"] == "public, max-age=600"


@pytest.mark.parametrize("url", ["/mcp", "/"])
def test_a_rule_of_the_app_that_hides_the_server_is_a_fault(url: str) -> None:
    """An endpoint that the app has at the very URL would be asked in the server's place, without a word."""
    app = Flask("hiding")
    app.add_url_rule(url, "mine", lambda: "a page", methods=["POST"])
    mcp = ArandoMCP(app, make_server(), url=url)
    with pytest.raises(DeclarationError, match=rf"POST {url} leads to the app's endpoint 'mine'"):
        mcp.check(app)


@pytest.mark.parametrize("status", [400, 404, 500])
def test_data_with_a_status_is_no_success(status: int, caplog: pytest.LogCaptureFixture) -> None:
    """What a view would refuse with is not sent out as an answer; a list of such values is data."""

    @tool(access=public)
    def refusing(request: Request) -> Any:
        """Refuses as a view may."""
        return {"error": "gone"}, status

    @tool(access=public)
    def counting(request: Request) -> Any:
        """Gives a pair of numbers."""
        return [{"n": 1}, status]

    app = Flask("pairs")
    ArandoMCP(app, Server("s", tools=[refusing, counting]))
    result = Wire(app).post(call("tools/call", {"name": "refusing"})).get_json()["result"]
    assert result["isError"] is True
    assert "gone" not in str(result)
    assert f"data and the status {status}" in caplog.text
    assert not Wire(app).post(call("tools/call", {"name": "counting"})).get_json()["result"].get("isError")


def test_pairs_of_numbers_are_data() -> None:
    """A size is no refusal, whatever its second number."""

    @tool(access=public)
    def size(request: Request) -> Any:
        """Gives a size in pixels."""
        return (640, 480)

    app = Flask("sizes")
    ArandoMCP(app, Server("s", tools=[size]))
    result = Wire(app).post(call("tools/call", {"name": "size"})).get_json()["result"]
    assert json.loads(result["content"][0]["text"]) == {"result": [640, 480]}
