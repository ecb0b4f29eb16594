"""The port to the application, answered by Flask. It is the one place where the door meets the app."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from flask import Flask, has_request_context, request
from flask.signals import got_request_exception
from werkzeug.exceptions import HTTPException

from .errors import Failure, attempt
from .ext import limiter
from .host import Refusal, explain, new_ref
from .identity import act_as, reloaded
from .oauth import Resource
from .sealing import Sealer
from .typing import JSONObject

T = TypeVar("T")


class FlaskHost:
    """One Flask app, as the port wants it.

    :param server: what tells the server from the app's others.
    :param resource: what it says of the tokens that it takes.
    """

    __slots__ = ("_app", "_resource", "_server")

    def __init__(self, app: Flask, server: str, resource: Resource) -> None:
        self._app = app
        self._server = server
        self._resource = resource

    @property
    def sealer(self) -> Sealer | None:
        """Signs with the app's SECRET_KEY, and reads what its fallbacks signed; None without a key."""
        key = self._app.secret_key
        if not key:
            return None
        return Sealer([key, *(self._app.config.get("SECRET_KEY_FALLBACKS") or ())])

    def run(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A coroutine function, run as Flask runs async views."""
        return self._app.ensure_sync(function)

    def explain(self, error: HTTPException) -> Refusal | None:
        """A refusal in the words of the app's own error handlers, where they answer with JSON; else as it stands."""
        refusal = explain(error)
        if refusal is None or not has_request_context():
            return refusal
        envelope = attempt(self._envelope, error)
        if not isinstance(envelope, Failure) and envelope is not None:
            return Refusal(envelope[0], refusal.words, envelope[1])
        return refusal

    def _envelope(self, error: HTTPException) -> tuple[int, JSONObject] | None:
        # Asked as for a request that wants JSON, whatever the client of this one said that it takes.
        with self._app.request_context({**request.environ, "HTTP_ACCEPT": "application/json"}):
            answer = self._app.handle_http_exception(error)
            if isinstance(answer, HTTPException):
                return None
            response = self._app.make_response(answer)
            body = response.get_json(silent=True) if response.is_json else None
            if not isinstance(body, dict) or not 400 <= response.status_code < 500:
                return None
            return response.status_code, body

    def again(self, subject: Any, ask: Callable[[Any], T]) -> T | None:
        """Ask of the subject as it is now: loaded anew, in an app context of its own, where no session remembers it."""
        with self._app.app_context():
            now = reloaded(subject)
            return None if now is None else ask(act_as(now))

    def step_up(self, scopes: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """The challenge that asks for a token with more scopes."""
        return (self._resource.step_up(scopes).header(),)

    def count(self, limits: str, name: str, subject: Any, round_: str = "") -> str:
        """Count with the app's Flask-Limiter."""
        return limiter.count(self._app, self._server, limiter.Use(name, limits, subject, round_))

    def report(self, error: Exception, culprit: str) -> str:
        """Log the exception under a new ref, and tell whoever listens for the app's exceptions."""
        ref = new_ref()
        self._app.logger.error("%s failed (ref %s)", culprit, ref, exc_info=error)
        got_request_exception.send(self._app, _async_wrapper=self._app.ensure_sync, exception=error)
        return ref
