"""The users of the Flask apps that are measured: one user, signed in by session cookie or by bearer token, kept in a
dict, so that what is measured is Flask-Login and no database."""

from __future__ import annotations

from flask import Flask
from flask import Request as FlaskRequest
from flask_login import LoginManager, UserMixin, login_user

from .. import work
from ..setups import Setup


class User(UserMixin):
    """A user."""

    def __init__(self, id: str) -> None:
        self.id = id


USERS = {work.USER: User(work.USER)}
TOKENS = {work.TOKEN: USERS[work.USER]}


def _by_token(request: FlaskRequest) -> User | None:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return TOKENS.get(token) if scheme == "Bearer" else None


def with_users(app: Flask, setup: Setup) -> Flask:
    """Give an app Flask-Login and a page that signs in, as far as it is to have them."""
    if not setup.users:
        return app
    if setup.sessions:
        app.secret_key = work.SECRET_KEY
    manager = LoginManager(app)
    manager.user_loader(USERS.get)
    manager.request_loader(_by_token)

    @app.post("/sign-in")
    def sign_in() -> str:
        login_user(USERS[work.USER])
        return "Signed in."

    return app


def session_cookie(app: Flask) -> str:
    """The cookie that a browser has after signing in, as a `Cookie` header."""
    client = app.test_client()
    client.post("/sign-in", headers={"User-Agent": work.AGENT})
    cookie = client.get_cookie("session")
    assert cookie is not None
    return f"session={cookie.value}"
