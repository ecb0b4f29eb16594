"""Endpoints that trip converters, called as tools: each call reaches the view that it names, with the values that it
names, or is refused."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from ..app import calls
from ..wire import Pipe, Wire, call
from .hard import create_app

UUID = "5c2b8f0e-90a9-4c29-bd2c-1c64c92d5b8a"


@pytest.fixture(scope="module")
def hard() -> Flask:
    return create_app()


@pytest.fixture
def wire(hard: Flask) -> Wire:
    return Wire(hard)


def use(wire: Wire, name: str, /, **arguments: Any) -> Any:
    return wire.call("tools/call", {"name": name, "arguments": arguments})


def saw(wire: Wire, name: str, /, **arguments: Any) -> Any:
    result = use(wire, name, **arguments)
    assert not result.get("isError"), result
    return result["structuredContent"]


def refusal(wire: Wire, name: str, /, **arguments: Any) -> str:
    result = use(wire, name, **arguments)
    assert result.get("isError"), result
    text: str = result["content"][0]["text"]
    return text


REACHED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("text", {"slug": "a-post"}, {"path": "/text/a-post"}),
    ("text", {"slug": ".."}, {"path": "/text/.."}),
    ("text", {"slug": "%2F"}, {"path": "/text/%2F"}),
    ("text", {"slug": "a?b=c"}, {"path": "/text/a?b=c", "query": {}}),
    ("text", {"slug": "a#b"}, {"path": "/text/a#b"}),
    ("text", {"slug": "über 日本"}, {"path": "/text/über 日本"}),
    ("text", {"slug": "a\n"}, {"path": "/text/a\n"}),
    ("text", {"slug": "a;b&c=d"}, {"path": "/text/a;b&c=d"}),
    ("purge_text", {"slug": "a"}, {"path": "/text/a/purge"}),
    ("short", {"code": "pt"}, {"path": "/short/pt"}),
    ("anything", {"name": "a/b/c.txt"}, {"path": "/files/a/b/c.txt"}),
    ("anything", {"name": "a//b"}, {"path": "/files/a//b"}),
    ("number", {"n": 5}, {"path": "/number/5"}),
    ("number", {"n": "5"}, {"path": "/number/5"}),
    ("number", {"n": 5.0}, {"path": "/number/5"}),
    ("signed", {"n": -5}, {"path": "/signed/-5"}),
    ("ratio", {"x": 0.5}, {"path": "/ratio/0.5"}),
    ("ratio", {"x": 2}, {"path": "/ratio/2.0"}),
    ("uuid", {"id": UUID}, {"path": f"/uuid/{UUID}"}),
    ("uuid", {"id": UUID.upper()}, {"path": f"/uuid/{UUID}"}),
    ("choice", {"colour": "red"}, {"path": "/choice/red"}),
    ("words", {"them": "a+b"}, {"path": "/words/a+b"}),
    ("animal", {"it": "cat"}, {"path": "/animals/cat", "name": "cat"}),
    ("two", {"a": "x", "b": "y"}, {"path": "/two/x/y"}),
    ("either", {"name": "x"}, {"path": "/by-name/x"}),
    ("either", {"n": 3}, {"path": "/by-number/3"}),
    ("reserved", {"request": "a", "self": "b", "arguments": "c"}, {"path": "/reserved/a/b/c"}),
    ("slashed", {"slug": "a"}, {"path": "/slashed/a/"}),
    ("pages", {}, {"path": "/pages/", "page": 1}),
    ("pages", {"page": 4}, {"path": "/pages/4", "page": 4}),
    ("both_get", {}, {"path": "/both", "method": "GET", "body": None}),
    ("both_post", {"title": "T"}, {"path": "/both", "method": "POST", "body": {"title": "T"}}),
    ("put", {"n": 3, "title": "T"}, {"path": "/put/3", "body": {"title": "T"}}),
    ("put", {"n": 3}, {"path": "/put/3", "body": {}}),
    ("patch", {"title": "T", "dry_run": True}, {"body": {"title": "T"}, "query": {"dry_run": ["true"]}}),
    ("by_hand", {"title": "T & U"}, {"body": {"title": "T & U"}}),
    ("pets_pets_by_id_get", {"id": 3}, {"path": "/pets/3", "id": 3, "method": "GET"}),
    ("later", {"name": "x"}, {"path": "/async/x", "name": "x"}),
    ("outer_inner_said", {"word": "hi", "lang": "pt"}, {"path": "/pt/in/hi", "lang": "pt"}),
    ("outer_inner_said", {"word": "hi"}, {"path": "/en/in/hi", "lang": "en"}),
    ("fixed_shelf", {"n": 2}, {"path": "/fixed/corner/shelf/2", "shop": "corner"}),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), REACHED)
def test_what_a_call_reaches(wire: Wire, name: str, arguments: dict[str, Any], expected: dict[str, Any]) -> None:
    """A call reaches the view that it names, and the view sees the values that were sent."""
    found = saw(wire, name, **arguments)
    assert {key: found[key] for key in expected} == expected


def test_all_of_them_over_the_pipe() -> None:
    """Over the pipe a call reaches the same views with the same values."""
    with Pipe("tests.endpoints.hard") as pipe:
        for id, (name, arguments, expected) in enumerate(REACHED):
            answer = pipe.ask(call("tools/call", {"name": name, "arguments": arguments}, id))
            found = answer["result"]["structuredContent"]
            assert {key: found[key] for key in expected} == expected


LEADS_ELSEWHERE: list[tuple[str, dict[str, Any], str]] = [
    ("text", {"slug": "a/purge"}, "slug"),
    ("text", {"slug": ""}, "slug"),
    ("text", {"slug": "a/"}, "slug"),
    ("text", {"slug": "/"}, "slug"),
    ("text", {"slug": "//x"}, "slug"),
    ("text", {"slug": "../number/5"}, "slug"),
    ("text", {"slug": True}, "slug"),
    ("text", {"slug": None}, "slug"),
    ("text", {"slug": ["a"]}, "slug"),
    ("text", {"slug": {"a": 1}}, "slug"),
    ("text", {}, "slug"),
    ("short", {"code": "long"}, "code"),
    ("anything", {"name": ""}, "name"),
    ("anything", {"name": "/etc/passwd"}, "name"),
    ("number", {"n": -5}, "n"),
    ("number", {"n": "five"}, "n"),
    ("number", {"n": "5/../6"}, "n"),
    ("number", {"n": 5.5}, "n"),
    ("ratio", {"x": "much"}, "x"),
    ("uuid", {"id": "5"}, "id"),
    ("choice", {"colour": "blue"}, "colour"),
    ("animal", {"it": "unicorn"}, "it"),
    ("two", {"a": "x/y", "b": "z"}, "a"),
    ("two", {"a": "x"}, "b"),
    ("pages", {"page": "one"}, "page"),
    ("outer_inner_said", {"word": "hi", "lang": "number/5"}, "lang"),
    ("fixed_shelf", {"shop": "other", "n": 2}, "shop"),
]


@pytest.mark.parametrize(("name", "arguments", "culprit"), LEADS_ELSEWHERE)
def test_what_leads_elsewhere(wire: Wire, name: str, arguments: dict[str, Any], culprit: str) -> None:
    """A value that would lead to another address is an argument fault that names the argument, and no view runs."""
    told = refusal(wire, name, **arguments)
    assert told.startswith("Invalid arguments:\n")
    assert f"\n- {culprit}: " in told
    assert calls == []


def test_only_the_culprit_is_named(wire: Wire) -> None:
    """A fault of an address names the argument that cannot stand in one, and none of the others."""
    assert "- b: " not in refusal(wire, "two", a="x/y", b="z")
    assert "- a: " not in refusal(wire, "two", a="x", b="y/z")


def test_what_nobody_declared_is_refused(wire: Wire) -> None:
    """An argument that is none of the endpoint's is refused before anything is sent."""
    assert refusal(wire, "text", slug="a", lang="pt") == "Invalid arguments:\n- lang: Unknown field."
    assert calls == []


def test_two_rules_of_one_endpoint_want_one_address(wire: Wire) -> None:
    """Of an endpoint with several addresses, arguments that fit none of them are refused."""
    told = "Invalid arguments:\n- no address can be made of these arguments; send others."
    assert refusal(wire, "either") == told
    assert "\n- n: no address can be made of this" in refusal(wire, "either", name="x", n=3)


def test_before_request_refuses(wire: Wire) -> None:
    """What the app refuses before a request it refuses a tool, in its own words, and the view never runs."""
    assert refusal(wire, "closed_counter") == "403 Forbidden: The shop is closed."
    assert calls == []


def test_a_method_of_a_view_class(wire: Wire) -> None:
    """A method of a class is a tool of its own, under the class's name and the method's."""
    assert use(wire, "pets_pets_by_id_delete", id=3) == {"content": [{"type": "text", "text": "Done."}]}
    assert calls == ["deleted 3"]


def listed(wire: Wire, name: str) -> Any:
    return next(each for each in wire.call("tools/list")["tools"] if each["name"] == name)


def test_what_is_listed_of_a_path(wire: Wire) -> None:
    """The variables of a path are arguments, as their converters take them."""
    number = listed(wire, "number")["inputSchema"]
    assert number == {
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 0}},
        "required": ["n"],
        "additionalProperties": False,
    }
    kinds = {name: listed(wire, name)["inputSchema"]["properties"] for name in ("uuid", "choice", "ratio", "signed")}
    assert kinds == {
        "uuid": {"id": {"type": "string", "format": "uuid"}},
        "choice": {"colour": {"type": "string", "enum": ["green", "red"]}},
        "ratio": {"x": {"type": "number", "minimum": 0}},
        "signed": {"n": {"type": "integer"}},
    }


def test_what_a_path_can_do_without(wire: Wire) -> None:
    """A variable that one of the rules, or the app, can do without is not required."""
    assert "required" not in listed(wire, "pages")["inputSchema"]
    assert "required" not in listed(wire, "either")["inputSchema"]
    assert "lang" not in listed(wire, "outer_inner_said")["inputSchema"].get("required", [])
    assert listed(wire, "fixed_shelf")["inputSchema"]["required"] == ["n"]


def test_hints_come_from_the_method(wire: Wire) -> None:
    """GET is read-only, DELETE destructive and PUT idempotent; of POST nothing is known."""
    hints = {name: listed(wire, name).get("annotations") for name in ("both_get", "pets_pets_by_id_delete", "put")}
    assert hints == {
        "both_get": {"readOnlyHint": True},
        "pets_pets_by_id_delete": {"destructiveHint": True},
        "put": {"idempotentHint": True},
    }
    assert "annotations" not in listed(wire, "both_post")


def test_the_description_of_a_method(wire: Wire) -> None:
    """The docstring of a class's method describes its tool."""
    assert listed(wire, "pets_pets_by_id_delete")["description"] == "Takes a pet away."
