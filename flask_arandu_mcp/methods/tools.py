"""`tools/list` and `tools/call` (2026-07-28, server/tools)."""

from __future__ import annotations

from ..answers import Answer
from ..caller import Caller
from ..door import call as call_tool
from ..jsonrpc import Call
from ..server import Server
from .params import arguments_of, cacheable, no_cursor, text_of


def list_tools(server: Server, caller: Caller, call: Call) -> Answer:
    """The tools that the caller may use."""
    no_cursor(call)
    listing = server.catalogue.tools
    return Answer(listing.write(caller), cache=cacheable(listing.public, caller))


def call(server: Server, caller: Caller, call: Call) -> Answer:
    """The answer of one tool."""
    name = text_of(call, "name")
    answer = call_tool(server.catalogue, caller, name, arguments_of(call), suspect=call.suspect)
    return Answer(answer.write(caller.revision))
