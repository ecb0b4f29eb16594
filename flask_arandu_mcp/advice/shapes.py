"""Advice on names and schemas that the protocol allows and some clients refuse. Most clients hand a tool to their
model's API as it is, and what that refuses they drop, or the whole conversation fails."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .worded import Advice

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_BOTH = 60
"""Signs of a server's name and a tool's together, which Cursor wants to be fewer."""
_DEEPEST = 5
"""Levels of objects and lists in one another, which OpenAI's API has as its limit."""
_AT_ROOT = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "dependentSchemas", "$ref")
_TYPED_BY = ("type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref")
_CONDITIONS = ("not", "if", "then", "else", "contains", "propertyNames")
_CHOICES = ("anyOf", "oneOf", "allOf")


class _Place(NamedTuple):
    """A schema within a schema.

    :ivar path: the argument that it describes.
    :ivar holds_value: it alone says what is there; a condition or a choice says something beside another one.
    """

    path: str
    schema: Mapping[str, Any]
    holds_value: bool = True


def of_name(culprit: str, name: str, key: str) -> Iterator[Advice]:
    """Advice on a tool's name.

    :param key: what clients call the server.
    """
    if not _NAME.fullmatch(name):
        yield Advice(
            culprit,
            "picky-name",
            "has a name that the APIs of OpenAI and Anthropic refuse: write up to 64 of a-z, A-Z, 0-9, _ and -, and no "
            "dots.",
        )
    if len(key) + len(name) >= _BOTH:
        yield Advice(
            culprit,
            "long-name",
            f"has {len(name)} signs in its name and {len(key)} in its server's, {key!r}, and Cursor drops tools with "
            f"{_BOTH} or more in both: give one of them a shorter one.",
        )


def of_schema(culprit: str, schema: Mapping[str, Any]) -> Iterator[Advice]:
    """Advice on what a tool takes: what is at its root, and then place by place."""
    found = [keyword for keyword in _AT_ROOT if keyword in schema]
    if found:
        yield Advice(
            culprit,
            "root-combinator",
            f"has {', '.join(found)} at the root of its arguments, for which the APIs of Anthropic and OpenAI refuse "
            "it: say it in words, and check it in the handler.",
        )
    if (depth := _depth(schema)) > _DEEPEST:
        yield Advice(
            culprit,
            "deep-schema",
            f"takes arguments {depth} levels deep, and OpenAI's API allows {_DEEPEST}: flatten them, or take an id in "
            "the place of what it stands for.",
        )
    for place in _places(_Place("", schema)):
        for rule, words in _of_place(place):
            yield Advice(culprit, rule, words)


def _of_place(place: _Place) -> Iterator[tuple[str, str]]:
    path, schema, holds_value = place
    where = f"argument {path!r}" if path else "the arguments"
    for name in schema.get("properties", {}):
        if not _NAME.fullmatch(name):
            yield (
                "picky-property",
                f"has an argument {_below(path, name)!r}, a name that some APIs refuse: write up to 64 of a-z, A-Z, "
                "0-9, _ and -.",
            )
    if "$ref" in schema and path:
        yield (
            "reference",
            f"has a $ref at {where}, which clients of Gemini do not follow: write out what it means; of what contains "
            "itself, only as many levels as are needed.",
        )
    if isinstance(schema.get("type"), list):
        yield (
            "type-list",
            f"says {' or '.join(map(str, schema['type']))} at {where}, and clients of Gemini take one type alone: "
            "leave out allow_none=True, and let an argument without a value be left out.",
        )
    if holds_value and not any(keyword in schema for keyword in _TYPED_BY):
        yield (
            "untyped",
            f"says no type at {where}, which clients of Gemini refuse: take a field that has one, in place of Raw.",
        )
    if "array" in _types(schema) and "items" not in schema:
        yield (
            "no-items",
            f"has a list at {where} and does not say of what, which clients of Gemini refuse: give it items.",
        )


def _places(place: _Place) -> Iterator[_Place]:
    """A schema, and every schema in it."""
    yield place
    for inner in _inner(place):
        yield from _places(inner)


def _inner(place: _Place) -> Iterator[_Place]:
    path, schema, _ = place
    values = [(f"{path}[]", schema.get("items")), (f"{path}.*", schema.get("additionalProperties"))]
    values += [(f"{path}[]", each) for each in schema.get("prefixItems", ())]
    values += [(_below(path, name), each) for name, each in schema.get("properties", {}).items()]
    values += [(_below(path, name), each) for name, each in schema.get("patternProperties", {}).items()]
    values += [(f"$defs.{name}", each) for name, each in schema.get("$defs", {}).items()]
    beside = [schema.get(keyword) for keyword in _CONDITIONS]
    beside += [each for keyword in _CHOICES for each in schema.get(keyword, ())]
    yield from (_Place(below, each) for below, each in values if isinstance(each, Mapping))
    yield from (_Place(path, each, False) for each in beside if isinstance(each, Mapping))


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _types(schema: Mapping[str, Any]) -> list[str]:
    types = schema.get("type", [])
    return [types] if isinstance(types, str) else list(types)


def _depth(schema: Mapping[str, Any]) -> int:
    """How many objects and lists are in one another; a reference is not followed."""
    below = [_depth(inner.schema) for inner in _inner(_Place("", schema)) if not inner.path.startswith("$defs.")]
    own = 1 if {"object", "array"} & set(_types(schema)) else 0
    return own + max(below, default=0)
