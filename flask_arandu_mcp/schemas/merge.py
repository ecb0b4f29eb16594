"""Hold several constraints at once. Each keyword has one rule for what two of its values mean together."""

from __future__ import annotations

from ..typing import JSONObject
from .values import distinct, same, type_of

_LOWER = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_UPPER = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


class Unsatisfiable(ValueError):
    """Say that two constraints leave no value."""


def _choices(schema: JSONObject) -> list[object] | None:
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


def _choose(schema: JSONObject, extra: JSONObject) -> None:
    allowed, known = _choices(extra), _choices(schema)
    if allowed is None:
        return
    if known is not None:
        allowed = [value for value in known if any(same(value, other) for other in allowed)]
    if not allowed:
        raise Unsatisfiable
    single = "const" in schema or "const" in extra
    schema.pop("enum", None)
    schema.update({"const": allowed[0]} if single else {"enum": allowed})


def _forbid(schema: JSONObject, extra: JSONObject) -> None:
    more = extra.get("not")
    if more is None:
        return
    known = schema.get("not")
    if isinstance(known, dict) and isinstance(more, dict) and "enum" in known and "enum" in more:
        schema["not"] = {"enum": distinct([*known["enum"], *more["enum"]])}
    elif known is None:
        schema["not"] = more
    else:
        _also(schema, {"not": more})


def _also(schema: JSONObject, extra: JSONObject) -> None:
    known = schema.get("allOf")
    schema["allOf"] = [*(known if isinstance(known, list) else ()), extra]


def _under(schema: JSONObject, extra: JSONObject) -> None:
    items, more = schema.get("items"), extra.get("items")
    if not isinstance(more, dict):
        return
    if not isinstance(items, dict):
        schema["items"] = more
    elif "$ref" in items:
        schema["items"] = {"allOf": [items, more]}
    else:
        schema["items"] = tightened(items, more)


def tightened(schema: JSONObject, extra: JSONObject) -> JSONObject:
    """Give a schema that takes what both take; raises `Unsatisfiable` where that is nothing."""
    result = dict(schema)
    _choose(result, extra)
    _forbid(result, extra)
    _under(result, extra)
    for key, value in extra.items():
        known = result.get(key)
        if key in _LOWER and isinstance(known, int | float):
            result[key] = max(known, value)  # type: ignore[call-overload]  # bounds are numbers
        elif key in _UPPER and isinstance(known, int | float):
            result[key] = min(known, value)  # type: ignore[call-overload]  # bounds are numbers
        elif key == "pattern" and known is not None and known != value:
            _also(result, {"pattern": value})
        elif key not in ("const", "enum", "not", "items"):
            result.setdefault(key, value)
    return result


def nullable(schema: JSONObject) -> JSONObject:
    """Give a schema that takes null too."""
    if "$ref" in schema or "anyOf" in schema or "allOf" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    result = dict(schema)
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if isinstance(listed := result.get("enum"), list) and None not in listed:
        result["enum"] = [*listed, None]
    kind = result.get("type")
    if isinstance(kind, str):
        kind = [kind]
    if isinstance(kind, list) and "null" not in kind:
        result["type"] = [*kind, "null"]
    if result.get("not") == {"type": "null"}:
        del result["not"]
    return result


def choice(values: list[object]) -> JSONObject:
    """Give the keyword for a list of allowed values; raises `Unsatisfiable` where it is empty."""
    if not values:
        raise Unsatisfiable
    return {"enum": distinct(values)}


def constant(value: object) -> JSONObject:
    """Give the schema of one value, with its type. A null is said by its type, as `const: null` confuses clients."""
    kind = type_of(value)
    if value is None:
        return {"type": kind}
    empty: JSONObject = {"items": {}} if kind == "array" else {}
    return {"type": kind, "const": value, **empty}
