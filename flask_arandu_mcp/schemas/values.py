"""Find the JSON that a client must send for a field to load a given Python value. It asks the field itself, so
that what a schema lists is what the field takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from marshmallow.exceptions import MarshmallowError
from marshmallow.fields import Field

from .errors import UNLUCKY


class Unsayable(ValueError):
    """Say that no JSON value stands for a Python value."""


def _decimal(value: Decimal) -> int | float:
    if not value.is_finite() or abs(value.adjusted()) > 308:
        raise Unsayable
    if value == value.to_integral_value():
        return int(value)
    if Decimal(repr(float(value))) != value:
        raise Unsayable
    return float(value)


def as_json(value: object) -> object:
    """Copy a value as JSON data, a Decimal as a number; raises `Unsayable` for what JSON does not know."""
    if isinstance(value, Decimal):
        return _decimal(value)
    if value is None or type(value) in (str, int, bool):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: as_json(item) for key, item in value.items()}
    raise Unsayable


def dumped(field: Field[Any], value: object) -> object:
    """Give the JSON that a field makes of a value; raises `Unsayable` where it makes none."""
    try:
        return as_json(field._serialize(value, field.name or "", None))
    except (*UNLUCKY, MarshmallowError) as error:
        raise Unsayable from error


def loaded(field: Field[Any], value: object) -> object:
    """Give what a field loads from JSON, validators apart; raises `Unsayable` where it refuses."""
    try:
        return field._deserialize(value, field.name or "", {})
    except (*UNLUCKY, MarshmallowError) as error:
        raise Unsayable from error


def canonical(field: Field[Any], value: object) -> object:
    """Give the JSON that a field loads as something equal to `value`; raises `Unsayable` where none does."""
    if value is None:
        if field.allow_none:
            return None
        raise Unsayable
    found = loaded(field, dumped(field, value))
    if not equal(found, value):
        raise Unsayable
    return dumped(field, found)


def equal(one: object, other: object) -> bool:
    """Compare as Python does, taking a comparison that fails for a no."""
    try:
        return bool(one == other)
    except UNLUCKY:
        return False


def same(one: object, other: object) -> bool:
    """Compare as JSON does: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def distinct(values: list[object]) -> list[object]:
    """Drop what JSON takes for a repetition, keeping the order."""
    kept: list[object] = []
    for value in values:
        if not any(same(value, known) for known in kept):
            kept.append(value)
    return kept


_TYPES = {str: "string", float: "number", list: "array", dict: "object"}


def type_of(value: object) -> str:
    """Name the JSON type of a JSON value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return _TYPES[type(value)]


def types_of(values: list[object]) -> str | list[str]:
    """Name the JSON types of several values, as the keyword `type` wants it."""
    names = list(dict.fromkeys(type_of(value) for value in values))
    if "number" in names and "integer" in names:
        names.remove("integer")
    return names[0] if len(names) == 1 else names
