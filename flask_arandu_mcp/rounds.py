"""The rounds of a call that asks: what a client brings back is checked against what it was asked, and a new round
begins. In the stateless era all that is known goes out, signed, and comes back."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .answers import Answer
from .asking import REFUSED, Answers, Asked, Question
from .caller import Caller
from .elicitation import known_as
from .errors import INVALID_PARAMS, ProtocolError
from .jsonrpc import Call, Reply
from .revisions import Revision
from .typing import JSONObject
from .writing import encode

PURPOSE = "state"
ASKING = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The methods that may ask, and the member that says what is called (2026-07-28, basic/patterns/mrtr)."""

BROUGHT = frozenset({"inputResponses", "requestState"})
"""The params by which a request of the stateless era brings back answers of earlier rounds."""


def answers_of(server: str, call: Call, caller: Caller, now: float | None = None) -> Answers:
    """What a request of the stateless era brings back of earlier rounds.

    :raises ProtocolError: -32602 for answers that are no object, and for a state that was altered, is another
        call's or another subject's, or is too old.
    """
    given = call.params.get("inputResponses")
    if given is not None and not isinstance(given, dict):
        raise ProtocolError(INVALID_PARAMS, "params.inputResponses must be an object of keys and results.", status=400)
    sealed = call.params.get("requestState")
    if sealed is None:
        return Answers(loose=given)
    state = caller.host.sealer.open(PURPOSE, sealed) if caller.host.sealer and isinstance(sealed, str) else None
    if not isinstance(state, dict) or state.get("call") != _call_of(server, call, caller):
        raise ProtocolError(
            INVALID_PARAMS, "params.requestState is not the state of this call: call again without it.", status=400
        )
    if state["until"] < (time.time() if now is None else now):
        raise ProtocolError(INVALID_PARAMS, "params.requestState is too old: call again without it.", status=400)
    known = {(key, digest): raw for key, digest, raw in state["known"]}
    known |= {(key, digest): given[key] for key, digest in state["open"] if given and key in given}
    # Named after what was signed, so that who sends one state twice has begun one round twice.
    name = _digest(state) if len(known) > len(state["known"]) else ""
    return Answers(known, attempt=state["attempt"], round_=name)


def ask(server: str, call: Call, caller: Caller, asked: Asked) -> Answer:
    """The result that asks the client, and holds all that the next round needs to know."""
    sealer = caller.host.sealer
    assert sealer is not None  # without one, nothing is asked
    state = {
        "call": _call_of(server, call, caller),
        "until": int(time.time()) + caller.terms.ask_timeout,
        "attempt": asked.answers.attempt(),
        "known": [[key, digest, raw] for (key, digest), raw in asked.answers.known.items()],
        "open": [[question.key, question.digest()] for question in asked.questions],
    }
    requests: JSONObject = {one.key: {"method": one.method, "params": one.params} for one in asked.questions}
    members = f'"inputRequests":{encode(requests)},"requestState":{encode(sealer.seal(PURPOSE, state))}'
    return Answer(members, type="input_required")


def _call_of(server: str, call: Call, caller: Caller) -> list[str | None]:
    """All that a state belongs to, so that it is worth nothing to another call."""
    subject_id = getattr(caller.subject, "get_id", lambda: None)()
    subject = None if subject_id is None else str(subject_id)
    arguments = _digest(call.params.get("arguments") or {})
    name = call.params.get(ASKING.get(call.method, ""))
    return [server, subject, call.method, str(name), arguments, caller.revision.name]


def _digest(value: Any) -> str:
    # Not as messages are written: what came in may hold a number that overflowed, which is refused at its own place.
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


class Waiting(NamedTuple):
    """A call of the handshake era that goes on when its client has answered.

    :ivar questions: what was sent, by the ids that the answers come back under.
    :ivar answers: the answers of earlier rounds.
    :ivar revision: what the client speaks.
    """

    questions: Mapping[str, Question]
    answers: Answers
    revision: Revision

    @classmethod
    def at(cls, asked: Asked, revision: Revision) -> Waiting:
        """A call that stands at questions, each under a random id."""
        return cls({secrets.token_urlsafe(16): question for question in asked.questions}, asked.answers, revision)

    def answered(self, replies: Mapping[str, Reply]) -> Answers:
        """What is known once the client has answered each question, with a result or with an error."""
        given = {self.questions[id].key: _given(reply) for id, reply in replies.items()}
        return self.answers.extended(list(self.questions.values()), given)


def _given(reply: Reply) -> object:
    if reply.error is None:
        return reply.result
    message = reply.error.get("message") if isinstance(reply.error, dict) else None
    return {REFUSED: str(message or "the client refused: call again where it can.")}


def requests(waiting: Waiting) -> Sequence[tuple[str, str, JSONObject]]:
    """The requests that a client of the handshake era is sent: their ids, methods and params."""
    found = []
    for id, question in waiting.questions.items():
        known = known_as(question.method, question.params, waiting.revision)
        assert known is not None  # the era asks nothing that the revision has not
        params = dict(known)
        if params.get("mode") == "url":
            params["elicitationId"] = id  # what 2025-11-25 tells a page by, and later revisions do without
        found.append((id, question.method, params))
    return found
