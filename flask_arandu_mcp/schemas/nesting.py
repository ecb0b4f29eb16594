"""Recognise a schema that is met again inside itself. marshmallow makes a new instance at each level, so two are
the same here when they have the same class and the same options.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import Any, TypeAlias

from marshmallow import Schema
from marshmallow.exceptions import MarshmallowError
from marshmallow.fields import Field, Nested

from .errors import UNLUCKY, ConversionError

DEEPEST = 60
"""How many schemas may lie inside each other without one of them coming again."""

Partial: TypeAlias = bool | Collection[str] | None
"""What marshmallow takes as `partial`: all fields, some of them by their paths, or nothing said."""


def schema_of(field: Nested) -> Schema:
    """Give the schema that a Nested field holds; raises `ConversionError` where it cannot be made."""
    try:
        return field.schema
    except (*UNLUCKY, MarshmallowError) as error:
        raise ConversionError(
            f"its nested schema cannot be made ({type(error).__name__}: {error}); "
            "nest a Schema class that exists when the app has started"
        ) from error


def sent_name(name: str, field: Field[Any]) -> str:
    """Give the name that a client has for a field, of the one that its schema has."""
    return name if field.data_key is None else field.data_key


def is_many(field: Nested) -> bool:
    """Tell whether a Nested field holds a list of objects."""
    return bool(field.many or schema_of(field).many)


def below(partial: Partial, name: str) -> Partial:
    """Give the `partial` that marshmallow hands on to what a field nests."""
    if partial is None or isinstance(partial, bool):
        return partial
    return [path.removeprefix(f"{name}.") for path in partial if path.startswith(f"{name}.")]


def is_optional(partial: Partial, name: str) -> bool:
    """Tell whether `partial` lets a field be missing."""
    return partial is True or (not isinstance(partial, bool) and partial is not None and name in partial)


def _set(names: object) -> Hashable:
    return frozenset(names) if isinstance(names, Iterable) else names


def _shape(field: Field[Any]) -> Hashable:
    inner = getattr(field, "inner", None) or getattr(field, "value_field", None)
    narrowed = (_set(getattr(field, "only", None)), _set(getattr(field, "exclude", None)))
    return (type(field), narrowed, _shape(inner) if isinstance(inner, Field) else None)


def signature(schema: Schema, partial: Partial, unknown: object) -> Hashable:
    """Give what is equal for two instances that load and dump alike."""
    fields = tuple(
        (name, _shape(field), field.load_only, field.dump_only, field.required) for name, field in schema.fields.items()
    )
    return (type(schema), fields, _set(partial), unknown)
