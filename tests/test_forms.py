"""The forms that users are asked to fill in, as clients are sent them: flat, and of kinds that they can draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import pytest
from marshmallow import fields
from marshmallow.validate import Length, OneOf, Range

from flask_arandu_mcp import Elicit

Form: TypeAlias = "Mapping[str, fields.Field[Any]]"  # text, since marshmallow 3 takes no type at run time

LETTERS = ["a", "b"]
TITLED = OneOf(LETTERS, labels=["A", "B"])
PAIRS = [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]
NAMED = {"json_schema": {"enumNames": ["A", "B"]}}

FIELDS: dict[str, tuple[fields.Field[Any], dict[str, Any]]] = {
    "text": (fields.String(validate=Length(1, 9)), {"type": "string", "minLength": 1, "maxLength": 9}),
    "text with a default": (fields.String(load_default="x"), {"type": "string", "default": "x"}),
    "an integer": (fields.Integer(validate=Range(0, 9)), {"type": "integer", "minimum": 0, "maximum": 9}),
    "a number": (fields.Float(load_default=0.5), {"type": "number", "default": 0.5}),
    "a boolean": (fields.Boolean(load_default=False), {"type": "boolean", "default": False}),
    "choices": (fields.String(validate=OneOf(LETTERS)), {"type": "string", "enum": LETTERS}),
    "choices, or none": (fields.String(validate=OneOf(LETTERS), allow_none=True), {"type": "string", "enum": LETTERS}),
    "titled choices": (fields.String(validate=TITLED), {"type": "string", "oneOf": PAIRS}),
    "titled choices, described": (
        fields.String(validate=TITLED, metadata={"title": "T", "description": "D"}),
        {"type": "string", "title": "T", "description": "D", "oneOf": PAIRS},
    ),
    "choices with names": (
        fields.String(validate=OneOf(LETTERS), metadata=NAMED),
        {"type": "string", "enum": LETTERS, "enumNames": ["A", "B"]},
    ),
    "several choices": (
        fields.List(fields.String(validate=OneOf(LETTERS)), validate=Length(1, 2), load_default=["a"]),
        {"type": "array", "minItems": 1, "maxItems": 2, "default": ["a"], "items": {"type": "string", "enum": LETTERS}},
    ),
    "several titled choices": (
        fields.List(fields.String(validate=TITLED)),
        {"type": "array", "items": {"anyOf": PAIRS}},
    ),
}

UNDRAWABLE: dict[str, fields.Field[Any]] = {
    "an object": fields.Nested({"a": fields.Integer()}),
    "anything": fields.Raw(),
    "a list of text": fields.List(fields.String()),
    "a list of objects": fields.List(fields.Dict()),
    "a tuple": fields.Tuple([fields.String()]),
}


@pytest.mark.parametrize(("field", "drawn"), FIELDS.values(), ids=FIELDS)
def test_a_field_is_shown_as_a_client_can_draw_it(field: fields.Field[Any], drawn: dict[str, Any]) -> None:
    """Each kind of field, and each style of choice, becomes the schema that the protocol has for it."""
    asked = Elicit("key", "Fill it in.", {"field": field}).params
    assert asked == {"message": "Fill it in.", "requestedSchema": {"type": "object", "properties": {"field": drawn}}}


@pytest.mark.parametrize("field", UNDRAWABLE.values(), ids=UNDRAWABLE)
def test_what_no_client_can_draw_is_refused(field: fields.Field[Any]) -> None:
    """A form is of text, numbers, booleans and choices; any other field is a mistake, which is named."""
    with pytest.raises(TypeError, match="question 'key': field 'it' cannot be drawn by a client"):
        Elicit("key", "Fill it in.", {"it": field})


def test_required_fields_and_other_names_are_said() -> None:
    """A form lists what must be filled in, under the names that the answer comes back with."""
    form = {"class_": fields.String(required=True, data_key="class"), "other": fields.String()}
    schema: Any = Elicit("key", "Fill it in.", form).params["requestedSchema"]
    assert schema["required"] == ["class"]
    assert list(schema["properties"]) == ["class", "other"]


def test_an_answer_is_loaded_by_the_form() -> None:
    """What comes back is loaded by the fields, under marshmallow's names; a default stands for what is missing."""
    form: Form = {"class_": fields.Integer(required=True, data_key="class"), "other": fields.String(load_default="x")}
    answer = Elicit("key", "Fill it in.", form).answer({"action": "accept", "content": {"class": 3}})
    assert answer.accepted
    assert answer.content == {"class_": 3, "other": "x"}
