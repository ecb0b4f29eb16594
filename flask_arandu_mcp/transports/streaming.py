"""Answers over HTTP that are more than one message: progress, logs and, in the handshake era, questions. Each round of
the call runs in contexts of its own, and none is open while a human is waited for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from ..asking import Answers
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, Sent, dispatch, era_of, refused
from ..errors import INTERNAL_ERROR, Failure, ProtocolError, attempt
from ..jsonrpc import Call, Reply
from ..rounds import Waiting
from ..state import State
from .contexts import ask_app, in_own_context, inner_environ
from .mailbox import Mailbox
from .sse import KEEP_ALIVE, event

ASKED = "flask_arandu_mcp.asked"
"""The key in a WSGI environ of a dict that is told the key of each question by the id that it goes out under, which no
client is: for a test client in this process, whose author knows questions by their keys."""

_KEEP_ALIVE_EVERY = 200
"""Looks into the mailbox between two signs of life: about ten seconds."""


class Conversation:
    """All the messages that answer one request over HTTP, round after round.

    :param body: the request's, for the app's own code to read in each round.
    :param identify: finds out who sends the request, anew in each round, and returns the subject.
    :param mailbox: where answers to questions come in; None where none can be asked.
    :param subject_id: who may cancel it.
    :param ticket: what a cancellation of this call comes in under, in the same mailbox; empty where none can.
    """

    def __init__(
        self,
        state: State,
        environ: dict[str, Any],
        body: bytes,
        call: Call,
        connection: Connection,
        identify: Callable[[], Any],
        mailbox: Mailbox | None,
        *,
        ticket: str = "",
        subject_id: object = None,
    ) -> None:
        self._state = state
        self._environ = environ
        self._body = body
        self._call = call
        self._connection = connection
        self._identify = identify
        self._mailbox = mailbox
        self._ticket = ticket
        self._cancelled = False
        self._subject_id = subject_id

    @property
    def outlives_its_client(self) -> bool:
        """Whether the call is carried out though its client is gone: only the stateless era takes that for a cancel."""
        return era_of(self._call, self._connection) is HANDSHAKE_ERA

    def messages(self) -> Iterator[Outgoing | None]:
        """The messages, the last one the response; None now and then while a human is waited for.

        A call that its client cancels ends without a response.
        """
        if not self._ticket or self._mailbox is None:
            yield from self._rounds()
            return
        self._mailbox.open([self._ticket], self._subject_id)
        try:
            yield from self._rounds()
        finally:
            self._mailbox.close([self._ticket])

    def _rounds(self) -> Iterator[Outgoing | None]:
        answers: Answers | None = None
        while not self._cancelled:
            asked: list[Outgoing] = []
            waiting = yield from self._play(answers, asked)
            if waiting is None:
                return
            answers = yield from self._wait(waiting, asked)

    def _is_cancelled(self) -> bool:
        if self._ticket and self._mailbox is not None and not self._cancelled:
            self._cancelled = self._mailbox.has(self._ticket)
        return self._cancelled

    def _play(self, answers: Answers | None, asked: list[Outgoing]) -> Generator[Outgoing, None, Waiting | None]:
        """Take one round: what it ends with goes out when its context is gone, and with it the app's transactions.

        :param asked: is given the requests that ask.
        :return: the questions that are open in the end.
        """
        waiting: Waiting | None = None
        final: Outgoing | None = None
        steps = in_own_context(self._round(answers))
        try:
            while not isinstance(sent := attempt(next, steps), Failure):
                if self._is_cancelled():
                    return None
                if isinstance(sent, Waiting):
                    waiting = sent
                elif sent is None:
                    continue
                elif sent.final:
                    final = sent
                elif waiting is not None:
                    asked.append(sent)
                else:
                    yield sent
        finally:
            self._report(attempt(steps.close))
        if not isinstance(sent.error, StopIteration):
            failed = self._failed(sent.error)
            final = final or failed
        if final is not None:
            yield final
        return waiting if final is None else None

    def _round(self, answers: Answers | None) -> Iterator[Sent]:
        with self._state.app.request_context(inner_environ(self._environ, self._call, self._body)):
            steps = self._answer(answers)
            try:
                while not isinstance(step := attempt(next, steps), Failure):
                    yield step
            finally:
                steps.close()
            if not isinstance(step.error, StopIteration):
                yield self._failed(step.error)

    def _answer(self, answers: Answers | None) -> Generator[Sent, None, None]:
        try:
            subject = self._identify()
            ask_app(self._state)
        except ProtocolError as error:
            yield refused(self._call, error, self._connection)
            return
        self._subject_id = subject_id(subject)
        yield from dispatch(self._state.server, subject, self._call, self._connection, answers)

    def _failed(self, error: Exception) -> Outgoing:
        ref = self._state.host.report(error, "the application around a call")
        failed = ProtocolError(INTERNAL_ERROR, f"Internal error (ref {ref}).", {"ref": ref}, status=500)
        return refused(self._call, failed, self._connection)

    def _report(self, closed: Failure[None] | None) -> None:
        if isinstance(closed, Failure):
            self._state.host.report(closed.error, "the end of a call")

    def _wait(self, waiting: Waiting, asked: list[Outgoing]) -> Generator[Outgoing | None, None, Answers]:
        assert self._mailbox is not None  # without one, nothing is asked
        replies: dict[str, Reply] = {}
        try:
            # Before the requests go out, for an answer must find that it is waited for.
            self._mailbox.open(waiting.questions, self._subject_id)
            self._environ.get(ASKED, {}).update({id: one.key for id, one in waiting.questions.items()})
            yield from asked
            looks = self._mailbox.wait(waiting.questions, self._state.settings.ask_timeout)
            for look, replies in enumerate(looks, 1):  # noqa: B007 - what the last look found is what was answered
                if self._is_cancelled():
                    break
                if look % _KEEP_ALIVE_EVERY == 0:
                    yield None
            return waiting.answered(replies) if not self._cancelled else waiting.answers
        finally:
            self._mailbox.close(waiting.questions)


class EventStream:
    """The body of a response that is an event stream.

    :param first: the message that came first, which said that more will follow.
    """

    def __init__(self, conversation: Conversation, first: Outgoing, rest: Iterator[Outgoing | None]) -> None:
        self._conversation = conversation
        self._first: Outgoing | None = first
        self._rest = rest
        self._over = False

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._first is not None:
            first, self._first = self._first, None
            return event(first.body)
        if self._over:
            raise StopIteration
        try:
            sent = next(self._rest)
        except StopIteration:
            self._over = True
            raise
        return KEEP_ALIVE if sent is None else event(sent.body)

    def close(self) -> None:
        """End the call: at once, or carried out without anybody to read it, as the era has it."""
        if not self._over and self._conversation.outlives_its_client:
            for sent in self._rest:
                if sent is None:
                    break  # nobody is left who could answer
        self._over = True
        close = getattr(self._rest, "close", None)
        if close is not None:
            close()


def subject_id(subject: Any) -> object:
    """The id by which an answer is bound to the subject that was asked; None for a guest."""
    return getattr(subject, "get_id", lambda: None)()
