"""The application around a message that came over a pipe: who the message acts as, and the request that the app's own
code sees. It is a POST to the server's own URL, so that what the app does before each request is done here too."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from io import BytesIO
from typing import Any, TypeVar

from flask import Flask
from flask.testing import EnvironBuilder

from ..asking import Answers
from ..connection import Connection
from ..dispatch import Outgoing, Sent, dispatch, refused
from ..errors import INTERNAL_ERROR, Failure, ProtocolError, attempt
from ..identity import LOCAL, UNAUTHORIZED, act_as
from ..jsonrpc import Call
from ..policies import guest
from ..state import State
from .contexts import ask_app
from .gate import ADMITTED

T = TypeVar("T")


class NoLocalSubject(Exception):
    """Nobody is there for the pipe to act as."""


class Application:
    """Answers calls, each in contexts of its own.

    :param find: finds who calls act as, in the place of the declared local subject.
    """

    def __init__(self, state: State, find: Callable[[], Any] | None = None) -> None:
        self._state = state
        self._find = find
        self._environ = local_environ(state.app, state.url)

    def see(self, look: Callable[[Any], T]) -> T | Failure[T]:
        """What can be seen of whoever calls act as, while they are loaded; or what the search for them ended with."""
        with self._state.app.request_context(self._new_environ(None)):
            return attempt(lambda: look(self._subject()))

    def check_local_subject(self) -> None:
        """Ask once before serving, so that a pipe that could answer nobody does not start.

        :raises NoLocalSubject: where nobody was declared, nobody was found, or the search failed.
        """
        with self._state.app.request_context(self._new_environ(None)):
            subject = attempt(self._subject)
            if isinstance(subject, Failure):
                if isinstance(subject.error, NoLocalSubject):
                    raise subject.error
                ref = self._state.host.report(subject.error, "the function that @mcp.local_subject decorates")
                raise NoLocalSubject(
                    f"The function that @mcp.local_subject decorates failed (ref {ref}): the log says why; make it "
                    "return one of the app's users, or flask_arandu_mcp.guest."
                )
            if subject is not None and not hasattr(subject, "is_authenticated"):
                raise NoLocalSubject(
                    f"The function that @mcp.local_subject decorates gave {subject!r}, which is no user: make it "
                    "return one of the app's users, or flask_arandu_mcp.guest."
                )
        if subject is None:
            raise NoLocalSubject(
                "The function that @mcp.local_subject decorates found nobody: make it return one of the app's users, "
                "or flask_arandu_mcp.guest."
            )

    def answer(self, call: Call, connection: Connection, answers: Answers | None = None) -> Iterator[Sent]:
        """Answer a call as the local subject, within a request of its own, which ends with the last step.

        :param answers: what the client answered to questions of earlier rounds.
        """
        context = self._state.app.request_context(self._new_environ(call))
        error: Exception | None = None
        steps = self._ask(call, connection, answers)
        try:
            context.push()
            while not isinstance(step := attempt(next, steps), Failure):
                yield step
            if not isinstance(step.error, StopIteration):
                error = step.error
                # Here, so that the app's log and its error tracker still know the request.
                yield self.failed(call, error, connection)
        finally:
            steps.close()
            context.pop(error)

    def answer_at_once(self, call: Call, connection: Connection) -> list[Outgoing]:
        """Answer a call that asks the app nothing."""
        outgoing = attempt(self._answer_at_once, call, connection)
        return [self.failed(call, outgoing.error, connection)] if isinstance(outgoing, Failure) else outgoing

    def _answer_at_once(self, call: Call, connection: Connection) -> list[Outgoing]:
        with self._state.app.app_context():
            sent = dispatch(self._state.server, guest, call, connection)
            return [one for one in sent if isinstance(one, Outgoing)]

    def failed(self, call: Call | None, error: Exception, connection: Connection) -> Outgoing:
        """The answer where something failed that no room has words for."""
        ref = attempt(self._state.host.report, error, "the application around a call")
        if isinstance(ref, Failure):  # the app's own logging failed, and the client is owed its answer all the same
            return refused(call, ProtocolError(INTERNAL_ERROR, "Internal error."), connection)
        return refused(call, ProtocolError(INTERNAL_ERROR, f"Internal error (ref {ref}).", {"ref": ref}), connection)

    def _new_environ(self, admitted: object) -> dict[str, Any]:
        return {**self._environ, "wsgi.input": BytesIO(), ADMITTED: admitted, LOCAL: True}

    def _ask(self, call: Call, connection: Connection, answers: Answers | None) -> Generator[Sent, None, None]:
        try:
            subject = self._subject()
            if subject is None:
                raise ProtocolError(UNAUTHORIZED, "401 Unauthorized: the local subject is gone.")
            subject = act_as(subject if getattr(subject, "is_active", False) else guest)
            ask_app(self._state)
        except ProtocolError as error:
            yield refused(call, error, connection)
            return
        yield from dispatch(self._state.server, subject, call, connection, answers)

    def _subject(self) -> Any:
        if self._find is not None:
            return self._find()
        declared = self._state.declared.local_subject
        if declared is None:
            raise NoLocalSubject(
                "Nobody is declared for an assistant on this machine to act as: decorate a function that returns one "
                "of the app's users, or flask_arandu_mcp.guest, with @mcp.local_subject."
            )
        return self._state.app.ensure_sync(declared)()


def local_environ(app: Flask, url: str) -> dict[str, Any]:
    """The WSGI environ of a POST to the server's own URL, sent from this machine."""
    builder = EnvironBuilder(
        app,
        path=url,
        base_url=own_site(app),
        method="POST",
        content_type="application/json",
        environ_base={"REMOTE_ADDR": "127.0.0.1"},
    )
    try:
        return builder.get_environ()
    finally:
        builder.close()


def own_site(app: Flask) -> str | None:
    """Where the app takes itself to be served, as the base URL of a request that it trusts; None for Flask's choice."""
    trusted = app.config.get("TRUSTED_HOSTS")
    if app.config.get("SERVER_NAME") or not trusted:
        return None
    root = app.config["APPLICATION_ROOT"].lstrip("/")
    return f"{app.config['PREFERRED_URL_SCHEME']}://{trusted[0].lstrip('.')}/{root}"
