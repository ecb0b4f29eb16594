"""Where tokens come from: the document of RFC 9728, and the challenges that lead to it. What is said of the server's
own address is never taken from a Host header."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from flask import Flask, abort, redirect, request, session
from flask.typing import ResponseReturnValue
from flask_cors import CORS
from flask_login import LoginManager
from flask_wtf.csrf import CSRFProtect
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth, extract_scope_from_www_auth
from mcp.shared.auth import ProtectedResourceMetadata
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.middleware.proxy_fix import ProxyFix
from werkzeug.test import Client, TestResponse

from flask_arandu_mcp import ArandoMCP, DeclarationError, Request, Server, public, tool

from .app import calls, create_app, make_server
from .wire import Wire, bearer, call

WELL_KNOWN = "/.well-known/oauth-protected-resource"
ISSUER = "https://auth.example.com/tenant/"
PUBLIC = "https://api.example.com"
PROTECTED: dict[str, Any] = {"MCP_AUTHORIZATION_SERVERS": [ISSUER], "MCP_PUBLIC_URL": PUBLIC}
LIST = call("tools/list", id="q-1")


def document(answer: TestResponse) -> dict[str, Any]:
    """The document, which the official client can read."""
    assert (answer.status_code, answer.mimetype) == (200, "application/json"), answer.data
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers.getlist("Access-Control-Allow-Origin") == ["*"]
    found: dict[str, Any] = answer.get_json()
    ProtectedResourceMetadata.model_validate(found)
    return found


def challenge(answer: TestResponse, status: int = 401) -> str:
    """The challenge of a refusal that carries the request's id."""
    assert (answer.status_code, answer.mimetype) == (status, "application/json"), answer.data
    body = answer.get_json()
    assert (body["id"], body["error"]["code"]) == ("q-1", status)
    assert "result" not in body
    return answer.headers["WWW-Authenticate"]


def as_client_reads(answer: TestResponse) -> tuple[str | None, str | None]:
    """Where the official client looks for the document, and the scopes that it asks for."""
    response = httpx2.Response(answer.status_code, headers=list(answer.headers))
    return extract_resource_metadata_from_www_auth(response), extract_scope_from_www_auth(response)


# ------------------------------------------------------------------------------------------------- the document


def test_the_document_says_where_tokens_come_from() -> None:
    """Each server has the document that its URL leads to, and the default server has that of the root, too."""
    app = create_app({**PROTECTED, "MCP_SCOPES": ["shop"]})
    for path in (f"{WELL_KNOWN}/mcp", WELL_KNOWN, f"{WELL_KNOWN}/mcp/", f"{WELL_KNOWN}/"):
        assert document(app.test_client().get(path)) == {
            "resource": f"{PUBLIC}/mcp",
            "authorization_servers": [ISSUER],
            "scopes_supported": ["shop"],
            "bearer_methods_supported": ["header"],
            "resource_name": "The shop",
        }
    assert app.test_client().head(WELL_KNOWN).status_code == 200


def test_several_servers_have_a_document_each() -> None:
    """The path follows each server's URL; the root is the default server's, whichever came first."""
    app = Flask(__name__)
    app.config.update(PROTECTED)
    LoginManager(app).request_loader(lambda request: None)
    ArandoMCP(app, Server("admin"), name="admin", url="/mcp/admin")
    ArandoMCP(app, Server("shop"), url="/mcp")
    client = app.test_client()
    assert document(client.get(f"{WELL_KNOWN}/mcp/admin"))["resource"] == f"{PUBLIC}/mcp/admin"
    for path in (WELL_KNOWN, f"{WELL_KNOWN}/mcp"):
        found = document(client.get(path))
        assert (found["resource"], found["resource_name"]) == (f"{PUBLIC}/mcp", "shop")
        assert "scopes_supported" not in found
    told = as_client_reads(Wire(app, "/mcp/admin").post(LIST))
    assert told == (f"{PUBLIC}{WELL_KNOWN}/mcp/admin", None)


def test_only_the_default_server_has_the_root() -> None:
    """Without a default server nothing is said of the root."""
    app = Flask(__name__)
    app.config.update(PROTECTED)
    ArandoMCP(app, Server("admin"), name="admin", url="/admin/mcp")
    assert app.test_client().get(WELL_KNOWN).status_code == 404
    assert document(app.test_client().get(f"{WELL_KNOWN}/admin/mcp"))["resource"] == f"{PUBLIC}/admin/mcp"


def test_a_server_at_the_root_is_the_app_itself() -> None:
    """A server whose URL is the app's own has the public URL for its resource, without a slash at its end."""
    app = Flask(__name__)
    app.config.update(PROTECTED)
    ArandoMCP(app, Server("shop"), url="/")
    assert document(app.test_client().get(WELL_KNOWN))["resource"] == PUBLIC


def test_all_scopes_are_listed_once() -> None:
    """What every token needs comes first, and then what the declarations need."""

    @tool(access=public, scopes=["shop:write", "shop"])
    def order(request: Request) -> str:
        """Orders."""
        return "ordered"

    @tool(access=public, scopes=["shop:read"])
    def look(request: Request) -> str:
        """Looks."""
        return "looked"

    app = create_app({**PROTECTED, "MCP_SCOPES": ["shop"]}, server=Server("shop", tools=[order, look]))
    found = document(app.test_client().get(WELL_KNOWN))
    assert found["scopes_supported"] == ["shop", "shop:read", "shop:write"]


def test_without_authorization_servers_there_is_no_document() -> None:
    """Nothing is served that would send a client for tokens that there are none of, and no challenge names it."""
    app = create_app({"MCP_PUBLIC_URL": PUBLIC, "MCP_LOGIN_REQUIRED": True})
    for path in (WELL_KNOWN, f"{WELL_KNOWN}/mcp"):
        assert app.test_client().get(path).status_code == 404
    assert challenge(Wire(app).post(LIST)) == 'Bearer realm="shop"'


def test_the_document_is_read_and_nothing_else() -> None:
    """Pages may ask for it with headers of their own; what would change it is refused as JSON."""
    client = create_app(PROTECTED).test_client()
    preflight = client.options(
        WELL_KNOWN,
        headers={"Origin": "https://any.example", "Access-Control-Request-Headers": "mcp-protocol-version"},
    )
    assert (preflight.status_code, preflight.data) == (204, b"")
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET"
    assert preflight.headers["Access-Control-Allow-Headers"] == "*"
    for method in ("POST", "PUT", "DELETE", "FOO"):
        answer = client.open(WELL_KNOWN, method=method)
        assert (answer.status_code, answer.mimetype) == (405, "application/json")
        assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


@pytest.mark.parametrize("config", [{}, {"TRAP_HTTP_EXCEPTIONS": True, "TESTING": True}])
def test_the_document_is_for_everybody(config: Mapping[str, Any]) -> None:
    """The app's own code before each request, its error handlers and its CSRF protection are not asked."""
    app = create_app({**PROTECTED, **config})
    CSRFProtect(app)
    ran: list[str] = []

    @app.before_request
    def members_only() -> ResponseReturnValue:
        ran.append(request.path)
        session["seen"] = True
        return redirect("/sign-in")

    @app.errorhandler(Exception)
    def page(error: Exception) -> ResponseReturnValue:
        ran.append("page")
        return "<h1>no</h1>", 500

    answer = app.test_client().get(WELL_KNOWN, headers=bearer("nobody"))
    assert document(answer)["resource"] == f"{PUBLIC}/mcp"
    assert "Set-Cookie" not in answer.headers
    assert ran == []


@pytest.mark.parametrize("first", [True, False])
def test_flask_cors_says_nothing_twice(first: bool) -> None:
    """An app-wide flask-cors leaves the document's own word on who may read it alone."""
    app = Flask(__name__)
    app.config.update(PROTECTED)
    if first:
        CORS(app, supports_credentials=True)
    ArandoMCP(app, Server("shop"))
    if not first:
        CORS(app, supports_credentials=True)
    answer = app.test_client().get(WELL_KNOWN, headers={"Origin": "https://any.example"})
    assert document(answer)["resource"] == f"{PUBLIC}/mcp"
    assert "Access-Control-Allow-Credentials" not in answer.headers


# ------------------------------------------------------------------------------------------------ the challenge


def test_a02_a_guest_is_sent_for_a_token() -> None:
    """With authorization servers whoever shows no token is 401, for whatever is asked, and told where to get one."""
    wire = Wire(create_app(PROTECTED))
    expected = f'Bearer realm="shop", resource_metadata="{PUBLIC}{WELL_KNOWN}/mcp"'
    for method in ("initialize", "ping", "tools/list", "tools/call", "no/such"):
        assert challenge(wire.post(call(method, {"name": "no_args"}, "q-1"))) == expected
    assert wire.modern("server/discover").status_code == 401
    assert calls == []


def test_a02_a_bad_token_is_told_so() -> None:
    """`error="invalid_token"` is said of a token alone, and the document is named beside it."""
    wire = Wire(create_app(PROTECTED))
    where = f'resource_metadata="{PUBLIC}{WELL_KNOWN}/mcp"'
    assert challenge(wire.post(LIST, bearer("nobody"))) == f'Bearer realm="shop", error="invalid_token", {where}'
    for header in ("Bearer", "Basic eA=="):
        assert challenge(wire.post(LIST, {"Authorization": header})) == f'Bearer realm="shop", {where}'
    assert wire.post(LIST, bearer("alice")).status_code == 200


def test_a02_the_challenge_names_the_scopes_that_every_token_needs() -> None:
    """MCP_SCOPES are in the challenge, so that the first token that a client gets is good enough."""
    app = create_app({**PROTECTED, "MCP_SCOPES": ["shop:read", "shop:write"]})
    answer = Wire(app).post(LIST)
    assert 'scope="shop:read shop:write"' in challenge(answer)
    assert as_client_reads(answer) == (f"{PUBLIC}{WELL_KNOWN}/mcp", "shop:read shop:write")


def test_a02_no_challenge_for_what_is_no_message() -> None:
    """GET and OPTIONS are answered without asking who is there, or a client would sign in for nothing."""
    client = create_app(PROTECTED).test_client()
    for method, status in (("GET", 405), ("DELETE", 405), ("OPTIONS", 204)):
        answer = client.open("/mcp", method=method)
        assert answer.status_code == status
        assert "WWW-Authenticate" not in answer.headers


def test_a02_the_apps_own_refusal_of_a_guest_names_the_document() -> None:
    """Where the app's own code wants somebody to sign in, the challenge is the same."""
    app = create_app(PROTECTED)
    app.before_request(lambda: abort(401) if request.endpoint != "sign_in" else None)
    where = f'Bearer realm="shop", resource_metadata="{PUBLIC}{WELL_KNOWN}/mcp"'
    assert challenge(Wire(app).post(LIST, bearer("alice"))) == where


def test_a_session_is_still_somebody() -> None:
    """Authorization servers turn guests away, and nobody who signed in to the app's pages."""
    wire = Wire(create_app(PROTECTED))
    wire.sign_in("alice")
    assert wire.post(LIST).status_code == 200


def test_lists_are_private_where_no_guest_is_served() -> None:
    """What needs a token is not to be kept for others, even where every declaration is public."""
    app = create_app(PROTECTED, server=Server("shop", tools=[make_server().tools[0]]))
    answer = Wire(app).modern("tools/list", None, **bearer("alice"))
    assert answer.get_json()["result"]["cacheScope"] == "private"


# ------------------------------------------------------------------------------------- the server's own address


@pytest.mark.parametrize("host", ["evil.example", "localhost", "api.example.com:8443"])
def test_the_host_header_is_never_believed(host: str) -> None:
    """With MCP_PUBLIC_URL nothing that a request says of its host or its scheme goes out."""
    app = create_app(PROTECTED)
    headers = {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http", "Forwarded": "host=evil.example"}
    client = app.test_client()
    found = document(client.get(WELL_KNOWN, headers=headers, base_url=f"http://{host}"))
    assert found["resource"] == f"{PUBLIC}/mcp"
    answer = Wire(app).post(LIST, headers, base_url=f"http://{host}")
    assert as_client_reads(answer)[0] == f"{PUBLIC}{WELL_KNOWN}/mcp"


@pytest.mark.parametrize("host", ["localhost", "localhost:5000", "127.0.0.1:8000", "[::1]:5000"])
def test_on_this_machine_the_address_is_the_requests_own(host: str) -> None:
    """Without MCP_PUBLIC_URL a developer is told the address that they used."""
    app = create_app({"MCP_AUTHORIZATION_SERVERS": [ISSUER]})
    client = app.test_client()
    assert document(client.get(WELL_KNOWN, base_url=f"http://{host}"))["resource"] == f"http://{host}/mcp"
    answer = Wire(app).post(LIST, base_url=f"http://{host}")
    assert as_client_reads(answer)[0] == f"http://{host}{WELL_KNOWN}/mcp"


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1"])
def test_without_an_address_nothing_is_served_elsewhere(host: str, caplog: pytest.LogCaptureFixture) -> None:
    """Reached from elsewhere, an app that was not told its address answers 503, and its log says what to set."""
    app = create_app({"MCP_AUTHORIZATION_SERVERS": [ISSUER]})
    for headers in ({}, bearer("alice"), bearer("nobody")):
        answer = Wire(app).post(LIST, headers, base_url=f"https://{host}")
        assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, -32603)
        assert answer.get_json()["error"]["data"]["ref"] in caplog.text
        assert "WWW-Authenticate" not in answer.headers
    assert "config 'MCP_PUBLIC_URL' is missing" in caplog.text
    caplog.clear()
    found = app.test_client().get(WELL_KNOWN, base_url=f"https://{host}")
    assert (found.status_code, found.mimetype) == (503, "application/json")
    assert host not in found.text
    assert "config 'MCP_PUBLIC_URL' is missing" in caplog.text


@pytest.mark.parametrize(
    "config", [{"SERVER_NAME": "api.example.com"}, {"TRUSTED_HOSTS": ["localhost", ".example.com"]}]
)
def test_an_app_that_names_its_hosts_needs_its_address_at_boot(config: Mapping[str, Any]) -> None:
    """Where it can be told at boot that the app is not for this machine alone, it is, with what to write."""
    with pytest.raises(DeclarationError, match=r"'MCP_PUBLIC_URL' is missing.*such as 'https://api\.example\.com'"):
        create_app({"MCP_AUTHORIZATION_SERVERS": [ISSUER], **config})
    create_app({**PROTECTED, **config})
    create_app({"MCP_AUTHORIZATION_SERVERS": [ISSUER], "TRUSTED_HOSTS": ["localhost", "127.0.0.1"]})


@pytest.mark.parametrize(
    ("given", "resource"),
    [
        ("https://api.example.com/", "https://api.example.com/mcp"),
        ("HTTPS://API.Example.com:443", "https://api.example.com/mcp"),
        ("https://api.example.com:8443/v1/", "https://api.example.com:8443/v1/mcp"),
        ("http://localhost:5000", "http://localhost:5000/mcp"),
    ],
)
def test_the_address_is_written_as_the_protocol_wants_it(given: str, resource: str) -> None:
    """Lower case, without the port that is meant anyway, and without a slash at the end."""
    app = create_app({**PROTECTED, "MCP_PUBLIC_URL": given})
    assert document(app.test_client().get(WELL_KNOWN))["resource"] == resource


def test_an_app_under_a_prefix_is_found_by_the_challenge() -> None:
    """The URL in the challenge is one that leads to the app, and its document says the URL that the client used."""
    app = create_app({**PROTECTED, "MCP_PUBLIC_URL": f"{PUBLIC}/shop"})
    nothing = Flask("nothing")
    mounted = Client(DispatcherMiddleware(nothing.wsgi_app, {"/shop": app.wsgi_app}))
    answer = mounted.post("/shop/mcp", json=LIST)
    assert as_client_reads(answer)[0] == f"{PUBLIC}/shop{WELL_KNOWN}/mcp"
    assert document(mounted.get(f"/shop{WELL_KNOWN}/mcp"))["resource"] == f"{PUBLIC}/shop/mcp"
    # A proxy may lead the place that RFC 9728 gives the document to the app, too.
    assert document(app.test_client().get(f"{WELL_KNOWN}/shop/mcp"))["resource"] == f"{PUBLIC}/shop/mcp"


def test_a_prefix_on_this_machine_is_the_requests_own() -> None:
    """On loopback the SCRIPT_NAME that the app is mounted at is part of its address."""
    app = create_app({"MCP_AUTHORIZATION_SERVERS": [ISSUER]})
    mounted = Client(DispatcherMiddleware(Flask("nothing").wsgi_app, {"/shop": app.wsgi_app}))
    url, _ = as_client_reads(mounted.post("/shop/mcp", json=LIST))
    assert url == f"http://localhost/shop{WELL_KNOWN}/mcp"
    assert document(mounted.get(f"/shop{WELL_KNOWN}"))["resource"] == "http://localhost/shop/mcp"


def test_an_app_behind_a_proxy_says_its_public_address() -> None:
    """Behind ProxyFix, with a prefix that the proxy takes away, what is said is MCP_PUBLIC_URL all the same."""
    app = create_app({**PROTECTED, "MCP_PUBLIC_URL": f"{PUBLIC}/shop", "TRUSTED_HOSTS": ["api.example.com"]})
    app.wsgi_app = ProxyFix(app.wsgi_app, x_host=1, x_proto=1, x_prefix=1)  # type: ignore[method-assign]  # Flask's way
    headers = {"X-Forwarded-Host": "api.example.com", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/shop"}
    url, _ = as_client_reads(Wire(app).post(LIST, headers))
    assert url == f"{PUBLIC}/shop{WELL_KNOWN}/mcp"
    found = document(app.test_client().get(f"{WELL_KNOWN}/mcp", headers=headers))
    assert found["resource"] == f"{PUBLIC}/shop/mcp"


# -------------------------------------------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("MCP_AUTHORIZATION_SERVERS", ISSUER),
        ("MCP_AUTHORIZATION_SERVERS", ["auth.example.com"]),
        ("MCP_AUTHORIZATION_SERVERS", ["http://auth.example.com"]),
        ("MCP_AUTHORIZATION_SERVERS", ["https://auth.example.com?tenant=1"]),
        ("MCP_AUTHORIZATION_SERVERS", ["https://auth.example.com#x"]),
        ("MCP_AUTHORIZATION_SERVERS", [7]),
        ("MCP_PUBLIC_URL", 7),
        ("MCP_PUBLIC_URL", "api.example.com"),
        ("MCP_PUBLIC_URL", "http://api.example.com"),
        ("MCP_PUBLIC_URL", "ftp://api.example.com"),
        ("MCP_PUBLIC_URL", "https://api.example.com?x=1"),
        ("MCP_PUBLIC_URL", "https://api.example.com/#x"),
        ("MCP_PUBLIC_URL", 'https://api.example.com/"x'),
        ("MCP_PUBLIC_URL", "https://user@api.example.com"),
        ("MCP_PUBLIC_URL", "https://api.example.com/a b"),
        ("MCP_PUBLIC_URL", "https://api.example.com/<x>"),
        ("MCP_PUBLIC_URL", "https://api.example.com\r\nX: y"),
        ("MCP_SCOPES", "shop:read"),
        ("MCP_SCOPES", ["shop read"]),
        ("MCP_SCOPES", ['"']),
        ("MCP_SCOPES", ["back\\slash"]),
        ("MCP_SCOPES", [""]),
        ("MCP_SCOPES", ["café"]),
        ("MCP_SCOPES", [None]),
    ],
)
def test_settings_that_cannot_be_meant_stop_the_app(key: str, value: Any) -> None:
    """Each mistake names its key, what was written there, and what to write."""
    with pytest.raises(DeclarationError, match=rf"config '{key}' is .*: it must be .*'.+'") as caught:
        create_app({**PROTECTED, key: value})
    assert len(caught.value.faults) == 1


def test_nothing_may_be_set_in_words() -> None:
    """Empty values are as if not set, so that a key can be taken from the environment."""
    app = create_app({"MCP_AUTHORIZATION_SERVERS": [], "MCP_PUBLIC_URL": "", "MCP_SCOPES": []})
    assert Wire(app).post(LIST).status_code == 200
    assert app.test_client().get(WELL_KNOWN).status_code == 404


def test_an_app_that_reads_no_tokens_sends_nobody_for_one() -> None:
    """Authorization servers without a request_loader would be a circle, and the finished app is told."""
    app = Flask(__name__)
    app.config.update(PROTECTED)
    mcp = ArandoMCP(app, Server("shop"))
    with pytest.raises(DeclarationError, match=r"'MCP_AUTHORIZATION_SERVERS' sends clients for tokens.*request_loader"):
        mcp.check(app)
    LoginManager(app).request_loader(lambda request: None)
    mcp.check(app)
