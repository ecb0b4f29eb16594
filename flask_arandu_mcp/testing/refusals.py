"""Whether what a client was told is a refusal: the decision of a policy, a limit, a scope or the app's own code, and no
fault of the arguments or of the server. What is told on the wire decides, and of a tool the audit trail, too."""

from __future__ import annotations

import json
import re

from ..errors import attempt
from ..troubles import is_sign_in
from .exchange import REF, Exchange

_STATUS = re.compile(r"([34]\d\d)\b")
_REFUSALS = frozenset({401, 403, 404, 429})
"""Statuses that say no to somebody; the others say that the request, or what it met, was wrong, whoever sent it."""

_STATUS_NAMES = ("status", "code", "status_code")
"""Where the JSON of an error says its status."""

_ELSEWHERE = re.compile(r"sends a browser on to (.*) instead of answering")
_STRANGER = re.compile(r"401 Unauthorized: The (session|token) is not valid")
_NOWHERE = re.compile(r"Unknown |Resource not found: ")


def broke(text: str) -> bool:
    """Whether a client was told that something broke, with the ref that the log has it under."""
    return REF.search(text) is not None


def is_nowhere(text: str) -> bool:
    """Whether a client was told that there is no such thing, as it is of what a policy conceals."""
    return _NOWHERE.match(text) is not None


def is_stranger(text: str) -> bool:
    """Whether a client was told that the app does not know who shows a session or a token, whatever they ask for."""
    return _STRANGER.match(text) is not None


def is_refusal(exchange: Exchange, text: str) -> bool:
    """Whether an error is a refusal.

    :param text: what the client was told.
    """
    elsewhere = _ELSEWHERE.search(text)
    if elsewhere is not None and not is_sign_in(elsewhere[1]):
        return False  # what was done may lead on, too
    status = _refused_with(exchange, text)
    return status in _REFUSALS or 300 <= status < 400


def _refused_with(exchange: Exchange, text: str) -> int:
    """The HTTP status that an error stands for; 0 for none."""
    error = exchange.last.get("error")
    if isinstance(error, dict):
        return 404 if is_nowhere(text) else _status(error.get("code"))
    if "result" not in exchange.last:
        return _status(exchange.status)
    if exchange.outcomes[-1:] != ["refused"]:
        return 0  # a handler's own words, whatever they look like
    told = _STATUS.match(text)
    if told is not None:
        return int(told[1])
    envelope = attempt(json.loads, text)
    if not isinstance(envelope, dict):
        return 0
    # The app's own JSON need not say its status; that it is there says that the app refused.
    return next((status for name in _STATUS_NAMES if (status := _status(envelope.get(name)))), 403)


def _status(value: object) -> int:
    return value if type(value) is int and 300 <= value < 500 else 0
