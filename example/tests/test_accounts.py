"""Who is asking is found by session cookie or by API token, and by nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from example import accounts
from example.database import db
from example.models import ApiToken, User
from example.pages import local_path

OWN_DRAFTS = "/api/posts?status=draft"


def bearer(token: str) -> dict[str, str]:
    """The header that brings a token."""
    return {"Authorization": f"Bearer {token}"}


def token_of(app: Flask, name: str) -> str:
    """A new token from the command line."""
    result = app.test_cli_runner().invoke(args=["token", name])
    assert result.exit_code == 0
    return result.output.strip()


def test_the_sign_in_page_shows_the_demo_users(client: FlaskClient) -> None:
    """Whoever tries the demo finds the passwords where they need them."""
    text = client.get("/sign-in").text
    assert "ana-grows-beans" in text
    assert "eda-reads-all" in text


def test_signing_in_and_out(client_of: Callable[[str], FlaskClient]) -> None:
    """Signing in makes the drafts visible, signing out hides them again."""
    ana = client_of("ana")
    assert "What the new fence will cost" in ana.get("/").text
    assert ana.get("/sign-out").status_code == 405
    assert ana.post("/sign-out").status_code == 302
    assert "What the new fence will cost" not in ana.get("/").text


def test_the_session_cookie_stays_on_this_site(client: FlaskClient) -> None:
    """The cookie is for HTTP only and is not sent along with another site's forms."""
    answer = client.post("/sign-in", data={"name": "ana", "password": "ana-grows-beans"})
    assert "HttpOnly" in answer.headers["Set-Cookie"]
    assert "SameSite=Lax" in answer.headers["Set-Cookie"]


@pytest.mark.parametrize(("name", "password"), [("ana", "wrong"), ("nobody", "wrong"), ("assistant", ""), ("", "")])
def test_a_wrong_password_is_refused(client: FlaskClient, name: str, password: str) -> None:
    """A wrong name, a wrong password and an account without one are all told the same."""
    answer = client.post("/sign-in", data={"name": name, "password": password})
    assert answer.status_code == 401
    assert "do not fit together" in answer.text


def test_forms_of_other_sites_are_refused(client: FlaskClient) -> None:
    """Another site cannot even sign somebody in."""
    form = {"name": "ana", "password": "ana-grows-beans"}
    answer = client.post("/sign-in", data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


def test_signing_in_leads_back(client: FlaskClient) -> None:
    """A page that needs a user sends a guest to sign in, and from there back."""
    answer = client.get("/assistant")
    assert answer.location == "/sign-in?next=/assistant"
    answer = client.post(answer.location, data={"name": "ana", "password": "ana-grows-beans"})
    assert answer.location == "/assistant"


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("/", "/"),
        ("/assistant?a=b", "/assistant?a=b"),
        ("", None),
        ("//evil.example", None),
        ("/\\evil.example", None),
        ("/\t/evil.example", None),
        ("https://evil.example/", None),
    ],
)
def test_signing_in_leads_nowhere_else(target: str, path: str | None) -> None:
    """Only a path on this site is a place to go on to."""
    assert local_path(target) == path


def test_a_token_acts_as_its_user(app: Flask, client: FlaskClient) -> None:
    """A token from the command line is as good as a session, without a cookie."""
    answer = client.get(OWN_DRAFTS, headers=bearer(token_of(app, "ben")))
    assert {post["author"]["name"] for post in answer.json or []} == {"ben"}


def test_a_token_is_kept_as_a_digest(app: Flask) -> None:
    """Whoever reads the database cannot use what they find there."""
    token = token_of(app, "ben")
    with app.app_context():
        kept = db.session.scalars(select(ApiToken.digest)).all()
    assert kept == [accounts.digest_of(token)]
    assert token not in kept


def test_no_token_for_nobody(app: Flask) -> None:
    """The command names a user whom it does not know."""
    result = app.test_cli_runner().invoke(args=["token", "nobody"])
    assert result.exit_code == 2
    assert "There is no user 'nobody'." in result.output


@pytest.mark.parametrize("header", ["Bearer", "Bearer wrong", "Basic YW5hOmFuYS1ncm93cy1iZWFucw=="])
def test_a_bad_token_is_an_error(client: FlaskClient, header: str) -> None:
    """A credential that is not good is refused instead of being read as a guest's request."""
    answer = client.get("/api/posts", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.www_authenticate.type == "bearer"


def test_a_disabled_account_is_shut_out(app: Flask, client_of: Callable[[str], FlaskClient]) -> None:
    """Neither a session nor a token nor the password of a disabled account is good for anything."""
    ana, token = client_of("ana"), token_of(app, "ana")
    with app.app_context():
        user = accounts.user_by_name("ana")
        assert user is not None
        user.enabled = False
        db.session.commit()
        assert accounts.user_by_password("ana", "ana-grows-beans") is None
    assert ana.get(OWN_DRAFTS).status_code == 403
    assert app.test_client().get(OWN_DRAFTS, headers=bearer(token)).status_code == 401


def test_a_strange_user_id_is_nobody(context: None) -> None:
    """A session that names no user of ours loads none."""
    assert accounts.load_user("ana") is None
    assert accounts.load_user("999") is None


def test_the_password_finds_the_user(user: Callable[[str], User]) -> None:
    """A name and its password find exactly that user."""
    assert accounts.user_by_password("ben", "ben-keeps-bees") is user("ben")
