"""A client of an app's MCP server for tests: what it calls, in which revision, of which server."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from marshmallow import fields

from flask_arandu_mcp import (
    ArandoMCP,
    DeclarationError,
    Notification,
    Request,
    Server,
    endpoint_tool,
    prompt,
    public,
    tool,
)
from flask_arandu_mcp.revisions import REVISIONS
from flask_arandu_mcp.testing import MCPClient

from ..app import User, create_app
from ..talk import Talk
from .failing import failure

EVERYBODYS = ["add", "no_args", "wait", "echo", "whoami", "search", "fail", "later"]


@pytest.fixture(params=list(REVISIONS))
def revision(request: pytest.FixtureRequest) -> str:
    """Each revision."""
    return str(request.param)


@pytest.fixture
def client(app: Flask, revision: str) -> MCPClient:
    """A guest's client."""
    return MCPClient(app, revision=revision)


@pytest.fixture
def root(app: Flask) -> User:
    """An admin."""
    user: User = app.extensions["test_users"]["root"]
    return user


def test_a_tool_is_called(client: MCPClient) -> None:
    """Arguments go by name, and the result is what a client of the revision is told."""
    result = client.call("add", a=1, b=2).assert_ok()
    assert result.text == '{"sum":3}'
    assert result.content == [{"type": "text", "text": '{"sum":3}'}]
    assert (result.status, result.error, result.is_error) == (200, None, False)


def test_the_revision_is_really_spoken(app: Flask) -> None:
    """What the handler is told of the client is what the client says, in every revision, the newest by itself."""
    spoken = [MCPClient(app, revision=name).call("whoami").text for name in REVISIONS]
    assert [f'"revision":"{name}"' in text for name, text in zip(REVISIONS, spoken, strict=True)] == [True] * 5
    assert MCPClient(app).call("whoami").data["revision"] == "2026-07-28"
    assert MCPClient(app).speaking("2025-06-18").call("whoami").data["revision"] == "2025-06-18"
    assert all('"client":"flask_arandu_mcp.testing"' in text for text in spoken)


def test_data_is_as_the_revision_has_it(app: Flask) -> None:
    """Structured results are there since 2025-06-18, and lists in them without a wrapper since 2026-07-28."""
    data = {name: MCPClient(app, revision=name).call("search", limit=1).data for name in REVISIONS}
    assert data["2026-07-28"] == ["None-None"]
    assert data["2025-11-25"] == data["2025-06-18"] == {"result": ["None-None"]}
    assert data["2025-03-26"] is data["2024-11-05"] is None


def test_resources_prompts_and_completions(client: MCPClient) -> None:
    """All that a client can ask for has a method of its own."""
    assert client.read("shop://about").text == "A shop."
    assert client.read("shop://items/pear").contents[0]["mimeType"] == "text/markdown"
    assert client.prompt("outline", topic="beans").text == "Outline beans.\nHere:"
    assert [message["role"] for message in client.prompt("outline", topic="beans").messages] == ["user", "assistant"]
    assert client.complete("shop://items/{name}", "name", "ap").values == ["apple", "apricot"]
    assert client.complete("outline", "topic").values == []
    assert client.complete("shop://items/{name}", "name", "ap").text == "apple\napricot"


def test_a_completion_that_knows_what_was_filled_in(revision: str) -> None:
    """The arguments that have their values already come along."""

    @prompt(access=public, arguments={"bed": fields.String(), "plant": fields.String()})
    def plan(request: Request, **given: str) -> str:
        """Plans."""
        return "Plan."

    @plan.completes("plant")
    def plants(request: Request, value: str) -> list[str]:
        return [f"{request.arguments['bed']} {value}"]

    client = MCPClient(create_app(server=Server("s", prompts=[plan])), revision=revision)
    assert client.complete("plan", "plant", "be", {"bed": "north"}).values == ["north be"]


def test_a_resource_of_data(client: MCPClient, root: User) -> None:
    """What is JSON is there as data, and what is not has none."""
    assert client.acting_as(root).read("shop://ledger").data == {"balance": 3}
    assert client.read("shop://about").data is None


def test_lists_are_of_whoever_asks(client: MCPClient, root: User) -> None:
    """Each user is shown what they may use, in the order in which it was declared."""
    assert client.tools().names == EVERYBODYS
    assert set(client.acting_as(root).tools().names) == {
        *EVERYBODYS,
        "delete_user",
        "admin_hidden",
        "admin_forbidden",
        "admin_false",
    }
    assert client.resources().names == ["about"]
    assert client.acting_as(root).resources().names == ["about", "ledger"]
    assert client.templates().names == ["item"]
    assert client.prompts().names == ["outline"]
    assert client.acting_as(root).prompts().names == ["outline", "secret_prompt"]


def test_a_list_is_gone_through(client: MCPClient) -> None:
    """A list has its length, its entries by name and in order, and says which it lacks."""
    tools = client.tools()
    assert len(tools) == len(list(tools)) == 8
    assert "add" in tools
    assert "delete_user" not in tools
    assert tools["add"]["inputSchema"]["required"] == ["a", "b"]
    assert "tools() as a guest should have listed 'delete_user', and did not:" in failure(lambda: tools["delete_user"])


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_list_in_pages_is_whole(size: int) -> None:
    """However many pages there are, all of them are asked for."""
    client = MCPClient(create_app({"MCP_PAGE_SIZE": size}))
    assert client.tools().names == EVERYBODYS


def test_what_a_server_has_none_of_is_an_empty_list(revision: str) -> None:
    """A server without prompts does not serve their list, and its users are shown none."""
    assert MCPClient(create_app(server=Server("empty")), revision=revision).prompts().assert_ok().names == []


def test_names_that_python_cannot_write() -> None:
    """Arguments of any name can be given in a dict, beside others by name; those of the method's own are no clash."""
    names = {"from_": "from", "self_": "self", "tool_": "tool", "arguments_": "arguments", "to_": "to"}

    @tool(access=public, arguments={name: fields.String(data_key=key) for name, key in names.items()})
    def mail(request: Request, **given: str) -> dict[str, str]:
        """Mails."""
        return given

    client = MCPClient(create_app(server=Server("mail", tools=[mail])))
    given = client.call("mail", {"from": "a", "self": "s"}, tool="t", arguments="u", to="b").data
    assert given == {"from_": "a", "self_": "s", "tool_": "t", "arguments_": "u", "to_": "b"}


def test_an_argument_that_is_given_twice(app: Flask) -> None:
    """Which of the two is meant is not guessed."""
    with pytest.raises(TypeError, match="The argument 'a' is given twice"):
        MCPClient(app).call("add", {"a": 1}, a=2, b=3)


def test_arguments_that_headers_repeat() -> None:
    """A tool whose schema wants arguments repeated in headers is called as clients do it."""
    header = {"x-mcp-header": "Region"}

    @tool(
        access=public,
        arguments={
            "region": fields.String(metadata=header),
            "dry": fields.Boolean(metadata={"x-mcp-header": "Dry"}),
            "place": fields.Nested({"n": fields.Integer(metadata={"x-mcp-header": "N"})}),
        },
    )
    def query(request: Request, **given: Any) -> str:
        """Queries."""
        return f"ran {sorted(given)}"

    client = MCPClient(create_app(server=Server("test", tools=[query])))
    assert client.call("query", region="Zürich ", dry=True, place={"n": 3}).text == "ran ['dry', 'place', 'region']"
    client.call("query", region=None).assert_error("null")
    assert client.call("query").text == "ran []"


def test_a_client_that_is_made_of_another_leaves_it(app: Flask, root: User) -> None:
    """Who asks, and how, is of the new client alone, so that a fixture can be shared."""
    guest = MCPClient(app)
    admin = guest.acting_as(root)
    admin.speaking("2025-11-25").with_headers({"X-A": "b"}).answering({}).call("whoami").assert_ok()
    assert guest.call("whoami").data["subject"] is None
    assert admin.call("whoami").data["subject"] == "root"
    assert admin.call("whoami").data["revision"] == "2026-07-28"
    assert repr(admin) == "<MCPClient of 'shop' as User 'root'>"


def test_several_servers(app: Flask) -> None:
    """A server is chosen by its name; without one it is the default."""

    @tool(access=public)
    def ping(request: Request) -> str:
        """Pings."""
        return "pong"

    ArandoMCP(app, Server("other", tools=[ping]), name="other", url="/tools/mcp")
    assert MCPClient(app).tools().names == EVERYBODYS
    assert MCPClient(app, server="other").tools().names == ["ping"]
    assert MCPClient(app).of_server("other").call("ping").text == "pong"
    MCPClient(app).call("ping").assert_error("Unknown tool")
    with pytest.raises(LookupError, match="There is no server 'third': this app has 'default', 'other'"):
        MCPClient(app, server="third")


def test_the_only_server_is_meant_whatever_its_name() -> None:
    """Where there is one, nobody has to say which."""
    app = Flask("one")
    ArandoMCP(app, Server("s"), name="own")
    assert MCPClient(app).tools().names == []


def test_an_app_without_a_server() -> None:
    """Says what is missing."""
    with pytest.raises(LookupError, match="The app 'bare' serves no MCP server: create one"):
        MCPClient(Flask("bare"))


def test_a_revision_that_is_not_served(app: Flask) -> None:
    """Says which are."""
    with pytest.raises(
        ValueError, match="Revision '2023-01-01' of the protocol is not served: write one of 2024-11-05"
    ):
        MCPClient(app, revision="2023-01-01")


def test_a_mistake_in_a_declaration_is_raised() -> None:
    """What a client would only be told a ref of, a test is told in full."""
    app = Flask("unfinished")
    ArandoMCP(app, Server("s", tools=[endpoint_tool("nowhere", access=public)]))
    with pytest.raises(DeclarationError, match="endpoint 'nowhere': the app has no such endpoint"):
        MCPClient(app).tools()


def test_a_server_that_takes_in_nobody(revision: str) -> None:
    """A guest who is not even served is refused in every call, lists and the introduction included."""
    app = create_app({"MCP_LOGIN_REQUIRED": True})
    guest = MCPClient(app, revision=revision)
    assert guest.call("add", a=1, b=2).assert_refused("Sign in first").status == 401
    assert guest.read("shop://about").assert_refused().is_error
    assert "should have been answered" in failure(lambda: guest.tools().names)
    user = guest.acting_as(app.extensions["test_users"]["bob"])
    assert user.tools().assert_ok().names == [*EVERYBODYS[:5], "delete_user", *EVERYBODYS[5:]]


def test_log_messages_are_collected(revision: str) -> None:
    """What a handler tells beside progress is there too, of every level."""

    @tool(access=public)
    def work(request: Request) -> Talk:
        """Works."""
        yield Notification("notifications/message", {"level": "debug", "data": "at it"})
        return "done"

    result = MCPClient(create_app(server=Server("s", tools=[work], logging=True)), revision=revision).call("work")
    (told,) = result.assert_ok().notifications
    assert told["params"] == {"level": "debug", "data": "at it"}
    assert result.progress == []
