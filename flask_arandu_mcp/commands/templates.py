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


TAKEN = frozenset({"app", "fields", "pytest", "signed_in", "tool"})
"""Names that a tool could have, and that the texts use themselves."""

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
    """A test of that tool, by a client that acts as an assistant would. Its app gives way to the project's own."""
    return f'''"""The tool `{names.tool}`, as an assistant uses it."""

from __future__ import annotations

import pytest
from flask import Flask
from flask_arandu_mcp import ArandoMCP, Server
from flask_arandu_mcp.testing import MCPClient
from flask_login import LoginManager, UserMixin

from {names.module} import {names.tool}


class User(UserMixin):
    """A user of the app's: use your own class, with what your policy asks of it."""

    id = "ana"


@pytest.fixture
def app() -> Flask:
    """An app with this tool alone.

    Drop it once your server has the tool and conftest.py has a fixture `app`.
    """
    app = Flask("test")
    app.secret_key = "only for this test"
    LoginManager(app).user_loader(lambda user_id: User())
    ArandoMCP(app, Server(name="test", tools=[{names.tool}]))
    return app


def test_it_answers(mcp_client: MCPClient) -> None:
    """Whoever is signed in gets an answer."""
    ana = mcp_client.acting_as(User())
    result = ana.call("{names.tool}", text="Hello").assert_ok()
    assert result.data == {{"text": "Hello"}}


def test_it_refuses_guests(mcp_client: MCPClient) -> None:
    """Whoever is not signed in is neither shown it nor answered."""
    assert "{names.tool}" not in mcp_client.tools()
    mcp_client.call("{names.tool}", text="Hello").assert_refused("sign in")


def test_it_refuses_what_it_does_not_know(mcp_client: MCPClient) -> None:
    """An argument that was not declared is named, and nothing is done."""
    ana = mcp_client.acting_as(User())
    result = ana.call("{names.tool}", text="Hello", txet="Hello")
    result.assert_error("txet: Unknown field")
'''
