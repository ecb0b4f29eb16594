"""A table for the restless app, in a module of its own, since SQLAlchemy takes long to import."""

from __future__ import annotations

from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """The base of the tables."""


class Note(Base):
    """A row that another process may change."""

    __tablename__ = "note"
    id: Mapped[int] = mapped_column(primary_key=True)
    body: Mapped[str] = mapped_column(unique=True)


db = SQLAlchemy(model_class=Base)


def prepare(app: Flask) -> None:
    """Make the table."""
    db.init_app(app)
    with app.app_context():
        db.create_all()


def fail() -> None:
    """Leave the session with a failed flush."""
    db.session.add_all([Note(body="same"), Note(body="same")])
    db.session.flush()


def bodies() -> list[str]:
    """What the session sees."""
    return list(db.session.scalars(select(Note.body).order_by(Note.id)))
