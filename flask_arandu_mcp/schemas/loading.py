"""Load what a schema describes, and let marshmallow look at those values only of which it might make anything else:
a str in a String, or an int in an Integer, is what it would give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, fields, missing

from .integers import field_plan, integer_plan
from .native import is_plain, native_kind
from .reading import LOAD_HOOKS, LOADING, Known, Undecided, reader, step_of

Load: TypeAlias = Callable[[Mapping[str, Any]], object]
"""Gives what the schema's `load` gives, once integral floats are integers, and raises what it raises."""


def loader(schema: Schema) -> Load:
    """Compile what loads a value as a schema does."""
    names = [field.attribute or name for name, field in schema.load_fields.items()]
    if schema.many or schema.partial or not is_plain(schema, LOADING, LOAD_HOOKS) or any("." in name for name in names):
        plan = integer_plan(schema)
        return schema.load if plan is None else lambda value: schema.load(plan(value))  # type: ignore[arg-type]  # a plan gives a mapping for one
    return _top(schema)


def _top(schema: Schema) -> Load:
    known: Known = {}
    found = [step_of(name, field) for name, field in schema.load_fields.items()]
    steps = [(key, name, kind, _deserializer(field, known)) for key, name, kind, field in found]
    names, unknown = frozenset(step.key for step in found), schema.unknown

    def load(value: Mapping[str, Any]) -> dict[str, object]:
        result: dict[str, object] = {}
        errors: dict[str, object] = {}
        for key, name, kind, deserialize in steps:
            given = value.get(key, missing)
            if type(given) is not kind:
                try:
                    given = deserialize(given, key, value)
                except ValidationError as error:
                    errors[key] = error.messages
                    continue
                if given is missing:
                    continue
            result[name] = given
        if unknown != EXCLUDE and not value.keys() <= names:
            more = {key: given for key, given in value.items() if key not in names}
            if unknown == INCLUDE:
                result |= more
            else:
                errors |= {key: [schema.error_messages["unknown"]] for key in more}
        if errors:
            raise ValidationError(errors, data=value, valid_data=result)
        return result

    return load


def _deserializer(field: fields.Field[Any], known: Known) -> Callable[[Any, str, Any], Any]:
    """A field's own `deserialize`, but for values that can be read without it."""
    plan, read = field_plan(field), reader(field, known)

    def ask(value: Any, key: str, data: Any) -> Any:
        return field.deserialize(value if plan is None else plan(value), key, data)

    if read is None:
        return ask
    known_read, is_told = read, len(field.validators) == 1 and native_kind(field) is not None

    def run(value: Any, key: str, data: Any) -> Any:
        try:
            return known_read(value)
        except Undecided:
            return ask(value, key, data)
        except ValidationError:
            # The field would tell what its only validator tells; of all else it tells more, or where it is.
            if is_told:
                raise
            return ask(value, key, data)

    return run
