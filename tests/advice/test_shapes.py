"""Advice on names and schemas that picky clients refuse."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import Schema, fields

from flask_arandu_mcp import Server, public, tool
from flask_arandu_mcp.advice.shapes import of_name, of_schema


def rules(properties: dict[str, Any], **more: Any) -> list[str]:
    schema = {"type": "object", "properties": properties, **more}
    return [advice.rule for advice in of_schema("tool 'x'", schema)]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"below": schema}}
    return schema


@pytest.mark.parametrize(
    ("name", "key", "found"),
    [
        ("a", "b", []),
        ("posts.list", "blog", ["picky-name"]),
        ("a" * 55, "blog", []),
        ("a" * 56, "blog", ["long-name"]),
        ("a" * 65, "b", ["picky-name", "long-name"]),
    ],
)
def test_a_name_is_one_that_apis_take(name: str, key: str, found: list[str]) -> None:
    """No dots, up to 64 signs, and with the server's name fewer than 60."""
    assert [advice.rule for advice in of_name("tool 'x'", name, key)] == found


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf", "not", "if", "$ref"])
def test_the_root_is_an_object_and_nothing_else(keyword: str) -> None:
    """A combinator is refused there, and let be below."""
    value: Any = [{"required": ["a"]}] if keyword.endswith("Of") else {"required": ["a"]}
    assert rules({"a": {"type": "string"}}, **{keyword: "#/$defs/x" if keyword == "$ref" else value}) == [
        "root-combinator"
    ]
    if keyword.endswith("Of"):
        assert rules({"a": {keyword: [{"type": "string"}, {"type": "integer"}]}}) == []


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": "string"}, []),
        ({"enum": ["a", "b"]}, []),
        ({"const": 1}, []),
        ({}, ["untyped"]),
        ({"description": "Anything"}, ["untyped"]),
        ({"type": ["string", "null"]}, ["type-list"]),
        ({"$ref": "#/$defs/Node"}, ["reference"]),
        ({"type": "array"}, ["no-items"]),
        ({"type": ["array", "null"]}, ["type-list", "no-items"]),
        ({"type": "array", "items": {}}, ["untyped"]),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "prefixItems": [{}], "items": {"type": "string"}}, ["untyped"]),
        ({"type": "object", "additionalProperties": {}}, ["untyped"]),
        ({"type": "object", "additionalProperties": False}, []),
        ({"type": "object", "properties": {"a b": {"type": "string"}}}, ["picky-property"]),
        ({"type": "object", "patternProperties": {"^x": {}}}, ["untyped"]),
        ({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}, ["reference"]),
        ({"type": "string", "not": {"const": "x"}, "if": {}, "then": {"minLength": 1}}, []),
    ],
)
@pytest.mark.parametrize("place", ["here", "below"])
def test_every_place_is_looked_at(place: str, schema: dict[str, Any], found: list[str]) -> None:
    """At the top and further down, each with the path of its argument."""
    below = {"outer": {"type": "object", "properties": {"inner": schema}}}
    assert rules({"inner": schema} if place == "here" else below) == found


def test_the_path_is_named() -> None:
    """What is to be mended is found by it."""
    schema = {"type": "array", "items": {"type": "object", "properties": {"a": {}, "x.y": {"type": "string"}}}}
    words = [advice.words for advice in of_schema("tool 'x'", {"type": "object", "properties": {"rows": schema}})]
    assert any("at argument 'rows[].a'" in each for each in words)
    assert any("an argument 'rows[].x.y'" in each for each in words)


@pytest.mark.parametrize(("levels", "found"), [(4, []), (5, ["deep-schema"])])
def test_depth_is_counted(levels: int, found: list[str]) -> None:
    """Objects and lists in one another, the arguments themselves being the first."""
    assert rules({"below": deep(levels)}) == found


def test_definitions_are_looked_at_too() -> None:
    """A definition is a place like any other, and its depth is that of where it is used."""
    assert rules({"a": {"type": "string"}}, **{"$defs": {"Node": {"type": "array"}, "Deep": deep(9)}}) == ["no-items"]


def test_our_own_conversion_is_advised_on() -> None:
    """What fields become is what clients are handed: a nullable one, a Raw one, and one that contains itself."""

    class Node(Schema):
        children = fields.List(fields.Nested(lambda: Node()))

    @tool(
        access=public,
        arguments={"maybe": fields.String(allow_none=True), "any": fields.Raw(), "tree": fields.Nested(Node)},
    )
    def take(request: object, **values: Any) -> str:
        """Takes what is hard to take."""
        return ""

    (entry,) = Server("s", tools=[take]).list_tools(None)
    words = "\n".join(advice.words for advice in of_schema("tool 'take'", entry["inputSchema"]))
    assert "says string or null at argument 'maybe'" in words
    assert "says no type at argument 'any'" in words
    assert "has a $ref at argument 'tree'" in words
