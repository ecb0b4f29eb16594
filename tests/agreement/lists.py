"""Name what JSON Schema cannot say and what marshmallow takes besides. Each entry has its reason; a disagreement
that is in neither list is a fault of the converter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from marshmallow import fields, validate


class Reason(NamedTuple):
    """Why a disagreement is allowed, and for the first list, what the loader says then."""

    why: str
    says: str = "."


LOOSE = {
    "format": Reason(
        "`format` names a form but is not asserted by default, and the grammar of a date, a UUID, an address or a URL "
        "is not to be had portably otherwise",
        r"Not a valid|is not allowed|expected|Invalid value|Field may not",
    ),
    "form": Reason(
        "a text form that no portable `format` names: a time, a date and time that may lack a zone, RFC 822, "
        "a strftime layout, an IP address of either version, an interface",
        r"Not a valid",
    ),
    "words": Reason("a bound or choice on a value that travels as text, such as a date", r"Must be|Not a valid"),
    "pattern": Reason(
        "a regular expression that ECMA-262 reads otherwise or not at all: flags, named groups, \\A and \\Z, "
        "look-behind, \\w and \\b outside ASCII",
        r"does not match",
    ),
    "callable": Reason(
        "the app's own code: a function, a Predicate, a field class with its own _deserialize, @validates"
    ),
    "whole": Reason("validates_schema looks at several fields at once"),
}
"""Where a value that is valid by schema may be refused. The description says so in words at each such place."""

COERCED = {
    "number text": Reason('a number may come as text ("3"), which only strict=True refuses'),
    "text number": Reason("a number with as_string=True may come as a number"),
    "boolean words": Reason('a Boolean takes 0, 1, "yes", "off" and the like'),
    "boolean number": Reason("Python's True is 1, for a TimeDelta, a timestamp of marshmallow 3 or an Enum's value"),
    "spelling": Reason("dates, UUIDs and addresses have other spellings than the one that `format` names"),
    "address": Reason("marshmallow takes localhost and letters beyond ASCII in addresses, `format` does not"),
    "constant": Reason("a Constant takes whatever is sent and loads itself"),
    "rounding": Reason("a Decimal with places is rounded before its bounds are looked at"),
    "newline": Reason("Python's $ forgives one final newline, and its \\d takes the digits of every script"),
    "names": Reason("an integer name in an object may be spelt with blanks, signs and underscores"),
    "prepared": Reason("pre_load makes something valid of what was sent"),
}
"""Where a value that is invalid by schema may be accepted: another spelling of one that is valid."""

_CLASSES: tuple[tuple[type[object], tuple[str, ...]], ...] = (
    (fields.Integer, ("number text", "text number")),
    (fields.Float, ("number text", "text number")),
    (fields.Decimal, ("number text", "text number", "rounding")),
    (fields.Boolean, ("boolean words",)),
    (fields.Constant, ("constant",)),
    (fields.TimeDelta, ("number text", "boolean number")),
    (fields.DateTime, ("spelling", "number text", "boolean number")),
    (fields.Date, ("spelling",)),
    (fields.UUID, ("spelling",)),
    (fields.IP, ("spelling",)),
    (fields.Enum, ("boolean number", "spelling")),
)


_FITS: dict[str, Callable[[Any, object], bool]] = {
    "number text": lambda field, value: isinstance(value, str),
    "text number": lambda field, value: bool(getattr(field, "as_string", False)) and not isinstance(value, str),
    "boolean number": lambda field, value: isinstance(value, bool),
    "rounding": lambda field, value: field.places is not None and isinstance(value, int | float),
    "spelling": lambda field, value: isinstance(value, str),
}


def coercion(field: Any, value: object) -> str | None:
    """Name the coercion that lets a field take a value which its schema does not, or None."""
    for kind, reasons in _CLASSES:
        if issubclass(type(field), kind):
            for reason in reasons:
                if reason not in _FITS or _FITS[reason](field, value):
                    return reason
    if isinstance(getattr(field, "key_field", None), fields.Integer):
        return "names"
    for validator in field.validators:
        if isinstance(validator, validate.Email | validate.URL):
            return "address"
        if isinstance(validator, validate.Regexp) and re.search(r"\$|\\d", str(validator.regex.pattern)):
            return "newline"
    return None
