"""A test client's requests go through all that the app does with a request, from wherever the app is served."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, Response, abort, redirect, request
from flask_login import current_user
from flask_wtf.csrf import CSRFProtect
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.wrappers import Response as BaseResponse

from flask_arandu_mcp import ArandoMCP, Request, Server, public, tool
from flask_arandu_mcp.testing import MCPClient

from ..app import Users, create_app
from .failing import failure

ERAS = pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])


@tool(access=public)
def where(request: Request) -> dict[str, str]:
    """Says where the request went."""
    from flask import request as sent

    return {"url": sent.url, "root": sent.root_path, "user": str(current_user.get_id())}


def served(config: dict[str, Any] | None = None) -> Flask:
    """An app whose server says where it is."""
    return create_app(config, server=Server("where", tools=[where]))


def as_bob(app: Flask, revision: str, **options: Any) -> MCPClient:
    """A client of that server, as a user."""
    users: Users = app.extensions["test_users"]
    return MCPClient(app, revision=revision, **options).acting_as(users["bob"])


@ERAS
@pytest.mark.parametrize("url", ["/tools/mcp", "/tools/mcp/", "/"])
def test_a_url_of_the_servers_own(revision: str, url: str) -> None:
    """A server is found at its own URL."""
    app = served()
    ArandoMCP(app, Server("elsewhere", tools=[where]), name="elsewhere", url=url)
    data = as_bob(app, revision, server="elsewhere").call("where").data
    assert data == {"url": f"http://localhost{url}", "root": "", "user": "bob"}


@ERAS
def test_a_root_path(revision: str) -> None:
    """An app that is mounted below a path is asked below it, and its session cookie holds there."""
    app = served({"APPLICATION_ROOT": "/shop"})
    assert as_bob(app, revision).call("where").data == {
        "url": "http://localhost/shop/mcp",
        "root": "/shop",
        "user": "bob",
    }


@ERAS
def test_a_root_path_that_the_server_tells(revision: str) -> None:
    """Where the root path is known to whoever serves the app alone, a test says it."""
    data = as_bob(served(), revision, base_url="https://example.org/shop").call("where").data
    assert data == {"url": "https://example.org/shop/mcp", "root": "/shop", "user": "bob"}


@ERAS
def test_middleware_is_run(revision: str) -> None:
    """Middleware around the app is around the test's requests too."""
    app = served()
    app.wsgi_app = ProxyFix(app.wsgi_app, x_host=1, x_prefix=1)  # type: ignore[method-assign]  # as werkzeug says to
    client = as_bob(app, revision).with_headers({"X-Forwarded-Host": "blog.example", "X-Forwarded-Prefix": "/behind"})
    assert client.call("where").data["url"] == "http://blog.example/behind/mcp"


@ERAS
@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({"TRUSTED_HOSTS": ["blog.example", "localhost"]}, "http://blog.example/mcp"),
        ({"TRUSTED_HOSTS": [".blog.example"], "PREFERRED_URL_SCHEME": "https"}, "https://blog.example/mcp"),
        ({"TRUSTED_HOSTS": ["blog.example"], "APPLICATION_ROOT": "/a"}, "http://blog.example/a/mcp"),
        ({"TRUSTED_HOSTS": ["blog.example"], "SERVER_NAME": "blog.example"}, "http://blog.example/mcp"),
    ],
)
def test_trusted_hosts(revision: str, config: dict[str, Any], url: str) -> None:
    """A request comes to a host that the app trusts; to another one only where a test says so."""
    app = served(config)
    assert as_bob(app, revision).call("where").data | {"root": ""} == {"url": url, "root": "", "user": "bob"}
    lost = MCPClient(app, revision=revision, base_url="http://evil.example").call("where")
    assert (lost.status, lost.is_error) == (400, True)
    lost.assert_error("Bad Request")


@ERAS
def test_csrf_protection(revision: str) -> None:
    """An app with CSRFProtect serves an MCP client without a token, and protects its other routes."""
    app = served()
    CSRFProtect(app)
    assert as_bob(app, revision).call("where").assert_ok().data["user"] == "bob"
    assert app.test_client().post("/sign-in/bob").status_code == 400


@ERAS
def test_before_request_that_redirects(revision: str) -> None:
    """An app that sends guests to its sign-in page refuses them, and is not followed there."""
    app = served()

    @app.before_request
    def require_login() -> Response | None:
        if not current_user.is_authenticated and request.path != "/sign-in":
            return redirect("/sign-in")  # type: ignore[return-value]  # werkzeug's
        return None

    refused = MCPClient(app, revision=revision).call("where").assert_refused("401 Unauthorized")
    assert refused.status == 401
    assert as_bob(app, revision).call("where").data["user"] == "bob"


@ERAS
def test_before_request_that_aborts(revision: str) -> None:
    """What the app refuses before any view is refused, in its status."""
    app = served()
    app.before_request(lambda: abort(403) if request.headers.get("X-Country") == "XX" else None)
    client = as_bob(app, revision)
    client.call("where").assert_ok()
    assert client.with_headers({"X-Country": "XX"}).call("where").assert_refused().status == 403


@ERAS
def test_error_handlers(revision: str) -> None:
    """A refusal is in the words of the app's own error handlers, as a client is told it."""
    app = create_app()

    @app.errorhandler(403)
    def forbidden(error: Any) -> tuple[dict[str, str], int]:
        return {"problem": str(error.description)}, 403

    refused = MCPClient(app, revision=revision).call("fail", how="forbidden").assert_refused("Not yours")
    assert refused.data == {"problem": "Not yours."}
    assert refused.text == '{"problem":"Not yours."}'


def test_an_exception_of_the_app_reaches_the_test() -> None:
    """What an app under test lets through its own code comes through here as well."""
    app = create_app({"TESTING": True})

    @app.before_request
    def crash() -> None:
        raise RuntimeError("before anything")

    with pytest.raises(RuntimeError, match="before anything"):
        MCPClient(app).call("whoami")


def test_what_is_no_message() -> None:
    """A page that stands in the way is shown for what it is."""
    app = create_app()
    app.wsgi_app = BaseResponse("<h1>Busy", 503, mimetype="text/html")  # type: ignore[method-assign]  # an app too
    result = MCPClient(app).call("add", a=1, b=2)
    assert (result.is_error, result.status, result.text) == (True, 503, "<h1>Busy")
    assert "should have been answered, and was an error:\n    HTTP 503: <h1>Busy" in failure(result.assert_ok)
    assert "failed for another reason" in failure(result.assert_refused)
    result.assert_sees("Busy")
