"""List the schemas that are measured: every field class and validator, alone and combined, nested and recursive.
Each entry says where the loader is allowed to be stricter than JSON Schema can be, and why.
"""

from __future__ import annotations

import datetime as dt
import enum
import re
import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple

from marshmallow import (
    EXCLUDE,
    INCLUDE,
    Schema,
    ValidationError,
    fields,
    post_load,
    pre_load,
    validate,
    validates,
    validates_schema,
)


class Entry(NamedTuple):
    """A schema of the catalogue, and for each path where it may refuse more than its schema says, the reason."""

    name: str
    schema: Schema
    loose: Mapping[str, str] = {}


class Colour(enum.Enum):
    red = 1
    green = 2


class Size(enum.Enum):
    small = "S"
    large = "L"


class Day(enum.Enum):
    first = dt.date(2024, 1, 1)
    last = dt.date(2024, 12, 31)


class Address(Schema):
    city = fields.String(required=True)
    number = fields.Integer(validate=validate.Range(min=1))


class Person(Schema):
    name = fields.String(required=True, validate=validate.Length(min=1, max=20))
    home = fields.Nested(Address, required=True, metadata={"description": "where"})
    work = fields.Nested(Address, allow_none=True)
    old = fields.List(fields.Nested(Address))
    many = fields.Nested(Address, many=True)
    by = fields.Dict(values=fields.Nested(Address))
    city = fields.Pluck(Address, "city")


class Node(Schema):
    name = fields.String(required=True)
    kids = fields.List(fields.Nested(lambda: Node()))
    leaf = fields.Nested(lambda: Node(exclude=("kids", "leaf")), allow_none=True)


class Author(Schema):
    name = fields.String()
    books = fields.Nested(lambda: Book(many=True))


class Book(Schema):
    title = fields.String(required=True)
    author = fields.Nested(lambda: Author())


class Grid(Schema):
    rows = fields.List(fields.List(fields.Nested(Address)))
    table = fields.Dict(keys=fields.String(), values=fields.List(fields.Integer()))


class Open(Schema):
    class Meta:
        unknown = INCLUDE

    a = fields.Integer(required=True)


class Loose(Schema):
    class Meta:
        unknown = EXCLUDE

    a = fields.Integer()
    inner = fields.Nested(Address, unknown=EXCLUDE)


class Period(Schema):
    first = fields.Integer(required=True)
    last = fields.Integer(required=True)

    @validates_schema
    def in_order(self, data: Mapping[str, Any], **kwargs: object) -> None:
        """The first must not come after the last."""
        if data["first"] > data["last"]:
            raise ValidationError("first comes after last")


class Checked(Schema):
    slug = fields.String(required=True)

    @validates("slug")
    def known(self, value: str, **kwargs: object) -> None:
        """Only slugs without an x are known."""
        if "x" in value:
            raise ValidationError("unknown slug")


class Prepared(Schema):
    word = fields.String(validate=validate.OneOf(["red", "green"]))

    @pre_load
    def lower(self, data: Any, **kwargs: object) -> Any:
        if isinstance(data, dict) and isinstance(data.get("word"), str):
            return {**data, "word": data["word"].lower()}
        return data

    @post_load
    def make(self, data: Any, **kwargs: object) -> Any:
        return data


class Shared(Schema):
    id = fields.Integer(required=True, dump_only=True)
    name = fields.String(required=True)
    password = fields.String(required=True, load_only=True)
    kind = fields.Constant("post")
    size = fields.Function(lambda obj: 1)
    class_ = fields.String(data_key="class", attribute="kind_of")


class Base(Schema):
    a = fields.String(required=True)


class Child(Base):
    b = fields.Float(load_default=1.5)


class Dates(Schema):
    class Meta:
        dateformat = "%d/%m/%Y"
        datetimeformat = "timestamp"

    day = fields.Date()
    at = fields.DateTime()


class Even(fields.Integer):
    """An even number."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        found = super()._deserialize(value, attr, data, **kwargs)
        if found % 2:
            raise ValidationError("Odd.")
        return found


class Pin(fields.Field):  # type: ignore[type-arg]  # marshmallow 3 has no type arguments
    """Four digits."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **kwargs: Any) -> Any:
        if not (isinstance(value, str) and re.fullmatch("[0-9]{4}", value)):
            raise ValidationError("No pin.")
        return value


class Tag(fields.String):
    """A subclass that changes nothing."""


def is_even(value: int) -> None:
    """Only even numbers."""
    if value % 2:
        raise ValidationError("Odd.")


_ONE: dict[str, tuple[Any, str | None]] = {
    "string": (fields.String(), None),
    "string required": (fields.String(required=True), None),
    "string null": (fields.String(allow_none=True), None),
    "string default": (fields.String(load_default="x"), None),
    "string none default": (fields.String(load_default=None), None),
    "subclass": (Tag(validate=validate.Length(max=3)), None),
    "uuid": (fields.UUID(load_default=uuid.UUID(int=1)), "format"),
    "integer": (fields.Integer(), None),
    "integer strict": (fields.Integer(strict=True, required=True), None),
    "integer text": (fields.Integer(as_string=True), None),
    "float": (fields.Float(), None),
    "float text": (fields.Float(as_string=True), None),
    "decimal": (fields.Decimal(load_default=Decimal("1.10")), None),
    "decimal places": (fields.Decimal(places=2, validate=validate.Range(min=0, min_inclusive=False)), None),
    "decimal text": (fields.Decimal(as_string=True), None),
    "boolean": (fields.Boolean(required=True), None),
    "boolean words": (fields.Boolean(truthy={"ja"}, falsy={"nein"}), None),
    "date": (fields.Date(load_default=dt.date(2024, 1, 1)), "format"),
    "date custom": (fields.Date(format="%d.%m.%Y"), "form"),
    "time": (fields.Time(), "form"),
    "datetime": (fields.DateTime(load_default=dt.datetime.now), "form"),
    "datetime aware": (fields.AwareDateTime(), "format"),
    "datetime aware default": (fields.AwareDateTime(default_timezone=dt.timezone.utc), "form"),  # noqa: UP017  # mm3's name
    "datetime naive": (fields.NaiveDateTime(), "form"),
    "datetime rfc": (fields.DateTime(format="rfc"), "form"),
    "datetime custom": (fields.DateTime(format="%Y/%m/%d %H:%M"), "form"),
    "timestamp": (fields.DateTime(format="timestamp"), None),
    "timestamp ms": (fields.DateTime(format="timestamp_ms", required=True), None),
    "timedelta": (fields.TimeDelta(), None),
    "timedelta days": (fields.TimeDelta("days", validate=validate.Range(min=dt.timedelta(days=1))), None),
    "email": (fields.Email(), "format"),
    "url": (fields.Url(), "format"),
    "url relative": (fields.Url(relative=True), "format"),
    "ip": (fields.IP(), "form"),
    "ipv4": (fields.IPv4(), "format"),
    "ipv6": (fields.IPv6(), "format"),
    "interface": (fields.IPInterface(), "form"),
    "interface v4": (fields.IPv4Interface(), "form"),
    "enum name": (fields.Enum(Colour, load_default=Colour.red), None),
    "enum value": (fields.Enum(Colour, by_value=True, required=True), None),
    "enum text value": (fields.Enum(Size, by_value=fields.String, allow_none=True), None),
    "enum date": (fields.Enum(Day, by_value=fields.Date), None),
    "raw": (fields.Raw(), None),
    "raw null": (fields.Raw(allow_none=True), None),
    "constant": (fields.Constant(3), None),
    "function": (fields.Function(deserialize=lambda value: str(value)), None),
    "unknown class": (Pin(), "callable"),
    "own integer": (Even(), "callable"),
    "list": (fields.List(fields.Integer()), None),
    "list of lists": (fields.List(fields.List(fields.Boolean())), None),
    "list nulls": (fields.List(fields.String(allow_none=True), required=True), None),
    "list dates": (fields.List(fields.Date()), "format"),
    "tuple": (fields.Tuple((fields.Integer(), fields.String())), None),
    "tuple alike": (fields.Tuple((fields.Float(), fields.Float())), None),
    "dict": (fields.Dict(), None),
    "dict values": (fields.Dict(values=fields.Integer()), None),
    "dict keys": (fields.Dict(keys=fields.String(validate=validate.Length(max=3)), values=fields.Float()), None),
    "dict integer keys": (fields.Dict(keys=fields.Integer(), values=fields.String()), None),
    "dict enum keys": (fields.Dict(keys=fields.Enum(Colour)), None),
    "range": (fields.Integer(validate=validate.Range(min=1, max=5)), None),
    "range open": (fields.Float(validate=validate.Range(0, 1, min_inclusive=False, max_inclusive=False)), None),
    "range twice": (fields.Integer(validate=[validate.Range(min=1), validate.Range(min=3, max=9)]), None),
    "range date": (fields.Date(validate=validate.Range(min=dt.date(2024, 1, 1))), "words"),
    "length": (fields.String(validate=validate.Length(min=2, max=4)), None),
    "length equal": (fields.List(fields.Integer(), validate=validate.Length(equal=2)), None),
    "length dict": (fields.Dict(validate=validate.Length(min=1, max=2)), None),
    "length raw": (fields.Raw(validate=validate.Length(max=2)), None),
    "one of": (fields.String(validate=validate.OneOf(["a", "b"], labels=["A", "B"])), None),
    "one of null": (fields.String(validate=validate.OneOf(["a", "b"]), allow_none=True), None),
    "one of numbers": (fields.Integer(validate=validate.OneOf([1, 2, 3])), None),
    "one of floats": (fields.Float(validate=validate.OneOf([0.5, 1])), None),
    "one of dates": (fields.Date(validate=validate.OneOf([dt.date(2024, 1, 1)])), None),
    "one of twice": (fields.String(validate=[validate.OneOf(["a", "b"]), validate.OneOf(["b", "c"])]), None),
    "none of": (fields.String(validate=validate.NoneOf(["a", ""])), None),
    "none of numbers": (fields.Integer(validate=[validate.NoneOf([0]), validate.NoneOf([1])]), None),
    "equal": (fields.String(validate=validate.Equal("x")), None),
    "equal list": (fields.List(fields.Integer(), validate=validate.Equal([1, 2])), None),
    "regexp": (fields.String(validate=validate.Regexp(r"abc")), None),
    "regexp branches": (fields.String(validate=validate.Regexp(r"a|b")), None),
    "regexp anchored": (fields.String(validate=validate.Regexp(r"^[a-z]+(?:-[a-z0-9]+)*$")), None),
    "regexp classes": (fields.String(validate=validate.Regexp(r"\d{1,3}[^\s,]?.{0,2}$")), None),
    "regexp ahead": (fields.String(validate=validate.Regexp(r"(?=.*[A-Z])(?!.*!).+")), None),
    "regexp twice": (fields.String(validate=[validate.Regexp(r"a"), validate.Regexp(r".*b$")]), None),
    "regexp python": (fields.String(validate=validate.Regexp(r"(?P<year>\d{4})\Z")), "pattern"),
    "regexp flags": (fields.String(validate=validate.Regexp(r"^a+$", re.IGNORECASE)), "pattern"),
    "regexp words": (fields.String(validate=validate.Regexp(r"^\w+$")), "pattern"),
    "contains only": (fields.List(fields.String(), validate=validate.ContainsOnly(["a", "b"])), None),
    "contains none of": (fields.List(fields.String(), validate=validate.ContainsNoneOf(["z"])), None),
    "and": (fields.String(validate=validate.And(validate.Length(min=2), validate.OneOf(["aa", "bb"]))), None),
    "email validator": (fields.String(validate=validate.Email()), "format"),
    "url validator": (fields.String(validate=[validate.URL(schemes=["https"]), validate.Length(max=30)]), "format"),
    "predicate": (fields.String(validate=validate.Predicate("isalpha")), "callable"),
    "callable": (fields.Integer(validate=[is_even, validate.Range(max=10)]), "callable"),
}


def catalogue() -> list[Entry]:
    """Build every entry anew, with instances of its own."""
    alone = [
        Entry(name, Schema.from_dict({"v": field})(), {"v": reason} if reason else {})
        for name, (field, reason) in _ONE.items()
    ]
    together = [
        Entry("empty", Schema.from_dict({})()),
        Entry("nested", Person()),
        Entry("nested many only", Person(only=("name", "old.city", "home"))),
        Entry("partial", Person(partial=True)),
        Entry("partial some", Person(partial=("name", "home.city"))),
        Entry("recursive", Node()),
        Entry("mutually recursive", Author()),
        Entry("grid", Grid()),
        Entry("include", Open()),
        Entry("exclude", Loose()),
        Entry("whole", Period(), {"": "whole"}),
        Entry("checked", Checked(), {"slug": "callable"}),
        Entry("prepared", Prepared()),
        Entry("shared", Shared()),
        Entry("inherited", Child()),
        Entry("formats of the class", Dates(), {"day": "form"}),
    ]
    return [*alone, *together]
