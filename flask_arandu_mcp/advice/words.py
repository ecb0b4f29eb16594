"""Advice on what a model chooses by: descriptions that say too little, and tools that are hard to tell apart. Words are
compared without their endings, so that lists and list are one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from .worded import Advice

_FEWEST = 3
"""Words of a description, at least."""
_ALIKE = 0.8
"""The part of their words that two descriptions share which are nearly the same."""

# Each sign of a script that has no blanks between its words is taken for a word.
_SIGNS = r"\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+(?:['’]\w+)?")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LITTLE_WORDS = "a an and by for from in is it its of on one or that the their this to with"
_SAYING_LITTLE = frozenset(_LITTLE_WORDS.split())
_ENDINGS = re.compile(r"(?<=\w{2})(?:ies|es|ing|ed|s|e|y)$")


def of_description(culprit: str, item: Mapping[str, Any]) -> Iterator[Advice]:
    """Advice on one description."""
    text = str(item.get("description", ""))
    if len(_WORD.findall(text)) < _FEWEST:
        yield Advice(
            culprit,
            "short-description",
            f"is described as {text!r}, by which nobody can choose it: say in {_FEWEST} words or more what it does, to "
            "what, and when to use it.",
        )
    elif "inputSchema" in item and _stems(text) == _stems(item["name"]):
        yield Advice(
            culprit,
            "says-its-name",
            f"is described as {text!r}, which says no more than its name: add what it gives back, or when to use it.",
        )


class _Tool(NamedTuple):
    """What a tool is told by: the stems of its name's and its description's words."""

    name: str
    named: frozenset[str]
    said: frozenset[str]


def of_pairs(tools: Sequence[Mapping[str, Any]]) -> Iterator[Advice]:
    """Advice on tools that are hard to tell apart."""
    told = [_Tool(tool["name"], _stems(tool["name"]), _stems(str(tool.get("description", "")))) for tool in tools]
    for culprit in _groups(told, _same_names):
        words = "have names of the same words: rename one of them, or make one tool of both."
        yield Advice(culprit, "similar-names", words)
    for culprit in _groups(told, _same_descriptions):
        words = (
            "are described in nearly the same words: say in each when to use it and not the other, or make one tool."
        )
        yield Advice(culprit, "similar-descriptions", words)


def _groups(tools: Sequence[_Tool], similar: Callable[[_Tool, _Tool], bool]) -> Iterator[str]:
    """The names of tools that are similar to one another, as they are told of."""
    groups: list[list[_Tool]] = []
    for tool in tools:
        joined = [group for group in groups if any(similar(tool, other) for other in group)]
        groups = [group for group in groups if group not in joined]
        groups.append([*(other for group in joined for other in group), tool])
    for group in groups:
        names = [repr(tool.name) for tool in group]
        if len(names) > 1:
            yield f"tools {', '.join(names[:-1])} and {names[-1]}"


def _same_names(one: _Tool, other: _Tool) -> bool:
    return bool(one.named) and one.named == other.named


def _same_descriptions(one: _Tool, other: _Tool) -> bool:
    different = one.said ^ other.said
    # Where all that tells them apart is in their names, it tells: the comments of one, say, and the posts of the other.
    told = bool(different) and different <= one.named | other.named
    return _alike(one.said, other.said) and not told and not _same_names(one, other)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one) and len(one & other) >= _ALIKE * len(one | other)


def _stems(text: str) -> frozenset[str]:
    words = (word.lower() for word in _WORD.findall(_HUMP.sub(" ", text)))
    return frozenset(_ENDINGS.sub("", word) for word in words if word not in _SAYING_LITTLE)
