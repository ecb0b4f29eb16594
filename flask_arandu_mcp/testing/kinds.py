"""What came of each kind of call: a tool's data and blocks, a resource's contents, a prompt's messages, completions,
lists. What only an answer has is asked of an answer: asked of an error, it fails as `assert_ok()` does."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .about import About
from .exchange import Exchange
from .results import Result

Objects = Sequence[Mapping[str, Any]]


class ToolResult(Result):
    """What a tool answered."""

    @property
    def content(self) -> Objects:
        """The blocks of content, of an error too."""
        __tracebackhide__ = True
        if self.error is not None:
            self.assert_ok()
        found: Objects = self.result.get("content", [])
        return found

    @property
    def data(self) -> Any:
        """The structured result as the client's revision has it, or None; of a refusal, the app's own JSON for it."""
        __tracebackhide__ = True
        if "structuredContent" not in self.result:
            self.assert_ok()
        return self.result.get("structuredContent")

    def _text(self) -> str:
        return _joined(self.result.get("content", []))


class ResourceResult(Result):
    """What a resource held."""

    @property
    def contents(self) -> Objects:
        """The contents, each with its `uri`, its `mimeType`, and `text` or `blob`."""
        __tracebackhide__ = True
        return self._members("contents")

    @property
    def data(self) -> Any:
        """The data of a resource that is one piece of JSON, else None."""
        __tracebackhide__ = True
        is_json = [each.get("mimeType") == "application/json" and "text" in each for each in self.contents]
        return json.loads(self.contents[0]["text"]) if is_json == [True] else None

    def _text(self) -> str:
        return _joined(self.contents)


class PromptResult(Result):
    """What a prompt rendered."""

    @property
    def messages(self) -> Objects:
        """The messages, each with its `role` and its `content`."""
        __tracebackhide__ = True
        return self._members("messages")

    def _text(self) -> str:
        return _joined([message["content"] for message in self.messages])


class CompletionResult(Result):
    """What an argument may be completed to."""

    @property
    def values(self) -> Sequence[str]:
        """The values."""
        __tracebackhide__ = True
        self.assert_ok()
        found: Sequence[str] = self.result["completion"]["values"]
        return found

    def _text(self) -> str:
        return "\n".join(self.values)


class Listing(Result):
    """What a list showed, all its pages together. It can be gone through, and asked for an entry by name or URI.

    :param key: the member of the protocol's result that holds it.
    """

    def __init__(self, exchange: Exchange, about: About, key: str) -> None:
        super().__init__(exchange, about)
        self._key = key

    @property
    def entries(self) -> Objects:
        """What was listed, as JSON objects."""
        __tracebackhide__ = True
        self.assert_ok()
        pages: list[Any] = [message.get("result", {}) for message in self.received]
        return [entry for page in pages for entry in page.get(self._key, [])]

    @property
    def names(self) -> Sequence[str]:
        """The names of what was listed, in order."""
        __tracebackhide__ = True
        return [entry["name"] for entry in self.entries]

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, name: object) -> bool:
        __tracebackhide__ = True
        return any(name in _called(entry) for entry in self.entries)

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        __tracebackhide__ = True
        for entry in self.entries:
            if name in _called(entry):
                return entry
        raise self._failure(f"should have listed {name!r}, and did not")

    def _text(self) -> str:
        return "\n".join(self.names)


def _called(entry: Mapping[str, Any]) -> Sequence[str]:
    """All that somebody may call what is listed: its name, and the URI or the template of a resource."""
    return [entry[member] for member in ("name", "uri", "uriTemplate") if member in entry]


def _joined(parts: Objects) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part)
