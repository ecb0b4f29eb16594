"""The blog's tables: users, their API tokens, posts and the posts' tags. They hold data and nothing else;
who may see what is said in `policies`, and what can be done is in `services`."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from datetime import UTC, date, datetime

from flask_login import UserMixin
from sqlalchemy import Enum, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column, relationship

from .database import Base

LARGEST_ID = 2**63 - 1
"""Of a row; SQLite takes no greater integer."""
LONGEST_TOKEN_NAME = 40


class Role(enum.Enum):
    """What a user is on this blog: an author writes posts, an editor may also work on everybody else's."""

    AUTHOR = "author"
    EDITOR = "editor"


class Status(enum.Enum):
    """Where a post is in its life: a draft is being written, a published one is out."""

    DRAFT = "draft"
    PUBLISHED = "published"


class User(Base, UserMixin):  # type: ignore[misc]  # UserMixin is untyped
    """Somebody with an account; one without a password hash cannot sign in through the page."""

    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    full_name: Mapped[str] = mapped_column(String(80))
    role: Mapped[Role] = mapped_column(Enum(Role), default=Role.AUTHOR)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    enabled: Mapped[bool] = mapped_column(default=True)

    posts: Mapped[list[Post]] = relationship(back_populates="author")
    tokens: Mapped[list[ApiToken]] = relationship(back_populates="user", cascade="all, delete-orphan")

    @property
    def is_active(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]  # seen as always True
        """Whether the account may be used at all; Flask-Login asks this."""
        return self.enabled


class ApiToken(Base):
    """One API token of a user, of which only the digest is kept; its name is the user's, to know it by."""

    __tablename__ = "api_token"

    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(LONGEST_TOKEN_NAME))
    made_on: Mapped[date] = mapped_column(default=lambda: datetime.now(UTC).date())

    user: Mapped[User] = relationship(back_populates="tokens")


class PostTag(Base):
    """One tag on one post."""

    __tablename__ = "post_tag"

    post_id: Mapped[int] = mapped_column(ForeignKey("post.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(30), primary_key=True, index=True)


class Post(Base):
    """One post of the blog. Its slug never changes, so links to it stay good when the title is edited."""

    __tablename__ = "post"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(140), unique=True)
    title: Mapped[str] = mapped_column(String(120))
    body: Mapped[str] = mapped_column(Text)
    status: Mapped[Status] = mapped_column(Enum(Status), default=Status.DRAFT)
    published_on: Mapped[date | None]
    author_id: Mapped[int] = mapped_column(ForeignKey("user.id"), index=True)

    author: Mapped[User] = relationship(back_populates="posts", lazy="joined", innerjoin=True)
    tag_rows: Mapped[list[PostTag]] = relationship(cascade="all, delete-orphan", lazy="selectin", order_by=PostTag.name)

    @property
    def tags(self) -> list[str]:
        """The post's tags by name, in alphabetical order."""
        return sorted(row.name for row in self.tag_rows)

    @tags.setter
    def tags(self, names: Iterable[str]) -> None:
        kept = {row.name: row for row in self.tag_rows}
        self.tag_rows = [kept.get(name) or PostTag(name=name) for name in sorted(set(names))]
