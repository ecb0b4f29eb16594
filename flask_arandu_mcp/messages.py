"""What a handler may send while it works, beside its answer. The named kinds are short ways to write a general one."""

from __future__ import annotations

from .typing import JSONObject


class Notification:
    """A message to the client that is owed no answer."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: JSONObject) -> None:
        self.method = method
        self.params = params
