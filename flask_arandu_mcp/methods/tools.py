"""`tools/call` (2026-07-28, server/tools)."""

from __future__ import annotations

from .. import door
from ..answers import Answer
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call
from ..playing import Flow
from ..server import Server
from .params import arguments_of, text_of


def call(server: Server, caller: Caller, call: Call) -> Flow[Answer | Asked]:
    """The answer of one tool."""
    name = text_of(call, "name")
    answer = yield from door.call(server.catalogue, caller, name, arguments_of(call), suspect=call.suspect)
    return answer if isinstance(answer, Asked) else Answer(answer.write(caller.revision), meta=answer.meta)
