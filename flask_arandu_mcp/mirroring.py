"""Arguments that a client repeats in headers, so that a gateway can read them: which ones a tool wants repeated, and
whether a request's headers agree with its body (2026-07-28, transports, Custom Headers from Tool Parameters)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from .headers import KEYS, PARAM_PREFIX, decode, encode

_EXTENSION = "x-mcp-header"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_KINDS = ("string", "integer", "boolean")


class Mirrored(NamedTuple):
    """An argument that is repeated in a header.

    :ivar header: its name, such as `Mcp-Param-Region`.
    :ivar path: where the argument is.
    """

    header: str
    path: tuple[str, ...]


def mirrored(schema: Mapping[str, object]) -> tuple[Mirrored, ...]:
    """The arguments that a schema wants repeated in headers.

    :raises ValueError: for an `x-mcp-header` that clients would refuse the tool for; says which rule it breaks.
    """
    found = tuple(_found(schema, ()))
    names = [one.header.lower() for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(
            f"two arguments have the x-mcp-header {twice.removeprefix(PARAM_PREFIX.lower())!r}: give each its own"
        )
    return found


def _found(schema: Mapping[str, object], path: tuple[str, ...]) -> Iterator[Mirrored]:
    if _holds([value for key, value in schema.items() if key not in ("properties", _EXTENSION)]):
        where = ".".join(path) or "the arguments"
        raise ValueError(f"an x-mcp-header in {where} is out of reach: put it on a plain property")
    properties = schema.get("properties")
    for name, field in properties.items() if isinstance(properties, dict) else ():
        if isinstance(field, dict):
            if _EXTENSION in field:
                yield Mirrored(PARAM_PREFIX + _token(field, ".".join((*path, name))), (*path, name))
            yield from _found(field, (*path, name))


def _holds(value: object) -> bool:
    if isinstance(value, dict):
        return _EXTENSION in value or any(map(_holds, value.values()))
    return isinstance(value, list) and any(map(_holds, value))


def _token(field: Mapping[str, object], where: str) -> str:
    name = field[_EXTENSION]
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise ValueError(
            f"the x-mcp-header of {where!r} is {name!r}, which is no name of a header: write letters and hyphens"
        )
    types = field.get("type")
    kinds = [kind for kind in types if kind != "null"] if isinstance(types, list) else [types]
    if len(kinds) != 1 or kinds[0] not in _KINDS:
        raise ValueError(f"the x-mcp-header of {where!r} is on a field that must be a string, integer or boolean")
    return name


def disagreeing(
    declared: Iterable[Mirrored], arguments: Mapping[str, object], header: Callable[[str], str | None]
) -> str:
    """The first header that does not say what its argument says; empty where all of them agree."""
    for one in declared:
        value = _value(one, arguments)
        sent = header(KEYS[one.header])
        if (sent is None) != (value is None) or (sent is not None and not _agrees(sent, value)):
            return one.header
    return ""


def repeated(declared: Iterable[Mirrored], arguments: Mapping[str, object]) -> dict[str, str]:
    """The headers with which a client repeats the arguments of a call."""
    headers: dict[str, str] = {}
    for one in declared:
        value = _value(one, arguments)
        if value is not None:
            headers[one.header] = encode(str(value).lower() if isinstance(value, bool) else str(value))
    return headers


def _value(one: Mirrored, arguments: Mapping[str, object]) -> object:
    value: object = arguments
    for name in one.path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _agrees(sent: str, value: object) -> bool:
    text = decode(sent)
    if text is None:
        return False
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, (int, float)):
        try:
            return float(text) == value
        except ValueError:
            return False
    return text == value
