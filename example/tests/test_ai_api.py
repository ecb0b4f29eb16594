"""The JSON API as tools: each is its route, with what refuses the route."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from example import ai
from example.database import db
from example.models import User
from flask_arandu_mcp.testing import MCPClient, assert_policy_parity

Assistant = Callable[[str | None], MCPClient]

PUBLISHED, DRAFT = "why-we-share-one-plot", "what-the-new-fence-will-cost"  # both ana's
SLUGS = [{"slug": PUBLISHED}, {"slug": DRAFT}, {"slug": "no-such-post"}]
CALLS: dict[str, list[dict[str, Any]]] = {
    "api_list_posts": [{}, {"status": "draft"}, {"tag": "bees", "limit": 3}, {"limit": 0}],
    "api_search_posts": [{"text": "fence"}, {}],
    "api_get_post": SLUGS,
    "api_create_post": [{"title": "Beans", "body": "Text", "tags": ["soil"]}, {"title": "", "body": "Text"}],
    "api_edit_post": [{**slug, "body": "More"} for slug in SLUGS],
    "api_delete_post": SLUGS,
    "api_publish_post": SLUGS,
    "api_list_tags": [{}],
    "api_statistics": [{}],
}


@pytest.fixture
def api_of(assistant_of: Assistant) -> Assistant:
    """Finds the assistant that uses the API's tools, of a user by name or of a guest."""
    return lambda name: assistant_of(name).of_server("api")


def test_every_route_of_the_api_is_a_tool(app: Flask) -> None:
    """Nothing of the API is left out."""
    with app.app_context():
        tools = {tool.name for tool in ai.api_server.catalogue.tools.items}
    routes = {endpoint for endpoint in app.view_functions if endpoint.startswith("api.")}
    assert tools == {endpoint.replace(".", "_") for endpoint in routes}


def test_a_tool_and_its_route_are_one(app: Flask, seeded: Path, user: Callable[[str], User]) -> None:
    """Whoever asks, and whichever way, is refused the same, given the same, and leaves the same posts behind."""

    def reset() -> None:
        db.session.remove()
        db.engine.dispose()
        shutil.copy(seeded / "blog.sqlite", Path(app.instance_path))

    def posts() -> list[Any]:
        with db.engine.connect() as connection:
            return [tuple(row) for row in connection.exec_driver_sql("SELECT * FROM post ORDER BY id")]

    users = {"a guest": None, "ana": user("ana"), "ben": user("ben"), "eda": user("eda")}
    assert assert_policy_parity(app, CALLS, users=users, server="api", reset=reset, state=posts) == 88


def test_the_life_of_a_post(api_of: Assistant) -> None:
    """A post is written, read, edited, published and deleted, by its author's assistant."""
    ana, ben = api_of("ana"), api_of("ben")
    created = ana.call("api_create_post", title="Beans", body="Text", tags=["soil"]).data
    assert (created["slug"], created["status"]) == ("beans", "draft")
    ben.call("api_get_post", slug="beans").assert_refused().assert_does_not_see("Text")
    assert ana.call("api_edit_post", slug="beans", body="More").data == {**created, "body": "More"}
    ana.call("api_publish_post", slug="beans").assert_ok()
    ben.call("api_get_post", slug="beans").assert_ok()
    asked = ana.answering({"confirm": {"yes": True}}).call("api_delete_post", slug="beans").assert_asked("confirm")
    assert (asked.text, asked.questions[0].message) == ("Done.", "Delete the post beans for good?")
    ana.call("api_get_post", slug="beans").assert_refused()


def test_nothing_is_deleted_without_a_yes(api_of: Assistant) -> None:
    """Whoever declines keeps the post."""
    ana = api_of("ana")
    ana.answering({"confirm": "decline"}).call("api_delete_post", slug=DRAFT).assert_error("nothing was done")
    ana.call("api_get_post", slug=DRAFT).assert_ok()


@pytest.mark.parametrize("slug", ["../statistics", "a/publish", ""])
def test_a_slug_leads_nowhere_else(api_of: Assistant, slug: str) -> None:
    """A slug is a slug, and no way to another route."""
    refused = api_of("eda").call("api_get_post", slug=slug)
    assert refused.text == "Invalid arguments:\n- slug: no address can be made of this; send another value."
