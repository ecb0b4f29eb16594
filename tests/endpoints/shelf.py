"""A real flask-smorest app: bookmarks of two tenants, with a database, sign-in, CSRF protection and rate limits. It is
an ordinary API; the last lines of its factory make tools of all that it can do."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from flask import Flask, g, session, url_for
from flask.views import MethodView
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from flask_login import LoginManager, UserMixin, current_user, login_required
from flask_smorest import Api, Blueprint, abort
from flask_sqlalchemy import SQLAlchemy
from flask_wtf.csrf import CSRFProtect, generate_csrf
from marshmallow import Schema, fields
from marshmallow.validate import Length, OneOf
from sqlalchemy import ForeignKey, String, UniqueConstraint, select
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.pool import NullPool

from flask_arandu_mcp import ArandoMCP, Server, endpoints, guest, public

USERS = ("guest", "ana", "eda", "sue")


class Base(DeclarativeBase):
    """What all tables share."""


class User(UserMixin, Base):
    __tablename__ = "user"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    tenant: Mapped[str] = mapped_column(String(40))
    editor: Mapped[bool] = mapped_column(default=False)
    calls: Mapped[int] = mapped_column(default=0)


class Bookmark(Base):
    __tablename__ = "bookmark"
    __table_args__ = (UniqueConstraint("tenant", "url"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    tenant: Mapped[str] = mapped_column(String(40))
    owner_id: Mapped[int] = mapped_column(ForeignKey("user.id"))
    url: Mapped[str] = mapped_column(String(200))
    title: Mapped[str] = mapped_column(String(80))
    tag: Mapped[str] = mapped_column(String(20), default="other")
    shared: Mapped[bool] = mapped_column(default=False)


db = SQLAlchemy(model_class=Base)
limiter = Limiter(lambda: str(current_user.get_id() or get_remote_address()), storage_uri="memory://")
shelf = Blueprint("shelf", __name__, url_prefix="/api")


class BookmarkIn(Schema):
    """A bookmark as it comes in."""

    url = fields.Url(required=True, metadata={"description": "Where it leads"})
    title = fields.String(required=True, validate=Length(min=1, max=80))
    tag = fields.String(load_default="other", validate=Length(max=20))


class BookmarkOut(Schema):
    """A bookmark as it goes out."""

    id = fields.Integer(required=True)
    url = fields.String(required=True)
    title = fields.String(required=True)
    tag = fields.String(required=True)
    shared = fields.Boolean(required=True)


class Query(Schema):
    """Which bookmarks."""

    tag = fields.String()
    order = fields.String(load_default="id", validate=OneOf(["id", "title"]))


class Changes(Schema):
    """What is changed of a bookmark."""

    title = fields.String(validate=Length(min=1, max=80))
    tag = fields.String(validate=Length(max=20))


class NewTag(Schema):
    """What a tag is called from now on."""

    name = fields.String(required=True, validate=Length(min=1, max=20))


class Batch(Schema):
    """Several bookmarks at once."""

    bookmarks = fields.List(fields.Nested(BookmarkIn), required=True, validate=Length(min=1, max=10))


class Count(Schema):
    """How many there are of a thing."""

    name = fields.String(required=True)
    count = fields.Integer(required=True)


class Job(Schema):
    """Something that is under way."""

    job = fields.Integer(required=True)


class Me(Schema):
    """Who asks."""

    name = fields.String(required=True)
    tenant = fields.String(required=True)


def signed_in(view: Callable[..., Any]) -> Callable[..., Any]:
    """Let in users alone."""
    return cast("Callable[..., Any]", login_required(view))


def for_editors(view: Callable[..., Any]) -> Callable[..., Any]:
    """Let in editors alone."""

    @wraps(view)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if not getattr(current_user, "editor", False):
            abort(403, message="This is for editors.")
        return view(*args, **kwargs)

    return wrapper


@shelf.before_app_request
def choose_tenant() -> None:
    """The tenant of a request is its user's, and the north's for a guest."""
    g.tenant = getattr(current_user, "tenant", "north")


def visible() -> Any:
    """The bookmarks that the caller may see: of their tenant, and shared where they are nobody's."""
    query = select(Bookmark).where(Bookmark.tenant == g.tenant)
    return query if current_user.is_authenticated else query.where(Bookmark.shared)


def found(id: int) -> Bookmark:
    bookmark = db.session.scalar(visible().where(Bookmark.id == id))
    if bookmark is None:
        abort(404, message=f"There is no bookmark {id}.")
    return cast("Bookmark", bookmark)


def own(id: int) -> Bookmark:
    bookmark = found(id)
    if bookmark.owner_id != current_user.id and not current_user.editor:
        abort(403, message="This is somebody else's.")
    return bookmark


def changed(id: int, data: dict[str, Any]) -> Bookmark:
    bookmark = own(id)
    for name, value in data.items():
        setattr(bookmark, name, value)
    db.session.commit()
    return bookmark


def keep(data: dict[str, Any]) -> Bookmark:
    taken = db.session.scalar(select(Bookmark).filter_by(tenant=g.tenant, url=data["url"]))
    if taken is not None:
        abort(409, message="This is kept already.")
    bookmark = Bookmark(tenant=g.tenant, owner_id=current_user.id, shared=False, **data)
    db.session.add(bookmark)
    return bookmark


@shelf.route("/bookmarks")
class Bookmarks(MethodView):
    @shelf.arguments(Query, location="query")
    @shelf.response(200, BookmarkOut(many=True))
    @shelf.paginate(page_size=2)
    def get(self, query: dict[str, Any], pagination_parameters: Any) -> Any:
        """Lists the bookmarks that the caller may see."""
        wanted = visible().order_by(getattr(Bookmark, query["order"]))
        if "tag" in query:
            wanted = wanted.where(Bookmark.tag == query["tag"])
        all_ = list(db.session.scalars(wanted))
        pagination_parameters.item_count = len(all_)
        return all_[pagination_parameters.first_item : pagination_parameters.last_item + 1]

    @shelf.arguments(BookmarkIn)
    @shelf.response(201, BookmarkOut)
    @signed_in
    def post(self, data: dict[str, Any]) -> Any:
        """Keeps a bookmark."""
        bookmark = keep(data)
        db.session.commit()
        return bookmark, {"Location": url_for("shelf.BookmarksById", id=bookmark.id)}


@shelf.route("/bookmarks/<int:id>")
class BookmarksById(MethodView):
    @shelf.response(200, BookmarkOut)
    def get(self, id: int) -> Any:
        """Reads a bookmark."""
        return found(id)

    @signed_in
    @shelf.arguments(BookmarkIn)
    @shelf.response(200, BookmarkOut)
    def put(self, data: dict[str, Any], id: int) -> Any:
        """Replaces a bookmark."""
        return changed(id, data)

    @signed_in
    @shelf.arguments(Changes)
    @shelf.response(200, BookmarkOut)
    def patch(self, data: dict[str, Any], id: int) -> Any:
        """Changes a bookmark."""
        return changed(id, data)

    @signed_in
    @shelf.response(204)
    def delete(self, id: int) -> None:
        """Deletes a bookmark."""
        db.session.delete(own(id))
        db.session.commit()


@shelf.route("/bookmarks/<int:id>/share", methods=["POST"])
@signed_in
@shelf.response(202, Job)
def share(id: int) -> Any:
    """Shows a bookmark to everybody, by and by."""
    own(id).shared = True
    db.session.commit()
    return {"job": id}, {"Location": f"/api/jobs/{id}"}


@shelf.route("/tags")
@shelf.response(200, Count(many=True))
def tags() -> Any:
    """Lists the tags in use."""
    names = sorted(bookmark.tag for bookmark in db.session.scalars(visible()))
    return [{"name": name, "count": names.count(name)} for name in dict.fromkeys(names)]


@shelf.route("/tags/<tag>", methods=["PUT"])
@for_editors
@shelf.arguments(NewTag)
@shelf.response(200, Count)
def rename_tag(data: dict[str, Any], tag: str) -> Any:
    """Renames a tag, for editors."""
    tagged = list(db.session.scalars(visible().where(Bookmark.tag == tag)))
    if not tagged:
        abort(404, message=f"Nothing is tagged {tag}.")
    for bookmark in tagged:
        bookmark.tag = data["name"]
    current_user.calls += 1
    db.session.commit()
    return {"name": data["name"], "count": len(tagged)}


@shelf.route("/numbers")
@limiter.limit("2/hour")
@shelf.response(200, Count)
def numbers() -> Any:
    """Counts bookmarks, twice an hour."""
    return {"name": g.tenant, "count": len(list(db.session.scalars(visible())))}


@shelf.route("/me")
@signed_in
@shelf.response(200, Me)
def me() -> Any:
    """Says who asks."""
    return current_user


@shelf.route("/batch", methods=["POST"])
@signed_in
@shelf.arguments(Batch)
@shelf.response(201, Count)
def batch(data: dict[str, Any]) -> Any:
    """Keeps several bookmarks, or none of them."""
    for each in data["bookmarks"]:
        keep(each)
    current_user.calls += 1
    db.session.commit()
    return {"name": "kept", "count": len(data["bookmarks"])}


def seed() -> None:
    """The rows that every call starts from."""
    db.create_all()
    people = {"ana": ("north", False), "eda": ("north", True), "sue": ("south", False)}
    users = {name: User(name=name, tenant=tenant, editor=editor) for name, (tenant, editor) in people.items()}
    db.session.add_all(users.values())
    db.session.flush()
    for number, (owner, tag, shared) in enumerate(
        [("ana", "trees", True), ("ana", "bees", False), ("eda", "trees", False), ("sue", "trees", True)], 1
    ):
        user = users[owner]
        words = {"url": f"https://example.org/{number}", "title": f"Page {number}", "tag": tag, "shared": shared}
        db.session.add(Bookmark(tenant=user.tenant, owner_id=user.id, **words))
    db.session.commit()


def create_app(path: str = "") -> Flask:
    """The API, and all that it can do as tools; the environment says where its data is and who asks over the pipe."""
    app = Flask(__name__)
    app.config.from_mapping(
        SECRET_KEY="a key for the tests",
        SQLALCHEMY_DATABASE_URI=f"sqlite:///{path or os.environ['SHELF_DATABASE']}",
        SQLALCHEMY_ENGINE_OPTIONS={"poolclass": NullPool},
        API_TITLE="Shelf",
        API_VERSION="1",
        OPENAPI_VERSION="3.1.0",
    )
    db.init_app(app)
    login = LoginManager(app)
    login.user_loader(lambda id: db.session.get(User, int(id)))
    CSRFProtect(app)
    limiter.init_app(app)
    Api(app).register_blueprint(shelf)

    @app.get("/sign-in/<name>")
    def sign_in(name: str) -> dict[str, str]:
        """Signs in, and hands out the token that a page of the app would have."""
        if name != "guest":
            session["_user_id"] = str(db.session.scalars(select(User.id).filter_by(name=name)).one())
        return {"csrf": generate_csrf()}

    mcp = ArandoMCP(app, Server("shelf", access=public, tools=[endpoints(["* shelf.*"])]))

    @mcp.local_subject
    def subject() -> Any:
        name = os.environ.get("SHELF_USER", "guest")
        return guest if name == "guest" else db.session.scalar(select(User).filter_by(name=name))

    mcp.check(app)
    return app
