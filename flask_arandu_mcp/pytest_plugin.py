"""The fixture `mcp_client`, for every project that tests with pytest and has this package. pytest loads it in each of
them, so it imports nothing but pytest until the fixture is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .testing import MCPClient


@pytest.fixture
def mcp_client(request: pytest.FixtureRequest) -> MCPClient:
    """A client of the MCP server of the project's fixture `app`: a guest, until `acting_as(user)`."""
    from .testing import MCPClient

    try:
        app = request.getfixturevalue("app")
    except pytest.FixtureLookupError as error:
        if error.argname != "app":
            raise
        pytest.fail(
            "The fixture 'mcp_client' needs a fixture 'app' that returns your Flask app, and there is none: write one "
            "in conftest.py, or make a client by hand, flask_arandu_mcp.testing.MCPClient(app).",
            pytrace=False,
        )
    return MCPClient(app)
