"""`flask mcp list`: what a server offers and who may use it, or what the assistant of one user sees of it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from typing import Any

import click

from ..listing import screen
from ..schemas.convert import resolve
from ..state import State
from ..typing import JSONObject
from .acting import acting_options, application
from .paint import paint
from .served import checked, json_option, server_option, write_json
from .talking import Refused, Talk

_LISTS: Mapping[str, tuple[str, str]] = {
    "tools": ("tools", "tools/list"),
    "resources": ("resources", "resources/list"),
    "resourceTemplates": ("resources", "resources/templates/list"),
    "prompts": ("prompts", "prompts/list"),
}
"""Each list of a description: the capability that a server has with it, and the method that lists it."""


@click.command("list")
@server_option
@acting_options
@json_option
@click.pass_context
def command(ctx: click.Context, name: str | None, user: str | None, as_guest: bool, as_json: bool) -> None:
    """Show what a server offers, and who may use it.

    With --as or --guest, only what the assistant of that user is shown.
    """
    state = checked(ctx, name)
    with redirect_stdout(sys.stderr):  # what the app prints is no part of the list
        described = _described(ctx, state, user, as_guest)
    if as_json:
        write_json({**described, "url": state.url})
    else:
        click.echo("\n".join(screen(described, state.url, paint)))


def _described(ctx: click.Context, state: State, user: str | None, as_guest: bool) -> JSONObject:
    with state.app.app_context():  # translations ask for it
        described = resolve(state.server.describe())
    assert isinstance(described, dict)
    if user is not None or as_guest:
        described = _seen(state, Talk(state, application(ctx, state, user, as_guest)), described)
        described["as"] = "a guest" if as_guest else user
    return described


def _seen(state: State, talk: Talk, described: JSONObject) -> JSONObject:
    """The description of what is listed, with the entries as they are listed."""
    seen = dict(described)
    with state.app.app_context():
        capabilities = state.server.catalogue.capabilities
    for key, (capability, method) in _LISTS.items():
        known = {_key(item): item for item in _items(described, key)}
        try:
            listed = list(talk.listed(method, key)) if capability in capabilities else []
        except Refused as refused:
            raise click.ClickException(f"{method} is refused to them: {refused}") from None
        seen[key] = [{**known.get(_key(item), {"access": "?"}), **item} for item in listed]
    return seen


def _items(described: JSONObject, key: str) -> list[Mapping[str, Any]]:
    items: Any = described[key]
    return list(items)


def _key(item: Mapping[str, Any]) -> str:
    return str(item.get("uri") or item.get("uriTemplate") or item["name"])
