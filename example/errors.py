"""How the blog says no. One handler serves every refusal, as JSON to programs and as a page to people."""

from __future__ import annotations

from flask import Flask, Response, jsonify, make_response, render_template, request
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException


def init_app(app: Flask) -> None:
    """Register the blog's error handlers."""
    app.register_error_handler(HTTPException, explain)
    app.register_error_handler(ValidationError, explain_faults)


def explain(error: HTTPException) -> Response:
    """The answer to a request that was refused, in the form that the client reads."""
    if wants_json():
        response = jsonify(error=error.name, message=error.description)
    else:
        response = make_response(render_template("error.html", error=error))
    response.status_code = error.code or 500
    # What the error says in its headers stays true: which methods are allowed, how to authenticate.
    response.headers.extend((name, value) for name, value in error.get_headers() if name != "Content-Type")
    return response


def explain_faults(error: ValidationError) -> tuple[Response, int]:
    """The answer to data that a schema refused, field by field."""
    return jsonify(error="Unprocessable Entity", message="Some fields are not valid.", fields=error.messages), 422


def wants_json() -> bool:
    """Whether the client is a program: it came to the API, or it likes JSON better than HTML."""
    accept = request.accept_mimetypes
    return request.path.startswith("/api/") or accept["application/json"] > accept["text/html"]
