"""A call that sends something before its response outlives the view that it began in. It runs in context variables of
its own, into which its app and its request are put before the first step, and taken out after the last."""

from __future__ import annotations

import contextvars
from collections.abc import Generator, Iterator
from io import BytesIO
from typing import Any, TypeVar

from flask import Flask
from flask.signals import request_started

from ..errors import Failure, attempt
from ..state import State
from .gate import ADMITTED, refusal_of

T = TypeVar("T")


def in_own_context(steps: Iterator[T]) -> Generator[T, None, None]:
    """Take the steps of an iterator in a context of their own, and close it there."""
    context = contextvars.Context()
    try:
        while True:
            try:
                step = context.run(next, steps)
            except StopIteration:
                return
            yield step
    finally:
        close = getattr(steps, "close", None)
        if close is not None:
            context.run(close)


def inner_environ(environ: dict[str, Any], admitted: object, body: bytes) -> dict[str, Any]:
    """The WSGI environ of a request whose body is read already, for a context of its own."""
    gone = ("wsgi.input_terminated", "HTTP_TRANSFER_ENCODING")
    own = {key: value for key, value in environ.items() if not key.startswith("werkzeug.") and key not in gone}
    return {**own, "wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body)), ADMITTED: admitted}


def ask_app(state: State) -> None:
    """Run the app's own before_request functions, as before any request.

    :raises ProtocolError: where one of them, or an error handler of the app, answers in the server's place.
    """
    app = state.app
    request_started.send(app, _async_wrapper=app.ensure_sync)
    said = attempt(app.preprocess_request)
    if isinstance(said, Failure):
        said = _handled(app, said.error)
    if said is not None:
        raise refusal_of(app.make_response(said), state.resource.challenge())


def _handled(app: Flask, error: Exception) -> Any:
    try:
        raise error
    except type(error):
        # Flask raises again what no handler takes, which it can while the error is being handled.
        return app.handle_user_exception(error)
