"""`resources/read` (2026-07-28, server/resources)."""

from __future__ import annotations

from .. import door
from ..answers import Answer, Cache
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call
from ..playing import Flow
from ..server import Server
from ..typing import JSONObject
from ..writing import encode
from .params import text_of, written_last


def read(server: Server, caller: Caller, call: Call) -> Answer | Flow[Answer | Asked]:
    """The contents of one resource."""
    contents = door.read(server.catalogue, caller, text_of(call, "uri"))

    def written(contents: list[JSONObject]) -> Answer:
        return Answer(f'"contents":{encode(contents)}', cache=_cache(server, caller, call))

    return written(contents) if isinstance(contents, list) else written_last(contents, written)


def _cache(server: Server, caller: Caller, call: Call) -> Cache:
    found = server.catalogue.resource(text_of(call, "uri"))
    if found is None or call.params.get("requestState") is not None or call.params.get("inputResponses") is not None:
        # What depends on a user's answers is no answer to the same request without them.
        return Cache()
    resource = found[0].declaration
    return Cache(int(resource.ttl * 1000), resource.cache == "public" and caller.terms.open)
