"""What a handler may yield while it works, beside its answer. `Progress` is the named kind of `Notification`, as
`Elicit` is of `ClientRequest`; what has no name here can be sent by the general one."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from .errors import ToolError
from .typing import JSONObject


class Notification:
    """A message to the client that is owed no answer.

    :param method: such as `notifications/message`.
    """

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: JSONObject) -> None:
        self.method = method
        self.params = params


class Progress(Notification):
    """How far a call has come. It is sent only where the client asked for it, and only where it went forward.

    :param progress: how much is done.
    :param total: how much there is to do, where that is known.
    :param message: what is being done, for people to read.
    :raises TypeError: for what is no number.
    :raises ValueError: for one that is not finite.
    """

    __slots__ = ("message", "progress", "total")

    def __init__(self, progress: float, total: float | None = None, message: str = "") -> None:
        super().__init__("notifications/progress", {})
        self.progress = _number("progress", progress)
        self.total = None if total is None else _number("total", total)
        self.message = str(message)


def _number(what: str, value: Any) -> float:
    # Also what a database or a library counts in, such as Decimal; text that holds a number is a mistake.
    if not hasattr(value, "__float__"):
        raise TypeError(f"the {what} of Progress is a {type(value).__name__}: give it a number")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the {what} of Progress is {number}, which JSON cannot carry: give it a finite number")
    return value if type(value) in (int, float) else number


class ClientRequest:
    """Something that the client is asked for while a call waits; what is yielded back is the client's result.

    :param key: tells the questions of one handler apart.
    :param method: such as `sampling/createMessage`.
    :raises TypeError: for a key that is no text.
    """

    __slots__ = ("key", "method", "params")

    capabilities: Mapping[str, tuple[str, ...]] = {
        "elicitation/create": ("elicitation",),
        "sampling/createMessage": ("sampling",),
        "roots/list": ("roots",),
    }

    def __init__(self, key: str, method: str, params: JSONObject | None = None) -> None:
        self.key = _key(key)
        self.method = method
        self.params: JSONObject = params or {}

    @property
    def needs(self) -> tuple[str, ...]:
        """The path of the capability that a client must have declared to be asked this."""
        return self.capabilities.get(self.method, ())

    def digest(self) -> str:
        """A short text that is the same for the same question, and for no other."""
        asked = json.dumps([self.method, self.params], sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(asked.encode()).hexdigest()[:32]

    def answer(self, raw: object) -> Any:
        """The client's result, as the handler is given it.

        :raises Unfit: for what is no answer to this question.
        """
        if not isinstance(raw, dict):
            raise Unfit
        return raw


def _key(key: Any) -> str:
    # It becomes a member's name in JSON, and comes back as one.
    if not isinstance(key, str) or not key:
        raise TypeError(f"a question has the key {key!r}: give it a text of its own, such as 'sure'")
    return key


class Unfit(Exception):
    """An answer that does not fit its question; it is taken for none."""


class Unanswerable(ToolError):
    """Raised in a handler at a question that cannot be asked here; says why."""
