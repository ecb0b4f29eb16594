"""URIs of resources: the fixed ones, and templates with variables (RFC 6570, level 1, plus `{+name}` for several
segments). A URI is matched in its encoded form first, and its variables are decoded after, once."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_KEPT = ":/?#[]@!$&'()*+,;=%"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TRIPLET = re.compile(r"%[0-9A-Fa-f]{2}")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_VARIABLE = re.compile(r"(\+?)([A-Za-z_][A-Za-z0-9_]*)")
_ONE_SEGMENT: Final = r"[^/?#]+"
_SEGMENTS: Final = r"[^?#]+"


class TemplateError(ValueError):
    """A URI or a template that cannot be declared; says which rule it breaks."""


class UriTemplate:
    """A URI, or a template of URIs, that can be matched.

    :ivar text: as it was declared.
    :ivar variables: the names of its variables, in order; none for a fixed URI.
    :raises TemplateError: for what is no URI, or a template beyond RFC 6570 level 1.
    """

    __slots__ = ("_pattern", "text", "variables")

    def __init__(self, text: str) -> None:
        if not _SCHEME.match(text):
            raise TemplateError("a URI begins with a scheme, such as 'blog:'")
        if any((c <= " " and c != " ") or c == "\x7f" or "\ud800" <= c <= "\udfff" for c in text):
            raise TemplateError("a URI holds no control characters")
        self.text = text
        self.variables: tuple[str, ...] = ()
        pattern, end = [], 0
        for expression in _EXPRESSION.finditer(text):
            pattern += [_literal(text[end : expression.start()]), self._group(expression[1])]
            end = expression.end()
        self._pattern = re.compile("".join([*pattern, _literal(text[end:])]))

    def _group(self, expression: str) -> str:
        variable = _VARIABLE.fullmatch(expression)
        if variable is None:
            raise TemplateError(
                f"{{{expression}}} is no variable: write {{name}} for one segment or {{+name}} for several"
            )
        several, name = variable.groups()
        if name in self.variables:
            raise TemplateError(f"the variable {name!r} occurs twice")
        self.variables = (*self.variables, name)
        return f"({_SEGMENTS if several else _ONE_SEGMENT})"

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables that a URI gives to this template, decoded; None where it does not match.

        A value that is not UTF-8, or would climb out of its place (`.` or `..` as a segment), does not match.
        """
        found = self._pattern.fullmatch(canonical(uri))
        if found is None:
            return None
        values: dict[str, str] = {}
        for name, encoded in zip(self.variables, found.groups(), strict=True):
            value = _decode(encoded)
            if value is None or not _is_safe(value, several="/" in encoded):
                return None
            values[name] = value
        return values


def canonical(uri: str) -> str:
    """The one spelling of a URI that equal ones share: what needs encoding is encoded, and nothing else is."""
    return _TRIPLET.sub(_triplet, quote(uri, safe=_KEPT, errors="replace"))


def _triplet(found: re.Match[str]) -> str:
    letter = chr(int(found[0][1:], 16))
    return letter if letter in _UNRESERVED else found[0].upper()


def _literal(text: str) -> str:
    if "{" in text or "}" in text:
        raise TemplateError("a brace stands alone: variables are written {name}")
    return re.escape(canonical(text))


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
