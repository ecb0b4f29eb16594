"""The page of a user's assistant shows what the server lists for that user, and gives out tokens with care."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from example import accounts, ai
from example.database import db
from example.models import ApiToken

ClientOf = Callable[[str], FlaskClient]
WHOAMI = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}


def made(client: FlaskClient, name: str = "Claude") -> str:
    """A token that the page has made, read off the page."""
    answer = client.post("/assistant", data={"name": name})
    assert answer.status_code == 200
    found = re.search(r'id="token">([^<]+)<', answer.text)
    assert found is not None
    return found[1]


def ask(app: Flask, token: str) -> TestResponse:
    """What the server answers to an assistant that has a token and nothing else."""
    return app.test_client().post("/mcp", json=WHOAMI, headers={"Authorization": f"Bearer {token}"})


def revoke_path(client: FlaskClient) -> str:
    """Where the only token on the page is revoked."""
    (path,) = re.findall(r'action="(/assistant/tokens/\d+/revoke)"', client.get("/assistant").text)
    return str(path)


def tokens(app: Flask) -> list[tuple[str, str]]:
    """What the database knows of all tokens: the name and the digest."""
    with app.app_context():
        return [(row.name, row.digest) for row in db.session.scalars(select(ApiToken))]


def article(text: str, name: str) -> str:
    """What the page says under a heading, without markup."""
    (found,) = re.findall(rf"<h3>{name}</h3>(.*?)</article>", text, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found)).split())


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/assistant"), ("POST", "/assistant"), ("POST", "/assistant/tokens/1/revoke")]
)
def test_a_guest_is_sent_to_sign_in(client: FlaskClient, method: str, path: str) -> None:
    """Whoever is not signed in is led to do so and back to the page, whatever they came for."""
    answer = client.open(path, method=method)
    assert (answer.status_code, answer.location) == (302, "/sign-in?next=/assistant")
    assert "Please sign in first." in client.get(answer.location).text


@pytest.mark.parametrize("name", ["ana", "eda"])
def test_it_shows_what_the_server_lists(app: Flask, client_of: ClientOf, name: str) -> None:
    """A user sees the tools, resources and prompts that their assistant is offered, each described, and no others."""
    lists = [ai.server.list_tools, ai.server.list_resources, ai.server.list_templates, ai.server.list_prompts]
    with app.app_context():
        user = accounts.user_by_name(name)
        listed: list[dict[str, Any]] = [item for of in lists for item in of(user)]
    text = client_of(name).get("/assistant").text
    shown = re.findall(r"<article>\s*<h3>(.*?)</h3>", text)
    assert shown == [item.get("title") or item["name"] for item in listed]
    for item, heading in zip(listed, shown, strict=True):
        assert str(item["description"]) in article(text, heading)
    assert ("blog_statistics" in shown) is (name == "eda")


def test_it_says_what_a_tool_does_in_words(client_of: ClientOf) -> None:
    """Hints and arguments are told in words, for people who know no protocol."""
    text = client_of("ana").get("/assistant").text
    assert article(text, "get_post").startswith("only reads Reads one post")
    assert article(text, "delete_post").startswith("may delete or overwrite Deletes one post")
    assert article(text, "publish_post").startswith("deletes and overwrites nothing safe to repeat Makes")
    assert "1 argument slug , required The post's slug" in article(text, "get_post")
    assert "status Only posts of this status: draft or published" in article(text, "List posts")
    assert "limit How many to return; 20 unless given" in article(text, "List posts")
    assert "2 arguments topic , required What the post is about" in article(text, "outline")
    assert "argument" not in article(text, "whoami")


def test_a_token_is_shown_once_and_acts_as_its_user(app: Flask, client_of: ClientOf) -> None:
    """A token is on the page that made it, in every client's block, and on no other page; only its digest is kept."""
    ana = client_of("ana")
    assert ana.get("/assistant").text.count("YOUR-TOKEN") == 2 * 6
    answer = ana.post("/assistant", data={"name": " Claude "})
    token = re.findall(r'id="token">([^<]+)<', answer.text)[0]
    assert answer.text.count(token) == 1 + 6
    assert token not in ana.get("/assistant").text
    assert tokens(app) == [("Claude", accounts.digest_of(token))]
    assert "You act as Ana Duarte (ana)" in ask(app, token).text


def test_no_cache_keeps_the_page(client_of: ClientOf) -> None:
    """What shows a token is stored nowhere, and framed by nobody."""
    ana = client_of("ana")
    for answer in (ana.get("/assistant"), ana.post("/assistant", data={"name": "Claude"})):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Security-Policy"] == "default-src 'self'; frame-ancestors 'none'"


def test_a_revoked_token_is_refused_at_once(app: Flask, client_of: ClientOf) -> None:
    """A token that was revoked is 401, and the user's other one stays good."""
    ana = client_of("ana")
    token = made(ana, "Claude")
    path = revoke_path(ana)
    other = made(ana, "Cursor")
    assert ask(app, token).status_code == 200
    text = ana.post(path, follow_redirects=True).text
    assert "“Claude” is revoked." in text
    assert "Revoke “Cursor”" in text
    assert "Revoke “Claude”" not in text
    assert [ask(app, each).status_code for each in (token, other)] == [401, 200]
    assert ana.post(path).status_code == 404


def test_tokens_of_others_are_out_of_reach(app: Flask, client_of: ClientOf) -> None:
    """A user neither sees nor revokes another user's token, not even an editor; it is as one that never was."""
    ana, eda = client_of("ana"), client_of("eda")
    token = made(ana, "Claude of ana")
    assert "Claude of ana" not in eda.get("/assistant").text
    assert eda.post(revoke_path(ana)).status_code == 404
    assert ask(app, token).status_code == 200


def test_a_token_makes_and_revokes_no_token(app: Flask, client_of: ClientOf) -> None:
    """A token that leaked cannot make itself a successor: the page is for who has signed in with a password."""
    ana = client_of("ana")
    token, path = made(ana), revoke_path(ana)
    before = tokens(app)
    for where in ("/assistant", path):
        answer = app.test_client().post(where, data={"name": "another"}, headers={"Authorization": f"Bearer {token}"})
        assert answer.location == "/sign-in?next=/assistant"
    assert tokens(app) == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://other.example"},
        {"Origin": "http://localhost.other.example"},
        {"Origin": "null"},
        {"Origin": "http://["},
    ],
)
def test_forms_of_other_sites_change_nothing(app: Flask, client_of: ClientOf, headers: dict[str, str]) -> None:
    """Another site can neither make nor revoke a token, even where the cookie comes along."""
    ana = client_of("ana")
    token, path = made(ana), revoke_path(ana)
    before = tokens(app)
    for where in ("/assistant", path):
        answer = ana.post(where, data={"name": "another"}, headers=headers)
        assert answer.status_code == 403
    assert tokens(app) == before
    assert ask(app, token).status_code == 200


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://localhost"}, {"Origin": "null", "Sec-Fetch-Site": "same-origin"}]
)
def test_our_own_forms_are_taken(client_of: ClientOf, headers: dict[str, str]) -> None:
    """By the Origin, where the browser does not say the site."""
    answer = client_of("ana").post("/assistant", data={"name": "another"}, headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("number", ["9223372036854775807", "9223372036854775808", "99999999999999999999999999"])
def test_a_token_that_never_was_is_not_found(client_of: ClientOf, number: str) -> None:
    """However large its number, also for the database."""
    assert client_of("ana").post(f"/assistant/tokens/{number}/revoke").status_code == 404


def test_only_a_post_revokes(client_of: ClientOf) -> None:
    """No link and no image revokes a token."""
    ana = client_of("ana")
    made(ana)
    assert ana.get(revoke_path(ana)).status_code == 405


@pytest.mark.parametrize("name", ["", "  ", "n" * 41])
def test_a_token_has_a_name_to_know_it_by(app: Flask, client_of: ClientOf, name: str) -> None:
    """A name that is missing or too long is refused with the rule, and nothing is made."""
    answer = client_of("ana").post("/assistant", data={"name": name})
    assert answer.status_code == 422
    assert "Give the token a name of at most 40 characters." in answer.text
    assert tokens(app) == []


def test_names_are_escaped(app: Flask, client_of: ClientOf) -> None:
    """What users call themselves, their tokens or the host is text on the page, never markup."""
    ana = client_of("ana")
    with app.app_context():
        user = accounts.user_by_name("ana")
        assert user is not None
        user.full_name = "<b>Ana</b>"
        db.session.commit()
    text = ana.post("/assistant", data={"name": '"><script>alert(1)</script>'}).text
    assert "<b>Ana" not in text
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text
    assert 'aria-label="Revoke “&#34;&gt;&lt;script&gt;' in text
