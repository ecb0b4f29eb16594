"""What `flask mcp list` shows of a server: the description as data, and the screen made of it."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import fields
from marshmallow.validate import OneOf

from flask_arandu_mcp import Server, prompt, public, resource, signed_in, tool
from flask_arandu_mcp.listing import screen, type_word

from .app import make_server


def shown(server: Server, url: str = "/mcp") -> list[str]:
    return list(screen(server.describe(), url))


def test_a_screen_shows_all_that_is_declared() -> None:
    """Everything is there under its heading, whoever may use it, in the order in which it was declared."""
    lines = shown(make_server(), "/ai")
    assert lines[0] == "shop 1.2.3, served at /ai"
    headings = [line for line in lines if line and not line.startswith(" ")][1:]
    assert headings == ["Tools", "Resources", "Resource templates", "Prompts"]
    names = [line.split()[0] for line in lines if line.startswith("  ") and not line.startswith("   ")]
    assert names[:3] == ["add", "no_args", "wait"]
    assert names[-5:] == ["shop://about", "shop://ledger", "shop://items/{name}", "outline", "secret_prompt"]


def test_a_declaration_says_who_may_and_what_it_does() -> None:
    """The word for its policy stands beside its hints, and the first line of its description under it."""

    @tool(access=signed_in, read_only=True, idempotent=False)
    def look(request: object) -> str:
        """Looks around.

        And does not touch.
        """
        return ""

    lines = shown(Server("s", tools=[look]))
    assert lines[3:] == ["  look  [signed_in, readOnly]", "      Looks around."]


def test_arguments_are_a_table() -> None:
    """Each argument has its name, its type, whether it is needed or what it is without, and its description."""

    @tool(
        access=public,
        arguments={
            "status": fields.String(load_default="open", validate=OneOf(["open", "closed"])),
            "id": fields.Integer(required=True, metadata={"description": "Which one,\n of all"}),
            "tags": fields.List(fields.String()),
            "note": fields.String(load_default="", allow_none=True),
        },
    )
    def find(request: object, **values: Any) -> str:
        """Finds."""
        return ""

    assert shown(Server("s", tools=[find]))[5:] == [
        '        status  open | closed    = "open"',
        "        id      integer          required  Which one, of all",
        "        tags    array of string",
        '        note    string or null   = ""',
    ]


def test_resources_and_prompts_are_shown() -> None:
    """A resource goes by its URI, and a prompt's arguments are text."""

    @resource("x://{slug}", access=public)
    def one(request: object, slug: str) -> str:
        """One of them."""
        return ""

    @prompt(
        access=public,
        arguments={"topic": fields.String(required=True, metadata={"description": "What"}), "tone": fields.String()},
    )
    def outline(request: object, topic: str, tone: str = "") -> str:
        """Outlines."""
        return ""

    assert shown(Server("s", resources=[one], prompts=[outline]))[2:] == [
        "Resource templates",
        "  x://{slug} (one)  [public]",
        "      One of them.",
        "",
        "Prompts",
        "  outline  [public]",
        "      Outlines.",
        "        topic  string  required  What",
        "        tone   string",
    ]


def test_an_empty_server_says_what_to_write_next() -> None:
    """Who has declared nothing yet is told how to."""
    lines = shown(Server("new"))
    assert lines[0] == "new 0, served at /mcp"
    assert "It offers nothing yet. Declare a tool and give it to the server:" in lines
    assert any("tools=[...]" in line for line in lines)


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        ({}, "any"),
        ({"type": "string"}, "string"),
        ({"type": ["integer", "null"]}, "integer or null"),
        ({"type": "array"}, "array"),
        ({"type": "array", "items": {}}, "array"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, "array of array of integer"),
        ({"enum": ["a", 1, None, True]}, "a | 1 | null | true"),
        ({"enum": list(range(20))}, "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | ..."),
        ({"const": "x"}, '"x"'),
        ({"$ref": "#/$defs/Node"}, "Node"),
        ({"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}, "Node or null"),
        ({"oneOf": [{"type": "string"}, {"type": "string"}]}, "string"),
    ],
)
def test_a_schema_is_put_into_a_word(schema: dict[str, Any], word: str) -> None:
    """Every schema has a short name that says what a value looks like in JSON."""
    assert type_word(schema) == word
