"""Which method is served in which era, and what a server must have for it. A method that is not here does not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..answers import Answer
from ..asking import Asked
from ..caller import Caller
from ..jsonrpc import Call
from ..playing import Flow
from ..server import Server
from . import completion, lifecycle, prompts, resources, tools
from .lists import lister


class Method(NamedTuple):
    """A method of the protocol.

    :ivar function: answers it.
    :ivar capability: what the server must have; empty for nothing.
    :ivar asks_app: it may run the application's code, and so may take its time.
    """

    function: Callable[[Server, Caller, Call], Answer | Flow[Answer | Asked]]
    capability: str = ""
    asks_app: bool = True


_BOTH = {
    "tools/list": Method(lister(lambda catalogue: catalogue.tools), "tools"),
    "tools/call": Method(tools.call, "tools"),
    "resources/list": Method(lister(lambda catalogue: catalogue.resources), "resources"),
    "resources/templates/list": Method(lister(lambda catalogue: catalogue.templates), "resources"),
    "resources/read": Method(resources.read, "resources"),
    "prompts/list": Method(lister(lambda catalogue: catalogue.prompts), "prompts"),
    "prompts/get": Method(prompts.get, "prompts"),
    "completion/complete": Method(completion.complete, "completions"),
}

HANDSHAKE_METHODS = {
    "initialize": Method(lifecycle.initialize, asks_app=False),
    "ping": Method(lifecycle.ping, asks_app=False),
    "logging/setLevel": Method(lifecycle.set_level, "logging", asks_app=False),
    **_BOTH,
}
STATELESS_METHODS = {"server/discover": Method(lifecycle.discover, asks_app=False), **_BOTH}
