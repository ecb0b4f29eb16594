"""stdio: one message a line, in and out (2026-07-28, transports, stdio). A reader answers at once what needs no
application, and a few workers each serve one call at a time in contexts of its own."""

from __future__ import annotations

import threading
import time
from io import BytesIO
from queue import SimpleQueue
from typing import Any

from flask import Flask
from flask.testing import EnvironBuilder
from werkzeug.exceptions import HTTPException

from ..caller import Peer
from ..connection import Connection
from ..dispatch import Outgoing, dispatch, method_of, refused
from ..errors import INTERNAL_ERROR, INVALID_REQUEST, Failure, ProtocolError, attempt
from ..identity import UNAUTHORIZED, act_as
from ..jsonrpc import Call, Malformed, MessageId, Notice, parse
from ..policies import guest
from ..state import State
from .descriptors import Descriptors, Writer, lines
from .gate import ADMITTED, refusal_of

GRACE = 1.0
"""Seconds that calls under way have left when the client is gone."""


class NoLocalSubject(Exception):
    """Nobody is declared for the pipe to act as."""


class Flight:
    """A call that is under way."""

    __slots__ = ("answered", "call", "cancelled")

    def __init__(self, call: Call) -> None:
        self.call = call
        self.answered = False
        self.cancelled = False


class Pipe:
    """Serves one client over two file descriptors."""

    def __init__(self, state: State, descriptors: Descriptors) -> None:
        self._state = state
        self._incoming = descriptors.incoming
        self._writer = Writer(descriptors.outgoing)
        self._environ = _environ(state.app, state.url)
        self._peer: Peer | None = None
        self._flights: dict[MessageId, Flight] = {}
        self._lock = threading.Lock()
        self._queue: SimpleQueue[Flight] = SimpleQueue()
        self._over = self._writer.broken

    def stop(self) -> None:
        """End the serving, from any thread or signal handler."""
        self._over.set()

    def serve(self) -> bool:
        """Serve until the client is gone or `stop` is called.

        :return: whether every call had ended by then, or soon after.
        """
        for _ in range(self._state.settings.stdio_workers):
            threading.Thread(target=self._work, daemon=True).start()
        threading.Thread(target=self._read, daemon=True).start()
        self._over.wait()
        deadline = time.monotonic() + GRACE
        while self._flights and time.monotonic() < deadline:
            time.sleep(0.01)
        return not self._flights

    # ------------------------------------------------------------------------------------------ the reader

    def _read(self) -> None:
        for line in lines(self._incoming, self._state.settings.max_message):
            if line is None:
                limit = self._state.settings.max_message
                error = Malformed(INVALID_REQUEST, f"The message is too large: at most {limit} bytes.")
                self._send(refused(None, error, self._connection()))
            elif line.strip():
                self._take(line)
        self.stop()

    def _take(self, line: bytes) -> None:
        message = attempt(parse, line)
        if isinstance(message, Failure):
            error = message.error
            assert isinstance(error, Malformed)
            self._send(refused(None, error, self._connection()))
        elif isinstance(message, Notice):
            self._note(message)
        elif isinstance(message, Call):
            method = method_of(message, self._connection())
            if method is None or not method.asks_app:
                self._answer_at_once(message)
            else:
                self._start(message)

    def _answer_at_once(self, call: Call) -> None:
        with self._state.app.app_context():
            for outgoing in dispatch(self._state.server, guest, call, self._connection()):
                self._peer = outgoing.peer or self._peer
                self._send(outgoing)

    def _start(self, call: Call) -> None:
        flight = Flight(call)
        with self._lock:
            other = self._flights.get(call.id)
            taken = other is not None and not other.answered
            if not taken:
                self._flights[call.id] = flight
        if taken:
            error = ProtocolError(INVALID_REQUEST, f"The id {call.id!r} belongs to a call that is under way.")
            self._send(refused(call, error, self._connection()))
        else:
            self._queue.put(flight)

    def _note(self, notice: Notice) -> None:
        if notice.method != "notifications/cancelled":
            return
        id = notice.params.get("requestId")
        with self._lock:
            flight = self._flights.get(id) if isinstance(id, (str, int)) else None
            if flight is not None:
                flight.cancelled = True

    # ------------------------------------------------------------------------------------------ the workers

    def _work(self) -> None:
        while True:
            flight = self._queue.get()
            outgoing = attempt(self._answer, flight) if not flight.cancelled else []
            if isinstance(outgoing, Failure):
                outgoing = [self._failed(flight.call, outgoing.error)]
            # Before the answer goes out, for a client may use the id again as soon as it has read it; what is being
            # written stays a flight, for the end to wait for.
            flight.answered = True
            for message in outgoing:
                if not flight.cancelled:
                    self._send(message)
            with self._lock:
                if self._flights.get(flight.call.id) is flight:
                    del self._flights[flight.call.id]

    def _answer(self, flight: Flight) -> list[Outgoing]:
        environ = {**self._environ, "wsgi.input": BytesIO(), ADMITTED: flight}
        with self._state.app.request_context(environ):
            try:
                subject = act_as(self._subject())
                self._ask_app()
            except ProtocolError as error:
                return [refused(flight.call, error, self._connection())]
            return list(dispatch(self._state.server, subject, flight.call, self._connection()))

    def _subject(self) -> Any:
        subject = local_subject(self._state)
        if subject is None:
            raise ProtocolError(UNAUTHORIZED, "401 Unauthorized: the local subject is gone.")
        return subject if getattr(subject, "is_active", False) else guest

    def _ask_app(self) -> None:
        """Run the app's own before_request functions, as before any request.

        :raises ProtocolError: where one of them answers in the server's place.
        """
        app = self._state.app
        said = attempt(app.preprocess_request)
        if isinstance(said, Failure):
            if not isinstance(said.error, HTTPException):
                raise said.error
            raise refusal_of(said.error.get_response(), self._state.server.name)
        if said is not None:
            raise refusal_of(app.make_response(said), self._state.server.name)

    def _failed(self, call: Call, error: Exception) -> Outgoing:
        ref = self._state.host.report(error, "the application around a call")
        words = f"Internal error (ref {ref})."
        return refused(call, ProtocolError(INTERNAL_ERROR, words, {"ref": ref}), self._connection())

    def _connection(self) -> Connection:
        return Connection(self._state.host, peer=self._peer, terms=self._state.settings.terms)

    def _send(self, outgoing: Outgoing) -> None:
        self._writer.write(outgoing.body)


def local_subject(state: State) -> Any:
    """Who the pipe acts as, asked anew.

    :raises NoLocalSubject: where nobody was declared.
    """
    declared = state.declared.local_subject
    if declared is None:
        raise NoLocalSubject(
            "Nobody is declared for an assistant on this machine to act as: decorate a function that returns one of "
            "the app's users, or flask_arandu_mcp.guest, with @mcp.local_subject."
        )
    return declared()


def check_local_subject(state: State) -> None:
    """Ask once before serving, so that a pipe that could answer nobody does not start.

    :raises NoLocalSubject: where nobody was declared, or nobody was found.
    """
    with state.app.request_context(_environ(state.app, state.url)):
        if local_subject(state) is None:
            raise NoLocalSubject(
                "The function that @mcp.local_subject decorates found nobody: make it return one of the app's users, "
                "or flask_arandu_mcp.guest."
            )


def _environ(app: Flask, url: str) -> dict[str, Any]:
    """The WSGI environ of a POST to the server's own URL."""
    trusted = app.config.get("TRUSTED_HOSTS")
    host = None if app.config.get("SERVER_NAME") or not trusted else f"http://{trusted[0].lstrip('.')}"
    builder = EnvironBuilder(app, path=url, base_url=host, method="POST", content_type="application/json")
    try:
        return builder.get_environ()
    finally:
        builder.close()
