"""Turn what a handler gives back into data that JSON can carry. It never falls back to `repr`, since an answer
with a memory address in it is worse than none.
"""

from __future__ import annotations

import datetime as dt
import math
import re
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set, ValuesView
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any

DEPTH = 200
"""How deep a result may nest before it is taken for one that contains itself."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNCHANGED = frozenset({str, int, bool, type(None)})


class ResultFault(Exception):
    """Refuse a result that cannot go out, or that breaks its own schema.

    Its message names the place, as in `result.posts.0.id: ...`; it is for the log, never for the client.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.path: list[str] = []

    def inside(self, key: object) -> ResultFault:
        """Note that the fault lies under `key`, an index or a name."""
        self.path.append(str(key))
        return self

    def __str__(self) -> str:
        return f"{'.'.join(['result', *reversed(self.path)])}: {self.message}"


def whole(value: str) -> str:
    """Give the text with each lone surrogate, which no encoding can carry, as U+FFFD."""
    if value.isascii():
        return value
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_whole(value: str) -> bool:
    """Tell whether a text has no lone surrogate."""
    return value.isascii() or _SURROGATE.search(value) is None


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise ResultFault(f"{value!r} is no number in JSON; give None or a finite number instead")
    return value


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise ResultFault(f"{value} is no number in JSON; give None or a finite number instead")
    return str(value)


def _duration(value: dt.timedelta) -> str:
    sign = "-" if value < dt.timedelta() else ""
    span = abs(value)
    minutes, seconds = divmod(span.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    fraction = f".{span.microseconds:06d}".rstrip("0") if span.microseconds else ""
    return f"{sign}P{span.days}DT{hours}H{minutes}M{seconds}{fraction}S"


def _bytes(value: object) -> object:
    raise ResultFault(
        "bytes are not text; give them in an Image, an Audio or an EmbeddedResource, or decode them first"
    )


_SCALARS: tuple[tuple[Any, Callable[[Any], object]], ...] = (
    (Enum, lambda value: shallow(value.value)),
    (str, lambda value: whole(str.__str__(value))),
    (bool, bool),
    (int, int),
    (float, lambda value: _number(float(value))),
    (Decimal, _decimal),
    (dt.datetime, dt.datetime.isoformat),
    (dt.date, dt.date.isoformat),
    (dt.time, dt.time.isoformat),
    (dt.timedelta, _duration),
    (uuid.UUID, str),
    (PurePath, str),
    (bytes | bytearray | memoryview, _bytes),
)


def _columns(value: object, mapper: object) -> dict[str, object]:
    attributes = getattr(mapper, "column_attrs", ())
    names = [column.key for column in attributes if not column.deferred and not column.key.startswith("_")]
    return {name: getattr(value, name) for name in names}


def _members(value: object) -> dict[str, object] | None:
    """Name what a row, a model, a dataclass or a named tuple holds, or None for anything else."""
    kind = type(value)
    row = getattr(value, "_mapping", None)
    if isinstance(row, Mapping):
        return {str(key): item for key, item in row.items()}
    mapper = getattr(kind, "__mapper__", None)
    if mapper is not None:
        return _columns(value, mapper)
    names = getattr(kind, "__dataclass_fields__", None)
    if names is None and isinstance(value, tuple):
        names = getattr(kind, "_fields", None)
    return None if names is None else {name: getattr(value, name) for name in names if hasattr(value, name)}


def _key(key: object) -> str:
    named = shallow(key)
    if named is None or isinstance(named, bool):
        return {None: "null", True: "true", False: "false"}[named]
    if isinstance(named, dict | list):
        raise ResultFault(f"a {type(key).__name__} cannot be a name in an object; give a text instead")
    return str(named)


def shallow(value: object) -> object:
    """Turn one value into a scalar, a dict or a list, leaving what a dict or list holds as it is.

    Raises `ResultFault` for non-finite numbers, bytes and objects of unknown kinds.
    """
    kind = type(value)
    if kind is str:
        return whole(value)  # type: ignore[arg-type]  # mypy does not narrow by an identity of types
    if kind in _UNCHANGED or kind is list:
        return value
    if kind is dict and all(type(key) is str and key.isascii() for key in value):  # type: ignore[attr-defined]  # as above
        return value
    if isinstance(value, Mapping):
        return {_key(key): item for key, item in value.items()}
    for scalar, convert in _SCALARS:
        if isinstance(value, scalar):
            return convert(value)
    members = _members(value)
    if members is not None:
        return members
    if isinstance(value, list | tuple | Set | deque | Iterator | ValuesView):
        return list(value)
    written: Any = getattr(value, "__html__", None)
    if callable(written):
        return whole(str(written()))
    raise ResultFault(
        f"a {kind.__module__}.{kind.__qualname__} cannot go out as JSON; "
        "give a dict, a dataclass or a str, or declare `result` with a schema that dumps it"
    )


def _is_native(value: Any, depth: int) -> bool:
    kind = type(value)
    if kind is dict:
        if not depth:
            return False
        for key in value:
            if type(key) is not str or not (key.isascii() or is_whole(key)):
                return False
        return _are_native(value.values(), depth - 1)
    if kind is list:
        return depth > 0 and _are_native(value, depth - 1)
    if kind is str:
        return is_whole(value)
    return kind in _UNCHANGED or (kind is float and math.isfinite(value))


def _are_native(values: Iterable[Any], depth: int) -> bool:
    for value in values:
        # Here too, as nearly every value is one of these, and a call for each would take longer than the look.
        if type(value) is str:
            if not value.isascii() and not is_whole(value):
                return False
        elif type(value) not in _UNCHANGED and not _is_native(value, depth):
            return False
    return True


def _converted(value: object, above: tuple[int, ...]) -> object:
    mark = id(value)
    if (mark in above and isinstance(value, dict | list)) or len(above) > DEPTH:
        raise ResultFault("it contains itself, or nests too deeply; give data that ends")
    given = shallow(value)
    if isinstance(given, dict):
        return {key: _under(key, item, (*above, mark)) for key, item in given.items()}
    if isinstance(given, list):
        return [_under(index, item, (*above, mark)) for index, item in enumerate(given)]
    return given


def _under(key: object, value: object, above: tuple[int, ...]) -> object:
    if type(value) in _UNCHANGED and not isinstance(value, str):
        return value
    try:
        return _converted(value, above)
    except ResultFault as fault:
        raise fault.inside(key) from None


def plain(value: object) -> object:
    """Turn any value into dicts, lists, strings, integers, finite floats, booleans and None.

    Dates and times become ISO 8601, a timedelta an ISO 8601 duration, a Decimal, a UUID and a path text, an Enum
    its value, sets, tuples and generators lists, and dataclasses, named tuples, rows and models objects. Data that
    is JSON already comes back as it is, not copied. Raises `ResultFault` for anything else.
    """
    if _is_native(value, 16):
        return value
    return _converted(value, ())
