"""`tools/list`, `resources/list`, `resources/templates/list` and `prompts/list`: one method, of four lists
(2026-07-28, server/tools, server/resources, server/prompts, server/utilities/pagination)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers import Answer
from ..caller import Caller
from ..catalogue import Catalogue, Listing
from ..door import list_
from ..errors import INVALID_PARAMS, ProtocolError
from ..jsonrpc import Call
from ..sealing import Sealer
from ..server import Server
from ..writing import encode
from .params import cacheable

_PURPOSE = "cursor"


def lister(pick: Callable[[Catalogue], Listing[Any]]) -> Callable[[Server, Caller, Call], Answer]:
    """The method that lists what the caller may use of one list."""

    def list_method(server: Server, caller: Caller, call: Call) -> Answer:
        catalogue = server.catalogue
        listing = pick(catalogue)
        start = _start(server, listing, caller, call)
        members, next_start = list_(catalogue, listing, caller, start)
        if next_start is not None:
            cursor = _sealer(server, caller).seal(_PURPOSE, [server.name, listing.key, next_start])
            assert isinstance(members, str)  # only a whole list is kept as bytes
            members = f'{members},"nextCursor":{encode(cursor)}'
        public = listing.public and catalogue.rules.guard is None
        return Answer(members, cache=cacheable(public, caller))

    return list_method


def _start(server: Server, listing: Listing[Any], caller: Caller, call: Call) -> int:
    cursor = call.params.get("cursor")
    if cursor is None:
        return 0
    value = _sealer(server, caller).open(_PURPOSE, cursor) if isinstance(cursor, str) else None
    # Where the app has no key anybody can sign a cursor, so nothing in it is taken for granted.
    match value:
        case [server.name, listing.key, int(start)] if caller.terms.page_size is not None:
            return start
    raise ProtocolError(INVALID_PARAMS, "params.cursor is none of this list's: begin again without it.")


def _sealer(server: Server, caller: Caller) -> Sealer:
    # A cursor says where a page starts and grants nothing, so an app without a key may hand one out too.
    return caller.host.sealer or Sealer([server.name])
