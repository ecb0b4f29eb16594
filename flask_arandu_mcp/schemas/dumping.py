"""Dump a value, and ask only those fields that have something to change. marshmallow would give just the same at
several times the price.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from marshmallow import Schema, fields, missing

from .native import is_plain, native_kind
from .nesting import is_many, schema_of, signature

Dump: TypeAlias = Callable[[Any], object]
"""Gives what the schema's `dump` would give, and raises what it would raise."""

_Known: TypeAlias = dict[Hashable, "Dump | None"]
"""What dumps one object of each schema that was met; None where that is not known, and while it is compiled."""

_METHODS = ("dump", "_serialize", "get_attribute", "dict_class")


class _Step(NamedTuple):
    key: str
    name: str
    serialize: Callable[..., object]
    """The field's own, for a value that is missing and a field that is not known."""
    source: str
    kind: type | None
    """The type whose values go out as they are; None where there is none."""
    write: Dump | None
    """Gives what the field would for a value that it was handed; None for a field that is not known."""


def native_dump(schema: Schema) -> Dump:
    """Compile what dumps a value as a schema does; of which nothing is known, that is the schema's own method."""
    dump = _of_schema(schema, {})
    if dump is None:
        return schema.dump
    return _objects(dump) if schema.many else dump


def _of_schema(schema: Schema, known: _Known) -> Dump | None:
    key = signature(schema, None, schema.unknown)
    if key not in known:
        known[key] = None
        if is_plain(schema, _METHODS):
            steps = [_step(name, field, known) for name, field in schema.dump_fields.items()]
            known[key] = _object(steps, schema.get_attribute)
    return known[key]


def _object(steps: list[_Step], accessor: Callable[..., Any]) -> Dump:

    def dump(value: Any) -> dict[str, object]:
        get: Callable[..., Any]
        if type(value) is dict:
            get = value.get
        else:
            get = partial(accessor if hasattr(value, "__getitem__") else getattr, value)
        result: dict[str, object] = {}
        for key, name, serialize, source, kind, write in steps:
            made = missing if write is None else get(source, missing)
            if made is missing:
                made = serialize(name, value, accessor=accessor)
                if made is missing:
                    continue
            elif type(made) is not kind and made is not None and write is not None:
                made = write(made)
            result[key] = made
        return result

    return dump


def _step(name: str, field: fields.Field[Any], known: _Known) -> _Step:
    source = name if field.attribute is None else field.attribute
    write = None if "." in source else _writer(field, known)
    key = name if field.data_key is None else field.data_key
    return _Step(key, name, field.serialize, source, native_kind(field), write)


def _writer(field: fields.Field[Any], known: _Known) -> Dump | None:
    if type(field) is fields.List:
        inner = _writer(field.inner, known)
        return None if inner is None else _items(native_kind(field.inner), inner)
    if type(field) is fields.Nested:
        inner = _of_schema(schema_of(field), known)
        return _objects(inner) if inner is not None and is_many(field) else inner
    if native_kind(field) is None or getattr(field, "as_string", False):
        return None
    # marshmallow's own fields, which look at neither the name nor the object.
    return partial(field._serialize, attr=None, obj=None)


def _objects(dump: Dump) -> Dump:
    return lambda values: [dump(value) for value in values]


def _items(kind: type | None, write: Dump) -> Dump:
    return lambda values: [value if type(value) is kind or value is None else write(value) for value in values]
