"""Published posts are for everyone, drafts for their author and editors, changes for author and editors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask_login import AnonymousUserMixin
from sqlalchemy import select
from werkzeug.exceptions import Forbidden, NotFound

from example import policies
from example.database import db
from example.models import Post, User

GUEST = AnonymousUserMixin()
PUBLISHED, DRAFT = "slugs-what-worked-and-what-did-not", "what-the-new-fence-will-cost"  # both ana's


def post(slug: str) -> Post:
    """A post by its slug, whoever may see it."""
    return db.session.scalars(select(Post).filter_by(slug=slug)).one()


@pytest.mark.parametrize(
    ("name", "sees_draft", "changes"),
    [("ana", True, True), ("eda", True, True), ("ben", False, False), ("assistant", False, False)],
)
def test_what_a_user_may_do_with_anas_posts(
    user: Callable[[str], User], name: str, sees_draft: bool, changes: bool
) -> None:
    """The author and the editor may everything; others read what is published."""
    subject = user(name)
    assert policies.may_see(subject, post(PUBLISHED))
    assert policies.may_see(subject, post(DRAFT)) is sees_draft
    assert policies.may_change(subject, post(PUBLISHED)) is changes
    assert policies.may_change(subject, post(DRAFT)) is changes


@pytest.mark.parametrize("subject", [GUEST, None, object()])
def test_what_a_guest_may_do(context: None, subject: object) -> None:
    """Whatever is not a user reads what is published and nothing more."""
    assert policies.may_read(subject)
    assert not policies.may_write(subject)
    assert policies.may_see(subject, post(PUBLISHED))
    assert not policies.may_see(subject, post(DRAFT))
    assert not policies.may_change(subject, post(PUBLISHED))
    assert not policies.is_editor(subject)


def test_a_disabled_user_is_a_guest(user: Callable[[str], User]) -> None:
    """Whoever is disabled loses what they had, drafts of their own and the editor's rights included."""
    ana, eda = user("ana"), user("eda")
    assert policies.may_write(ana)
    ana.enabled = eda.enabled = False
    assert policies.user_of(ana) is None
    assert not policies.may_write(ana)
    assert not policies.may_see(ana, post(DRAFT))
    assert not policies.is_editor(eda)


@pytest.mark.parametrize("name", ["ana", "ben", "eda", "assistant", None])
def test_lists_and_single_posts_agree(user: Callable[[str], User], name: str | None) -> None:
    """The condition for lists lets through exactly the posts that the policy for one post does."""
    subject = GUEST if name is None else user(name)
    listed = set(db.session.scalars(select(Post).where(policies.visible_to(subject))))
    seen = {post for post in db.session.scalars(select(Post)) if policies.may_see(subject, post)}
    assert listed == seen


def test_a_hidden_draft_is_refused_as_one_that_never_was(user: Callable[[str], User]) -> None:
    """The refusal does not give away whether there is such a draft, for changes too."""
    told = []
    for hidden in (post(DRAFT), None):
        for require in (policies.require_see, policies.require_change):
            with pytest.raises(NotFound) as refusal:
                require(user("ben"), hidden)
            told.append(refusal.value.description)
    assert len(set(told)) == 1


def test_a_visible_post_is_refused_openly(user: Callable[[str], User]) -> None:
    """Whoever may read a post but not change it is told so."""
    with pytest.raises(Forbidden, match="Only its author or an editor"):
        policies.require_change(user("ben"), post(PUBLISHED))
    assert policies.require_change(user("eda"), post(PUBLISHED)) is post(PUBLISHED)


def test_what_needs_a_user_or_an_editor(user: Callable[[str], User]) -> None:
    """Guests are asked to sign in, and authors are no editors."""
    with pytest.raises(Forbidden, match="Sign in to write"):
        policies.require_user(GUEST, "write")
    with pytest.raises(Forbidden, match="Only editors"):
        policies.require_editor(user("ana"))
    policies.require_editor(user("eda"))
