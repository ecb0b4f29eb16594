"""`flask mcp`: serve a pipe, and see what a server offers. Every `flask` command imports this module, so it imports
click alone until one of its commands is run."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from flask import Flask

    from .state import State
    from .transports.stdio import Pipe


class Commands(click.Group):
    """The commands of this package, and then the app's own `mcp` commands, which they would otherwise hide."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of this package, or of the app's own group of the same name."""
        return super().get_command(ctx, cmd_name) or _own_commands(_load(ctx)).get(cmd_name)


@click.group(cls=Commands)
def mcp() -> None:
    """Serve this app to AI clients (Model Context Protocol)."""


_server = click.option("--server", "name", default="default", show_default=True, help="Name of the server.")


@mcp.command()
@_server
@click.pass_context
def start(ctx: click.Context, name: str) -> None:
    """Serve a client on this machine over stdin and stdout."""
    from .transports.descriptors import claim

    own: click.Command | None = None
    with claim() as descriptors:
        # Only now: whatever the app prints while it is imported must not land in the protocol's stream.
        app = _load(ctx)
        own = _own_commands(app).get("start") if not _states(app) else None
        if own is None:
            from .transports.stdio import NoLocalSubject, Pipe, check_local_subject

            state = _checked(app, name)
            try:
                check_local_subject(state)
            except NoLocalSubject as error:
                raise click.ClickException(str(error)) from None
            pipe = Pipe(state, descriptors)
            _stop_on_signals(pipe)
            _leave(pipe.serve())
    if own is not None:
        ctx.invoke(own)


def _stop_on_signals(pipe: Pipe) -> None:
    import signal

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: pipe.stop())


def _leave(quietly: bool) -> None:
    import atexit
    import os
    import threading

    others = [t for t in threading.enumerate() if t is not threading.main_thread() and not t.daemon]
    if quietly and not others:
        return
    # The client is gone; a thread that the app left running, or a call that never ends, must not outlive it.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


@mcp.command("list")
@_server
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, name: str, as_json: bool) -> None:
    """Show what a server offers, and who may use it."""
    from .schemas.convert import resolve

    app = _load(ctx)
    if not _states(app) and (own := _own_commands(app).get("list")):
        ctx.invoke(own)
        return
    state = _checked(app, name)
    described = resolve(state.server.describe())
    if as_json:
        click.echo(json.dumps({**described, "url": state.url}, indent=2))
        return
    from .listing import screen

    click.echo("\n".join(screen(described, state.url)))


def _load(ctx: click.Context) -> Flask:
    from flask.cli import ScriptInfo

    return ctx.ensure_object(ScriptInfo).load_app()


def _states(app: Flask) -> dict[str, State]:
    from .state import states

    return states(app)


def _own_commands(app: Flask) -> Mapping[str, click.Command]:
    own = app.cli.commands.get("mcp")
    return own.commands if isinstance(own, click.Group) else {}


def _checked(app: Flask, name: str) -> State:
    from .errors import DeclarationError

    states = _states(app)
    if not states:
        raise click.UsageError(
            f"the app {app.name!r} serves no MCP server: create one in its factory, ArandoMCP(app, server)."
        )
    if name not in states:
        raise click.UsageError(f"there is no server {name!r}: this app has {', '.join(map(repr, states))}.")
    try:
        states[name].check()
    except DeclarationError as error:
        raise click.ClickException(str(error)) from None
    return states[name]
