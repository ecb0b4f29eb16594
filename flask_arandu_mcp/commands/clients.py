"""The clients whose configuration can be printed: how each writes a server, a token and a variable of its environment,
and which file it reads. What is said of a client is from its own documentation or source, named beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..typing import JSONObject
from .toml import table


class Local(NamedTuple):
    """A server that a client starts itself.

    :ivar env: variables that are written out.
    :ivar secrets: the names of variables that are not.
    """

    command: str
    args: Sequence[str]
    env: Mapping[str, str]
    secrets: Sequence[str]


class Remote(NamedTuple):
    """A server at a URL.

    :ivar token: the name of the variable that a token is in; empty where none is sent.
    """

    url: str
    token: str


class Client:
    """A client with a JSON file. Those below differ in words alone, but for Codex, whose file is TOML.

    :cvar title: what people call it.
    :cvar file: where the block belongs.
    :cvar root: the member of the file that holds servers.
    :cvar kinds: whether a server says its transport.
    :cvar reference: how a variable of its environment, or what it asks its user for, is written; empty where it has no
        way.
    :cvar secrets_words: what becomes of a secret, for whoever pastes the block.
    :cvar token_words: what becomes of a token.
    :cvar remote_words: what else is to be known of a server at a URL.
    """

    title: str
    file: str
    root = "mcpServers"
    kinds = True
    reference = ""
    secrets_words = "left out: add it to env by hand, as text"
    token_words = "write it in its place"
    remote_words = ""

    def local(self, key: str, server: Local) -> str:
        """The block of a server that the client starts."""
        env = {**server.env, **self.referred(server.secrets)}
        entry: JSONObject = {"type": "stdio"} if self.kinds else {}
        entry |= {"command": server.command, "args": list(server.args)}
        return self.block(key, {**entry, **({"env": env} if env else {})}, server.secrets)

    def remote(self, key: str, server: Remote) -> str:
        """The block of a server at a URL."""
        entry: JSONObject = {"type": "http"} if self.kinds else {}
        entry["url"] = server.url
        if server.token:
            entry["headers"] = {"Authorization": f"Bearer {self.token(server.token)}"}
        return self.block(key, entry, [server.token] if server.token else [])

    def referred(self, names: Sequence[str]) -> dict[str, str]:
        """Variables that the client takes from elsewhere, where it has a way to."""
        return {name: self.reference.format(name) for name in names} if self.reference else {}

    def token(self, name: str) -> str:
        """A token, in the client's own way."""
        return self.reference.format(name) if self.reference else f"<{name}>"

    def block(self, key: str, entry: JSONObject, secrets: Sequence[str]) -> str:
        """The text to paste."""
        return json.dumps({self.root: {key: entry}}, indent=2)


class ClaudeDesktop(Client):
    """modelcontextprotocol.io, docs/develop/connect-local-servers. Its file starts programs only; for a URL one is a
    bridge (geelen/mcp-remote, README: the header is one word with the space in the variable, for Windows)."""

    title = "Claude Desktop"
    file = (
        "~/Library/Application Support/Claude/claude_desktop_config.json (macOS), "
        "%APPDATA%\\Claude\\claude_desktop_config.json (Windows)"
    )
    kinds = False
    remote_words = (
        "Its file starts programs only, so this is mcp-remote, a bridge, which needs Node. A server with a public "
        "https URL can be added in its settings in place of it, under Connectors."
    )

    def remote(self, key: str, server: Remote) -> str:
        """The block of a bridge to a URL."""
        args = ["-y", "mcp-remote", server.url]
        entry: JSONObject = {"command": "npx", "args": args}
        if server.token:
            args += ["--header", "Authorization:${AUTHORIZATION}"]
            entry["env"] = {"AUTHORIZATION": f"Bearer {self.token(server.token)}"}
        return self.block(key, entry, [])


class ClaudeCode(Client):
    """anthropics/claude-code, plugins/plugin-dev/skills/mcp-integration/references/server-types.md."""

    title = "Claude Code"
    file = ".mcp.json in the folder that Claude Code is started in"
    reference = "${{{}}}"
    secrets_words = token_words = "taken from the environment that Claude Code is started in: set it there"


class VSCode(Client):
    """microsoft/vscode-docs, docs/copilot/reference/mcp-configuration.md."""

    title = "VS Code"
    file = ".vscode/mcp.json in the workspace, or what the command `MCP: Open User Configuration` opens"
    root = "servers"
    reference = "${{input:{}}}"
    secrets_words = token_words = "asked for by VS Code when it starts the server the first time"

    def block(self, key: str, entry: JSONObject, secrets: Sequence[str]) -> str:
        """The text to paste, with what VS Code asks for."""
        inputs = [{"type": "promptString", "id": name, "description": name, "password": True} for name in secrets]
        whole: JSONObject = {"inputs": inputs} if inputs else {}
        return json.dumps({**whole, self.root: {key: entry}}, indent=2)


class Cursor(Client):
    """cursor.com, docs/mcp: a server with a url is a remote one, and `${env:NAME}` a variable."""

    title = "Cursor"
    file = ".cursor/mcp.json in the project, or ~/.cursor/mcp.json for all of them"
    kinds = False
    reference = "${{env:{}}}"
    secrets_words = token_words = "taken from the environment that Cursor is started in: set it there"


class Codex(Client):
    """openai/codex, codex-rs/config/src/mcp_types.rs."""

    title = "Codex"
    file = "~/.codex/config.toml, or .codex/config.toml in a project that Codex trusts"
    secrets_words = token_words = "taken from the environment that Codex is started in: set it there"

    def local(self, key: str, server: Local) -> str:
        """The table of a server that Codex starts."""
        values: JSONObject = {"command": server.command, "args": list(server.args)}
        if server.secrets:
            values["env_vars"] = list(server.secrets)
        text = table(["mcp_servers", key], values)
        return f"{text}\n\n{table(['mcp_servers', key, 'env'], dict(server.env))}" if server.env else text

    def remote(self, key: str, server: Remote) -> str:
        """The table of a server at a URL."""
        token: JSONObject = {"bearer_token_env_var": server.token} if server.token else {}
        return table(["mcp_servers", key], {"url": server.url, **token})


class Inspector(Client):
    """modelcontextprotocol/inspector, docs/mcp-server-configuration.md."""

    title = "the MCP Inspector"
    file = "a file of any name: npx @modelcontextprotocol/inspector --config FILE"


CLIENTS: Mapping[str, Client] = {
    "claude-desktop": ClaudeDesktop(),
    "claude-code": ClaudeCode(),
    "vscode": VSCode(),
    "cursor": Cursor(),
    "codex": Codex(),
    "inspector": Inspector(),
}


def key_of(name: str) -> str:
    """A server's name as clients' configurations take it: letters, digits, `-` and `_`, with a letter first."""
    key = re.sub(r"[^a-zA-Z0-9_-]+", "-", name).strip("-_")
    return key if key[:1].isalpha() else f"mcp-{key}".rstrip("-")
