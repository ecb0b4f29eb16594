"""What `flask mcp new` writes: a declaration that works as it is, and its test. Both use the package's public names
alone, and say what is to be replaced."""

from __future__ import annotations

from typing import NamedTuple


class Names(NamedTuple):
    """What is put into the texts.

    :ivar tool: the tool's name, which is its function's.
    :ivar module: where it can be imported from.
    """

    tool: str
    module: str


TAKEN = frozenset({"Request", "Server", "User", "UserMixin", "fields", "guest", "signed_in", "tool"})
"""Names that the texts use themselves."""

PACKAGE = '"""What AI assistants may do here."""\n'


def declaration(names: Names) -> str:
    """A tool for whoever is signed in, that gives back what it is given."""
    return f'''"""The tool `{names.tool}`."""

from __future__ import annotations

from flask_arandu_mcp import Request, signed_in, tool
from marshmallow import fields


@tool(
    access=signed_in,  # or public, or a policy of your own: any function of the user
    arguments={{
        "text": fields.String(
            required=True,
            metadata={{"description": "What it is to work on"}},
        ),
    }},
    result={{"text": fields.String(required=True)}},
    read_only=True,  # it changes nothing; destructive=True for what deletes
)
def {names.tool}(request: Request, text: str) -> dict[str, str]:
    """Gives back the text that it is given.

    Say here what your tool does, and when to use it: a model chooses by it.
    """
    # request.subject is the app's own user: your services decide what they may see.
    return {{"text": text}}
'''


def test(names: Names) -> str:
    """A test of that tool, through the door that assistants come through."""
    return f'''"""The tool `{names.tool}`, as an assistant uses it."""

from __future__ import annotations

from flask_arandu_mcp import Server, guest
from flask_login import UserMixin

from {names.module} import {names.tool}

server = Server(name="test", tools=[{names.tool}])


class User(UserMixin):
    """A user of the app's: use your own class, with what your policy asks of it."""

    id = "ana"


def test_it_answers() -> None:
    """Whoever is signed in gets an answer."""
    answer = server.call(User(), "{names.tool}", {{"text": "Hello"}})
    assert answer.data == {{"text": "Hello"}}


def test_it_refuses_guests() -> None:
    """Whoever is not signed in is neither shown it nor answered."""
    assert server.list_tools(guest) == []
    assert server.call(guest, "{names.tool}", {{"text": "Hello"}}).is_error


def test_it_refuses_what_it_does_not_know() -> None:
    """An argument that was not declared is named, and nothing is done."""
    arguments = {{"text": "Hello", "txet": "Hello"}}
    answer = server.call(User(), "{names.tool}", arguments)
    assert answer.is_error
    assert "txet" in answer.text
'''
