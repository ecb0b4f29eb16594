"""Load what has only to be looked at: values that are native already, in schemas that change none. marshmallow would
give just the same at several times the price, and is asked about everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple, TypeAlias

from marshmallow import Schema, ValidationError, fields, missing, validate

from .native import is_plain, native_kind
from .nesting import is_many, schema_of, signature

Load: TypeAlias = Callable[[Mapping[str, object]], "dict[str, object] | None"]
"""Gives what the schema's `load` would give, or None where only that can tell."""

_Read: TypeAlias = Callable[[Any], Any]
"""Gives what a field would load; raises `_Undecided` or a ValidationError where marshmallow has to be asked."""

_Known: TypeAlias = dict[Hashable, "_Read | None"]
"""What reads each schema that was met; None where that is not known, and while it is compiled."""

_METHODS = ("load", "_do_load", "_deserialize", "_call_and_store", "_invoke_field_validators", "dict_class")
_PURE = (validate.Range, validate.Length, validate.OneOf, validate.NoneOf, validate.Regexp, validate.Equal)
"""Validators that may be asked twice about one value: they keep nothing, and call nothing of the app's."""


class _Undecided(Exception):
    """A value that is not native, or not there."""


class _Step(NamedTuple):
    key: str
    name: str
    kind: type | None
    """The type whose values are loaded as they are; None where each has to be read."""
    read: _Read


def native_load(schema: Schema) -> Load | None:
    """Compile what loads native values, or None for a schema that it cannot be known of."""
    read = None if schema.many else _reader_of_schema(schema, {})
    if read is None:
        return None

    def load(value: Mapping[str, object]) -> dict[str, object] | None:
        try:
            made: dict[str, object] = read(value)
        except (_Undecided, ValidationError):
            return None
        return made

    return load


def _reader_of_schema(schema: Schema, known: _Known) -> _Read | None:
    key = signature(schema, schema.partial, schema.unknown)
    if key not in known:
        known[key] = None
        if is_plain(schema, _METHODS) and not schema.partial:
            known[key] = _object([_step(name, field, known) for name, field in schema.load_fields.items()])
    return known[key]


def _step(name: str, field: fields.Field[Any], known: _Known) -> _Step | None:
    read, target = _reader(field, known), field.attribute or name
    if read is None or "." in target:
        return None
    kind = None if field.validators else native_kind(field)
    return _Step(name if field.data_key is None else field.data_key, target, kind, read)


def _object(found: list[_Step | None]) -> _Read | None:
    steps = [step for step in found if step is not None]
    if len(steps) < len(found):
        return None
    names = frozenset(step.key for step in steps)

    def run(value: Any) -> dict[str, object]:
        if type(value) is not dict or not value.keys() <= names:
            raise _Undecided
        result = {}
        for key, name, kind, read in steps:
            given = value.get(key, missing)
            if type(given) is not kind:
                given = read(given)
                if given is missing:
                    continue
            result[name] = given
        return result

    return run


def _reader(field: fields.Field[Any], known: _Known) -> _Read | None:
    changing = getattr(field, "pre_load", ()) or getattr(field, "post_load", ())
    read = _reader_of_value(field, known)
    if read is None or changing or not all(type(each) in _PURE for each in field.validators):
        return None

    def run(value: Any) -> Any:
        if value is missing:
            return _default(field)
        if value is None:
            if field.allow_none:
                return None
            raise _Undecided
        made = read(value)
        for validator in field.validators:
            validator(made)
        return made

    return run


def _reader_of_value(field: fields.Field[Any], known: _Known) -> _Read | None:
    if type(field) is fields.List:
        inner = _reader(field.inner, known)
        return None if inner is None else _each(inner)
    if type(field) is fields.Nested:
        schema = schema_of(field)
        inner = _reader_of_schema(schema, known) if is_many(field) == bool(schema.many) else None
        return _each(inner) if inner is not None and schema.many else inner
    kind = native_kind(field)
    return None if kind is None else _only(kind)


def _only(kind: type) -> _Read:
    def run(value: Any) -> Any:
        if type(value) is not kind:
            raise _Undecided
        return value

    return run


def _each(read: _Read) -> _Read:
    def run(value: Any) -> Any:
        if type(value) is not list:
            raise _Undecided
        return [read(item) for item in value]

    return run


def _default(field: fields.Field[Any]) -> Any:
    # A function is called by marshmallow alone, for nobody knows what it does when it is called twice.
    if field.required or callable(field.load_default):
        raise _Undecided
    return field.load_default
