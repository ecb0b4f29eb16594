"""Which app a command is about, and which of its servers. Every command begins here, with the same options and the same
words for what is not there."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import click
from flask import Flask
from flask.cli import ScriptInfo

from ..errors import DeclarationError
from ..state import State, chosen, states

server_option = click.option(
    "--server", "name", help="Name of the server; without it the one called 'default', or the only one."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Before(NamedTuple):
    """What was done and found before the command itself was asked for.

    :ivar descriptors: those that were taken for the protocol.
    :ivar unmoved: why `--directory` could not be entered.
    :ivar unloaded: why the app cannot be loaded.
    """

    descriptors: Any = None
    unmoved: OSError | None = None
    unloaded: Exception | None = None


_BEFORE = "flask_arandu_mcp.before"


def leave(ctx: click.Context, before: Before) -> None:
    """Leave for the command what was done and found before it."""
    ctx.meta[_BEFORE] = before


def before(ctx: click.Context) -> Before:
    """What was done and found before a command."""
    left: Before = ctx.meta.get(_BEFORE) or Before()
    return left


def load(ctx: click.Context) -> Flask:
    """The app that Flask was told of."""
    return ctx.ensure_object(ScriptInfo).load_app()


def is_served(app: Flask) -> bool:
    """Whether an app has any server."""
    return bool(states(app))


def every(ctx: click.Context, name: str | None) -> list[State]:
    """All servers of the app, or the one of a name.

    :raises click.UsageError: where there is none.
    """
    return [found(ctx, name)] if name is not None else list(_some(ctx).values())


def found(ctx: click.Context, name: str | None) -> State:
    """The server of a name, or the only one that clients know by it; without one the one called 'default', or the only
    one.

    :raises click.UsageError: where there is none.
    """
    served = _some(ctx)
    state = chosen(served, name)
    if state is None:
        name, there = name or "default", ", ".join(map(repr, served))
        raise click.UsageError(f"there is no server {name!r}: this app has {there}; say which with --server.", ctx)
    return state


def _some(ctx: click.Context) -> dict[str, State]:
    app = load(ctx)
    served = states(app)
    if not served:
        words = f"the app {app.name!r} serves no MCP server: create one in its factory, ArandoMCP(app, server)."
        raise click.UsageError(words, ctx)
    return served


def checked(ctx: click.Context, name: str | None) -> State:
    """The server of a name, without a mistake.

    :raises click.ClickException: listing every mistake.
    """
    state = found(ctx, name)
    try:
        state.check()
    except DeclarationError as error:
        raise click.ClickException(str(error)) from None
    return state


def write_json(value: object) -> None:
    """Print JSON, in ASCII, for whatever reads it."""
    click.echo(json.dumps(value, indent=2))
