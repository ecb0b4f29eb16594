"""Find the field that could not be dumped. marshmallow lets the error of a field through without saying which one
it was, and a log that says `invalid literal for int()` helps nobody.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from .errors import UNLUCKY
from .nesting import is_many, schema_of, sent_name
from .plain import ResultFault


def _fails(field: fields.Field[Any], name: str, value: object, schema: Schema) -> Exception | None:
    try:
        field.serialize(name, value, accessor=schema.get_attribute)
    except UNLUCKY as error:
        return error
    return None


def _below(field: fields.Field[Any], name: str, value: object, schema: Schema) -> ResultFault | None:
    if not isinstance(field, fields.Nested) or isinstance(field, fields.Pluck):
        return None
    inner = field.get_value(value, name, accessor=schema.get_attribute)
    return culprit(schema_of(field), inner, is_many(field))


def culprit(schema: Schema, value: object, many: bool) -> ResultFault | None:
    """Give the fault of the first field that cannot dump its value, with its place, or None where none is found.

    Fields that run the app's own code are passed over, since their errors are the app's.
    """
    if many:
        items = enumerate(value) if isinstance(value, Iterable) else ()
        found = ((index, culprit(schema, item, False)) for index, item in items)
        return next((fault.inside(index) for index, fault in found if fault is not None), None)
    for name, field in schema.dump_fields.items():
        if isinstance(field, fields.Method | fields.Function):
            continue
        error = _fails(field, name, value, schema)
        if error is not None:
            fault = _below(field, name, value, schema)
            if fault is None:
                fault = ResultFault(f"{type(field).__name__} cannot dump it ({error}); mend the data or the schema")
            return fault.inside(sent_name(name, field))
    return None
