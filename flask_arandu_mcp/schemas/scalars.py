"""Read the fields that travel as one text, number or boolean. Each says what it takes in the narrowest way that
still takes all of it.
"""

from __future__ import annotations

import decimal
import enum
from collections.abc import Iterable
from typing import Any

from marshmallow import fields

from ..typing import JSONObject
from .errors import ConversionError
from .merge import constant
from .shapes import Maker, Shape, Turn
from .values import Unsayable, distinct, dumped, loaded, type_of, types_of

_WHOLE = "^-?[0-9]{1,300}$"


def _number_text(digits: int = 300) -> JSONObject:
    return {"type": "string", "pattern": f"^-?[0-9]{{1,{digits}}}(?:\\.[0-9]{{1,300}})?$"}


def _string(field: fields.String, turn: Turn) -> Shape:
    return Shape({"type": "string"}, "text")


def _uuid(field: fields.UUID, turn: Turn) -> Shape:
    words = ("A UUID, such as 123e4567-e89b-12d3-a456-426614174000",)
    return Shape({"type": "string", **({"format": "uuid"} if turn.view == "input" else {})}, "other", words)


def integer_as_text(field: fields.Integer) -> Shape:
    """Read an integer that travels as text, as a value of its own or as a name in an object."""
    return Shape({"type": "string", "pattern": _WHOLE}, "other", ("An integer, as text",))


def _integer(field: fields.Integer, turn: Turn) -> Shape:
    if field.as_string and not (field.strict and turn.view == "input"):
        return integer_as_text(field)
    return Shape({"type": "integer"}, "number")


def _float(field: fields.Float, turn: Turn) -> Shape:
    if not field.as_string:
        return Shape({"type": "number"}, "number")
    text: JSONObject = {"type": "string"} if turn.view == "output" else _number_text()
    return Shape(text, "other", ("A number, as text",))


def _decimal(field: fields.Decimal, turn: Turn) -> Shape:
    places = -int(field.places.as_tuple().exponent) if field.places is not None else None
    words = [] if places is None else [f"Rounded to {places} places"]
    if turn.view == "output":
        return Shape({"type": "string"}, "other", ("A decimal number, as text", *words))
    digits = 300 if places is None else decimal.getcontext().prec - places - 1
    if field.as_string:
        return Shape(_number_text(max(digits, 1)), "other", ("A decimal number, as text", *words))
    if places is None:
        return Shape({"type": "number"}, "number", tuple(words))
    # A number that has no room for its places in the context's precision is refused.
    limit = 10 ** (digits + 1)
    return Shape({"type": "number", "exclusiveMinimum": -limit, "exclusiveMaximum": limit}, "number", tuple(words))


def _boolean(field: fields.Boolean, turn: Turn) -> Shape:
    if turn.view == "output":
        return Shape({"type": "boolean"}, "flag")
    accepted = []
    for value in (True, False, *_sorted(field.truthy), *_sorted(field.falsy)):
        try:
            loaded(field, value)
        except Unsayable:
            continue
        accepted.append(value)
    if True in accepted[:1] and False in accepted[1:2]:
        return Shape({"type": "boolean"}, "flag")
    listed = distinct([value for value in accepted if isinstance(value, str | int | float)])
    return Shape({"type": types_of(listed), "enum": listed}, "other")


def _sorted(values: Iterable[object]) -> list[object]:
    return sorted(values, key=lambda value: (type(value).__name__, str(value)))


def _ip(field: fields.IP, turn: Turn) -> Shape:
    return Shape({"type": "string"}, "other", ("An IPv4 or IPv6 address",))


def _ipv4(field: fields.IPv4, turn: Turn) -> Shape:
    return Shape({"type": "string", "format": "ipv4"}, "other", ("An IPv4 address",))


def _ipv6(field: fields.IPv6, turn: Turn) -> Shape:
    return Shape({"type": "string", "format": "ipv6"}, "other", ("An IPv6 address",))


def _interface(field: fields.IPInterface, turn: Turn) -> Shape:
    return Shape({"type": "string"}, "other", ("An IP address with its network, such as 192.168.0.2/24",))


def _member(field: fields.Enum[Any], member: enum.Enum, turn: Turn) -> object:
    sent = dumped(field, member)
    if turn.view == "input" and loaded(field, sent) != member:
        raise Unsayable
    return sent


def _enum(field: fields.Enum[Any], turn: Turn) -> Shape:
    if not field.by_value:
        return Shape({"type": "string", "enum": list(field.enum.__members__)}, "other")
    values = []
    members: list[enum.Enum] = [*field.enum.__members__.values()]
    for member in members:
        try:
            values.append(_member(field, member, turn))
        except Unsayable:
            continue
    if not values or (turn.view == "output" and len(values) < len(members)):
        if turn.view == "output":
            return Shape({}, "other")
        raise ConversionError(
            f"no value of {field.enum.__name__} can be sent as JSON; "
            "give `by_value` the field that loads its values, or drop it to send names"
        )
    return Shape({"type": types_of(values), "enum": distinct(values)}, "other")


def _constant(field: fields.Constant[Any], turn: Turn) -> Shape:
    try:
        value = dumped(field, field.constant)
        type_of(value)
    except Unsayable:
        return Shape({}, "other")
    return Shape(constant(value), "other")


def as_name(field: fields.Field[Any], said: JSONObject) -> JSONObject:
    """Say of a name in an object what a field says of a value, a name being text always."""
    if isinstance(field, fields.Boolean):
        return {"enum": [value for value in _sorted({*field.truthy, *field.falsy}) if isinstance(value, str)]}
    kind = said.get("type")
    if kind in ("integer", "number"):
        return {"pattern": _WHOLE if kind == "integer" else _number_text()["pattern"]}
    if kind != "string":
        return {}
    return {key: value for key, value in said.items() if key not in ("type", "title", "description", "examples")}


SCALARS: dict[type[fields.Field[Any]], Maker] = {
    fields.String: _string,
    fields.UUID: _uuid,
    fields.Number: _float,
    fields.Integer: _integer,
    fields.Float: _float,
    fields.Decimal: _decimal,
    fields.Boolean: _boolean,
    fields.IP: _ip,
    fields.IPv4: _ipv4,
    fields.IPv6: _ipv6,
    fields.IPInterface: _interface,
    fields.Enum: _enum,
    fields.Constant: _constant,
}
