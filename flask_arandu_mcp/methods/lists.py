"""`tools/list`, `resources/list`, `resources/templates/list` and `prompts/list`: one method, of four lists
(2026-07-28, server/tools, server/resources, server/prompts)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..answers import Answer
from ..caller import Caller
from ..catalogue import Catalogue, Listing
from ..door import list_
from ..jsonrpc import Call
from ..server import Server
from .params import cacheable, no_cursor


def lister(pick: Callable[[Catalogue], Listing[Any]]) -> Callable[[Server, Caller, Call], Answer]:
    """The method that lists what the caller may use of one list."""

    def list_method(server: Server, caller: Caller, call: Call) -> Answer:
        no_cursor(call)
        catalogue = server.catalogue
        listing = pick(catalogue)
        public = listing.public and catalogue.rules.guard is None
        return Answer(list_(catalogue, listing, caller), cache=cacheable(public, caller))

    return list_method
