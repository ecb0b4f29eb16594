"""The JSON API translates between HTTP and the service: it checks what comes in and says why it refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

DRAFT = "/api/posts/what-the-new-fence-will-cost"


def test_a_list_of_summaries(client: FlaskClient) -> None:
    """A list holds summaries without the text."""
    answer = client.get("/api/posts?tag=garlic")
    assert answer.json == [
        {
            "slug": "garlic-goes-in-now",
            "title": "Garlic goes in now",
            "author": {"name": "ana", "full_name": "Ana Duarte"},
            "status": "published",
            "published_on": "2024-10-26",
            "tags": ["autumn", "garlic"],
        }
    ]


def test_searching(client: FlaskClient) -> None:
    """The search finds posts by a text in them."""
    answer = client.get("/api/posts/search?text=crème")
    assert [post["slug"] for post in answer.json or []] == ["jalapenos-on-the-balcony-creme-fraiche-in-the-kitchen"]


def test_the_life_of_a_post(client: FlaskClient, client_of: Callable[[str], FlaskClient]) -> None:
    """A post is written, read, edited, published and deleted."""
    ana = client_of("ana")
    created = ana.post("/api/posts", json={"title": "Beans", "body": "Text", "tags": ["soil"]})
    assert created.status_code == 201
    assert created.json is not None
    assert (created.json["slug"], created.json["status"]) == ("beans", "draft")
    assert client.get("/api/posts/beans").status_code == 404
    edited = ana.patch("/api/posts/beans", json={"body": "More"}).json
    assert edited == {**created.json, "body": "More"}
    assert (ana.post("/api/posts/beans/publish").json or {})["status"] == "published"
    assert client.get("/api/posts/beans").status_code == 200
    assert ana.delete("/api/posts/beans").status_code == 204
    assert ana.get("/api/posts/beans").status_code == 404


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"body": "Text"}, "title"),
        ({"title": "", "body": "Text"}, "title"),
        ({"title": "T" * 121, "body": "Text"}, "title"),
        ({"title": "Beans", "body": "Text", "tags": "soil"}, "tags"),
        ({"title": "Beans", "body": "Text", "author": "ben"}, "author"),
        ([], "_schema"),
    ],
)
def test_what_a_schema_refuses(client_of: Callable[[str], FlaskClient], data: object, field: str) -> None:
    """Data that is not valid is a 422 that names the fields."""
    answer = client_of("ana").post("/api/posts", json=data)
    assert answer.status_code == 422
    assert answer.json is not None
    assert list(answer.json["fields"]) == [field]


def test_refusals_say_why(client: FlaskClient, client_of: Callable[[str], FlaskClient]) -> None:
    """A refusal carries its reason, and a hidden draft is not found."""
    answer = client.post("/api/posts", json={"title": "Beans", "body": "Text"})
    assert (answer.status_code, answer.json) == (403, {"error": "Forbidden", "message": "Sign in to write."})
    ben = client_of("ben")
    assert ben.delete("/api/posts/why-we-share-one-plot").status_code == 403
    assert ben.delete(DRAFT).status_code == 404


def test_wrong_addresses_and_methods_are_json(client: FlaskClient) -> None:
    """Everything below /api answers JSON, and a 405 keeps its Allow header."""
    assert (client.get("/api/nothing").json or {})["error"] == "Not Found"
    answer = client.put("/api/tags")
    assert (answer.json or {})["error"] == "Method Not Allowed"
    assert "GET" in answer.headers["Allow"]


def test_tags_and_statistics(client: FlaskClient, client_of: Callable[[str], FlaskClient]) -> None:
    """Tags are for everyone, statistics for editors."""
    assert {"tag": "bees", "posts": 4} in (client.get("/api/tags").json or [])
    assert client_of("ana").get("/api/statistics").status_code == 403
    assert (client_of("eda").get("/api/statistics").json or {})["posts"] == 37
