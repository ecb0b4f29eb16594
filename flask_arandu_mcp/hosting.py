"""The port to the application, answered by Flask. It is the one place where the door meets the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flask import Flask
from flask.signals import got_request_exception
from werkzeug.exceptions import HTTPException

from .host import Refusal, explain, new_ref
from .sealing import Sealer


class FlaskHost:
    """One Flask app, as the port wants it."""

    __slots__ = ("_app",)

    def __init__(self, app: Flask) -> None:
        self._app = app

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
        """A refusal as its status, its name and its description."""
        return explain(error)

    def report(self, error: Exception, culprit: str) -> str:
        """Log the exception under a new ref, and tell whoever listens for the app's exceptions."""
        ref = new_ref()
        self._app.logger.error("%s failed (ref %s)", culprit, ref, exc_info=error)
        got_request_exception.send(self._app, _async_wrapper=self._app.ensure_sync, exception=error)
        return ref
