"""Native values are loaded and dumped without marshmallow: hold that nobody can tell, and that it is done at all."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from marshmallow import Schema, ValidationError, fields, post_dump, post_load, pre_load, validate, validates_schema

from flask_arandu_mcp.errors import Failure, attempt
from flask_arandu_mcp.schemas.conform import conforming
from flask_arandu_mcp.schemas.convert import output_schema
from flask_arandu_mcp.schemas.dumping import dumper, native_dump
from flask_arandu_mcp.schemas.integers import integer_plan
from flask_arandu_mcp.schemas.loading import loader
from flask_arandu_mcp.schemas.native import is_plain
from flask_arandu_mcp.schemas.plain import ResultFault
from flask_arandu_mcp.schemas.reading import LOAD_HOOKS, Undecided, reader

from . import native

ADDRESS: dict[str, fields.Field[Any]] = {"town": fields.String(validate=validate.Length(1, 20)), "no": fields.Integer()}
AddressSchema = Schema.from_dict(dict(ADDRESS), name="AddressSchema")


class PersonSchema(Schema):
    """What can be known as a whole."""

    name = fields.String(required=True)
    age = fields.Integer(data_key="years", allow_none=True)
    tall = fields.Float(load_default=1.5, attribute="height")
    nice = fields.Boolean()
    tags = fields.List(fields.String(), validate=validate.Length(max=2))
    home = fields.Nested(AddressSchema)
    others = fields.List(fields.Nested(AddressSchema))
    more = fields.Nested(AddressSchema, many=True)


PERSON: dict[str, object] = {
    "name": "Ana",
    "years": None,
    "nice": True,
    "tags": ["a", "b"],
    "home": {"town": "Lund", "no": 3},
    "others": [{"no": 1}, {}],
    "more": [{"town": "Ed"}],
}
ROW: dict[str, object] = {"name": "Ana", "age": 3, "height": 1.5, "tags": ["a"], "home": {"no": 1}, "more": [{"no": 2}]}


def _outcome(function: Any, *given: object) -> object:
    """What a function gives, or raises, in a form that can be compared."""
    made = attempt(function, *given)
    if not isinstance(made, Failure):
        return repr(made)
    told = made.error.messages if isinstance(made.error, ValidationError) else str(made.error)
    return type(made.error), told


def _read(schema: type[Schema], value: object) -> object:
    """What is read of a value without marshmallow."""
    read = reader(fields.Nested(schema), {})
    assert read is not None
    return read(value)


def test_native_values_are_loaded_without_marshmallow() -> None:
    """What is native all through is loaded, in marshmallow's order and with its defaults."""
    assert repr(_read(PersonSchema, PERSON)) == repr(PersonSchema().load(PERSON))


def test_a_loaded_list_is_a_new_one() -> None:
    """A handler that changes a list that it was given changes nothing of what was sent."""
    loaded = loader(PersonSchema())(PERSON)
    assert isinstance(loaded, dict)
    assert loaded["tags"] == PERSON["tags"]
    assert loaded["tags"] is not PERSON["tags"]
    assert loaded["home"] is not PERSON["home"]


@pytest.mark.parametrize(
    "change",
    [
        {"name": 3},
        {"name": None},
        {"years": "3"},
        {"years": True},
        {"tall": 1},
        {"nice": "true"},
        {"tags": ["a", 1]},
        {"tags": ["a", "b", "c"]},
        {"tags": "ab"},
        {"home": []},
        {"home": {"town": ""}},
        {"home": {"street": "x"}},
        {"others": [None]},
        {"more": {}},
        {"unknown": 1},
    ],
)
def test_all_else_is_marshmallows(change: dict[str, object]) -> None:
    """A value that is not native, not known or not good is not read, and loaded or refused as marshmallow does."""
    value = {**PERSON, **change}
    with pytest.raises((Undecided, ValidationError)):
        _read(PersonSchema, value)
    assert _outcome(loader(PersonSchema()), value) == _outcome(PersonSchema().load, value)


def test_a_required_value_that_is_missing_is_told() -> None:
    """It is not read, for only marshmallow has the words."""
    with pytest.raises(Undecided):
        _read(PersonSchema, {})
    assert _outcome(loader(PersonSchema()), {}) == _outcome(PersonSchema().load, {})


def test_a_default_is_made_once() -> None:
    """A function that makes one is called once, also where something else is wrong."""
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 3

    load = loader(Schema.from_dict({"a": fields.Integer(load_default=make), "b": fields.Integer()})())
    with pytest.raises(ValidationError):
        load({"b": "x"})
    assert load({}) == {"a": 3}
    assert made == [1, 1]


def test_a_validator_of_the_apps_own_is_asked_once() -> None:
    """It may count, or ask the database."""
    asked: list[int] = []

    def look(value: int) -> None:
        asked.append(value)
        raise ValidationError("no")

    load = loader(Schema.from_dict({"a": fields.Integer(validate=look), "b": fields.Integer(required=True)})())
    with pytest.raises(ValidationError, match=r"(?s)no.*Missing"):
        load({"a": 1})
    assert asked == [1]


def test_integral_floats_are_integers_in_a_known_schema() -> None:
    """Beside native values, too, and at any depth."""
    load = loader(PersonSchema())
    loaded = load({"name": "Ana", "years": 3.0, "home": {"no": 4.0}})
    assert repr(loaded) == repr({"name": "Ana", "age": 3, "height": 1.5, "home": {"no": 4}})
    with pytest.raises(ValidationError, match="Not a valid integer"):
        load({"name": "Ana", "years": 3.5})


class _Loud(fields.String):
    def _deserialize(self, value: Any, attr: Any, data: Any, **given: Any) -> Any:
        return str(value).upper()

    def _serialize(self, value: Any, attr: Any, obj: Any, **given: Any) -> Any:
        return str(value).upper()


class _PreLoaded(Schema):
    a = fields.Integer()

    @pre_load
    def change(self, data: Any, **given: Any) -> Any:
        return {"a": 9}


class _PostLoaded(Schema):
    a = fields.Integer()

    @post_load
    def change(self, data: Any, **given: Any) -> Any:
        return list(data)


class _Validating(Schema):
    a = fields.Integer()

    @validates_schema
    def look(self, data: Any, **given: Any) -> None:
        raise ValidationError("no")


class _Overriding(Schema):
    a = fields.Integer()

    def load(self, *given: Any, **more: Any) -> Any:
        return "mine"

    def dump(self, *given: Any, **more: Any) -> Any:
        return "mine"


class _Reaching(Schema):
    a = fields.Integer()

    def get_attribute(self, obj: Any, attr: str, default: Any) -> Any:
        return 9


class _PostDumped(Schema):
    a = fields.Integer()

    @post_dump
    def change(self, data: Any, **given: Any) -> Any:
        return {"b": 9}


def _even(value: int) -> None:
    if value % 2:
        raise ValidationError("odd")


@pytest.mark.parametrize(
    "field",
    [
        _Loud(),
        fields.List(_Loud()),
        fields.Nested(_PreLoaded),
        fields.Nested(_PostLoaded),
        fields.Nested(_Validating),
        fields.Nested(_Overriding),
        fields.Nested(lambda: PersonSchema(partial=True)),
        fields.Nested(lambda: PersonSchema(partial=["name"])),
        fields.Nested(Schema.from_dict({"a": fields.Integer(attribute="b.c")})),
        fields.Nested(Schema.from_dict({"a": fields.Date()})),
        fields.Date(),
        fields.Boolean(truthy={"si"}, falsy={"no"}),
        fields.Integer(validate=_even),
        fields.Pluck(PersonSchema, "name"),
    ],
)
def test_a_field_that_may_change_what_it_loads_is_not_known(field: fields.Field[Any]) -> None:
    """Hooks, classes made from marshmallow's own, and validators of the app's own are marshmallow's to run."""
    assert reader(field, {}) is None


@pytest.mark.parametrize(
    "schema",
    [
        _PreLoaded(),
        _PostLoaded(),
        _Validating(),
        _Overriding(),
        PersonSchema(partial=True),
        PersonSchema(partial=["name"]),
        Schema.from_dict({"a": _Loud()})(),
        Schema.from_dict({"a": fields.Integer(attribute="b.c")})(),
        Schema.from_dict({"a": fields.Integer(validate=_even)})(),
    ],
)
@pytest.mark.parametrize("value", [{"a": 1}, {"a": 2}, {"a": "3"}, {"b": 1}])
def test_what_is_not_known_runs(schema: Schema, value: dict[str, object]) -> None:
    """A schema loads as it would by itself, whatever it does."""
    assert _outcome(loader(schema), value) == _outcome(schema.load, value)


class _Node(Schema):
    name = fields.String()
    kids = fields.List(fields.Nested(lambda: _Node()))


def test_a_schema_that_nests_itself_is_marshmallows() -> None:
    """It has no end that could be compiled."""
    tree = {"name": "a", "kids": [{"name": "b", "kids": []}]}
    assert reader(fields.Nested(_Node), {}) is None
    assert loader(_Node())(tree) == tree
    assert native_dump(_Node())(tree) == tree


def test_many_ways_to_one_schema_are_compiled_once() -> None:
    """A lattice of schemas, with two ways down at each level, does not take a million compilations."""
    lattice: type[Schema] = AddressSchema
    for _ in range(20):
        lattice = Schema.from_dict({"a": fields.Nested(lattice), "b": fields.Nested(lattice)})
    assert loader(lattice())({"a": {}}) == {"a": {}}
    assert native_dump(lattice())({"b": {"a": {}}}) == {"b": {"a": {}}}


@pytest.mark.parametrize("given", [ROW, native.as_object(ROW), {}, {"name": 3, "age": "7", "height": "2"}])
def test_dumping_asks_only_the_fields_that_change_something(given: object) -> None:
    """Dicts and objects come out as marshmallow would have dumped them, and in its order."""
    assert repr(native_dump(PersonSchema())(given)) == repr(PersonSchema().dump(given))


def test_many_are_dumped_one_by_one() -> None:
    """Of a list with nothing in the place of an object, too."""
    given = [ROW, None, native.as_object(ROW)]
    assert repr(native_dump(PersonSchema(many=True))(given)) == repr(PersonSchema(many=True).dump(given))


@pytest.mark.parametrize("schema", [_Overriding(), _Reaching(), _PostDumped()])
def test_a_schema_that_changes_what_it_dumps_dumps_it(schema: Schema) -> None:
    """Its own methods and hooks run."""
    assert native_dump(schema)({"a": 1}) == schema.dump({"a": 1}) != {"a": 1}


def test_hooks_of_the_other_way_do_not_matter() -> None:
    """A schema that validates what it loads dumps as any other; one that changes what it dumps loads as any other."""
    assert is_plain(_Validating(), (), {"pre_dump", "post_dump"})
    assert not is_plain(_Validating(), (), LOAD_HOOKS)
    assert loader(_PostDumped())({"a": 1}) == {"a": 1}
    assert reader(fields.Nested(_PostDumped), {}) is not None


def test_a_method_that_marshmallow_does_not_have_is_not_missed() -> None:
    """A later version may have other ones."""
    assert is_plain(PersonSchema(), ["no_such_method"], LOAD_HOOKS)


def test_a_property_is_read_once() -> None:
    """A value that is dear to make is made once, whatever its field does with it."""

    class Dear:
        read = 0

        @property
        def at(self) -> dt.date:
            self.read += 1
            return dt.date(2026, 1, 2)

        @property
        def name(self) -> int:
            self.read += 1
            return 3

    dear = Dear()
    schema = Schema.from_dict({"at": fields.Date(), "name": fields.String()})()
    assert native_dump(schema)(dear) == {"at": "2026-01-02", "name": "3"}
    assert dear.read == 2


@given(st.data())
def test_loading_cannot_be_told_from_marshmallows(data: st.DataObject) -> None:
    """Whatever the schema and the value, what is given back, or raised, is what marshmallow gives."""
    schema = data.draw(native.schemas())()
    value = data.draw(native.fitting(schema))
    plan = integer_plan(schema)
    assert _outcome(loader(schema), value) == _outcome(schema.load, plan(value) if plan else value)


@given(st.data())
def test_dumping_cannot_be_told_from_marshmallows(data: st.DataObject) -> None:
    """Whatever the schema and the value, what comes out, or is raised, is what marshmallow gives."""
    schema = data.draw(native.schemas())(many=data.draw(st.booleans()))
    dump = native_dump(schema)
    given: object = data.draw(native.fitting(schema))
    if data.draw(st.booleans()):
        given = native.as_object(given)
    if schema.many:
        given = [given, data.draw(native.DATA)]
    assert _outcome(dump, given) == _outcome(schema.dump, given)


@given(st.data())
def test_dumping_and_checking_in_one_go_is_both(data: st.DataObject) -> None:
    """What comes out is what is dumped and then checked, and what one of the two refuses is refused."""
    schema = data.draw(native.schemas())(many=data.draw(st.booleans()))
    shown = attempt(output_schema, schema)
    assume(not isinstance(shown, Failure))  # some are refused at boot
    assert isinstance(shown, dict)
    given: object = data.draw(native.fitting(schema))
    if data.draw(st.booleans()):
        given = native.as_object(given)
    if schema.many:
        given = [given, data.draw(native.fitting(schema))]
    made, expected = attempt(dumper(schema, shown), given), attempt(lambda: conforming(shown)(schema.dump(given)))
    if isinstance(expected, Failure) or isinstance(made, Failure):
        assert isinstance(made, Failure)
        # An object without any of its fields is refused though its schema may say nothing of that.
        assert isinstance(expected, Failure) or "has none of the fields" in str(made.error)
    else:
        assert repr(made) == repr(expected)


def test_a_fault_names_its_place() -> None:
    """In a list, the index and the field."""
    schema = PersonSchema(many=True)
    with pytest.raises(ResultFault, match=r"^result\.1\.name: the declared result says string"):
        dumper(schema, output_schema(schema))([{"name": "Ana"}, {"name": None}])
    promising = Schema.from_dict({"a": fields.Integer(), "b": fields.String(required=True)})()
    with pytest.raises(ResultFault, match=r"^result: the declared result promises 'b'"):
        dumper(promising, {**output_schema(promising), "required": ["b"]})({"a": 1})
