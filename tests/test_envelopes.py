"""Refusals in the app's own words: what its error handlers answer a program with is what the model is told."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, abort, jsonify, make_response, redirect, render_template_string, request
from marshmallow import Schema, fields
from werkzeug.exceptions import Conflict, Forbidden, HTTPException, ImATeapot, InternalServerError, NotFound
from werkzeug.routing import RequestRedirect

from flask_arandu_mcp import Request, Server, public, resource, tool

from .app import create_app
from .wire import Pipe, Wire

RAISED: dict[str, Any] = {
    "forbidden": lambda: abort(403),
    "conflict": lambda: abort(409, "Taken."),
    "missing": lambda: abort(404, "Order 7 not found"),
    "response": lambda: abort(make_response("<h1>x</h1>", 409)),
    "redirect": lambda: (_ for _ in ()).throw(RequestRedirect("https://x.example/")),
    "returned": lambda: redirect("/sign-in"),
    "broken": lambda: abort(500, "secret"),
    "teapot": lambda: (_ for _ in ()).throw(ImATeapot("No coffee.")),
}


class Typed(Schema):
    n = fields.Integer(required=True)


def make_app() -> Flask:
    @tool(access=public, arguments={"how": fields.String(required=True)})
    def refuse(request: Request, how: str) -> Any:
        """Refuses in the way that it is told."""
        return RAISED[how]()

    @tool(access=public, result=Typed)
    def typed(request: Request) -> Any:
        """Refuses, though it has a result schema."""
        raise Conflict("Taken.")

    @resource("a:{how}", access=public)
    def page(request: Request, how: str) -> Any:
        """Refuses in the way that it is told."""
        return RAISED[how]()

    return create_app(server=Server(name="test", tools=[refuse, typed], resources=[page]))


def with_handlers(app: Flask) -> Flask:
    @app.errorhandler(Conflict)
    def conflict(error: Conflict) -> Any:
        assert request.path == "/mcp"
        if request.accept_mimetypes.best != "application/json":
            return render_template_string("<h1>conflict</h1>"), 409
        return jsonify(error="conflict", detail=error.description), 409

    @app.errorhandler(Forbidden)
    def forbidden(error: Forbidden) -> Any:
        return render_template_string("<h1>forbidden</h1>"), 403

    @app.errorhandler(NotFound)
    def missing(error: NotFound) -> Any:
        return jsonify(error="missing"), 404

    @app.errorhandler(ImATeapot)
    def teapot(error: ImATeapot) -> Any:
        raise RuntimeError("a handler that breaks")

    @app.errorhandler(InternalServerError)
    def broken(error: HTTPException) -> Any:
        return jsonify(error="secret"), 500

    return app


def told(app: Flask, how: str) -> Any:
    return Wire(app).call("tools/call", {"name": "refuse", "arguments": {"how": how}})


PLAIN = {
    "forbidden": "403 Forbidden: ",
    "conflict": "409 Conflict: Taken.",
    "missing": "404 Not Found: Order 7 not found",
    "response": "409 Conflict",
    "redirect": "401 Unauthorized: sign in first.",
    "returned": "401 Unauthorized: sign in first.",
    "broken": "Internal error (ref ",
    "teapot": "418 I'm a teapot: No coffee.",
}


@pytest.mark.parametrize("how", PLAIN)
def test_r07_without_handlers_a_refusal_has_its_status_and_description(how: str) -> None:
    """What Flask's abort says is what the model reads; HTML and redirects never reach it."""
    result = told(make_app(), how)
    assert result["isError"] is True
    assert result["content"][0]["text"].startswith(PLAIN[how])
    assert "<" not in result["content"][0]["text"]
    assert "secret" not in str(result)


@pytest.mark.parametrize("how", PLAIN)
def test_an_app_without_json_handlers_changes_nothing(how: str) -> None:
    """Only JSON is an envelope: a page, a handler that breaks and a 500 leave the status and the description."""
    result = told(with_handlers(make_app()), how)
    text = result["content"][0]["text"]
    if how == "conflict":
        assert text == '{"detail":"Taken.","error":"conflict"}'
        assert result["structuredContent"] == {"error": "conflict", "detail": "Taken."}
    elif how == "missing":
        assert result["structuredContent"] == {"error": "missing"}
    else:
        assert text.startswith(PLAIN[how])
        assert "structuredContent" not in result


def test_an_envelope_is_no_result_of_a_schema() -> None:
    """Where a tool shows a schema of its results, an error that does not fit it goes out as text alone."""
    result = Wire(with_handlers(make_app())).call("tools/call", {"name": "typed"})
    assert "structuredContent" not in result
    assert result["content"][0]["text"] == '{"detail":"Taken.","error":"conflict"}'


def test_a_read_is_refused_with_the_envelope_as_data() -> None:
    """Where there is no tool to be in error, the code is the status and the data is the app's own JSON."""
    wire = Wire(with_handlers(make_app()))
    error = wire.post(
        {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "a:conflict"}}
    ).get_json()
    assert error["error"] == {
        "code": 409,
        "message": "409 Conflict: Taken.",
        "data": {"error": "conflict", "detail": "Taken."},
    }


def test_the_pipe_says_the_same() -> None:
    """A refusal reads the same on both transports."""
    with Pipe("tests.test_envelopes:piped") as pipe:
        pipe.send(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "refuse", "arguments": {"how": "conflict"}},
            }
        )
        assert pipe.receive()["result"]["structuredContent"] == {"error": "conflict", "detail": "Taken."}


def piped() -> Flask:
    """The app that the pipe serves."""
    return with_handlers(make_app())
