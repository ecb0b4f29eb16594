"""Text that somebody else wrote, as it is shown on a terminal: what would move its cursor, or colour the rest, is
spelt out."""

from __future__ import annotations

import sys


def visible(text: str) -> str:
    """A text with its signs that are not for reading spelt out, but for the ends of its lines."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else repr(sign)[1:-1] for sign in text)


def on_one_line(text: str) -> str:
    """A text with nothing but signs for reading, on one line."""
    return visible(" ".join(text.split()))


def for_stdout(text: str) -> str:
    """A text for stdout: as it is, unless a terminal shows it."""
    return visible(text) if sys.stdout.isatty() else text
