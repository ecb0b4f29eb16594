"""Read each class of marshmallow's fields as JSON Schema. A table maps a class to one small function; a class
that it does not hold is read as its nearest ancestor.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from marshmallow import fields

from ..typing import JSONObject
from .errors import ConversionError
from .nesting import is_many
from .scalars import SCALARS, as_name
from .shapes import Maker, Shape, Turn
from .temporal import TEMPORAL


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
    if key is None or turn.view == "output":
        return {}, ()
    if isinstance(key, fields.Integer) and key.strict:
        raise ConversionError("its keys are strict integers, but the names in a JSON object are text; drop `strict`")
    said = dict(turn.inner(key, "keys"))
    words = said.get("description")
    return as_name(key, said), () if words is None else ("Names:", words)


def _mapping(field: Any, turn: Turn) -> Shape:
    schema: JSONObject = {"type": "object"}
    names, words = _names(field, turn)
    if names:
        schema["propertyNames"] = names
    if field.value_field is not None:
        schema["additionalProperties"] = turn.inner(field.value_field, "values")
    plain = field.key_field is None or isinstance(field.key_field, fields.String)
    return Shape(schema, "object" if plain else "other", words)


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


def _anything(field: fields.Field[Any], turn: Turn) -> Shape:
    return _some(field, turn) if type(field) is fields.Field else Shape({}, "any")


FIELDS: MappingProxyType[type[fields.Field[Any]], Maker] = MappingProxyType(
    {
        **SCALARS,
        **TEMPORAL,
        fields.Field: _anything,
        fields.Raw: _some,
        fields.List: _list,
        fields.Tuple: _tuple,
        fields.Mapping: _mapping,
        fields.Nested: _nested,
        fields.Pluck: _pluck,
        fields.Method: _some,
        fields.Function: _some,
    }
)
"""What reads each class of fields, looked up along the classes that a field inherits from."""


def known(field: fields.Field[Any]) -> Maker:
    """Find what reads a field: the entry of the nearest class that it inherits from."""
    return next(FIELDS[kind] for kind in type(field).__mro__ if kind in FIELDS)
