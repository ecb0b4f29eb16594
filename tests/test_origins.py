"""Which web pages may call the server, and whose signed-in browsers they may use for it. These rules take the place of
a CSRF token, which no AI client could have."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import TestResponse

from flask_arandu_mcp import DeclarationError
from flask_arandu_mcp.transports.origins import site

from .app import calls, create_app
from .wire import Wire, bearer, call

DELETE = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}}, "q-1")
TOKEN = bearer("alice")
PUBLIC = "https://api.example.com"
LISTED = "https://inspector.example.org"
NOT_PUBLIC = {"base_url": PUBLIC}


def is_foreign(answer: TestResponse) -> None:
    """A 403 as JSON that names no id and says what an operator could do."""
    assert (answer.status_code, answer.mimetype) == (403, "application/json")
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    body = answer.get_json()
    assert set(body) == {"jsonrpc", "error"}
    assert body["error"]["code"] == 403
    assert "MCP_ALLOWED_ORIGINS" in body["error"]["message"]
    assert calls == []


def is_served(answer: TestResponse) -> None:
    assert answer.status_code == 200, answer.data
    assert answer.get_json()["result"]["content"][0]["text"] == "deleted"
    assert calls == ["delete_user 1"]
    calls.clear()


# ------------------------------------------------------------------------------------------------------- Origin

FOREIGN = [
    "https://evil.example",
    "null",
    "NULL",
    "",
    "file://",
    "about:blank",
    "http://localhost.evil.example",
    "http://localhost:5000.evil",
    "http://evil.example/localhost",
    "http://localhost@evil.example",
    "http://evil.example#localhost",
    "http://evil.example?localhost",
    "http://127.0.0.1.evil.example",
    "http://127.0.0.evil",
    "http://127.1",
    "http://2130706433",
    "http://0.0.0.0",
    "http://[::1].evil.example",
    "http://[::2]",
    "http://[::1",
    "http://notlocalhost",
    "http://localhost:abc",
    "http://localhost:",
    "http://localhost/",
    "http://localhost, http://evil.example",
    "vscode-webview://localhost",
    "chrome-extension://localhost",
    "ftp://localhost",
    "localhost",
    "//localhost",
    "http:localhost",
    "http://lo\u00e7alhost",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_h03_a_foreign_origin_is_403_before_anything_else(wire: Wire, origin: str) -> None:
    """No other page may call the server, look-alikes included, whatever identity its browser would add."""
    wire.sign_in("alice")
    is_foreign(wire.post(DELETE, {"Origin": origin}))
    is_foreign(wire.post(DELETE, {"Origin": origin, **TOKEN}))
    is_foreign(wire.post(DELETE, {"Origin": origin, **bearer("nobody")}))
    is_foreign(wire.post("{", {"Origin": origin}, content_type="text/plain"))


LOOPBACK = [
    "http://localhost",
    "http://localhost:6274",
    "HTTP://LOCALHOST:6274",
    "https://localhost",
    "http://127.0.0.1:8000",
    "http://127.8.9.10",
    "http://[::1]:3000",
    "http://[::1]",
]


@pytest.mark.parametrize("origin", LOOPBACK)
@pytest.mark.parametrize("base_url", ["http://localhost", "http://127.0.0.1:5000", "http://[::1]:5000"])
def test_h03_a_page_of_this_machine_may_call_this_machine(wire: Wire, origin: str, base_url: str) -> None:
    """Loopback may call loopback, under any of its names and at any port."""
    is_served(wire.post(DELETE, {"Origin": origin, **TOKEN}, base_url=base_url))


@pytest.mark.parametrize("origin", LOOPBACK)
def test_h03_a_page_of_this_machine_may_not_call_another(wire: Wire, origin: str) -> None:
    """A page on somebody's own machine is foreign to a server elsewhere."""
    is_foreign(wire.post(DELETE, {"Origin": origin, **TOKEN}, **NOT_PUBLIC))


@pytest.mark.parametrize("base_url", ["http://localhost", "http://evil.example", PUBLIC, "http://10.0.0.7:5000"])
def test_h03_without_an_origin_any_host_is_served(wire: Wire, base_url: str) -> None:
    """There is no rule on Host alone, so that a proxy in front needs no configuration."""
    is_served(wire.post(DELETE, TOKEN, base_url=base_url))


def test_h03_a_name_that_was_rebound_to_this_machine_is_foreign(wire: Wire) -> None:
    """A page is not of the same origin by its own word: without TRUSTED_HOSTS nobody vouches for the Host header."""
    is_foreign(wire.post(DELETE, {"Origin": "http://evil.example:5000"}, base_url="http://evil.example:5000"))
    is_foreign(wire.post(DELETE, {"Origin": PUBLIC}, **NOT_PUBLIC))


@pytest.mark.parametrize("trusted", [["api.example.com"], [".example.com"], ["other.example", "api.example.com"]])
def test_h03_the_apps_own_pages_may_call_it_where_the_host_is_trusted(trusted: list[str]) -> None:
    """With TRUSTED_HOSTS the request's own scheme, host and port are its origin, and nothing else is."""
    wire = Wire(create_app({"TRUSTED_HOSTS": trusted}))
    for origin in (PUBLIC, PUBLIC.upper(), f"{PUBLIC}:443"):
        is_served(wire.post(DELETE, {"Origin": origin, **TOKEN}, **NOT_PUBLIC))
    for origin in ("http://api.example.com", f"{PUBLIC}:8443", "https://www.example.com", "https://example.com"):
        is_foreign(wire.post(DELETE, {"Origin": origin, **TOKEN}, **NOT_PUBLIC))
    is_served(wire.post(DELETE, {"Origin": f"{PUBLIC}:8443", **TOKEN}, base_url=f"{PUBLIC}:8443"))


def test_h03_a_host_that_is_not_trusted_never_gets_here() -> None:
    """Flask refuses a request to another host than TRUSTED_HOSTS names before any route is found."""
    wire = Wire(create_app({"TRUSTED_HOSTS": ["api.example.com"]}))
    answer = wire.post(DELETE, {"Origin": "https://evil.example", **TOKEN}, base_url="https://evil.example")
    assert answer.status_code == 400
    assert calls == []


def behind_proxy(config: dict[str, Any]) -> Wire:
    app = create_app(config)
    app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1, x_host=1)  # type: ignore[method-assign]
    return Wire(app)


def test_h03_behind_a_proxy_the_public_address_counts() -> None:
    """The scheme and host that ProxyFix restores are the request's own, and not those of the hop behind the proxy."""
    wire = behind_proxy({"TRUSTED_HOSTS": ["api.example.com"]})
    hop = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "api.example.com", **TOKEN}
    inner = {"base_url": "http://127.0.0.1:8000"}
    is_served(wire.post(DELETE, hop, **inner))
    is_served(wire.post(DELETE, {**hop, "Origin": PUBLIC}, **inner))
    for origin in ("http://api.example.com", "http://127.0.0.1:8000", "http://localhost", "https://evil.example"):
        is_foreign(wire.post(DELETE, {**hop, "Origin": origin}, **inner))


@pytest.mark.parametrize("origin", [LISTED, LISTED.upper(), "vscode-webview://a1b2"])
def test_h03_a_listed_origin_may_call(origin: str) -> None:
    """MCP_ALLOWED_ORIGINS lets in what it lists, in any case, to any host, and nothing that looks like it."""
    wire = Wire(create_app({"MCP_ALLOWED_ORIGINS": [f"{LISTED}/", "vscode-webview://A1B2"]}))
    is_served(wire.post(DELETE, {"Origin": origin, **TOKEN}, **NOT_PUBLIC))
    for other in (f"{origin}.evil.example", f"{origin}:8443", f"{origin}/", "http://inspector.example.org", "null"):
        is_foreign(wire.post(DELETE, {"Origin": other, **TOKEN}, **NOT_PUBLIC))


@pytest.mark.parametrize(
    "value",
    ["https://a.example", ["*"], ["null"], ["a.example"], ["https://*.a.example"], ["https://a.example/x"], [7], 7],
)
def test_origins_that_could_never_match_stop_the_app(value: Any) -> None:
    """A wildcard or a path in MCP_ALLOWED_ORIGINS is a mistake, and is said at boot with what to write."""
    with pytest.raises(DeclarationError, match=r"config 'MCP_ALLOWED_ORIGINS' is .*\['https://example\.org'\]"):
        create_app({"MCP_ALLOWED_ORIGINS": value})


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "DELETE", "FOO"])
def test_a_foreign_origin_is_403_for_every_method(wire: Wire, method: str) -> None:
    """The origin is what is looked at first, and a preflight of a page that is not listed is granted nothing."""
    answer = wire.client.open("/mcp", method=method, headers={"Origin": "https://evil.example"})
    is_foreign(answer)
    assert "Access-Control" not in str(answer.headers)


@pytest.mark.parametrize("how", ["loader", "trap"])
def test_h03_a_403_needs_nobody_to_be_known(how: str) -> None:
    """The app's loaders are not asked for a foreign page, nor are its error handlers."""
    app = create_app({"TRAP_HTTP_EXCEPTIONS": how == "trap", "TESTING": True})
    app.register_error_handler(403, lambda error: ("<h1>no</h1>", 403))
    asked: list[Any] = []
    manager: Any = app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there
    manager.request_loader(asked.append)
    is_foreign(Wire(app).post(DELETE, {"Origin": "null", **TOKEN}))
    assert asked == []


# ----------------------------------------------------------------------------------------------- Sec-Fetch-Site

ELSEWHERE = ["cross-site", "same-site", "Same-Origin", "", "anything"]


def signed_in(config: dict[str, Any] | None = None) -> Wire:
    wire = Wire(create_app({"SESSION_COOKIE_DOMAIN": None, **(config or {})}))
    wire.sign_in("alice")
    return wire


@pytest.mark.parametrize("site", ELSEWHERE)
def test_a08_another_site_cannot_use_a_session(site: str) -> None:
    """A browser that says that another site sent it gets a 403 for its user's session, and nothing runs."""
    is_foreign(signed_in().post(DELETE, {"Sec-Fetch-Site": site}))


@pytest.mark.parametrize("site", ELSEWHERE)
def test_a08_another_site_cannot_call_as_a_guest(wire: Wire, site: str) -> None:
    """Without any identity the same holds: what guests may do, no other page makes a browser do."""
    is_foreign(wire.post(call("tools/call", {"name": "no_args"}), {"Sec-Fetch-Site": site}))


@pytest.mark.parametrize("site", ["same-origin", "none", None])
def test_a08_the_apps_own_pages_and_no_page_at_all_may_use_a_session(site: str | None) -> None:
    """Same origin, the user's own doing, and clients that are no browser are served by session."""
    is_served(signed_in().post(DELETE, {} if site is None else {"Sec-Fetch-Site": site}))


@pytest.mark.parametrize("site", [*ELSEWHERE, "same-origin", "none"])
def test_a08_a_bearer_token_may_come_from_anywhere(wire: Wire, site: str) -> None:
    """No page can make a browser add somebody's Bearer token, so where it comes from does not matter."""
    is_served(wire.post(DELETE, {"Sec-Fetch-Site": site, **TOKEN}))


def test_a08_a_bearer_token_does_not_help_a_foreign_origin(wire: Wire) -> None:
    """The rule on Origin holds for tokens too."""
    is_foreign(wire.post(DELETE, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site", **TOKEN}))


@pytest.mark.parametrize("scheme", ["Basic", "Digest", "Negotiate", "NTLM"])
@pytest.mark.parametrize("site", ELSEWHERE)
def test_a08_what_a_browser_adds_by_itself_is_no_bearer_token(app: Flask, scheme: str, site: str) -> None:
    """Credentials that browsers keep and add to any request are held to the rule for sessions."""
    manager: Any = app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there
    alice = app.extensions["test_users"]["alice"]
    manager.request_loader(lambda request: alice if request.headers.get("Authorization") else None)
    wire = Wire(app)
    is_served(wire.post(DELETE, {"Authorization": f"{scheme} eA=="}))
    is_foreign(wire.post(DELETE, {"Authorization": f"{scheme} eA==", "Sec-Fetch-Site": site}))


def test_a08_where_no_token_means_anything_it_excuses_nothing(app: Flask) -> None:
    """In an app without request_loader an Authorization header does not make a session a token."""
    manager: Any = app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there
    manager._request_callback = None
    wire = Wire(app)
    wire.sign_in("alice")
    is_foreign(wire.post(DELETE, {"Sec-Fetch-Site": "cross-site", **TOKEN}))


def test_a08_a_listed_origin_may_use_a_session() -> None:
    """Who lists an origin lets its pages act for whoever is signed in."""
    wire = signed_in({"MCP_ALLOWED_ORIGINS": [LISTED]})
    is_served(wire.post(DELETE, {"Origin": LISTED, "Sec-Fetch-Site": "cross-site"}))
    is_foreign(wire.post(DELETE, {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a08_loopback_to_loopback_is_excepted(site: str) -> None:
    """Browsers call two ports of one machine two sites; its developer may use both."""
    wire = signed_in()
    is_served(wire.post(DELETE, {"Origin": "http://localhost:6274", "Sec-Fetch-Site": site}))
    is_foreign(wire.post(DELETE, {"Origin": "null", "Sec-Fetch-Site": site}))


def test_a08_another_site_of_the_same_domain_cannot_use_a_session() -> None:
    """A neighbour under the same domain is another origin, trusted host or not."""
    app = create_app({"TRUSTED_HOSTS": [".example.com"]})
    wire = Wire(app)
    assert wire.client.post("/sign-in/alice", base_url=PUBLIC).status_code == 200
    is_served(wire.post(DELETE, {"Origin": PUBLIC, "Sec-Fetch-Site": "same-origin"}, **NOT_PUBLIC))
    is_foreign(wire.post(DELETE, {"Origin": "https://www.example.com", "Sec-Fetch-Site": "same-site"}, **NOT_PUBLIC))
    is_foreign(wire.post(DELETE, {"Origin": PUBLIC, "Sec-Fetch-Site": "same-site"}, **NOT_PUBLIC))


@pytest.mark.parametrize("type", ["text/plain", "application/json"])
def test_a08_a_form_of_another_site_gets_nowhere(type: str) -> None:
    """A simple request of another page is refused by its Origin, whatever it says that it is."""
    is_foreign(signed_in().post(DELETE, {"Origin": "https://evil.example"}, content_type=type))


# ---------------------------------------------------------------------------------------------- reading an origin


@pytest.mark.parametrize(
    ("origin", "read"),
    [
        ("http://a.example", ("http", "a.example", "80")),
        ("HTTPS://A.Example", ("https", "a.example", "443")),
        ("https://a.example:443", ("https", "a.example", "443")),
        ("https://a.example:8443", ("https", "a.example", "8443")),
        ("http://[::1]:80", ("http", "[::1]", "80")),
        ("app://x", ("app", "x", "")),
    ],
)
def test_an_origin_is_a_scheme_a_host_and_a_port(origin: str, read: tuple[str, str, str]) -> None:
    """The default port is the same as none, and case does not matter."""
    assert site(origin) == read


@pytest.mark.parametrize(
    "origin", ["null", "", "http://", "http://a b\n", "http://a.example/", "http://u@a", "a.example"]
)
def test_what_is_no_origin_is_none(origin: str) -> None:
    """Anything that a browser would not send as an origin names no site."""
    assert site(origin) is None
