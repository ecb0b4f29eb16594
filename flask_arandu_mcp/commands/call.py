"""`flask mcp call`: call a tool as an assistant would. What it answers goes to stdout, and everything else, such as
progress and questions, to stderr."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

import click

from ..asking import Question
from ..catalogue import Catalogue
from ..declarations.tools import PreparedTool
from ..errors import INVALID_PARAMS
from ..jsonrpc import Malformed
from ..typing import JSONObject
from .acting import acting_options, application
from .progress import Progress
from .questions import ACTIONS, Answering
from .result import error_text, result_text
from .served import checked, server_option, write_json
from .talking import Talk
from .typed import Mistyped, typed
from .visible import on_one_line

_PLAIN = ""
"""What `--json` is given where it has no file."""


@click.command("call", short_help="Call a tool, as an assistant would.")
@click.argument("tool")
@click.argument("words", metavar="[NAME=VALUE]...", nargs=-1)
@server_option
@acting_options
@click.option(
    "--json",
    "file",
    metavar="[FILE]",
    is_flag=False,
    flag_value=_PLAIN,
    help="Print JSON. With a FILE, it has the arguments, as JSON; - is stdin.",
)
@click.option(
    "--answer",
    "answers",
    metavar="KEY=JSON",
    multiple=True,
    help="Answer a question of the tool: what its form wants, as JSON, or accept, decline or cancel.",
)
@click.pass_context
def command(
    ctx: click.Context,
    tool: str,
    words: tuple[str, ...],
    name: str | None,
    user: str | None,
    as_guest: bool,
    file: str | None,
    answers: tuple[str, ...],
) -> None:
    """Call TOOL, as an assistant would.

    Arguments are made what the tool's schema says: limit=3 tag=soil tag=bees. It acts as USER, or as the local subject
    that the app declares. The exit code is 1 where the tool answers with an error, and 2 for what cannot be asked.
    """
    given = _answers(ctx, answers)
    state = checked(ctx, name)
    with redirect_stdout(sys.stderr):  # what handlers print is no part of the answer
        with state.app.app_context():
            catalogue = state.server.catalogue
            prepared = _tool(ctx, catalogue, tool)
            arguments = _arguments(ctx, prepared, words, file)
        listener = _Terminal(Answering(ctx, given))
        talk = Talk(state, application(ctx, state, user, as_guest))
        try:
            response = talk.send("tools/call", _params(tool, arguments), listener)
        except Malformed as error:
            raise click.UsageError(f"the arguments cannot be sent: {error.message}", ctx) from None
        finally:
            listener.progress.close()
    _print(response, as_json=file is not None)
    for key in listener.answering.unused:
        click.secho(f"--answer {key}: the tool did not ask this: drop it, or mend the key.", err=True, fg="yellow")
    ctx.exit(0 if error_text(response) is None else 1)


def _params(tool: str, arguments: JSONObject) -> JSONObject:
    return {"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}}


class _Terminal:
    """Shows what comes before the response, and answers what is asked."""

    def __init__(self, answering: Answering) -> None:
        self.answering = answering
        self.progress = Progress()

    def told(self, method: str, params: JSONObject) -> None:
        """Show progress as it is, and everything else as a line."""
        said: Any = params
        if method == "notifications/progress":
            self.progress.show(said["progress"], said.get("total"), said.get("message", ""))
            return
        self.progress.close()
        data = said.get("data", said)
        text = data if isinstance(data, str) else json.dumps(data)
        word = said.get("level", method) if method == "notifications/message" else method
        click.secho(f"[{on_one_line(str(word))}] {on_one_line(text)}", err=True, dim=True)

    def asked(self, questions: Sequence[Question]) -> Mapping[str, object]:
        """Answer questions, on a line below the progress."""
        self.progress.close()
        return self.answering.answers(questions)


def _tool(ctx: click.Context, catalogue: Catalogue, name: str) -> PreparedTool:
    found = catalogue.tool(name)
    if found is None:
        names = [tool.name for tool in catalogue.tools.items]
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]!r}?" if near else "see `flask mcp list` for those that there are."
        raise click.UsageError(f"there is no tool {name!r}: {hint}", ctx)
    return found


def _arguments(ctx: click.Context, tool: PreparedTool, words: Sequence[str], file: str | None) -> JSONObject:
    if not file:
        try:
            return typed(words, tool.arguments.input_schema)
        except Mistyped as error:
            raise click.UsageError(str(error), ctx) from None
    if words:
        both = f"the arguments are in {words[0]!r} and in --json {file}: give one of them"
        raise click.UsageError(f"{both}; to print JSON, put --json last.", ctx)
    try:
        with click.open_file(file, encoding="utf-8") as opened:
            found = json.load(opened)
    except (OSError, ValueError, RecursionError) as error:
        unread = f"--json {file}: no arguments can be read there ({error})"
        raise click.UsageError(f"{unread}; to print JSON, put --json last.", ctx) from None
    if not isinstance(found, dict):
        raise click.UsageError(f"--json {file}: the arguments are an object, such as {{}}: write one.", ctx)
    return found


def _answers(ctx: click.Context, words: Sequence[str]) -> dict[str, object]:
    given: dict[str, object] = {}
    for word in words:
        key, _, text = word.partition("=")
        try:
            value = text if text in ACTIONS else json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if not key or not (isinstance(value, dict) or value in ACTIONS):
            rule = f"give an object, such as {key or 'sure'}='{{\"yes\": true}}', or {', '.join(ACTIONS)}."
            raise click.UsageError(f"--answer {word}: it is no answer: {rule}", ctx)
        given[key] = value
    return given


def _print(response: JSONObject, *, as_json: bool) -> None:
    """The answer on stdout, and why there is none on stderr."""
    if as_json:
        write_json(response.get("result", {"error": response.get("error")}))
    error = error_text(response)
    if error is not None:
        click.secho(f"Error: {error}", err=True, fg="red")
        if _code(response) == INVALID_PARAMS:  # for a tool that there is
            words = "There is such a tool: its policy conceals it, so that whoever acts is told that there is none."
            click.secho(words, err=True, fg="yellow")
    elif not as_json:
        click.echo(result_text(response), color=True)  # as it is: click would take colours out of a text that has some


def _code(response: JSONObject) -> object:
    error: Any = response.get("error", {})
    return error.get("code")
