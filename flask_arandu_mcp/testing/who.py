"""Who sends a request in a test: a guest, one of the app's users, or whoever has a token. What the app would not look
at is refused, since a test as a user would else be one as a guest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, ParamSpec, TypeVar

from flask import Flask, current_app, has_app_context
from flask.testing import FlaskClient
from werkzeug.local import LocalProxy

P = ParamSpec("P")
T = TypeVar("T")


class Who(NamedTuple):
    """Who sends a request: a guest, unless something else is said.

    :ivar words: for sentences.
    :ivar user: one of the app's users, to be signed in by a session.
    :ivar token: a Bearer token that is shown.
    :ivar client: a test client that is signed in already, in the app's own way.
    :ivar is_user: it is meant to be one of the app's users, whom the app has to find.
    """

    words: str = "a guest"
    user: Any = None
    token: str = ""
    client: FlaskClient | None = None
    is_user: bool = False

    @property
    def loader(self) -> str:
        """What of the app finds the user; empty for a guest."""
        return "request_loader" if self.token else "user_loader" if self.user is not None or self.client else ""


def who(app: Flask, user: Any, token_of: Callable[[Any], str] | None) -> Who:
    """A user as who sends a request, or a guest.

    :param token_of: makes or finds a token of the user, in the app's context.
    :raises TypeError: for what is no user.
    :raises ValueError: for an app that would not know the user, a user without an id, or a token that is none.
    """
    if isinstance(user, LocalProxy):
        user = user._get_current_object()
    if user is None or getattr(user, "is_authenticated", None) is False:
        return Who()
    name = type(user).__name__
    if not hasattr(user, "get_id"):
        raise TypeError(f"acting_as({user!r}) is given a {name}, which Flask-Login knows no id of: give it a user.")
    id = user.get_id()
    if id is None:
        raise ValueError(
            f"acting_as() is given a {name} whose get_id() is None, which no app finds: give it a user who is saved."
        )
    words = f"{name} {id!r}"
    if token_of is not None:
        return by_token(app, in_app(app, token_of, user), words)._replace(is_user=True)
    _check_loader(app, f"A session of {words}", "user_loader")
    return Who(words, user, is_user=True)


def by_token(app: Flask, token: str, words: str = "whoever has the token") -> Who:
    """Who has a Bearer token.

    :raises ValueError: for an app that reads none, or a token that is none and would make a guest.
    """
    if not token:
        raise ValueError(
            f"The token of {words} is {token!r}, which makes a guest of them: give one, or acting_as(None)."
        )
    _check_loader(app, "A Bearer token", "request_loader")
    return Who(words, token=token)


def _check_loader(app: Flask, credential: str, loader: str) -> None:
    manager = getattr(app, "login_manager", None)
    nothing = f"{credential} means nothing to the app {app.name!r}"
    if manager is None:
        raise ValueError(f"{nothing}, which has no LoginManager: everybody is a guest there. Give it one.")
    if getattr(manager, loader.replace("loader", "callback")) is None:
        way = "MCPClient(app, token_of=lambda user: ...)" if loader == "user_loader" else "acting_as(user)"
        words = f"{nothing}, whose LoginManager has no {loader}. Send what the app looks at: {way}, or with_headers()."
        raise ValueError(words)


def in_app(app: Flask, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what belongs to the tested app, in its context: the one that the test is in, if it is in one."""
    here: Any = current_app
    if has_app_context() and here._get_current_object() is app:
        return function(*args, **kwargs)
    with app.app_context():
        return function(*args, **kwargs)
