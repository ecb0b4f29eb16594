"""The same job: what a Flask developer would otherwise write for a tool, a plain view that asks who is there, loads the
arguments with a schema that is kept, and sends its result twice, as text and as structured content."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from flask import Flask, Response, abort, jsonify, request
from flask_login import current_user
from marshmallow import Schema, ValidationError, fields

from .. import work
from ..setups import Setup
from .schemas import AddSchema, BookSchema, LimitSchema, PostSchema, RowsSchema
from .users import with_users

POSTS = PostSchema(many=True)


def create_app(setup: Setup | None = None) -> Flask:
    """An app with one view for each job."""
    app = with_users(Flask(__name__), setup or Setup.read())
    _add_view(app, "add", AddSchema(), work.add)
    _add_view(app, "list_posts", LimitSchema(), lambda limit: {"result": POSTS.dump(work.posts(limit))})
    _add_view(app, "list_rows", LimitSchema(), lambda limit: {"result": work.posts(limit)})
    _add_view(app, "book", BookSchema(), work.booking)
    _add_view(app, "take_text", Schema.from_dict({"text": fields.String(required=True)})(), work.take_text)
    _add_view(app, "give_text", Schema.from_dict({"size": fields.Integer(required=True)})(), work.give_text, plain=True)
    _add_view(app, "take_rows", RowsSchema(), work.take_rows)
    _add_view(app, "close", AddSchema(), work.add, may=lambda user: user.is_authenticated)

    @app.post("/notes")
    def note() -> Response:
        message = request.get_json()
        _admitted(lambda user: True)
        contents = [{"uri": message["params"]["uri"], "mimeType": "text/plain", "text": work.TEXT}]
        return jsonify(jsonrpc="2.0", id=message["id"], result={"contents": contents})

    return app


def _admitted(may: Callable[[Any], bool]) -> None:
    user: Any = current_user
    if not may(user._get_current_object()):
        abort(403)


def _add_view(
    app: Flask,
    name: str,
    schema: Schema,
    work: Callable[..., Any],
    may: Callable[[Any], bool] = lambda user: True,
    *,
    plain: bool = False,
) -> None:
    def view() -> Any:
        message = request.get_json()
        _admitted(may)
        try:
            arguments: Any = schema.load(message["params"]["arguments"])
        except ValidationError as error:
            return _answer(message, json.dumps(error.messages), is_error=True)
        data = work(**arguments)
        if plain:
            return _answer(message, data)
        return _answer(message, json.dumps(data), structuredContent=data)

    app.add_url_rule(f"/{name}", name, view, methods=["POST"])


def _answer(message: Any, text: str, *, is_error: bool = False, **members: Any) -> Response:
    result = {"content": [{"type": "text", "text": text}], "isError": is_error, **members}
    return jsonify(jsonrpc="2.0", id=message["id"], result=result)
