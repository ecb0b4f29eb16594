"""The handshake era, 2024-11-05 to 2025-11-25: a client introduces itself once, with `initialize`. What it said then
comes from its connection, since the server keeps nothing."""

from __future__ import annotations

from ..answers import Answer
from ..asking import Question, declared
from ..caller import Peer
from ..connection import Connection
from ..elicitation import known_as
from ..errors import INVALID_REQUEST, ProtocolError
from ..headers import KEYS, VERSION
from ..jsonrpc import Call
from ..messages import Unanswerable
from ..revisions import HANDSHAKE, NEWEST_HANDSHAKE, WITHOUT_HEADER
from ..typing import JSONObject
from ..writing import encode

NAME = "handshake"


def admit(call: Call, connection: Connection) -> tuple[Peer, JSONObject]:
    """Who sent a request, and its `_meta`; what is no object is none.

    :raises ProtocolError: 400 where the header names a revision that is not served (2025-11-25, transports,
        Protocol Version Header).
    """
    meta = call.params.get("_meta")
    if not isinstance(meta, dict):
        meta = {}
    if connection.header is None:
        return connection.peer or Peer(NEWEST_HANDSHAKE), meta
    version = connection.header(KEYS[VERSION])
    # A client that proposes a revision in `initialize` may name it in the header too, served or not.
    if version and version not in HANDSHAKE and call.method != "initialize":
        served = ", ".join(HANDSHAKE)
        raise ProtocolError(
            INVALID_REQUEST,
            f"{VERSION} names a revision that is not served: use one of {served}.",
            status=400,
        )
    return connection.peer or Peer(HANDSHAKE.get(version or "", WITHOUT_HEADER)), meta


def dress(answer: Answer, server_info: str) -> tuple[str, str | bytes, str]:
    """A result as this era writes it, around its members."""
    if answer.meta is None:
        return "{", answer.members, "}"
    comma = "," if answer.members else ""
    return "{", answer.members, f'{comma}"_meta":{encode(answer.meta)}}}'


def status(error: ProtocolError) -> int:
    """The HTTP status of an error: every request is answered with 200, unless it could not be taken as one."""
    return error.status or 200


def why_not(peer: Peer, connection: Connection, question: Question) -> Exception | None:
    """Why a question cannot be asked: nothing could carry it, the revision has none such, or the client said nothing of
    being asked."""
    if connection.cannot_ask:
        return Unanswerable(f"The user cannot be asked here: {connection.cannot_ask}")
    if known_as(question.method, question.params, peer.revision) is None:
        words = f"revision {peer.revision.name}, which the client speaks, has no such question: use a newer one."
        return Unanswerable(f"The user cannot be asked here: {words}")
    if connection.header is not None and connection.host.sealer is None:
        return Unanswerable(
            "The user cannot be asked here: without a SECRET_KEY the app cannot tell what its client can do; give it "
            "one."
        )
    if not declared(peer.capabilities, question.needs):
        needed = ".".join(question.needs)
        return Unanswerable(f"The user cannot be asked here: the client must declare {needed!r}.")
    return None


def log_level(meta: JSONObject) -> str:
    """The least serious log message that the client is sent: all of them."""
    return "debug"
