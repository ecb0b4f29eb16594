"""What methods have in common: what they read from the params of a request, and how an answer is written that comes at
the end of a flow. Each error names the member that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ..answers import Answer, Cache
from ..asking import Asked
from ..caller import Caller
from ..errors import INVALID_PARAMS, ProtocolError
from ..jsonrpc import Call
from ..playing import Flow
from ..typing import JSONObject

T = TypeVar("T")


def text_of(call: Call, member: str) -> str:
    """A member that must be a string.

    :raises ProtocolError: -32602.
    """
    value = call.params.get(member)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"params.{member} must be a string.")
    return value


def arguments_of(call: Call) -> JSONObject:
    """The arguments of a call; none where they are missing or null.

    :raises ProtocolError: -32602 for anything but an object.
    """
    arguments = call.params.get("arguments")
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise ProtocolError(INVALID_PARAMS, "params.arguments must be an object of argument names and values.")
    return arguments


def cacheable(public: bool, caller: Caller) -> Cache:
    """How long a list may be kept, and whether it may be shared."""
    return Cache(public=public and caller.terms.open)


def written_last(flow: Flow[T | Asked], write: Callable[[T], Answer]) -> Flow[Answer | Asked]:
    """The flow of a call, which ends with its answer as it is written, or with questions."""
    given = yield from flow
    return given if isinstance(given, Asked) else write(given)
