"""One field of a form on the terminal: its question, and the value that was typed. Only the few kinds of fields that
forms have are known (2026-07-28, client/elicitation)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from .visible import on_one_line

_NO_ANSWER = ""


class Said(Exception):
    """The user did something else than filling in.

    :ivar action: `decline` or `cancel`.
    """

    def __init__(self, action: str) -> None:
        super().__init__(action)
        self.action = action


def ask(name: str, said: Mapping[str, Any], required: bool, before: object) -> object:
    """What the user gives for a field; None where it is left empty.

    :param before: what was given the last time that it was asked.
    :raises Said: for `!decline` and `!cancel`.
    """
    choices = _choices(said)
    for number, (value, label) in enumerate(choices, 1):
        click.echo(f"  {number}  {on_one_line(label)}{'' if label == value else f' ({on_one_line(value)})'}", err=True)
    default = before if before is not None else said.get("default")
    shown = _spelt(default) if default is not None else None
    if shown is None and not required:
        shown = _NO_ANSWER

    def read(text: str) -> object:
        if text.strip() in ("!decline", "!cancel"):
            raise Said(text.strip()[1:])
        if text == _NO_ANSWER and not required:
            return None
        return _read(said, choices, text)

    return click.prompt(
        _question(name, said, required), default=shown, show_default=bool(shown), value_proc=read, err=True
    )


def _question(name: str, said: Mapping[str, Any], required: bool) -> str:
    words = [on_one_line(str(said.get("title") or name))]
    if said.get("description"):
        words.append(f"({on_one_line(str(said['description']))})")
    words.append({"array": "[several, with commas]", "boolean": "[y/n]"}.get(said["type"], ""))
    words.append("" if required else "(optional)")
    return " ".join(word for word in words if word)


def _read(said: Mapping[str, Any], choices: Sequence[tuple[str, str]], text: str) -> object:
    if said["type"] == "array":
        return [_chosen(choices, each.strip()) for each in text.split(",") if each.strip()]
    if choices:
        return _chosen(choices, text)
    return _READERS[said["type"]](text)


def _chosen(choices: Sequence[tuple[str, str]], text: str) -> str:
    for value, label in choices:
        if text in (value, label):
            return value
    if text.isdecimal() and 0 < int(text) <= len(choices):
        return choices[int(text) - 1][0]
    raise click.UsageError(f"{text!r} is none of these: give a number from 1 to {len(choices)}, or the words.")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no whole number: write one such as 3.") from None


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise click.UsageError(f"{text!r} is no number: write one such as 2.5.") from None
    return int(number) if number.is_integer() else number


_READERS: Mapping[str, Callable[[str], object]] = {
    "string": str,
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: click.BOOL.convert(text, None, None),
}


def _choices(said: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The values that may be chosen, and what people call each."""
    of = said.get("items", said)
    titled = of.get("oneOf") or of.get("anyOf")
    if titled:
        return [(str(each["const"]), str(each["title"])) for each in titled]
    values = [str(value) for value in of.get("enum", ())]
    return list(zip(values, map(str, of.get("enumNames", values)), strict=False))


def _spelt(value: object) -> str:
    if isinstance(value, bool):
        return "y" if value else "n"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def example(said: Mapping[str, Any]) -> object:
    """A value that a field takes, to show how it is given."""
    if "default" in said:
        return said["default"]
    choices = [value for value, _ in _choices(said)]
    if said["type"] == "array":
        return choices[:1]
    examples: Mapping[str, object] = {"integer": said.get("minimum", 1), "number": said.get("minimum", 1)}
    return choices[0] if choices else examples.get(said["type"], True if said["type"] == "boolean" else "...")
