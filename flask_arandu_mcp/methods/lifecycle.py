"""`initialize`, `ping` and `server/discover`: how a client learns what it talks to (2025-11-25, basic/lifecycle;
2026-07-28, server/discover)."""

from __future__ import annotations

from ..answers import Answer
from ..caller import Caller, Peer
from ..errors import INVALID_PARAMS, ProtocolError
from ..jsonrpc import Call
from ..playing import LEVELS
from ..revisions import HANDSHAKE, NEWEST_HANDSHAKE, STATELESS
from ..server import Server
from ..typing import JSONObject
from ..writing import encode
from .params import cacheable, text_of

INSTRUCTIONS = (
    "You act as the signed-in user of this application, and may do what that user may do. A refusal is a refusal: do "
    "not look for a way around it, and do not read an error as an empty result. Leave out arguments whose value you "
    "do not know; arguments that are not declared are refused."
)
"""What every model is told, before the server's own instructions."""


def initialize(server: Server, caller: Caller, call: Call) -> Answer:
    """Agree on a revision: the one that the client asked for where it is served, else the newest of this era."""
    asked = call.params.get("protocolVersion")
    revision = HANDSHAKE.get(asked, NEWEST_HANDSHAKE) if isinstance(asked, str) else NEWEST_HANDSHAKE
    client, capabilities = call.params.get("clientInfo"), call.params.get("capabilities")
    peer = Peer(
        revision,
        client if isinstance(client, dict) else {},
        capabilities if isinstance(capabilities, dict) else {},
    )
    result: JSONObject = {
        "protocolVersion": revision.name,
        "capabilities": server.catalogue.capabilities,
        "serverInfo": server.info(titled=revision.structured),
        "instructions": instructions(server),
    }
    return Answer(encode(result)[1:-1], peer=peer)


def ping(server: Server, caller: Caller, call: Call) -> Answer:
    """Nothing, which says that the server is there."""
    return Answer()


def set_level(server: Server, caller: Caller, call: Call) -> Answer:
    """Nothing: nothing is kept for a client, so it is sent every level.

    :raises ProtocolError: -32602 for a level that there is not (2025-11-25, server/utilities/logging).
    """
    if text_of(call, "level") not in LEVELS:
        raise ProtocolError(INVALID_PARAMS, f"params.level must be one of {', '.join(LEVELS)}.")
    return Answer()


def discover(server: Server, caller: Caller, call: Call) -> Answer:
    """What is served, and in which revisions of the stateless era."""
    result: JSONObject = {
        "supportedVersions": list(STATELESS),
        "capabilities": server.catalogue.capabilities,
        "instructions": instructions(server),
    }
    return Answer(encode(result)[1:-1], cache=cacheable(server.catalogue.public, caller))


def instructions(server: Server) -> str:
    """What a model is told: the framework's own lines, and then the server's."""
    own = str(server.instructions)
    return f"{INSTRUCTIONS}\n\n{own}" if own else INSTRUCTIONS
