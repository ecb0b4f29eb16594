"""Questions to the user: a small form, or a page to open (2026-07-28, client/elicitation). A form is a flat marshmallow
schema, shown as the few kinds of fields that clients can draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, fields
from marshmallow.fields import Field
from marshmallow.validate import OneOf

from .arguments import ArgumentFaults, Arguments
from .messages import ClientRequest, Unfit
from .revisions import Revision
from .typing import JSONObject

_WORDS = ("title", "description", "default")
_KEYWORDS: Mapping[str, tuple[str, ...]] = {
    "string": ("minLength", "maxLength", "format", "enum", "enumNames", "oneOf"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
    "array": ("minItems", "maxItems", "items"),
}
_FORMATS = frozenset({"email", "uri", "date", "date-time"})


class Elicited:
    """What the user did with a question.

    :ivar action: `accept`, `decline` or `cancel`.
    :ivar content: what they filled in, loaded by the form's schema; empty where they did not accept.
    """

    __slots__ = ("action", "content")

    def __init__(self, action: str, content: Mapping[str, Any]) -> None:
        self.action = action
        self.content = content

    @property
    def accepted(self) -> bool:
        """Whether the user filled the form in, or opened the page."""
        return self.action == "accept"


class Elicit(ClientRequest):
    """Ask the user to fill in a form: `answer = yield Elicit("sure", "Delete it?", {"yes": fields.Boolean()})`.

    Code before the last question of a handler runs once a round, so it must change nothing.

    :param key: tells the questions of one handler apart.
    :param message: the question.
    :param form: a flat schema, as a tool's arguments are declared.
    :raises TypeError: for a form with fields that clients cannot draw.
    """

    __slots__ = ("_form",)

    def __init__(self, key: str, message: str, form: Mapping[str, Field[Any]] | type[Schema] | Schema) -> None:
        self._form: Arguments | None = Arguments(form, name=f"question {key!r}")
        super().__init__(
            key, "elicitation/create", {"message": message, "requestedSchema": _requested(key, self._form)}
        )

    @classmethod
    def url(cls, key: str, message: str, url: str) -> Elicit:
        """Ask the user to open a page, for what must not pass through the client."""
        question = cls.__new__(cls)
        ClientRequest.__init__(question, key, "elicitation/create", {"mode": "url", "message": message, "url": url})
        question._form = None
        return question

    @property
    def needs(self) -> tuple[str, ...]:
        """The path of the capability that a client must have declared to be asked this."""
        return ("elicitation", "form" if self._form is not None else "url")

    def faults(self, content: Mapping[str, object]) -> tuple[str, ...]:
        """What the form has against what was filled in, as `path: message`."""
        try:
            if self._form is not None:
                self._form.load(content)
        except ArgumentFaults as error:
            return error.faults
        return ()

    def answer(self, raw: object) -> Elicited:
        """What the user did.

        :raises Unfit: for an action that there is not, or content that the form refuses.
        """
        action = raw.get("action") if isinstance(raw, dict) else None
        if not isinstance(raw, dict) or action not in {"accept", "decline", "cancel"}:
            raise Unfit
        if action != "accept" or self._form is None:
            return Elicited(str(action), {})
        content = raw.get("content")
        if not isinstance(content, dict):
            raise Unfit
        try:
            loaded = self._form.load(content)
        except ArgumentFaults:
            raise Unfit from None
        assert isinstance(loaded, Mapping)
        return Elicited("accept", loaded)


def known_as(method: str, params: JSONObject, revision: Revision) -> JSONObject | None:
    """The params of a question as a revision spells them; None where it has no such question."""
    if method != "elicitation/create" or revision.pages:
        return params
    schema = params.get("requestedSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not revision.forms or not isinstance(schema, dict) or not isinstance(properties, dict):
        return None
    if any(field.get("type") == "array" for field in properties.values()):
        return None
    plain = {name: _with_names(field) for name, field in properties.items()}
    return {**params, "requestedSchema": {**schema, "properties": plain}}


def _with_names(field: JSONObject) -> JSONObject:
    """A field whose labelled choices are spelt as they were before 2025-11-25."""
    pairs = field.get("oneOf")
    if not isinstance(pairs, list):
        return field
    kept = {keyword: said for keyword, said in field.items() if keyword != "oneOf"}
    return {**kept, "enum": [pair["const"] for pair in pairs], "enumNames": [pair["title"] for pair in pairs]}


def _requested(key: str, form: Arguments) -> JSONObject:
    assert form.schema is not None
    properties = form.input_schema["properties"]
    assert isinstance(properties, dict)
    drawn: JSONObject = {}
    for field in form.fields:
        declared = form.schema.load_fields[field.name]
        drawn[field.key] = _drawn(f"question {key!r}: field {field.key!r}", declared, properties[field.key])
    requested: JSONObject = {"type": "object", "properties": drawn}
    if "required" in form.input_schema:
        requested["required"] = form.input_schema["required"]
    return requested


def _drawn(culprit: str, field: Field[Any], schema: JSONObject) -> JSONObject:
    types = schema.get("type")
    kind = next((one for one in types if one != "null"), None) if isinstance(types, list) else types
    if kind not in _KEYWORDS:
        raise TypeError(
            f"{culprit} cannot be drawn by a client: make the form a flat one, of text, numbers, booleans and choices"
        )
    drawn: JSONObject = {"type": kind}
    for keyword in (*_WORDS, *_KEYWORDS[str(kind)]):
        if keyword in schema and (keyword != "format" or schema[keyword] in _FORMATS):
            drawn[keyword] = schema[keyword]
    if kind == "array":
        drawn["items"] = _choices(field.inner) if isinstance(field, fields.List) else None
        if not isinstance(drawn["items"], dict):
            raise TypeError(f"{culprit} cannot be drawn by a client: make it a list of choices, OneOf([...])")
        return drawn
    choices = drawn.get("enum")
    if isinstance(choices, list):
        drawn["enum"] = [value for value in choices if value is not None]  # no choice is made by leaving it out
    return _titled(field, drawn) if kind == "string" else drawn


def _titled(field: Field[Any], drawn: JSONObject) -> JSONObject:
    """A field with its choices and their labels, in place of its `enum` and of the words for them."""
    labels = _labels(field)
    if labels is None or "enumNames" in drawn:
        return drawn
    titled = {keyword: said for keyword, said in drawn.items() if keyword not in ("enum", "description")}
    if description := field.metadata.get("description"):
        titled["description"] = str(description)
    return {**titled, "oneOf": [{"const": value, "title": str(label)} for value, label in labels]}


def _choices(inner: Field[Any]) -> JSONObject | None:
    validator = _one_of(inner)
    if validator is None:
        return None
    labels = _labels(inner)
    if labels is None:
        return {"type": "string", "enum": list(validator.choices)}
    return {"anyOf": [{"const": value, "title": str(label)} for value, label in labels]}


def _one_of(field: Field[Any]) -> OneOf | None:
    return next((validator for validator in field.validators if isinstance(validator, OneOf)), None)


def _labels(field: Field[Any]) -> list[tuple[Any, Any]] | None:
    validator = _one_of(field)
    if validator is None or not validator.labels:
        return None
    pairs = zip(validator.choices, validator.labels, strict=False)
    return [(value, label) for value, label in pairs if value is not None]
