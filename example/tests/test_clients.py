"""Each client's block is of the form that the client reads, and leads to the server with the token."""

from __future__ import annotations

import json
import shlex
import tomllib

from example.clients import blocks

URL = "http://127.0.0.1:5000/mcp"
HEADERS = {"Authorization": "Bearer a-token"}
TEXTS = {block.client: block.text for block in blocks("blog", URL, "a-token")}


def test_the_clients() -> None:
    """The clients that people have are there."""
    assert list(TEXTS) == ["Claude Desktop", "Claude Code", "VS Code", "Cursor", "Codex", "MCP Inspector"]


def test_clients_that_are_configured_with_json() -> None:
    """VS Code and Cursor each have a key of their own for what is otherwise the same."""
    assert json.loads(TEXTS["VS Code"]) == {"servers": {"blog": {"type": "http", "url": URL, "headers": HEADERS}}}
    assert json.loads(TEXTS["Cursor"]) == {"mcpServers": {"blog": {"url": URL, "headers": HEADERS}}}


def test_claude_desktop_has_a_bridge() -> None:
    """Claude Desktop starts a bridge, in no argument of which a space stands."""
    bridge = json.loads(TEXTS["Claude Desktop"])["mcpServers"]["blog"]
    assert bridge["command"] == "npx"
    assert bridge["args"] == ["-y", "mcp-remote", URL, "--header", "Authorization:${AUTHORIZATION}"]
    assert bridge["env"] == {"AUTHORIZATION": "Bearer a-token"}


def test_codex_is_configured_with_toml() -> None:
    """Codex has its own name for the headers, and ignores `headers`."""
    assert tomllib.loads(TEXTS["Codex"]) == {"mcp_servers": {"blog": {"url": URL, "http_headers": HEADERS}}}


def test_clients_that_are_told_on_the_command_line() -> None:
    """Each is one command, whose header is one argument."""
    for client in ("Claude Code", "MCP Inspector"):
        words = shlex.split(TEXTS[client])
        assert words[words.index("--transport") + 1] == "http"
        assert words[words.index("--header") + 1] == "Authorization: Bearer a-token"
        assert URL in words
