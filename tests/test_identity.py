"""Who is asking: the app's own Flask-Login user, found before the app's own code runs. A credential that is no good is
never mistaken for no credential."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, abort, flash, g, redirect, request, session
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface, SessionInterface, SessionMixin
from flask.typing import ResponseReturnValue
from flask.wrappers import Request as FlaskRequest
from flask_login import AnonymousUserMixin, LoginManager, current_user, login_user, user_loaded_from_request
from werkzeug.local import LocalProxy
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, DeclarationError, Request, Server, guest, public, tool

from .app import User, Users, calls, create_app
from .wire import Wire, bearer, call

TOKEN = bearer("alice")


def ask(wire: Wire, headers: dict[str, str] | None = None, id: Any = "q-1") -> TestResponse:
    """Ask the server who asks."""
    return wire.post(
        call("tools/call", {"name": "whoami"}, id), {"MCP-Protocol-Version": "2025-11-25", **(headers or {})}
    )


def subject_of(answer: TestResponse) -> Any:
    assert answer.status_code == 200, answer.data
    told = answer.get_json()["result"]["structuredContent"]
    assert told["same"] is True
    return told["subject"]


def users_of(app: Flask) -> Users:
    users: Users = app.extensions["test_users"]
    return users


def manager_of(app: Flask) -> LoginManager:
    return app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there


def is_ours(answer: TestResponse) -> None:
    """An answer of the server: JSON, not to be kept, and without a cookie or a redirect."""
    assert answer.mimetype == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    assert "Location" not in answer.headers


def is_challenge(answer: TestResponse, *, invalid_token: bool = False, realm: str = "shop", id: Any = "q-1") -> None:
    """A 401 as a client expects it."""
    is_ours(answer)
    assert answer.status_code == 401
    expected = f'Bearer realm="{realm}"' + (', error="invalid_token"' if invalid_token else "")
    assert answer.headers["WWW-Authenticate"] == expected
    body = answer.get_json()
    assert (body["jsonrpc"], body["id"], body["error"]["code"]) == ("2.0", id, 401)


def is_unavailable(answer: TestResponse, secret: str, caplog: pytest.LogCaptureFixture) -> None:
    """A 503 that says nothing but where the log has more."""
    is_ours(answer)
    assert answer.status_code == 503
    body = answer.get_json()
    assert (body["id"], body["error"]["code"]) == ("q-1", -32603)
    assert secret not in answer.text
    ref = body["error"]["data"]["ref"]
    assert f"(ref {ref})" in body["error"]["message"]
    assert f"(ref {ref})" in caplog.text
    assert secret in caplog.text


# ------------------------------------------------------------------------------------------ good credentials


def test_nobody_is_a_guest(wire: Wire) -> None:
    """A request without any credential is the app's anonymous user."""
    assert subject_of(ask(wire)) is None


def test_a_session_is_its_user(wire: Wire) -> None:
    """Who signed in to the app's pages is that user here."""
    wire.sign_in("bob")
    assert subject_of(ask(wire)) == "bob"


def test_a02_a_token_is_its_user_whatever_the_case_of_its_scheme(wire: Wire) -> None:
    """The app's request_loader is asked, and the name of the scheme has no case."""
    assert subject_of(ask(wire, TOKEN)) == "alice"
    assert subject_of(ask(wire, {"Authorization": "bearer token-alice"})) == "alice"
    assert subject_of(ask(wire, {"authorization": "BEARER token-alice"})) == "alice"


def test_a_token_comes_before_a_session(wire: Wire) -> None:
    """With an Authorization header the request_loader alone is asked, even where a session would name another."""
    wire.sign_in("bob")
    assert subject_of(ask(wire, TOKEN)) == "alice"
    is_challenge(ask(wire, bearer("nobody")), invalid_token=True)


def test_the_user_is_there_before_the_apps_own_code(app: Flask) -> None:
    """An app-wide before_request sees the user of the token as Flask-Login's."""
    app.before_request(lambda: setattr(g, "who", current_user.get_id()))
    answer = ask(Wire(app), TOKEN)
    assert answer.get_json()["result"]["structuredContent"]["seen"] == "alice"


def test_a_remembered_user_is_that_user_and_gets_no_cookie(app: Flask) -> None:
    """A remember cookie is a credential; what Flask-Login would write back does not go out."""
    wire = remembering(app)
    answer = ask(wire)
    assert subject_of(answer) == "alice"
    is_ours(answer)


def remembering(app: Flask) -> Wire:
    """A client of alice's that has a remember cookie and no session."""

    @app.post("/remember")
    def remember() -> str:
        login_user(users_of(app)["alice"], remember=True)
        return ""

    wire = Wire(app)
    wire.client.post("/remember")
    wire.client.delete_cookie("session")
    assert wire.client.get_cookie("remember_token") is not None
    return wire


def test_no_answer_sets_a_cookie(app: Flask) -> None:
    """Neither a changed session nor the app's own after_request sets a cookie on an answer of ours."""

    @app.before_request
    def change() -> None:
        session["seen"] = session.get("seen", 0) + 1
        flash("hello")

    @app.after_request
    def cookie(response: Any) -> Any:
        response.set_cookie("mine", "1")
        response.headers.add("Set-Cookie", "theirs=2")
        return response

    wire = Wire(app)
    for answer in (ask(wire), ask(wire, TOKEN), ask(wire, bearer("nobody")), wire.client.get("/mcp")):
        is_ours(answer)
    assert "Set-Cookie" in wire.client.get("/elsewhere").headers


# ---------------------------------------------------------------------------------- credentials that are no good


def test_a01_a_token_that_nobody_has_is_401(wire: Wire) -> None:
    """A bad token is never a guest, not even for what guests may do."""
    is_challenge(ask(wire, bearer("nobody")), invalid_token=True)


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic eA==", "Digest x", "token-alice", ""])
def test_a02_a_credential_that_is_no_token_is_401_without_an_error(wire: Wire, header: str) -> None:
    """`error="invalid_token"` is said of a token, and only where one was presented."""
    is_challenge(ask(wire, {"Authorization": header}))


@pytest.mark.parametrize("id", ["a", 7, ""])
@pytest.mark.parametrize("method", ["tools/list", "initialize", "ping", "no/such"])
def test_a02_the_challenge_carries_the_id(wire: Wire, id: Any, method: str) -> None:
    """Whatever was asked, the answer has its id."""
    is_challenge(wire.post(call(method, id=id), bearer("nobody")), invalid_token=True, id=id)


def test_a01_a_session_whose_user_is_gone_is_401(app: Flask, wire: Wire) -> None:
    """A deleted user's session is a credential that is no good."""
    wire.sign_in("alice")
    del users_of(app)["alice"]
    is_challenge(ask(wire))
    is_challenge(ask(wire))


def test_a01_a_remember_cookie_that_is_no_good_is_401(app: Flask) -> None:
    """Neither a deleted user's remember cookie nor a forged one is a guest's."""
    wire = remembering(app)
    del users_of(app)["alice"]
    is_challenge(ask(wire))
    forger = Wire(app)
    forger.client.set_cookie("remember_token", "root|0000")
    is_challenge(ask(forger))


def test_a01_a_session_that_moved_is_401() -> None:
    """A session that Flask-Login's strong protection throws away is no good either."""
    app = create_app()
    manager_of(app).session_protection = "strong"
    wire = Wire(app)
    wire.client.post("/sign-in/alice", headers={"User-Agent": "one"})
    assert subject_of(ask(wire, {"User-Agent": "one"})) == "alice"
    is_challenge(ask(wire, {"User-Agent": "another"}))


def test_after_signing_out_one_is_a_guest(app: Flask, wire: Wire) -> None:
    """A session that names nobody is no credential."""
    app.add_url_rule("/sign-out", view_func=lambda: session.pop("_user_id"), methods=["POST"])
    wire.sign_in("alice")
    wire.client.post("/sign-out")
    assert subject_of(ask(wire)) is None


@pytest.mark.parametrize("how", ["session", "token"])
def test_an_inactive_user_is_a_guest(app: Flask, wire: Wire, how: str) -> None:
    """An account that was switched off opens no doors, whatever it was shown with, and is told nothing of it."""
    headers = {}
    if how == "session":
        wire.sign_in("root")
    else:
        headers = bearer("root")
    users_of(app)["root"].enabled = False
    assert subject_of(ask(wire, headers)) is None
    listed = wire.call("tools/list", headers=headers)["tools"]
    assert "admin_hidden" not in {one["name"] for one in listed}


def test_a_loader_that_answers_an_anonymous_user_knows_nobody() -> None:
    """An anonymous user for a token that is not known is nobody, and so is Unauthorized."""
    app = create_app()
    manager_of(app).request_loader(lambda request: AnonymousUserMixin())
    is_challenge(ask(Wire(app), TOKEN), invalid_token=True)
    manager_of(app).request_loader(lambda request: abort(401))
    is_challenge(ask(Wire(app), TOKEN), invalid_token=True)


def test_an_app_without_request_loader_ignores_authorization(app: Flask, wire: Wire) -> None:
    """Where no token means anything, one is neither a credential nor an offence."""
    manager_of(app)._request_callback = None
    assert subject_of(ask(wire, TOKEN)) is None
    wire.sign_in("bob")
    assert subject_of(ask(wire, TOKEN)) == "bob"


def test_an_app_with_a_request_loader_alone_serves_tokens() -> None:
    """An app of tokens only needs no user_loader."""
    app = create_app()
    manager_of(app)._user_callback = None
    assert subject_of(ask(Wire(app), TOKEN)) == "alice"
    assert subject_of(ask(Wire(app))) is None


def test_a_request_loader_that_reads_something_else_is_asked_for_guests() -> None:
    """A request_loader may know users by a header of its own, as on the app's pages."""
    app = create_app()
    users = users_of(app)
    manager_of(app).request_loader(lambda request: users.get(request.headers.get("X-API-Key", "")))
    assert subject_of(ask(Wire(app), {"X-API-Key": "bob"})) == "bob"
    assert subject_of(ask(Wire(app))) is None


class HeaderSession(SessionInterface):
    """Sessions that are named by a header, as an app for phones may have them."""

    def open_session(self, app: Flask, request: FlaskRequest) -> SecureCookieSession:
        name = request.headers.get("X-Session")
        return SecureCookieSession({"_user_id": name} if name else {})

    def save_session(self, app: Flask, session: SessionMixin, response: Any) -> None:
        """Nothing is kept."""


def test_a_session_without_a_cookie_is_its_user_too() -> None:
    """Where the app keeps its sessions in a way of its own, that is asked, and no look for a cookie decides."""
    app = create_app()
    app.session_interface = HeaderSession()
    assert subject_of(ask(Wire(app), {"X-Session": "bob"})) == "bob"
    assert subject_of(ask(Wire(app))) is None


@pytest.mark.parametrize("cookie", [None, "theme=dark", "session=broken"])
def test_a_request_that_shows_nothing_is_a_guest(cookie: str | None) -> None:
    """Cookies of the page's own, or a session that nobody signed in to, make nobody of a guest."""
    assert subject_of(ask(Wire(create_app()), {"Cookie": cookie} if cookie else {})) is None


class SignedHeaderSession(SecureCookieSessionInterface):
    """Flask's own sessions, sent in a header by an app for phones."""

    def open_session(self, app: Flask, request: FlaskRequest) -> SecureCookieSession:
        sent, serializer = request.headers.get("X-Session"), self.get_signing_serializer(app)
        return self.session_class(serializer.loads(sent)) if sent and serializer else self.session_class()


def test_a_session_of_a_kind_of_its_own_is_its_user_too() -> None:
    """What an app makes of Flask's sessions may come without a cookie; one whose user is gone is 401 there, too."""
    app = create_app()
    app.session_interface = interface = SignedHeaderSession()
    serializer = interface.get_signing_serializer(app)
    assert serializer is not None
    bob, nobody = ({"X-Session": str(serializer.dumps({"_user_id": id}))} for id in ("bob", "nobody"))
    assert subject_of(ask(Wire(app), bob)) == "bob"
    assert ask(Wire(app), nobody).status_code == 401
    assert subject_of(ask(Wire(app))) is None


def test_who_is_signed_in_before_the_server_is_asked_is_the_user() -> None:
    """An app behind a proxy may sign its users in by a header of its own, as early as it can."""
    app = create_app()

    @app.url_value_preprocessor
    def sign_in(endpoint: str | None, values: dict[str, Any] | None) -> None:
        name = request.headers.get("X-Remote-User")
        if name:
            login_user(users_of(app)[name])

    assert subject_of(ask(Wire(app), {"X-Remote-User": "bob"})) == "bob"
    assert subject_of(ask(Wire(app))) is None


class ProxyManager(LoginManager):
    """Knows whom a proxy names, in Flask-Login's own way."""

    def _load_user(self) -> Any:
        name = request.headers.get("X-Remote-User")
        load = self.user_callback
        self._update_request_context_with_user(load(name) if name and load else None)


def test_a_login_manager_of_the_apps_own_is_asked() -> None:
    """What a subclass does to find a user is done for the server, too."""
    app = create_app()
    users = users_of(app)
    ProxyManager(app).user_loader(users.get)
    assert subject_of(ask(Wire(app), {"X-Remote-User": "bob"})) == "bob"
    assert subject_of(ask(Wire(app))) is None


def test_flask_logins_signals_are_sent() -> None:
    """Who listens for users that are found by a request hears of those of the server."""
    app = create_app()
    users = users_of(app)
    manager_of(app).request_loader(lambda request: users.get(request.headers.get("X-API-Key", "")))
    heard: list[str] = []

    def hear(sender: Any, user: Any) -> None:
        heard.append(user.get_id())

    with user_loaded_from_request.connected_to(hear, app):
        assert subject_of(ask(Wire(app), {"X-API-Key": "bob"})) == "bob"
    assert heard == ["bob"]


def test_a_request_loader_is_given_flasks_request() -> None:
    """It gets what it gets of Flask-Login: the proxy, by whatever way a user is found."""
    app = create_app()
    seen: list[object] = []

    def load(sent: Any) -> Any:
        seen.append(type(sent._get_current_object()))
        return users_of(app).by_token(sent)

    manager_of(app).request_loader(load)
    assert subject_of(ask(Wire(app), TOKEN)) == "alice"
    assert subject_of(ask(Wire(app))) is None
    assert set(seen) == {FlaskRequest}


def test_a_session_that_strong_protection_takes_away_is_a_guest() -> None:
    """As on the app's pages: a session from elsewhere is nobody's, whatever else the request shows."""
    app = create_app({"SESSION_PROTECTION": "strong"})
    users = users_of(app)
    manager_of(app).request_loader(lambda request: users.get(request.headers.get("X-API-Key", "")))
    wire = Wire(app)
    with wire.client.session_transaction() as kept:
        kept["csrf_token"] = "x"
        kept["_id"] = "another place"
    assert subject_of(ask(wire, {"X-API-Key": "bob"})) is None


# ----------------------------------------------------------------------------------------- loaders that break


def broken_loader(*_: Any) -> Any:
    raise ConnectionError("the database's secret")


@pytest.mark.parametrize("testing", [False, True])
def test_a10_a_user_loader_that_raises_is_503(testing: bool, caplog: pytest.LogCaptureFixture) -> None:
    """While the app cannot tell who asks, nobody is taken for a guest, and no text of the failure goes out."""
    app = create_app({"TESTING": testing})
    wire = Wire(app)
    wire.sign_in("alice")
    manager_of(app).user_loader(broken_loader)
    is_unavailable(ask(wire), "the database's secret", caplog)
    assert subject_of(ask(Wire(app))) is None


def test_a10_a_request_loader_that_raises_is_503(caplog: pytest.LogCaptureFixture) -> None:
    """The same holds for tokens."""
    app = create_app()
    manager_of(app).request_loader(broken_loader)
    is_unavailable(ask(Wire(app), TOKEN), "the database's secret", caplog)


def test_a10_a_user_that_cannot_be_read_is_503(caplog: pytest.LogCaptureFixture) -> None:
    """A user whose state cannot be loaded is not known to be active."""

    class Detached(User):
        @property
        def is_active(self) -> bool:
            raise LookupError("the row's secret")

    app = create_app()
    users_of(app)["alice"] = Detached("alice")
    is_unavailable(ask(Wire(app), TOKEN), "the row's secret", caplog)


def test_a07_a_login_manager_without_loaders_is_503_until_it_is_mended(caplog: pytest.LogCaptureFixture) -> None:
    """What only the finished app shows is said once and for all callers, and `check` says it before."""
    app = Flask(__name__)
    app.secret_key = "a key for the tests"
    login = LoginManager(app)
    mcp = ArandoMCP(app, Server("bare", tools=[told]))
    with pytest.raises(DeclarationError, match=r"LoginManager can load nobody.*@login_manager\.user_loader") as caught:
        mcp.check(app)
    assert len(caught.value.faults) == 1
    wire = Wire(app)
    for _ in range(2):
        answer = wire.post(call("tools/call", {"name": "told"}, "q-1"))
        is_unavailable(answer, "LoginManager can load nobody", caplog)
    login.user_loader(lambda id: None)
    mcp.check(app)
    assert wire.post(call("tools/call", {"name": "told"})).get_json()["result"]["content"][0]["text"] == "None True"


def test_a_check_that_comes_too_early_settles_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What the app gets after `check` is looked at before the first message all the same."""
    app = Flask(__name__)
    app.secret_key = "a key for the tests"
    mcp = ArandoMCP(app, Server("bare", tools=[told]))
    mcp.check(app)
    LoginManager(app)
    answer = Wire(app).post(call("tools/call", {"name": "told"}, "q-1"))
    is_unavailable(answer, "LoginManager can load nobody", caplog)


# ----------------------------------------------------------------------------------- the subject that tools get


@tool(access=public)
def told(request: Request) -> str:
    """Says who asks, without the app's users."""
    return f"{request.subject.get_id()} {request.subject is current_user._get_current_object()}"


def test_a07_an_app_without_login_manager_serves_guests() -> None:
    """Without Flask-Login in the app everybody is the same guest, and `current_user` still works in a tool."""
    app = Flask(__name__)
    app.secret_key = "a key for the tests"
    seen: list[Any] = []

    @tool(access=public)
    def keep(request: Request) -> str:
        """Keeps the subject."""
        seen.append(request.subject)
        return f"{current_user.is_authenticated} {current_user.get_id()}"

    ArandoMCP(app, Server("bare", tools=[keep]))
    wire = Wire(app)
    for headers in ({}, TOKEN):
        answer = wire.post(call("tools/call", {"name": "keep"}), headers)
        assert answer.get_json()["result"]["content"][0]["text"] == "False None"
    assert seen == [guest, guest]
    assert app.extensions.get("login_manager") is None


def served_subjects(app_of: Callable[[Server], Flask], headers: dict[str, str]) -> list[Any]:
    """What a tool saw of its subject: at once, in a thread, and the proxy's object."""
    seen: list[Any] = []

    @tool(access=public)
    def look(request: Request) -> str:
        """Looks at the subject."""
        seen.append(request.subject)
        thread = threading.Thread(target=lambda: seen.append(request.subject))
        thread.start()
        thread.join()
        seen.append(current_user._get_current_object())
        return "looked"

    answer = Wire(app_of(Server("looking", tools=[look]))).post(call("tools/call", {"name": "look"}), headers)
    assert answer.get_json()["result"]["content"][0]["text"] == "looked"
    return seen


def test_a07_the_subject_is_the_very_user_in_a_thread_too() -> None:
    """A tool gets the app's own object, not a proxy, and another thread sees the same."""
    apps: list[Flask] = []

    def app_of(server: Server) -> Flask:
        apps.append(create_app(server=server))
        return apps[-1]

    seen = served_subjects(app_of, TOKEN)
    alice = users_of(apps[0])["alice"]
    assert all(one is alice and type(one) is User for one in seen)


def test_a07_a_proxy_from_a_loader_is_unwrapped() -> None:
    """A loader may answer with a proxy, even with a proxy of one; the subject is what they stand for."""
    alice = User("alice")
    inner = LocalProxy(lambda: alice)

    def app_of(server: Server) -> Flask:
        app = create_app(server=server)
        manager_of(app).request_loader(lambda request: LocalProxy(lambda: inner))
        return app

    seen = served_subjects(app_of, TOKEN)
    assert len(seen) == 3
    assert all(type(one) is User and one is alice for one in seen)


def test_the_apps_own_kind_of_anonymous_user_is_the_guest() -> None:
    """Where the app has a kind of anonymous user of its own, a guest is one."""

    class Visitor:
        is_authenticated = False
        is_active = False
        is_anonymous = True

        def get_id(self) -> str:
            return "a visitor"

    app = create_app()
    manager: Any = manager_of(app)
    manager.anonymous_user = Visitor
    assert subject_of(ask(Wire(app))) == "a visitor"


# -------------------------------------------------------------------------------- sign-in pages, and who needs one


def test_a01_no_sign_in_page_is_ever_shown(app: Flask, wire: Wire) -> None:
    """With a login_view set, no answer redirects there and the app's unauthorized_handler is not called."""
    asked: list[str] = []

    def unauthorized() -> ResponseReturnValue:
        asked.append(request.path)
        return redirect("/sign-in")

    manager_of(app).unauthorized_handler(unauthorized)
    wire.sign_in("alice")
    assert subject_of(ask(wire)) == "alice"
    del users_of(app)["alice"]
    is_challenge(ask(wire))
    is_challenge(ask(Wire(app), bearer("nobody")), invalid_token=True)
    assert asked == []


@pytest.mark.parametrize("login_view", ["sign_in_page", None])
def test_a01_an_app_that_lets_in_users_only_gives_a_challenge(login_view: str | None) -> None:
    """An app-wide before_request that calls `unauthorized()` is a 401 with a challenge, page or no page."""
    app = create_app()
    app.add_url_rule("/sign-in", "sign_in_page", lambda: "the page")
    manager: Any = manager_of(app)
    manager.login_view = login_view

    @app.before_request
    def members_only() -> ResponseReturnValue | None:
        if request.endpoint != "sign_in" and not current_user.is_authenticated:
            answer: ResponseReturnValue = manager.unauthorized()
            return answer
        return None

    wire = Wire(app)
    is_challenge(ask(wire))
    wire.sign_in("bob")
    assert subject_of(ask(wire)) == "bob"
    assert subject_of(ask(Wire(app), TOKEN)) == "alice"


def test_mcp_login_required_turns_guests_away() -> None:
    """With MCP_LOGIN_REQUIRED a guest is 401 for whatever is asked, and whoever signed in is served."""
    app = create_app({"MCP_LOGIN_REQUIRED": True})
    wire = Wire(app)
    for method in ("initialize", "ping", "tools/list", "tools/call"):
        is_challenge(wire.post(call(method, {"name": "no_args"}, "q-1")))
    is_challenge(wire.modern("server/discover"), id=1)
    is_challenge(ask(wire, bearer("nobody")), invalid_token=True)
    assert subject_of(ask(wire, TOKEN)) == "alice"
    users_of(app)["alice"].enabled = False
    is_challenge(ask(wire, TOKEN))
    assert calls == []


def test_mcp_login_required_asks_nobody_before_the_method_is_right() -> None:
    """What is no POST is 405 before anybody is asked to sign in, whatever was presented."""
    app = create_app({"MCP_LOGIN_REQUIRED": True})
    manager_of(app).request_loader(broken_loader)
    assert app.test_client().get("/mcp", headers=TOKEN).status_code == 405


def test_a_realm_is_quoted(caplog: pytest.LogCaptureFixture) -> None:
    """A server's name with quotes or letters beyond ASCII makes a header that can be sent and read."""
    caplog.set_level(logging.ERROR)
    app = create_app(server=Server('Café "\\x"', tools=[told]))
    is_challenge(ask(Wire(app), bearer("nobody")), invalid_token=True, realm='Caf? \\"\\\\x\\"')


def test_a_loader_sees_the_request_itself() -> None:
    """The request_loader is given Flask's request, with its headers, its cookies and its body."""
    app = create_app()
    seen: list[tuple[str, Any]] = []

    def load(request: FlaskRequest) -> User:
        seen.append((request.headers["Authorization"], request.get_json()["method"]))
        return users_of(app)["alice"]

    manager_of(app).request_loader(load)
    assert subject_of(ask(Wire(app), TOKEN)) == "alice"
    assert seen == [("Bearer token-alice", "tools/call")]
