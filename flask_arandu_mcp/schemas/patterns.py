r"""Translate a Python regular expression into one that ECMA-262 reads alike, or say that there is none.

A client compiles every pattern in unicode mode, where an escape too many is an error that can cost all tools, and
`\w` means other letters than in Python. So what is not known to mean the same is left out.
"""

from __future__ import annotations

import re

# What str.isspace says, which ECMA's own class says a little differently.
_SPACE = r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_SYNTAX = frozenset("^$\\.*+?()[]{}|/")
_CONTROL = {"n": r"\n", "t": r"\t", "r": r"\r", "f": r"\f", "v": r"\v", "a": r"\x07"}
_HEX = {"x": 2, "u": 4}
_GROUPS = ("(?:", "(?=", "(?!")
_REPEAT = r"\{(\d*)(,?)(\d*)\}"


class _Foreign(Exception):
    """Say that this part of the pattern means something else in ECMA-262, or nothing."""


class _Translation:
    """Read a pattern once, from left to right."""

    def __init__(self, source: str, flags: int) -> None:
        self.source = source
        self.ascii = bool(flags & re.ASCII)
        self.at = 0
        self.out: list[str] = []
        self.groups: list[str] = []
        self.branches = False
        self.repeatable = False

    def run(self) -> str:
        while self.at < len(self.source):
            self._step(self.source[self.at])
        whole = "".join(self.out)
        return whole if whole.startswith("^") and not self.branches else f"^(?:{whole})"

    def _step(self, char: str) -> None:
        if char in "*+?{":
            self._repeat(char)
        elif char == "(":
            self._open()
        elif char == "[":
            self._emit(self._class(), 0)
        elif char == "\\":
            self._escape()
        elif char in ")|^$":
            self._mark(char)
        else:
            self._emit(r"[^\n]" if char == "." else _literal(char), 1)

    def _emit(self, text: str, width: int, repeatable: bool = True) -> None:
        self.out.append(text)
        self.at += width
        self.repeatable = repeatable

    def _mark(self, char: str) -> None:
        closed = self.groups.pop() if char == ")" else ""
        if char == "|" and not self.groups:
            self.branches = True
        if char == "$" and "(?!" in self.groups:
            raise _Foreign  # what is narrower than in Python must not be denied
        self._emit(char, 1, repeatable=closed in ("(", "(?:"))

    def _open(self) -> None:
        opening = next((group for group in _GROUPS if self.source.startswith(group, self.at)), "(")
        if opening == "(" and self.source.startswith("(?", self.at):
            raise _Foreign
        self.groups.append(opening)
        self._emit(opening, len(opening), repeatable=False)

    def _repeat(self, char: str) -> None:
        found = re.compile(_REPEAT).match(self.source, self.at) if char == "{" else None
        if char == "{" and (found is None or found.group(0) in ("{}", "{,}")):
            self._emit(r"\{", 1)
            return
        if not self.repeatable:
            raise _Foreign
        low, comma, high = found.groups() if found else ("", "", "")
        self._emit(f"{{{low or 0}{comma}{high}}}" if found else char, len(found.group(0)) if found else 1)
        follows = self.source[self.at : self.at + 1]
        if follows == "+":  # a possessive repeat, which ECMA-262 does not have
            raise _Foreign
        if follows == "?":
            self._emit("?", 1)
        self.repeatable = False

    def _escape(self) -> None:
        char = self.source[self.at + 1]
        if char in "bB" and self.ascii:
            self._emit(f"\\{char}", 2, repeatable=False)
            return
        inside, width = self._escaped(char)
        self._emit(f"[{inside}]" if len(inside) > 1 and char in "dsw" else inside, width)

    def _escaped(self, char: str) -> tuple[str, int]:
        """Give what an escape stands for, as it may stand in a class too, and how long it is."""
        if char == "d" and (self.ascii or "(?!" not in self.groups):
            return "0-9", 2
        if char == "s" and not self.ascii:
            return _SPACE, 2
        if char == "w" and self.ascii:
            return "A-Za-z0-9_", 2
        if char in _CONTROL:
            return _CONTROL[char], 2
        if char in _HEX:
            end = self.at + 2 + _HEX[char]
            return _literal(chr(int(self.source[self.at + 2 : end], 16))), end - self.at
        if char.isalnum():
            raise _Foreign
        return _literal(char), 2

    def _class(self) -> str:
        self.at += 1
        negated = self.source.startswith("^", self.at)
        self.at += negated
        parts: list[str] = []
        while self.source[self.at] != "]" or not parts:
            parts.append(self._member(negated))
        self.at += 1
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def _member(self, negated: bool) -> str:
        char = self.source[self.at]
        if char == "\\":
            escaped = self.source[self.at + 1]
            if escaped == "b" or (negated and escaped == "d" and not self.ascii):
                raise _Foreign
            text, width = (r"\-", 2) if escaped == "-" else self._escaped(escaped)
        else:
            text, width = char if char == "-" else _literal(char), 1
        self.at += width
        # A hyphen that is no range must be escaped in unicode mode where a set stands beside it.
        if char == "-" and (self.source[self.at] == "]" or self.source[self.at - 2] in "[^"):
            return r"\-"
        return text


def _literal(char: str) -> str:
    if ord(char) > 0xFFFF:
        raise _Foreign
    if char in _SYNTAX:
        return f"\\{char}"
    if char.isprintable():
        return char
    return f"\\u{ord(char):04x}"


def translated(pattern: re.Pattern[str] | re.Pattern[bytes]) -> str | None:
    """Translate what `re.match` does with a pattern into one that JSON Schema searches for.

    Gives None where ECMA-262 cannot say the same.
    """
    if not isinstance(pattern.pattern, str) or pattern.flags & ~(re.UNICODE | re.ASCII):
        return None
    try:
        return _Translation(pattern.pattern, pattern.flags).run()
    except _Foreign:
        return None


_ANCHOR = r"(?s:\\.)|\[\^?\]?(?:(?s:\\.)|[^\]\\])*\]|\$"


def compiled(pattern: str) -> re.Pattern[str] | None:
    """Compile a pattern of JSON Schema so that its `$` is the very end, or give None where Python cannot."""
    try:
        ended = re.sub(_ANCHOR, lambda found: r"\Z" if found.group() == "$" else found.group(), pattern)
        return re.compile(ended, re.ASCII)
    except re.error:
        return None
