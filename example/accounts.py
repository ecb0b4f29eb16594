"""Who is asking: passwords, API tokens and Flask-Login's two loaders. A browser comes with the session
cookie that the sign-in page gives out, a program with `Authorization: Bearer` and a token."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence

from flask import Request
from flask_login import LoginManager
from sqlalchemy import select
from werkzeug.exceptions import NotFound
from werkzeug.security import check_password_hash

from .database import db
from .models import ApiToken, User

login_manager = LoginManager()


def user_by_name(name: str) -> User | None:
    """The user of that name, if there is one."""
    return db.session.scalar(select(User).filter_by(name=name))


def user_by_password(name: str, password: str) -> User | None:
    """The user who signs in with that name and password, or None if they do not fit."""
    user = user_by_name(name)
    if user is None or user.password_hash is None or not user.is_active:
        return None
    return user if check_password_hash(user.password_hash, password) else None


def user_by_token(token: str) -> User | None:
    """The user to whom an API token was issued, or None for a token that is not good."""
    return db.session.scalar(select(User).join(User.tokens).where(ApiToken.digest == digest_of(token)))


def tokens_of(user: User) -> Sequence[ApiToken]:
    """The API tokens of the user, the newest first."""
    return db.session.scalars(select(ApiToken).filter_by(user_id=user.id).order_by(ApiToken.id.desc())).all()


def issue_token(user: User, name: str) -> str:
    """Make a new API token for the user. Only its digest is stored, so it can be shown this once only."""
    token = secrets.token_urlsafe(32)
    db.session.add(ApiToken(user_id=user.id, name=name, digest=digest_of(token)))
    db.session.commit()
    return token


def revoke_token(user: User, token_id: int) -> str:
    """Make one API token of the user useless and return its name; NotFound where they have no such token."""
    token = db.session.scalar(select(ApiToken).filter_by(id=token_id, user_id=user.id))
    if token is None:
        raise NotFound("You have no such token.")
    name = token.name
    db.session.delete(token)
    db.session.commit()
    return name


def digest_of(token: str) -> str:
    """What is stored of a token; it is random and long, so a plain fast hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


@login_manager.user_loader  # type: ignore[untyped-decorator]  # Flask-Login ships no types
def load_user(user_id: str) -> User | None:
    """The user whose id is in the session cookie."""
    return db.session.get(User, int(user_id)) if user_id.isdecimal() else None


@login_manager.request_loader  # type: ignore[untyped-decorator]  # Flask-Login ships no types
def load_user_from_request(request: Request) -> User | None:
    """The user of the Bearer token that the request brings, if it brings one."""
    credential = request.authorization
    if credential is None or credential.type != "bearer" or not credential.token:
        return None
    return user_by_token(credential.token)
