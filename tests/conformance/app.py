"""The app that the suite is run against. Everything on it is public; what is tested is the protocol."""

from __future__ import annotations

import os

from flask import Flask

from flask_arandu_mcp import ArandoMCP, Server, guest, public

from . import asking, tools
from .forced import Forced
from .reading import PROMPTS, RESOURCES

server = Server(
    name="conformance",
    version="1.0.0",
    title="The suite's fixtures",
    access=public,
    logging=True,
    tools=[*tools.TOOLS, *asking.TOOLS],
    resources=RESOURCES,
    prompts=PROMPTS,
)


def create_app() -> Flask:
    """The fixtures at /mcp; `FORCE_REVISION` makes every client propose that revision."""
    app = Flask(__name__)
    app.config["SECRET_KEY"] = "a key for the suite"
    mcp = ArandoMCP(app, server)
    mcp.local_subject(lambda: guest)
    if revision := os.environ.get("FORCE_REVISION"):
        app.wsgi_app = Forced(app.wsgi_app, revision)  # type: ignore[method-assign]  # Flask's own way to wrap an app
    return app
