"""`flask mcp check`: every mistake that would keep the app from serving, and advice on what it serves. Its exit code is
for CI: 1 where there is a mistake, or with `--strict` advice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import click

from ..advice import Advice, advise
from ..advice.tokens import tokens
from ..errors import DeclarationError
from ..identity import manager
from ..policies import public
from ..schemas.convert import resolve
from ..state import State
from .clients import key_of
from .paint import paint
from .served import before, every, json_option, server_option, write_json


class Checked(NamedTuple):
    """What was found of one server.

    :ivar server: its name, as clients know it.
    :ivar tokens: about how long its list of tools is.
    """

    server: str
    url: str
    tools: int
    tokens: int
    faults: Sequence[str]
    advice: Sequence[Advice]


@click.command("check")
@server_option
@click.option("--strict", is_flag=True, help="Exit with 1 for advice, too.")
@click.option(
    "--max-tokens",
    type=click.IntRange(min=1),
    default=10_000,
    show_default=True,
    help="How long a list of tools may be; a token is taken for four characters.",
)
@click.option(
    "--ignore",
    metavar="[CULPRIT:]RULE",
    multiple=True,
    help="Leave out the advice of a rule, such as untyped, or of one tool's, such as echo:untyped.",
)
@json_option
@click.pass_context
def command(
    ctx: click.Context, name: str | None, strict: bool, max_tokens: int, ignore: tuple[str, ...], as_json: bool
) -> None:
    """Find every mistake in what the app serves, and advise on the rest."""
    checked = _kept(_all(ctx, name, max_tokens), ignore)
    failed = any(each.faults or (strict and each.advice) for each in checked)
    if as_json:
        servers = [{**each._asdict(), "advice": [advice._asdict() for advice in each.advice]} for each in checked]
        write_json({"ok": not failed, "servers": servers})
    else:
        click.echo("\n".join(line for each in checked for line in _screen(each)))
    ctx.exit(1 if failed else 0)


def _all(ctx: click.Context, name: str | None, max_tokens: int) -> list[Checked]:
    unloaded = before(ctx).unloaded
    if isinstance(unloaded, DeclarationError):  # raised while the app was made
        return [Checked(unloaded.server, "", 0, 0, unloaded.faults, ())]
    return [_one(state, max_tokens) for state in every(ctx, name)]


def _one(state: State, max_tokens: int) -> Checked:
    server = str(state.server.name)
    try:
        state.check()
    except DeclarationError as error:
        return Checked(server, state.url, 0, 0, error.faults, ())
    with state.app.app_context():  # translations ask for it
        described: Any = resolve(state.server.describe())
        around = list(_on_app(state))
    advice = [*around, *advise(described, key=key_of(server), max_tokens=max_tokens)]
    tools = described["tools"]
    return Checked(server, state.url, len(tools), tokens(tools), (), advice)


def _on_app(state: State) -> Iterator[Advice]:
    """Advice on what is around the server, in its app's context."""
    prepared = list(state.server.catalogue.declarations)
    app = f"the app {state.app.name!r}"
    if not prepared:
        words = "offers nothing: declare a tool, and give it to the server, Server(..., tools=[...])."
        yield Advice(f"the server {state.server.name!r}", "empty", words)
    if manager() is None and any(item.access is not public for item in prepared):
        words = (
            "has no LoginManager, so that whoever comes over HTTP is a guest: give it one, with a request_loader for "
            "tokens."
        )
        yield Advice(app, "no-users", words)
    talking = next((item for item in prepared if item.streams), None)
    if talking is not None and not state.app.secret_key:
        words = f"has no SECRET_KEY, without which nobody can be asked over HTTP, as {talking.name!r} may do: set it."
        yield Advice(app, "no-secret-key", words)


def _kept(checked: Sequence[Checked], ignored: Sequence[str]) -> list[Checked]:
    """What was found, without the advice that is not wanted; that nothing was ignored is advice in its turn."""
    left = [each._replace(advice=[one for one in each.advice if not _is_ignored(one, ignored)]) for each in checked]
    advice = [one for each in checked for one in each.advice]
    idle = [each for each in ignored if not any(_is_ignored(one, [each]) for one in advice)]
    if idle and left and not any(each.faults for each in left):
        more = [Advice(f"--ignore {each}", "idle-ignore", "leaves nothing out any more: drop it.") for each in idle]
        left[0] = left[0]._replace(advice=[*left[0].advice, *more])
    return left


def _is_ignored(advice: Advice, ignored: Sequence[str]) -> bool:
    for each in ignored:
        name, _, rule = each.rpartition(":")
        if rule == advice.rule and (not name or f"{name!r}" in advice.culprit):
            return True
    return False


def _screen(checked: Checked) -> Iterator[str]:
    count = f"{checked.tools} tool{'' if checked.tools == 1 else 's'}, about {checked.tokens} tokens"
    where = f", served at {checked.url}: {count}" if checked.url and not checked.faults else ""
    yield f"{paint('heading', checked.server)}{where}"
    for fault in checked.faults:
        yield f"  {paint('bad', 'fault')}   {fault}"
    for culprit, rule, words in checked.advice:
        yield f"  {paint('advice', 'advice')}  {culprit} {words}  {paint('aside', f'[{rule}]')}"
    if not checked.faults and not checked.advice:
        yield f"  {paint('good', 'No mistakes, and nothing to advise.')}"
