"""Who is asking, in Flask-Login's words. The two private names of Flask-Login that are needed live here: where it keeps
the user of a request, and the user's id in a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from flask import current_app, g, has_request_context, request, session
from flask_login import LoginManager, current_user
from werkzeug.exceptions import Unauthorized
from werkzeug.local import LocalProxy

from .errors import INTERNAL_ERROR, Failure, ProtocolError, attempt
from .host import Host
from .policies import guest

UNAUTHORIZED = 401
AGAIN = "flask_arandu_mcp.again"
"""The key in a WSGI environ of what finds the subject anew, where neither a token nor a session shows it."""

LOCAL = "flask_arandu_mcp.local"
"""The key in a WSGI environ of what came over a pipe."""

_REMEMBER_COOKIE = "remember_token"


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


def identify(realm: str, host: Host, *, login_required: bool) -> Identity:
    """Find out who sent the current request, and make them Flask-Login's `current_user`.

    :raises ProtocolError: 401 for a credential that is not good, or a guest where none is served; 503 where the
        app's loader fails.
    """
    login = manager()
    by_request: Callable[..., Any] | None = login and login.request_callback
    if login is None:
        identity = Identity(guest)
    elif "Authorization" in request.headers and by_request is not None:
        identity = _by_token(by_request, realm, host)
    else:
        identity = Identity(_by_session(realm, host))
    identity = identity._replace(subject=act_as(identity.subject))
    if login_required and not getattr(identity.subject, "is_authenticated", False):
        raise _challenge(realm, "Sign in first: this server serves no guests.")
    return identity


def act_as(subject: Any) -> Any:
    """Make a subject Flask-Login's user of the current context, and return the very object that it is.

    `guest` becomes the app's own kind of anonymous user.
    """
    login = manager()
    if subject is guest and login is not None:
        subject = login.anonymous_user()
    while isinstance(subject, LocalProxy):
        subject = subject._get_current_object()
    g._login_user = subject
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


def _by_token(load: Callable[..., Any], realm: str, host: Host) -> Identity:
    scheme, _, credentials = request.headers["Authorization"].strip().partition(" ")
    # A browser adds what it keeps for Basic, Digest and Negotiate to requests of other sites, too.
    is_bearer = scheme.lower() == "bearer"
    user = _found(lambda: load(request), host)
    if user is None:
        raise _challenge(realm, "The token is not valid.", invalid_token=is_bearer and bool(credentials))
    return Identity(user, by_token=is_bearer)


def _by_session(realm: str, host: Host) -> Any:
    claimed = session.get("_user_id") is not None or _remember_cookie() in request.cookies
    user = _found(current_user._get_current_object, host)
    if user is None and claimed:
        raise _challenge(realm, "The session is not valid any more: sign in again.")
    return guest if user is None else user


def _found(load: Callable[[], Any], host: Host) -> Any:
    """The user that a loader finds; None for nobody, and `guest` for an account that is switched off."""

    def look() -> Any:
        user = load()
        if user is None or getattr(user, "is_anonymous", False):
            return None
        return user if getattr(user, "is_active", False) else guest

    user = attempt(look)
    if not isinstance(user, Failure):
        return user
    if isinstance(user.error, Unauthorized):
        return None
    raise _unavailable(user.error, host)


def _remember_cookie() -> str:
    name: str = current_app.config.get("REMEMBER_COOKIE_NAME", _REMEMBER_COOKIE)
    return name


def _challenge(realm: str, words: str, *, invalid_token: bool = False) -> ProtocolError:
    quoted = realm.encode("ascii", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
    challenge = f'Bearer realm="{quoted}"' + (', error="invalid_token"' if invalid_token else "")
    headers = (("WWW-Authenticate", challenge),)
    return ProtocolError(UNAUTHORIZED, f"401 Unauthorized: {words}", status=UNAUTHORIZED, headers=headers)


def challenge(realm: str) -> ProtocolError:
    """The answer to somebody who must sign in first."""
    return _challenge(realm, "Sign in first.")


def _unavailable(error: Exception, host: Host) -> ProtocolError:
    ref = host.report(error, "the app's user loader")
    words = f"Internal error (ref {ref}): it cannot be told who is asking."
    return ProtocolError(INTERNAL_ERROR, words, {"ref": ref}, status=503)
