"""What a tool answers. A handler may return plain data or text instead, which becomes one of these."""

from __future__ import annotations

from .content import Content, Text
from .typing import JSONObject

_UNSET = object()


class Response:
    """The answer of a tool: blocks of content, or data, or an error that the model can act on.

    :param content: the blocks, in order.
    :param meta: the result's `_meta`, for what is not for the model.

    :ivar data: the structured result, where `has_data` is true; it goes out as itself and as text.
    :ivar is_error: the call did not do what was asked.
    """

    __slots__ = ("_data", "content", "is_error", "meta")

    def __init__(self, *content: Content, is_error: bool = False, meta: JSONObject | None = None) -> None:
        self.content = content
        self.meta = meta
        self.is_error = is_error
        self._data: object = _UNSET

    @classmethod
    def text(cls, text: str, *, meta: JSONObject | None = None) -> Response:
        """An answer of one piece of text."""
        return cls(Text(text), meta=meta)

    @classmethod
    def json(cls, data: object, *, meta: JSONObject | None = None) -> Response:
        """An answer of data: dicts, lists, numbers, dates, dataclasses, whatever JSON can be made of."""
        response = cls(meta=meta)
        response._data = data
        return response

    @classmethod
    def error(cls, text: str) -> Response:
        """An answer that says, to the model, why what was asked for was not done."""
        return cls(Text(text), is_error=True)

    @property
    def has_data(self) -> bool:
        """Whether this answer is data."""
        return self._data is not _UNSET

    @property
    def data(self) -> object:
        """The structured result, or None."""
        return None if self._data is _UNSET else self._data
