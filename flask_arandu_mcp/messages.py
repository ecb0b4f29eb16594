"""What a handler may yield while it works, beside its answer. `Progress` is the named kind of `Notification`, as
`Elicit` is of `ClientRequest`; what has no name here can be sent by the general one."""

from __future__ import annotations

import hashlib
import json
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
    """

    __slots__ = ("message", "progress", "total")

    def __init__(self, progress: float, total: float | None = None, message: str = "") -> None:
        super().__init__("notifications/progress", {})
        self.progress = progress
        self.total = total
        self.message = message


class ClientRequest:
    """Something that the client is asked for while a call waits; what is yielded back is the client's result.

    :param key: tells the questions of one handler apart.
    :param method: such as `sampling/createMessage`.
    """

    __slots__ = ("key", "method", "params")

    capabilities: Mapping[str, tuple[str, ...]] = {
        "elicitation/create": ("elicitation",),
        "sampling/createMessage": ("sampling",),
        "roots/list": ("roots",),
    }

    def __init__(self, key: str, method: str, params: JSONObject | None = None) -> None:
        self.key = key
        self.method = method
        self.params: JSONObject = params or {}

    @property
    def needs(self) -> tuple[str, ...]:
        """The path of the capability that a client must have declared to be asked this."""
        return self.capabilities.get(self.method, ())

    def digest(self) -> str:
        """A short text that is the same for the same question, and for no other."""
        asked = json.dumps([self.method, self.params], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(asked.encode()).hexdigest()[:32]

    def answer(self, raw: object) -> Any:
        """The client's result, as the handler is given it.

        :raises Unfit: for what is no answer to this question.
        """
        if not isinstance(raw, dict):
            raise Unfit
        return raw


class Unfit(Exception):
    """An answer that does not fit its question; it is taken for none."""


class Unanswerable(ToolError):
    """Raised in a handler at a question that cannot be asked here; says why."""
