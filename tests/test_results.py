"""Test what becomes of what a handler gives back."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
import uuid
from collections import deque
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import flask
import pytest
import sqlalchemy
from markupsafe import Markup
from marshmallow import Schema, fields, post_dump, validate
from sqlalchemy import orm

from flask_arandu_mcp.results import ConversionError, ResultFault, Results, plain


class Colour(enum.Enum):
    red = "r"


class Level(enum.IntEnum):
    high = 2


@dataclasses.dataclass
class Point:
    x: int
    at: dt.date


class Pair(NamedTuple):
    a: int
    b: str


class PostSchema(Schema):
    id = fields.Integer()
    title = fields.String()
    at = fields.AwareDateTime()
    tags = fields.List(fields.String())
    price = fields.Decimal()
    note = fields.Raw()


class Node(Schema):
    name = fields.String()
    kids = fields.List(fields.Nested(lambda: Node()))


ZONE = dt.timezone(dt.timedelta(hours=2))
CONVERSIONS: list[tuple[object, object]] = [
    (dt.datetime(2024, 1, 1, 12, tzinfo=ZONE), "2024-01-01T12:00:00+02:00"),
    (dt.datetime(2024, 1, 1, 12), "2024-01-01T12:00:00"),
    (dt.date(2024, 1, 1), "2024-01-01"),
    (dt.time(12, 30), "12:30:00"),
    (dt.timedelta(days=1, seconds=3661, microseconds=500000), "P1DT1H1M1.5S"),
    (-dt.timedelta(hours=1), "-P0DT1H0M0S"),
    (Decimal("1.10"), "1.10"),
    (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Colour.red, "r"),
    (Level.high, 2),
    ({2}, [2]),
    (frozenset(), []),
    ((1, "x"), [1, "x"]),
    (deque([1]), [1]),
    ((n for n in (1, 2)), [1, 2]),
    ({"a": 1}.values(), [1]),
    (PurePosixPath("/a/b"), "/a/b"),
    (Point(1, dt.date(2024, 1, 1)), {"x": 1, "at": "2024-01-01"}),
    (Pair(1, "x"), {"a": 1, "b": "x"}),
    ({1: "int key", None: "none", Colour.red: 1}, {"1": "int key", "null": "none", "r": 1}),
    ({True: "yes"}, {"true": "yes"}),
    ({"a": {"b": [dt.date(2024, 1, 1)]}}, {"a": {"b": ["2024-01-01"]}}),
]


@pytest.mark.parametrize(("value", "expected"), CONVERSIONS, ids=lambda value: type(value).__name__)
def test_r01_values_become_json(value: object, expected: object) -> None:
    """What JSON does not know becomes ISO 8601, text, a list or an object, and can be encoded."""
    found = plain(value)
    assert found == expected
    assert type(found) in (str, int, list, dict)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_r01_json_comes_back_as_it_is() -> None:
    """Data that is JSON already is not copied."""
    value = {"a": [1, 2.5, None, True, "x", {"b": "é"}]}
    assert plain(value) == value
    value = {"a": [1, {"b": "c"}]}
    assert plain(value) is value


def test_r01_rows_and_models_become_objects() -> None:
    """A SQLAlchemy row and a model are objects of their columns."""
    base: Any = orm.declarative_base()
    columns = {
        "__tablename__": "posts",
        "id": sqlalchemy.Column(sqlalchemy.Integer, primary_key=True),
        "title": sqlalchemy.Column(sqlalchemy.String),
    }
    post: Any = type("Post", (base,), columns)
    engine = sqlalchemy.create_engine("sqlite://")
    base.metadata.create_all(engine)
    with orm.Session(engine) as session:
        session.add(post(id=1, title="t"))
        session.commit()
        assert plain(session.get(post, 1)) == {"id": 1, "title": "t"}
        assert plain(session.execute(sqlalchemy.select(post.id, post.title)).all()) == [{"id": 1, "title": "t"}]
        assert Results(PostSchema, name="t").dump(session.get(post, 1)) == {"id": 1, "title": "t"}
    engine.dispose()


@pytest.mark.parametrize(
    ("value", "place", "words"),
    [
        ({"posts": [{"id": object()}]}, "result.posts.0.id: ", "builtins.object"),
        ([1, float("nan")], "result.1: ", "nan"),
        ({"x": Decimal("Infinity")}, "result.x: ", "Infinity"),
        (lambda: 1, "result: ", "function"),
        ({(1,): 2}, "result: ", "tuple"),
        (float("inf"), "result: ", "inf"),
    ],
)
def test_r01_what_cannot_go_out_is_named(value: object, place: str, words: str) -> None:
    """An unknown object or a number that is none is named by its place and type, without its repr."""
    with pytest.raises(ResultFault) as fault:
        plain(value)
    assert str(fault.value).startswith(place)
    assert words in str(fault.value)
    assert " at 0x" not in str(fault.value)


def test_r01_a_cycle_is_a_fault() -> None:
    """Data that contains itself is refused where it does, plain or dumped."""
    endless: dict[str, object] = {"name": "x"}
    endless["kids"] = [endless]
    with pytest.raises(ResultFault, match=r"result\.kids\.0: it contains itself"):
        plain(endless)
    with pytest.raises(ResultFault, match="it contains itself"):
        Results(Node, name="t").dump(endless)


def test_r01_the_same_object_twice_is_no_cycle() -> None:
    """What stands beside itself is written twice."""
    day = [dt.date(2024, 1, 1)]
    assert plain({"a": day, "b": day}) == {"a": ["2024-01-01"], "b": ["2024-01-01"]}


def test_r04_a_result_that_conforms_goes_out() -> None:
    """What is declared is dumped through its schema, made plain and checked."""
    results = Results(PostSchema(many=True), name="t")
    assert results.output_schema is not None
    assert results.output_schema["type"] == "array"
    post = {
        "id": "1",
        "title": "t",
        "at": dt.datetime(2024, 1, 1, tzinfo=ZONE),
        "tags": ("a",),
        "price": Decimal("1.10"),
    }
    dumped = {"id": 1, "title": "t", "at": "2024-01-01T00:00:00+02:00", "tags": ["a"], "price": "1.10"}
    assert results.dump([post]) == [dumped]
    assert results.dump(each for each in [post]) == [dumped]
    assert results.dump([{"note": {dt.date(2024, 1, 1): {1}}}]) == [{"note": {"2024-01-01": [1]}}]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (fields.Integer(), None, "integer, which a null breaks; let the field allow_none"),
        (fields.Integer(validate=validate.Range(max=5)), 9, "nothing more than 5"),
        (fields.Float(validate=validate.Range(0, min_inclusive=False)), 0, "nothing not more than 0"),
        (fields.String(validate=validate.OneOf(["a"])), "b", "one of"),
        (fields.String(validate=validate.Equal("a")), "b", "one of"),
        (fields.String(validate=validate.NoneOf(["b"])), "b", "none of"),
        (fields.String(validate=validate.Length(max=2)), "abc", "a length of 0 to 2"),
        (fields.List(fields.Integer(), validate=validate.Length(min=1)), [], "a length of 1 to any"),
        (fields.String(validate=validate.Regexp("^a$")), "b", "the pattern"),
        (fields.AwareDateTime(), dt.datetime(2024, 1, 1), "the format date-time"),
        (fields.Function(lambda obj: b"x"), 1, "bytes are not text"),
        (fields.List(fields.String()), [None], "string, which a null"),
        (fields.Raw(), object(), "builtins.object"),
    ],
)
def test_r04_a_result_that_breaks_its_schema_does_not(field: Any, value: object, words: str) -> None:
    """A violation is a fault that names the place, never a bad success."""
    with pytest.raises(ResultFault) as fault:
        Results({"v": field}, name="t").dump({"v": value})
    assert str(fault.value).startswith("result.v")
    assert words in str(fault.value)


def test_r04_missing_and_extra_names() -> None:
    """A name that is promised must be there; one that is not declared is not dumped."""

    class Sure(Schema):
        n = fields.Function(lambda obj: 1)
        m = fields.Method("made")

        def made(self, obj: dict[str, object]) -> object:
            return fields.missing_ if obj else 1  # type: ignore[attr-defined]  # marshmallow's own name for absence

    results = Results(Sure, name="t")
    assert results.dump({}) == {"n": 1, "m": 1}
    with pytest.raises(ResultFault, match="promises 'm', which is missing"):
        results.dump({"extra": 1})


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (Node(), []),
        (Node(), None),
        (Node(), "x"),
        (Node(), iter(())),
        (Node(many=True), {}),
        (Node(many=True), None),
    ],
)
def test_r04_one_and_many_are_not_mixed_up(schema: Schema, value: object) -> None:
    """A list for one object, or an object for a list, would be dumped as nothing; it is a fault."""
    with pytest.raises(ResultFault, match="was given back"):
        Results(schema, name="t").dump(value)


def test_r04_an_object_of_another_kind_is_a_fault() -> None:
    """What has none of the declared fields would be dumped as an empty object; an empty mapping is one."""
    for schema, value in ((Node(), object()), (Node(many=True), ["x"]), (Node(), flask.Response("x"))):
        with pytest.raises(ResultFault, match="has none of the fields of Node"):
            Results(schema, name="t").dump(value)
    assert Results(Node(many=True), name="t").dump([{}]) == [{}]


def test_r04_post_dump_may_reshape() -> None:
    """post_dump has the last word, and what it adds goes out too."""

    class Enveloped(Schema):
        n = fields.Integer()

        @post_dump
        def more(self, data: Any, **kwargs: Any) -> Any:
            return {**data, "links": ("a",)}

    assert Results(Enveloped, name="t").dump({"n": 1}) == {"n": 1, "links": ["a"]}


def test_r04_a_raw_schema_is_checked() -> None:
    """An author's own JSON Schema of a result is shown whole and checked."""
    schema = {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}
    results = Results(schema, name="t")
    assert results.output_schema == schema
    assert results.dump({"day": dt.date(2024, 1, 1)}) == {"day": "2024-01-01"}
    with pytest.raises(ResultFault, match="'day' is a required property"):
        results.dump({})


def test_r04_without_a_declaration_results_are_plain() -> None:
    """Nothing declared means no schema, and data as it is."""
    results = Results(None, name="t")
    assert results.output_schema is None
    assert results.dump({"a": {1}}) == {"a": [1]}


def test_r04_a_result_schema_that_is_none_stops_the_app() -> None:
    """What cannot be a result's schema is refused at boot, with the name of who declares it."""
    wrong: Any = {"a": 1}
    with pytest.raises(ConversionError, match="tool 'x': a: is 1"):
        Results(wrong, name="tool 'x'")


@pytest.mark.parametrize("value", [b"\x89PNG", bytearray(b"x"), memoryview(b"x")])
def test_r05_bytes_are_never_text(value: object) -> None:
    """Bytes are refused with the way out, at any depth, and never decoded."""
    with pytest.raises(ResultFault, match=r"result\.blob: bytes are not text; give them in an Image"):
        plain({"blob": value})


def test_r05_a_lone_surrogate_does_not_empty_the_answer() -> None:
    """Text from a file name that is no UTF-8 goes out with U+FFFD in place of what no encoding carries."""
    name = b"a\xff".decode("utf-8", "surrogateescape")
    assert plain({"name": name, name: 1}) == {"name": "a\ufffd", "a\ufffd": 1}
    assert Results(PostSchema, name="t").dump({"title": name}) == {"title": "a\ufffd"}
    assert plain("é😀") == "é😀"


def test_r05_responses_are_unknown_objects() -> None:
    """A Flask response in data is named by its class, not printed."""
    with pytest.raises(ResultFault, match="Response"):
        plain({"r": flask.Response("x")})


def test_markup_and_lazy_texts_are_text() -> None:
    """What says of itself how it is written in HTML is text, as in Flask's own JSON."""

    class Lazy:
        def __html__(self) -> str:
            return "lazy"

    assert plain([Markup("<b>"), Lazy()]) == ["<b>", "lazy"]


def test_r04_a_field_that_cannot_dump_is_named() -> None:
    """marshmallow's own errors on dump are told with the place, those of the app's own code are not touched."""

    class Own(Schema):
        at = fields.DateTime()
        own = fields.Function(lambda obj: obj["missing"])

    many = Results(Schema.from_dict({"post": fields.Nested(PostSchema, data_key="Post")})(many=True), name="t")
    with pytest.raises(ResultFault, match=r"result\.1\.Post\.id: Integer cannot dump it"):
        many.dump(iter([{"post": {"id": 1}}, {"post": {"id": "x"}}]))
    with pytest.raises(KeyError, match="missing"):
        Results(Own, name="t").dump({})
