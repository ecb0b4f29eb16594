"""Advice on a server that has no mistakes: what a model chooses badly by, and what picky clients refuse. It is given
descriptions as data, and knows no app."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .shapes import of_name, of_schema
from .tokens import of_length
from .worded import Advice
from .words import of_description, of_pairs

__all__ = ["Advice", "advise"]

_OTHERS = {"resources": "resource", "resourceTemplates": "template", "prompts": "prompt"}


def advise(described: Mapping[str, Any], *, key: str, max_tokens: int) -> Iterator[Advice]:
    """All advice on a server.

    :param described: as `Server.describe` gives it, its words translated.
    :param key: what clients call the server.
    :param max_tokens: how long its list of tools may be.
    """
    tools = described["tools"]
    for tool in tools:
        culprit = f"tool {tool['name']!r}"
        yield from of_name(culprit, tool["name"], key)
        yield from of_description(culprit, tool)
        yield from of_schema(culprit, tool["inputSchema"])
    for list_, kind in _OTHERS.items():
        for item in described[list_]:
            yield from of_description(f"{kind} {item['name']!r}", item)
    yield from of_pairs(tools)
    yield from of_length(tools, max_tokens)
