"""`resources/read` (2026-07-28, server/resources)."""

from __future__ import annotations

from .. import door
from ..answers import Answer, Cache
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call, encode
from ..playing import Flow
from ..server import Server
from .params import text_of


def read(server: Server, caller: Caller, call: Call) -> Flow[Answer | Asked]:
    """The contents of one resource."""
    contents = yield from door.read(server.catalogue, caller, text_of(call, "uri"))
    if isinstance(contents, Asked):
        return contents
    return Answer(f'"contents":{encode(contents)}', cache=Cache())
