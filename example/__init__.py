"""A small blog about a shared garden: an ordinary Flask app with users, policies and services. Three lines of its
factory let AI clients in, through those same policies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Flask

from flask_arandu_mcp.ext.sqlalchemy import require_grant

from . import cli, errors
from .accounts import login_manager
from .ai import api_mcp, mcp
from .api import api
from .assistant import assistant
from .database import db
from .first_start import prepare_database, secret_key
from .pages import pages


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Make the blog's app. `config` wins over the defaults; its INSTANCE_PATH says where the data is kept."""
    given = dict(config or {})
    folder = given.pop("INSTANCE_PATH", None)
    app = Flask(__name__, instance_path=None if folder is None else str(Path(folder).resolve()))
    app.config.from_mapping(
        SQLALCHEMY_DATABASE_URI="sqlite:///blog.sqlite",
        # A writer waits for another one instead of failing.
        SQLALCHEMY_ENGINE_OPTIONS={"connect_args": {"timeout": 30}},
        # The cookie stays at home when another site submits a form to us.
        SESSION_COOKIE_SAMESITE="Lax",
    )
    app.config.from_prefixed_env()
    app.config.from_mapping(given)
    if not app.config["SECRET_KEY"]:
        app.config["SECRET_KEY"] = secret_key(Path(app.instance_path))

    db.init_app(app)
    login_manager.init_app(app)
    app.register_blueprint(pages)
    app.register_blueprint(assistant)
    app.register_blueprint(api)
    errors.init_app(app)
    cli.init_app(app)
    mcp.init_app(app)
    api_mcp.init_app(app)
    with app.app_context():
        prepare_database()
        # No tool, now or later, gets at the data before a policy was asked.
        require_grant(db.engine)
    mcp.check(app)
    api_mcp.check(app)
    return app
