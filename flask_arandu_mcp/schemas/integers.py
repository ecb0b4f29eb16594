"""Make integers of the floats that stand for one, before marshmallow sees them, and let no other float be cut off.
marshmallow's Integer makes 3 of 3.7; a tool must not run with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeAlias

from marshmallow import Schema, fields

from .nesting import is_many, schema_of, sent_name, signature

Plan: TypeAlias = Callable[[object], object]
"""Gives the value that marshmallow is to see: the same object where there is nothing to do."""


class Inexact(float):
    """A number that is no integer. It refuses to be made one, so that the field itself says what is wrong."""

    __slots__ = ()

    def __int__(self) -> int:
        raise ValueError("not an integer")

    __trunc__ = __int__


def _whole(value: object) -> object:
    if type(value) is not float:
        return value
    return int(value) if value.is_integer() else Inexact(value)


def _whole_span(value: object) -> object:
    return Inexact(value) if isinstance(value, bool) else _whole(value)


def _each(plan: Plan) -> Plan:
    def run(value: object) -> object:
        if not isinstance(value, list):
            return value
        made = [plan(item) for item in value]
        return made if any(new is not old for new, old in zip(made, value, strict=True)) else value

    return run


def _values(plan: Plan) -> Plan:
    def run(value: object) -> object:
        return {key: plan(item) for key, item in value.items()} if isinstance(value, dict) else value

    return run


def _positions(plans: list[Plan | None]) -> Plan:
    def run(value: object) -> object:
        if not isinstance(value, list) or len(value) != len(plans):
            return value
        return [item if plan is None else plan(item) for plan, item in zip(plans, value, strict=True)]

    return run


def _members(steps: list[tuple[str, Plan]]) -> Plan:
    def run(value: object) -> object:
        if not isinstance(value, dict):
            return value
        copy = None
        for key, plan in steps:
            if key in value:
                old = value[key]
                new = plan(old)
                if new is not old:
                    copy = dict(value) if copy is None else copy
                    copy[key] = new
        return value if copy is None else copy

    return run


class _Planner:
    """Find the places of integers in a schema, once for each schema that lies in it."""

    def __init__(self) -> None:
        self.known: dict[Hashable, Plan | None] = {}
        self.open: set[Hashable] = set()

    def schema(self, schema: Schema) -> Plan | None:
        key = signature(schema, None, schema.unknown)
        if key in self.open:
            return lambda value: plan(value) if (plan := self.known[key]) else value
        if key not in self.known:
            self.open.add(key)
            steps = [
                (sent_name(name, field), plan)
                for name, field in schema.load_fields.items()
                if (plan := self.field(field)) is not None
            ]
            self.known[key] = _members(steps) if steps else None
            self.open.discard(key)
        return self.known[key]

    def field(self, field: fields.Field[Any]) -> Plan | None:
        if isinstance(field, fields.Integer):
            return _whole
        if isinstance(field, fields.TimeDelta):
            return _whole_span if getattr(field, "serialization_type", float) is int else None
        if isinstance(field, fields.Tuple):
            plans = [self.field(inner) for inner in field.tuple_fields]
            return _positions(plans) if any(plans) else None
        if isinstance(field, fields.Nested):
            return self._nested(field)
        inner, wrap = self._inner(field)
        plan = None if inner is None else self.field(inner)
        return None if plan is None else wrap(plan)

    def _inner(self, field: fields.Field[Any]) -> tuple[fields.Field[Any] | None, Callable[[Plan], Plan]]:
        if isinstance(field, fields.List):
            return field.inner, _each
        if isinstance(field, fields.Mapping):
            return field.value_field, _values
        if isinstance(field, fields.Enum) and field.by_value:
            return field.field, lambda plan: plan
        return None, _values

    def _nested(self, field: fields.Nested) -> Plan | None:
        schema = schema_of(field)
        inner = schema.fields[field.field_name] if isinstance(field, fields.Pluck) else None
        plan = self.schema(schema) if inner is None else self.field(inner)
        return _each(plan) if plan is not None and is_many(field) else plan


def raw_plan(schema: object) -> Plan | None:
    """Compile the same from a JSON Schema of the author's own, as far as it is written out and not referred to."""
    if not isinstance(schema, dict):
        return None
    kind = schema.get("type")
    if kind == "integer" or (isinstance(kind, list) and "integer" in kind and "number" not in kind):
        return _whole
    if (items := raw_plan(schema.get("items"))) is not None:
        return _each(items)
    given = schema.get("properties")
    known = {key: raw_plan(each) for key, each in given.items()} if isinstance(given, dict) else {}
    steps = [(key, plan) for key, plan in known.items() if plan is not None]
    return _members(steps) if steps else None


def integer_plan(schema: Schema) -> Plan | None:
    """Compile what makes integers of integral floats all over a value, or None where a schema has no integer."""
    return _Planner().schema(schema)


def field_plan(field: fields.Field[Any]) -> Plan | None:
    """Compile the same for the values of one field."""
    return _Planner().field(field)
