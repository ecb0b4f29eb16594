"""`flask mcp routes`: every endpoint of the app, and what it would take to make a tool of it."""

from __future__ import annotations

import click

from ..errors import Failure, attempt
from ..operations import survey
from .paint import paint
from .served import found, json_option, server_option, write_json


@click.command("routes")
@server_option
@json_option
@click.pass_context
def command(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Show which endpoints of the app could be tools, and the line that makes them such."""
    state = found(ctx, name)
    checked = attempt(state.check)
    if isinstance(checked, Failure):  # said, and no reason to show nothing: what is shown may be what mends it
        click.secho(f"Error: {checked.error}\n", err=True, fg="red")
    with state.app.app_context():
        entries = survey.survey(state.app, state.server, None if isinstance(checked, Failure) else state.catalogue)
    if as_json:
        write_json(survey.as_json(entries))
    else:
        click.echo("\n".join(survey.screen(entries, paint)))
