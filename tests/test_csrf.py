"""Apps with Flask-WTF's CSRFProtect: no AI client could have a form's token, so the server's route is left alone, and
it alone. The rules on Origin and Sec-Fetch-Site stand in its place."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, request
from flask_wtf.csrf import CSRFProtect
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, Server

from .app import calls, create_app, make_server
from .wire import Wire, bearer, call

HELLO = call("initialize", {"protocolVersion": "2025-11-25"}, "q-1")
DELETE = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}}, "q-1")


def is_served(answer: TestResponse) -> None:
    assert (answer.status_code, answer.mimetype) == (200, "application/json")
    assert "result" in answer.get_json()


def protected(app: Flask) -> None:
    """The app's own forms are still refused without a token."""
    assert app.test_client().post("/form").status_code == 400


def with_form(app: Flask) -> Flask:
    app.add_url_rule("/form", "form", lambda: "sent", methods=["POST"])
    return app


def plain(config: dict[str, Any] | None = None) -> Flask:
    app = Flask("plain")
    app.config.update({"SECRET_KEY": "a key for the tests", **(config or {})})
    return with_form(app)


@pytest.mark.parametrize("order", ["before", "after", "long before", "long after"])
def test_h01_csrf_protection_leaves_the_server_alone_in_any_order(order: str) -> None:
    """Whether the app turned its protection on before or after, the server is served and forms are protected."""
    app = plain()
    csrf = CSRFProtect()
    mcp = ArandoMCP(server=make_server())
    if order == "before":
        CSRFProtect(app)
    if order == "long before":
        csrf.init_app(app)
    mcp.init_app(app)
    if order == "after":
        CSRFProtect(app)
    if order == "long after":
        mcp.check(app)
        csrf.init_app(app)
    is_served(Wire(app).post(HELLO))
    is_served(Wire(app, "/mcp/").post(HELLO))
    protected(app)


def test_h01_every_server_of_an_app_is_left_alone() -> None:
    """Each server has a route of its own, and each is exempt."""
    app = plain()
    ArandoMCP(app, make_server())
    CSRFProtect(app)
    ArandoMCP(app, Server("admin"), name="admin", url="/admin/mcp")
    for url in ("/mcp", "/admin/mcp"):
        is_served(Wire(app, url).post(HELLO))
    protected(app)


def test_h01_one_csrf_object_of_several_apps() -> None:
    """An app's server is exempt there, and another app's forms are none the wiser."""
    csrf = CSRFProtect()
    apps = [plain(), plain()]
    mcp = ArandoMCP(server=make_server())
    for app in apps:
        csrf.init_app(app)
        mcp.init_app(app)
    for app in apps:
        is_served(Wire(app).post(HELLO))
        protected(app)


@pytest.mark.parametrize("config", [{"WTF_CSRF_CHECK_DEFAULT": False}, {"WTF_CSRF_ENABLED": False}])
def test_h01_protection_that_is_off_changes_nothing(config: dict[str, Any]) -> None:
    """An app that asks for tokens where it wants them, or nowhere, is served like any other."""
    app = plain(config)
    CSRFProtect(app)
    ArandoMCP(app, make_server())
    is_served(Wire(app).post(HELLO))
    assert app.test_client().post("/form").text == "sent"


def test_h01_a_token_that_the_app_itself_asks_for_is_its_own_refusal() -> None:
    """An app that calls `protect()` for every request refuses by its own hand: an error as JSON, not a page."""
    app = plain({"WTF_CSRF_CHECK_DEFAULT": False})
    csrf = CSRFProtect(app)
    ArandoMCP(app, make_server())
    app.before_request(csrf.protect)
    answer = Wire(app).post(HELLO)
    assert (answer.status_code, answer.mimetype) == (400, "application/json")
    assert (answer.get_json()["id"], answer.get_json()["error"]["code"]) == ("q-1", 400)


def test_h01_over_https_no_referrer_is_needed() -> None:
    """Flask-WTF's strict rule for HTTPS is for forms too."""
    app = plain()
    CSRFProtect(app)
    ArandoMCP(app, make_server())
    is_served(Wire(app).post(HELLO, base_url="https://api.example.com"))


def test_a08_what_takes_the_tokens_place_holds() -> None:
    """With the exemption, a session is still of no use to another site's page."""
    app = with_form(create_app())
    csrf = CSRFProtect(app)
    csrf.exempt("tests.app.sign_in")
    wire = Wire(app)
    wire.sign_in("alice")
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert wire.post(DELETE, headers).status_code == 403
    assert calls == []
    is_served(wire.post(DELETE))
    is_served(Wire(app).post(DELETE, bearer("alice")))
    assert calls == ["delete_user 1"] * 2
    protected(app)


def test_h01_only_the_route_is_exempt() -> None:
    """A page of the app below the server's URL is protected as before."""
    app = plain()
    app.add_url_rule("/mcp/settings", "settings", lambda: request.path, methods=["POST"])
    CSRFProtect(app)
    ArandoMCP(app, make_server())
    is_served(Wire(app).post(HELLO))
    assert app.test_client().post("/mcp/settings").status_code == 400
