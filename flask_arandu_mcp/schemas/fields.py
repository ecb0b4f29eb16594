"""Read each class of marshmallow's fields as JSON Schema. A table maps a class to one small function; a class
that it does not hold is read as its nearest ancestor.
"""

from __future__ import annotations

import decimal
import enum
from collections.abc import Iterable
from types import MappingProxyType
from typing import Any

from marshmallow import fields

from ..typing import JSONObject
from .errors import ConversionError
from .merge import constant
from .nesting import is_many
from .shapes import Maker, Shape, Turn
from .temporal import TEMPORAL
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


def _list(field: fields.List[Any], turn: Turn) -> Shape:
    return Shape({"type": "array", "items": turn.inner(field.inner, "items")}, "array")


def _tuple(field: fields.Tuple, turn: Turn) -> Shape:
    inner = [turn.inner(each, str(index)) for index, each in enumerate(field.tuple_fields)]
    schema: JSONObject = {"type": "array"}
    if inner and all(each == inner[0] for each in inner):
        schema["items"] = inner[0]
    else:
        # Clients want `items` wherever there is an array; here it is about what would follow the last.
        schema |= {"prefixItems": inner, "items": {}} if inner else {"items": {}}
    return Shape({**schema, "minItems": len(inner), "maxItems": len(inner)}, "array")


def _names(field: Any, turn: Turn) -> tuple[JSONObject, tuple[object, ...]]:
    key = field.key_field
    if key is None:
        return {}, ()
    if isinstance(key, fields.Integer) and key.strict and turn.view == "input":
        raise ConversionError("its keys are strict integers, but the names in a JSON object are text; drop `strict`")
    said = dict(turn.inner(key, "keys"))
    words = said.pop("description", None)
    if said.get("type") in ("integer", "number"):
        said = {"pattern": _WHOLE} if said["type"] == "integer" else {"pattern": _number_text()["pattern"]}
    elif said.get("type") == "boolean":
        said = {"enum": [value for value in _sorted({*key.truthy, *key.falsy}) if isinstance(value, str)]}
    elif said.get("type") == "string":
        said.pop("type")
    else:
        said = {}
    said.pop("title", None)
    return said, () if words is None else ("Names:", words)


def _mapping(field: Any, turn: Turn) -> Shape:
    schema: JSONObject = {"type": "object"}
    names, words = _names(field, turn)
    if names and turn.view == "input":
        schema["propertyNames"] = names
    if field.value_field is not None:
        schema["additionalProperties"] = turn.inner(field.value_field, "values")
    plain = field.key_field is None or isinstance(field.key_field, fields.String)
    return Shape(schema, "object" if plain else "other", words if turn.view == "input" else ())


def _repeated(field: fields.Nested, one: JSONObject, kind: Any, turn: Turn) -> Shape:
    if not is_many(field):
        return Shape(one, kind)
    if turn.view == "input" and field.many and not field.schema.many:
        raise ConversionError(
            "marshmallow does not hand many=True on to a Schema instance; "
            "nest the class, or an instance made with many=True"
        )
    return Shape({"type": "array", "items": one}, "array")


def _nested(field: fields.Nested, turn: Turn) -> Shape:
    return _repeated(field, turn.nested(field), "nested", turn)


def _pluck(field: fields.Pluck, turn: Turn) -> Shape:
    return _repeated(field, turn.plucked(field, field.field_name), "nested", turn)


def _some(field: fields.Field[Any], turn: Turn) -> Shape:
    """Read a field that takes anything but null, which is no value to marshmallow."""
    return Shape({} if turn.view == "output" else {"not": {"type": "null"}}, "any")


def _constant(field: fields.Constant[Any], turn: Turn) -> Shape:
    try:
        value = dumped(field, field.constant)
        type_of(value)
    except Unsayable:
        return Shape({}, "other")
    return Shape(constant(value), "other")


def _anything(field: fields.Field[Any], turn: Turn) -> Shape:
    return _some(field, turn) if type(field) is fields.Field else Shape({}, "any")


FIELDS: MappingProxyType[type[fields.Field[Any]], Maker] = MappingProxyType(
    {
        **TEMPORAL,
        fields.Field: _anything,
        fields.Raw: _some,
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
        fields.List: _list,
        fields.Tuple: _tuple,
        fields.Mapping: _mapping,
        fields.Nested: _nested,
        fields.Pluck: _pluck,
        fields.Method: _some,
        fields.Function: _some,
        fields.Constant: _constant,
    }
)
"""What reads each class of fields, looked up along the classes that a field inherits from."""


def known(field: fields.Field[Any]) -> Maker:
    """Find what reads a field: the entry of the nearest class that it inherits from."""
    return next(FIELDS[kind] for kind in type(field).__mro__ if kind in FIELDS)
