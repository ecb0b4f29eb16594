"""Who a test client acts as: it is let in by what the app itself looks at, and by nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from flask_login import AnonymousUserMixin, LoginManager, current_user
from werkzeug.exceptions import Forbidden

from flask_arandu_mcp import ArandoMCP, Request, Server, guest, public, tool
from flask_arandu_mcp.testing import MCPClient

from ..app import User, Users, create_app
from .failing import failure

ERAS = pytest.mark.parametrize("revision", ["2026-07-28", "2025-11-25"])


def users(app: Flask) -> Users:
    """The users of an app."""
    found: Users = app.extensions["test_users"]
    return found


def subject(client: MCPClient) -> object:
    """Who the server takes a client for."""
    data = client.call("whoami").assert_ok().data
    assert data["same"] is True
    return data["subject"]


@tool(access=public)
def how(request: Request) -> dict[str, bool]:
    """Says what came with the request."""
    from flask import request as sent
    from flask import session

    return {
        "token": "Authorization" in sent.headers,
        "session": "_user_id" in session,
        "fresh": session.get("_fresh", False),
    }


@ERAS
@pytest.mark.parametrize("nobody", [None, guest, AnonymousUserMixin()])
def test_a_guest(app: Flask, revision: str, nobody: Any) -> None:
    """Nobody, and whoever is not authenticated, comes without any credential."""
    client = MCPClient(app, revision=revision).acting_as(nobody)
    assert subject(client) is None
    assert repr(client).endswith("as a guest>")
    client.call("delete_user", id=1).assert_refused("sign in")


@ERAS
def test_a_user_of_a_session(app: Flask, revision: str) -> None:
    """A user is signed in by a session, and is loaded from it by the app's own user_loader for every message."""
    loaded: list[str] = []

    def load(id: str) -> User | None:
        loaded.append(id)
        return users(app).get(id)

    app.login_manager.user_loader(load)  # type: ignore[attr-defined]  # Flask-Login's
    client = MCPClient(app, revision=revision).acting_as(users(app)["bob"])
    assert subject(client) == "bob"
    assert set(loaded) == {"bob"}
    del users(app)["bob"]
    told = failure(client.call("whoami").assert_ok)
    assert "HTTP 401: 401 Unauthorized: The session is not valid any more" in told
    assert told.endswith("The app's user_loader did not find the user: put them into the data that the app reads.")


@pytest.mark.parametrize("protection", ["basic", "strong", None])
def test_a_session_is_as_good_as_the_apps_own(protection: str | None) -> None:
    """Session protection finds nothing amiss, whatever headers a test sends, and the login is fresh."""
    app = create_app({"SESSION_PROTECTION": protection}, server=Server("s", tools=[how]))
    client = MCPClient(app).acting_as(users(app)["bob"])
    assert client.call("how").data == {"token": False, "session": True, "fresh": True}
    assert client.with_headers({"User-Agent": "Robot/1"}).call("how").data["fresh"] is True


def test_a_user_who_was_switched_off(app: Flask) -> None:
    """Whoever signed in and was switched off meanwhile is a guest, as in the app."""
    users(app)["bob"].enabled = False
    assert subject(MCPClient(app).acting_as(users(app)["bob"])) is None


def test_current_user_may_be_given(app: Flask) -> None:
    """Flask-Login's proxy is the user that it stands for."""
    with app.test_request_context():
        from flask_login import login_user

        login_user(users(app)["root"])
        assert subject(MCPClient(app).acting_as(current_user)) == "root"


def test_no_context_of_the_test_is_the_requests(app: Flask) -> None:
    """In a test that holds an app context, one user after the other is who they are, and is not remembered there."""
    with app.app_context():
        seen = [subject(MCPClient(app).acting_as(users(app).get(name))) for name in ("bob", "root", "nobody", "alice")]
        assert seen == ["bob", "root", None, "alice"]
        assert not current_user


def test_a_token(app: Flask) -> None:
    """A token is shown as a Bearer token, which the app's request_loader reads; a bad one is no guest."""
    client = MCPClient(app).with_token("token-root")
    assert subject(client) == "root"
    assert MCPClient(app, revision="2025-11-25").with_token("token-bob").call("whoami").data["subject"] == "bob"
    bad = MCPClient(app).with_token("nonsense").call("whoami").assert_refused("The token is not valid")
    assert "The app's request_loader did not find the user" in failure(bad.assert_ok)


def test_a_user_by_a_token_of_theirs() -> None:
    """With token_of, acting as a user is showing a token; it is made in the app's context, and only there."""
    app = create_app(server=Server("s", tools=[how]))
    made: list[str] = []

    def token_of(user: User) -> str:
        from flask import current_app

        made.append(current_app.name)
        return f"token-{user.id}"

    client = MCPClient(app, token_of=token_of).acting_as(users(app)["bob"])
    assert client.call("how").data == {"token": True, "session": False, "fresh": False}
    assert made == [app.name]
    assert MCPClient(app, token_of=token_of).acting_as(None).call("how").data["token"] is False
    assert repr(client).endswith("as User 'bob'>")


def test_an_app_that_knows_tokens_alone() -> None:
    """A session would be nobody's there, and a test as a user would be one as a guest: it says so, and the way out."""
    app = Flask("tokens")
    known = Users({"ana": User("ana")})
    LoginManager(app).request_loader(known.by_token)
    ArandoMCP(app, Server("s", tools=[how]))
    with pytest.raises(
        ValueError, match=r"whose LoginManager has no user_loader.*MCPClient\(app, token_of=lambda user"
    ):
        MCPClient(app).acting_as(known["ana"])
    client = MCPClient(app, token_of=lambda user: f"token-{user.id}").acting_as(known["ana"])
    assert client.call("how").data["token"] is True


def test_an_app_that_knows_sessions_alone() -> None:
    """A token that nothing reads would be ignored, so it is not sent."""
    app = Flask("sessions")
    LoginManager(app).user_loader(lambda id: None)
    ArandoMCP(app, Server("s"))
    with pytest.raises(ValueError, match=r"A Bearer token means nothing to the app 'sessions'.*acting_as\(user\)"):
        MCPClient(app).with_token("t")


def test_an_app_without_users() -> None:
    """Everybody is a guest there, and nobody can be tested as another one."""
    app = create_app(login=False)
    assert MCPClient(app).call("no_args").text == "nothing taken"
    with pytest.raises(ValueError, match="has no LoginManager: everybody is a guest there"):
        MCPClient(app).acting_as(users(app)["bob"])


def test_an_app_without_a_key() -> None:
    """No session can be kept without a SECRET_KEY."""
    app = create_app({"SECRET_KEY": None})
    with pytest.raises(ValueError, match="keeps no session without a SECRET_KEY: give it one"):
        MCPClient(app).acting_as(users(app)["bob"]).tools()


def test_what_is_no_user(app: Flask) -> None:
    """A name is no user."""
    with pytest.raises(TypeError, match=r"acting_as\('bob'\) is given a str"):
        MCPClient(app).acting_as("bob")


@ERAS
def test_a_browser_of_the_tests_own(app: Flask, revision: str) -> None:
    """Who has signed in through the app's own page, in whatever way, is who the client is."""
    browser = app.test_client()
    browser.post("/sign-in/root")
    client = MCPClient(app, revision=revision).with_client(browser)
    assert subject(client) == "root"
    assert subject(client.acting_as(None)) is None


def test_headers_of_the_tests_own(app: Flask) -> None:
    """Headers come with every request, in place of the client's own where they have the same name."""
    client = MCPClient(app).with_headers({"Authorization": "Bearer token-bob"})
    assert subject(client) == "bob"
    assert "call('fail', how='crash') as a guest, with the headers Authorization should" in failure(
        client.call("fail", how="crash").assert_ok
    )
    client.with_headers({"content-type": "text/plain"}).call("whoami").assert_error("application/json")
    client.with_headers({"Sec-Fetch-Site": "cross-site"}).call("whoami").assert_ok()
    MCPClient(app).with_headers({"Sec-Fetch-Site": "cross-site"}).call("whoami").assert_refused("pages of this origin")


def test_the_apps_own_sign_in_hooks_run(app: Flask) -> None:
    """What the app does when somebody signs in is done here too, and what it keeps in the session is there."""
    from flask import session
    from flask_login import user_logged_in

    def remember(sender: object, user: User) -> None:
        session["greeted"] = user.id

    seen: list[object] = []

    @app.before_request
    def look() -> None:
        seen.append(session.get("greeted"))
        if session.get("greeted") is None:
            raise Forbidden("Not greeted.")

    with user_logged_in.connected_to(remember, app):
        MCPClient(app).acting_as(users(app)["bob"]).call("whoami").assert_ok()
    MCPClient(app).call("whoami").assert_refused("the application refused this request")
    assert seen == ["bob", None]


@ERAS
@pytest.mark.parametrize("token_of", [None, lambda user: "token-of-nobody"])
def test_a_user_whom_the_app_does_not_find(app: Flask, revision: str, token_of: Any) -> None:
    """No policy was asked about a user whom the app does not know, so that nothing refused them."""
    zoe = MCPClient(app, revision=revision, token_of=token_of).acting_as(User("zoe"))
    told = failure(zoe.call("delete_user", id=1).assert_refused)
    loader = "request_loader" if token_of else "user_loader"
    assert f"was not even asked for, since the app's {loader} did not find the user:" in told
    assert told.endswith("put them into the data that the app reads.")


@pytest.mark.parametrize("token", [None, ""])
def test_a_token_that_is_none(app: Flask, token: Any) -> None:
    """No token would make a guest of a user, and a test of the user would be one of a guest."""
    with pytest.raises(ValueError, match=r"The token of User 'bob' is .*, which makes a guest of them: give one"):
        MCPClient(app, token_of=lambda user: token).acting_as(users(app)["bob"])
    with pytest.raises(ValueError, match="The token of whoever has the token is "):
        MCPClient(app).with_token(token)


def test_a_user_without_an_id(app: Flask) -> None:
    """Nobody can be found by no id."""

    class Unsaved(User):
        def get_id(self) -> Any:
            return None

    with pytest.raises(ValueError, match=r"a Unsaved whose get_id\(\) is None, which no app finds: give it a user"):
        MCPClient(app).acting_as(Unsaved("bob"))
