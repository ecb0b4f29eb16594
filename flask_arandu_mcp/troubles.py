"""Why a call was not answered, in words that may leave the server. Whatever an app raises becomes a `Trouble`, or what
the protocol has for it."""

from __future__ import annotations

import re

from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from .arguments import ArgumentFaults, faults_of
from .caller import Caller
from .errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError, ToolError, let_go
from .limits import MAX_FAULTS
from .policies import signed_in
from .typing import JSONObject

_SIGN_IN = re.compile(r"log-?in|sign-?in|auth", re.IGNORECASE)

NOT_FOUND = 404
FORBIDDEN = 403
TOO_MANY = 429


class Trouble(Exception):
    """Why a call was not answered, in words for the caller.

    :ivar words: what the caller is told.
    :ivar status: an HTTP status, where it is a refusal.
    :ivar ref: where it is found in the log, when it is the server's fault.
    :ivar faults: what is wrong with the arguments, when it is the caller's.
    :ivar envelope: the app's own JSON for the refusal, where it has any.
    """

    def __init__(
        self,
        words: str,
        *,
        status: int = 0,
        ref: str = "",
        faults: tuple[str, ...] = (),
        envelope: JSONObject | None = None,
    ) -> None:
        super().__init__(words)
        self.words = words
        self.status = status
        self.ref = ref
        self.faults = faults
        self.envelope = envelope

    @property
    def outcome(self) -> str:
        """The word for it in the audit trail."""
        if self.faults:
            return "invalid"
        return "refused" if self.status else "failed" if self.ref else "error"


def trouble(error: Exception, culprit: str, caller: Caller) -> Trouble:
    """What a handler, a service or a schema raised, in words for the caller."""
    told = error if isinstance(error, Trouble) else _told(error, caller)
    if told is not None:
        let_go(error)
        return told
    ref = caller.host.report(error, repr(culprit))
    return Trouble(f"Internal error (ref {ref}).", ref=ref)


def _told(error: Exception, caller: Caller) -> Trouble | None:
    """What is meant for the caller; None for what is for the log alone."""
    if isinstance(error, ToolError):
        return Trouble(str(error))
    if isinstance(error, ArgumentFaults):
        return Trouble(listed(error.faults), faults=error.faults)
    if isinstance(error, ValidationError):
        faults = faults_of(error)
        return Trouble(listed(faults), faults=faults)
    if isinstance(error, HTTPException):
        refusal = caller.host.explain(error)
        if refusal is not None and refusal.status < 400 and signed_in(caller.subject) and not _leads_to_sign_in(error):
            return Trouble("403 Forbidden: the application leads elsewhere.", status=FORBIDDEN)
        if refusal is not None:
            return Trouble(refusal.words, status=refusal.status, envelope=refusal.envelope)
    return None


def _leads_to_sign_in(error: HTTPException) -> bool:
    location = (error.response or error.get_response()).headers.get("Location", "")
    return is_sign_in(location)


def is_sign_in(location: str) -> bool:
    """Whether a redirect leads to where one signs in, so that it says no to a guest."""
    return _SIGN_IN.search(location) is not None


def listed(faults: tuple[str, ...]) -> str:
    """Faults of arguments, one a line; of very many the first, since an answer must not outgrow its question."""
    lines = [f"- {fault}" for fault in faults[:MAX_FAULTS]]
    more = len(faults) - len(lines)
    return "\n".join(["Invalid arguments:", *lines, *([f"- and {more} more."] if more else [])])


def unknown(kind: str, name: object) -> ProtocolError:
    """The error for a name that leads nowhere, and for one that must seem to."""
    return ProtocolError(INVALID_PARAMS, f"Unknown {kind}: {name!r}. The list has those that there are.")


def as_error(trouble: Trouble) -> ProtocolError:
    """A trouble where there is no tool to be in error: the code is the HTTP status of a refusal."""
    if trouble.faults:
        return ProtocolError(INVALID_PARAMS, trouble.words)
    data: JSONObject = {"ref": trouble.ref} if trouble.ref else dict(trouble.envelope or {})
    return ProtocolError(trouble.status or INTERNAL_ERROR, trouble.words, data or None)
