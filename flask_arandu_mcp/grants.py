"""Proof that somebody decided. A `Grant` is made by asking a policy, and in no other way; what a call may do to the
data can then be made to depend on one having been made in it."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from werkzeug.exceptions import Forbidden

Policy = Callable[..., Any]

logger = logging.getLogger("flask_arandu_mcp.grants")
_MAKER: Final = object()


class GrantRequired(Exception):
    """Something was asked of the data before anything had allowed it; says what, and what to do."""


class Grant:
    """Says that a policy let a subject do an action. Only :func:`authorize` and :func:`system_grant` make one.

    :ivar subject: who may.
    :ivar action: what they may do.
    :ivar resource: to what, or None.
    :ivar reason: why no policy was asked; empty where one was.
    """

    __slots__ = ("action", "reason", "resource", "subject")

    subject: Any
    action: str
    resource: Any
    reason: str

    def __init__(self, maker: object, subject: Any, action: str, resource: Any = None, reason: str = "") -> None:
        if maker is not _MAKER:
            raise TypeError("A Grant is made by authorize(policy, subject, action) alone, which asks the policy.")
        for name, value in (("subject", subject), ("action", action), ("resource", resource), ("reason", reason)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A Grant cannot be changed: make another one with authorize().")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A Grant cannot be changed: make another one with authorize().")

    def __repr__(self) -> str:
        return f"<Grant {self.action!r}{f' (system: {self.reason})' if self.reason else ''}>"

    def __reduce__(self) -> str:
        raise TypeError("A Grant cannot be copied or stored: it holds for the call that it was made in.")


class Ledger:
    """What was granted in one call.

    :ivar granted: a Grant was made.
    :ivar refused: what was asked for before, which refuses the answer even when a handler swallowed it.
    """

    __slots__ = ("granted", "refused")

    def __init__(self) -> None:
        self.granted = False
        self.refused: GrantRequired | None = None


_ledger: ContextVar[Ledger | None] = ContextVar("flask_arandu_mcp.ledger", default=None)


def authorize(policy: Policy, subject: Any, action: str, resource: Any = None) -> Grant:
    """Ask a policy, and return the proof that it said yes.

    :param policy: called with the subject, and with the resource where there is one. What it raises is raised.
    :raises Forbidden: where it answers anything but True.
    """
    ledger = _ledger.get()
    # What a policy reads to decide is not yet what the decision is about.
    with _unwatched():
        answer = policy(subject) if resource is None else policy(subject, resource)
    if answer is not True:
        if answer is not False:
            name = getattr(policy, "__name__", policy)
            logger.error("the policy %r answered a %s; it must answer a bool", name, type(answer).__name__)
        raise Forbidden(f"You may not {action} this.")
    if ledger is not None:
        ledger.granted = True
    return Grant(_MAKER, subject, action, resource)


def granting(action: str) -> Callable[[Callable[..., bool]], Callable[..., Grant]]:
    """Make a policy function that an app already has return a :class:`Grant`, or raise Forbidden."""

    def decorate(policy: Callable[..., bool]) -> Callable[..., Grant]:
        @functools.wraps(policy)
        def ask(subject: Any, resource: Any = None) -> Grant:
            return authorize(policy, subject, action, resource)

        return ask

    return decorate


def system_grant(action: str, reason: str) -> Grant:
    """Grant an action without asking a policy: the one escape, which is logged with its reason."""
    if not reason.strip():
        raise ValueError("system_grant() needs a reason: say why no policy is asked.")
    logger.warning("system grant: %s (%s)", action, reason)
    ledger = _ledger.get()
    if ledger is not None:
        ledger.granted = True
    return Grant(_MAKER, None, action, None, reason)


def watch() -> Callable[[], Ledger]:
    """Begin to watch a call; what is returned ends it, and gives what was granted."""
    ledger = Ledger()
    token = _ledger.set(ledger)

    def end() -> Ledger:
        _ledger.reset(token)
        return ledger

    return end


@contextmanager
def _unwatched() -> Iterator[None]:
    token = _ledger.set(None)
    try:
        yield
    finally:
        _ledger.reset(token)


def require(what: str) -> None:
    """Refuse what is about to be done, in a call that is watched and in which nothing was granted.

    :raises GrantRequired: and remembers it, so that the answer of the call is refused too.
    """
    ledger = _ledger.get()
    if ledger is None or ledger.granted:
        return
    ledger.refused = GrantRequired(
        f"{what} before anything had allowed it: call authorize(policy, subject, action) first, or "
        "system_grant(action, reason) where no policy can be asked."
    )
    raise ledger.refused
