"""The official Python SDK: an `MCPServer` over HTTP, without sessions and with plain JSON answers, and over stdio.
Its log is set to warnings, since at its own level it would write a line or more for every call."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from .. import work
from ..setups import Setup
from .annotated import in_loop, note, tools_of

if TYPE_CHECKING:
    from starlette.applications import Starlette


def close(a: int, b: int) -> dict[str, int]:
    """Adds two numbers for those who are signed in."""
    raise ToolError(work.REFUSAL)


def create_server(setup: Setup) -> MCPServer:
    """The server."""
    server = MCPServer("benchmark", version="1", log_level="WARNING")
    for function in tools_of(setup):
        # A text is sent as a text, as the others do.
        server.add_tool(function, structured_output=False if function.__name__ == "give_text" else None)
    if setup.tools is None:
        server.add_tool(in_loop(close) if setup.tuned else close)
    server.resource(work.URI, mime_type="text/plain")(in_loop(note) if setup.tuned else note)
    return server


@functools.cache
def create_app() -> Starlette:
    """The ASGI app."""
    return create_server(Setup.read()).streamable_http_app(stateless_http=True, json_response=True)


if __name__ == "__main__":
    create_server(Setup.read()).run("stdio")
