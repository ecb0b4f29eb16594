"""An app of endpoints that trip converters: each view shows one thing that routing, Flask or HTTP can do."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    g,
    jsonify,
    redirect,
    request,
    send_file,
    stream_with_context,
)
from flask.views import MethodView
from marshmallow import Schema, fields
from werkzeug.routing import BaseConverter, ValidationError

from flask_arandu_mcp import ArandoMCP, Server, endpoint_tool, endpoints, guest, public

from ..app import calls


class Words(BaseConverter):
    """Several words with a plus between them."""

    regex = r"[^/]+"

    def to_python(self, value: str) -> list[str]:
        return value.split("+")

    def to_url(self, value: Any) -> str:
        return "+".join(BaseConverter.to_url(self, each) for each in value)


class Animal:
    """What a converter loads: two of one name are not equal."""

    def __init__(self, name: str) -> None:
        self.name = name


class Animals(BaseConverter):
    """Loads an animal by its name, as converters of an ORM do."""

    def to_python(self, value: str) -> Animal:
        if value not in {"cat", "dog"}:
            raise ValidationError
        return Animal(value)

    def to_url(self, value: Any) -> str:
        return super().to_url(value.name)


class Form(Schema):
    """What the views that read a body say that they take, by hand."""

    title = fields.String(required=True)


def seen(**more: Any) -> Response:
    """What a view saw of its request, as JSON."""
    body = request.get_json(silent=True) if request.is_json else request.form.to_dict() or None
    calls.append(str(request.endpoint))
    query = request.args.to_dict(flat=False)
    return jsonify({"path": request.path, "query": query, "body": body, "endpoint": request.endpoint, **more})


def add_paths(app: Flask) -> None:
    app.url_map.converters.update({"words": Words, "animal": Animals})
    views: dict[str, tuple[str, ...]] = {
        "text": ("/text/<slug>",),
        "purge_text": ("/text/<slug>/purge",),
        "all_texts": ("/text/",),
        "short": ("/short/<string(length=2):code>",),
        "anything": ("/files/<path:name>",),
        "number": ("/number/<int:n>",),
        "signed": ("/signed/<int(signed=True):n>",),
        "ratio": ("/ratio/<float:x>",),
        "uuid": ("/uuid/<uuid:id>",),
        "choice": ("/choice/<any(red,green):colour>",),
        "words": ("/words/<words:them>",),
        "two": ("/two/<a>/<b>",),
        "either": ("/by-name/<name>", "/by-number/<int:n>"),
        "reserved": ("/reserved/<request>/<self>/<arguments>",),
        "slashed": ("/slashed/<slug>/",),
    }

    def show(**values: Any) -> Response:
        return seen()

    def page(page: int) -> Response:
        return seen(page=page)

    for endpoint, rules in views.items():
        for rule in rules:
            app.add_url_rule(rule, endpoint, show, methods=["GET"])
    app.add_url_rule("/pages/", "pages", page, defaults={"page": 1})
    app.add_url_rule("/pages/<int:page>", "pages", page)
    app.add_url_rule("/animals/<animal:it>", "animal", lambda it: seen(name=it.name))


def add_methods(app: Flask) -> None:
    app.add_url_rule("/both", "both", lambda: seen(method=request.method), methods=["GET", "POST"])
    app.add_url_rule("/put/<int:n>", "put", lambda n: seen(n=n), methods=["PUT"])
    app.add_url_rule("/patch", "patch", lambda: seen(), methods=["PATCH"])
    app.add_url_rule("/upload", "by_hand", lambda: seen(), methods=["POST"])

    class PetsById(MethodView):
        """Pets by their numbers."""

        def get(self, id: int) -> Response:
            """Reads a pet."""
            return seen(id=id, method="GET")

        def delete(self, id: int) -> tuple[str, int]:
            """Takes a pet away."""
            calls.append(f"deleted {id}")
            return "", 204

    pets = Blueprint("pets", __name__, url_prefix="/pets")
    pets.add_url_rule("/<int:id>", view_func=PetsById.as_view("PetsById"))
    app.register_blueprint(pets)

    @app.get("/async/<name>")
    async def later(name: str) -> Response:
        """Answers by and by."""
        return seen(name=name)


def add_blueprints(app: Flask) -> None:
    outer, inner = Blueprint("outer", __name__, url_prefix="/<lang>"), Blueprint("inner", __name__, url_prefix="/in")

    @outer.url_value_preprocessor
    def take(endpoint: str | None, values: dict[str, Any] | None) -> None:
        g.lang = (values or {}).pop("lang")

    @outer.url_defaults
    def fill(endpoint: str, values: dict[str, Any]) -> None:
        values.setdefault("lang", "en")

    @inner.get("/<word>")
    def said(word: str) -> Response:
        """Says a word in a language."""
        return seen(lang=g.lang, word=word)

    outer.register_blueprint(inner)
    app.register_blueprint(outer)
    fixed = Blueprint("fixed", __name__)

    @fixed.get("/<shop>/shelf/<int:n>")
    def shelf(shop: str, n: int) -> Response:
        """Looks at a shelf."""
        return seen(shop=shop, n=n)

    app.register_blueprint(fixed, url_prefix="/fixed", url_defaults={"shop": "corner"})
    closed = Blueprint("closed", __name__, url_prefix="/closed")

    @closed.before_request
    def refuse() -> None:
        abort(403, "The shop is closed.")

    @closed.get("/counter")
    def counter() -> Response:
        """Never reached."""
        calls.append("counter")
        return seen()

    app.register_blueprint(closed)


def add_answers(app: Flask) -> None:
    def stream() -> Iterator[bytes]:
        yield b"one,"
        yield b"two"

    def lines(count: int) -> Response:
        def body() -> Iterator[str]:
            for _ in range(count):
                yield f"{request.path} {current_app.name}\n"

        return Response(stream_with_context(body()), mimetype="text/plain")

    def events() -> Response:
        return Response(iter(["data: 1\n\n"]), mimetype="text/event-stream")

    def crash() -> Response:
        raise RuntimeError("the password is hunter2")

    def picture() -> Response:
        return send_file(BytesIO(b"\x89PNG"), mimetype="image/png")

    def paged() -> tuple[Response, dict[str, str]]:
        return jsonify([1, 2]), {"X-Pagination": '{"total": 9, "page": 1}', "X-Secret": "no"}

    answers: dict[str, Any] = {
        "accepted": lambda: ({"job": 7}, 202, {"Location": "/jobs/7"}),
        "created_empty": lambda: ("", 201, {"Location": "/things/7"}),
        "paged": paged,
        "redirected": lambda: redirect("/elsewhere"),
        "page": lambda: "<!doctype html><title>For people</title>",
        "plain": lambda: "Just words.",
        "markdown": lambda: Response("# Words", mimetype="text/markdown"),
        "csv": lambda: Response(stream(), mimetype="text/csv"),
        "in_context": lambda: lines(2),
        "in_context_for_long": lambda: lines(1_000_000),
        "events": events,
        "picture": picture,
        "pdf": lambda: send_file(BytesIO(b"%PDF"), mimetype="application/pdf", download_name="a.pdf"),
        "sound": lambda: send_file(BytesIO(b"RIFF"), mimetype="audio/wav"),
        "nothing": lambda: ("", 204),
        "a_list": lambda: jsonify(["a", "b"]),
        "a_number": lambda: jsonify(7),
        "null": lambda: jsonify(None),
        "broken_json": lambda: Response("{", mimetype="application/json"),
        "huge": lambda: Response((b"x" * 1000 for _ in range(10_000)), mimetype="text/plain"),
        "crash": crash,
        "unavailable": lambda: abort(503, "Down for repairs."),
        "missing": lambda: abort(404, "No such <thing>."),
        "conflict": lambda: ({"error": "taken", "field": "slug"}, 409),
        "conflict_listed": lambda: (jsonify(["taken"]), 409),
        "styled": lambda: ("<html><h1>Sorry</h1></html>", 410),
    }
    for endpoint, view in answers.items():
        app.add_url_rule(f"/answers/{endpoint}", f"answers.{endpoint}", view)


def create_app() -> Flask:
    """The app, with all that it can do as tools."""
    app = Flask(__name__)
    app.config.from_mapping(SECRET_KEY="a key for the tests", TESTING=True)
    add_paths(app)
    add_methods(app)
    add_blueprints(app)
    add_answers(app)
    described = [
        endpoint_tool(name, description="Shows what it saw.")
        for name in app.view_functions
        if "." not in name and name not in {"static", "both", "put", "patch", "by_hand"}
    ]
    server = Server(
        name="hard",
        access=public,
        tools=[
            *described,
            *(endpoint_tool(name, description="Answers.") for name in app.view_functions if name.startswith("answers")),
            endpoint_tool("both", method="GET", description="Reads."),
            endpoint_tool("both", method="POST", arguments=Form, description="Writes."),
            endpoint_tool("put", arguments={"title": fields.String()}, description="Puts."),
            endpoint_tool(
                "patch",
                arguments={"title": fields.String(), "dry_run": fields.Boolean()},
                place={"dry_run": "query"},
                description="Patches.",
            ),
            endpoint_tool("by_hand", arguments=Form, place={"title": "form"}, description="Sends a form."),
            endpoints(["* pets.*", "outer.inner.*", "fixed.*", "closed.*"]),
        ],
    )
    mcp = ArandoMCP(app, server)
    mcp.local_subject(lambda: guest)
    mcp.check(app)
    return app
