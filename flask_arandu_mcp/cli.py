"""`flask mcp`: the group of commands. Every `flask` command imports this module, so it imports click alone; the module
of a command, below `commands`, is imported when the command is asked for."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, nullcontext, redirect_stdout
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from flask import Flask

    from .errors import Failure

_OURS = ("call", "check", "config", "list", "new", "routes", "start")
_PURE = ("call", "config")
"""Those whose stdout is what they were asked for and nothing else, whatever the app prints while it is imported."""

_HELP = "--help"
_DIRECTORY = "--directory"


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
        starts = args[:1] == ["start"] and _HELP not in args
        with ExitStack() as held:
            # Before the app is imported: what it prints then must not land in the protocol's stream.
            descriptors = held.enter_context(_claim()) if starts else None
            here = os.getcwd()
            unmoved = _move(args) if starts else None
            app = _loaded(click.Context(self, info_name=info_name, parent=parent, **extra), args)
            own = self._replacement(app)
            if own is not None:
                held.close()
                os.chdir(here)
                _release()
                return own.make_context(info_name, args, parent, **extra)
            ctx = super().make_context(info_name, args, parent, **extra)
            _leave(ctx, descriptors, unmoved, app)
            ctx.call_on_close(held.pop_all().close)
            return ctx

    def _replacement(self, app: Flask | Failure[Flask]) -> click.Command | None:
        from .commands.served import is_served
        from .errors import Failure

        if isinstance(app, Failure) or is_served(app):
            return None
        own = app.cli.commands.get("mcp")
        return None if own is self else own

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command of this package, or of the app's own group of the same name."""
        if cmd_name in _OURS:
            command: click.Command = import_module(f".commands.{cmd_name}", __package__).command
            return command
        own = super().get_command(ctx, cmd_name)
        if own is None and (group := self._own_group(ctx)):
            return group.get_command(ctx, cmd_name)
        return own

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands of this package, and of the app's own group of the same name."""
        group = self._own_group(ctx)
        return sorted({*_OURS, *super().list_commands(ctx), *(group.list_commands(ctx) if group else ())})

    def _own_group(self, ctx: click.Context) -> click.Group | None:
        from .commands.served import load
        from .errors import Failure, attempt

        app = attempt(load, ctx)
        own = None if isinstance(app, Failure) else app.cli.commands.get("mcp")
        return own if isinstance(own, click.Group) and own is not self else None


@click.group(cls=Commands)
def mcp() -> None:
    """Serve this app to AI clients (Model Context Protocol)."""


def _loaded(ctx: click.Context, args: list[str]) -> Flask | Failure[Flask]:
    """The app, or why it cannot be loaded, where help is given all the same or the command lists the mistakes."""
    from .commands.served import load
    from .errors import DeclarationError, Failure, attempt

    pure = args[:1] and (args[0] in _PURE or any(arg.startswith("--json") for arg in args))
    with redirect_stdout(sys.stderr) if pure else nullcontext():
        app = attempt(load, ctx)
    if isinstance(app, Failure):
        if not args or _HELP in args:
            click.secho(f"Error: {app.error}\n", err=True, fg="red")  # as `flask --help` says it
        elif args[0] != "check" or not isinstance(app.error, DeclarationError):
            raise app.error
    return app


def _move(args: list[str]) -> OSError | None:
    """Go where `--directory` says, before the app is imported, which may look for its files from there."""
    for at, arg in enumerate(args):
        option, _, given = arg.partition("=")
        if option == _DIRECTORY:
            try:
                os.chdir(given or "".join(args[at + 1 : at + 2]))
            except OSError as error:
                return error
            from flask.cli import load_dotenv
            from flask.helpers import get_load_dotenv

            if get_load_dotenv():
                load_dotenv()
    return None


def _leave(ctx: click.Context, descriptors: object, unmoved: OSError | None, app: object) -> None:
    from .commands.served import Before, leave
    from .errors import Failure

    leave(ctx, Before(descriptors, unmoved, app.error if isinstance(app, Failure) else None))


def _claim() -> Any:
    from .transports.descriptors import claim

    return claim()


def _release() -> None:
    from .transports.descriptors import release

    release()
