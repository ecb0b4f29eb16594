"""Proof that somebody decided. A `Grant` is made by asking a policy, and in no other way; what a call may do to the
data can then be made to depend on one having been made in it."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Concatenate, Final, NoReturn, ParamSpec, TypeVar, TypeVarTuple, final

from werkzeug.exceptions import Forbidden

P = ParamSpec("P")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")

logger = logging.getLogger("flask_arandu_mcp.grants")
_NOT_GIVEN: Final[Any] = object()


class GrantRequired(Exception):
    """Something was asked of the data before anything had allowed it; says what, and what to do."""


@final
class Grant:
    """Says that a policy let a subject do an action. Only :func:`authorize` and :func:`system_grant` make one.

    :ivar subject: who may; None where no policy was asked.
    :ivar action: what they may do.
    :ivar resource: to what, or None.
    :ivar reason: why no policy was asked; empty where one was.
    """

    __slots__ = ("action", "reason", "resource", "subject")

    subject: Any
    action: str
    resource: Any
    reason: str

    def __new__(cls, *args: object, **kwargs: object) -> Grant:
        """Refuse: what anybody could make would prove nothing."""
        raise TypeError(
            "A Grant is made by asking a policy, and in no other way: call authorize(policy, subject, action)."
        )

    def __init_subclass__(cls) -> None:
        raise TypeError("A Grant cannot be subclassed: call authorize(policy, subject, action), which makes one.")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A Grant cannot be changed: make another one with authorize().")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A Grant cannot be changed: make another one with authorize().")

    def __repr__(self) -> str:
        return f"<Grant {self.action!r}{f' (system: {self.reason})' if self.reason else ''}>"

    def __reduce__(self) -> str:
        raise TypeError(
            "A Grant cannot be copied or stored, as it holds for its call alone: make another one with authorize()."
        )


class Ledger:
    """What was granted in one call.

    It is entered for each stretch of the call that is watched, and left after it, so that nothing is watched while a
    handler waits. Threads and tasks that take the context variables along share it.

    :ivar granted: a Grant was made.
    :ivar deciding: a policy is being asked, which may read.
    :ivar refused: what was asked for before, which refuses the answer even where a handler swallowed it.
    """

    __slots__ = ("deciding", "granted", "refused")

    def __init__(self, *, deciding: bool = False) -> None:
        self.granted = False
        self.deciding = deciding
        self.refused: GrantRequired | None = None

    def watch(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Call code of the app, with an eye on what it asks of the data."""
        token = watcher.set(self)
        try:
            return function(*args)
        finally:
            watcher.reset(token)

    def decide(self, policy: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Ask a policy, which may read what it decides by. What it is granted for that itself counts no further."""
        if self.granted:
            return policy(*args, **kwargs)
        within = Ledger(deciding=True)
        try:
            return within.watch(lambda: policy(*args, **kwargs))
        finally:
            self.refused = self.refused or within.refused

    def refuse(self, what: str) -> NoReturn:
        """Refuse what comes before any Grant, and remember it.

        :raises GrantRequired: always.
        """
        error = GrantRequired(
            f"{what} before anything had allowed it: call authorize(policy, subject, action) first, or "
            "system_grant(action, reason) where no policy can be asked."
        )
        self.refused = self.refused or error
        raise error


watcher: ContextVar[Ledger | None] = ContextVar("flask_arandu_mcp.ledger", default=None)
"""The account of the call that code of the app runs for now; None outside of any."""


def ungranted() -> Ledger | None:
    """The ledger of the call that is watched, where nothing was granted in it yet."""
    ledger = watcher.get()
    return None if ledger is None or ledger.granted else ledger


def unwatched(function: Callable[[*Ts], T], *args: *Ts) -> T:
    """Call what is not on the account of the call around it: a call within a call, which is watched by itself."""
    if watcher.get() is None:
        return function(*args)
    token = watcher.set(None)
    try:
        return function(*args)
    finally:
        watcher.reset(token)


def authorize(policy: Callable[..., bool], subject: Any, action: str, resource: Any = _NOT_GIVEN) -> Grant:
    """Ask a policy, and return the proof that it said yes.

    :param policy: called with the subject, and with the resource where one is given. What it raises is raised.
    :param action: what "You may not …" is followed by, such as `list posts`.
    :raises Forbidden: where it answers anything but True.
    """
    if resource is _NOT_GIVEN:
        return _ask(action, policy, subject)
    return _ask(action, policy, subject, resource)


def granting(
    action: str,
) -> Callable[[Callable[Concatenate[Any, P], bool]], Callable[Concatenate[Any, P], Grant]]:
    """Make a policy that an app already has return a :class:`Grant`, or raise Forbidden.

    :param action: what "You may not …" is followed by, such as `edit this post`.
    """

    def decorate(policy: Callable[Concatenate[Any, P], bool]) -> Callable[Concatenate[Any, P], Grant]:
        @functools.wraps(policy)
        def ask(subject: Any, /, *args: P.args, **kwargs: P.kwargs) -> Grant:
            return _ask(action, policy, subject, *args, **kwargs)

        return ask

    return decorate


def system_grant(action: str, reason: str, *, level: int = logging.WARNING) -> Grant:
    """Grant an action without asking a policy: the one escape, which is logged with its reason.

    :param level: how loudly it is logged; lower where it is the rule and no exception.
    """
    if not reason.strip():
        raise ValueError(f"system_grant({action!r}) needs a reason: say why no policy is asked.")
    logger.log(level, "system grant: %s (%s)", action, reason)
    return _grant(None, action, None, reason)


def _ask(
    action: str, policy: Callable[Concatenate[Any, P], bool], subject: Any, *args: P.args, **kwargs: P.kwargs
) -> Grant:
    ledger = watcher.get()
    answer = policy(subject, *args, **kwargs) if ledger is None else ledger.decide(policy, subject, *args, **kwargs)
    if answer is not True:
        if answer is not False:
            name = getattr(policy, "__name__", policy)
            logger.error("the policy %r answered a %s; it must answer a bool", name, type(answer).__name__)
        raise Forbidden(f"You may not {action}.")
    resources = (*args, *kwargs.values())
    return _grant(subject, action, resources[0] if resources else None, "")


def _grant(subject: Any, action: str, resource: Any, reason: str) -> Grant:
    made: Grant = object.__new__(Grant)
    for name, value in (("subject", subject), ("action", action), ("resource", resource), ("reason", reason)):
        object.__setattr__(made, name, value)
    ledger = watcher.get()
    if ledger is not None:
        ledger.granted = True
    return made
