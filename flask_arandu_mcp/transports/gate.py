"""What the application says of a message before the server sees it, in the protocol's words. Both transports let the
app's own before_request functions decide first."""

from __future__ import annotations

from flask import current_app
from flask_login import current_user
from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.wrappers import Response

from ..errors import INTERNAL_ERROR, Failure, ProtocolError, attempt
from ..ext import limiter
from ..headers import Challenge
from ..identity import UNAUTHORIZED, unauthorized
from ..state import State
from ..troubles import TOO_MANY

ADMITTED = "flask_arandu_mcp.admitted"
"""The key in a WSGI environ of what the transport found out before the app's own code ran."""

_KEPT = ("Retry-After", "WWW-Authenticate")


def refusal_of(response: Response, challenge: Challenge) -> ProtocolError:
    """The error that stands for an answer of the app's own before_request functions or error handlers."""
    status = response.status_code
    if 300 <= status < 400:
        signed_in = attempt(lambda: bool(current_user.is_authenticated))
        status = 403 if signed_in is True else UNAUTHORIZED
    if status < 400:
        status = 500
    if status == UNAUTHORIZED and "WWW-Authenticate" not in response.headers:
        return unauthorized(challenge)
    kept = tuple((name, response.headers[name]) for name in _KEPT if name in response.headers)
    words = f"{status} {HTTP_STATUS_CODES.get(status, 'Refused')}: the application refused this request."
    if status == TOO_MANY and "Retry-After" not in response.headers:
        # Flask-Limiter says it only in an app with RATELIMIT_HEADERS_ENABLED.
        seconds = attempt(limiter.retry_after, current_app)
        if not isinstance(seconds, Failure) and seconds:
            kept = (*kept, ("Retry-After", str(seconds)))
            words = f"{words[:-1]}, try again in {limiter.in_seconds(seconds)}."
    return ProtocolError(status if status < 500 else INTERNAL_ERROR, words, status=status, headers=kept)


def check_ready(state: State) -> None:
    """Check what only the finished app shows, once; what is wrong is logged for each message until it is mended.

    :raises ProtocolError: 503 with a ref.
    """
    if state.is_ready and not state.resource.issuers:
        return
    ready = attempt(_be_ready, state)
    if isinstance(ready, Failure):
        ref = state.host.report(ready.error, f"the check of MCP server {state.server.name!r}")
        words = f"The server is not ready (ref {ref}): its log says why."
        raise ProtocolError(INTERNAL_ERROR, words, {"ref": ref}, status=503)


def _be_ready(state: State) -> None:
    state.be_ready()
    state.resource.check_reached()
