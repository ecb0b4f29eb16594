"""Schemas and values for both ways of native values, drawn by hypothesis from what marshmallow has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

from hypothesis import strategies as st
from marshmallow import EXCLUDE, INCLUDE, RAISE, Schema, ValidationError, fields, validate

MakeField: TypeAlias = "Callable[..., fields.Field[Any]]"

SCALARS: list[MakeField] = [
    fields.String,
    fields.Integer,
    lambda **given: fields.Integer(strict=True, **given),
    lambda **given: fields.Integer(as_string=True, **given),
    fields.Float,
    fields.Boolean,
    lambda **given: fields.Boolean(truthy={"si"}, falsy={"no"}, **given),
    fields.Date,
    fields.Decimal,
    fields.Raw,
]
NAMES = ["a", "b", "c", "d"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.floats(allow_nan=False, allow_infinity=False, width=16),
    st.sampled_from(["", "a", "3", "-1", "2.5", "si", "true", "é", "2026-11-30", "long enough"]),
)
DATA = st.recursive(
    VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=4)),
    max_leaves=12,
)


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    """The options of a field."""
    given: dict[str, Any] = {}
    if draw(st.booleans()):
        given["allow_none"] = draw(st.booleans())
    given |= draw(
        st.sampled_from([{}, {"required": True}, {"load_default": 7}, {"load_default": list}, {"dump_default": "gone"}])
    )
    given |= draw(st.sampled_from([{}, {}, {"validate": validate.OneOf(["a", 3, True])}, {"validate": _short}]))
    return given


def _short(value: object) -> None:
    if len(str(value)) > 3:
        raise ValidationError("too long")


@st.composite
def a_field(draw: st.DrawFn, depth: int = 2) -> fields.Field[Any]:
    """A field, of which some nest others."""
    given = draw(options())
    kind = draw(st.sampled_from(["scalar", "scalar", "list", "nested"] if depth else ["scalar"]))
    if kind == "list":
        return fields.List(draw(a_field(depth - 1)), **given)
    if kind == "nested":
        return fields.Nested(draw(schemas(depth - 1)), many=draw(st.booleans()), **given)
    return draw(st.sampled_from(SCALARS))(**given)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2) -> type[Schema]:
    """A class of schemas."""
    members = draw(st.dictionaries(st.sampled_from(NAMES), a_field(depth), max_size=4))
    for name, field in members.items():
        field.data_key = draw(st.sampled_from([None, None, f"{name}_sent"]))
        field.attribute = draw(st.sampled_from([None, None, f"{name}_kept", f"{name}.inner"]))
    meta = type("Meta", (), {"unknown": draw(st.sampled_from([RAISE, RAISE, EXCLUDE, INCLUDE]))})
    return type("Drawn", (Schema,), {**members, "Meta": meta})


@st.composite
def fitting(draw: st.DrawFn, schema: Schema) -> dict[str, object]:
    """Values of which most fit a schema, by the names that it loads."""
    unknown: dict[str, object] = {"x": 1} if draw(st.integers(0, 5)) == 0 else {}
    return unknown | {
        name if field.data_key is None else field.data_key: draw(_fitting(draw, field))
        for name, field in schema.fields.items()
        if draw(st.integers(0, 5))
    }


def _fitting(draw: st.DrawFn, field: fields.Field[Any]) -> st.SearchStrategy[Any]:
    if isinstance(field, fields.List):
        return st.lists(_fitting(draw, field.inner), max_size=3)
    if isinstance(field, fields.Nested):
        one = fitting(field.schema)
        return st.lists(one, max_size=2) if field.many else one
    kinds: list[tuple[type, st.SearchStrategy[Any]]] = [
        (fields.Integer, st.integers(-3, 9)),
        (fields.Float, st.floats(-9, 9, width=16)),
        (fields.Boolean, st.booleans()),
        (fields.String, st.sampled_from(["a", "é", "3", "long enough"])),
        (fields.Date, st.just(dt.date(2026, 11, 30))),
    ]
    fits = next((values for kind, values in kinds if isinstance(field, kind)), VALUES)
    return fits if draw(st.integers(0, 9)) else DATA


def as_object(value: object) -> object:
    """A value with objects in the place of its dicts."""
    if isinstance(value, dict):
        return SimpleNamespace(**{str(key): as_object(item) for key, item in value.items()})
    return [as_object(item) for item in value] if isinstance(value, list) else value
