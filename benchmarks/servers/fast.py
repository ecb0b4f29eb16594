"""FastMCP: its server over HTTP, without sessions and with plain JSON answers, and over stdio. Its log is silenced,
since it would write several lines for every call that fails."""

from __future__ import annotations

import logging
from typing import Any

from fastmcp import FastMCP  # pyright: ignore[reportMissingImports]  # in an environment of its own
from fastmcp.exceptions import ToolError  # pyright: ignore[reportMissingImports]  # in an environment of its own

from .. import work
from ..setups import Setup
from .annotated import in_loop, note, tools_of


def close(a: int, b: int) -> dict[str, int]:
    """Adds two numbers for those who are signed in."""
    raise ToolError(work.REFUSAL)


def create_server(setup: Setup) -> Any:
    """The server."""
    logging.getLogger("fastmcp").setLevel(logging.CRITICAL)
    server = FastMCP("benchmark", version="1")
    for function in tools_of(setup):
        # A text is sent as a text, as the others do.
        options = {"output_schema": None} if function.__name__ == "give_text" else {}
        server.tool(function, **options)
    if setup.tools is None:
        server.tool(in_loop(close) if setup.tuned else close)
    server.resource(work.URI, mime_type="text/plain")(in_loop(note) if setup.tuned else note)
    return server


def create_app() -> Any:
    """The ASGI app."""
    return create_server(Setup.read()).http_app(path="/mcp", stateless_http=True, json_response=True)


if __name__ == "__main__":
    create_server(Setup.read()).run("stdio", show_banner=False)
