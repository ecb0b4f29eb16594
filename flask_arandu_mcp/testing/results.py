"""What came of a call, and what a test may say of it. Each assertion gives the result back, so that several can be said
in one line; one that fails says who called what, what was expected, what came, and where to look."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from ..typing import JSONObject
from .about import About, shortened
from .exchange import Exchange
from .questions import Question
from .refusals import broke, is_refusal, is_stranger

_SHOWN = 1000


class Step(NamedTuple):
    """How far a call said that it was."""

    progress: float
    total: float | None = None
    message: str = ""


class Result:
    """What came of a call.

    :ivar status: the HTTP status.
    :ivar headers: the names and values of the HTTP headers, of every response.
    :ivar received: every message that came, in order, as JSON objects; the answer is the last one.
    :ivar questions: what the user was asked.
    :ivar raised: the exceptions that broke something on the way, which no client is told of.
    """

    def __init__(self, exchange: Exchange, about: About) -> None:
        self._exchange = exchange
        self._about = about
        self.status = exchange.status
        self.headers: Sequence[tuple[str, str]] = tuple(exchange.headers)
        self.received: Sequence[JSONObject] = tuple(exchange.messages)
        self.questions: Sequence[Question] = tuple(exchange.questions)
        self.raised: Sequence[BaseException] = tuple(exchange.raised)

    def __repr__(self) -> str:
        outcome = "error" if self.is_error else "ok"
        return f"<{type(self).__name__} of {self._about.words}: {outcome}, {shortened(self.text, 80)!r}>"

    @property
    def error(self) -> Mapping[str, Any] | None:
        """The JSON-RPC error, where the call was answered with one; a tool's own errors are results."""
        error = self._exchange.last.get("error")
        return error if isinstance(error, dict) else None

    @property
    def result(self) -> Mapping[str, Any]:
        """The JSON-RPC result; empty where there is none."""
        result = self._exchange.last.get("result")
        return result if isinstance(result, dict) else {}

    @property
    def is_error(self) -> bool:
        """Whether the call was refused, or failed."""
        return "result" not in self._exchange.last or bool(self.result.get("isError"))

    @property
    def text(self) -> str:
        """What a model reads of the answer, errors included."""
        if self.error is not None:
            return str(self.error.get("message", ""))
        return self._text() if self._exchange.last else self._exchange.body

    def _text(self) -> str:
        """What a model reads of an answer of this kind."""
        raise NotImplementedError

    @property
    def notifications(self) -> Sequence[JSONObject]:
        """What was told while the call worked, progress included."""
        return [message for message in self.received if "method" in message and "id" not in message]

    @property
    def progress(self) -> Sequence[Step]:
        """How far the call said that it was, step by step."""
        told: list[Any] = [one["params"] for one in self.notifications if one["method"] == "notifications/progress"]
        return [Step(each["progress"], each.get("total"), each.get("message", "")) for each in told]

    def assert_ok(self) -> Self:
        """The call was answered, and not with an error."""
        __tracebackhide__ = True
        if self.is_error:
            raise self._failure("should have been answered, and was an error")
        return self

    def assert_refused(self, match: str | re.Pattern[str] = "") -> Self:
        """The call was refused: by a policy, a limit, a scope or the app's own code.

        What failed for another reason, such as wrong arguments, a name that is not declared or code that broke, was
        not refused.

        :param match: a regular expression that is found in what the caller is told.
        """
        __tracebackhide__ = True
        why_not = self._why_no_refusal()
        if why_not:
            raise self._failure(f"should have been refused, and {why_not}")
        return self._assert_match("refused", match)

    def assert_error(self, match: str | re.Pattern[str]) -> Self:
        """The call was answered with an error, of whatever kind.

        :param match: a regular expression that is found in what the caller is told.
        """
        __tracebackhide__ = True
        if not self.is_error:
            raise self._failure("should have been an error, and was answered")
        return self._assert_match("an error", match)

    def assert_sees(self, *texts: str) -> Self:
        """Each of the texts is somewhere in what came: see :meth:`assert_does_not_see`."""
        __tracebackhide__ = True
        for text in _given("assert_sees", texts):
            if not any(text in piece for _, piece in self._exchange.texts()):
                raise self._failure(f"should have shown {text!r}, which is in nothing that came")
        return self

    def assert_does_not_see(self, *texts: str) -> Self:
        """None of the texts is in anything that came: the answer, errors, data and the names in it, progress and other
        notifications, questions, headers, what is JSON within a text, and what is in Base64.

        It fails where nothing could come: of a name that is not declared, or to a user whom the app does not find.
        """
        __tracebackhide__ = True
        sought = _given("assert_does_not_see", texts)
        why_nothing = self._why_unasked()
        if why_nothing:
            raise self._failure(f"should have been kept from showing something, and {why_nothing}")
        for text in sought:
            for where, piece in self._exchange.texts():
                if text in piece:
                    came = piece[max(0, piece.index(text) - _SHOWN // 10) :]
                    raise self._failure(f"should not have shown {text!r}, and did, in {where}", came)
        return self

    def assert_asked(self, *keys: str) -> Self:
        """The user was asked these questions, in this order, and no others; without a key, nothing."""
        __tracebackhide__ = True
        asked = [question.key for question in self.questions]
        if asked != list(keys):
            expected, came = (", ".join(map(repr, each)) or "nothing" for each in (keys, asked))
            raise self._failure(f"should have asked {expected}, and asked {came}")
        return self

    def _assert_match(self, what: str, match: str | re.Pattern[str]) -> Self:
        __tracebackhide__ = True
        if not re.search(match, self.text):
            pattern = match if isinstance(match, str) else match.pattern
            literally = "; it is there literally: give re.escape() of it" if pattern in self.text else ""
            raise self._failure(f"should have been {what} with words that match {pattern!r}{literally}, and says")
        return self

    def _why_no_refusal(self) -> str:
        """Why what came is no refusal; empty where it is one."""
        if not self.is_error:
            return "was answered"
        why_unasked = self._why_unasked()
        if why_unasked:
            return why_unasked
        if broke(self.text):
            return "broke, which is nobody's decision"
        return "" if is_refusal(self._exchange, self.text) else "failed for another reason"

    def _why_unasked(self) -> str:
        """Why nobody was asked for anything that there is; empty where somebody was."""
        if self.is_error and self._about.is_unknown:
            return "is not declared at all, so that nothing refused it"
        if self.is_error and self._about.is_user and is_stranger(self.text):
            return f"was not even asked for, since the app's {self._about.loader} did not find the user"
        return ""

    def _failure(self, expected: str, came: str | None = None) -> AssertionError:
        told = shortened(self.text if came is None else came, _SHOWN) or "(nothing)"
        status = f"HTTP {self.status}: " if self.status >= 400 else ""
        lines = "\n".join(f"    {line}" for line in f"{status}{told}".splitlines())
        advice = self._about.advice(self.text, self.status, self.raised)
        failure = AssertionError(f"{self._about.words} {expected}:\n{lines}" + (f"\n{advice}" if advice else ""))
        # Shown above the failure, with the traceback that only the app's log has otherwise.
        failure.__cause__ = self.raised[-1] if self.raised else None
        return failure

    def _members(self, name: str) -> Sequence[Mapping[str, Any]]:
        """A list that only an answer has."""
        __tracebackhide__ = True
        self.assert_ok()
        found: Sequence[Mapping[str, Any]] = self.result.get(name, [])
        return found


def _given(assertion: str, texts: Sequence[str]) -> Sequence[str]:
    if not texts or not all(texts):
        raise ValueError(f"{assertion}() was given no text to look for, and could not fail: give it one.")
    return texts
