"""`prompts/list` and `prompts/get` (2026-07-28, server/prompts)."""

from __future__ import annotations

from ..answers import Answer
from ..caller import Caller
from ..door import get as get_prompt
from ..jsonrpc import Call, encode
from ..server import Server
from .params import arguments_of, cacheable, no_cursor, text_of


def list_prompts(server: Server, caller: Caller, call: Call) -> Answer:
    """The prompts that the caller may use."""
    no_cursor(call)
    listing = server.catalogue.prompts
    return Answer(listing.write(caller), cache=cacheable(listing.public, caller))


def get(server: Server, caller: Caller, call: Call) -> Answer:
    """The messages of one prompt."""
    name = text_of(call, "name")
    prompt, messages = get_prompt(server.catalogue, caller, name, arguments_of(call), suspect=call.suspect)
    description = encode(str(prompt.declaration.words()))
    return Answer(f'"description":{description},"messages":{encode(messages)}')
