"""The audit trail: one line a call, sent as signals when the call is over. It costs nothing where nobody listens."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import partial

from blinker import NamedSignal

from .caller import Caller
from .declarations.base import Prepared
from .errors import Failure, attempt
from .signals import tool_refused


class Record:
    """One line of the audit trail.

    :ivar outcome: the word for how the call ended; what was not said to have ended well has failed.
    """

    __slots__ = ("_arguments", "_began", "_host", "_name", "_sender", "_signals", "_subject", "outcome")

    def __init__(
        self,
        signals: Iterable[NamedSignal],
        sender: object,
        caller: Caller,
        prepared: Prepared | None,
        arguments: Iterable[str],
    ) -> None:
        self._signals = [signal for signal in signals if signal.receivers]
        self.outcome = "failed"
        self._sender = sender
        self._host = caller.host
        self._name = None if prepared is None else prepared.label
        declared = () if prepared is None else prepared.argument_names
        self._arguments = tuple(name for name in arguments if name in declared)
        # Before the handler runs: a deleted user has no id to read afterwards.
        self._subject = attempt(lambda: getattr(caller.subject, "get_id", lambda: None)())
        self._began = time.monotonic()

    def write(self) -> None:
        """Send the signals."""
        for signal in self._signals:
            if signal is tool_refused and self.outcome != "refused":
                continue
            send = partial(
                signal.send,
                self._sender,
                subject_id=None if isinstance(self._subject, Failure) else self._subject,
                name=self._name,
                arguments=self._arguments,
                duration=time.monotonic() - self._began,
                outcome=self.outcome,
            )
            sent = attempt(send)
            if isinstance(sent, Failure):
                self._host.report(sent.error, f"a listener of {signal.name}")


class Unheard:
    """The line of a call that nobody listens for. All of them share one, so that it says nothing of any."""

    __slots__ = ("outcome",)

    outcome: str

    def write(self) -> None:
        """Send nothing."""


_UNHEARD = Unheard()


def record_of(
    signals: tuple[NamedSignal, ...],
    sender: object,
    caller: Caller,
    prepared: Prepared | None,
    arguments: Iterable[str],
) -> Record | Unheard:
    """A line of the audit trail for a call that begins."""
    for signal in signals:
        if signal.receivers:
            return Record(signals, sender, caller, prepared, arguments)
    return _UNHEARD
