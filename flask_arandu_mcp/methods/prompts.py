"""`prompts/get` (2026-07-28, server/prompts)."""

from __future__ import annotations

from .. import door
from ..answers import Answer, blocks
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call
from ..playing import Flow
from ..server import Server
from ..typing import JSONObject
from ..writing import encode
from .params import arguments_of, text_of, written_last


def get(server: Server, caller: Caller, call: Call) -> Answer | Flow[Answer | Asked]:
    """The messages of one prompt, and what it is for."""
    name = text_of(call, "name")
    messages = door.get(server.catalogue, caller, name, arguments_of(call), suspect=call.suspect)

    def written(messages: list[JSONObject]) -> Answer:
        prompt = server.catalogue.prompt(name)
        assert prompt is not None
        description = encode(str(prompt.declaration.words()))
        return Answer(f'"description":{description},"messages":{encode(_known(messages, caller))}')

    return written(messages) if isinstance(messages, list) else written_last(messages, written)


def _known(messages: list[JSONObject], caller: Caller) -> list[JSONObject]:
    contents = [message["content"] for message in messages]
    known = blocks([content for content in contents if isinstance(content, dict)], caller.revision)
    return [{**message, "content": content} for message, content in zip(messages, known, strict=True)]
