"""The JSON API as tools: each is its route, with what refuses the route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from example import ai
from example.models import User

DRAFT = "what-the-new-fence-will-cost"
YES = {"confirm": {"action": "accept", "content": {"yes": True}}}


def test_every_route_of_the_api_is_a_tool(app: Flask) -> None:
    """Nothing of the API is left out."""
    with app.app_context():
        tools = {tool.name for tool in ai.api_server.catalogue.tools.items}
    routes = {endpoint for endpoint in app.view_functions if endpoint.startswith("api.")}
    assert tools == {endpoint.replace(".", "_") for endpoint in routes}


def test_the_life_of_a_post(user: Callable[[str], User]) -> None:
    """A post is written, read, edited, published and deleted, by its author's assistant."""
    ana, call = user("ana"), ai.api_server.call
    created = call(ana, "api_create_post", {"title": "Beans", "body": "Text", "tags": ["soil"]}).data
    assert isinstance(created, dict)
    assert (created["slug"], created["status"]) == ("beans", "draft")
    assert call(user("ben"), "api_get_post", {"slug": "beans"}).is_error
    assert call(ana, "api_edit_post", {"slug": "beans", "body": "More"}).data == {**created, "body": "More"}
    assert not call(ana, "api_publish_post", {"slug": "beans"}).is_error
    assert not call(user("ben"), "api_get_post", {"slug": "beans"}).is_error
    assert call(ana, "api_delete_post", {"slug": "beans"}, answers=YES).text == "Done."
    assert call(ana, "api_get_post", {"slug": "beans"}).is_error


def test_what_refuses_a_route_refuses_its_tool(
    user: Callable[[str], User], client_of: Callable[[str], FlaskClient]
) -> None:
    """A refusal is the API's own, word for word."""
    refused = ai.api_server.call(user("ana"), "api_statistics")
    answer = client_of("ana").get("/api/statistics")
    assert answer.status_code == 403
    assert refused.is_error
    assert refused.data == answer.json


@pytest.mark.parametrize("slug", ["../statistics", "a/publish", ""])
def test_a_slug_leads_nowhere_else(user: Callable[[str], User], slug: str) -> None:
    """A slug is a slug, and no way to another route."""
    refused = ai.api_server.call(user("eda"), "api_get_post", {"slug": slug})
    assert refused.text == "Invalid arguments:\n- slug: no address can be made of this; send another value."


def test_it_is_served_at_its_own_address(client_of: Callable[[str], FlaskClient]) -> None:
    """The API's tools are at an address of their own, as the user of the session."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    message["params"] = {"name": "api_get_post", "arguments": {"slug": DRAFT}}
    assert "isError" not in client_of("ana").post("/mcp/api", json=message).get_json()["result"]
    assert client_of("ben").post("/mcp/api", json=message).get_json()["result"]["isError"] is True
