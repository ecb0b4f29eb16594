"""`completion/complete` (2026-07-28, server/utilities/completion)."""

from __future__ import annotations

from ..answers import Answer
from ..caller import Caller
from ..completing import complete as complete_argument
from ..errors import INVALID_PARAMS, ProtocolError
from ..jsonrpc import Call
from ..server import Server
from ..writing import encode

_REFERENCES = {"ref/prompt": "name", "ref/resource": "uri"}


def complete(server: Server, caller: Caller, call: Call) -> Answer:
    """The values that an argument of a prompt, or a variable of a template, may be completed to."""
    of, argument, value = _asked(call)
    context = call.params.get("context")
    given = context.get("arguments") if isinstance(context, dict) else None
    completion = complete_argument(
        server.catalogue, caller, of, argument, value, given if isinstance(given, dict) else None
    )
    return Answer(f'"completion":{encode({"values": completion.values, "hasMore": completion.more})}')


def _asked(call: Call) -> tuple[str, str, str]:
    reference, argument = call.params.get("ref"), call.params.get("argument")
    if not isinstance(reference, dict) or not isinstance(argument, dict):
        raise ProtocolError(INVALID_PARAMS, "params.ref and params.argument must be objects.")
    of = reference.get(_REFERENCES.get(str(reference.get("type")), ""))
    name, value = argument.get("name"), argument.get("value")
    if not isinstance(of, str) or not isinstance(name, str) or not isinstance(value, str):
        raise ProtocolError(
            INVALID_PARAMS,
            "params.ref must be {type: 'ref/prompt', name} or {type: 'ref/resource', uri}, and params.argument "
            "{name, value}, all of them strings.",
        )
    return of, name, value
