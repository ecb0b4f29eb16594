"""Arguments as they are typed on a command line, `name=value`, made the values that a tool's schema says. Where the
schema leaves a choice, text that is JSON is taken for JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Never

from ..typing import JSONObject

_YES = frozenset({"true", "yes", "y", "on", "1"})
_NO = frozenset({"false", "no", "n", "off", "0"})
_REST = "give all arguments as JSON, with --json FILE"


class Mistyped(ValueError):
    """What cannot be made an argument: the culprit, the rule and the way out."""


def typed(words: Iterable[str], schema: Mapping[str, Any]) -> JSONObject:
    """The arguments that words such as `limit=3` stand for. A name that comes again adds to a list.

    :param schema: the tool's `inputSchema`.
    :raises Mistyped: for the first word that stands for none.
    """
    given: dict[str, list[str]] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or not equals:
            raise Mistyped(f"{word!r} is no argument: write name=value, or {_REST}.")
        given.setdefault(name, []).append(text)
    return {name: _readable(name, texts, schema) for name, texts in given.items()}


def _readable(name: str, texts: Sequence[str], schema: Mapping[str, Any]) -> object:
    try:
        return _argument(name, texts, schema)
    except RecursionError:
        raise Mistyped(f"{name}: its lists and objects are too deep to be read: give flatter ones.") from None


def _argument(name: str, texts: Sequence[str], schema: Mapping[str, Any]) -> object:
    properties = schema.get("properties", {})
    if name not in properties:
        if schema.get("additionalProperties") is not False:
            return _free(texts[-1])
        way_out = f"write one of {', '.join(properties)}" if properties else "leave it out, as it has none"
        raise Mistyped(f"the tool has no argument {name!r}: {way_out}.")
    said = _resolved(properties[name], schema)
    kinds = _kinds(said)
    if "array" in kinds and not (len(texts) == 1 and _is_json_list(texts[0])):
        items = _resolved(said.get("items", {}), schema)
        return [_value(name, text, items, _kinds(items)) for text in texts]
    if len(texts) > 1:
        raise Mistyped(f"{name!r} is given {len(texts)} times, and is no list: give it once.")
    return _value(name, texts[0], said, kinds)


def _value(name: str, text: str, said: Mapping[str, Any], kinds: Sequence[str]) -> object:
    if not kinds:
        # A choice of several types: the text of that name, before the number that it would be.
        return text if text in said.get("enum", ()) else _free(text)
    for kind in kinds:
        try:
            return _READERS[kind](text)
        except ValueError:
            continue
    words = " or ".join(_WORDS[kind] for kind in kinds)
    hint = f", or {_REST}" if kinds[0] in ("object", "array") else ""
    raise Mistyped(f"{name}: {text!r} does not fit: write {words}{hint}.")


def _kinds(said: Mapping[str, Any]) -> list[str]:
    """The types of a value, those first that take the fewest texts."""
    types = said.get("type", [])
    return sorted([types] if isinstance(types, str) else types, key=list(_READERS).index)


def _resolved(said: object, root: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        return {}
    name = str(said.get("$ref", "")).removeprefix("#/$defs/")
    found = root.get("$defs", {}).get(name, said)
    return found if isinstance(found, Mapping) else said


def _free(text: str) -> object:
    try:
        return _json(text)
    except ValueError:
        return text


def _is_json_list(text: str) -> bool:
    return isinstance(_free(text), list)


def _json(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _refuse(text: str) -> Never:
    raise ValueError(text)


def _null(text: str) -> None:
    if text != "null":
        raise ValueError(text)


def _boolean(text: str) -> bool:
    if text.lower() in _YES | _NO:
        return text.lower() in _YES
    raise ValueError(text)


def _of(*types: type) -> Callable[[str], object]:
    def read(text: str) -> object:
        value = _json(text)
        if type(value) not in types:
            raise ValueError(text)
        return value

    return read


_READERS: Mapping[str, Callable[[str], object]] = {
    "null": _null,
    "integer": _of(int),
    "number": _of(int, float),
    "boolean": _boolean,
    "array": _of(list),
    "object": _of(dict),
    "string": str,
}
_WORDS = {
    "null": "null",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object in JSON",
    "string": "text",
}
