"""The steps that every call goes through, whatever it calls: it is admitted, its handler runs, and what went wrong is
put into words that may leave the server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response as HTTPResponse

from .arguments import ArgumentFaults, faults_of
from .caller import Caller
from .catalogue import report_policy
from .declarations.base import Prepared
from .errors import Failure, ToolError, attempt
from .policies import decide
from .request import Request

T = TypeVar("T")


class Trouble(Exception):
    """Why a call was not answered, in words for the caller.

    :ivar words: what the caller is told.
    :ivar status: an HTTP status, where it is a refusal.
    :ivar ref: where it is found in the log, when it is the server's fault.
    :ivar faults: what is wrong with the arguments, when it is the caller's.
    """

    def __init__(self, words: str, *, status: int = 0, ref: str = "", faults: tuple[str, ...] = ()) -> None:
        super().__init__(words)
        self.words = words
        self.status = status
        self.ref = ref
        self.faults = faults


NOT_FOUND = 404
FORBIDDEN = 403


def admit(prepared: Prepared, caller: Caller) -> None:
    """Ask the policy, before anything of the call is looked at.

    :raises Trouble: with status 404 for what must seem not to exist, and 403 for what is refused.
    """
    decision = decide(prepared.access, caller.subject)
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

    :raises Trouble: with every fault of the arguments.
    """
    loaded = attempt(load)
    if isinstance(loaded, Failure):
        raise trouble(loaded.error, prepared, caller)
    return loaded


def handle(prepared: Prepared, caller: Caller, call: Callable[[], Any], convert: Callable[[Any], T]) -> T:
    """Run the handler, and turn its value into an answer.

    :raises Trouble: for whatever either of them raised.
    """

    def run() -> T:
        value = call()
        if isinstance(value, HTTPResponse):
            raise HTTPException(response=value)
        return convert(value)

    answer = attempt(run)
    if isinstance(answer, Failure):
        raise trouble(answer.error, prepared, caller)
    return answer


def trouble(error: Exception, prepared: Prepared, caller: Caller) -> Trouble:
    """What a handler, a service or a schema raised, in words for the caller."""
    if isinstance(error, Trouble):
        return error
    if isinstance(error, ToolError):
        return Trouble(str(error))
    if isinstance(error, ArgumentFaults):
        return Trouble(listed(error.faults), faults=error.faults)
    if isinstance(error, ValidationError):
        faults = faults_of(error)
        return Trouble(listed(faults), faults=faults)
    if isinstance(error, HTTPException):
        refusal = caller.host.explain(error)
        if refusal is not None:
            return Trouble(refusal.words, status=refusal.status)
    ref = caller.host.report(error, f"{prepared.name!r}")
    return Trouble(f"Internal error (ref {ref}).", ref=ref)


def listed(faults: tuple[str, ...]) -> str:
    """Faults of arguments, one a line."""
    return "\n".join(["Invalid arguments:", *(f"- {fault}" for fault in faults)])


def request_of(caller: Caller, loaded: Any, raw: Mapping[str, object]) -> Request:
    """The request that a handler is given."""
    return Request(
        caller.subject,
        arguments=loaded,
        raw=raw,
        client=caller.peer.client,
        revision=caller.revision.name,
        meta=caller.meta,
    )
