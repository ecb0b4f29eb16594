"""`flask mcp`: serve a pipe, and see what a server offers. Every `flask` command imports this module, so it imports
click alone until one of its commands is run."""

from __future__ import annotations

import sys
from contextlib import ExitStack, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from flask import Flask

    from .state import State
    from .transports.descriptors import Descriptors
    from .transports.stdio import Pipe

_DESCRIPTORS = "flask_arandu_mcp.descriptors"
_HELP = "--help"


class Commands(click.Group):
    """The commands of this package, and then the app's own `mcp` commands, which they would otherwise hide.

    In an app that serves no MCP server, its own `mcp` command stands in the place of this one.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of this group or, in its place, of the app's own command."""
        if extra.get("resilient_parsing"):
            return super().make_context(info_name, args, parent, **extra)
        with ExitStack() as held:
            descriptors = held.enter_context(_claim()) if args[:1] == ["start"] and _HELP not in args else None
            own = self._replacement(click.Context(self, info_name=info_name, parent=parent, **extra), args)
            if own is not None:
                held.close()
                _release()
                return own.make_context(info_name, args, parent, **extra)
            ctx = super().make_context(info_name, args, parent, **extra)
            ctx.meta[_DESCRIPTORS] = descriptors
            ctx.call_on_close(held.pop_all().close)
            return ctx

    def _replacement(self, ctx: click.Context, args: list[str]) -> click.Command | None:
        from .errors import Failure, attempt

        # What the app prints while it is imported is no part of the JSON.
        with redirect_stdout(sys.stderr) if "--json" in args else nullcontext():
            app = attempt(_load, ctx)
        if isinstance(app, Failure):
            if args and _HELP not in args:
                raise app.error
            click.secho(f"Error: {app.error}\n", err=True, fg="red")  # as `flask --help` says it
            return None
        own = app.cli.commands.get("mcp")
        return None if own is self or _states(app) else own

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of this package, or of the app's own group of the same name."""
        own = super().get_command(ctx, cmd_name)
        if own is None and (group := self._own_group(ctx)):
            return group.get_command(ctx, cmd_name)
        return own

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands of this package, and of the app's own group of the same name."""
        group = self._own_group(ctx)
        return sorted({*super().list_commands(ctx), *(group.list_commands(ctx) if group else ())})

    def _own_group(self, ctx: click.Context) -> click.Group | None:
        from .errors import Failure, attempt

        app = attempt(_load, ctx)
        own = None if isinstance(app, Failure) else app.cli.commands.get("mcp")
        return own if isinstance(own, click.Group) and own is not self else None


@click.group(cls=Commands)
def mcp() -> None:
    """Serve this app to AI clients (Model Context Protocol)."""


_server = click.option(
    "--server", "name", help="Name of the server; without it the one called 'default', or the only one."
)


@mcp.command()
@_server
@click.pass_context
def start(ctx: click.Context, name: str | None) -> None:
    """Serve a client on this machine over stdin and stdout."""
    from .errors import Failure, attempt
    from .transports.ending import end

    # They were taken before the app was imported: what it prints then must not land in the protocol's stream.
    descriptors = ctx.meta.get(_DESCRIPTORS) or ctx.with_resource(_claim())
    served = attempt(lambda: _serve(_pipe(_checked(ctx, name), descriptors)))
    code = 0
    if isinstance(served, Failure):
        # Said now, for where a thread that the app left running keeps the process from ending by itself.
        code = _say(served.error)
    end(served is not False, code)
    ctx.exit(code)


def _say(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    import traceback

    traceback.print_exception(error)
    return 1


def _pipe(state: State, descriptors: Descriptors) -> Pipe:
    from .transports.local import Application, NoLocalSubject
    from .transports.stdio import Pipe

    app = Application(state)
    try:
        app.check_local_subject()
    except NoLocalSubject as error:
        raise click.ClickException(str(error)) from None
    return Pipe(state, app, descriptors)


def _serve(pipe: Pipe) -> bool:
    import signal

    def stop(*_: object) -> None:
        pipe.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        return pipe.serve()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@mcp.command("list")
@_server
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def list_(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Show what a server offers, and who may use it."""
    import json

    from .listing import screen
    from .schemas.convert import resolve

    state = _checked(ctx, name)
    with state.app.app_context():  # translations ask for it
        described = resolve(state.server.describe())
    if as_json:
        click.echo(json.dumps({**described, "url": state.url}, indent=2))
    else:
        click.echo("\n".join(screen(described, state.url)))


@mcp.command()
@_server
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def routes(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Show which endpoints of the app could be tools, and the line that makes them such."""
    import json

    from .errors import Failure, attempt
    from .operations import survey

    state = _found(ctx, name)
    checked = attempt(state.check)
    if isinstance(checked, Failure):  # said, and no reason to show nothing: what is shown may be what mends it
        click.secho(f"Error: {checked.error}\n", err=True, fg="red")
    with state.app.app_context():
        entries = survey.survey(state.app, state.server, None if isinstance(checked, Failure) else state.catalogue)
    click.echo(json.dumps(survey.as_json(entries), indent=2) if as_json else "\n".join(survey.screen(entries)))


def _claim() -> Any:
    from .transports.descriptors import claim

    return claim()


def _release() -> None:
    from .transports.descriptors import release

    release()


def _load(ctx: click.Context) -> Flask:
    from flask.cli import ScriptInfo

    return ctx.ensure_object(ScriptInfo).load_app()


def _states(app: Flask) -> dict[str, State]:
    from .state import states

    return states(app)


def _checked(ctx: click.Context, name: str | None) -> State:
    from .errors import DeclarationError

    state = _found(ctx, name)
    try:
        state.check()
    except DeclarationError as error:
        raise click.ClickException(str(error)) from None
    return state


def _found(ctx: click.Context, name: str | None) -> State:
    app = _load(ctx)
    states = _states(app)
    if not states:
        words = f"the app {app.name!r} serves no MCP server: create one in its factory, ArandoMCP(app, server)."
        raise click.UsageError(words, ctx)
    if name is None:
        name = next(iter(states)) if len(states) == 1 else "default"
    if name not in states:
        there = ", ".join(map(repr, states))
        raise click.UsageError(f"there is no server {name!r}: this app has {there}; say which with --server.", ctx)
    return states[name]
