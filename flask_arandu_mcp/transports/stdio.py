"""stdio: one message a line, in and out (2026-07-28, transports, stdio). A reader answers at once what needs no
application, and a few workers each serve one call at a time in contexts of its own."""

from __future__ import annotations

import sys
import threading
import time
from queue import SimpleQueue

from ..asking import Answers
from ..caller import Peer
from ..connection import Connection
from ..dispatch import Outgoing, method_of, refused
from ..errors import INVALID_REQUEST, Failure, ProtocolError, attempt
from ..jsonrpc import Call, Malformed, MessageId, Notice, Reply, is_id, parse
from ..rounds import Waiting
from ..state import State
from .contexts import in_own_context
from .crew import Crew
from .descriptors import Descriptors, Writer, lines
from .local import Application

GRACE = 1.0
"""Seconds that calls under way have left when the client is gone."""


class Flight:
    """A call that is owed an answer.

    :ivar connection: what was known of the client when the call came in.
    :ivar waiting: the questions at which it stands.
    :ivar parked: it holds no worker until they are answered.
    :ivar replies: what came back so far, by the questions' ids.
    :ivar answers: those of the rounds that are over.
    """

    __slots__ = ("answers", "call", "cancelled", "connection", "parked", "replies", "waiting")

    def __init__(self, call: Call, connection: Connection) -> None:
        self.call = call
        self.connection = connection
        self.cancelled = False
        self.waiting: Waiting | None = None
        self.parked = False
        self.replies: dict[str, Reply] = {}
        self.answers: Answers | None = None


class Pipe:
    """Serves one client over two file descriptors."""

    def __init__(self, state: State, app: Application, descriptors: Descriptors) -> None:
        self._state = state
        self._app = app
        self._incoming = descriptors.incoming
        self._writer = Writer(descriptors.outgoing, self.stop)
        self._peer: Peer | None = None
        self._flights: dict[MessageId, Flight] = {}
        self._asked: dict[str, Flight] = {}
        self._unsettled = 0
        self._lock = threading.Lock()
        self._crew = Crew(self._carry_out)
        self._ends: SimpleQueue[None] = SimpleQueue()
        self._ending = False

    def stop(self) -> None:
        """End the serving, from any thread or signal handler."""
        # A signal handler may interrupt `serve` anywhere: SimpleQueue bears that, where an Event's lock would block.
        self._ends.put(None)

    def serve(self) -> bool:
        """Serve until the client is gone or `stop` is called.

        :return: whether every call had ended by then, or soon after.
        """
        self._crew.start(self._state.settings.stdio_workers)
        threading.Thread(target=self._read, daemon=True).start()
        self._ends.get()
        self._ending = True
        deadline = time.monotonic() + GRACE
        while self._unsettled and time.monotonic() < deadline:
            time.sleep(0.01)
        self._writer.close()
        self._crew.dismiss()
        return not self._unsettled

    def _read(self) -> None:
        limit = self._state.settings.max_message
        try:
            for line in lines(self._incoming, limit):
                if self._ending:
                    break
                if line is None:
                    error = Malformed(INVALID_REQUEST, f"The message is too large: send at most {limit} bytes.")
                    self._send(refused(None, error, self._connection()))
                elif line.strip():
                    self._take(line)
        finally:
            self.stop()

    def _take(self, line: bytes) -> None:
        message = attempt(parse, line)
        if isinstance(message, Failure):
            assert isinstance(message.error, Malformed)  # all that `parse` raises
            self._send(refused(None, message.error, self._connection()))
        elif isinstance(message, Notice):
            self._note(message)
        elif isinstance(message, Reply):
            self._answered(message)
        else:
            self._take_call(Flight(message, self._connection()))

    def _take_call(self, flight: Flight) -> None:
        call = flight.call
        method = method_of(call, flight.connection)
        waits = method is not None and method.asks_app
        with self._lock:
            taken = call.id in self._flights
            if waits and not taken:
                self._flights[call.id] = flight
                self._unsettled += 1
        if taken:
            error = ProtocolError(
                INVALID_REQUEST, f"The id {call.id!r} belongs to a call that is under way: send another one."
            )
            self._send(refused(call, error, flight.connection))
        elif waits:
            self._crew.take(flight)
        else:
            self._answer_at_once(flight)

    def _answer_at_once(self, flight: Flight) -> None:
        for outgoing in self._app.answer_at_once(flight.call, flight.connection):
            self._peer = outgoing.peer or self._peer
            self._send(outgoing)

    def _note(self, notice: Notice) -> None:
        if notice.method != "notifications/cancelled":
            return
        id = notice.params.get("requestId")
        with self._lock:
            flight = self._flights.get(id) if is_id(id) else None
            if flight is not None:
                flight.cancelled = True
                if flight.parked:
                    self._give_up(flight)

    def _carry_out(self, flight: Flight) -> None:
        last: Outgoing | None = None
        over = False
        try:
            last = None if flight.cancelled else self._fly(flight)
            over = True
        finally:
            if not over:
                last = self._left(flight)
            if last is not None or not self._park(flight):
                self._settle(flight, last)

    def _fly(self, flight: Flight) -> Outgoing | None:
        """Take a round of a call, and send what comes before its response; None where it has none."""
        last: Outgoing | None = None
        # What a call leaves in context variables must not be there for the next one.
        steps = in_own_context(self._app.answer(flight.call, flight.connection, flight.answers))
        asked: list[Outgoing] = []
        while not isinstance(sent := attempt(next, steps), Failure):
            if flight.cancelled:
                attempt(steps.close)
                return None
            if isinstance(sent, Waiting):
                self._await(flight, sent)
            elif sent is not None and sent.final:
                last = sent
            elif sent is not None and flight.waiting is not None:
                asked.append(sent)  # they go out when the call's context is gone, and with it the app's transactions
            elif sent is not None:
                self._send(sent)
        if isinstance(sent.error, StopIteration):
            for request in asked:
                self._send(request)
            return last
        return self._app.failed(flight.call, sent.error, flight.connection)

    def _settle(self, flight: Flight, last: Outgoing | None) -> None:
        # Before the answer goes out, for a client may use the id again as soon as it has read it; what is being
        # written stays unsettled, for the end to wait for.
        with self._lock:
            del self._flights[flight.call.id]
            for id in flight.waiting.questions if flight.waiting is not None else ():
                self._asked.pop(id, None)
        if last is not None and not flight.cancelled:
            self._send(last)
        with self._lock:
            self._unsettled -= 1

    def _await(self, flight: Flight, waiting: Waiting) -> None:
        with self._lock:
            flight.waiting = waiting
            flight.replies = {}
            self._asked.update(dict.fromkeys(waiting.questions, flight))

    def _park(self, flight: Flight) -> bool:
        """Leave a call to wait for its answers; False where it waits for none, or they are all there."""
        with self._lock:
            if flight.waiting is None or flight.cancelled:
                return False
            flight.parked = True
            self._unsettled -= 1
        self._go_on(flight)
        return True

    def _answered(self, reply: Reply) -> None:
        with self._lock:
            flight = self._asked.pop(reply.id, None) if isinstance(reply.id, str) else None
            if flight is None:
                return
            flight.replies[str(reply.id)] = reply
        self._go_on(flight)

    def _go_on(self, flight: Flight) -> None:
        """Queue a call again whose questions are all answered."""
        with self._lock:
            waiting = flight.waiting
            if waiting is None or not flight.parked or len(flight.replies) < len(waiting.questions):
                return
            flight.answers = waiting.answered(flight.replies)
            flight.waiting, flight.parked = None, False
            self._unsettled += 1
        self._crew.take(flight)

    def _give_up(self, flight: Flight) -> None:
        """Forget a cancelled call that waits for answers, since no worker will."""
        assert flight.waiting is not None
        for id in flight.waiting.questions:
            self._asked.pop(id, None)
        flight.waiting, flight.parked = None, False
        del self._flights[flight.call.id]

    def _left(self, flight: Flight) -> Outgoing:
        error = RuntimeError("a call was left by what is no Exception: raise one instead")
        error.__cause__ = sys.exception()
        return self._app.failed(flight.call, error, flight.connection)

    def _connection(self) -> Connection:
        return Connection(self._state.host, peer=self._peer, terms=self._state.terms)

    def _send(self, outgoing: Outgoing) -> None:
        self._writer.write(outgoing.body)
