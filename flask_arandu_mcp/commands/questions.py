"""What a call asks, asked on the terminal: a form field by field, with its types, choices and defaults. Answers that
were given with the command are taken first, and are all that there is where nobody sits at a terminal."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from ..asking import REFUSED, Question
from ..elicitation import Elicit
from ..typing import JSONObject
from .fields import Said, ask, example
from .visible import visible

ACTIONS = ("accept", "decline", "cancel")


class Answering:
    """Answers the questions of one call.

    :param given: what was given with the command: an action, or a JSON object, by the question's key.
    """

    def __init__(self, ctx: click.Context, given: Mapping[str, object]) -> None:
        self._ctx = ctx
        self._given = given
        self._used: set[str] = set()

    def answers(self, questions: Sequence[Question]) -> Mapping[str, object]:
        """The client's result to each question.

        :raises click.UsageError: for an answer that does not fit, and where nobody can be asked.
        """
        missing = [one for one in questions if one.key not in self._given and isinstance(one, Elicit)]
        if missing and not (sys.stdin.isatty() and sys.stderr.isatty()):
            self._fail_without(missing)
        return {question.key: self._answer(question) for question in questions}

    @property
    def unused(self) -> list[str]:
        """The keys of answers that no question asked for."""
        return [key for key in self._given if key not in self._used]

    def _fail_without(self, missing: Sequence[Question]) -> None:
        asked = [f"  {question.key}: {visible(_message(question))}" for question in missing]
        options = " ".join(_option(question) for question in missing)
        words = "\n".join(
            ["the tool asks, and there is no terminal to ask at:", *asked, f"Give the answers: {options}"]
        )
        raise click.UsageError(words, self._ctx)

    def _answer(self, question: Question) -> object:
        if question.key in self._given:
            return self._given_to(question)
        if not isinstance(question, Elicit):
            words = f"a terminal has no answer to {question.method!r}: give it with --answer {question.key}=JSON."
            click.secho(f"It asks {question.key!r}: {words}", err=True, fg="yellow")
            return {REFUSED: words}
        return _on_terminal(question)

    def _given_to(self, question: Question) -> object:
        given = self._given[question.key]
        self._used.add(question.key)
        if not isinstance(question, Elicit):
            return given if isinstance(given, dict) else {REFUSED: f"the user said {given}."}
        if isinstance(given, str) and given != "accept":
            return {"action": given}
        content = given if isinstance(given, dict) else {}
        faults = question.faults(content)
        if faults:
            listed = "; ".join(faults)
            words = (
                f"--answer {question.key}: it does not fit the question ({listed}): give such as {_option(question)}"
            )
            raise click.UsageError(words, self._ctx)
        return {"action": "accept", "content": content}


def _on_terminal(question: Elicit) -> JSONObject:
    """What the user does with a question."""
    click.secho(visible(_message(question)), err=True, bold=True)
    properties = _properties(question)
    if "url" in question.params:
        click.echo(f"It is at {visible(str(question.params['url']))}", err=True)
    if not properties:
        action = click.prompt("Your answer", type=click.Choice(ACTIONS), err=True)
        return {"action": action, **({"content": {}} if action == "accept" else {})}
    click.secho("(!decline says no, !cancel leaves it)", err=True, dim=True)
    content: JSONObject = {}
    while True:
        try:
            content = _filled_in(properties, _required(question), content)
        except Said as said:
            return {"action": said.action}
        faults = question.faults(content)
        if not faults:
            return {"action": "accept", "content": content}
        click.secho("\n".join(f"- {visible(fault)}" for fault in faults), err=True, fg="red")


def _filled_in(properties: Mapping[str, Any], required: Sequence[str], before: Mapping[str, object]) -> JSONObject:
    given = {name: ask(name, said, name in required, before.get(name)) for name, said in properties.items()}
    return {name: value for name, value in given.items() if value is not None}


def _properties(question: Question) -> Mapping[str, Any]:
    schema = question.params.get("requestedSchema")
    properties: Mapping[str, Any] = schema.get("properties", {}) if isinstance(schema, dict) else {}
    return properties


def _required(question: Question) -> Sequence[str]:
    schema: Any = question.params["requestedSchema"]
    required: Sequence[str] = schema.get("required", ())
    return required


def _message(question: Question) -> str:
    return str(question.params.get("message", question.method))


def _option(question: Question) -> str:
    content = {name: example(said) for name, said in _properties(question).items()}
    return f"--answer {shlex.quote(question.key)}={shlex.quote(json.dumps(content))}"
