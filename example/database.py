"""The one database handle of the blog. It lives apart from the models so that both the app factory and the
services can import it without a circle."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy.orm import DeclarativeBase


class Base(DeclarativeBase):
    """The base of every model; deriving from it instead of `db.Model` keeps the models fully typed."""


db = SQLAlchemy(model_class=Base)
