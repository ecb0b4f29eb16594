"""The blog as a small JSON API. The views only translate between HTTP and the service: schemas check what
comes in and shape what goes out, and the service decides what the caller may do."""

from __future__ import annotations

from typing import Any, cast

from flask import Blueprint, Response, jsonify, request
from flask_login import current_user
from marshmallow import Schema
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from .schemas import (
    NewPostSchema,
    PostChangesSchema,
    PostQuerySchema,
    PostSchema,
    PostSummarySchema,
    SearchSchema,
)
from .services import PostService

api = Blueprint("api", __name__, url_prefix="/api")
posts = PostService()


@api.before_request
def refuse_bad_token() -> None:
    """A token that is not good is an error; without this its bearer would silently be a guest."""
    if request.authorization is not None and not current_user.is_authenticated:
        raise Unauthorized("This token is not valid.", www_authenticate=WWWAuthenticate("bearer"))


@api.get("/posts")
def list_posts() -> Response:
    """The posts that the caller may see."""
    found = posts.list(current_user, **load(PostQuerySchema(), request.args))
    return jsonify(PostSummarySchema(many=True).dump(found))


@api.get("/posts/search")
def search_posts() -> Response:
    """The posts with a text in them."""
    found = posts.search(current_user, **load(SearchSchema(), request.args))
    return jsonify(PostSummarySchema(many=True).dump(found))


@api.post("/posts")
def create_post() -> tuple[Response, int]:
    """A new draft of the caller's own."""
    post = posts.create(current_user, **load(NewPostSchema(), request.get_json()))
    return jsonify(PostSchema().dump(post)), 201


@api.get("/posts/<slug>")
def get_post(slug: str) -> Response:
    """One post with its text."""
    return jsonify(PostSchema().dump(posts.get(current_user, slug)))


@api.patch("/posts/<slug>")
def edit_post(slug: str) -> Response:
    """Changes some of a post."""
    post = posts.edit(current_user, slug, **load(PostChangesSchema(), request.get_json()))
    return jsonify(PostSchema().dump(post))


@api.post("/posts/<slug>/publish")
def publish_post(slug: str) -> Response:
    """Makes a draft public."""
    return jsonify(PostSchema().dump(posts.publish(current_user, slug)))


@api.delete("/posts/<slug>")
def delete_post(slug: str) -> tuple[str, int]:
    """Deletes a post for good."""
    posts.delete(current_user, slug)
    return "", 204


@api.get("/tags")
def list_tags() -> Response:
    """The tags in use and how often."""
    return jsonify(posts.tags(current_user))


@api.get("/statistics")
def statistics() -> Response:
    """The blog in numbers, for editors."""
    return jsonify(posts.statistics(current_user))


def load(schema: Schema, data: Any) -> dict[str, Any]:
    """The data as the schema loads it; what it refuses becomes a 422 by the app's error handler."""
    return cast("dict[str, Any]", schema.load(data))
