"""Check what goes out against the schema that was shown, and make it plain on the way. marshmallow's dump checks
nothing, and a client refuses a whole answer for one wrong value in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from ..typing import JSONObject
from .plain import ResultFault, plain, shallow
from .rules import Rule, breach, rules_of
from .values import type_of

Check: TypeAlias = Callable[[object], object]
"""Gives a value as JSON, or raises `ResultFault`."""

_NATIVE = {"string": str, "integer": int, "number": int, "boolean": bool, "null": type(None)}

_BESIDE = frozenset({"$ref", "anyOf", "allOf"})


class Members(NamedTuple):
    """What a schema says of the members of an object.

    :ivar natives: by their names, the types whose values fit as they are, but for a text that is not ASCII.
    :ivar checks: by their names, what checks any value.
    :ivar rest: what checks those of other names.
    :ivar closed: there may be no other names.
    :ivar required: the names that must be there.
    """

    natives: Mapping[str, frozenset[type]]
    checks: Mapping[str, Check]
    rest: Check
    closed: bool
    required: tuple[str, ...]

    def check_names(self, result: Mapping[str, object]) -> None:
        """Refuse an object that has names which it may not have, or lacks some that it must have."""
        if self.closed and not result.keys() <= self.checks.keys():
            raise ResultFault(
                "the declared result is closed, and has names that it does not know; mend the data or the schema"
            )
        for name in self.required:
            if name not in result:
                raise ResultFault(
                    f"the declared result promises {name!r}, which is missing; mend the data or the schema"
                )


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
        names = _names(schema)
        rules = [*rules_of(schema), *(_quiet(self.check(each)) for each in _schemas(schema.get("allOf")))]
        if not names and not rules and not {"properties", "items", "prefixItems"} & schema.keys():
            return plain
        parts = {"object": self._object(schema), "array": self._array(schema)}
        if len(names) == 1 and names <= parts.keys() and not rules:
            return parts[str(*names)]
        return _typed(_natives(schema), names, parts, rules)

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

    def members(self, schema: JSONObject) -> Members:
        given = schema.get("properties")
        shown = {key: each for key, each in given.items() if isinstance(each, dict)} if isinstance(given, dict) else {}
        rest = schema.get("additionalProperties")
        wanted = schema.get("required")
        return Members(
            {key: _natives(each) for key, each in shown.items()},
            {key: self.check(each) for key, each in shown.items()},
            self.check(rest) if isinstance(rest, dict) else plain,
            rest is False,
            tuple(map(str, wanted)) if isinstance(wanted, list) else (),
        )

    def _object(self, schema: JSONObject) -> Check:
        members = self.members(schema)
        natives, checks, rest, _, _ = members
        names = frozenset(filter(str.isascii, checks))

        def run(value: object) -> object:
            given = _as_object(value, names)
            result, key = given, ""
            try:
                for key, item in given.items():
                    # Most values are one of these, and a call for each would take longer than the look.
                    if type(item) in natives.get(key, ()) and (type(item) is not str or item.isascii()):
                        continue
                    checked = checks.get(key, rest)(item)
                    if checked is not item:
                        result = dict(given) if result is given else result
                        result[key] = checked
            except ResultFault as fault:
                raise fault.inside(key) from None
            members.check_names(result)
            return result

        return run

    def _array(self, schema: JSONObject) -> Check:
        first = [self.check(each) for each in _schemas(schema.get("prefixItems"))]
        items = schema.get("items")
        rest = self.check(items) if isinstance(items, dict) and items else plain

        def run(value: object) -> object:
            result: list[object] = []
            try:
                for item in _as_array(value):
                    at = len(result)
                    result.append(first[at](item) if at < len(first) else rest(item))
            except ResultFault as fault:
                raise fault.inside(len(result)) from None
            return result

        return run


def _as_object(value: object, names: frozenset[str]) -> dict[str, Any]:
    """A value as a dict with names that can go out, of which some are known."""
    if type(value) is dict and value.keys() <= names:
        return value
    found = shallow(value)
    if not isinstance(found, dict):
        raise breach(found, "object")
    return found


def _as_array(value: object) -> list[Any]:
    found = shallow(value)
    if not isinstance(found, list):
        raise breach(found, "array")
    return found


def _schemas(given: object) -> list[JSONObject]:
    return [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []


def _names(schema: JSONObject) -> frozenset[object]:
    types = schema.get("type")
    return frozenset([types] if isinstance(types, str) else types if isinstance(types, list) else ())


def _natives(schema: JSONObject) -> frozenset[type]:
    """The types whose values fit a schema as they are, but for a text that is not ASCII."""
    if rules_of(schema) or schema.keys() & _BESIDE:
        return frozenset()
    return frozenset(_NATIVE[name] for name in _names(schema) if isinstance(name, str) and name in _NATIVE)


def _typed(natives: frozenset[type], names: frozenset[object], parts: dict[str, Check], rules: list[Rule]) -> Check:
    def run(value: object) -> object:
        if type(value) in natives and (type(value) is not str or value.isascii()):
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


def members_of(document: JSONObject) -> Members | None:
    """Compile what a schema says of the members of its object, or of each object in its array; None where it is of
    another kind, or says something of the whole."""
    items = document.get("items")
    schema = items if document.get("type") == "array" and isinstance(items, dict) else document
    if schema.get("type") != "object" or rules_of(schema) or rules_of(document) or schema.keys() & _BESIDE:
        return None
    return _Compiler(document).members(schema)
