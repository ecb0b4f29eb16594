"""Test what a schema looks like to a client, in both views."""

from __future__ import annotations

import datetime as dt
import enum
import json
import uuid
from contextlib import nullcontext
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import jsonschema
import pytest
from marshmallow import EXCLUDE, INCLUDE, RAISE, Schema, ValidationError, fields, post_dump, validate, validates_schema

from flask_arandu_mcp.schemas.convert import ConversionError, has_lazy, input_schema, output_schema, resolve

Document = dict[str, Any]
MARSHMALLOW_3 = version("marshmallow").startswith("3.")


class Colour(enum.Enum):
    red = 1
    green = 2


class Address(Schema):
    city = fields.String(required=True)


class Person(Schema):
    home = fields.Nested(Address, required=True, metadata={"description": "where"})
    work = fields.Nested(Address, allow_none=True)
    old = fields.List(fields.Nested(Address))
    one = fields.Nested(Address, many=True)
    by = fields.Dict(values=fields.Nested(Address))
    id = fields.Pluck(Address, "city")


class Node(Schema):
    name = fields.String()
    kids = fields.List(fields.Nested(lambda: Node()))


class Left(Schema):
    right = fields.Nested(lambda: Right())


class Right(Schema):
    left = fields.Nested(lambda: Left())


class Pin(fields.Field):  # type: ignore[type-arg]  # marshmallow 3 has no type arguments
    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        return value


class Tag(fields.String):
    pass


class Lazy:
    """A text that is translated when it is read, as Flask-Babel's are."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def given(**named: Any) -> Document:
    """The properties that a schema of these fields shows for input."""
    found: Document = input_schema(Schema.from_dict(named)())
    jsonschema.Draft202012Validator.check_schema(found)
    properties: Document = found["properties"]
    return properties


def shown(**named: Any) -> Document:
    """The properties that a schema of these fields shows for output."""
    found: Document = output_schema(Schema.from_dict(named)())
    jsonschema.Draft202012Validator.check_schema(found)
    properties: Document = found["properties"]
    return properties


@pytest.mark.parametrize(
    "schema", [Schema.from_dict({})(), Address(only=()), Schema.from_dict({"x": fields.Constant(1)})()]
)
def test_m01_the_root_is_an_object_with_properties(schema: Schema) -> None:
    """The root is of type object with properties and closed, whatever the schema has."""
    found = input_schema(schema)
    assert found["type"] == "object"
    assert isinstance(found["properties"], dict)
    assert found["additionalProperties"] is False
    assert found.get("required", ["x"])
    assert not {"$ref", "anyOf", "oneOf", "allOf"} & found.keys()


def test_m01_no_fields_means_an_empty_closed_object() -> None:
    """A schema without fields is the empty closed object, letter by letter."""
    empty = {"type": "object", "properties": {}, "additionalProperties": False}
    assert input_schema(Schema.from_dict({})()) == empty


def test_m01_either_or_is_said_in_words() -> None:
    """validates_schema never becomes a combinator at the root; the description says that it is there."""

    class Either(Schema):
        a = fields.String()
        b = fields.String()

        @validates_schema
        def one_of_both(self, data: Any, **kwargs: Any) -> None:
            """Give a or b, not both."""
            if len(data) != 1:
                raise ValidationError("Give a or b.")

    found = input_schema(Either())
    assert not {"anyOf", "oneOf", "allOf"} & found.keys()
    assert "Give a or b, not both." in str(found["description"])


@pytest.mark.parametrize("view", [input_schema, output_schema])
def test_m02_nesting_is_written_out(view: Any) -> None:
    """What contains no cycle is written where it stands, in both views."""
    found = view(Person())
    assert "$ref" not in json.dumps(found)
    assert "$defs" not in found
    home, work = found["properties"]["home"], found["properties"]["work"]
    assert (home["type"], home["description"]) == ("object", "where")
    assert "city" in home["properties"]
    assert work["type"] == ["object", "null"]
    assert found["properties"]["old"]["items"]["properties"]["city"] == {"type": "string"}
    assert found["properties"]["one"]["items"]["type"] == "object"
    assert found["properties"]["by"]["additionalProperties"]["type"] == "object"
    assert found["properties"]["id"] == {"type": "string"}


@pytest.mark.parametrize("view", [input_schema, output_schema])
def test_m03_only_a_cycle_is_named(view: Any) -> None:
    """A schema that contains itself is defined once at the root, which stays an object."""
    found = view(Node())
    assert found["type"] == "object"
    assert list(found["$defs"]) == ["Node"]
    assert found["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}
    assert found["$defs"]["Node"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Node"}


def test_m03_mutual_recursion_and_names() -> None:
    """Two schemas that contain each other need one definition, and a name in the registry is a schema too."""
    found = input_schema(Left())
    assert list(found["$defs"]) == ["Left"]  # type: ignore[call-overload]  # a dict of definitions
    named = input_schema(Schema.from_dict({"at": fields.Nested("Left")})())
    assert named["properties"]["at"] == {"$ref": "#/$defs/Left"}  # type: ignore[index]  # a dict of schemas


def test_m03_a_variant_without_the_cycle_is_written_out() -> None:
    """The same class without the field that closes the circle is no cycle."""

    class Tree(Schema):
        leaf = fields.Nested(lambda: Tree(exclude=("leaf",)))
        grid = fields.List(fields.List(fields.Nested(lambda: Tree(only=()))))

    assert "$ref" not in json.dumps(input_schema(Tree()))


def test_m03_endless_new_classes_stop_the_app() -> None:
    """Schemas that are made anew at every level have no end; that is said at boot."""

    def endless() -> type[Schema]:
        return Schema.from_dict({"next": fields.Nested(lambda: endless()())})

    with pytest.raises(ConversionError, match="nest more than"):
        input_schema(endless()())


def test_m03_self_is_a_cycle_where_marshmallow_knows_it() -> None:
    """Nested('self') of marshmallow 3 is the cycle that it is; of marshmallow 4, where it is a name, it is unknown."""
    with pytest.warns(DeprecationWarning, match="self") if MARSHMALLOW_3 else nullcontext():

        class Own(Schema):
            up = fields.Nested("self")

    if MARSHMALLOW_3:
        assert input_schema(Own())["properties"]["up"] == {"$ref": "#/$defs/Own"}  # type: ignore[index]  # a dict
    else:
        with pytest.raises(ConversionError, match="'self' was not found"):
            input_schema(Own())


class Shared(Schema):
    id = fields.Integer(required=True, dump_only=True)
    name = fields.String(required=True)
    pw = fields.String(required=True, load_only=True)
    tag = fields.Method("tagged")
    const = fields.Constant(3)
    m = fields.Function(lambda obj: 1)

    def tagged(self, obj: Any) -> str:
        return "t"


def test_m05_dump_only_fields_are_not_arguments() -> None:
    """Input is what load takes, output what dump gives; required is what each is sure of."""
    taken, given_back = input_schema(Shared()), output_schema(Shared())
    assert set(taken["properties"]) == {"name", "pw", "const"}  # type: ignore[call-overload]  # a dict
    assert taken["required"] == ["name", "pw"]
    assert set(given_back["properties"]) == {"id", "name", "tag", "const", "m"}  # type: ignore[call-overload]  # a dict
    assert given_back["required"] == ["tag", "const", "m"]
    assert Shared().load({"name": "n", "pw": "p"})


def test_m05_a_default_on_dump_is_always_there() -> None:
    """A dump_default makes a field certain, and post_dump makes nothing certain."""

    class Sure(Schema):
        n = fields.Integer(dump_default=1)

    class Unsure(Sure):
        @post_dump
        def less(self, data: Any, **kwargs: Any) -> Any:
            return {}

    assert output_schema(Sure())["required"] == ["n"]
    assert "required" not in output_schema(Unsure())


def test_m08_callable_defaults_are_never_called() -> None:
    """A callable default is not a value to be shown, and is not called."""

    def never() -> None:
        raise AssertionError("called")

    properties = given(a=fields.DateTime(load_default=never), b=fields.UUID(load_default=uuid.uuid4))
    assert all("default" not in each for each in properties.values())


def test_m08_static_defaults_are_serialised_by_the_field() -> None:
    """A static default is shown as the client would send it."""
    properties = given(
        day=fields.Date(load_default=dt.date(2024, 1, 1)),
        name=fields.Enum(Colour, load_default=Colour.red),
        value=fields.Enum(Colour, by_value=True, load_default=Colour.red),
        price=fields.Decimal(load_default=Decimal("1.10")),
        text=fields.Decimal(as_string=True, load_default=Decimal("1.10")),
        none=fields.Integer(load_default=None),
        home=fields.Nested(Address, load_default={"city": "x"}),
        many=fields.List(fields.Integer(), load_default=list),
    )
    defaults = {key: each.get("default") for key, each in properties.items()}
    assert defaults == {
        "day": "2024-01-01",
        "name": "red",
        "value": 1,
        "price": 1.1,
        "text": "1.10",
        "none": None,
        "home": {"city": "x"},
        "many": None,
    }
    assert "default" not in properties["none"]
    assert properties["none"]["type"] == ["integer", "null"]


def test_m08_a_default_that_does_not_load_is_left_out() -> None:
    """A default that its own field refuses would contradict the schema; it is left out with a warning."""
    with pytest.warns(UserWarning, match="n: its load_default 0"):
        properties = given(n=fields.Integer(load_default=0, validate=validate.Range(min=1)))
    assert properties["n"] == {"type": "integer", "minimum": 1}


def test_m08_metadata_is_made_json_or_dropped() -> None:
    """Descriptions may be lazy, examples are listed, and what JSON does not know is dropped."""
    field = fields.Date(
        metadata={
            "description": Lazy("when"),
            "title": "t",
            "example": dt.date(2024, 1, 2),
            "examples": [dt.date(2024, 1, 3), {1, 2}],
            "deprecated": True,
            "x-mcp-header": "Day",
            "foo": object(),
            "minimum": 3,
        }
    )
    found = input_schema(Schema.from_dict({"day": field})())
    assert has_lazy(found)
    day = resolve(found)["properties"]["day"]  # type: ignore[index]  # a dict of schemas
    assert json.dumps(day, allow_nan=False)
    assert str(day["description"]).startswith("when. An ISO 8601 date")
    assert day["examples"] == ["2024-01-02", "2024-01-03"]
    assert (day["title"], day["deprecated"], day["x-mcp-header"]) == ("t", True, "Day")
    assert not {"foo", "minimum"} & day.keys()


def test_a_lazy_description_is_resolved_per_language() -> None:
    """Conversion happens once; a lazy text is read whenever it is asked for, and no text is lazy by itself."""
    text = Lazy("Titel")
    found = input_schema(Schema.from_dict({"a": fields.String(metadata={"title": text})})())
    text.text = "Title"
    assert resolve(found)["properties"] == {"a": {"type": "string", "title": "Title"}}
    assert not has_lazy(resolve(found))
    assert not has_lazy(input_schema(Person()))


def test_m11_validators_keep_their_meaning() -> None:
    """Each validator constrains what it looks at, and several hold at once."""
    one_of, equal = validate.OneOf, validate.Equal
    properties = given(
        only=fields.List(fields.String(), validate=validate.ContainsOnly(["a", "b"])),
        none=fields.List(fields.String(), validate=validate.ContainsNoneOf(["z"])),
        same=fields.String(validate=equal("x")),
        both=fields.String(validate=[one_of(["a", "b"]), one_of(["b", "c"])]),
        bar=fields.String(validate=validate.NoneOf(["q"])),
        And=fields.String(validate=validate.And(validate.Length(min=2), one_of(["aa", "bb"]))),
        each=fields.List(fields.String(validate=one_of(["a"]))),
        text=fields.String(validate=validate.Length(equal=3)),
        items=fields.List(fields.Integer(), validate=validate.Length(equal=3)),
        names=fields.Dict(validate=validate.Length(equal=3)),
        range=fields.Integer(validate=validate.Range(1, 9, min_inclusive=False, max_inclusive=False)),
        null=fields.String(validate=one_of(["a"]), allow_none=True),
    )
    assert properties["only"] == {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    assert properties["none"]["items"] == {"type": "string", "not": {"enum": ["z"]}}
    assert properties["same"] == {"type": "string", "const": "x"}
    assert properties["both"]["enum"] == ["b"]
    assert properties["bar"]["not"] == {"enum": ["q"]}
    assert properties["And"] == {"type": "string", "minLength": 2, "enum": ["aa", "bb"]}
    assert properties["each"]["items"]["enum"] == ["a"]
    assert (properties["text"]["minLength"], properties["text"]["maxLength"]) == (3, 3)
    assert (properties["items"]["minItems"], properties["items"]["maxItems"]) == (3, 3)
    assert (properties["names"]["minProperties"], properties["names"]["maxProperties"]) == (3, 3)
    assert properties["range"] == {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 9}
    assert properties["null"] == {"type": ["string", "null"], "enum": ["a", None]}


def test_m11_validators_that_leave_no_value_stop_the_app() -> None:
    """A field that nothing satisfies can never be sent; its path is named at boot."""
    field = fields.String(validate=[validate.OneOf(["a"]), validate.OneOf(["b"])])
    with pytest.raises(ConversionError, match=r"home\.x: its validators leave no value"):
        given(home=fields.Nested({"x": field}))


def test_m11_labels_are_said() -> None:
    """The labels of choices are said in the description, lazily where they are."""
    choice = validate.OneOf(["a", "b"], labels=["Alpha", Lazy("Beta")])  # type: ignore[list-item]  # lazy texts stand for str
    found = resolve(input_schema(Schema.from_dict({"x": fields.String(validate=choice)})()))
    assert found["properties"]["x"]["description"] == "a: Alpha; b: Beta"  # type: ignore[index]  # a dict of schemas


@pytest.mark.filterwarnings("ignore:`Field` should not")  # of the last releases of marshmallow 3
def test_m13_classes_are_read_as_their_nearest_ancestor() -> None:
    """A subclass is read as what it inherits from, and an unknown class as anything, which is said."""
    properties = given(
        tag=Tag(), pin=Pin(), raw=fields.Raw(), field=fields.Field(), read=fields.Function(deserialize=lambda value: 1)
    )
    assert properties["tag"] == {"type": "string"}
    assert properties["pin"] == {"description": "Read by the application (Pin)"}
    assert "type" not in properties["raw"]
    assert "type" not in properties["field"]
    assert properties["read"]["description"] == "Read by the application"


def test_m13_formats_are_portable() -> None:
    """A format is named where one fits, and the words say what it is."""
    properties = given(
        mail=fields.Email(),
        id=fields.UUID(),
        v4=fields.IPv4(),
        v6=fields.IPv6(),
        ip=fields.IP(),
        net=fields.IPInterface(),
        url=fields.Url(),
        rel=fields.Url(relative=True),
    )
    formats = {key: each.get("format") for key, each in properties.items()}
    assert formats == {
        "mail": "email",
        "id": "uuid",
        "v4": "ipv4",
        "v6": "ipv6",
        "ip": None,
        "net": None,
        "url": "uri",
        "rel": "uri-reference",
    }
    assert all(each["description"] for each in properties.values())


def test_m13_three_hooks_say_what_nobody_knows() -> None:
    """A field's metadata, its own method, or a table says what a class of the app's own means."""

    class Point(fields.Field):  # type: ignore[type-arg]  # marshmallow 3 has no type arguments
        def json_schema(self, view: str) -> Document:
            return {"type": "array", "items": {"type": "number"}, "title": view}

    class Even(validate.Validator):
        def __call__(self, value: Any) -> Any:
            return value

    schema = Schema.from_dict(
        {
            "a": Pin(metadata={"json_schema": {"type": "string", "pattern": "^[0-9]{4}$"}}),
            "b": Point(),
            "c": Pin(validate=Even(), allow_none=True),
        }
    )()
    table: Any = {Pin: {"type": "integer"}, Even: lambda validator: {"multipleOf": 2}}
    properties = input_schema(schema, table)["properties"]
    assert isinstance(properties, dict)
    assert properties["a"]["pattern"] == "^[0-9]{4}$"
    assert properties["b"] == {"type": "array", "items": {"type": "number"}, "title": "input"}
    assert properties["c"]["type"] == ["integer", "null"]
    assert properties["c"]["multipleOf"] == 2


def test_m13_a_json_schema_that_is_no_json_stops_the_app() -> None:
    """What an author gives as JSON Schema must be JSON."""
    with pytest.raises(ConversionError, match="a: its json_schema is not JSON"):
        given(a=Pin(metadata={"json_schema": {"enum": {1, 2}}}))


@pytest.mark.parametrize(
    ("unknown", "closed"), [(RAISE, False), (EXCLUDE, None), (INCLUDE, None)], ids=["raise", "exclude", "include"]
)
def test_m16_unknown_is_decided_on_each_level(unknown: Any, closed: bool | None) -> None:
    """Each nested object is open or closed as its own effective `unknown` says."""
    schema = Schema.from_dict({"a": fields.Nested(Address, unknown=unknown), "b": fields.Nested(Address)})()
    found = input_schema(schema)
    properties = found["properties"]
    assert isinstance(properties, dict)
    assert properties["a"].get("additionalProperties") is closed
    assert properties["b"]["additionalProperties"] is False
    assert found["additionalProperties"] is False


@pytest.mark.parametrize(("unknown", "open_"), [(RAISE, False), (EXCLUDE, False), (INCLUDE, True)])
def test_m16_the_root_is_open_for_include_alone(unknown: Any, open_: bool) -> None:
    """At the root, EXCLUDE is shown as closed, since what nobody declared is refused."""
    assert input_schema(Address(unknown=unknown))["additionalProperties"] is open_


def test_m21_both_majors_show_the_same() -> None:
    """Numbers, enums, constants and plucks look alike under both majors, and conversion uses nothing that one lacks."""
    properties = given(
        n=fields.Integer(), e=fields.Enum(Colour), c=fields.Constant("x"), p=fields.Pluck(Address, "city", many=True)
    )
    assert properties == {
        "n": {"type": "integer"},
        "e": {"type": "string", "enum": ["red", "green"]},
        "c": {"type": "string", "const": "x"},
        "p": {"type": "array", "items": {"type": "string"}},
    }


def test_dates_and_times_say_what_they_take() -> None:
    """`format: date-time` is for what must have a zone; no zone, either and other layouts are said in words."""
    properties = given(
        aware=fields.AwareDateTime(),
        lenient=fields.AwareDateTime(default_timezone=dt.timezone.utc),  # noqa: UP017  # the name in marshmallow 3's Pythons
        naive=fields.NaiveDateTime(),
        either=fields.DateTime(),
        rfc=fields.DateTime(format="rfc"),
        time=fields.Time(),
        own=fields.Date(format="%d/%m/%Y"),
    )
    assert {key: each.get("format") for key, each in properties.items() if "format" in each} == {"aware": "date-time"}
    assert "without a zone" in properties["naive"]["description"]
    assert "with or without a zone" in properties["lenient"]["description"]
    assert "31/12/2024" in properties["own"]["description"]
    assert all(each["type"] == "string" for each in properties.values())


def test_bounds_that_marshmallow_does_not_declare_are_shown() -> None:
    """A timestamp is not negative and a timedelta has its range; both are said where they are taken."""
    properties = given(at=fields.DateTime(format="timestamp"), span=fields.TimeDelta("days"))
    assert 0 in (properties["at"].get("minimum"), properties["at"].get("exclusiveMinimum"))
    assert properties["at"]["exclusiveMaximum"] == dt.datetime(9999, 12, 31, tzinfo=dt.timezone.utc).timestamp() + 86400  # noqa: UP017  # as above
    assert properties["span"]["minimum"] == -999999999
    assert properties["span"]["maximum"] >= 999999999
    assert "minimum" not in shown(at=fields.DateTime(format="timestamp"))["at"]


def test_a_tuple_has_as_many_items_as_fields() -> None:
    """A tuple is an array of that length; where its fields differ each has its place."""
    properties = given(t=fields.Tuple((fields.Integer(), fields.String())), same=fields.Tuple((fields.Float(),) * 2))
    assert properties["t"]["prefixItems"] == [{"type": "integer"}, {"type": "string"}]
    assert (properties["t"]["minItems"], properties["t"]["maxItems"], properties["t"]["items"]) == (2, 2, {})
    assert properties["same"]["items"] == {"type": "number"}


def test_partial_makes_fields_optional() -> None:
    """`partial` takes fields out of required on every level that it reaches."""
    whole = input_schema(Person(partial=True))
    some = input_schema(Person(partial=("home.city",)))
    assert "required" not in whole
    assert "required" not in whole["properties"]["home"]  # type: ignore[index]  # a dict of schemas
    assert some["required"] == ["home"]
    assert "required" not in some["properties"]["home"]  # type: ignore[index]  # a dict of schemas


def test_meta_json_schema_is_merged_in() -> None:
    """An author's own keywords of a whole schema are laid over, property by property."""

    class Noted(Schema):
        class Meta:
            json_schema = {"title": "Noted", "properties": {"a": {"examples": ["x"]}}}

        a = fields.String()

    found = input_schema(Noted())
    assert found["title"] == "Noted"
    assert found["properties"] == {"a": {"type": "string", "examples": ["x"]}}


def test_many_at_the_root_is_for_results_only() -> None:
    """Arguments are one object, so that many=True stops the app; results become an array."""
    with pytest.raises(ConversionError, match="many=True"):
        input_schema(Address(many=True))
    found = output_schema(Node(many=True))
    assert found["type"] == "array"
    assert "$defs" in found


def test_an_unusable_nested_schema_is_named() -> None:
    """A nested schema that nobody has defined is named by its path."""
    with pytest.raises(ConversionError, match="home: its nested schema cannot be made"):
        given(home=fields.Nested("Nowhere"))


def test_what_can_never_be_loaded_stops_the_app() -> None:
    """Strict integers as names, an Enum without JSON values and a Pluck of a dump_only field are named."""

    class Odd(enum.Enum):
        a = object()

    class Given(Schema):
        id = fields.Integer(dump_only=True)

    for field in (
        fields.Dict(keys=fields.Integer(strict=True)),
        fields.Enum(Odd, by_value=True),
        fields.Pluck(Given, "id"),
    ):
        with pytest.raises(ConversionError, match="x: "):
            given(x=field)


def test_the_apps_own_code_is_said_in_words() -> None:
    """A callable is said by its docstring, its name, or as what it is; an author's error text stands for a rule."""

    def is_even(value: int) -> None:
        """Only even numbers."""

    def is_odd(value: int) -> None:
        raise ValidationError("no")

    properties = given(
        a=fields.Integer(validate=is_even),
        b=fields.Integer(validate=is_odd),
        c=fields.Integer(validate=lambda value: None),
        d=fields.String(validate=validate.Regexp(r"(?i)x", error="Only letters.")),
        e=fields.Date(validate=validate.Range(min=dt.date(2024, 1, 1))),
    )
    assert properties["a"]["description"] == "Checked further: Only even numbers."
    assert properties["b"]["description"] == "Checked further by the application (is_odd)"
    assert properties["c"]["description"] == "Checked further by the application"
    assert properties["d"]["description"] == "Only letters."
    assert properties["e"]["description"].endswith("Must be at least 2024-01-01")
