"""The blog's own commands for `flask`. There is one, which hands out an API token."""

from __future__ import annotations

import click
from flask import Flask
from flask.cli import with_appcontext

from . import accounts


def init_app(app: Flask) -> None:
    """Add the blog's commands to the app."""
    app.cli.add_command(token)


@click.command
@click.argument("user")
@with_appcontext
def token(user: str) -> None:
    """Print a new API token for USER."""
    found = accounts.user_by_name(user)
    if found is None:
        raise click.BadParameter(f"There is no user {user!r}.", param_hint="USER")
    click.echo(accounts.issue_token(found, "flask token"))
