"""What can be done with the blog's posts. Every method takes the subject first and asks the policies
itself, so a page, the JSON API and an assistant all get the same answers. It does so before the first query."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TypedDict

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.exc import IntegrityError
from werkzeug.exceptions import Conflict

from flask_arandu_mcp import authorize

from .database import db
from .models import Post, PostTag, Status, User
from .policies import may_read, may_write, require_change, require_editor, require_see, require_user, visible_to


class TagCount(TypedDict):
    """One tag and on how many posts it stands."""

    tag: str
    posts: int


class Statistics(TypedDict):
    """The whole blog in numbers."""

    posts: int
    by_status: dict[str, int]
    by_author: dict[str, int]
    tags: int


class PostService:
    """Finds, reads, writes and counts posts on behalf of a subject."""

    def list(
        self, subject: object, *, status: Status | None = None, tag: str | None = None, limit: int = 20
    ) -> Sequence[Post]:
        """The posts that the subject may see, drafts first and then the newest."""
        conditions: list[ColumnElement[bool]] = []
        if status is Status.DRAFT:
            require_user(subject, "see drafts")
        if status is not None:
            conditions.append(Post.status == status)
        if tag is not None:
            conditions.append(Post.tag_rows.any(PostTag.name == tag))
        return self._select(subject, conditions, limit)

    def search(self, subject: object, text: str, *, limit: int = 20) -> Sequence[Post]:
        """The posts that the subject may see and that have the text in their title or body."""
        found = or_(Post.title.icontains(text, autoescape=True), Post.body.icontains(text, autoescape=True))
        return self._select(subject, [found], limit)

    def get(self, subject: object, slug: str) -> Post:
        """One post; NotFound where the subject may not see it."""
        return require_see(subject, self._find(subject, slug))

    def create(self, subject: object, *, title: str, body: str, tags: Iterable[str] = ()) -> Post:
        """Write a new draft that belongs to the subject."""
        author = require_user(subject, "write")
        authorize(may_write, subject, "write posts")
        post = Post(slug=self._free_slug(title), title=title, body=body, author_id=author.id)
        post.tags = list_of_tags(tags)
        db.session.add(post)
        try:
            db.session.commit()
        except IntegrityError as error:
            db.session.rollback()
            raise Conflict("Somebody has just taken this title; please try again.") from error
        return post

    def edit(
        self,
        subject: object,
        slug: str,
        *,
        title: str | None = None,
        body: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> Post:
        """Change what is given of a post and leave the rest as it is; the slug stays."""
        post = require_change(subject, self._find(subject, slug))
        if title is not None:
            post.title = title
        if body is not None:
            post.body = body
        if tags is not None:
            post.tags = list_of_tags(tags)
        db.session.commit()
        return post

    def publish(self, subject: object, slug: str) -> Post:
        """Make a draft public; a post that is out already keeps its date."""
        post = require_change(subject, self._find(subject, slug))
        if post.status is Status.DRAFT:
            post.status = Status.PUBLISHED
            post.published_on = datetime.now(UTC).date()
            db.session.commit()
        return post

    def delete(self, subject: object, slug: str) -> None:
        """Remove a post for good."""
        db.session.delete(require_change(subject, self._find(subject, slug)))
        db.session.commit()

    def tags(self, subject: object) -> Sequence[TagCount]:
        """The tags on the posts that the subject may see, the most used first."""
        authorize(may_read, subject, "count tags")
        count = func.count()
        rows = db.session.execute(
            select(PostTag.name, count)
            .join(Post, Post.id == PostTag.post_id)
            .where(visible_to(subject))
            .group_by(PostTag.name)
            .order_by(count.desc(), PostTag.name)
        )
        return [TagCount(tag=name, posts=posts) for name, posts in rows]

    def statistics(self, subject: object) -> Statistics:
        """The whole blog in numbers, hidden drafts included: for editors only."""
        require_editor(subject)
        count = func.count()
        by_status = db.session.execute(select(Post.status, count).group_by(Post.status))
        by_author = db.session.execute(
            select(User.name, count).join(Post.author).group_by(User.name).order_by(User.name)
        )
        return Statistics(
            posts=db.session.scalar(select(count).select_from(Post)) or 0,
            by_status={status.value: posts for status, posts in by_status},
            by_author=dict(by_author.all()),
            tags=db.session.scalar(select(func.count(PostTag.name.distinct()))) or 0,
        )

    def _select(self, subject: object, conditions: Iterable[ColumnElement[bool]], limit: int) -> Sequence[Post]:
        authorize(may_read, subject, "list posts")
        newest_first = (Post.published_on.desc().nulls_first(), Post.id.desc())
        query = select(Post).where(visible_to(subject), *conditions).order_by(*newest_first).limit(limit)
        return db.session.scalars(query).all()

    def _find(self, subject: object, slug: str) -> Post | None:
        authorize(may_read, subject, "read posts")
        return db.session.scalar(select(Post).filter_by(slug=slug))

    def _free_slug(self, title: str) -> str:
        wanted = slugify(title)
        taken = set(db.session.scalars(select(Post.slug).where(Post.slug.startswith(wanted, autoescape=True))))
        slug, number = wanted, 1
        while slug in taken:
            number += 1
            slug = f"{wanted}-{number}"
        return slug


def slugify(title: str) -> str:
    """A title as it may stand in a URL: lower-case ASCII letters and digits with single dashes."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "post"


def list_of_tags(names: Iterable[str]) -> list[str]:
    """Tags as they are kept: trimmed, in lower case, each once."""
    return sorted({name.strip().lower() for name in names} - {""})
