"""A small library on a real SQLite file, whose engine wants a Grant before any statement of a handler. Its tools reach
for the data in every way there is, as they are told."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from flask import Flask
from flask.wrappers import Request as FlaskRequest
from flask_login import LoginManager, UserMixin
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, ValidationError, fields
from sqlalchemy import ForeignKey, MetaData, event, func, insert, inspect, select, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from flask_arandu_mcp import ArandoMCP, Request, Response, Server, Tool, authorize, prompt, public, resource, tool
from flask_arandu_mcp.ext.sqlalchemy import require_grant


class Base(DeclarativeBase):
    """The base of the models."""


db = SQLAlchemy(model_class=Base)


class Reader(Base, UserMixin):
    """Somebody who reads; their token is their name."""

    __tablename__ = "reader"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    books: Mapped[list[Book]] = relationship()


class Book(Base):
    """A book that somebody owns."""

    __tablename__ = "book"

    id: Mapped[int] = mapped_column(primary_key=True)
    title: Mapped[str]
    reader_id: Mapped[int | None] = mapped_column(ForeignKey("reader.id"))


class BookSchema(Schema):
    """A book."""

    title = fields.String(required=True)


class ReaderSchema(Schema):
    """A reader with their books, which are loaded when they are dumped."""

    name = fields.String(required=True)
    books = fields.List(fields.Nested(BookSchema), required=True)


# ------------------------------------------------------------------------------------------------- the ways to the data


def connect(statement: Any, *rows: Any, **options: Any) -> Any:
    with db.engine.execution_options(**options).begin() as connection:
        result = connection.execute(statement, *rows)
        return result.all() if result.returns_rows else None


def add(*titles: str) -> None:
    db.session.add_all(Book(title=title) for title in titles)


def flushed(request: Request) -> None:
    add("one", "two")
    db.session.flush()


def autoflushed(request: Request) -> None:
    add("one")
    db.session.scalars(select(Reader)).all()


def driven(request: Request) -> None:
    with db.engine.connect() as connection:
        connection.exec_driver_sql("SELECT title FROM book")


def changed(request: Request) -> None:
    request.subject.name = "somebody else"
    db.session.commit()


WAYS: dict[str, Callable[[Request], object]] = {
    "select": lambda request: db.session.scalars(select(Book)).all(),
    "get": lambda request: db.session.get(Book, 1),
    "lazy": lambda request: request.subject.books,
    "refresh": lambda request: db.session.refresh(request.subject),
    "flush": flushed,
    "autoflush": autoflushed,
    "change of the subject": changed,
    "core": lambda request: connect(select(Book.title)),
    "core, many": lambda request: connect(insert(Book), [{"title": "one"}, {"title": "two"}]),
    "core, returning": lambda request: connect(insert(Book).returning(Book.id), [{"title": "one"}, {"title": "two"}]),
    "options": lambda request: connect(select(Book.title), isolation_level="AUTOCOMMIT"),
    "text": lambda request: connect(text("SELECT title FROM book")),
    "text that writes": lambda request: connect(text("DELETE FROM book")),
    "driver": driven,
    "driver, bare": lambda request: connect(text("SELECT title FROM book"), no_parameters=True),
    "inspection": lambda request: inspect(db.engine).get_columns("book"),
    "reflection": lambda request: MetaData().reflect(db.engine),
    "ddl": lambda request: connect(text("CREATE TABLE more (id INTEGER)")),
}
"""Each sends at least one statement."""

ran: list[str] = []
"""The statements that reached the database since the last handler began."""


# ------------------------------------------------------------------------------------------------- what is declared


def known(subject: Reader) -> bool:
    """A policy that reads the database."""
    return db.session.scalar(select(func.count(Reader.id)).where(Reader.id == subject.id)) == 1


def reach_the_data(request: Request, how: str, granted: bool) -> None:
    ran.clear()
    if granted:
        authorize(known, request.subject, "reach the data")
        ran.clear()
    WAYS[how](request)


HOW = {"how": fields.String(required=True), "granted": fields.Boolean(load_default=False)}


@tool(access=known, arguments=HOW)
def reach(request: Request, how: str, granted: bool) -> str:
    """Reaches for the data."""
    reach_the_data(request, how, granted)
    return "reached"


@tool(access=known, arguments=HOW)
async def reach_later(request: Request, how: str, granted: bool) -> str:
    """Reaches for the data in a coroutine."""
    reach_the_data(request, how, granted)
    return "reached"


@tool(access=known, arguments={"granted": fields.Boolean(load_default=False)}, result=ReaderSchema)
def dump(request: Request, granted: bool) -> Reader:
    """Gives the reader, whose books are loaded when they are dumped."""
    ran.clear()
    if granted:
        authorize(known, request.subject, "list books")
    reader: Reader = request.subject
    return reader


def is_free(title: str) -> None:
    ran.clear()
    if db.session.scalar(select(Book).filter_by(title=title)) is not None:
        raise ValidationError("There is such a book.")


@tool(access=known, arguments={"title": fields.String(required=True, validate=is_free)})
def check(request: Request, title: str) -> str:
    """Has an argument that is looked up while it is loaded."""
    return f"{title} is free"


@tool(access=known, arguments={**HOW, "then": fields.Boolean(load_default=False)})
def swallow(request: Request, how: str, granted: bool, then: bool) -> str:
    """Goes on when it is refused."""
    try:
        reach_the_data(request, how, granted)
    except Exception:  # noqa: BLE001 - what a careless service does
        db.session.rollback()
    if then:
        authorize(known, request.subject, "go on")
    return "All is well."


@resource("library://books/{title}", access=public)
def book(request: Request, title: str) -> str:
    """A book."""
    reach_the_data(request, "select", title == "granted")
    return title


@book.completes("title")
def titles(request: Request, value: str) -> list[str]:
    reach_the_data(request, "select", value == "granted")
    return [value]


@prompt(access=public, arguments={"title": fields.String(required=True)})
def review(request: Request, title: str) -> str:
    """Reviews a book."""
    reach_the_data(request, "select", title == "granted")
    return title


def watched_over(request: Request, response: Response) -> None:
    """A guard that reads the database."""
    assert db.session.scalar(select(func.count(Book.id))) is not None


TOOLS: list[Tool] = [reach, reach_later, dump, check, swallow]


def make_server(*more: Tool, **options: Any) -> Server:
    """A server with all of these, and more."""
    return Server(name="library", tools=[*TOOLS, *more], resources=[book], prompts=[review], **options)


# ------------------------------------------------------------------------------------------------- the app


def create_app(url: str | None = None, *, server: Server | None = None) -> Flask:
    """The library's app, on a database that must have been made."""
    app = Flask(__name__)
    app.config.update(SECRET_KEY="a key for the tests", SQLALCHEMY_DATABASE_URI=url or os.environ["LIBRARY"])
    db.init_app(app)
    manager = LoginManager(app)

    @manager.request_loader  # type: ignore[untyped-decorator]  # Flask-Login ships no types
    def by_token(request: FlaskRequest) -> Reader | None:
        token = request.authorization.token if request.authorization else None
        return db.session.scalar(select(Reader).filter_by(name=token))

    @app.get("/books")
    def books() -> list[str]:
        return list(db.session.scalars(select(Book.title)))

    mcp = ArandoMCP(app, server or make_server())

    @mcp.local_subject
    def local() -> Any:
        return db.session.scalar(select(Reader))

    with app.app_context():
        Base.metadata.create_all(db.engine)
        if db.session.get(Reader, 1) is None:
            db.session.add(Reader(name="ana", books=[Book(title="Emma")]))
            db.session.commit()
        require_grant(db.engine)
        event.listen(db.engine, "after_cursor_execute", lambda *given: ran.append(given[2]))
    return app
