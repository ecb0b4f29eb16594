"""The request that the app's own code sees of a message over the pipe: it comes to where the app takes itself to be."""

from __future__ import annotations

from typing import Any

import pytest

from flask_arandu_mcp.transports.local import local_environ

from .app import create_app


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ({}, "http://localhost/mcp"),
        ({"SERVER_NAME": "blog.example", "TRUSTED_HOSTS": ["blog.example"]}, "http://blog.example/mcp"),
        ({"TRUSTED_HOSTS": [".blog.example", "localhost"]}, "http://blog.example/mcp"),
        ({"APPLICATION_ROOT": "/shop", "PREFERRED_URL_SCHEME": "https"}, "https://localhost/shop/mcp"),
        (
            {"APPLICATION_ROOT": "/shop", "PREFERRED_URL_SCHEME": "https", "TRUSTED_HOSTS": ["blog.example"]},
            "https://blog.example/shop/mcp",
        ),
    ],
)
def test_where_a_message_over_the_pipe_comes_to(config: dict[str, Any], url: str) -> None:
    """Scheme, host and root path are the app's own, with and without hosts that it trusts."""
    app = create_app(config)
    assert app.request_class(local_environ(app, "/mcp")).url == url
