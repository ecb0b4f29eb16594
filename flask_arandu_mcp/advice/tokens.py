"""How much of a model's context a list of tools takes, before the model has been asked anything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .worded import Advice

_SIGNS = 4
"""Of JSON, that make a token, about: each model counts in a way of its own."""
_READ = ("name", "title", "description", "inputSchema")
"""The members of a tool that a model is given."""


def tokens(tools: Sequence[Any]) -> int:
    """About how many tokens a list of tools takes: a quarter of its characters, as the JSON that a model reads."""
    read = [{member: tool[member] for member in _READ if member in tool} for tool in tools]
    return -(-len(json.dumps(read, ensure_ascii=False, separators=(",", ":"))) // _SIGNS)


def of_length(tools: Sequence[Any], most: int) -> Iterator[Advice]:
    """Advice on a list that is too long."""
    about = tokens(tools)
    if about > most:
        largest = sorted(tools, key=lambda tool: -tokens([tool]))[:3]
        names = ", ".join(f"{tool['name']!r} ({tokens([tool])})" for tool in largest)
        yield Advice(
            "the list of tools",
            "long-list",
            f"takes about {about} tokens of every conversation (estimated: a quarter of its characters), and should "
            f"take {most} at most: shorten the largest, which are {names}, serve some from a second server, or say "
            "another --max-tokens.",
        )
