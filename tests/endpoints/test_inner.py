"""The request that a tool of an endpoint makes of the app: what it has of the one around it, whose it is, and what is
left when it is over."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, Response, g, has_app_context, has_request_context, jsonify, request, session
from flask_login import LoginManager, UserMixin, current_user, login_required
from flask_wtf.csrf import CSRFProtect

from flask_arandu_mcp import ArandoMCP, Server, endpoint_tool, guest, public

from ..wire import Pipe, Wire, call


class User(UserMixin):
    """A user that is another object each time that it is loaded."""

    def __init__(self, id: str) -> None:
        self.id = id


def mirror() -> Response:
    """Shows the request."""
    wanted = ("REQUEST_METHOD", "SCRIPT_NAME", "REMOTE_ADDR", "wsgi.url_scheme", "HTTP_HOST")
    headers = {name.lower(): value for name, value in request.headers.items()}
    environ = {name: request.environ.get(name) for name in wanted}
    return jsonify({"headers": headers, "environ": environ, "url": request.url, "session": dict(session)})


def create_app(**config: Any) -> Flask:
    app = Flask(__name__)
    app.config.from_mapping({"SECRET_KEY": "a key for the tests", "TESTING": True, **config})
    login = LoginManager(app)
    login.user_loader(lambda id: User(id) if id in "ab" else None)

    def by_token(request: Any) -> User | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        return User(f"machine-{token}") if token else None

    login.request_loader(by_token)

    @app.post("/sign-in/<id>")
    def sign_in(id: str) -> str:
        session["_user_id"] = id
        session["colour"] = "red"
        return "ok"

    app.add_url_rule("/mirror", "mirror", mirror)
    app.add_url_rule("/send", "send", mirror, methods=["POST"])

    @app.get("/who")
    def who() -> Response:
        """Says who asks."""
        mine = getattr(g, "outer", None)
        return jsonify({"id": current_user.get_id(), "g": mine, "authenticated": current_user.is_authenticated})

    def private() -> Response:
        """For users."""
        return jsonify({"id": current_user.get_id()})

    app.add_url_rule("/private", "private", login_required(private))

    tools = [endpoint_tool(name) for name in ("mirror", "send", "who", "private")]
    mcp = ArandoMCP(app, Server("inner", access=public, tools=tools))
    mcp.local_subject(lambda: User("a"))
    return app


def use(wire: Wire, name: str, headers: dict[str, str] | None = None, **options: Any) -> Any:
    message = call("tools/call", {"name": name, "arguments": {}})
    return wire.post(message, {"MCP-Protocol-Version": "2025-11-25", **(headers or {})}, **options).get_json()["result"]


def test_what_an_inner_request_has_of_the_outer_one() -> None:
    """Scheme, host, root, address, cookies and language come along, JSON is accepted, and that is all."""
    wire = Wire(create_app())
    wire.client.set_cookie("flavour", "plain", domain="example.org", path="/")
    headers = {
        "Accept-Language": "pt",
        "Accept": "text/html",
        "X-Forwarded-For": "6.6.6.6",
        "X-Custom": "1",
        "User-Agent": "a model",
        "If-None-Match": "*",
        "Sec-Fetch-Site": "same-origin",
    }
    environ = {"REMOTE_ADDR": "10.1.2.3"}
    shown = use(wire, "mirror", headers, base_url="https://example.org/root", environ_overrides=environ)
    seen = shown["structuredContent"]
    assert seen["environ"] == {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "/root",
        "REMOTE_ADDR": "10.1.2.3",
        "wsgi.url_scheme": "https",
        "HTTP_HOST": "example.org",
    }
    assert seen["url"] == "https://example.org/root/mirror"
    assert seen["headers"] == {
        "host": "example.org",
        "accept": "application/json",
        "accept-language": "pt",
        "cookie": "flavour=plain",
        "content-length": "0",
    }


def test_a_header_that_the_app_names_comes_along() -> None:
    """A tenant that a header chooses is the endpoint's tenant too, where the app says so."""
    wire = Wire(create_app(MCP_ENDPOINT_HEADERS=["X-Tenant", "x-plan"]))
    seen = use(wire, "mirror", {"X-Tenant": "globex", "X-Plan": "gold", "X-Custom": "1"})["structuredContent"]
    assert (seen["headers"]["x-tenant"], seen["headers"]["x-plan"]) == ("globex", "gold")
    assert "x-custom" not in seen["headers"]
    assert "x-tenant" not in use(wire, "mirror")["structuredContent"]["headers"]


def test_the_session_of_the_browser_comes_along() -> None:
    """A tool that is called with a session sees that session, and acts as its user."""
    wire = Wire(create_app())
    assert wire.client.post("/sign-in/b").status_code == 200
    assert use(wire, "who")["structuredContent"] == {"id": "b", "g": None, "authenticated": True}
    assert use(wire, "mirror")["structuredContent"]["session"]["colour"] == "red"
    assert use(wire, "private")["structuredContent"] == {"id": "b"}


def test_a_guest_is_a_guest_within() -> None:
    """What refuses a guest of the app refuses one that comes by a tool."""
    wire = Wire(create_app())
    assert use(wire, "who")["structuredContent"]["authenticated"] is False
    refused = use(wire, "private")
    assert refused["isError"] is True
    assert refused["content"][0]["text"].startswith("401 Unauthorized")


def test_a_token_is_read_by_the_loader_of_tokens() -> None:
    """A user of a token is never taken for the one of the same id that the loader of sessions knows."""
    wire = Wire(create_app())
    headers = {"Authorization": "Bearer a"}
    assert use(wire, "who", headers)["structuredContent"]["id"] == "machine-a"


def test_the_local_subject_over_the_pipe() -> None:
    """Over the pipe an endpoint is asked as the local subject, without a session."""
    with Pipe("tests.endpoints.test_inner") as pipe:
        answer = pipe.ask(call("tools/call", {"name": "private", "arguments": {}}))
        assert answer["result"]["structuredContent"] == {"id": "a"}
        answer = pipe.ask(call("tools/call", {"name": "mirror", "arguments": {}}))
        seen = answer["result"]["structuredContent"]
    assert seen["environ"]["REMOTE_ADDR"] == "127.0.0.1"
    assert seen["session"] == {}


def test_a_context_of_its_own() -> None:
    """The endpoint has an app context of its own: it sees nothing of the outer one's g, and the outer one's user stays
    the object that it was."""
    app = create_app()
    outside: list[bool] = []

    @app.before_request
    def mark() -> None:
        if request.endpoint == "arandu_mcp.serve":
            g.outer = current_user._get_current_object()

    @app.after_request
    def look(response: Response) -> Response:
        if request.endpoint == "arandu_mcp.serve":
            outside.append(g.outer is current_user._get_current_object())
        return response

    wire = Wire(app)
    wire.client.post("/sign-in/a")
    assert use(wire, "who")["structuredContent"]["g"] is None
    assert outside == [True]


def test_nothing_is_left_behind() -> None:
    """After a call the contexts around it are those that were there before."""
    app = create_app()
    server = app.extensions["arandu_mcp"]["default"].server
    with app.app_context():
        before = g._get_current_object()
        assert server.call(User("a"), "who").data["id"] == "a"
        assert server.call(User("b"), "private").data == {"id": "b"}
        assert server.call(guest, "private").is_error
        assert g._get_current_object() is before
        assert not has_request_context()
    assert not has_app_context()


def test_a_proxy_for_the_user_is_the_user() -> None:
    """`current_user` as the subject is the user that it stands for where it is given."""
    app = create_app()
    server = app.extensions["arandu_mcp"]["default"].server
    with app.test_request_context():
        g._login_user = User("b")
        assert server.call(current_user, "who").data["id"] == "b"


def test_a_request_that_cannot_begin_is_torn_down() -> None:
    """Where a session cannot be opened the call fails, and the next one works."""
    app = create_app()
    broken = {"yes": False}
    interface = app.session_interface
    plain = interface.open_session

    def open_session(app: Flask, request: Any) -> Any:
        if broken["yes"] and request.path == "/who":
            raise OSError("no store")
        return plain(app, request)

    interface.open_session = open_session  # type: ignore[method-assign]  # a store that fails for one path
    wire = Wire(app)
    broken["yes"] = True
    assert use(wire, "who")["content"][0]["text"].startswith("Internal error (ref ")
    broken["yes"] = False
    assert use(wire, "who")["structuredContent"]["authenticated"] is False


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_csrf_protection_is_passed_by_a_token_of_its_own_session(scheme: str) -> None:
    """In an app with CSRFProtect a tool may write, over http and https, and a page of another site may not."""
    app = create_app()
    CSRFProtect(app)
    wire = Wire(app)
    seen = use(wire, "send", base_url=f"{scheme}://example.org")
    assert "x-csrftoken" in seen["structuredContent"]["headers"], seen
    assert app.test_client().post("/send", base_url=f"{scheme}://example.org").status_code == 400


def test_csrf_protection_over_the_pipe() -> None:
    """A call over the pipe passes CSRFProtect, too."""
    with Pipe("tests.endpoints.test_inner:create_protected_app()") as pipe:
        answer = pipe.ask(call("tools/call", {"name": "send", "arguments": {}}))
        assert "x-csrftoken" in answer["result"]["structuredContent"]["headers"]


def create_protected_app() -> Flask:
    app = create_app()
    CSRFProtect(app)
    return app


def test_csrf_protection_by_another_header() -> None:
    """The token goes in the header that the app reads, and not at all where the app has switched the check off."""
    app = create_app(WTF_CSRF_HEADERS=["X-Own-Token"])
    CSRFProtect(app)
    assert "x-own-token" in use(Wire(app), "send")["structuredContent"]["headers"]
    off = create_app(WTF_CSRF_ENABLED=False)
    CSRFProtect(off)
    assert "x-csrftoken" not in use(Wire(off), "send")["structuredContent"]["headers"]


def subdomains() -> Flask:
    app = Flask(__name__, subdomain_matching=True)
    app.config.from_mapping(SERVER_NAME="example.org", SECRET_KEY="a key for the tests", TESTING=True)

    @app.get("/", subdomain="api")
    def root() -> Response:
        """The root of the API."""
        return jsonify({"host": request.host})

    @app.get("/shelf/<int:n>", subdomain="<shop>")
    def shelf(shop: str, n: int) -> Response:
        """A shelf of a shop."""
        return jsonify({"host": request.host, "shop": shop, "n": n})

    ArandoMCP(app, Server("shops", access=public, tools=[endpoint_tool("root"), endpoint_tool("shelf")]))
    return app


def arguments_to(name: str, **arguments: Any) -> dict[str, Any]:
    return call("tools/call", {"name": name, "arguments": arguments})


def test_subdomains() -> None:
    """An endpoint of a subdomain is asked at that subdomain, whose variable is an argument as those of the path are."""
    wire = Wire(subdomains())
    headers = {"MCP-Protocol-Version": "2025-11-25"}

    def ask(message: Any) -> Any:
        return wire.post(message, headers, base_url="http://example.org").get_json()["result"]

    assert ask(arguments_to("root"))["structuredContent"] == {"host": "api.example.org"}
    found = ask(arguments_to("shelf", shop="corner", n=3))["structuredContent"]
    assert found == {"host": "corner.example.org", "shop": "corner", "n": 3}
    for wrong in ("api/x", "a b", "", "evil.com#", "a..b", "x@evil.com:80/"):
        refused = ask(arguments_to("shelf", shop=wrong, n=3))
        assert refused["isError"] is True, wrong
        assert "shop: " in refused["content"][0]["text"]


def test_the_host_of_a_trusted_app_over_the_pipe() -> None:
    """An app that trusts certain hosts is asked at one of them over the pipe."""
    app = create_app(TRUSTED_HOSTS=["example.org"])
    server = app.extensions["arandu_mcp"]["default"].server
    with app.app_context():
        assert server.call(guest, "mirror").data["environ"]["HTTP_HOST"] == "example.org"
