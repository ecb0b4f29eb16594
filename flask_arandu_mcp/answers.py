"""What the door gives back, and how it is written for a revision. Results are encoded here, once, into the members of
a JSON object that an era then dresses."""

from __future__ import annotations

from collections.abc import Sequence

from .caller import Peer
from .content import known_block
from .revisions import Revision
from .typing import JSONObject
from .writing import encode, encode_twice

_NO_DATA = object()


class Cache:
    """How long, and by whom, an answer may be kept (2026-07-28, server/utilities/caching).

    :ivar ttl: milliseconds.
    :ivar public: it is the same for every caller.
    """

    __slots__ = ("public", "ttl")

    def __init__(self, ttl: int = 0, public: bool = False) -> None:
        self.ttl = ttl
        self.public = public


class Answer:
    """The result of a request, encoded but for what its era adds.

    :ivar members: the members of the result's JSON object, without its braces; bytes where they were prepared.
    :ivar cache: set where the protocol wants to know how long the answer may be kept.
    :ivar meta: the result's own `_meta`.
    :ivar peer: what an `initialize` leaves behind.
    :ivar type: `complete`, or `input_required` where the call goes on when questions are answered.
    """

    __slots__ = ("cache", "members", "meta", "peer", "type")

    def __init__(
        self,
        members: str | bytes = "",
        *,
        cache: Cache | None = None,
        meta: JSONObject | None = None,
        peer: Peer | None = None,
        type: str = "complete",
    ) -> None:
        self.members = members
        self.cache = cache
        self.meta = meta
        self.peer = peer
        self.type = type


class ToolAnswer:
    """What a tool answered.

    :ivar content: its blocks, as JSON objects; empty where the answer is data.
    :ivar is_error: the call did not do what was asked.
    :ivar meta: the result's own `_meta`.
    :ivar size: bytes of what was last written; data counts once, though it goes out twice.
    """

    __slots__ = ("_data", "_written", "content", "is_error", "meta", "size")

    def __init__(
        self,
        content: Sequence[JSONObject] = (),
        *,
        data: object = _NO_DATA,
        is_error: bool = False,
        meta: JSONObject | None = None,
    ) -> None:
        self.meta = meta
        self.content = content
        self.is_error = is_error
        self._data = data
        self._written: dict[str, str] = {}
        self.size = 0

    @classmethod
    def error(cls, text: str, data: JSONObject | None = None) -> ToolAnswer:
        """An error that the model can act on, with the app's own JSON for it, where it has any."""
        return cls([{"type": "text", "text": text}], data=_NO_DATA if data is None else data, is_error=True)

    @property
    def data(self) -> object:
        """The structured result, or None."""
        return None if self._data is _NO_DATA else self._data

    @property
    def text(self) -> str:
        """What the model reads: the text blocks, or the data as JSON."""
        if self._data is not _NO_DATA and not self.is_error:
            return encode(self._data)
        return "\n".join(str(block["text"]) for block in self.content if block["type"] == "text")

    def write(self, revision: Revision) -> str:
        """The members of this result (2026-07-28, schema, CallToolResult); written once a revision."""
        written = self._written.get(revision.name)
        if written is None:
            written = self._written[revision.name] = self._write(revision)
        return written

    def _write(self, revision: Revision) -> str:
        if self._data is _NO_DATA:
            members = f'"content":{encode(blocks(self.content, revision))}'
            self.size = len(members)
            return f'{members},"isError":true' if self.is_error else members
        if self.is_error:
            members = f'"content":{encode(list(self.content))},"isError":true'
            return f'{members},"structuredContent":{encode(self._data)}' if revision.structured else members
        data = self._data
        if not revision.arrays and not isinstance(data, dict):
            data = {"result": data}
        structured, text = encode_twice(data)
        self.size = len(structured)
        members = f'"content":[{{"type":"text","text":{text}}}]'
        return f'{members},"structuredContent":{structured}' if revision.structured else members


def blocks(content: Sequence[JSONObject], revision: Revision) -> list[JSONObject]:
    """Blocks of content, for a revision that may not know each kind."""
    return [known_block(block, audio=revision.annotations, links=revision.structured) for block in content]
