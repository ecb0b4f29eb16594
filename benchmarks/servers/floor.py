"""The floor: a plain Flask view that reads JSON and answers a fixed dict as JSON. It does no work, knows no users and
checks nothing, so it is the least that Flask costs."""

from __future__ import annotations

from flask import Flask, Response, jsonify, request

from ..setups import Setup


def create_app(setup: Setup | None = None) -> Flask:
    """An app with a view for each fixed answer at `/JOB`, and one at `/JOB/bytes` that sends prepared bytes."""
    app = Flask(__name__)
    for job, answer in (setup or Setup.read()).answers.items():
        _add_views(app, job, answer)
    return app


def _add_views(app: Flask, job: str, answer: object) -> None:
    prepared = app.json.dumps(answer).encode()

    def fixed() -> Response:
        request.get_json()
        return jsonify(answer)

    def sent() -> Response:
        request.get_json()
        return Response(prepared, mimetype="application/json")

    app.add_url_rule(f"/{job}", f"{job} fixed", fixed, methods=["POST"])
    app.add_url_rule(f"/{job}/bytes", f"{job} sent", sent, methods=["POST"])
