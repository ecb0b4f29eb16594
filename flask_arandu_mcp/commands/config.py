"""`flask mcp config`: the block that tells a client of this app. The block alone goes to stdout; where it belongs, and
what was left out of it, to stderr."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import click

from ..identity import reads_no_tokens
from ..state import State
from .clients import CLIENTS, Client, Local, Remote, key_of
from .place import Environment, env_file_of, environment, program
from .served import checked, json_option, server_option, write_json

_URL = re.compile(r"https?://[^/\s?#]+(/[^\s?#]*)?", re.IGNORECASE)


@click.command("config", short_help="Print the block that tells a client of this app.")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@server_option
@click.option("--http", is_flag=True, help="For a client that reaches the app at its URL, with a token of the user's.")
@click.option("--url", help="Where the app is reached, for --http; without it MCP_PUBLIC_URL or SERVER_NAME says.")
@click.option("--key", help="What the client is to call the server; without it the server's name.")
@click.option(
    "--env",
    "names",
    metavar="NAME",
    multiple=True,
    help="Give the server this variable of the environment too, and write it out. Of FLASK_..., others are named only.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    client: str,
    name: str | None,
    http: bool,
    url: str | None,
    key: str | None,
    names: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the block that tells CLIENT of this app, to be pasted into its configuration.

    Without --http the client starts the app itself, on this machine, and acts as the local subject.
    """
    state = checked(ctx, name)
    chosen, key = CLIENTS[client], key or key_of(str(state.server.name))
    if key_of(key) != key:
        raise click.UsageError(
            f"--key {key!r}: clients take letters, digits, - and _: write such as {key_of(key)!r}.", ctx
        )
    if http or url:
        remote = Remote(_url(ctx, state, url), _token(state, key))
        block, notes = chosen.remote(key, remote), list(_of_remote(chosen, state, remote))
    else:
        local = _local(ctx, state, name, names)
        block, notes = chosen.local(key, local), list(_of_local(chosen, local))
    if as_json:
        write_json({"client": client, "file": chosen.file, "block": block, "notes": notes})
        return
    for note in (f"For {chosen.title}: {chosen.file}", *notes):
        click.secho(f"# {note}", err=True, dim=True)
    click.echo(block)


def _local(ctx: click.Context, state: State, server: str | None, names: Sequence[str]) -> Local:
    if state.declared.local_subject is None:
        raise click.ClickException(
            "nobody is declared for an assistant on this machine to act as: decorate a function that returns one of "
            "the app's users with @mcp.local_subject, or use --http."
        )
    started = program(ctx)
    env = _environment(ctx, names)
    args = [*started.args, "start", *(["--server", server] if server else []), "--directory", os.getcwd()]
    return Local(started.command, args, env.shown, env.secrets)


def _environment(ctx: click.Context, names: Sequence[str]) -> Environment:
    try:
        return environment(names, env_file_of(ctx))
    except KeyError as error:
        raise click.UsageError(f"--env {error.args[0]}: it is not set here: set it, or leave it out.", ctx) from None


def _of_local(client: Client, local: Local) -> Iterator[str]:
    for name in local.secrets:
        yield f"{name} is not in the block, since it may be a secret: {client.secrets_words}."
    yield (
        "Of FLASK_..., Flask's own settings are written out. Name with --env NAME what else the app reads, or is to be "
        "written out."
    )


def _url(ctx: click.Context, state: State, given: str | None) -> str:
    base = given or state.settings.public_url or _of_server_name(state)
    if not base:
        words = (
            "the app's address is not known: say it with --url, such as --url http://127.0.0.1:5000 for `flask run`, "
            "or once and for all with MCP_PUBLIC_URL."
        )
        raise click.UsageError(words, ctx)
    if not _URL.fullmatch(base):
        rule = "write one without blanks and without a query, such as https://api.example.com."
        raise click.UsageError(f"--url {base!r} is no URL of a server: {rule}", ctx)
    base = base.rstrip("/")
    # What is typed may be the whole URL; what is configured is where the app is.
    return base if given and base.endswith(state.url.rstrip("/")) else f"{base}{state.url}"


def _of_server_name(state: State) -> str:
    config = state.app.config
    host = config.get("SERVER_NAME")
    return f"{config['PREFERRED_URL_SCHEME']}://{host}{config['APPLICATION_ROOT']}".rstrip("/") if host else ""


def _token(state: State, key: str) -> str:
    """The variable that a token is in, where the app reads tokens that the client does not get by itself."""
    with state.app.app_context():
        if reads_no_tokens() or state.settings.authorization_servers:
            return ""
    return f"{key.upper().replace('-', '_')}_TOKEN"


def _of_remote(client: Client, state: State, remote: Remote) -> Iterator[str]:
    if remote.token:
        yield f"{remote.token} stands for a token of the user's: {client.token_words}."
    elif state.settings.authorization_servers:
        yield f"{client.title} gets a token itself, where MCP_AUTHORIZATION_SERVERS says."
    else:
        yield "The app reads no tokens, so the client is a guest: a @login_manager.request_loader would read them."
    if client.remote_words:
        yield client.remote_words
