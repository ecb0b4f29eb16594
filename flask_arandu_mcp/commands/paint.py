"""The colours of what is printed, by what a text is. click takes them away again where no terminal shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

_STYLES: Mapping[str, Mapping[str, Any]] = {
    "heading": {"bold": True},
    "name": {"fg": "cyan"},
    "aside": {"dim": True},
    "good": {"fg": "green"},
    "advice": {"fg": "yellow"},
    "bad": {"fg": "red"},
}


def paint(kind: str, text: str) -> str:
    """A text in the colour of its kind."""
    return click.style(text, **_STYLES[kind])
