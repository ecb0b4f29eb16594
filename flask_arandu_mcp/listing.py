"""What a server offers, as one readable screen. It is given the description as data and gives back lines of text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

_HEADINGS = {
    "tools": "Tools",
    "resources": "Resources",
    "resourceTemplates": "Resource templates",
    "prompts": "Prompts",
}
_SHOWN = 8
"""Values of an enumeration that are shown: the table stays a table."""

Paint: TypeAlias = Callable[[str, str], str]
"""Gives a text the colour of its kind: `heading`, `name` or `aside`."""


def plain(kind: str, text: str) -> str:
    """A text as it is."""
    return text


def screen(described: Mapping[str, Any], url: str, paint: Paint = plain) -> Iterator[str]:
    """The lines that show a server: its declarations, their arguments, and who may use them."""
    yield f"{paint('heading', str(described['name']))} {described['version']}, served at {url}"
    if "as" in described:
        yield f"as {described['as']} sees it"
    if not any(described[key] for key in _HEADINGS):
        yield ""
        yield from _NOTHING_FOR_THEM if "as" in described else _NOTHING_YET
    for key, heading in _HEADINGS.items():
        if described[key]:
            yield ""
            yield paint("heading", heading)
            for item in described[key]:
                yield from _declaration(item, paint)


_NOTHING_FOR_THEM = ("It offers them nothing: every policy says no. `flask mcp list` shows all that there is.",)
_NOTHING_YET = (
    "It offers nothing yet. Declare a tool and give it to the server:",
    "    server = Server(name=..., tools=[...]); ArandoMCP(app, server)",
)


def _declaration(item: Mapping[str, Any], paint: Paint) -> Iterator[str]:
    where = item.get("uri") or item.get("uriTemplate")
    shown = f"{where} ({item['name']})" if where else item["name"]
    hints = [hint.removesuffix("Hint") for hint, is_so in item.get("annotations", {}).items() if is_so]
    asks = ["asks first"] if "confirm" in item else []
    words = ", ".join([item["access"], *hints, *asks])
    yield f"  {paint('name', shown)}  {paint('aside', f'[{words}]')}"
    description = str(item.get("description", "")).strip()
    if description:
        yield f"      {description.splitlines()[0]}"
    if "route" in item:
        yield f"      {paint('aside', item['route'])}"
    if "confirm" in item:
        yield f"      {paint('aside', 'asks: ' + item['confirm'])}"
    yield from _table(list(_arguments(item)))


def _arguments(item: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    schema = item.get("inputSchema", {})
    for name, field in schema.get("properties", {}).items():
        need = _need(name in schema.get("required", ()), field)
        yield name, type_word(field), need, _on_one_line(field.get("description", ""))
    for argument in item.get("arguments", ()):
        need = "required" if argument.get("required") else ""
        yield argument["name"], "string", need, _on_one_line(argument.get("description", ""))


def _on_one_line(text: object) -> str:
    return " ".join(str(text).split())


def _need(required: bool, field: Mapping[str, Any]) -> str:
    if required:
        return "required"
    return f"= {_said(field['default'])}" if "default" in field else ""


def _said(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def type_word(schema: Mapping[str, Any]) -> str:
    """A JSON Schema in a word or a few."""
    if "enum" in schema:
        return _shortened([value if isinstance(value, str) else _said(value) for value in schema["enum"]])
    if "const" in schema:
        return _said(schema["const"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices and "type" not in schema:
        return " or ".join(dict.fromkeys(map(type_word, choices)))
    types = schema.get("type", "any")
    word = " or ".join(types) if isinstance(types, list) else str(types)
    if word.startswith("array") and schema.get("items"):
        return f"{word} of {type_word(schema['items'])}"
    return word


def _shortened(values: Sequence[str]) -> str:
    if len(values) > _SHOWN:
        values = [*values[:_SHOWN], "..."]
    return " | ".join(values)


def _table(rows: list[Sequence[str]]) -> Iterator[str]:
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True) if width]
        yield f"        {'  '.join([*cells, row[3]])}".rstrip()
