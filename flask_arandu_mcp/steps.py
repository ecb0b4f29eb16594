"""The steps that every call goes through, whatever it calls. They are taken in one order, and what goes wrong at any of
them is put into words that may leave the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, ParamSpec, TypeVar

from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as HTTPResponse

from .asking import Asked
from .caller import Caller
from .catalogue import report_policy
from .declarations.base import Prepared
from .errors import Failure, ProtocolError, attempt
from .playing import Flow, play
from .policies import ADMITTED, Decision, decide
from .request import Request
from .troubles import FORBIDDEN, NOT_FOUND, TOO_MANY, Trouble, trouble

P = ParamSpec("P")
T = TypeVar("T")


def admit(prepared: Prepared, caller: Caller) -> None:
    """Ask the policy, and then the token's scopes and the rate limit, before anything of the call is looked at.

    :raises Trouble: with status 404 for what must seem not to exist, 403 for what is refused, 429 for too often.
    :raises ProtocolError: 403 where the token's scopes do not reach.
    """
    decision = decide(prepared.access, caller.subject)
    if decision is not ADMITTED:
        check(prepared, caller, decision)
    if caller.scopes is not None and (missing := prepared.scopes - caller.scopes):
        words = f"403 Forbidden: the token lacks the scope {' '.join(sorted(missing))!r}: get one that has it."
        raise ProtocolError(FORBIDDEN, words, status=FORBIDDEN, headers=caller.host.step_up(prepared.scopes))
    if prepared.limits:
        name = f"{prepared.kind}/{prepared.name}"
        counted = attempt(caller.host.count, prepared.limits, name, caller.subject, caller.answers.round_)
        if isinstance(counted, Failure):
            ref = caller.host.report(counted.error, f"the limit of {prepared.name!r}")
            raise Trouble(f"Internal error (ref {ref}).", ref=ref)
        if counted:
            raise Trouble(counted, status=TOO_MANY)


def check(prepared: Prepared, caller: Caller, decision: Decision) -> None:
    """Act on what a policy said.

    :raises Trouble: where it did not let the caller in.
    """
    if decision.admitted:
        return
    if decision.concealed:
        raise Trouble("", status=NOT_FOUND)
    if decision.error is None:
        raise Trouble(decision.words, status=FORBIDDEN)
    ref = report_policy(decision, prepared, caller)
    raise Trouble(f"{decision.words} (ref {ref})", status=FORBIDDEN, ref=ref)


def load(prepared: Prepared, caller: Caller, load: Callable[[], Any]) -> Any:
    """Load and check the arguments.

    :raises Trouble: with every fault of the arguments, or where a query was refused.
    """
    loaded = attempt(caller.ledger.watch, load)
    settle(prepared, caller)
    if isinstance(loaded, Failure):
        raise trouble(loaded.error, prepared.name, caller)
    return loaded


def run(prepared: Prepared, caller: Caller, function: Callable[..., T], *args: Any) -> T:
    """Run code of the app that gives an answer, and ask the policy again where the server rechecks.

    :raises Trouble: for whatever was raised, where a query was refused, and where the caller may not have it any more.
    """
    answer: T | Failure[T] = attempt(caller.ledger.watch, function, *args)
    settle(prepared, caller)
    if prepared.recheck:
        recheck(prepared, caller)
    if isinstance(answer, Failure):
        raise trouble(answer.error, prepared.name, caller)
    return answer


def play_out(prepared: Prepared, caller: Caller, call: Callable[[], Any], make: Callable[[Any], T]) -> Flow[T | Asked]:
    """Play a handler that talks while it works, and end as :func:`run` does.

    What comes back is the answer, or the questions at which the handler stands.
    """
    value = yield from play(call, prepared, caller)
    if isinstance(value, Asked):
        settle(prepared, caller)
        if prepared.recheck:
            recheck(prepared, caller, carried_out=False)
        return value
    return run(prepared, caller, _raised if isinstance(value, Failure) else make, value)


def _raised(failure: Failure[Any]) -> NoReturn:
    raise failure.error


_BODIES = (dict, str, HTTPResponse)


def _is_refusal(status: object) -> bool:
    return type(status) is int and 400 <= status < 600


def no_response(value: Any) -> Any:
    """What a handler gave, unless it is a response for a browser.

    :raises HTTPException: for one that refuses.
    :raises TypeError: for any other one, and for data with a status.
    """
    if type(value) is tuple and len(value) > 1 and isinstance(value[0], _BODIES) and _is_refusal(value[1]):
        # As a view would refuse. Taken for data, it would be a success.
        raise TypeError(
            f"the handler gave data and the status {value[1]}, as a view may; raise werkzeug's exception of that "
            "status, return Response.error('...'), or give a list where it is data"
        )
    if not isinstance(value, HTTPResponse):
        return value
    if 300 <= value.status_code < 500:
        raise HTTPException(response=value)
    raise TypeError(
        f"the handler gave a Flask response ({value.status}); give the data itself, such as a dict, and no jsonify()"
    )


def settle(prepared: Prepared, caller: Caller) -> None:
    """Refuse a call that asked something of the data before anything had allowed it, even if it went on without.

    :raises Trouble: where a query was refused.
    """
    if caller.ledger.refused is not None:
        ref = caller.host.report(caller.ledger.refused, repr(prepared.name))
        raise Trouble(f"403 Forbidden: nothing had allowed this (ref {ref}).", status=FORBIDDEN, ref=ref)


def recheck(prepared: Prepared, caller: Caller, *, carried_out: bool = True) -> None:
    """Ask the policy again, as of now, before anything that a handler gave goes out.

    :param carried_out: the handler came to its end, so that what it did is done.
    :raises Trouble: where the subject is gone, or would not be let in any more.
    """
    decision = attempt(caller.host.again, caller.subject, lambda subject: decide(prepared.access, subject))
    if isinstance(decision, Failure):
        decision = Decision(words="403 Forbidden: you are not signed in any more.", error=decision.error)
    if decision is None or decision.concealed:
        decision = Decision(words="403 Forbidden: you may not use this any more.")
    try:
        check(prepared, caller, decision)
    except Trouble as refused:
        words = f"{refused.words} It had been carried out when this was found." if carried_out else refused.words
        raise Trouble(words, status=refused.status, ref=refused.ref) from None


def request_of(caller: Caller, loaded: Any, raw: Mapping[str, object]) -> Request:
    """The request that a handler is given."""
    return Request(
        caller.subject,
        arguments=loaded,
        raw=raw,
        client=caller.peer.client,
        revision=caller.revision.name,
        meta=caller.meta,
        attempt=caller.attempt,
    )
