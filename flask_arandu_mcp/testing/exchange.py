"""What went over the wire for one call of a test: every message that came back, in order, and all the text that is in
them. Nothing is judged here."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ..eras.stateless import SERVER_INFO
from ..errors import attempt
from ..typing import JSONObject
from .questions import Question

REF = re.compile(r"\(ref [0-9a-f]+\)")
"""What a client is told in the place of what broke; it is random."""

_OWN_MEMBERS = frozenset({"resultType", "requestState", "nextCursor", "progressToken", "elicitationId"})
"""Members of a result, or of a message's params, that say nothing of the app's data; some are random."""

_OWN_HEADERS = frozenset(
    {"content-type", "content-length", "cache-control", "x-accel-buffering", "x-content-type-options", "mcp-session-id"}
)
_DATA = frozenset({"structuredContent", "data", "json", "_meta"})
_BINARY = frozenset({"data", "blob"})


class Exchange:
    """All that came back.

    :ivar messages: the messages, round after round; the last one is the answer, unless nothing came.
    :ivar questions: what was asked on the way.
    :ivar headers: the HTTP headers of every response.
    :ivar status: the HTTP status of the last response, and `body` what it held that was no message.
    :ivar raised: the exceptions that broke something, as the app's log has them.
    :ivar outcomes: how calls of tools ended, as the audit trail has it; the client's own is the last one.
    """

    __slots__ = ("body", "headers", "messages", "outcomes", "questions", "raised", "status")

    def __init__(self) -> None:
        self.messages: list[JSONObject] = []
        self.questions: list[Question] = []
        self.headers: list[tuple[str, str]] = []
        self.status = 0
        self.body = ""
        self.raised: list[BaseException] = []
        self.outcomes: list[str] = []

    @property
    def last(self) -> JSONObject:
        """The answer; empty where none came."""
        last = self.messages[-1] if self.messages else {}
        return last if "result" in last or "error" in last else {}

    def take(self, other: Exchange) -> None:
        """Take what came in another exchange for what came in this one."""
        self.messages += other.messages
        self.headers += other.headers
        self.raised += other.raised
        self.outcomes += other.outcomes
        self.status, self.body = other.status, other.body

    def texts(self) -> Iterator[tuple[str, str]]:
        """Every piece of text that came, and where it stood."""
        for message in self.messages:
            for member in ("params", "result", "error"):
                yield from _texts(message.get(member), (member,))
        for name, value in self.headers:
            if name.lower() not in _OWN_HEADERS:
                yield f"the header {name}", value
        if self.body:
            yield "the body", self.body


def _texts(value: object, path: Sequence[str]) -> Iterator[tuple[str, str]]:
    where = ".".join(path)
    if isinstance(value, dict):
        for name, member in value.items():
            if not _is_the_servers_own(name, path):
                if _is_data(path):
                    yield f"a name in {where}", name
                yield from _texts(member, (*path, name))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _texts(member, (*path, str(place)))
    elif isinstance(value, str):
        yield where, REF.sub("", value)
        yield from _inside(value, path)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield where, json.dumps(value)


def _is_the_servers_own(name: str, path: Sequence[str]) -> bool:
    if path == ("error", "data"):
        return name == "ref"
    return name == SERVER_INFO or (len(path) == 1 and name in _OWN_MEMBERS)


def _is_data(path: Sequence[str]) -> bool:
    """Whether the names of members here are the app's, and not the protocol's."""
    return bool(_DATA & set(path))


def _inside(text: str, path: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What a text holds that is written in another way: JSON, in which quotes and line breaks are escaped, or bytes."""
    found = attempt(json.loads, text)
    if isinstance(found, (dict, list, str)):
        yield from _texts(found, (*path, "json"))
    elif path[-1] in _BINARY:
        with suppress(ValueError):
            yield ".".join(path), base64.b64decode(text, validate=True).decode("utf-8", "replace")
