"""Where the arguments of an operation go in a request: into its path, its query, a form or a JSON body. Here nothing is
sent; a call's arguments are taken apart, and what cannot be placed is named."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..arguments import ArgumentFaults
from ..typing import JSONObject

PLACES = ("path", "query", "form", "json")
"""The words for where an argument may go."""


class Field(NamedTuple):
    """An argument: the places that it goes to, and what several values are joined with where they are one text."""

    places: tuple[str, ...]
    delimiter: str | None = None


class Parts(NamedTuple):
    """A call's arguments, taken apart; `json` is None where no body is sent."""

    path: JSONObject
    query: list[tuple[str, str]]
    form: list[tuple[str, str]] | None
    json: JSONObject | None


class Placement:
    """Where each argument goes.

    :ivar rest: where an argument goes that the schema lets in without naming it.
    :ivar sends: the kind of body that is sent even when it is empty; empty for none.
    """

    __slots__ = ("fields", "rest", "sends")

    def __init__(self, fields: Mapping[str, Field], *, rest: str, sends: str) -> None:
        self.fields = fields
        self.rest = rest
        self.sends = sends

    def split(self, arguments: Mapping[str, object]) -> Parts:
        """Take a call's arguments apart.

        :raises ArgumentFaults: naming each that cannot go where it belongs.
        """
        path: JSONObject = {}
        body: JSONObject = {}
        texts: dict[str, list[tuple[str, str]]] = {"query": [], "form": []}
        faults = []
        for name, value in arguments.items():
            field = self.fields.get(name, Field((self.rest,)))
            value = _joined(value, field.delimiter)
            for place in field.places:
                if place == "path":
                    path[name] = value
                elif place == "json":
                    body[name] = value
                elif (found := _texts(value)) is None:
                    faults.append(f"{name}: cannot be sent in a {place}: send text, a number, or a list of them.")
                else:
                    texts[place] += [(name, text) for text in found]
        if faults:
            raise ArgumentFaults(tuple(faults))
        form = texts["form"] if texts["form"] or self.sends == "form" else None
        return Parts(path, texts["query"], form, body if body or self.sends == "json" else None)


def _joined(value: object, delimiter: str | None) -> object:
    found = _texts(value) if delimiter is not None and isinstance(value, list) else None
    return value if found is None or delimiter is None else delimiter.join(found)


def _texts(value: object) -> Sequence[str] | None:
    """A value as the texts of a query; None for what has none. Nothing is sent for null."""
    if value is None:
        return ()
    if isinstance(value, list):
        found = [_texts(each) if not isinstance(each, list) else None for each in value]
        return None if None in found else [text for texts in found if texts for text in texts]
    if isinstance(value, str):
        return (value,)
    return (json.dumps(value),) if isinstance(value, (bool, int, float)) else None
