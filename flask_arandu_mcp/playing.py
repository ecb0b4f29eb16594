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
from .writing import encode

T = TypeVar("T")
Flow: TypeAlias = Generator[Notification | None, None, T]
"""A call that is under way: what it sends while it works, or None where nothing of it goes out, and its answer."""

BURST = 20
"""Progress messages that a call may send at once. The last one before its answer is always sent."""

PER_SECOND = 20
"""Progress messages that a call may send for each second that it takes."""

CLOSINGS = 10
"""How often a handler is closed that goes on all the same."""

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, the least serious first (2026-07-28, server/utilities/logging)."""


def drain(call: Callable[[], T | Flow[T | Asked]]) -> T:
    """The answer of a call, for whom what it sends while it works is of no use.

    :raises LookupError: for a question that nothing answers.
    """
    flow = unwatched(call)
    if not isinstance(flow, Generator):
        return flow
    while True:
        try:
            # Of a handler that calls the server itself, too: what it was granted is not granted to this call.
            unwatched(next, flow)
        except StopIteration as end:
            answer: T | Asked = end.value
            break
    if isinstance(answer, Asked):
        keys = ", ".join(repr(question.key) for question in answer.questions)
        raise LookupError(f"The handler asks {keys}, and answers= has nothing that fits: give it a client's result.")
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
                note = attempt(sieve.passed, step)
                if isinstance(note, Failure):
                    step = _step(caller, generator.throw, note.error)
                    continue
                # None too: whoever carries the call looks here whether it is still wanted.
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
        if not isinstance(step.error, StopIteration):
            return step
        if sieve.held is not None:
            yield sieve.held
        return step.error.value
    finally:
        _close(generator, prepared, caller)


def _close(generator: Generator[Any, Any, Any], prepared: Prepared, caller: Caller) -> None:
    closed = _step(caller, generator.close)
    if isinstance(closed, Failure):
        caller.host.report(closed.error, f"the end of {prepared.name!r}")
        # One that yielded in its `finally` has not ended; what it left open would be closed who knows when.
        for _ in range(CLOSINGS):
            if not isinstance(_step(caller, generator.close), Failure):
                break


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
        return "no question at all: yield one"
    if len(questions) != len(given):
        kind = next(type(one).__name__ for one in given if not isinstance(one, ClientRequest))
        beside = " among others" if len(given) > 1 else ""
        return f"a {kind}{beside}: yield one Progress or Notification, or one or more of Elicit and ClientRequest"
    keys = [question.key for question in questions]
    return "" if len(set(keys)) == len(keys) else f"two questions of one key, {keys}: give each its own"


class _Sieve:
    """Lets through what the client asked for: progress that goes forward and not too fast, and logs of its level.

    :ivar held: progress that came too fast, and is sent if nothing follows it.
    """

    def __init__(self, caller: Caller, *, guarded: bool) -> None:
        self._caller = caller
        self._guarded = guarded
        self._left = float(BURST)
        self._looked_at = time.monotonic()
        self.held: Notification | None = None

    def passed(self, note: Notification) -> Notification | None:
        """What may go out of a notification, or None.

        :raises TypeError: for what JSON cannot carry.
        :raises ValueError: for a number that is not finite.
        """
        if isinstance(note, Progress):
            return self._progress(note)
        if self._guarded:
            # A guard sees answers; what it does not see could hold what it takes out.
            return None
        if note.method == "notifications/message" and not self._is_wanted(note.params.get("level")):
            return None
        encode(note.params)
        return note

    def _progress(self, note: Progress) -> Notification | None:
        token = self._caller.meta.get("progressToken")
        answers = self._caller.answers
        if not isinstance(token, (str, int)) or isinstance(token, bool):
            return None
        if answers.progressed is not None and note.progress <= answers.progressed:
            return None
        answers.progressed = note.progress
        params: JSONObject = {"progressToken": token, "progress": note.progress}
        if note.total is not None:
            params["total"] = note.total
        if note.message and not self._guarded:
            params["message"] = note.message
        self.held = Notification(note.method, params)
        return self._let_go()

    def _let_go(self) -> Notification | None:
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._looked_at) * PER_SECOND)
        self._looked_at = now
        if self._left < 1:
            return None
        self._left -= 1
        note, self.held = self.held, None
        return note

    def _is_wanted(self, level: object) -> bool:
        least = self._caller.log_level
        return least in LEVELS and level in LEVELS and LEVELS.index(str(level)) >= LEVELS.index(str(least))
