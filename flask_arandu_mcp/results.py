"""Dump what a handler gives back, and let nothing out that breaks the schema that was shown. What has no schema is
made plain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Set, ValuesView
from typing import Any, TypeAlias

from marshmallow import Schema
from marshmallow.fields import Field

from .schemas.convert import ConversionError, Table, output_schema
from .schemas.culprit import culprit
from .schemas.declared import schema_of_declared
from .schemas.dumping import Dump, dumper
from .schemas.errors import UNLUCKY
from .schemas.plain import ResultFault, plain
from .schemas.raw import RawSchema, is_raw
from .schemas.shown import Shown
from .typing import JSONObject

__all__ = ["ConversionError", "ResultFault", "Results", "ResultsDeclaration", "plain"]

ResultsDeclaration: TypeAlias = "Schema | type[Schema] | Mapping[str, Field[Any]] | Mapping[str, object] | Shown | None"
"""A Schema class or instance, fields by their names, a JSON Schema of the author's own or made already, or nothing."""

_ENDLESS = "it contains itself, or nests too deeply; give data that ends"


def _is_several(value: object) -> bool:
    if isinstance(value, tuple):
        return not hasattr(value, "_fields")
    return isinstance(value, list | Set | deque | Iterator | ValuesView)


class Results:
    """What a declaration gives back, as JSON Schema and as what dumps it.

    `name` says whose results they are in a message; `table` is what the server says of its own field classes. With
    nothing declared there is no schema, and `dump` makes plain what it gets. Raises `ConversionError`.
    """

    __slots__ = ("_dump", "_raw", "_schema", "output_schema")

    def __init__(self, declared: ResultsDeclaration, *, name: str, table: Table | None = None) -> None:
        self._schema: Schema | None = None
        self._raw: RawSchema | Shown | None = None
        self._dump: Dump = plain
        self.output_schema: JSONObject | None = None
        if declared is None:
            return
        if isinstance(declared, Shown) or (isinstance(declared, Mapping) and is_raw(declared)):
            self._raw = declared if isinstance(declared, Shown) else RawSchema(declared, name)
            self.output_schema = self._raw.schema
            return
        try:
            self._schema = schema_of_declared(declared)
            self.output_schema = output_schema(self._schema, table)
        except ConversionError as error:
            raise ConversionError(f"{name}: {error}") from error
        self._dump = dumper(self._schema, self.output_schema)

    def dump(self, value: object) -> object:
        """Give a value as dicts, lists, strings, integers, finite floats, booleans and None.

        Raises `ResultFault`, which names the place, for what JSON cannot carry or the declared schema does not say.
        What the app's own code raises while it dumps is not caught.
        """
        try:
            if self._schema is not None:
                return self._dumped(self._schema, value)
            found = plain(value)
            if self._raw is not None and (faults := self._raw.faults(found)):
                raise ResultFault("; ".join(faults))
            return found
        except RecursionError:
            raise ResultFault(_ENDLESS) from None

    def _dumped(self, schema: Schema, value: object) -> object:
        """Dump a value, after refusing what marshmallow would dump into an empty object without a word."""
        if schema.many and (value is None or isinstance(value, str | bytes | Mapping)):
            raise ResultFault(
                f"the schema of the result has many=True, but a {type(value).__name__} was given back; give back a list"
            )
        if not schema.many and (_is_several(value) or value is None or isinstance(value, str | bytes | int | float)):
            raise ResultFault(
                f"the schema of the result describes one object, but a {type(value).__name__} was given back; "
                "declare it with many=True, or give back one object"
            )
        value = list(value) if isinstance(value, Iterator) else value
        try:
            return self._dump(value)
        except UNLUCKY as error:
            fault = culprit(schema, value, schema.many)
            if fault is None:
                raise
            raise fault from error
