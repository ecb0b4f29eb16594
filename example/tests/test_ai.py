"""What an assistant can reach follows the blog's own policies. The functions are called as the functions that they are,
and the server as an assistant calls it, on behalf of each user."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
from flask_login import AnonymousUserMixin
from sqlalchemy import select
from werkzeug.exceptions import Forbidden, NotFound

from example import ai
from example.database import db
from example.models import Post, User
from example.services import PostService
from flask_arandu_mcp import Request, Server, public, tool
from flask_arandu_mcp.testing import MCPClient

Assistant = Callable[[str | None], MCPClient]

GUEST = AnonymousUserMixin()
PUBLISHED, DRAFT = "why-we-share-one-plot", "what-the-new-fence-will-cost"  # both ana's
PRICE = "840"  # in the draft
READING = {"list_posts", "search_posts", "get_post", "list_tags", "whoami"}
WRITING = {"create_draft", "edit_post", "publish_post", "delete_post"}


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
def test_who_is_shown_which_tools(assistant_of: Assistant, name: str | None, tools: set[str]) -> None:
    """Guests read, users write too, and editors count."""
    assert set(assistant_of(name).tools().names) == tools


def test_who_is_shown_which_resources_and_prompts(assistant_of: Assistant) -> None:
    """The list of drafts and the review are for users; the rest is for everyone."""
    guest, ben = assistant_of(None), assistant_of("ben")
    assert guest.resources().names == ["about"]
    assert ben.resources().names == ["about", "drafts"]
    assert guest.templates().names == ["post_text"]
    assert guest.prompts().names == ["outline"]
    assert ben.prompts().names == ["outline", "review_post"]


def test_every_tool_tells_what_it_does(assistant_of: Assistant) -> None:
    """A client learns of each tool whether it only reads, and of each argument what it means."""
    for entry in assistant_of("eda").tools():
        hints = entry["annotations"]
        assert hints.get("readOnlyHint", False) is not ("destructiveHint" in hints)
        assert all(schema.get("description") for schema in entry["inputSchema"]["properties"].values())


@pytest.mark.parametrize(("name", "count"), [(None, 30), ("ana", 33), ("ben", 32), ("eda", 37), ("assistant", 31)])
def test_a_list_holds_what_its_reader_may_see(assistant_of: Assistant, name: str | None, count: int) -> None:
    """The same tool answers each caller with their own view of the blog."""
    assert len(assistant_of(name).call("list_posts", limit=100).assert_ok().data) == count


def test_a_result_has_the_shape_of_its_schema(assistant_of: Assistant) -> None:
    """A post is dumped by its schema, nested author and all."""
    guest = assistant_of(None)
    assert guest.call("search_posts", text="jam jar").data == [
        {
            "slug": "testing-the-soil-with-a-jam-jar",
            "title": "Testing the soil with a jam jar",
            "author": {"name": "ben", "full_name": "Ben Okafor"},
            "status": "published",
            "published_on": "2024-03-02",
            "tags": ["soil"],
        }
    ]
    assert guest.call("get_post", slug=PUBLISHED).data["body"].startswith("Four households")
    assert {"tag": "bees", "posts": 4} in guest.call("list_tags").data


def test_the_life_of_a_draft(assistant_of: Assistant) -> None:
    """An assistant writes, edits, publishes and deletes a post of its user's own."""
    guest, ana, ben = assistant_of(None), assistant_of("ana"), assistant_of("ben")
    draft = ben.call("create_draft", title="Beans", body="Text", tags=["soil"]).data
    assert (draft["slug"], draft["status"], draft["published_on"]) == ("beans", "draft", None)
    ana.call("get_post", slug="beans").assert_refused("There is no such post").assert_does_not_see("Text")
    assert ben.call("edit_post", slug="beans", body="More").data == {**draft, "body": "More"}
    ben.call("publish_post", slug="beans").assert_sees("“Beans” is public since")
    assert guest.call("get_post", slug="beans").data["body"] == "More"
    assert ben.call("delete_post", slug="beans").text == "Deleted beans."
    ben.call("get_post", slug="beans").assert_refused("There is no such post")


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "told"),
    [
        (None, "list_posts", {"status": "draft"}, "Sign in to see drafts."),
        (None, "create_draft", {"title": "Mine", "body": "Text"}, "403"),
        ("ana", "blog_statistics", {}, "403"),
        ("ben", "get_post", {"slug": DRAFT}, "There is no such post."),
        ("ben", "delete_post", {"slug": DRAFT}, "There is no such post."),
        ("ben", "edit_post", {"slug": PUBLISHED, "title": "Mine"}, "Only its author or an editor"),
    ],
)
def test_refusals_say_why(
    assistant_of: Assistant, name: str | None, tool: str, arguments: Mapping[str, object], told: str
) -> None:
    """What a policy refuses is refused in the blog's own words, and gives nothing of the draft away."""
    assistant_of(name).call(tool, arguments).assert_refused(told).assert_does_not_see(PRICE, "What the new fence")


@pytest.mark.parametrize(
    ("name", "tool", "arguments", "fault"),
    [
        ("ben", "edit_post", {"slug": PUBLISHED, "titel": "Mine"}, "titel: "),
        ("ana", "create_draft", {"title": "", "body": "Text"}, "title: "),
        (None, "list_posts", {"limit": 0}, "limit: "),
    ],
)
def test_wrong_arguments_are_told(
    assistant_of: Assistant, name: str | None, tool: str, arguments: Mapping[str, object], fault: str
) -> None:
    """What a schema refuses is an error that names the argument."""
    assistant_of(name).call(tool, arguments).assert_error(fault)


def test_a_tool_that_asks_no_policy_gets_no_data(user: Callable[[str], User]) -> None:
    """A tool that somebody adds one day and that goes past the services is refused, whoever calls it."""

    @tool(access=public)
    def every_title(request: Request) -> list[str]:
        """Lists every title, hidden drafts included."""
        return list(db.session.scalars(select(Post.title)))

    answer = Server(name="careless", tools=[every_title]).call(user("eda"), "every_title")
    assert answer.is_error
    assert "nothing had allowed this" in answer.text


def test_statistics_are_for_editors(assistant_of: Assistant) -> None:
    """Plain data needs no schema."""
    assert assistant_of("eda").call("blog_statistics").data["posts"] == 37


def test_reading_resources(assistant_of: Assistant) -> None:
    """A resource is read in its media type, and a hidden draft is not found."""
    guest, ben, eda = assistant_of(None), assistant_of("ben"), assistant_of("eda")
    assert guest.read("blog://about").contents[0]["mimeType"] == "text/plain"
    assert eda.read(f"blog://posts/{DRAFT}").assert_sees(PRICE).contents[0]["mimeType"] == "text/markdown"
    assert ben.read("blog://drafts").text.count("\n") == 2
    ben.read(f"blog://posts/{DRAFT}").assert_refused().assert_does_not_see(PRICE)
    guest.read("blog://drafts").assert_refused("sign in")


def test_rendering_prompts(assistant_of: Assistant) -> None:
    """A prompt is rendered with what its user may see."""
    outline = assistant_of(None).prompt("outline", topic="mulch")
    assert [message["role"] for message in outline.messages] == ["user", "assistant"]
    outline.assert_sees("about mulch, written for beginners")
    assistant_of("ana").prompt("review_post", slug=DRAFT).assert_ok().assert_sees(PRICE)
    for name in ("ben", None):
        assistant_of(name).prompt("review_post", slug=DRAFT).assert_refused().assert_does_not_see(PRICE)


def test_the_local_assistant_is_a_user_of_its_own(context: None) -> None:
    """An assistant on this machine acts as `assistant`, who is an author like others."""
    subject = ai.assistant()
    assert subject is not None
    assert subject.name == "assistant"
    draft = PostService().create(subject, title="From the assistant", body="Text")
    assert draft.author_id == subject.id
