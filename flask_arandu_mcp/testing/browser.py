"""A client of the app that keeps who it is, over Flask's test client. It signs in as the app's own sign-in does, and
sends each request as a server would: from outside of whatever context the test is in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context
from typing import Any, TypeVar

from flask import Flask, session
from flask.signals import got_request_exception
from flask_login import login_user
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from ..signals import tool_called
from ..transports.local import own_site
from .who import Who

T = TypeVar("T")


class Reply:
    """The response to a request, which may still be under way."""

    def __init__(self, response: TestResponse, context: Context) -> None:
        self.response = response
        self._context = context

    def chunks(self) -> Iterator[bytes]:
        """The body, as it comes."""
        chunks = iter(self.response.iter_encoded())
        while (chunk := self._context.run(next, chunks, None)) is not None:
            yield chunk

    def close(self) -> None:
        """Be done with it, which takes the rest of a call along."""
        self._context.run(self.response.close)


class Browser:
    """A client of the app.

    :param headers: that every request has, in place of those that it would have had.
    :param base_url: where the app is reached: scheme, host and root path.
    """

    def __init__(
        self, app: Flask, who: Who, *, headers: Mapping[str, str] | None = None, base_url: str | None = None
    ) -> None:
        self.app = app
        self._client = who.client or app.test_client()
        self._headers = dict(headers or {})
        if who.token:
            self._headers["Authorization"] = f"Bearer {who.token}"
        self._base_url = base_url or own_site(app)
        if who.user is not None:
            # Whom Flask-Login would not let sign in may have been let in before: what then holds is the loader's.
            self.in_session(lambda: login_user(who.user, force=True))

    def open(self, path: str, *, headers: Mapping[str, str], **options: Any) -> Reply:
        """Send a request.

        :param options: of werkzeug's EnvironBuilder.
        """
        all_headers = Headers(list(headers.items()))
        for name, value in self._headers.items():
            all_headers[name] = value
        options.setdefault("base_url", self._base_url)
        # A context that the test is in would be the request's too, and with it the user of the request before.
        context = Context()
        return Reply(context.run(self._client.open, path, headers=all_headers, **options), context)

    def in_session(self, function: Callable[[], T]) -> T:
        """What a function gives that is called as in a view, with this client's session; it may write into it.

        :raises ValueError: where the app can keep no session.
        """
        return Context().run(self._in_session, function)

    def _in_session(self, function: Callable[[], T]) -> T:
        client, app = self._client, self.app
        where: dict[str, Any] = {
            "base_url": self._base_url,
            "headers": self._headers,
            "environ_base": client.environ_base,
        }
        with app.test_request_context("/", **where):
            if app.session_interface.is_null_session(session):
                raise ValueError(f"The app {app.name!r} keeps no session without a SECRET_KEY: give it one.")
            with client.session_transaction("/", **where) as kept:
                session.update(kept)
                value = function()
                kept.update(session)
        return value


@contextmanager
def noting(app: Flask, raised: list[BaseException]) -> Iterator[None]:
    """Note the exceptions that the app's log is told of."""

    def note(sender: object, exception: BaseException, **_: object) -> None:
        raised.append(exception)

    with got_request_exception.connected_to(note, app):
        yield


@contextmanager
def noting_outcomes(outcomes: list[str]) -> Iterator[None]:
    """Note how calls of tools end, as the audit trail has it."""

    def note(sender: object, outcome: str, **_: object) -> None:
        outcomes.append(outcome)

    with tool_called.connected_to(note):
        yield
