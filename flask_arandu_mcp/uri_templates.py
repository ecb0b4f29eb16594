"""URIs of resources: the fixed ones, and templates with variables (RFC 6570, level 1, plus `{+name}` for several
segments). A URI is matched in its encoded form first, and its variables are decoded after, once."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from urllib.parse import quote

from .limits import MAX_URI

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT = ":/?#[]@!$&'()*+,;=%"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"(\+?)([A-Za-z_][A-Za-z0-9_]*)")
_OUTSIDE_SEGMENT = re.compile("[/?#]")
_OUTSIDE_PATH = re.compile("[?#]")


class TemplateError(ValueError):
    """A URI or a template that cannot be declared; says which rule it breaks."""


class UriTemplate:
    """A URI, or a template of URIs, that can be matched.

    :ivar text: as it was declared.
    :ivar variables: the names of its variables, in order; none for a fixed URI.
    :raises TemplateError: for what is no URI, or a template beyond RFC 6570 level 1.
    """

    __slots__ = ("_literals", "_outside", "text", "variables")

    def __init__(self, text: str) -> None:
        if not _SCHEME.match(text):
            raise TemplateError("a URI must begin with a scheme, such as 'blog:'")
        if any((c <= " " and c != " ") or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text):
            raise TemplateError("a URI must hold no control characters")
        self.text = text
        self.variables: tuple[str, ...] = ()
        self._literals: list[str] = []
        self._outside: list[re.Pattern[str]] = []
        end = 0
        for expression in _EXPRESSION.finditer(text):
            self._literals.append(_literal(text[end : expression.start()]))
            self._outside.append(self._variable(expression[1]))
            end = expression.end()
        self._literals.append(_literal(text[end:]))

    def _variable(self, expression: str) -> re.Pattern[str]:
        variable = _VARIABLE.fullmatch(expression)
        if variable is None:
            raise TemplateError(
                f"{{{expression}}} is no variable: write {{name}} for one segment or {{+name}} for several"
            )
        several, name = variable.groups()
        if name in self.variables:
            raise TemplateError(f"the variable {name!r} occurs twice, rename one of them")
        self.variables = (*self.variables, name)
        return _OUTSIDE_PATH if several else _OUTSIDE_SEGMENT

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables that a URI gives to this template, decoded; None where it does not match.

        A value that is not UTF-8, or would climb out of its place (`.` or `..` as a segment, a path that begins anew
        after a slash), does not match. Neither does a URI that is too long.
        """
        found = None if len(uri) > MAX_URI else self._split(canonical(uri))
        if found is None:
            return None
        values: dict[str, str] = {}
        for name, literal, encoded in zip(self.variables, self._literals[:-1], found, strict=True):
            value = _decode(encoded)
            if value is None or not _is_safe(value, several="/" in encoded) or _begins_anew(value, literal):
                return None
            values[name] = value
        return values

    def _split(self, uri: str) -> list[str] | None:
        """What stands in a URI for each variable, the first as long as can be; None where it does not match.

        Found from the end on, as a regular expression that backtracks takes minutes where several variables stand
        side by side.
        """
        first, last = self._literals[0], self._literals[-1]
        if not self.variables:
            return [] if uri == first else None
        if not uri.startswith(first) or not uri.endswith(last) or len(uri) < len(first) + len(last):
            return None
        # For each variable, from the last on, the places where it may end so that the rest matches.
        ends = [[len(uri) - len(last)]]
        stops = [[found.start() for found in outside.finditer(uri)] for outside in self._outside]
        for literal, outside in zip(self._literals[-2:0:-1], stops[:0:-1], strict=True):
            starts = _places(literal, uri)
            ends.append([at for at in starts if _end(at + len(literal), ends[-1], outside) is not None])
        found, start = [], len(first)
        for outside, literal in zip(stops, self._literals[1:], strict=True):
            end = _end(start, ends.pop(), outside)
            if end is None:
                return None
            found.append(uri[start:end])
            start = end + len(literal)
        return found


def _places(literal: str, uri: str) -> list[int]:
    return [found.start() for found in re.finditer(f"(?={re.escape(literal)})", uri)]


def _end(start: int, ends: Sequence[int], stops: Sequence[int]) -> int | None:
    """The last of the places where a value may end that begins at `start` and stands before the next stop."""
    stop = bisect_left(stops, start)
    before = len(ends) if stop == len(stops) else bisect_right(ends, stops[stop])
    end = ends[before - 1] if before else start
    return end if end > start else None


def canonical(uri: str) -> str:
    """The one spelling of a URI that equal ones share: what needs encoding is encoded, and nothing else is."""
    return _TRIPLET.sub(_triplet, quote(uri, safe=_KEPT, errors="replace"))


def _triplet(found: re.Match[str]) -> str:
    letter = chr(int(found[0][1:], 16))
    return letter if letter in _UNRESERVED else found[0].upper()


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise TemplateError("a brace stands alone: write variables as {name}")
    return canonical(text)


def _decode(encoded: str) -> str | None:
    if "%" not in encoded:
        return encoded
    if "%" in _TRIPLET.sub("", encoded):
        return None
    data = b"".join(
        bytes([int(part[1:], 16)]) if part.startswith("%") else part.encode()
        for part in re.split(r"(%[0-9A-Fa-f]{2})", encoded)
    )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _is_safe(value: str, several: bool) -> bool:
    segments = re.split(r"[/\\]", value)
    if not several and len(segments) > 1:
        return False
    return not any(segment in {".", ".."} for segment in segments) and "\x00" not in value


def _begins_anew(value: str, before: str) -> bool:
    # To whoever joins it to a folder it is an absolute path. After the two slashes of a scheme a path begins so.
    return before.endswith("/") and not before.endswith("//") and value.startswith(("/", "\\"))
