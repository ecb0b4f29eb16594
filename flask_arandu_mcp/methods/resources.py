"""`resources/list`, `resources/templates/list` and `resources/read` (2026-07-28, server/resources)."""

from __future__ import annotations

from ..answers import Answer, Cache
from ..caller import Caller
from ..door import read as read_resource
from ..jsonrpc import Call, encode
from ..server import Server
from .params import cacheable, no_cursor, text_of


def list_resources(server: Server, caller: Caller, call: Call) -> Answer:
    """The resources that the caller may read."""
    no_cursor(call)
    listing = server.catalogue.resources
    return Answer(listing.write(caller), cache=cacheable(listing.public, caller))


def list_templates(server: Server, caller: Caller, call: Call) -> Answer:
    """The templates of resources that the caller may read."""
    no_cursor(call)
    listing = server.catalogue.templates
    return Answer(listing.write(caller), cache=cacheable(listing.public, caller))


def read(server: Server, caller: Caller, call: Call) -> Answer:
    """The contents of one resource."""
    contents = read_resource(server.catalogue, caller, text_of(call, "uri"))
    return Answer(f'"contents":{encode(contents)}', cache=Cache())
