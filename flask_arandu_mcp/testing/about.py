"""What a failing assertion says of a call beside what came of it: who called what, and where to look."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ..declarations.base import Prepared
from ..policies import word
from .refusals import is_nowhere

_LONG = 200


class About(NamedTuple):
    """A call.

    :ivar words: the call as it was written, and who made it: `call('add', a=1) as a guest`.
    :ivar kind: what was called, such as `tool`; empty for a list.
    :ivar declared: its declaration, where there is one.
    :ivar others: the names that are declared of this kind.
    :ivar loader: what of the app should have found the user; empty for a guest.
    :ivar is_user: whether one of the app's users was meant to ask.
    """

    words: str
    kind: str = ""
    name: str = ""
    declared: Prepared | None = None
    others: Sequence[str] = ()
    loader: str = ""
    is_user: bool = False

    @property
    def is_unknown(self) -> bool:
        """Whether nothing of this name is declared."""
        return bool(self.kind) and self.declared is None

    def advice(self, told: str, status: int, raised: Sequence[BaseException]) -> str:
        """Where to look.

        :param told: what the client was told.
        :param status: the HTTP status of the answer.
        :param raised: what broke on the way.
        """
        if self.is_unknown:
            return f"The server declares no {self.kind} {self.name!r}: {meant(self.name, self.others)}"
        if raised:
            return f"It broke: {type(raised[-1]).__name__}: {raised[-1]}. Its traceback is above."
        if status == 401 and self.loader:
            return f"The app's {self.loader} did not find the user: put them into the data that the app reads."
        if self.declared is None:
            return ""
        if "Invalid arguments:" in told:
            return f"Look at the arguments that the {self.kind} {self.name!r} declares."
        what = f"The {self.kind} {self.name!r} is declared with access {word(self.declared.access)}"
        conceals = ", and there is a NotFound in the way" if is_nowhere(told) else ""
        return f"{what}{conceals}: look there, and at its handler."


def words_of(verb: str, names: Sequence[str], arguments: Mapping[str, object]) -> str:
    """A call as it is written in a test."""
    written = [*map(repr, names), *(f"{key}={value!r}" for key, value in arguments.items())]
    return f"{verb}({shortened(', '.join(written), _LONG)})"


def meant(name: str, names: Iterable[str]) -> str:
    """What somebody may have meant who wrote a name that is none."""
    there = list(names)
    near = difflib.get_close_matches(name, there, 1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"use one of {', '.join(map(repr, there))}." if there else "declare one first."


def shortened(text: str, most: int) -> str:
    """A text that is not too long to be read in a sentence."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
