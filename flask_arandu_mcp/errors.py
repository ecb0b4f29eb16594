"""What can go wrong, as words that every room shares. It holds the exceptions an author meets, the JSON-RPC
error that a message is answered with, and the package's one broad except."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, TypeVarTuple

from .typing import JSONObject

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
Err = TypeVar("Err", bound=Exception)

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
HEADER_MISMATCH = -32020
MISSING_CAPABILITY = -32021
UNSUPPORTED_PROTOCOL_VERSION = -32022


class DeclarationError(ValueError):
    """Lists every mistake found in the declarations of a server.

    :ivar faults: one sentence a mistake; each names the culprit, the rule and the way out.
    """

    def __init__(self, server: str, faults: Iterable[str]) -> None:
        self.server = server
        self.faults = tuple(faults)
        count = len(self.faults)
        head = f"MCP server {server!r} has {count} mistake{'s' if count > 1 else ''} in its declarations:"
        super().__init__("\n".join([head, *(f"  - {fault}" for fault in self.faults)]))


class ToolError(Exception):
    """Tells the model, in these very words, why what it asked for was not done.

    Raise it in a handler or a service for what the model can act on. The text of any other unexpected
    exception never leaves the server.
    """


class ProtocolError(Exception):
    """Answers a message with a JSON-RPC error.

    :ivar code: the JSON-RPC error code, or an HTTP status for what has no code of its own.
    :ivar message: one sentence for whoever reads the client's log.
    :ivar data: the error's `data` member, or None.
    :ivar status: the HTTP status that it must go out with; None leaves that to the era.
    :ivar headers: HTTP headers that it must go out with.
    :cvar anonymous: it names no id, as what is refused before it is read (2026-07-28, transports, Security Warning).
    """

    anonymous = False

    def __init__(
        self,
        code: int,
        message: str,
        data: JSONObject | None = None,
        *,
        status: int | None = None,
        headers: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status
        self.headers = headers


class Failure(Generic[T]):
    """Holds the exception that a call ended with."""

    __slots__ = ("error",)

    def __init__(self, error: Exception) -> None:
        self.error = error


def attempt(function: Callable[[*Ts], T], *args: *Ts) -> T | Failure[T]:
    """Call code that is not ours and return its value, or the `Failure` it ended with.

    Every place where an application's code may raise anything goes through here, so that what is done about
    it is said next to the call.
    """
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 - the one broad except: whatever an app raises is answered
        return Failure(error)


def let_go(error: Err) -> Err:
    """An error that is told to the caller, and not logged, without the frames that it came through.

    One that is kept beside the call that failed holds them in a circle, and with them all of the request, until the
    next garbage collection.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return error
