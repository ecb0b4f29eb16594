"""Questions that are open, and the answers so far. A handler that asks is run again from its start with them, so that
nothing waits for a human."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeAlias

from .errors import Failure, attempt
from .messages import ClientRequest, Unanswerable, Unfit

Question: TypeAlias = ClientRequest

REFUSED = "error"
"""The member of an answer that says that the client refused to ask."""

MAX_TRIES = 3
"""How often a client is sent one question, at most: one that is a program would give the same answer forever."""


_NAMING = Lock()


class Answers:
    """What was answered to which question, in all rounds of one call so far.

    :param known: the answers, each to one question alone: by its key and its digest.
    :param loose: answers by key alone, from a client that did not say which question they answer.
    :param tries: how often each question was sent.
    :param trusted: the loose ones may be taken for any question, as in a test.
    :param round_: a name of its own for a round that brought answers to what was asked; empty in a first one.
    :ivar progressed: how far the call said that it was; it begins anew in each round, and clients must not see that.
    """

    __slots__ = ("_attempt", "_tries", "_trusted", "known", "loose", "progressed", "round_")

    def __init__(
        self,
        known: Mapping[tuple[str, str], object] | None = None,
        loose: Mapping[str, object] | None = None,
        attempt: str = "",
        *,
        tries: Mapping[tuple[str, str], int] | None = None,
        round_: str = "",
        trusted: bool = False,
    ) -> None:
        self.known = dict(known) if known else {}
        self.loose = dict(loose) if loose else {}
        self._attempt = attempt
        self._tries = dict(tries) if tries else {}
        self.round_ = round_
        self.progressed: float | None = None
        self._trusted = trusted

    def attempt(self) -> str:
        """A random id that is the same in all rounds of a call, made for whoever asks first."""
        with _NAMING:  # a handler's threads may ask at the same time
            if not self._attempt:
                self._attempt = secrets.token_hex(8)
        return self._attempt

    def find(self, question: Question, *, strict: bool) -> Any:
        """What was answered to a question, as its handler is given it.

        :param strict: only an answer to this very question counts.
        :raises Unfit: where nothing was, or what does not fit.
        :raises Unanswerable: where the client refused to ask, or never answered with what fits.
        """
        known = (question.key, question.digest())
        if known not in self.known:
            if (strict and not self._trusted) or question.key not in self.loose:
                raise Unfit
            self.known[known] = self.loose[question.key]
            if not self._trusted:
                # Taken for this question as it is asked now, and for no other one from here on.
                del self.loose[question.key]
        raw = self.known[known]
        if isinstance(raw, dict) and set(raw) == {REFUSED}:
            raise Unanswerable(f"The user could not be asked: {raw[REFUSED]}")
        try:
            return question.answer(raw)
        except Unfit:
            if self._tries.get(known, 0) < MAX_TRIES:
                raise
            words = f"The client's answers to the question {question.key!r} do not fit it: call again."
            raise Unanswerable(words) from None

    def extended(self, questions: Iterable[Question], given: Mapping[str, object]) -> Answers:
        """These answers, and what was given to the questions that were open, by their keys."""
        more = {(one.key, one.digest()): given[one.key] for one in questions if one.key in given}
        tries = {**self._tries, **{asked: self._tries.get(asked, 0) + 1 for asked in more}}
        later = Answers({**self.known, **more}, attempt=self.attempt(), tries=tries, round_=secrets.token_hex(16))
        later.progressed = self.progressed
        return later


class Asked:
    """A call that stands at questions, and goes on when they are answered.

    :ivar questions: those that are open.
    :ivar answers: the answers so far.
    """

    __slots__ = ("answers", "questions")

    def __init__(self, questions: Sequence[Question], answers: Answers) -> None:
        self.questions = questions
        self.answers = answers


WhyNot: TypeAlias = Callable[[Question], Exception | None]
"""Why a question cannot be asked: an `Unanswerable` is raised in the handler, any other error answers the call."""


def never(question: Question) -> Exception | None:
    """No reason: it can be asked."""
    return None


def declared(capabilities: Mapping[str, Any], path: Sequence[str]) -> bool:
    """Whether a client declared a capability. One that says nothing of forms and pages can draw forms."""
    here: object = capabilities
    for depth, name in enumerate(path):
        if not isinstance(here, dict) and not (depth == 0 and isinstance(here, Mapping)):
            return False
        if depth and name == "form" and not {"form", "url"} & here.keys():
            return True
        if name not in here:
            return False
        here = here[name]
    return True


def find_all(
    questions: Sequence[Question], answers: Answers, *, strict: bool
) -> tuple[list[Any], list[Question], Exception | None]:
    """The answers to questions that are asked together, those that are open, and what a handler must be told."""
    found: list[Any] = []
    open_: list[Question] = []
    find = partial(answers.find, strict=strict)
    for question in questions:
        answer = attempt(find, question)
        if not isinstance(answer, Failure):
            found.append(answer)
        elif isinstance(answer.error, Unfit):
            open_.append(question)
        else:
            return found, open_, answer.error
    return found, open_, None
