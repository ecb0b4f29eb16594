"""`flask mcp routes`: every endpoint, whether it could be a tool, what is missing, and the line that makes it one."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result
from flask import Flask, jsonify
from flask.cli import FlaskGroup
from marshmallow import fields
from webargs.flaskparser import use_args

from flask_arandu_mcp import ArandoMCP, Server, endpoint_tool, endpoints, public, signed_in
from flask_arandu_mcp.operations.declare import Endpoints

from .test_declare import create_app
from .test_found import registered, smorest


def invoke(app: Flask, *args: str) -> Result:
    return CliRunner().invoke(FlaskGroup(create_app=lambda: app), ["mcp", "routes", *args])


def with_server(app: Flask, *tools: Endpoints, **options: Any) -> Flask:
    ArandoMCP(app, Server("test", tools=tools, **options))
    return app


def test_the_screen() -> None:
    """Each endpoint has its line to paste, and what a model would miss."""
    result = invoke(with_server(create_app(), endpoint_tool("posts.index", access=public)))
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "GET /posts/  (posts.index)  [served]",
        "      without a schema of what it gives",
        "POST /posts/  (posts.create)  [could be a tool]",
        "      without a description (a docstring will do), a schema of what it takes, a schema of what it gives",
        '      endpoint_tool("posts.create", access=signed_in, description="..."),',
        "DELETE /posts/<slug>  (posts.by_slug)  [could be a tool]",
        '      endpoint_tool("posts.by_slug", method="DELETE", access=signed_in),',
        "GET /posts/<slug>  (posts.by_slug)  [could be a tool]",
        "      without a schema of what it gives",
        '      endpoint_tool("posts.by_slug", method="GET", access=signed_in),',
    ]


def test_the_lines_work() -> None:
    """Pasted into the list of tools, the lines make tools of all that could be one."""
    described = json.loads(invoke(with_server(create_app()), "--json").stdout)
    names = {"endpoint_tool": endpoint_tool, "signed_in": signed_in}
    tools = [eval(entry["line"].rstrip(","), names) for entry in described]
    app = with_server(create_app(), *tools)
    server = app.extensions["arandu_mcp"]["default"]
    server.check()
    assert {tool.name for tool in server.catalogue.tools.items} == {entry["tool"] for entry in described}


def test_what_is_declared_at_the_tool_is_not_missing() -> None:
    """A served endpoint lacks what its tool lacks, which may say more than the view; what keeps others from being tools
    is no fault of one that is served."""
    said = endpoint_tool(
        "posts.create",
        access=public,
        description="Writes a post.",
        arguments={"title": fields.String(required=True)},
        result={"slug": fields.String()},
    )
    app = with_server(create_app(), said)
    (entry,) = [each for each in json.loads(invoke(app, "--json").stdout) if each["endpoint"] == "posts.create"]
    assert (entry["served"], entry["missing"], entry["faults"]) == (True, [], [])
    lines = invoke(app).stdout.splitlines()
    at = lines.index("POST /posts/  (posts.create)  [served]")
    assert not lines[at + 1].startswith(" ")


def test_json() -> None:
    """All of it is there as JSON, too; what cannot be a tool says why."""
    entries = json.loads(invoke(with_server(registered(*smorest()), access=public), "--json").stdout)
    found = {entry["tool"]: entry for entry in entries}
    assert found["pets_pets_post"] == {
        "endpoint": "pets.Pets",
        "method": "POST",
        "path": "/pets/",
        "tool": "pets_pets_post",
        "served": False,
        "missing": [],
        "faults": [],
        "line": 'endpoint_tool("pets.Pets", method="POST"),',
        "could_be_a_tool": True,
    }
    photo = found["pets_put_photo"]
    assert (photo["could_be_a_tool"], photo["line"]) == (False, "")
    assert "it takes an upload" in photo["faults"][0]


def test_what_is_served_is_told_by_endpoint_and_method() -> None:
    """A tool of another name is served all the same, and another method of its endpoint is not."""
    one = endpoint_tool("posts.by_slug", method="GET", name="reader", access=public)
    entries = json.loads(invoke(with_server(create_app(), one), "--json").stdout)
    served = [(entry["endpoint"], entry["method"]) for entry in entries if entry["served"]]
    assert served == [("posts.by_slug", "GET")]


def test_it_helps_to_mend_what_is_wrong() -> None:
    """An app whose declarations have mistakes is told them, and shown its endpoints all the same."""
    result = invoke(with_server(create_app(), endpoints(["psots.*"], access=public)))
    assert result.exit_code == 0
    assert "include 'psots.*' matches no endpoint" in result.stderr
    assert "(posts.index)" in result.stdout


def test_an_app_without_endpoints() -> None:
    """An app of which nothing could be a tool is told so."""
    result = invoke(with_server(Flask(__name__)))
    assert result.stdout == "The app has no endpoints beside its own files and its MCP servers.\n"


def test_a_name_that_is_too_long_for_a_tool() -> None:
    """An endpoint whose name cannot be served says so."""
    app = Flask(__name__)
    app.add_url_rule("/long", "x" * 70, lambda: "")

    @app.get("/header")
    @use_args({"version": fields.String(required=True)}, location="headers")
    def header(args: Any) -> Any:
        """Wants a header."""
        return jsonify(args)

    entries = {entry["path"]: entry for entry in json.loads(invoke(with_server(app), "--json").stdout)}
    assert "must be a small letter and up to 63" in entries["/long"]["faults"][0]
    assert "it needs 'version' in its headers" in entries["/header"]["faults"][0]
