"""Test fields and validators in the combinations that are easily got wrong."""

from __future__ import annotations

import datetime as dt
import enum
from decimal import Decimal
from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields, validate, validates

from flask_arandu_mcp.results import ResultFault, Results
from flask_arandu_mcp.schemas.convert import ConversionError, input_schema, output_schema


class Kind(enum.Enum):
    one = 1
    none = None


class Mixed(enum.Enum):
    a = 1
    b = "x"
    c = 1.5


class Day(enum.Enum):
    first = dt.date(2024, 1, 1)


class Tree(Schema):
    up = fields.Nested(lambda: Tree(), allow_none=True)
    n = fields.Integer()


def taken(field: Any) -> dict[str, Any]:
    found: Any = input_schema(Schema.from_dict({"x": field})())["properties"]
    shown: dict[str, Any] = found["x"]
    return shown


def given_back(field: Any) -> dict[str, Any]:
    found: Any = output_schema(Schema.from_dict({"x": field})())["properties"]
    shown: dict[str, Any] = found["x"]
    return shown


def ranged(**ends: Any) -> validate.Range:
    return validate.Range(**ends)


TAKEN: list[tuple[Any, dict[str, Any]]] = [
    (fields.Enum(Kind, by_value=True, allow_none=True), {"type": ["integer", "null"], "enum": [1, None]}),
    (fields.Enum(Mixed, by_value=True), {"type": ["string", "number"], "enum": [1, "x", 1.5]}),
    (fields.Enum(Day, by_value=fields.Date), {"type": "string", "enum": ["2024-01-01"]}),
    (fields.Constant(None, allow_none=True), {"type": "null"}),
    (fields.Constant([1]), {"type": "array", "const": [1], "items": {}}),
    (fields.Constant(dt.date(2024, 1, 1)), {}),
    (fields.Boolean(truthy=set()), {"type": "boolean"}),
    (fields.Boolean(truthy={"ja"}, falsy={"nein"}), {"type": "string", "enum": ["ja", "nein"]}),
    (fields.Boolean(validate=validate.Equal(True)), {"type": "boolean", "const": True}),
    (fields.Boolean(validate=validate.OneOf([1])), {"type": "boolean", "enum": [True]}),
    (fields.Decimal(validate=ranged(max=Decimal("0.1"))), {"type": "number", "maximum": 0.1}),
    (
        fields.Float(validate=[ranged(min=1), ranged(min=2, max=9), ranged(max=5)]),
        {"type": "number", "minimum": 2, "maximum": 5},
    ),
    (fields.Integer(validate=validate.OneOf([1, 1.0, 2.5, "x"])), {"type": "integer", "enum": [1]}),
    (fields.Integer(as_string=True, strict=True), {"type": "integer"}),
    (
        fields.List(fields.Integer, validate=validate.OneOf([[1], [2]])),
        {"type": "array", "items": {"type": "integer"}, "enum": [[1], [2]]},
    ),
    (
        fields.List(fields.Integer(), validate=validate.ContainsOnly(["x"])),
        {"type": "array", "items": {"type": "integer"}, "maxItems": 0},
    ),
    (fields.Tuple(()), {"type": "array", "items": {}, "minItems": 0, "maxItems": 0}),
    (
        fields.Dict(keys=fields.String(validate=validate.OneOf(["a"]))),
        {"type": "object", "propertyNames": {"enum": ["a"]}},
    ),
    (
        fields.Dict(keys=fields.Float()),
        {"type": "object", "propertyNames": {"pattern": "^-?[0-9]{1,300}(?:\\.[0-9]{1,300})?$"}},
    ),
    (fields.Dict(keys=fields.Raw()), {"type": "object"}),
    (
        fields.String(validate=[validate.NoneOf(["a"]), validate.NoneOf(["b", None])]),
        {"type": "string", "not": {"enum": ["a", "b"]}},
    ),
    (fields.Raw(validate=validate.Regexp("a")), {"not": {"type": "null"}, "type": "string", "pattern": "^(?:a)"}),
    (fields.Raw(validate=ranged(min=1)), {"not": {"type": "null"}, "type": "number", "minimum": 1}),
    (fields.Raw(allow_none=True), {}),
    (fields.Raw(validate=validate.NoneOf([1])), {"not": {"type": "null"}, "allOf": [{"not": {"enum": [1]}}]}),
]

WORDED: list[tuple[Any, str]] = [
    (fields.String(validate=validate.OneOf("abc")), "Must be one of: a, b, c"),
    (fields.String(validate=validate.NoneOf("abc")), "None of: a, b, c"),
    (fields.Date(validate=validate.NoneOf([dt.date(2024, 1, 1)])), "None of: 2024-01-01"),
    (fields.Integer(validate=ranged(min=dt.date(2024, 1, 1))), "Must be at least 2024-01-01"),
    (fields.Float(validate=ranged(max=float("inf"))), "Must be at most inf"),
    (fields.Integer(as_string=True, validate=ranged(max=5, max_inclusive=False)), "at most but not 5"),
    (fields.Raw(validate=validate.Equal(object())), "Must equal"),
    (fields.Nested({"a": fields.Integer()}, validate=validate.Length(max=3)), "Its length must be 0 to 3"),
    (fields.Dict(keys=fields.Integer(), validate=validate.Length(equal=2)), "Its length must be 2 to 2"),
    (fields.String(validate=validate.ContainsOnly("ab")), "Must be one of: a, b"),
    (fields.String(validate=validate.ContainsNoneOf("ab")), "None of: a, b"),
    (fields.String(validate=validate.Predicate("isalpha")), "Checked further by the application (Predicate)"),
    (fields.Dict(keys=fields.Date()), "Names: An ISO 8601 date"),
    (fields.Url(schemes={"https"}), "begins with https://"),
    (fields.Decimal(places=2), "Rounded to 2 places"),
    (fields.TimeDelta("hours"), "in hours"),
    (fields.Time(format="%H.%M"), "A time as %H.%M, such as 23.59"),
    (fields.DateTime(format="own"), "A date and time in the application's own format 'own'"),
]


@pytest.mark.parametrize(("field", "expected"), TAKEN)
def test_what_is_taken(field: Any, expected: dict[str, Any]) -> None:
    """A field is shown as what it loads, and as nothing else."""
    assert taken(field) == expected


@pytest.mark.parametrize(("field", "words"), WORDED)
def test_what_only_words_can_say(field: Any, words: str) -> None:
    """What JSON Schema has no keyword for stands in the description."""
    assert words in taken(field)["description"]


def test_a_decimal_with_places_is_bounded_on_its_grid() -> None:
    """Rounding comes before the bounds, so that an open bound is the next value on the grid of places."""
    field = fields.Decimal(places=2, validate=ranged(min=0, min_inclusive=False, max=Decimal("9.999")))
    found = taken(field)
    assert (found["minimum"], found["maximum"]) == (0.01, 9.99)


def test_a_validator_that_checks_otherwise_is_not_read_as_its_ancestor() -> None:
    """A subclass with a __call__ of its own is the app's code; one without is what it inherits from."""

    class Odd(validate.Range):
        def __call__(self, value: Any) -> Any:
            return value

    class Named(validate.Range):
        pass

    assert "minimum" not in taken(fields.Integer(validate=Odd(min=1)))
    assert taken(fields.Integer(validate=Named(min=1)))["minimum"] == 1


def test_validates_is_said_at_its_field() -> None:
    """A method marked with @validates is said in the description of the field that it is about."""

    class Checked(Schema):
        a = fields.String()
        b = fields.String()

        @validates("a")
        def known(self, value: str, **kwargs: Any) -> None:
            """Only what is known."""
            raise ValidationError("no")

    found: Any = input_schema(Checked())["properties"]
    assert found["a"]["description"] == "Checked further: Only what is known."
    assert found["b"] == {"type": "string"}


def test_a_required_constant_is_asked() -> None:
    """Whether a required Constant may be missing differs between the majors; the field itself decides."""
    schema = Schema.from_dict({"x": fields.Constant(1, required=True)})()
    assert ("required" in input_schema(schema)) is bool(schema.validate({}))


def test_a_nullable_cycle_takes_null() -> None:
    """A reference that may be null is an anyOf, and dumps of both kinds go out."""
    reference = {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]}
    found: Any = input_schema(Tree())["properties"]
    assert found["up"] == reference
    results = Results(Tree, name="t")
    assert results.dump({"up": {"up": None, "n": 1}}) == {"up": {"up": None, "n": 1}}
    with pytest.raises(ResultFault, match=r"result\.up\.n"):
        results.dump({"up": {"n": None}})


def test_what_goes_out_names_only_sure_formats() -> None:
    """Addresses go out as they were stored, so that their formats are not promised; dates and zones are."""
    assert given_back(fields.Email()) == {"type": "string"}
    assert given_back(fields.Url(validate=validate.Length(max=9))) == {"type": "string", "maxLength": 9}
    assert "format" not in given_back(fields.UUID())
    assert given_back(fields.Date())["format"] == "date"
    assert given_back(fields.AwareDateTime(default_timezone=dt.timezone.utc))["format"] == "date-time"  # noqa: UP017  # marshmallow 3's spelling
    assert given_back(fields.Decimal())["type"] == "string"
    assert given_back(fields.Integer(as_string=True, strict=True))["type"] == "string"
    assert given_back(fields.Float(as_string=True))["type"] == "string"
    assert given_back(fields.Boolean()) == {"type": "boolean"}
    assert given_back(fields.Dict(keys=fields.Integer())) == {"type": "object"}


def test_a_root_that_clients_refuse_stops_the_app() -> None:
    """A combinator at the root costs all tools at some clients; it is refused at boot."""

    class Either(Schema):
        class Meta:
            json_schema = {"oneOf": [{"required": ["a"]}]}

        a = fields.String()

    with pytest.raises(ConversionError, match="combinator"):
        input_schema(Either())


def test_a_keyword_given_as_none_is_taken_away() -> None:
    """An author may take a keyword away as well as add one."""
    field = fields.Date(metadata={"json_schema": {"format": None, "minLength": 1}})
    assert taken(field) == {"type": "string", "minLength": 1, "description": "An ISO 8601 date, such as 2024-12-31"}


def test_what_an_author_adds_to_a_result_is_checked() -> None:
    """Keywords of the author's own hold for what goes out, as far as the check knows them."""
    more = {"allOf": [{"pattern": "^a"}, {"minLength": 2}], "format": "date"}
    closed = {"additionalProperties": False, "properties": {"a": {"type": "string"}}}
    pinned = Results(
        {
            "s": fields.String(metadata={"json_schema": more}),
            "d": fields.Dict(metadata={"json_schema": closed}),
            "o": fields.Raw(metadata={"json_schema": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}),
            "t": fields.Tuple((fields.Integer(), fields.String())),
        },
        name="t",
    )
    assert pinned.dump({"d": {"a": "x"}, "o": 1, "t": (1, "x")}) == {"d": {"a": "x"}, "o": 1, "t": [1, "x"]}
    for wrong in ({"s": "b"}, {"s": "a"}, {"s": "ab"}, {"d": {"b": 1}}, {"o": 1.5}, {"t": ("x", 1)}):
        with pytest.raises(ResultFault):
            pinned.dump(wrong)
