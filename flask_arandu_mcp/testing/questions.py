"""Questions that a handler asks, and how a test answers them: from a dict by their keys, or from a function. One that
nobody answers, or not as its form wants, fails in a sentence that says how to answer it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple, TypeAlias

from ..typing import JSONObject

_ELICITATION = "elicitation/create"
_ACTIONS = ("accept", "decline", "cancel")
_EXAMPLES: Mapping[object, object] = {"boolean": True, "integer": 1, "number": 1.5, "array": []}


class Question(NamedTuple):
    """Something that a handler asked.

    :ivar key: as the handler calls it, `Elicit("sure", ...)`.
    :ivar method: `elicitation/create`, or what a `ClientRequest` asks for.
    :ivar params: all that the client was sent.
    """

    key: str
    method: str
    params: JSONObject

    @property
    def message(self) -> str:
        """What the user reads; empty where the client itself is asked."""
        return str(self.params.get("message", ""))

    @property
    def url(self) -> str:
        """The page that the user should open; empty where there is none."""
        return str(self.params.get("url", ""))

    @property
    def form(self) -> Mapping[str, object]:
        """The fields that the user should fill in, by their names, each as JSON Schema."""
        schema = self.params.get("requestedSchema")
        fields = schema.get("properties") if isinstance(schema, dict) else None
        return fields if isinstance(fields, dict) else {}


Answer: TypeAlias = Mapping[str, object] | Literal["accept", "decline", "cancel"]
"""What the user fills in, which accepts; or what they do. For a `ClientRequest`, the client's result."""

Answers: TypeAlias = Mapping[str, Answer] | Callable[[Question], Answer | None]
"""Answers by the keys of their questions, or a function that is given each question."""


class Answering:
    """The user of one call, as its test lets them answer.

    :param call: what asks, for the sentences.
    """

    def __init__(self, answers: Answers, call: str) -> None:
        self._answers = answers
        self._call = call
        self._given: list[tuple[Question, Answer]] = []

    def result(self, question: Question) -> JSONObject:
        """The client's result to a question.

        :raises AssertionError: for a question that has no answer, or is asked again as the answer did not fit.
        :raises TypeError: for an answer that is none.
        """
        earlier = next((given for asked, given in self._given if asked == question), None)
        if earlier is not None:
            raise self._failure(question, f"was answered with {earlier!r}, and asked again, as that does not fit")
        answers = self._answers
        given = answers.get(question.key) if isinstance(answers, Mapping) else answers(question)
        if given is None:
            raise self._failure(question, "and nobody answers")
        self._given.append((question, given))
        return _result(question, given)

    def _failure(self, question: Question, what: str) -> AssertionError:
        return AssertionError(f"{self._call} {_asked(question)}, {what}. {_way_out(question, self._answers)}")


def _result(question: Question, given: Answer) -> JSONObject:
    asks_user = question.method == _ELICITATION
    if isinstance(given, Mapping):
        return {"action": "accept", "content": dict(given)} if asks_user else dict(given)
    if given not in _ACTIONS or not asks_user:
        what = f"a dict, or one of {', '.join(map(repr, _ACTIONS))}" if asks_user else "the client's result, a dict"
        raise TypeError(f"The question {question.key!r} is answered with {given!r}: it must be {what}.")
    # A form of which nothing must be filled in is accepted as it is.
    return {"action": given, "content": {}} if given == "accept" and not question.url else {"action": given}


def _asked(question: Question) -> str:
    if question.method != _ELICITATION:
        return f"asked its client for {question.method!r} (key {question.key!r})"
    wanted = f", with a form of {', '.join(map(_field, question.form.items()))}" if question.form else ""
    wanted = f", with the page {question.url}" if question.url else wanted
    return f"asked its user {question.key!r}, “{question.message}”{wanted}"


def _field(named: tuple[str, object]) -> str:
    name, schema = named
    kind = schema.get("type", "any") if isinstance(schema, dict) else "any"
    return f"{name} ({kind})"


def _way_out(question: Question, answers: Answers) -> str:
    if question.method != _ELICITATION:
        return f"Answer with the client's result: client.answering({{{question.key!r}: {{...}}}})."
    filled = repr(_filled(question)) if not question.url else "'accept'"
    words = f"Answer with client.answering({{{question.key!r}: {filled}}}), or with 'decline' or 'cancel' in its place"
    if callable(answers):
        return f"{words}, or let your function return such an answer."
    near = difflib.get_close_matches(question.key, [str(key) for key in answers], 1)
    return f"{words}; you have an answer to {near[0]!r}." if near and near[0] != question.key else f"{words}."


def _filled(question: Question) -> JSONObject:
    """A form as it might be filled in."""
    filled: JSONObject = {}
    for name, schema in question.form.items():
        said = schema if isinstance(schema, dict) else {}
        choices = said.get("enum") or [pair["const"] for pair in said.get("oneOf", ())]
        filled[name] = choices[0] if choices else _EXAMPLES.get(said.get("type"), "...")
    return filled
