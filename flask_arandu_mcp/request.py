"""What a handler is told about the call that it answers. It is made once a call and never changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from .typing import JSONObject

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Request:
    """One call, as its handler sees it. `Request(subject=user)` alone makes one for a test.

    :param attempt: the id of the call, or what gives it where it is asked for.
    :ivar subject: who asks: the app's own user object, or a guest.
    :ivar arguments: the arguments, loaded and checked; a frozen mapping, or what a `post_load` made of them.
    :ivar raw: the arguments as they were sent.
    :ivar client: what the client says of itself (`name`, `version`); not to be trusted, possibly empty.
    :ivar revision: the protocol revision that is spoken, such as `"2025-11-25"`.
    :ivar meta: the message's `_meta`.
    """

    __slots__ = ("_attempt", "arguments", "client", "meta", "raw", "revision", "subject")

    def __init__(
        self,
        subject: Any,
        *,
        arguments: Any = _NOTHING,
        raw: Mapping[str, object] = _NOTHING,
        client: Mapping[str, Any] = _NOTHING,
        revision: str = "",
        meta: JSONObject | None = None,
        attempt: str | Callable[[], str] = "",
    ) -> None:
        self.subject = subject
        self.arguments = MappingProxyType(arguments) if type(arguments) is dict else arguments
        self.raw = raw
        self.client = client
        self.revision = revision
        self.meta: Mapping[str, Any] = _NOTHING if meta is None else meta
        self._attempt = attempt

    @property
    def attempt(self) -> str:
        """A random id of this call, the same in all its rounds, for work that must happen once."""
        return self._attempt if isinstance(self._attempt, str) else self._attempt()
