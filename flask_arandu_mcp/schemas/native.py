"""Know the fields and schemas that leave native values as they are: a str in a String, an int in an Integer. It is what
loading and dumping without marshmallow rest on, so whatever might do anything else is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, Final

from marshmallow import Schema, fields

from .hooks import hooks_of

# Only marshmallow's own classes: one that is made from them may do anything.
_KINDS: Final[Mapping[type, type]] = {
    fields.String: str,
    fields.Integer: int,
    fields.Float: float,
    fields.Boolean: bool,
}


def native_kind(field: fields.Field[Any]) -> type | None:
    """Give the type whose values a field leaves as they are; None where the type alone does not tell."""
    if isinstance(field, fields.Boolean):
        own = fields.Boolean
        if field.truthy is not own.truthy or field.falsy is not own.falsy:
            return None
    return _KINDS.get(type(field))


def is_plain(schema: Schema, methods: Iterable[str], tags: Set[str]) -> bool:
    """Tell whether a schema makes dicts, leaves some of marshmallow's methods as they are and has no hooks of some
    kinds."""
    kind = type(schema)
    # Not every version of marshmallow has all of these methods; what is nowhere is overridden nowhere.
    own = all(getattr(kind, name, None) is getattr(Schema, name, None) for name in methods)
    return own and schema.dict_class is dict and tags.isdisjoint(hook.tag for hook in hooks_of(schema))
