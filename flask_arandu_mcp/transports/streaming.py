"""Answers over HTTP that are more than one message: progress, logs and, in the handshake era, questions. Each round of
the call runs in contexts of its own, and none is open while a human is waited for."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

from ..asking import Answers
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, Sent, dispatch, era_of, refused
from ..errors import ProtocolError
from ..jsonrpc import Call, Reply
from ..rounds import Waiting
from ..state import State
from .contexts import ask_app, in_own_context, inner_environ
from .mailbox import Mailbox
from .sse import KEEP_ALIVE, event

_KEEP_ALIVE_EVERY = 200
"""Looks into the mailbox between two signs of life: about ten seconds."""


class Conversation:
    """All the messages that answer one request over HTTP, round after round.

    :param identify: finds out who sends the request, anew in each round, and returns the subject.
    :param mailbox: where answers to questions come in; None where none can be asked.
    """

    def __init__(
        self,
        state: State,
        environ: dict[str, Any],
        call: Call,
        connection: Connection,
        identify: Callable[[], Any],
        mailbox: Mailbox | None,
    ) -> None:
        self._state = state
        self._environ = inner_environ(environ, call)
        self._call = call
        self._connection = connection
        self._identify = identify
        self._mailbox = mailbox
        self._subject_id: object = None

    @property
    def outlives_its_client(self) -> bool:
        """Whether the call is carried out though its client is gone: only the stateless era takes that for a cancel."""
        return era_of(self._call, self._connection) is HANDSHAKE_ERA

    def messages(self) -> Iterator[Outgoing | None]:
        """The messages, the last one the response; None now and then while a human is waited for."""
        answers: Answers | None = None
        while True:
            waiting: Waiting | None = None
            try:
                for sent in in_own_context(self._round(answers)):
                    if isinstance(sent, Waiting):
                        waiting = sent
                        self._open(waiting)
                    else:
                        yield sent
                if waiting is None:
                    return
                answers = yield from self._wait(waiting)
            finally:
                if waiting is not None and self._mailbox is not None:
                    self._mailbox.close(waiting.questions)

    def _round(self, answers: Answers | None) -> Iterator[Sent]:
        with self._state.app.request_context(dict(self._environ)):
            try:
                subject = self._identify()
                ask_app(self._state)
            except ProtocolError as error:
                yield refused(self._call, error, self._connection)
                return
            self._subject_id = subject_id(subject)
            yield from dispatch(self._state.server, subject, self._call, self._connection, answers)

    def _open(self, waiting: Waiting) -> None:
        assert self._mailbox is not None  # without one, nothing is asked
        self._mailbox.open(waiting.questions, self._subject_id)

    def _wait(self, waiting: Waiting) -> Generator[None, None, Answers]:
        assert self._mailbox is not None
        replies: dict[str, Reply] = {}
        looks = self._mailbox.wait(waiting.questions, self._state.settings.ask_timeout)
        for look, replies in enumerate(looks, 1):  # noqa: B007 - what the last look found is what was answered
            if look % _KEEP_ALIVE_EVERY == 0:
                yield None
        return waiting.answered(replies)


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
