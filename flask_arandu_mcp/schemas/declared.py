"""Make the one Schema instance that a declaration stands for. What marshmallow finds wrong with it then, it says
with the name of the field.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields
from marshmallow.exceptions import MarshmallowError

from .errors import UNLUCKY, ConversionError


def _from_fields(declared: Mapping[str, object]) -> type[Schema]:
    for name, field in declared.items():
        if not isinstance(field, fields.Field):
            raise ConversionError(
                f"is {field!r}, but marshmallow fields are wanted; write fields.String() or alike", name
            )
        if name == "Meta":
            raise ConversionError("marshmallow keeps this name for itself; call the field otherwise", name)
    return Schema.from_dict({name: field for name, field in declared.items() if isinstance(field, fields.Field)})


def _check_methods(kind: type[Schema], declared: Mapping[str, fields.Field[Any]]) -> None:
    for name, field in declared.items():
        if isinstance(field, fields.Method):
            for method in (field.serialize_method_name, field.deserialize_method_name):
                if method is not None and not callable(getattr(kind, method, None)):
                    raise ConversionError(f"{kind.__name__} has no method {method!r}; write it, or name another", name)


def schema_of_declared(declared: object) -> Schema:
    """Give the schema of a mapping of fields, a Schema class or an instance, which is taken as it is.

    Raises `ConversionError` for anything else, and where marshmallow cannot make one.
    """
    if isinstance(declared, Schema):
        return declared
    kind = _from_fields(declared) if isinstance(declared, Mapping) else declared
    if not (isinstance(kind, type) and issubclass(kind, Schema)):
        raise ConversionError(f"{declared!r} is no schema; give a dict of fields, a Schema class or an instance")
    _check_methods(kind, kind._declared_fields)
    try:
        return kind()
    except (*UNLUCKY, MarshmallowError) as error:
        raise ConversionError(
            f"{kind.__name__} cannot be made ({type(error).__name__}: {error}); give an instance, or mend the class"
        ) from error
