"""Turn a marshmallow schema into JSON Schema 2020-12, for what it loads or for what it dumps. Everything is
written out where it stands; only a schema that contains itself is named once and referred to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeAlias

from marshmallow import INCLUDE, RAISE, Schema, ValidationError, fields, missing

from ..typing import JSONObject
from .annotations import annotated, default_of, overlaid, own_words
from .errors import ConversionError
from .fields import known
from .hooks import Hook, hooks_of
from .merge import Unsatisfiable, nullable, tightened
from .nesting import DEEPEST, Partial, below, is_optional, schema_of, sent_name, signature
from .shapes import Shape, Turn, View
from .text import has_lazy, joined, resolve
from .validators import Subject, constrain, spoken, unfolded

__all__ = ["ConversionError", "Table", "has_lazy", "input_schema", "output_schema", "resolve"]

Table: TypeAlias = Mapping[type[Any], Mapping[str, Any] | Callable[[Any], Mapping[str, Any]]]
"""What an app says of its own field and validator classes: a schema each, or what makes one of an instance."""


_COMBINATORS = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "if"})


class _Conversion:
    """Convert one schema in one view, keeping what is being converted above the present place."""

    def __init__(self, view: View, table: Table | None) -> None:
        self.view: View = view
        self.table = table or {}
        self.above: dict[Hashable, str] = {}
        self.names: dict[Hashable, str] = {}
        self.definitions: JSONObject = {}
        self.cyclic: set[Hashable] = set()

    def root(self, schema: Schema) -> JSONObject:
        key = self._key(schema, schema.partial, None)
        whole = self.schema(schema, schema.partial, None)
        if "$ref" in whole:
            body = self.definitions[self.names[key]]
            whole = dict(body) if isinstance(body, dict) else {}
        if schema.many:
            whole = {"type": "array", "items": whole}
        if self.definitions:
            whole["$defs"] = self.definitions
        return whole

    def _key(self, schema: Schema, partial: Partial, unknown: object) -> Hashable:
        return signature(schema, partial, unknown or schema.unknown)

    def _name(self, key: Hashable, schema: Schema) -> str:
        name = type(schema).__name__
        taken = set(self.names.values())
        number = next(n for n in range(1, len(taken) + 2) if (name if n == 1 else f"{name}{n}") not in taken)
        return self.names.setdefault(key, name if number == 1 else f"{name}{number}")

    def schema(self, schema: Schema, partial: Partial, unknown: object) -> JSONObject:
        """Give the object that a schema describes, or a reference where it lies in itself."""
        key = self._key(schema, partial, unknown)
        if key in self.above or key in self.cyclic:
            self.cyclic.add(key)
            return {"$ref": f"#/$defs/{self._name(key, schema)}"}
        if len(self.above) > DEEPEST:
            raise ConversionError(f"schemas nest more than {DEEPEST} deep; nest a class rather than making one anew")
        self.above[key] = ""
        body = self.body(schema, partial, unknown)
        del self.above[key]
        if key not in self.cyclic:
            return body
        self.definitions[self.names[key]] = body
        return {"$ref": f"#/$defs/{self.names[key]}"}

    def body(self, schema: Schema, partial: Partial, unknown: object) -> JSONObject:
        """Write out the object that a schema describes."""
        hooks = hooks_of(schema)
        chosen = schema.load_fields if self.view == "input" else schema.dump_fields
        keys = {name: sent_name(name, field) for name, field in chosen.items()}
        reshaped = any(hook.tag == "post_dump" for hook in hooks)
        body: JSONObject = {
            "type": "object",
            "properties": {keys[name]: self.named(name, field, partial, hooks) for name, field in chosen.items()},
        }
        required = [keys[name] for name, field in chosen.items() if self.is_required(name, field, partial)]
        if required and not reshaped:
            body["required"] = required
        if self.view == "input":
            policy = unknown or schema.unknown
            body |= {"additionalProperties": False} if policy == RAISE else {}
            body |= _described(joined(*_whole_words(hooks)))
        return overlaid(body, getattr(schema.Meta, "json_schema", None))

    def is_required(self, name: str, field: fields.Field[Any], partial: Partial) -> bool:
        if self.view == "input":
            return field.required and not is_optional(partial, name) and _insists(field)
        made = isinstance(field, fields.Constant | fields.Function | fields.Method)
        return made or field.dump_default is not missing

    def named(self, name: str, field: fields.Field[Any], partial: Partial, hooks: tuple[Hook, ...]) -> JSONObject:
        """Convert a field of a schema, with its default and what the schema itself checks about it."""
        checks = [spoken(hook.method) for hook in hooks if hook.tag == "validates" and name in hook.fields]
        found = self.field(field, name, below(partial, name), checks if self.view == "input" else [])
        if self.view == "input" and not is_optional(partial, name):
            found |= default_of(field, name)
        return found

    def field(self, field: fields.Field[Any], name: str, partial: Partial, more: list[str]) -> JSONObject:
        """Convert a field wherever it stands."""
        try:
            shape, checks = self._constrained(field, self._shape(field, partial))
            schema = nullable(shape.schema) if field.allow_none else shape.schema
            words = [*shape.words, *(own_words(field) if self.view == "input" else ()), *checks, *more]
            return annotated(schema, field, words)
        except Unsatisfiable:
            raise ConversionError("its validators leave no value; drop the one that is wrong", name) from None
        except ConversionError as error:
            raise error.inside(name) from error.__cause__

    def _shape(self, field: fields.Field[Any], partial: Partial) -> Shape:
        turn = Turn(
            view=self.view,
            inner=lambda inner, name: self.field(inner, name, partial, []),
            nested=lambda nested: self.schema(schema_of(nested), self._inherited(nested, partial), nested.unknown),
            plucked=self._plucked,
        )
        said = _own_schema(field, self.view)
        if said is not None:
            return Shape(dict(said), "any")
        for kind in type(field).__mro__:
            if kind in self.table:
                given = self.table[kind]
                return Shape(dict(given(field) if callable(given) else given), "any")
            if kind.__module__.startswith("marshmallow."):
                break
        return known(field)(field, turn)

    def _inherited(self, nested: fields.Nested, partial: Partial) -> Partial:
        return schema_of(nested).partial if partial is None else partial

    def _plucked(self, nested: fields.Nested, name: str) -> JSONObject:
        schema = schema_of(nested)
        chosen = schema.load_fields if self.view == "input" else schema.dump_fields
        if name not in chosen:
            raise ConversionError(f"plucks {name!r}, which is not {self.view}; make the Pluck so too, or pluck another")
        return self.field(chosen[name], name, None, [])

    def _constrained(self, field: fields.Field[Any], shape: Shape) -> tuple[Shape, list[object]]:
        words: list[object] = []
        schema = shape.schema
        if self.view == "output" and shape.kind in ("other", "nested", "any"):
            return shape, words
        for validator in unfolded(field.validators):
            given = self.table.get(type(validator))
            if given is not None:
                schema = tightened(schema, dict(given(validator) if callable(given) else given))
                continue
            said = constrain(validator, Subject(field, schema, shape.kind))
            schema = tightened(schema, said.schema if self.view == "input" else _certain(said.schema))
            words += said.words
        return shape._replace(schema=schema), words if self.view == "input" else []


def _insists(field: fields.Field[Any]) -> bool:
    """Ask the field itself: a Constant that is required may be missing under marshmallow 4, not under 3."""
    try:
        field._validate_missing(missing)
    except ValidationError:
        return True
    return False


def _own_schema(field: Any, view: View) -> JSONObject | None:
    return field.json_schema(view) if callable(getattr(field, "json_schema", None)) else None


def _certain(said: JSONObject) -> JSONObject:
    """Leave out the formats of addresses, which dump what load takes: localhost, and letters beyond ASCII."""
    return {key: value for key, value in said.items() if key != "format"}


def _described(words: object) -> JSONObject:
    return {} if words is None else {"description": words}


def _whole_words(hooks: tuple[Hook, ...]) -> list[str]:
    return [
        spoken(hook.method)
        for hook in hooks
        if hook.tag == "validates_schema" or (hook.tag == "pre_load" and hook.method.__doc__)
    ]


def input_schema(schema: Schema, table: Table | None = None) -> JSONObject:
    """Give the JSON Schema of what a schema loads, as the arguments of a tool.

    Its root is an object that is closed unless the schema says INCLUDE. Raises `ConversionError`.
    """
    if schema.many:
        raise ConversionError("many=True makes a list, but arguments are one object; put the list in a field")
    result = _Conversion("input", table).root(schema)
    if result["type"] != "object" or not _COMBINATORS.isdisjoint(result):
        raise ConversionError(
            "Meta.json_schema gives the root another type or a combinator, for which clients drop all tools; "
            "say it in a description, or in the schema of a field"
        )
    result["additionalProperties"] = schema.unknown == INCLUDE
    return result


def output_schema(schema: Schema, table: Table | None = None) -> JSONObject:
    """Give the JSON Schema of what a schema dumps; with many=True that is an array. Raises `ConversionError`."""
    return _Conversion("output", table).root(schema)
