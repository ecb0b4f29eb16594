"""Read values that are native already as a schema would load them: a str in a String, an int in an Integer, lists and
objects of them. Whatever marshmallow might make anything else of, or find a fault in, is left undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeAlias

from marshmallow import Schema, fields, missing, validate

from .native import is_plain, native_kind
from .nesting import is_many, schema_of, sent_name, signature

Read: TypeAlias = Callable[[Any], Any]
"""Gives what a field would load; raises `Undecided` or a ValidationError where marshmallow has to be asked."""

Known: TypeAlias = dict[Hashable, "Read | None"]
"""What reads each schema that was met; None where that is not known, and while it is compiled."""

LOADING = (
    "load",
    "_do_load",
    "_deserialize",
    "_call_and_store",
    "_invoke_field_validators",
    "handle_error",
    "dict_class",
)
"""The methods of a schema that decide what it loads."""

LOAD_HOOKS = frozenset({"pre_load", "post_load", "validates", "validates_schema"})
"""The hooks of a schema that do."""

_PURE = (validate.Range, validate.Length, validate.OneOf, validate.NoneOf, validate.Regexp, validate.Equal)
"""Validators that may be asked twice about one value: they keep nothing, and call nothing of the app's."""


class Undecided(Exception):
    """A value that is not native, or not there."""


class Step(NamedTuple):
    """One field of a schema.

    :ivar key: the client's name for it.
    :ivar name: the handler's name for it.
    :ivar kind: the type whose values are loaded as they are; None where there is none.
    """

    key: str
    name: str
    kind: type | None
    field: fields.Field[Any]


def step_of(name: str, field: fields.Field[Any]) -> Step:
    """What is known of a field of a schema."""
    kind = None if field.validators or _changes(field) else native_kind(field)
    return Step(sent_name(name, field), field.attribute or name, kind, field)


def _changes(field: fields.Field[Any]) -> bool:
    """Whether a field has functions that change what is loaded, as of marshmallow 4."""
    return bool(getattr(field, "pre_load", ()) or getattr(field, "post_load", ()))


def reader(field: fields.Field[Any], known: Known) -> Read | None:
    """Compile what reads native values of a field, or None where it cannot be known of it."""
    read = _reader_of_value(field, known)
    if read is None or _changes(field) or not all(type(each) in _PURE for each in field.validators):
        return None

    def run(value: Any) -> Any:
        if value is missing:
            return _default(field)
        if value is None:
            if field.allow_none:
                return None
            raise Undecided
        made = read(value)
        for validator in field.validators:
            validator(made)
        return made

    return run


def _reader_of_schema(schema: Schema, known: Known) -> Read | None:
    key = signature(schema, schema.partial, schema.unknown)
    if key not in known:
        known[key] = None
        if is_plain(schema, LOADING, LOAD_HOOKS) and not schema.partial:
            steps = [step_of(name, field) for name, field in schema.load_fields.items()]
            readers = [reader(step.field, known) for step in steps]
            known[key] = _object(steps, [read for read in readers if read is not None])
    return known[key]


def _object(steps: list[Step], readers: list[Read]) -> Read | None:
    if len(readers) < len(steps) or any("." in step.name for step in steps):
        return None
    ways = [(key, name, kind, read) for (key, name, kind, _), read in zip(steps, readers, strict=True)]
    names = frozenset(step.key for step in steps)

    def run(value: Any) -> dict[str, object]:
        if type(value) is not dict or not value.keys() <= names:
            raise Undecided
        result = {}
        for key, name, kind, read in ways:
            given = value.get(key, missing)
            if type(given) is not kind:
                given = read(given)
                if given is missing:
                    continue
            result[name] = given
        return result

    return run


def _reader_of_value(field: fields.Field[Any], known: Known) -> Read | None:
    if type(field) is fields.List:
        inner = reader(field.inner, known)
        return None if inner is None else _each(inner)
    if type(field) is fields.Nested:
        schema = schema_of(field)
        inner = _reader_of_schema(schema, known) if is_many(field) == bool(schema.many) else None
        return _each(inner) if inner is not None and schema.many else inner
    kind = native_kind(field)
    return None if kind is None else _only(kind)


def _only(kind: type) -> Read:
    def run(value: Any) -> Any:
        if type(value) is not kind:
            raise Undecided
        return value

    return run


def _each(read: Read) -> Read:
    def run(value: Any) -> Any:
        if type(value) is not list:
            raise Undecided
        return [read(item) for item in value]

    return run


def _default(field: fields.Field[Any]) -> Any:
    # A function is called by marshmallow alone, for nobody knows what it does when it is called twice.
    if field.required or callable(field.load_default):
        raise Undecided
    return field.load_default
