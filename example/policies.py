"""Who may do what on the blog: plain functions of a subject and a post. A subject is whoever asks, a `User`
or Flask-Login's anonymous user, and whatever is not a `User` in good standing counts as a guest."""

from __future__ import annotations

from sqlalchemy import ColumnElement, or_, true
from werkzeug.exceptions import Forbidden, NotFound

from flask_arandu_mcp import granting

from .models import Post, Role, Status, User


def user_of(subject: object) -> User | None:
    """The user behind a subject, or None for a guest and for a disabled account."""
    return subject if isinstance(subject, User) and subject.is_active else None


def is_editor(subject: object) -> bool:
    """Whether the subject is one of the blog's editors."""
    user = user_of(subject)
    return user is not None and user.role is Role.EDITOR


def may_read(subject: object) -> bool:
    """Everyone may look for posts; which of them they are shown is for `may_see` and `visible_to` to say."""
    return True


def may_write(subject: object) -> bool:
    """Everyone with an account may write posts of their own."""
    return user_of(subject) is not None


def may_see(subject: object, post: Post) -> bool:
    """Published posts are visible to everyone, a draft to its author and to editors."""
    return post.status is Status.PUBLISHED or may_change(subject, post)


def may_change(subject: object, post: Post) -> bool:
    """Only the author of a post or an editor may edit, publish or delete it."""
    user = user_of(subject)
    return user is not None and (post.author_id == user.id or is_editor(user))


def visible_to(subject: object) -> ColumnElement[bool]:
    """`may_see` as a condition on `Post`, so that a list never loads what it may not show."""
    if is_editor(subject):
        return true()
    published = Post.status == Status.PUBLISHED
    user = user_of(subject)
    return published if user is None else or_(published, Post.author_id == user.id)


def require_user(subject: object, to_do: str) -> User:
    """The subject as a user, or Forbidden: guests only read."""
    user = user_of(subject)
    if user is None:
        raise Forbidden(f"Sign in to {to_do}.")
    return user


@granting("work on everybody's posts")
def require_editor(subject: object) -> bool:
    """A Grant for editors; Forbidden for everybody else."""
    if not is_editor(subject):
        raise Forbidden("Only editors may do this.")
    return True


def require_see(subject: object, post: Post | None) -> Post:
    """The post, or NotFound, which says the same of a hidden draft as of a post that never was."""
    if post is None or not may_see(subject, post):
        raise NotFound("There is no such post.")
    return post


def require_change(subject: object, post: Post | None) -> Post:
    """The post, or NotFound where the subject may not even see it, or Forbidden where it may only read."""
    seen = require_see(subject, post)
    if not may_change(subject, seen):
        raise Forbidden("Only its author or an editor may change this post.")
    return seen
