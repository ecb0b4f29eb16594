"""Whether what a client was told is a refusal: the decision of a policy, a limit, a scope or the app's own code, and no
fault of the arguments or of the server. What is told on the wire decides, as it does for a client."""

from __future__ import annotations

import json
import re

from ..errors import attempt
from ..troubles import is_sign_in
from .exchange import REF, Exchange

_STATUS = re.compile(r"([34]\d\d)\b")
_OF_THE_REQUEST = frozenset({400, 413, 415, 422})
"""Statuses that say that the request was wrong, whoever sent it."""

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
    return bool(status) and status not in _OF_THE_REQUEST


def _refused_with(exchange: Exchange, text: str) -> int:
    """The HTTP status that an error stands for; 0 for none."""
    error = exchange.last.get("error")
    if isinstance(error, dict):
        return 404 if is_nowhere(text) else _status(error.get("code"))
    if "result" not in exchange.last:
        return _status(exchange.status)
    told = _STATUS.match(text)
    if told is not None:
        return int(told[1])
    envelope = attempt(json.loads, text)
    if not isinstance(envelope, dict):
        return 0
    # The app's own JSON need not say its status; that it is there says that the app refused.
    return next((status for value in envelope.values() if (status := _status(value))), 403)


def _status(value: object) -> int:
    return value if type(value) is int and 300 <= value < 500 else 0
