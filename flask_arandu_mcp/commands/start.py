"""`flask mcp start`: serve the client that started it over stdin and stdout, until that is gone."""

from __future__ import annotations

import signal
import traceback

import click

from ..errors import Failure, attempt
from ..state import State
from ..transports.descriptors import Descriptors, claim
from ..transports.ending import end
from ..transports.local import Application, NoLocalSubject
from ..transports.stdio import Pipe
from .served import before, checked, server_option


@click.command("start")
@server_option
@click.option(
    "--directory",
    metavar="DIR",
    help="Serve as if it had been started in this folder, for clients that start it elsewhere.",
)
@click.pass_context
def command(ctx: click.Context, name: str | None, directory: str | None) -> None:
    """Serve a client on this machine over stdin and stdout."""
    # They were taken before the app was imported: what it prints then must not land in the protocol's stream.
    descriptors = before(ctx).descriptors or ctx.with_resource(claim())
    served = attempt(lambda: _serve(_pipe(_state(ctx, name), descriptors)))
    code = 0
    if isinstance(served, Failure):
        # Said now, for where a thread that the app left running keeps the process from ending by itself.
        code = _say(served.error)
    end(served is not False, code)
    ctx.exit(code)


def _state(ctx: click.Context, name: str | None) -> State:
    if error := before(ctx).unmoved:
        raise click.BadParameter(f"{error}: name a folder that is there.", ctx, param_hint="--directory")
    return checked(ctx, name)


def _say(error: Exception) -> int:
    if isinstance(error, click.ClickException):
        error.show()
        return error.exit_code
    traceback.print_exception(error)
    return 1


def _pipe(state: State, descriptors: Descriptors) -> Pipe:
    app = Application(state)
    try:
        app.check_local_subject()
    except NoLocalSubject as error:
        raise click.ClickException(str(error)) from None
    return Pipe(state, app, descriptors)


def _serve(pipe: Pipe) -> bool:
    def stop(*_: object) -> None:
        pipe.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        return pipe.serve()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
