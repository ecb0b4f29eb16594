"""Test what becomes of what a client sends."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import pytest
from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, fields, post_load, validate, validates_schema

from flask_arandu_mcp.arguments import Argument, ArgumentFaults, Arguments, ConversionError, faults_of

MARSHMALLOW_3 = version("marshmallow").startswith("3.")


class Role(Schema):
    name = fields.String(required=True, data_key="Name")


class Address(Schema):
    city = fields.String()


class Lazy:
    """A text that is translated when it is read."""

    def __str__(self) -> str:
        return "übersetzt"


def made(declared: Any) -> Arguments:
    return Arguments(declared, name="tool 't'")


def faults(declared: Any, raw: Mapping[str, object], **options: bool) -> tuple[str, ...]:
    with pytest.raises(ArgumentFaults) as refusal:
        made(declared).load(raw, **options)
    return refusal.value.faults


def test_m01_no_arguments_take_nothing() -> None:
    """Without a declaration there is the empty closed object, and whatever is sent is refused."""
    arguments = made(None)
    assert arguments.input_schema == {"type": "object", "properties": {}, "additionalProperties": False}
    assert arguments.load({}) == {}
    assert arguments.fields == ()
    assert faults(None, {"x": 1}) == ("x: Unknown field.",)


def test_m07_null_is_refused_and_said_so() -> None:
    """An explicit null for what takes none names the argument and says to leave it out."""
    declared = {"q": fields.String(required=True), "limit": fields.Integer(load_default=10), "since": fields.Date()}
    found = faults(declared, {"q": "x", "limit": None, "since": None})
    assert found == ("limit: null is not allowed, leave it out", "since: null is not allowed, leave it out")
    assert faults(declared, {"q": None}) == ("q: null is not allowed, give a value",)
    assert faults(declared, {"q": "x", "since": "null"}) == ("since: Not a valid date.",)
    assert made(declared).load({"q": "x"}) == {"q": "x", "limit": 10}


def test_m07_null_is_a_value_where_the_field_says_so() -> None:
    """allow_none lets null through, and an author's own words about null are kept."""
    declared = {"a": fields.Integer(allow_none=True), "b": fields.Integer(error_messages={"null": "No null here."})}
    assert made(declared).load({"a": None}) == {"a": None}
    assert faults(declared, {"b": None}) == ("b: No null here.",)


def test_m16_unknown_arguments_are_refused_at_the_root() -> None:
    """Even a schema that says EXCLUDE refuses what nobody declared, with all the other faults."""

    class Lenient(Schema):
        class Meta:
            unknown = EXCLUDE

        n = fields.Integer()
        home = fields.Nested(Address, unknown=EXCLUDE)
        work = fields.Nested(Address)

    assert faults(Lenient, {"zip": 1, "n": "x"}) == ("zip: Unknown field.", "n: Not a valid integer.")
    assert faults(Lenient, {"work": {"zip": 1}}) == ("work.zip: Unknown field.",)
    assert made(Lenient).load({"home": {"city": "c", "zip": 1}}) == {"home": {"city": "c"}}
    assert made(Lenient).input_schema["additionalProperties"] is False
    assert not made(Lenient).include


def test_m16_include_lets_everything_in() -> None:
    """INCLUDE at the root is a declaration that anything goes."""

    class Open(Schema):
        class Meta:
            unknown = INCLUDE

    arguments = made(Open)
    assert arguments.include
    assert arguments.load({"x": 1}) == {"x": 1}


@pytest.mark.parametrize(
    ("sent", "expected"), [(3, 3), (3.0, 3), ("3", 3), (" 3 ", 3), (1e2, 100), (1e300, int(1e300))]
)
def test_m18_integral_numbers_are_integers(sent: object, expected: int) -> None:
    """What stands for an integer is one, and no float reaches the handler."""
    loaded = made({"n": fields.Integer()}).load({"n": sent})
    assert loaded == {"n": expected}
    assert isinstance(loaded, dict)
    assert type(loaded["n"]) is int


@pytest.mark.parametrize("sent", [3.7, True, False, "3.7", -0.5, [], {}])
@pytest.mark.parametrize("strict", [False, True])
def test_m18_nothing_else_is_cut_off(sent: object, strict: bool) -> None:
    """3.7 and true are refused by name, never truncated, strict or not."""
    assert faults({"n": fields.Integer(strict=strict)}, {"n": sent}) == ("n: Not a valid integer.",)


def test_m18_strict_takes_integral_floats() -> None:
    """strict=True refuses text, not 3.0, which JSON Schema calls an integer."""
    declared = {"n": fields.Integer(strict=True)}
    assert made(declared).load({"n": 3.0}) == {"n": 3}
    assert faults(declared, {"n": "3"}) == ("n: Not a valid integer.",)


def test_m18_integers_are_found_everywhere() -> None:
    """Integers are looked after in nested objects, lists, dicts, tuples, plucks and cycles."""

    class Count(Schema):
        n = fields.Integer(strict=True)
        more = fields.List(fields.Nested(lambda: Count()))

    declared = {
        "one": fields.Nested(Count),
        "many": fields.Nested(Count, many=True),
        "ids": fields.List(fields.Integer(strict=True)),
        "by": fields.Dict(values=fields.Integer(strict=True)),
        "pair": fields.Tuple((fields.String(), fields.Integer(strict=True))),
        "pick": fields.Pluck(Count, "n"),
        "picks": fields.Pluck(Count, "n", many=True),
    }
    sent = {
        "one": {"n": 1.0, "more": [{"n": 2.0, "more": [{"n": 3.0}]}]},
        "many": [{"n": 4.0}],
        "ids": [5.0],
        "by": {"a": 6.0},
        "pair": ["x", 7.0],
        "pick": 8.0,
        "picks": [9.0],
    }
    assert made(declared).load(sent) == {
        "one": {"n": 1, "more": [{"n": 2, "more": [{"n": 3}]}]},
        "many": [{"n": 4}],
        "ids": [5],
        "by": {"a": 6},
        "pair": ("x", 7),
        "pick": {"n": 8},
        "picks": [{"n": 9}],
    }
    assert faults(declared, {"one": {"more": [{"n": 2.5}]}, "by": {"a": 6.5}, "pair": ["x", 0.5]}) == (
        "one.more.0.n: Not a valid integer.",
        "by.a: Not a valid integer.",
        "pair.1: Not a valid integer.",
    )
    assert sent["ids"] == [5.0]


def test_m18_other_scalars_are_marshmallows() -> None:
    """Booleans, floats, texts and decimals are coerced or refused as the fields say."""
    declared = {"b": fields.Boolean(), "f": fields.Float(), "s": fields.String(), "d": fields.Decimal()}
    loaded = made(declared).load({"b": "false", "f": "1.5", "d": 0.1})
    assert loaded == {"b": False, "f": 1.5, "d": Decimal("0.1")}
    assert faults(declared, {"b": 2, "f": True, "s": 5}) == (
        "b: Not a valid boolean.",
        "f: Not a valid number.",
        "s: Not a valid string.",
    )
    assert faults(declared, {"b": []}) == ("b: Not a valid boolean.",)


def test_m18_what_is_no_number_is_refused_anywhere() -> None:
    """A number that is not finite and half a surrogate pair are faults with their places."""
    declared = {"f": fields.Float(allow_nan=True), "any": fields.Raw()}
    found = faults(declared, {"f": float("inf"), "any": [{"a": float("nan"), "b": "\ud800"}, {"\udfff": 1}]})
    assert [fault.partition(": ")[0] for fault in found] == ["f", "any.0.a", "any.0.b", "any.1"]
    assert made(declared).load({"any": "é😀"}) == {"any": "é😀"}
    assert all(fault.isprintable() for fault in faults(declared, {"é\ud800": 1}))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"filter": '{"a":1}'}, "filter: expected an object, got a string"),
        ({"filter": "not json"}, "filter: expected an object, got a string"),
        ({"ids": "[1,2]"}, "ids: expected an array, got a string"),
        ({"ids": "1,2"}, "ids: expected an array, got a string"),
        ({"opts": "{}"}, "opts: expected an object, got a string"),
        ({"pair": {}}, "pair: expected an array, got an object"),
        ({"many": {}}, "many: expected an array, got an object"),
        ({"filter": [1]}, "filter: expected an object, got an array"),
    ],
)
def test_m19_text_in_place_of_an_object_is_refused(raw: Mapping[str, object], expected: str) -> None:
    """JSON text is never decoded; the fault says what was expected and what came."""
    declared = {
        "filter": fields.Nested(Address),
        "ids": fields.List(fields.Integer()),
        "opts": fields.Dict(),
        "note": fields.String(),
        "pair": fields.Tuple((fields.Integer(),)),
        "many": fields.Nested(Address, many=True),
    }
    assert faults(declared, raw) == (expected,)
    assert made(declared).load({"note": '{"a":1}'}) == {"note": '{"a":1}'}


def test_an_unknown_name_is_told_as_it_was_sent() -> None:
    """The attribute's name, sent in the place of its data_key, is the name that is unknown, at any depth."""

    class Inner(Schema):
        x = fields.Integer(data_key="X")

    declared = {"k": fields.String(data_key="K-k"), "n": fields.Nested(Inner)}
    assert set(faults(declared, {"k": "v", "n": {"x": 1}})) == {"k: Unknown field.", "n.x: Unknown field."}


def test_m20_every_fault_has_its_path() -> None:
    """Faults are told by data_key names and indexes, all at once, those of the whole without a path."""

    class Team(Schema):
        roles = fields.Nested(Role, many=True)
        ids = fields.List(fields.Integer())
        class_ = fields.String(required=True, data_key="class")

        @validates_schema(skip_on_field_errors=False)
        def whole(self, data: Any, **kwargs: Any) -> None:
            raise ValidationError("Nobody leads.")

        @validates_schema(skip_on_field_errors=False)
        def part(self, data: Any, **kwargs: Any) -> None:
            raise ValidationError("Too many.", "class_")

    assert set(faults(Team, {"roles": ["x", {}], "ids": [1, "y"]})) == {
        "roles.0: expected an object, got a string",
        "roles.1.Name: Missing data for required field.",
        "ids.1: Not a valid integer.",
        "class: Missing data for required field.",
        "class: Too many.",
        "Nobody leads.",
    }


def test_m20_messages_of_every_shape_are_laid_flat() -> None:
    """Indexes beside `_schema`, lazy texts and messages that are no list are told alike."""
    mixed: Any = {0: ["a"], "_schema": ["b"], "x": {"y": "c", "_schema": Lazy()}, "z": ({"deep": ["d"]}, 5)}
    assert faults_of(ValidationError(mixed)) == ("0: a", "b", "x.y: c", "x: übersetzt", "z.deep: d", "z: 5")
    assert faults_of(ValidationError("one")) == ("one",)
    assert faults_of(ValidationError(["one", "one"], "field")) == ("field: one",)


def test_m20_what_a_validator_raises_besides_is_not_caught() -> None:
    """An error in the app's own validator is the app's, not a fault of the arguments."""

    def broken(value: object) -> None:
        raise KeyError(value)

    with pytest.raises(KeyError):
        made({"a": fields.String(validate=broken)}).load({"a": "x"})


def test_m20_secrets_are_not_repeated() -> None:
    """No message repeats what was sent for a load_only field, wherever the message stands."""

    class Login(Schema):
        user = fields.String()
        pw = fields.String(load_only=True, validate=validate.Regexp("^x", error="{input} is weak"))
        keys = fields.Nested({"key": fields.String()}, load_only=True)

        @validates_schema(skip_on_field_errors=False)
        def whole(self, data: Any, **kwargs: Any) -> None:
            raise ValidationError("hunter2 does not fit u and s3cret")

    found = faults(Login, {"user": "u", "pw": "hunter2", "keys": {"key": "s3cret"}})
    assert found == ("pw: Invalid value.", "*** does not fit u and ***")


@pytest.mark.filterwarnings("ignore:Returning `False`")  # of the last releases of marshmallow 3
def test_m21_a_validator_that_returns_false_says_what_marshmallow_hears() -> None:
    """marshmallow 3 reads what a validator returns; under marshmallow 4 it must raise, and the value is loaded."""
    declared = {"n": fields.Integer(validate=lambda value: value > 3)}
    if MARSHMALLOW_3:
        assert faults(declared, {"n": 1}) == ("n: Invalid value.",)
    else:
        assert made(declared).load({"n": 1}) == {"n": 1}


def test_m13_a_missing_method_stops_the_app() -> None:
    """A Method field without its method is named with its tool, schema and field."""

    class Broken(Schema):
        x = fields.Method("missing_method")

    with pytest.raises(ConversionError, match=r"tool 't': x: Broken has no method 'missing_method'"):
        made(Broken)


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"a": "string"}, "a: is 'string'"),
        ({"Meta": fields.String()}, "Meta: marshmallow keeps"),
        (Role(many=True), "many=True"),
        (int, "is no schema"),
        ({"type": "array"}, "type: object"),
    ],
)
def test_declarations_that_are_none_stop_the_app(declared: Any, expected: str) -> None:
    """What cannot be arguments is refused at boot, with the name of who declares it."""
    with pytest.raises(ConversionError, match=expected) as refusal:
        made(declared)
    assert str(refusal.value).startswith("tool 't': ")


def test_a_schema_that_wants_arguments_of_its_own_is_named() -> None:
    """A Schema class that cannot be made without arguments says to give an instance."""

    class Needy(Schema):
        def __init__(self, *, need: int) -> None:
            super().__init__()

    with pytest.raises(ConversionError, match="Needy cannot be made"):
        made(Needy)


def test_arguments_are_listed_under_both_names() -> None:
    """Each argument has the handler's name and the client's, and whether it is needed or has a default."""

    class Given(Schema):
        class_ = fields.String(data_key="class", required=True, metadata={"title": "Class"})
        n = fields.Integer(load_default=1, attribute="number", metadata={"description": "How many"})
        id = fields.Integer(dump_only=True)
        deep = fields.String(attribute="a.b")

    assert made(Given).fields == (
        Argument("class_", "class", True, False, None, "Class"),
        Argument("number", "n", False, True, "How many", None),
        Argument("a", "deep", False, False, None, None),
    )


def test_the_loaded_value_is_what_the_schema_makes() -> None:
    """post_load decides what the handler gets, and partial lets fields be missing without defaults."""

    class Point(Schema):
        x = fields.Integer(required=True)
        y = fields.Integer(load_default=0)

        @post_load
        def make(self, data: Any, **kwargs: Any) -> Any:
            return tuple(data.items())

    assert made(Point).load({"x": 1.0}) == (("x", 1), ("y", 0))
    partial = made(Point(partial=True))
    assert partial.load({}) == ()
    assert [(each.required, each.default) for each in partial.fields] == [(False, False), (False, False)]


def test_arguments_nested_too_deeply_are_a_fault() -> None:
    """What exhausts Python's stack is told as a fault, in both walks."""

    class Tree(Schema):
        up = fields.Nested(lambda: Tree())

    raw: dict[str, object] = {}
    for _ in range(sys.getrecursionlimit()):
        raw = {"up": raw}
    assert faults(Tree, raw) == ("the arguments are nested too deeply, send flatter ones",)


RAW = {"type": "object", "properties": {"n": {"type": "integer"}, "pin": {"type": "string", "writeOnly": True}}}


def test_a_raw_schema_is_passed_through_whole() -> None:
    """An author's own JSON Schema is shown as it is and checked by jsonschema, by path."""
    arguments = made({**RAW, "required": ["n"], "$comment": "kept"})
    assert arguments.input_schema == {**RAW, "required": ["n"], "$comment": "kept"}
    assert arguments.schema is None
    assert [(each.key, each.required) for each in arguments.fields] == [("n", True), ("pin", False)]
    assert arguments.load({"n": 3}) == {"n": 3}
    assert repr(arguments.load({"n": 3.0})) == "{'n': 3}"
    with pytest.raises(ArgumentFaults) as refusal:
        arguments.load({"n": "x", "pin": 12345, "y": 1})
    assert refusal.value.faults == ("y: Unknown field.", "n: 'x' is not of type 'integer'", "pin: Invalid value.")


def test_a_raw_schema_that_is_open_takes_what_nobody_declared() -> None:
    """additionalProperties that is not false is the author's INCLUDE."""
    arguments = made({"type": "object", "additionalProperties": {"type": "integer"}})
    assert arguments.include
    assert arguments.input_schema["properties"] == {}
    assert arguments.load({"x": 1}) == {"x": 1}
    with pytest.raises(ArgumentFaults):
        arguments.load({"x": "y"})


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"a": {"$ref": "https://example.org/schema"}}, "nothing is fetched"),
        ({"a": {"items": [{"$ref": "other.json"}]}}, "nothing is fetched|not valid"),
        ({"a": {"$ref": "#/$defs/none"}}, "has no '#/"),
        ({"a": {"type": "strin"}}, "is not valid at"),
        ({"a": {"const": {1, 2}}}, "is not JSON"),
    ],
)
def test_a_raw_schema_that_cannot_be_checked_stops_the_app(properties: dict[str, object], expected: str) -> None:
    """A reference to elsewhere, to nothing, or a schema that is none, is a fault at boot."""
    with pytest.raises(ConversionError, match=expected):
        made({"type": "object", "properties": properties})


def test_a_reference_in_data_is_data() -> None:
    """What looks like a reference in an enum, a default or an example is none."""
    made({"type": "object", "properties": {"a": {"enum": [{"$ref": "https://example.org"}]}}})


def test_a_raw_schema_without_jsonschema_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that checks it is an extra; without it the app does not start."""
    monkeypatch.setitem(sys.modules, "jsonschema", None)
    with pytest.raises(ConversionError, match=r"flask-arandu-mcp\[jsonschema\]"):
        made(RAW)


def test_jsonschema_is_imported_only_where_it_is_needed() -> None:
    """A declaration of marshmallow fields imports nothing heavy."""
    import subprocess

    code = "import sys, flask_arandu_mcp.arguments, flask_arandu_mcp.results; sys.exit('jsonschema' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
