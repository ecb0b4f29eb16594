"""A handler that talks while it works: a generator, played until it answers or stands at a question. What it sends goes
out only where the client asked for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeAlias, TypeVar

from .asking import Asked, find_all
from .caller import Caller
from .declarations.base import Prepared
from .errors import Failure, attempt
from .grants import unwatched
from .messages import ClientRequest, Notification, Progress, Unanswerable
from .typing import JSONObject

T = TypeVar("T")
Flow: TypeAlias = Generator[Notification, None, T]
"""A call that is under way: what it sends while it works, and in the end its answer."""

PROGRESS_GAP = 0.01
"""Seconds between two progress messages of one call, at least; the last one is always sent."""

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, the least serious first (2026-07-28, server/utilities/logging)."""


def drain(flow: Flow[T]) -> T:
    """The answer of a call, for whom what it sends while it works is of no use."""
    while True:
        try:
            # Of a handler that calls the server itself, too: what it was granted is not granted to this call.
            unwatched(next, flow)
        except StopIteration as end:
            answer: T = end.value
            return answer


def play(call: Callable[[], Any], prepared: Prepared, caller: Caller) -> Flow[Any]:
    """Play a handler: its value, the `Failure` that it ended with, or the questions at which it stands.

    :param call: gives the generator.
    :raises ProtocolError: for a question that the client must have declared that it can be asked.
    """
    generator = attempt(call)
    if isinstance(generator, Failure):
        return generator
    sieve = _Sieve(caller, guarded=prepared.guard is not None)
    try:
        step = _step(caller, next, generator)
        while not isinstance(step, Failure):
            if isinstance(step, Notification):
                note = sieve.passed(step)
                if note is not None:
                    yield note
                step = _step(caller, next, generator)
                continue
            reply = _replied(step, prepared, caller)
            if isinstance(reply, Asked):
                return reply
            if isinstance(reply, Exception):
                step = _step(caller, generator.throw, reply)
            else:
                step = _step(caller, generator.send, reply if isinstance(step, (list, tuple)) else reply[0])
        return step.error.value if isinstance(step.error, StopIteration) else step
    finally:
        closed = _step(caller, generator.close)
        if isinstance(closed, Failure):
            caller.host.report(closed.error, f"the end of {prepared.name!r}")


def _step(caller: Caller, function: Callable[..., Any], *args: Any) -> Any:
    return attempt(caller.ledger.watch, function, *args)


def _replied(yielded: object, prepared: Prepared, caller: Caller) -> Asked | Exception | list[Any]:
    given = list(yielded) if isinstance(yielded, (list, tuple)) else [yielded]
    questions = [question for question in given if isinstance(question, ClientRequest)]
    wrong = _wrong(given, questions)
    if wrong:
        return TypeError(f"the handler of {prepared.name!r} yielded {wrong}")
    found, open_, refusal = find_all(questions, caller.answers, strict=prepared.strict)
    if refusal is not None:
        return refusal
    for question in open_:
        why_not = caller.why_not(question)
        if isinstance(why_not, Unanswerable):
            return why_not
        if why_not is not None:
            raise why_not
    return Asked(open_, caller.answers) if open_ else found


def _wrong(given: Sequence[object], questions: Sequence[ClientRequest]) -> str:
    if not given:
        return "no question at all"
    if len(questions) != len(given):
        kind = next(type(one).__name__ for one in given if not isinstance(one, ClientRequest))
        return f"a {kind}: yield Progress, Notification, Elicit or ClientRequest"
    keys = [question.key for question in questions]
    return "" if len(set(keys)) == len(keys) else f"two questions of one key: {keys}"


class _Sieve:
    """Lets through what the client asked for: progress that goes forward and not too fast, and logs of its level."""

    def __init__(self, caller: Caller, *, guarded: bool) -> None:
        self._caller = caller
        self._guarded = guarded
        self._last: float | None = None
        self._sent_at = 0.0

    def passed(self, note: Notification) -> Notification | None:
        """What may go out of a notification, or None."""
        if isinstance(note, Progress):
            return self._progress(note)
        if self._guarded:
            # A guard sees answers; what it does not see could hold what it takes out.
            return None
        if note.method == "notifications/message" and not self._is_wanted(note.params.get("level")):
            return None
        return note

    def _progress(self, note: Progress) -> Notification | None:
        token = self._caller.meta.get("progressToken")
        if not isinstance(token, (str, int)) or (self._last is not None and note.progress <= self._last):
            return None
        now = time.monotonic()
        is_last = note.total is not None and note.progress >= note.total
        if self._last is not None and not is_last and now - self._sent_at < PROGRESS_GAP:
            return None
        self._last, self._sent_at = note.progress, now
        params: JSONObject = {"progressToken": token, "progress": note.progress}
        if note.total is not None:
            params["total"] = note.total
        if note.message and not self._guarded:
            params["message"] = note.message
        return Notification(note.method, params)

    def _is_wanted(self, level: object) -> bool:
        least = self._caller.log_level
        return least in LEVELS and level in LEVELS and LEVELS.index(str(level)) >= LEVELS.index(str(least))
