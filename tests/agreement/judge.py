"""Decide what a JSON Schema says of a value as a JavaScript client would: patterns are ECMA-262's, formats are
asserted where asked. And lint schemas as the pickiest clients do.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import jsonschema.validators
import referencing

_PYTHON_ONLY = re.compile(r"\(\?P|\(\?<[=!]|\(\?[aiLmsux]+[:)]|\\[AZ]|[*+?}]\+")
NO_SCHEMA = "no Draft 2020-12"
_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "not", "propertyNames", "contains", "if", "then", "else")
_FORMATS = {
    "date": r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])",
    "date-time": r"\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:?\d\d)",
    "uuid": r"(urn:uuid:)?[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",
    "email": r"[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-zA-Z0-9!#$%&'*+/=?^_`{|}~-]+)*@([a-zA-Z0-9-]+\.)+[a-zA-Z0-9-]+",
    "uri": r"[a-zA-Z][a-zA-Z0-9+.-]*:[!-~]*",
    "uri-reference": r"[!-~]*",
    "ipv4": r"\d{1,3}(\.\d{1,3}){3}",
    "ipv6": r"[0-9a-fA-F:.]+",
}


@cache
def _ecma(pattern: str) -> re.Pattern[str]:
    # An end anchor of Python's forgives a final newline, and its classes know every script.
    ended = re.sub(r"(?<!\\)((?:\\\\)*)\$(?=$|\))", r"\1\\Z", pattern)
    return re.compile(ended, re.ASCII)


def _pattern(validator: Any, pattern: str, instance: object, schema: object) -> Iterator[jsonschema.ValidationError]:
    if isinstance(instance, str) and not _ecma(pattern).search(instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match {pattern!r}")


_extend: Any = jsonschema.validators.extend
_Judge = _extend(jsonschema.Draft202012Validator, {"pattern": _pattern})
_CHECKER = jsonschema.FormatChecker(formats=())
for _name, _form in _FORMATS.items():
    _CHECKER.checks(_name)(
        lambda value, form=re.compile(_form, re.ASCII): not isinstance(value, str) or bool(form.fullmatch(value))
    )


def judge(document: dict[str, Any], formats: bool) -> Any:
    """Make what validates against a document; with `formats` it asserts them."""
    return _Judge(document, registry=referencing.Registry(), format_checker=_CHECKER if formats else None)


def _below(schema: dict[str, Any]) -> Iterator[object]:
    for key in _MAPS:
        found = schema.get(key)
        yield from found.values() if isinstance(found, dict) else ()
    for key in _LISTS:
        yield from schema.get(key) or ()
    yield from (schema[key] for key in _SINGLE if key in schema)
    if isinstance(schema.get("additionalProperties"), dict):
        yield schema["additionalProperties"]


def _keywords(schema: dict[str, Any]) -> Iterator[str]:
    types = schema.get("type")
    if "array" in (types if isinstance(types, list) else [types]) and "items" not in schema:
        yield "an array without items"
    yield from (f"{key}: null" for key, value in schema.items() if value is None)
    if "$ref" in schema and not str(schema["$ref"]).startswith("#"):
        yield "a reference to elsewhere"
    if schema.get("enum", ["some"]) == []:
        yield "an empty enum"
    if isinstance(pattern := schema.get("pattern"), str) and _PYTHON_ONLY.search(pattern):
        yield "a pattern that only Python reads"
    if schema.get("format") not in (None, *_FORMATS):
        yield f"format: {schema['format']}"


def _lint(schema: object) -> Iterator[str]:
    if not isinstance(schema, dict):
        yield f"{schema!r} stands where a schema should"
        return
    yield from _keywords(schema)
    if isinstance(required := schema.get("required"), list):
        missing = set(required) - set(schema.get("properties", {}))
        if missing or len(required) != len(set(required)):
            yield "required names that are not there, or twice"
    for below in _below(schema):
        yield from _lint(below)


def complaints(document: dict[str, Any]) -> list[str]:
    """List what Draft 2020-12 or a picky client refuses in a document."""
    found = []
    try:
        json.dumps(document, allow_nan=False)
        jsonschema.Draft202012Validator.check_schema(document)
    except (jsonschema.SchemaError, TypeError, ValueError) as error:
        found.append(f"{NO_SCHEMA}: {str(error).splitlines()[0]}")
    if document.get("type") != "object" or not isinstance(document.get("properties"), dict):
        found.append("the root is no object with properties")
    if any(key in document for key in ("$ref", "anyOf", "oneOf", "allOf")):
        found.append("a combinator or a reference at the root")
    return found + list(_lint(document))
