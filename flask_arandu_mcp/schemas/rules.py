"""Check what a schema says of a single value: its bounds, its length, its choices, its pattern and its format. Each
keyword becomes one function, and what breaks it is told with the rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from ..typing import JSONObject
from .patterns import compiled
from .plain import ResultFault
from .values import same, type_of

Rule: TypeAlias = Callable[[object], None]
"""Raises `ResultFault` for a value that breaks it."""

_FORMATS = {
    "date": r"\d{4}-\d{2}-\d{2}",
    "date-time": r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})",
}
_BOUNDS: tuple[tuple[str, Callable[[float, float], bool], str], ...] = (
    ("minimum", lambda value, bound: value >= bound, "less than"),
    ("exclusiveMinimum", lambda value, bound: value > bound, "not more than"),
    ("maximum", lambda value, bound: value <= bound, "more than"),
    ("exclusiveMaximum", lambda value, bound: value < bound, "not less than"),
)
_SIZES = {
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


_NAMES = {
    "null": "a null",
    "boolean": "a boolean",
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "array": "an array",
    "object": "an object",
}


def breach(value: object, rule: str) -> ResultFault:
    """Say that a value breaks a rule of the schema that was shown."""
    out = "let the field allow_none" if value is None else "mend the data or the schema"
    return ResultFault(f"the declared result says {rule}, which {_NAMES[type_of(value)]} breaks; {out}")


def rules_of(schema: JSONObject) -> list[Rule]:
    """Compile the keywords of a schema that look at one value, whatever lies in it."""
    rules: list[Rule] = []
    if "const" in schema or "enum" in schema:
        rules.append(_choice(schema))
    barred = schema.get("not")
    if isinstance(barred, dict) and isinstance(barred.get("enum"), list):
        rules.append(_bar(barred["enum"]))
    for key, holds, words in _BOUNDS:
        if isinstance(bound := schema.get(key), int | float):
            rules.append(_bound(bound, holds, f"nothing {words} {bound}"))
    for kind, keys in _SIZES.items():
        if any(key in schema for key in keys):
            rules.append(_size(kind, schema.get(keys[0], 0), schema.get(keys[1])))
    if (pattern := _pattern(schema)) is not None:
        rules.append(pattern)
    return rules


def _choice(schema: JSONObject) -> Rule:
    listed = schema["enum"] if "enum" in schema else [schema["const"]]
    allowed = listed if isinstance(listed, list) else []

    def rule(value: object) -> None:
        if not any(same(value, each) for each in allowed):
            raise breach(value, f"one of {allowed!r}")

    return rule


def _bar(listed: list[object]) -> Rule:
    def rule(value: object) -> None:
        if any(same(value, each) for each in listed):
            raise breach(value, f"none of {listed!r}")

    return rule


def _bound(bound: float, holds: Callable[[float, float], bool], words: str) -> Rule:
    def rule(value: object) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool) and not holds(value, bound):
            raise breach(value, words)

    return rule


def _size(kind: str, low: object, high: object) -> Rule:
    def rule(value: object) -> None:
        if isinstance(value, str | list | dict) and type_of(value) == kind:
            size = len(value)
            if (isinstance(low, int) and size < low) or (isinstance(high, int) and size > high):
                raise breach(value, f"a length of {low} to {'any' if high is None else high}")

    return rule


def _pattern(schema: JSONObject) -> Rule | None:
    pattern = schema.get("pattern")
    found = compiled(pattern) if isinstance(pattern, str) else None
    form = _FORMATS.get(str(schema.get("format")))
    named = None if form is None else re.compile(form, re.ASCII)
    if found is None and named is None:
        return None

    def rule(value: object) -> None:
        if isinstance(value, str):
            if found is not None and not found.search(value):
                raise breach(value, f"the pattern {pattern}")
            if named is not None and not named.fullmatch(value):
                raise breach(value, f"the format {schema['format']}")

    return rule
