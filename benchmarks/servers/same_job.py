"""The same job: what a Flask developer would otherwise write for a tool, a plain view that asks who is there, loads the
arguments with a schema that is kept, and sends its result twice, as text and as structured content."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from flask import Flask, Response, abort, jsonify, request
from flask_login import current_user
from marshmallow import Schema, ValidationError, fields

from .. import work
from ..setups import Setup
from .schemas import AddSchema, BookSchema, LimitSchema, PostSchema, RowsSchema
from .users import with_users

Policy: TypeAlias = Callable[[Any], bool]

POSTS = PostSchema(many=True)


def create_app(setup: Setup | None = None) -> Flask:
    """An app with one view for each job, and one at `/JOB/bytes` that sends a prepared answer to whoever asks."""
    setup = setup or Setup.read()
    app = with_users(Flask(__name__), setup)
    everybody: Policy | None = (lambda user: True) if setup.users else None
    _add_view(app, "add", AddSchema(), work.add, everybody)
    _add_view(app, "list_posts", LimitSchema(), lambda limit: {"result": POSTS.dump(work.posts(limit))}, everybody)
    _add_view(app, "list_rows", LimitSchema(), lambda limit: {"result": work.posts(limit)}, everybody)
    _add_view(app, "book", BookSchema(), work.booking, everybody)
    text, size = fields.String(required=True), fields.Integer(required=True)
    _add_view(app, "take_text", Schema.from_dict({"text": text})(), work.take_text, everybody)
    _add_view(app, "give_text", Schema.from_dict({"size": size})(), work.give_text, everybody, plain=True)
    _add_view(app, "take_rows", RowsSchema(), work.take_rows, everybody)
    _add_view(app, "close", AddSchema(), work.add, lambda user: bool(user.is_authenticated))
    for job, answer in setup.answers.items():
        _add_prepared(app, job, app.json.dumps(answer).encode(), everybody)

    @app.post("/notes")
    def note() -> Response:
        message = request.get_json()
        _admit(everybody)
        contents = [{"uri": message["params"]["uri"], "mimeType": "text/plain", "text": work.TEXT}]
        return jsonify(jsonrpc="2.0", id=message["id"], result={"contents": contents})

    return app


def _admit(may: Policy | None) -> None:
    """Ask who is there; in an app without users there is nobody to ask about."""
    if may is not None:
        user: Any = current_user
        if not may(user._get_current_object()):
            abort(403)


def _add_prepared(app: Flask, job: str, prepared: bytes, may: Policy | None) -> None:
    def sent() -> Response:
        request.get_json()
        _admit(may)
        return Response(prepared, mimetype="application/json")

    app.add_url_rule(f"/{job}/bytes", f"{job} sent", sent, methods=["POST"])


def _add_view(
    app: Flask,
    name: str,
    schema: Schema,
    work: Callable[..., Any],
    may: Policy | None,
    *,
    plain: bool = False,
) -> None:
    def view() -> Any:
        message = request.get_json()
        _admit(may)
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
