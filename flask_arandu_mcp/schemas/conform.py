"""Check what goes out against the schema that was shown, and make it plain on the way. marshmallow's dump checks
nothing, and a client refuses a whole answer for one wrong value in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..typing import JSONObject
from .plain import ResultFault, plain, shallow, whole
from .rules import Rule, breach, rules_of
from .values import type_of

Check: TypeAlias = Callable[[object], object]
"""Gives a value as JSON, or raises `ResultFault`."""

_QUICK = {"integer": int, "number": int, "boolean": bool, "null": type(None)}


class _Compiler:
    """Compile the schemas of one document, each definition once."""

    def __init__(self, document: JSONObject) -> None:
        given = document.get("$defs")
        self.definitions = given if isinstance(given, dict) else {}
        self.checks: dict[str, Check] = {}

    def check(self, schema: JSONObject) -> Check:
        if "$ref" in schema:
            return self._reference(str(schema["$ref"]).rpartition("/")[2])
        if "anyOf" in schema:
            return self._any([self.check(each) for each in _schemas(schema["anyOf"])])
        types = schema.get("type")
        names = frozenset([types] if isinstance(types, str) else types if isinstance(types, list) else ())
        rules = [*rules_of(schema), *(_quiet(self.check(each)) for each in _schemas(schema.get("allOf")))]
        if names == {"string"} and not rules:
            return _text
        if not names and not rules and not {"properties", "items", "prefixItems"} & schema.keys():
            return plain
        parts = {"object": self._object(schema), "array": self._array(schema)}
        return _typed(names, parts, rules)

    def _reference(self, name: str) -> Check:
        def run(value: object) -> object:
            if name not in self.checks:
                self.checks[name] = self.check(self.definitions[name])
            return self.checks[name](value)

        return run

    def _any(self, checks: list[Check]) -> Check:
        def run(value: object) -> object:
            for check in checks[1:]:
                try:
                    return check(value)
                except ResultFault:
                    continue
            return checks[0](value)

        return run

    def _object(self, schema: JSONObject) -> Check:
        given = schema.get("properties")
        known = {key: self.check(each) for key, each in given.items()} if isinstance(given, dict) else {}
        rest_schema = schema.get("additionalProperties")
        rest = self.check(rest_schema) if isinstance(rest_schema, dict) else plain
        wanted = schema.get("required")
        required = tuple(wanted) if isinstance(wanted, list) else ()
        closed = rest_schema is False
        check_of = known.get

        def run(value: object) -> object:
            result = {}
            key: object = None
            try:
                for key, item in value.items():  # type: ignore[attr-defined]  # handed dicts only
                    result[key] = check_of(key, rest)(item)
            except ResultFault as fault:
                raise fault.inside(key) from None
            if closed and not result.keys() <= known.keys():
                raise ResultFault(
                    "the declared result is closed, and has names that it does not know; mend the data or the schema"
                )
            for name in required:
                if name not in result:
                    raise ResultFault(
                        f"the declared result promises {name!r}, which is missing; mend the data or the schema"
                    )
            return result

        return run

    def _array(self, schema: JSONObject) -> Check:
        first = [self.check(each) for each in _schemas(schema.get("prefixItems"))]
        items = schema.get("items")
        rest = self.check(items) if isinstance(items, dict) and items else plain

        def run(value: object) -> object:
            result: list[object] = []
            try:
                for item in value:  # type: ignore[attr-defined]  # handed lists only
                    at = len(result)
                    result.append(first[at](item) if at < len(first) else rest(item))
            except ResultFault as fault:
                raise fault.inside(len(result)) from None
            return result

        return run


def _schemas(given: object) -> list[JSONObject]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _text(value: object) -> object:
    if type(value) is str:
        return value if value.isascii() else whole(value)
    found = shallow(value)
    if not isinstance(found, str):
        raise breach(found, "string")
    return found


def _typed(names: frozenset[object], parts: dict[str, Check], rules: list[Rule]) -> Check:
    quick = frozenset(_QUICK[name] for name in names if isinstance(name, str) and name in _QUICK and not rules)

    def run(value: object) -> object:
        if type(value) in quick:
            return value
        found = shallow(value)
        kind = type_of(found)
        if names and kind not in names and not (kind == "integer" and "number" in names):
            raise breach(found, " or ".join(sorted(map(str, names))))
        if kind in parts:
            found = parts[kind](found)
        for rule in rules:
            rule(found)
        return found

    return run


def _quiet(check: Check) -> Rule:
    def rule(value: object) -> None:
        check(value)

    return rule


def conforming(schema: JSONObject) -> Check:
    """Compile what makes a value plain and refuses it where it breaks its schema.

    It knows the keywords that a conversion writes; others, which only an author's own JSON Schema has, it lets pass.
    """
    return _Compiler(schema).check(schema)
