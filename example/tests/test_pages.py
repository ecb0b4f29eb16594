"""The pages show what the reader may see, and escape what was written."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

DRAFT = "/posts/what-the-new-fence-will-cost"


def test_the_index_shows_what_the_reader_may_see(client: FlaskClient, client_of: Callable[[str], FlaskClient]) -> None:
    """A guest sees published posts, an author also their own drafts, an editor all."""
    seen = {name: client_of(name).get("/").text.count("<li>") for name in ("ana", "ben", "eda")}
    assert client.get("/").text.count("<li>") == 30
    assert seen == {"ana": 33, "ben": 32, "eda": 37}


@pytest.mark.parametrize(("name", "status"), [("ana", 200), ("eda", 200), ("ben", 404)])
def test_a_draft_page(client_of: Callable[[str], FlaskClient], name: str, status: int) -> None:
    """A draft has a page for its author and for editors only."""
    answer = client_of(name).get(DRAFT)
    assert answer.status_code == status
    assert ("840" in answer.text) is (status == 200)


def test_a_refusal_is_a_page(client: FlaskClient) -> None:
    """A person gets an error as HTML in the blog's own looks."""
    answer = client.get(DRAFT, headers={"Accept": "text/html,*/*;q=0.8"})
    assert answer.status_code == 404
    assert answer.mimetype == "text/html"
    assert "There is no such post." in answer.text


def test_a_refusal_is_json_for_a_program(client: FlaskClient) -> None:
    """A program that asks for JSON gets the same error as JSON."""
    answer = client.get(DRAFT, headers={"Accept": "application/json"})
    assert answer.json == {"error": "Not Found", "message": "There is no such post."}


def test_posts_are_escaped(client_of: Callable[[str], FlaskClient]) -> None:
    """What an author writes is text on the page, never markup."""
    ana = client_of("ana")
    ana.post("/api/posts", json={"title": "<b>Beans</b>", "body": "<script>alert(1)</script>"})
    text = ana.get("/posts/b-beans-b").text
    assert "&lt;b&gt;Beans" in text
    assert "<script>" not in text
