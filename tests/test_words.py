"""Words and schemas of an app's own: translated for whoever asks, and said of field classes that nobody else knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from marshmallow import Schema, fields

from flask_arandu_mcp import Request, Server, prompt, public, resource, tool

from .app import create_app
from .wire import Wire

LANGUAGE: ContextVar[str] = ContextVar("language", default="en")


class Lazy:
    """A text that is translated when it is read, as Flask-Babel's are."""

    def __init__(self, **translations: str) -> None:
        self._translations = translations

    def __str__(self) -> str:
        return self._translations[LANGUAGE.get()]


@contextmanager
def language(name: str) -> Iterator[None]:
    token = LANGUAGE.set(name)
    yield
    LANGUAGE.reset(token)


WORDS = Lazy(en="Adds.", de="Addiert.")
ARGUMENTS = {"n": fields.Integer(required=True, metadata={"description": Lazy(en="A number", de="Eine Zahl")})}


@tool(access=public, title=Lazy(en="Sum", de="Summe"), description=WORDS, arguments=ARGUMENTS)
def add(request: Request, n: int) -> int:
    return n


@prompt(access=public, description=WORDS, arguments=ARGUMENTS)
def ask(request: Request, n: int) -> str:
    return str(n)


@resource("a:b", access=public, description=WORDS)
def page(request: Request) -> str:
    return ""


def wire() -> Wire:
    instructions = Lazy(en="Be kind.", de="Sei nett.")
    server = Server(name="test", instructions=instructions, tools=[add], prompts=[ask], resources=[page])
    return Wire(create_app(server=server))


@pytest.mark.parametrize("order", [("en", "de", "en"), ("de", "en")])
def test_words_are_in_the_language_of_whoever_asks(order: tuple[str, ...]) -> None:
    """What one caller is told in one language is not kept for the next one."""
    served = wire()
    for name in order:
        with language(name):
            said = {"en": ("Adds.", "A number", "Sum"), "de": ("Addiert.", "Eine Zahl", "Summe")}[name]
            entry = served.call("tools/list")["tools"][0]
            field = entry["inputSchema"]["properties"]["n"]
            assert (entry["description"], field["description"], entry["title"]) == said
            of_ask = served.call("prompts/list")["prompts"][0]
            assert (of_ask["description"], of_ask["arguments"][0]["description"]) == said[:2]
            assert served.call("resources/list")["resources"][0]["description"] == said[0]
            assert served.call("prompts/get", {"name": "ask", "arguments": {"n": "1"}})["description"] == said[0]
            kind = {"en": "Be kind.", "de": "Sei nett."}[name]
            assert served.call("initialize", {})["instructions"].endswith(kind)


class Money(fields.Field):  # type: ignore[type-arg]  # generic only in marshmallow 4
    """A field class that marshmallow does not know."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return f"{value} EUR"

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return str(value).removesuffix(" EUR")


class Priced(Schema):
    price = Money(required=True)


@tool(access=public, arguments=Priced, result=Priced)
def pay(request: Request, price: str) -> dict[str, str]:
    """Pays."""
    return {"price": price}


def test_an_app_says_what_its_own_fields_are() -> None:
    """A server's table says what JSON Schema has of a field class, for arguments and results."""
    money = {"type": "string", "pattern": "^[0-9]+$"}
    server = Server(name="test", tools=[pay], fields={Money: money})
    entry = server.list_tools(None)[0]
    assert entry["inputSchema"]["properties"]["price"].items() >= money.items()
    assert entry["outputSchema"]["properties"]["price"].items() >= money.items()
    assert server.call(None, "pay", {"price": "3"}).data == {"price": "3"}
    unknown = Server(name="test", tools=[pay]).list_tools(None)[0]["inputSchema"]["properties"]["price"]
    assert set(unknown) <= {"description"}
