"""What methods read from the params of a request, and say of the answer. Each error names the member that is wrong."""

from __future__ import annotations

from ..answers import Cache
from ..caller import Caller
from ..errors import INVALID_PARAMS, ProtocolError
from ..jsonrpc import Call
from ..typing import JSONObject


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
