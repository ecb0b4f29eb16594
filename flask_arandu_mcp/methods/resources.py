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
    return Answer(f'"contents":{encode(contents)}', cache=_cache(server, caller, call))


def _cache(server: Server, caller: Caller, call: Call) -> Cache:
    found = server.catalogue.resource(text_of(call, "uri"))
    if found is None or call.params.get("requestState") is not None or call.params.get("inputResponses") is not None:
        # What depends on a user's answers is no answer to the same request without them.
        return Cache()
    resource = found[0].declaration
    return Cache(int(resource.ttl * 1000), resource.cache == "public" and caller.terms.open)
