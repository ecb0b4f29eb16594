"""Who is asking, in Flask-Login's words. The two private names of Flask-Login that are needed live here: where it keeps
the user of a request, and the user's id in a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Flask, Request, current_app, g, has_request_context, request, session
from flask.sessions import SecureCookieSessionInterface
from flask_login import LoginManager, current_user, user_accessed, user_loaded_from_request
from werkzeug.exceptions import Unauthorized
from werkzeug.local import LocalProxy

from .errors import INTERNAL_ERROR, Failure, ProtocolError, attempt, let_go
from .headers import KEYS, Challenge
from .host import Host
from .policies import guest

if TYPE_CHECKING:
    from flask.ctx import _AppCtxGlobals

UNAUTHORIZED = 401
AGAIN = "flask_arandu_mcp.again"
"""The key in a WSGI environ of what finds the subject anew, where neither a token nor a session shows it."""

LOCAL = "flask_arandu_mcp.local"
"""The key in a WSGI environ of what came over a pipe."""

_REMEMBER_COOKIE = "remember_token"
_INVALID = "The token is not valid: get a new one."


class Identity(NamedTuple):
    """Who is asking.

    :ivar subject: the app's own user, or a guest.
    :ivar by_token: they showed a token that no web page could have made a browser send.
    """

    subject: Any
    by_token: bool = False


def manager() -> LoginManager | None:
    """The app's LoginManager, or None where it has none."""
    found: LoginManager | None = getattr(current_app, "login_manager", None)
    return found


def has_no_loader() -> bool:
    """Whether the app has a LoginManager that cannot load anybody."""
    login = manager()
    return login is not None and login.user_callback is None and login.request_callback is None


def reads_no_tokens() -> bool:
    """Whether nothing in the app looks at an Authorization header."""
    login = manager()
    return login is None or login.request_callback is None


class NoUserLoader(Exception):
    """The app has nothing that loads a user by an id."""


def user_by_id(id: str) -> Any:
    """The user of an id as the app loads the user of a session; None for nobody.

    :raises NoUserLoader: where it loads none so.
    """
    login = manager()
    if login is None or login.user_callback is None:
        raise NoUserLoader
    return login.user_callback(id)


def current_request() -> Request:
    """The request of the current context itself, which is quicker to ask than what stands for it."""
    proxy: Any = request
    current: Request = proxy._get_current_object()
    return current


def _kept() -> _AppCtxGlobals:
    """Flask's `g` itself, for the same reason."""
    proxy: Any = g
    kept: _AppCtxGlobals = proxy._get_current_object()
    return kept


def identify(
    app: Flask, sent: Request, unknown: Callable[[], Challenge], host: Host, *, login_required: bool
) -> Identity:
    """Find out who sent the current request, and make them Flask-Login's `current_user`.

    :param app: the current one. :param sent: the current one.
    :param unknown: gives what somebody is told who must sign in first.
    :raises ProtocolError: 401 for a credential that is not good, or a guest where none is served; 503 where the
        app's loader fails.
    """
    login: LoginManager | None = getattr(app, "login_manager", None)
    kept = _kept()
    if login is None:
        return _identity(_made_current(None, guest, kept), unknown, login_required=login_required)
    by_request: Callable[..., Any] | None = login.request_callback
    found: Any = None
    by_token = False
    if by_request is not None and "HTTP_AUTHORIZATION" in sent.environ:
        found, by_token = _by_token(by_request, sent, unknown, host)
    elif _is_bare(app, login, sent, kept):
        found = None if by_request is None else _found(by_request, host, request)
    else:
        claims = session.get("_user_id") is not None or _remember_cookie(app) in sent.cookies
        found = _found(current_user._get_current_object, host)
        if found is None and claims:
            raise unauthorized(unknown(), "The session is not valid any more: sign in again.")
    subject = _made_current(login, guest if found is None else found, kept)
    return _identity(subject, unknown, by_token=by_token, login_required=login_required)


def _identity(
    subject: Any, unknown: Callable[[], Challenge], *, by_token: bool = False, login_required: bool
) -> Identity:
    if login_required and not getattr(subject, "is_authenticated", False):
        raise unauthorized(unknown(), "Sign in first: this server serves no guests.")
    return Identity(subject, by_token)


def act_as(subject: Any) -> Any:
    """Make a subject Flask-Login's user of the current context, and return the very object that it is.

    `guest` becomes the app's own kind of anonymous user.
    """
    return _made_current(manager(), subject, _kept())


def _made_current(login: LoginManager | None, subject: Any, kept: _AppCtxGlobals) -> Any:
    if subject is guest and login is not None:
        subject = login.anonymous_user()
    while isinstance(subject, LocalProxy):
        subject = subject._get_current_object()
    kept._login_user = subject
    return subject


def reloaded(subject: Any) -> Any:
    """The subject as the app has it now, loaded the way that it was first found; None where it is gone or disabled."""
    login = manager()
    if login is None or not getattr(subject, "is_authenticated", False):
        return subject
    again = request.environ.get(AGAIN) if has_request_context() else None
    if again is not None:
        now = again()
    elif has_request_context() and "Authorization" in request.headers and login.request_callback is not None:
        now = login.request_callback(request)
    elif login.user_callback is not None:
        now = login.user_callback(subject.get_id())
    else:
        now = subject
    return now if getattr(now, "is_active", False) else None


def _by_token(
    load: Callable[..., Any], sent: Request, unknown: Callable[[], Challenge], host: Host
) -> tuple[Any, bool]:
    scheme, _, credentials = sent.environ["HTTP_AUTHORIZATION"].strip().partition(" ")
    # A browser adds what it keeps for Basic, Digest and Negotiate to requests of other sites, too.
    is_bearer = scheme.lower() == "bearer"
    user = _found(load, host, request)
    if user is None:
        raise invalid_token(unknown()) if is_bearer and credentials else unauthorized(unknown(), _INVALID)
    return user, is_bearer


def _is_bare(app: Flask, login: LoginManager, sent: Request, kept: _AppCtxGlobals) -> bool:
    """Whether Flask-Login would look for a user nowhere but in the request_loader, which can then be asked alone.

    It searches in a way that costs as much as the rest of the admission, and marks the session as read.
    """
    if type(login) is not LoginManager or user_accessed.receivers or user_loaded_from_request.receivers:
        return False
    if KEYS[app.config.get("AUTH_HEADER_NAME", "Authorization")] in sent.environ or "_login_user" in kept:
        return False
    if "HTTP_COOKIE" not in sent.environ and type(app.session_interface) is SecureCookieSessionInterface:
        return True
    return not session and _remember_cookie(app) not in sent.cookies


def _found(load: Callable[..., Any], host: Host, *given: Request) -> Any:
    """The user that a loader finds; None for nobody, and `guest` for an account that is switched off."""
    user = attempt(_active, load, *given)
    if not isinstance(user, Failure):
        return user
    if isinstance(user.error, Unauthorized):
        let_go(user.error)
        return None
    raise unavailable(user.error, host, "the app's user loader")


def _active(load: Callable[..., Any], *given: Request) -> Any:
    user = load(*given)
    if user is None or getattr(user, "is_anonymous", False):
        return None
    return user if getattr(user, "is_active", False) else guest


def _remember_cookie(app: Flask) -> str:
    name: str = app.config.get("REMEMBER_COOKIE_NAME", _REMEMBER_COOKIE)
    return name


def unauthorized(challenge: Challenge, words: str = "Sign in first.") -> ProtocolError:
    """The answer to somebody who is not known."""
    return ProtocolError(UNAUTHORIZED, f"401 Unauthorized: {words}", status=UNAUTHORIZED, headers=(challenge.header(),))


def invalid_token(challenge: Challenge) -> ProtocolError:
    """The answer to a token that is no good."""
    return unauthorized(challenge._replace(error="invalid_token"), _INVALID)


def unavailable(error: Exception, host: Host, culprit: str) -> ProtocolError:
    """The answer while the app cannot tell who asks."""
    ref = host.report(error, culprit)
    words = f"Internal error (ref {ref}): it cannot be told who is asking."
    return ProtocolError(INTERNAL_ERROR, words, {"ref": ref}, status=503)
