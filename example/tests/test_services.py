"""The service finds, writes and counts posts for a subject, and refuses what the policies refuse."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select
from werkzeug.exceptions import Conflict, Forbidden, NotFound

from example.database import db
from example.models import Post, PostTag, Status, User
from example.services import PostService, slugify

posts = PostService()
GUEST = None
DRAFT = "what-the-new-fence-will-cost"


def test_a_list_is_newest_first(user: Callable[[str], User]) -> None:
    """Own drafts come first, then the published posts by date."""
    found = posts.list(user("assistant"), limit=100)
    assert found[0].slug == "answers-to-readers-questions"
    days = [post.published_on for post in found[1:] if post.published_on is not None]
    assert len(days) == 30
    assert days == sorted(days, reverse=True)


def test_a_list_can_be_narrowed(user: Callable[[str], User]) -> None:
    """Status, tag and limit narrow a list, each on its own and together."""
    assert {post.author.name for post in posts.list(user("ben"), status=Status.DRAFT)} == {"ben"}
    assert all("bees" in post.tags for post in posts.list(GUEST, tag="bees"))
    assert len(posts.list(user("eda"), status=Status.DRAFT, tag="bees")) == 3
    assert len(posts.list(GUEST, limit=3)) == 3


def test_a_guest_who_asks_for_drafts_is_refused(context: None) -> None:
    """A refusal is an error, never an empty list."""
    with pytest.raises(Forbidden):
        posts.list(GUEST, status=Status.DRAFT)


def test_search_finds_titles_and_texts(user: Callable[[str], User]) -> None:
    """Upper and lower case are the same, and hidden drafts are not found."""
    assert [post.slug for post in posts.search(GUEST, "JAM JAR")] == ["testing-the-soil-with-a-jam-jar"]
    assert posts.search(GUEST, "Three offers") == []
    assert [post.slug for post in posts.search(user("eda"), "Three offers")] == [DRAFT]
    assert len(posts.search(GUEST, "the", limit=2)) == 2


def test_search_takes_its_text_as_written(context: None) -> None:
    """The wildcards of SQL are ordinary characters here."""
    assert posts.search(GUEST, "%") == []
    assert posts.search(GUEST, "_oil") == []


def test_a_new_draft_is_its_authors_own(user: Callable[[str], User]) -> None:
    """A new post is a draft that belongs to its author; tags are trimmed, lower-cased and each kept once."""
    post = posts.create(user("ben"), title="Crème fraîche!", body="Text", tags=["Soil ", "bees", "soil", " "])
    assert (post.slug, post.status, post.published_on) == ("creme-fraiche", Status.DRAFT, None)
    assert post.author is user("ben")
    assert post.tags == ["bees", "soil"]
    with pytest.raises(NotFound):
        posts.get(user("ana"), "creme-fraiche")


def test_equal_titles_get_different_slugs(user: Callable[[str], User]) -> None:
    """A second post of one title gets a number, and so does the third."""
    slugs = [posts.create(user("ana"), title="Beans", body="Text").slug for _ in range(3)]
    assert slugs == ["beans", "beans-2", "beans-3"]


def test_a_slug_taken_meanwhile_is_a_conflict(user: Callable[[str], User], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the slug is taken between the look and the write, the writer is told, and may go on."""
    ana = user("ana")
    with monkeypatch.context() as patch:
        patch.setattr(PostService, "_free_slug", lambda self, title: DRAFT)
        with pytest.raises(Conflict):
            posts.create(ana, title="Beans", body="Text")
    assert posts.create(ana, title="Beans", body="Text").slug == "beans"


@pytest.mark.parametrize(("title", "slug"), [("A  b, C!", "a-b-c"), ("Ä", "a"), ("日本", "post"), ("--", "post")])
def test_slugs_are_plain(title: str, slug: str) -> None:
    """A slug is made of lower-case ASCII letters, digits and single dashes, and is never empty."""
    assert slugify(title) == slug


def test_an_edit_changes_what_is_given(user: Callable[[str], User]) -> None:
    """What is left out of an edit stays, and so does the slug."""
    ana = user("ana")
    posts.edit(ana, DRAFT, title="The fence")
    posts.edit(ana, DRAFT, tags=["planning", "tools"])
    post = posts.edit(ana, DRAFT, body="New")
    assert (post.slug, post.title, post.body) == (DRAFT, "The fence", "New")
    assert post.tags == ["planning", "tools"]
    assert posts.edit(ana, DRAFT, tags=[]).tags == []


def test_publishing_makes_a_draft_public_once(user: Callable[[str], User]) -> None:
    """A published post is seen by guests, dated today, and keeps its date when it is published again."""
    post = posts.publish(user("ana"), DRAFT)
    assert posts.get(GUEST, DRAFT) is post
    assert post.published_on == datetime.now(UTC).date()
    old = posts.get(GUEST, "why-we-share-one-plot").published_on
    assert posts.publish(user("eda"), "why-we-share-one-plot").published_on == old


def test_deleting_takes_the_tags_along(user: Callable[[str], User]) -> None:
    """A deleted post is gone for everyone, and so are its tags."""
    number = posts.get(user("ana"), DRAFT).id
    posts.delete(user("eda"), DRAFT)
    with pytest.raises(NotFound):
        posts.get(user("ana"), DRAFT)
    assert db.session.scalars(select(PostTag).filter_by(post_id=number)).all() == []


@pytest.mark.parametrize("name", ["ben", None])
def test_what_may_not_be_changed_stays(user: Callable[[str], User], name: str | None) -> None:
    """Others and guests may change nothing: they are told so of a public post, and nothing of a draft."""
    subject = GUEST if name is None else user(name)
    for slug, refusal in (("why-we-share-one-plot", Forbidden), (DRAFT, NotFound)):
        with pytest.raises(refusal):
            posts.edit(subject, slug, title="Mine")
        with pytest.raises(refusal):
            posts.publish(subject, slug)
        with pytest.raises(refusal):
            posts.delete(subject, slug)
    assert db.session.scalar(select(Post.title).filter_by(slug=DRAFT)) == "What the new fence will cost"


def test_guests_do_not_write(context: None) -> None:
    """A guest who writes is asked to sign in."""
    with pytest.raises(Forbidden, match="Sign in to write"):
        posts.create(GUEST, title="Mine", body="Text")


def test_tags_count_what_the_subject_may_see(user: Callable[[str], User]) -> None:
    """The count of a tag gives nothing away about hidden drafts."""
    bees = {name: dict_of_tags(subject)["bees"] for name, subject in (("guest", GUEST), ("eda", user("eda")))}
    assert bees == {"guest": 4, "eda": 7}
    counts = [count["posts"] for count in posts.tags(GUEST)]
    assert counts == sorted(counts, reverse=True)


def test_statistics_are_for_editors(user: Callable[[str], User]) -> None:
    """The numbers count every post, so only an editor gets them."""
    assert posts.statistics(user("eda")) == {
        "posts": 37,
        "by_status": {"draft": 7, "published": 30},
        "by_author": {"ana": 17, "assistant": 1, "ben": 14, "eda": 5},
        "tags": 21,
    }
    with pytest.raises(Forbidden):
        posts.statistics(user("ana"))


def dict_of_tags(subject: object) -> dict[str, int]:
    """The tags that a subject sees, with their counts."""
    return {count["tag"]: count["posts"] for count in posts.tags(subject)}
