"""What a user pastes into an AI client so that it reaches the blog over HTTP as them. It knows nothing of the blog
but an address, and nothing of the user but a token, which is written out for them alone: what developers are given by
`flask mcp config` holds no secret, and is another block."""

from __future__ import annotations

import json
from typing import NamedTuple


class Block(NamedTuple):
    """A client, where its block goes, and the block."""

    client: str
    where: str
    text: str


def blocks(name: str, url: str, token: str) -> list[Block]:
    """A block for each client that the page knows.

    :param name: what the client calls the server.
    """
    bearer = f"Bearer {token}"
    remote = {"url": url, "headers": {"Authorization": bearer}}
    # Claude Desktop's file takes local servers only, so a bridge is its local server. The variable is there because
    # on Windows an argument with a space in it arrives as two.
    bridge = {
        "command": "npx",
        "args": ["-y", "mcp-remote", url, "--header", "Authorization:${AUTHORIZATION}"],
        "env": {"AUTHORIZATION": bearer},
    }
    return [
        Block(
            "Claude Desktop",
            "Add this to claude_desktop_config.json (Settings, Developer, Edit Config) and restart; it needs Node.",
            _json({"mcpServers": {name: bridge}}),
        ),
        Block(
            "Claude Code",
            "Run this in a terminal.",
            f'claude mcp add --scope user --transport http {name} "{url}" --header "Authorization: {bearer}"',
        ),
        Block(
            "VS Code",
            "Run “MCP: Open User Configuration” from the command palette and add this.",
            _json({"servers": {name: {"type": "http", **remote}}}),
        ),
        Block("Cursor", "Add this to ~/.cursor/mcp.json.", _json({"mcpServers": {name: remote}})),
        Block(
            "Codex",
            "Add this to ~/.codex/config.toml.",
            f'[mcp_servers.{name}]\nurl = "{url}"\nhttp_headers = {{ Authorization = "{bearer}" }}',
        ),
        Block(
            "MCP Inspector",
            "Run this in a terminal; it needs Node.",
            f'npx @modelcontextprotocol/inspector --transport http --server-url "{url}" '
            f'--header "Authorization: {bearer}"',
        ),
    ]


def _json(value: object) -> str:
    return json.dumps(value, indent=2)
