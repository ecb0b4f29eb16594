"""How far a call is, on stderr: click's bar where that is a terminal, and a line for each step where it is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import click

from .visible import on_one_line

_PARTS = 1000
"""Of a whole: the bar counts in whole numbers, and a handler in what it likes."""


class Progress:
    """What was said of how far one call is."""

    def __init__(self) -> None:
        self._held = ExitStack()
        self._bar: Any = None
        self._is_terminal = sys.stderr.isatty()

    def show(self, progress: float, total: float | None, message: str) -> None:
        """Show how far the call is, and what is being done."""
        message = on_one_line(message)
        if not self._is_terminal:
            far = f"{progress:g}" if total is None else f"{progress:g}/{total:g}"
            click.echo(f"{far}  {message}".rstrip(), err=True)
            return
        if self._bar is None:
            self._bar = self._held.enter_context(_bar(total))
        if total:
            self._bar.label = message
            self._bar.update(max(0, int(_PARTS * min(progress / total, 1)) - self._bar.pos))
        else:
            self._bar.label = f"{progress:g}  {message}".rstrip()
            self._bar.update(1)
        self._bar.render_progress()

    def close(self) -> None:
        """End the bar, so that what is printed next has a line of its own."""
        self._held.close()
        self._held, self._bar = ExitStack(), None


def _bar(total: float | None) -> Any:
    if total:
        return click.progressbar(length=_PARTS, file=sys.stderr, show_eta=False)
    return click.progressbar(_endless(), file=sys.stderr, show_eta=False)


def _endless() -> Iterator[None]:
    """Something whose length nobody knows, which click then shows as such."""
    yield
