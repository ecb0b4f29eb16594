"""What a tool answers. A handler may return plain data or text instead, which becomes one of these."""

from __future__ import annotations

from .content import Content, Text

_UNSET = object()


class Response:
    """The answer of a tool: blocks of content, or data, or an error that the model can act on.

    :param content: the blocks, in order.

    :ivar data: the structured result, where `has_data` is true; it goes out as itself and as text.
    :ivar is_error: the call did not do what was asked.
    """

    __slots__ = ("_data", "content", "is_error")

    def __init__(self, *content: Content, is_error: bool = False) -> None:
        self.content = content
        self.is_error = is_error
        self._data: object = _UNSET

    @classmethod
    def text(cls, text: str) -> Response:
        """An answer of one piece of text."""
        return cls(Text(text))

    @classmethod
    def json(cls, data: object) -> Response:
        """An answer of data: dicts, lists, numbers, dates, dataclasses, whatever JSON can be made of."""
        response = cls()
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
        return self._data if self.has_data else None
