"""`tools/call` (2026-07-28, server/tools)."""

from __future__ import annotations

from .. import door
from ..answers import Answer, ToolAnswer
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call
from ..playing import Flow
from ..server import Server
from .params import arguments_of, text_of, written_last


def call(server: Server, caller: Caller, call: Call) -> Answer | Flow[Answer | Asked]:
    """The answer of one tool."""
    answer = door.call(server.catalogue, caller, text_of(call, "name"), arguments_of(call), suspect=call.suspect)
    if isinstance(answer, ToolAnswer):
        return _written(answer, caller)
    return written_last(answer, lambda given: _written(given, caller))


def _written(answer: ToolAnswer, caller: Caller) -> Answer:
    return Answer(answer.write(caller.revision), meta=answer.meta)
