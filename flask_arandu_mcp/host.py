"""What only the application around a server can do, as one small port. The door asks it, and one module per framework
answers; `PlainHost` answers for plain Python."""

from __future__ import annotations

import inspect
import logging
import secrets
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

from werkzeug.exceptions import HTTPException, NotFound
from werkzeug.http import HTTP_STATUS_CODES

from .sealing import Sealer
from .typing import JSONObject

T = TypeVar("T")

logger = logging.getLogger("flask_arandu_mcp")


class Refusal:
    """What an application says when it refuses: an HTTP status, a sentence for the model, and its API's own JSON."""

    __slots__ = ("envelope", "status", "words")

    def __init__(self, status: int, words: str, envelope: JSONObject | None = None) -> None:
        self.status = status
        self.words = words
        self.envelope = envelope


class Host(Protocol):
    """The application around a server."""

    @property
    def sealer(self) -> Sealer | None:
        """Signs what goes out and must come back; None where the app has no key."""
        ...

    def run(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A coroutine function as one that is called and waited for."""
        ...

    def explain(self, error: HTTPException) -> Refusal | None:
        """A refusal in the application's words; None for what is no refusal but a fault of the server (5xx)."""
        ...

    def report(self, error: Exception, culprit: str) -> str:
        """Log an unexpected exception where the app's operator looks, and return the ref it can be found by."""
        ...

    def again(self, subject: Any, ask: Callable[[Any], T]) -> T | None:
        """Ask something of the subject as it is now, not as it was when the call began; None where it is gone."""
        ...

    def step_up(self, scopes: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """The HTTP headers that tell a client which scopes its token lacks."""
        ...

    def count(self, limits: str, name: str, subject: Any, round_: str = "") -> str:
        """Count a use of a declaration; empty, or words that say when to come back, where it was one too many.

        :param name: the declaration's kind and name, such as `tool/add`.
        :param round_: names a later round of one use, which is no other use the first time that it is seen.
        """
        ...


class PlainHost:
    """The port's answers where no framework is around."""

    sealer: Sealer | None = None

    def run(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A coroutine function, run in an event loop of its own."""
        import asyncio  # 20 ms of import that an app without coroutines need not pay

        return lambda *args, **kwargs: asyncio.run(function(*args, **kwargs))

    def explain(self, error: HTTPException) -> Refusal | None:
        """A refusal as its status, its name and its description."""
        return explain(error)

    def report(self, error: Exception, culprit: str) -> str:
        """Log the exception with its traceback under a new ref."""
        ref = new_ref()
        logger.error("%s failed (ref %s)", culprit, ref, exc_info=error)
        return ref

    def again(self, subject: Any, ask: Callable[[Any], T]) -> T | None:
        """Ask the same object, as nothing here could load another one."""
        return ask(subject)

    def step_up(self, scopes: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """No headers, as there is no HTTP."""
        return ()

    def count(self, limits: str, name: str, subject: Any, round_: str = "") -> str:
        """Count nothing, as there is nowhere to keep it."""
        return ""


def explain(error: HTTPException) -> Refusal | None:
    """A refusal as its status, its name and its description; None for what is no refusal."""
    status = error.code if error.response is None else error.response.status_code
    if status is None or not 300 <= status < 500:
        return None
    if status < 400:
        return Refusal(status, "401 Unauthorized: sign in first.")
    name = HTTP_STATUS_CODES.get(status, "Refused")
    # What werkzeug says by itself of a 404 speaks of URLs, and of typing them.
    said = error.description if error.description != NotFound.description else None
    return Refusal(status, f"{status} {name}: {said}" if said else f"{status} {name}")


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether calling a function gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - asks what calling gives, not whether it can be called
    )


def new_ref() -> str:
    """A short random name for one failure, to be found in the log."""
    return secrets.token_hex(4)
