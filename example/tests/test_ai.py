"""What an assistant can reach follows the blog's own policies. The functions are called as the functions that
they are, and the whole server through its door, as a client's calls come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from flask_login import AnonymousUserMixin
from sqlalchemy import select
from werkzeug.exceptions import Forbidden, NotFound

from example import ai
from example.database import db
from example.models import Post, User
from example.services import PostService
from flask_arandu_mcp import ProtocolError, Request, Server, public, tool

GUEST = AnonymousUserMixin()
PUBLISHED, DRAFT = "why-we-share-one-plot", "what-the-new-fence-will-cost"  # both ana's
READING = {"list_posts", "search_posts", "get_post", "list_tags", "whoami"}
WRITING = {"create_draft", "edit_post", "publish_post", "delete_post"}


@pytest.fixture
def call(user: Callable[[str], User]) -> Callable[..., Any]:
    """Calls a tool through the door, as a user by name or as a guest."""

    def call(name: str | None, tool: str, **arguments: object) -> Any:
        return ai.server.call(GUEST if name is None else user(name), tool, arguments)

    return call


def read(subject: object, uri: str) -> Any:
    """The one content of a resource."""
    (content,) = ai.server.read(subject, uri)
    return content


def names(listed: list[dict[str, Any]]) -> set[str]:
    """The names in a list."""
    return {entry["name"] for entry in listed}


def test_a_decorated_tool_is_still_a_function(user: Callable[[str], User]) -> None:
    """A decorated tool, resource or prompt is tested by calling it with a request of some subject."""
    assert "Eda Lindqvist (eda), editor" in ai.whoami(Request(subject=user("eda")))
    assert "guest" in ai.whoami(Request(subject=GUEST))
    assert ai.get_post(Request(subject=user("ana")), slug=DRAFT).title == "What the new fence will cost"
    assert ai.post_text(Request(subject=GUEST), slug=PUBLISHED).startswith("# Why we share one plot\n")
    assert ai.outline(Request(subject=GUEST), topic="mulch", readers="beginners")[0].role == "user"
    with pytest.raises(NotFound):
        ai.get_post(Request(subject=user("ben")), slug=DRAFT)
    with pytest.raises(Forbidden):
        ai.delete_post(Request(subject=user("ben")), slug=PUBLISHED)


def test_a_class_is_tested_through_its_handle(user: Callable[[str], User]) -> None:
    """The class form is called by its `handle`."""
    found = ai.ListPosts().handle(Request(subject=user("assistant")), limit=1)
    assert [post.slug for post in found] == ["answers-to-readers-questions"]


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        (None, READING),
        ("ana", READING | WRITING),
        ("assistant", READING | WRITING),
        ("eda", READING | WRITING | {"blog_statistics"}),
    ],
)
def test_who_is_shown_which_tools(user: Callable[[str], User], name: str | None, tools: set[str]) -> None:
    """Guests read, users write too, and editors count."""
    assert names(ai.server.list_tools(GUEST if name is None else user(name))) == tools


def test_who_is_shown_which_resources_and_prompts(user: Callable[[str], User]) -> None:
    """The list of drafts and the review are for users; the rest is for everyone."""
    assert names(ai.server.list_resources(GUEST)) == {"about"}
    assert names(ai.server.list_resources(user("ben"))) == {"about", "drafts"}
    assert names(ai.server.list_templates(GUEST)) == {"post_text"}
    assert names(ai.server.list_prompts(GUEST)) == {"outline"}
    assert names(ai.server.list_prompts(user("ben"))) == {"outline", "review_post"}


def test_every_tool_tells_what_it_does(user: Callable[[str], User]) -> None:
    """A client learns of each tool whether it only reads, and of each argument what it means."""
    listed: list[Any] = ai.server.list_tools(user("eda"))
    for entry in listed:
        hints = entry["annotations"]
        assert hints.get("readOnlyHint", False) is not ("destructiveHint" in hints)
        assert all(schema.get("description") for schema in entry["inputSchema"]["properties"].values())


@pytest.mark.parametrize(("name", "count"), [(None, 30), ("ana", 33), ("ben", 32), ("eda", 37), ("assistant", 31)])
def test_a_list_holds_what_its_reader_may_see(call: Callable[..., Any], name: str | None, count: int) -> None:
    """The same tool answers each caller with their own view of the blog."""
    answer = call(name, "list_posts", limit=100)
    assert not answer.is_error
    assert len(answer.data) == count


def test_a_result_has_the_shape_of_its_schema(call: Callable[..., Any]) -> None:
    """A post is dumped by its schema, nested author and all."""
    assert call(None, "search_posts", text="jam jar").data == [
        {
            "slug": "testing-the-soil-with-a-jam-jar",
            "title": "Testing the soil with a jam jar",
            "author": {"name": "ben", "full_name": "Ben Okafor"},
            "status": "published",
            "published_on": "2024-03-02",
            "tags": ["soil"],
        }
    ]
    assert call(None, "get_post", slug=PUBLISHED).data["body"].startswith("Four households")
    assert {"tag": "bees", "posts": 4} in call(None, "list_tags").data


def test_the_life_of_a_draft(call: Callable[..., Any]) -> None:
    """An assistant writes, edits, publishes and deletes a post of its user's own."""
    draft = call("ben", "create_draft", title="Beans", body="Text", tags=["soil"]).data
    assert (draft["slug"], draft["status"], draft["published_on"]) == ("beans", "draft", None)
    assert call("ana", "get_post", slug="beans").is_error
    edited = call("ben", "edit_post", slug="beans", body="More").data
    assert edited == {**draft, "body": "More"}
    assert "“Beans” is public since" in call("ben", "publish_post", slug="beans").text
    assert call(None, "get_post", slug="beans").data["body"] == "More"
    assert call("ben", "delete_post", slug="beans").text == "Deleted beans."
    assert call("ben", "get_post", slug="beans").is_error


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "told"),
    [
        (None, "list_posts", {"status": "draft"}, "Sign in to see drafts."),
        (None, "create_draft", {"title": "Mine", "body": "Text"}, "403"),
        ("ana", "blog_statistics", {}, "403"),
        ("ben", "get_post", {"slug": DRAFT}, "There is no such post."),
        ("ben", "delete_post", {"slug": DRAFT}, "There is no such post."),
        ("ben", "edit_post", {"slug": PUBLISHED, "title": "Mine"}, "Only its author or an editor"),
        ("ben", "edit_post", {"slug": PUBLISHED, "titel": "Mine"}, "titel"),
        ("ana", "create_draft", {"title": "", "body": "Text"}, "title"),
        (None, "list_posts", {"limit": 0}, "limit"),
    ],
)
def test_refusals_are_errors_that_say_why(
    call: Callable[..., Any], name: str | None, tool: str, arguments: Mapping[str, object], told: str
) -> None:
    """What a policy or a schema refuses is an error with the blog's own words, never an empty result."""
    answer = call(name, tool, **arguments)
    assert answer.is_error
    assert told in answer.text


def test_a_tool_that_asks_no_policy_gets_no_data(user: Callable[[str], User]) -> None:
    """A tool that somebody adds one day and that goes past the services is refused, whoever calls it."""

    @tool(access=public)
    def every_title(request: Request) -> list[str]:
        """Lists every title, hidden drafts included."""
        return list(db.session.scalars(select(Post.title)))

    answer = Server(name="careless", tools=[every_title]).call(user("eda"), "every_title")
    assert answer.is_error
    assert "nothing had allowed this" in answer.text


def test_statistics_are_for_editors(call: Callable[..., Any]) -> None:
    """Plain data needs no schema."""
    assert call("eda", "blog_statistics").data["posts"] == 37


def test_reading_resources(user: Callable[[str], User]) -> None:
    """A resource is read in its media type, and a hidden draft is not found."""
    assert read(GUEST, "blog://about")["mimeType"] == "text/plain"
    post = read(user("eda"), f"blog://posts/{DRAFT}")
    assert post["mimeType"] == "text/markdown"
    assert "840" in post["text"]
    assert read(user("ben"), "blog://drafts")["text"].count("\n") == 2
    for subject, uri in ((user("ben"), f"blog://posts/{DRAFT}"), (GUEST, "blog://drafts")):
        with pytest.raises(ProtocolError):
            read(subject, uri)


def test_rendering_prompts(user: Callable[[str], User]) -> None:
    """A prompt is rendered with what its user may see."""
    messages: Any = ai.server.get(GUEST, "outline", {"topic": "mulch"})
    assert [message["role"] for message in messages] == ["user", "assistant"]
    assert "about mulch, written for beginners" in messages[0]["content"]["text"]
    review: Any = ai.server.get(user("ana"), "review_post", {"slug": DRAFT})
    assert "840" in review[0]["content"]["text"]
    for subject in (user("ben"), GUEST):
        with pytest.raises(ProtocolError):
            ai.server.get(subject, "review_post", {"slug": DRAFT})


def test_the_local_assistant_is_a_user_of_its_own(context: None) -> None:
    """An assistant on this machine acts as `assistant`, who is an author like others."""
    subject = ai.assistant()
    assert subject is not None
    assert subject.name == "assistant"
    draft = PostService().create(subject, title="From the assistant", body="Text")
    assert draft.author_id == subject.id
