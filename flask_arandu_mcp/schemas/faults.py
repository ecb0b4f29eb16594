"""Say what is wrong with arguments, one line a fault, as `path: message`. marshmallow nests its messages as the
data nests; here they are laid flat, in the words of JSON, and rid of what must not be repeated.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from marshmallow import Schema, fields, missing
from marshmallow.exceptions import SCHEMA, ValidationError

from .hooks import hooks_of
from .nesting import is_many
from .plain import is_whole

_NAMES = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
_WRONG_TYPE = frozenset(
    {"Invalid input type.", "Invalid type.", "Not a valid list.", "Not a valid mapping type.", "Not a valid tuple."}
)
_NULL = "Field may not be null."
_MAPPING = (dict, Mapping)
"""The class that nearly every mapping has, and the one that all have, which takes long to ask."""


class _Place(NamedTuple):
    """Where a message belongs: its path, what the schema has there, what was sent, and whether it is secret."""

    path: tuple[str, ...] = ()
    guide: object = None
    raw: object = missing
    secret: bool = False

    def says(self, message: str) -> str:
        return printable(f"{'.'.join(self.path)}: {message}" if self.path else message)


class _Entries(NamedTuple):
    """One entry of a Dict, whose messages marshmallow keeps under `key` and `value`."""

    field: Any


def _raw_under(raw: object, key: object) -> object:
    if isinstance(raw, _MAPPING):
        return raw.get(key, missing)
    if isinstance(raw, list) and isinstance(key, int) and key < len(raw):
        return raw[key]
    return missing


def _field_of(schema: Schema, key: object) -> object:
    named = schema.fields.get(str(key))
    if named is not None and named.data_key is None:
        return named
    return next((field for field in schema.fields.values() if key == field.data_key), named)


def _guide_under(guide: object, key: object) -> object:
    if guide is None:
        return None
    if not isinstance(guide, fields.Field):
        return _field_of(guide, key) if isinstance(guide, Schema) else None
    if isinstance(guide, fields.Pluck):
        return guide if isinstance(key, int) else None
    if isinstance(guide, fields.Nested):
        return guide.schema if isinstance(key, int) and is_many(guide) else _field_of(guide.schema, key)
    if isinstance(guide, fields.List):
        return guide.inner
    if isinstance(guide, fields.Tuple) and isinstance(key, int) and key < len(guide.tuple_fields):
        return guide.tuple_fields[key]
    return _Entries(guide) if isinstance(guide, fields.Mapping) else None


def _step(place: _Place, key: object) -> _Place:
    if key == SCHEMA:
        return place
    if isinstance(place.guide, _Entries):
        inner = getattr(place.guide.field, f"{key}_field", None)
        return place._replace(guide=inner, raw=place.raw if key == "value" else place.path[-1])
    guide = _guide_under(place.guide, key)
    raw, secret = _raw_under(place.raw, key), place.secret
    if isinstance(guide, fields.Field):
        if guide.data_key is not None and raw is missing and guide.name == key:
            key = guide.data_key  # marshmallow 3 tells the fault of a schema's validator by the attribute
            raw = _raw_under(place.raw, key)
        secret = secret or guide.load_only
    return _Place((*place.path, str(key)), guide, raw, secret)


def _flat(messages: object, place: _Place, found: list[tuple[_Place, str]]) -> None:
    """Put every message, and where it belongs, into a list."""
    if isinstance(messages, str):
        found.append((place, messages))
    elif isinstance(messages, list | tuple | set):
        for below in messages:
            _flat(below, place, found)
    elif isinstance(messages, _MAPPING):
        for key, below in messages.items():
            _flat(below, _step(place, key), found)
    else:
        found.append((place, str(messages)))


def _expected(guide: object) -> str | None:
    if isinstance(guide, fields.List | fields.Tuple):
        return "an array"
    if isinstance(guide, fields.Pluck):
        return "an array" if is_many(guide) else None
    if isinstance(guide, fields.Nested):
        return "an array" if is_many(guide) else "an object"
    return "an object" if isinstance(guide, Schema | fields.Mapping) else None


def _reworded(message: str, place: _Place) -> str:
    if message in _WRONG_TYPE and place.raw is not missing and place.raw is not None:
        expected = _expected(place.guide)
        got = _NAMES.get(type(place.raw))
        if expected is not None and got is not None and got != expected:
            return f"expected {expected}, got {got}"
    if message == _NULL and place.raw is None:
        required = getattr(place.guide, "required", True)
        return "null is not allowed, give a value" if required else "null is not allowed, leave it out"
    return message


def _leaves(raw: object) -> Iterator[str]:
    yield from (str(raw), repr(raw))
    inside = raw.values() if isinstance(raw, Mapping) else raw if isinstance(raw, list) else ()
    for item in inside:
        yield from _leaves(item)


def _secrets(guide: object, raw: object) -> Iterator[str]:
    """List the texts of every value that was sent for a load_only field."""
    if getattr(guide, "load_only", False):
        yield from _leaves(raw)
        return
    keys: object = raw if isinstance(raw, Mapping) else range(len(raw)) if isinstance(raw, list) else ()
    for key in keys:  # type: ignore[attr-defined]  # an iterable of keys in each of the three cases
        below = _guide_under(guide, key)
        if isinstance(below, _Entries):
            below = below.field.value_field
        if below is not None:
            yield from _secrets(below, _raw_under(raw, key))


def _without(message: str, place: _Place, secrets: list[str]) -> str:
    if not secrets:
        return message
    told = [secret for secret in secrets if secret in message]
    if told and place.secret:
        return "Invalid value."
    for secret in told:
        message = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "***", message)
    return message


def _messages(error: ValidationError) -> object:
    return error.messages if error.field_name == SCHEMA else {error.field_name: error.messages}


def may_hide(schema: Schema) -> bool:
    """Whether anything that is sent for a schema might be a value that no message may repeat."""
    containers = (fields.Nested, fields.List, fields.Tuple, fields.Mapping)
    if hooks_of(schema):  # which may change its fields for a call
        return True
    return any(field.load_only or isinstance(field, containers) for field in schema.fields.values())


def faults_of(
    error: ValidationError, schema: Schema | None = None, raw: object = missing, *, hiding: bool = True
) -> tuple[str, ...]:
    """Lay a ValidationError flat: every fault once, as `path: message`, a fault of the whole as its message alone.

    With the schema and what was sent, faults of type and null are put in the words of JSON, and no value that was
    sent for a load_only field is repeated.

    :param hiding: the schema may have such fields: see :func:`may_hide`.
    """
    texts = {text for text in _secrets(schema, raw) if text} if hiding and schema is not None else ()
    secrets = sorted(texts, key=len, reverse=True)
    found: list[tuple[_Place, str]] = []
    _flat(_messages(error), _Place(guide=schema, raw=raw), found)
    told = (spot.says(_without(_reworded(message, spot), spot, secrets)) for spot, message in found)
    return tuple(dict.fromkeys(told))


def suspects(raw: object) -> tuple[str, ...]:
    """Find each number that is not finite and each lone surrogate in a value, as faults with their paths."""
    found: list[str] = []
    waiting: list[tuple[tuple[str, ...], object]] = [((), raw)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            found += [_Place(path).says(_TORN_NAME) for key in value if isinstance(key, str) and not is_whole(key)]
            waiting += [((*path, str(key)), value[key]) for key in reversed(value)]
        elif isinstance(value, list):
            waiting += [((*path, str(index)), value[index]) for index in reversed(range(len(value)))]
        elif isinstance(value, str) and not is_whole(value):
            found.append(_Place(path).says("half a surrogate pair is no text, send whole characters"))
        elif isinstance(value, float) and not math.isfinite(value):
            found.append(_Place(path).says("not a finite number, send one that is"))
    return tuple(found)


_TORN_NAME = "a name with half a surrogate pair in it is no text, send whole characters"


def printable(text: str) -> str:
    """Give a text with each lone surrogate, which cannot be sent, as its escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
