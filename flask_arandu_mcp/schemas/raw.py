"""Check values against a JSON Schema that the author wrote, by the `jsonschema` package. It is imported when such a
schema is declared and not before; nothing is ever retrieved from anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from ..typing import JSONObject
from .errors import ConversionError
from .values import Unsayable, as_json

_DATA = frozenset({"enum", "const", "default", "examples", "example"})


def is_raw(declared: object) -> bool:
    """Tell a JSON Schema from a mapping of fields: its `type` is a word."""
    return isinstance(declared, Mapping) and isinstance(declared.get("type"), str)


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield value
            elif key not in _DATA:
                yield from _references(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value)


def _imported(name: str) -> tuple[Any, Any]:
    try:
        found = import_module("jsonschema"), import_module("referencing.jsonschema")
    except ModuleNotFoundError as error:
        raise ConversionError(
            f"{name}: a JSON Schema of your own is checked by the package jsonschema, which is not installed; "
            "install flask-arandu-mcp[jsonschema], or declare marshmallow fields"
        ) from error
    return found


def _check_references(schema: JSONObject, resolver: Any, name: str) -> None:
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise ConversionError(
                f"{name}: its JSON Schema refers to {reference!r}, and nothing is fetched; "
                "write what it means under $defs and refer to that"
            )
        try:
            resolver.lookup(reference)
        except import_module("referencing.exceptions").Unresolvable as error:
            raise ConversionError(f"{name}: its JSON Schema has no {reference!r}; define it") from error


class RawSchema:
    """A JSON Schema of the author's own, passed through whole, and what checks a value against it."""

    def __init__(self, declared: Mapping[str, object], name: str) -> None:
        try:
            found = as_json(declared)
        except Unsayable:
            raise ConversionError(f"{name}: its JSON Schema is not JSON; give dicts, lists and scalars") from None
        assert isinstance(found, dict)
        self.schema: JSONObject = found
        self.errors: Callable[[object], Iterator[Any]] = self._checker(name)

    def _checker(self, name: str) -> Callable[[object], Iterator[Any]]:
        jsonschema, referencing = _imported(name)
        kind = jsonschema.validators.validator_for(self.schema, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(self.schema)
        except jsonschema.SchemaError as error:
            raise ConversionError(
                f"{name}: its JSON Schema is not valid at {error.json_path}: {error.message}; mend it"
            ) from error
        # An empty registry that is given takes the place of the one that fetches.
        registry = referencing.EMPTY_REGISTRY
        written = referencing.specification_with(kind.META_SCHEMA["$schema"]).create_resource(self.schema)
        _check_references(self.schema, registry.resolver_with_root(written), name)
        checker: Callable[[object], Iterator[Any]] = kind(self.schema, registry=registry).iter_errors
        return checker

    def faults(self, value: object) -> tuple[str, ...]:
        """List what is wrong with a value, as `path: message`; values of writeOnly members are not repeated."""
        found = []
        for error in self.errors(value):
            path = ".".join(str(part) for part in error.absolute_path)
            message = "Invalid value." if self._is_secret(list(error.absolute_path), value) else error.message
            found.append(f"{path}: {message}" if path else message)
        return tuple(dict.fromkeys(found))

    def _is_secret(self, path: list[object], value: object) -> bool:
        properties = self.schema.get("properties")
        if not isinstance(properties, dict):
            return False
        hidden = [key for key, each in properties.items() if isinstance(each, dict) and each.get("writeOnly")]
        return bool(hidden) and (not path or path[0] in hidden)
