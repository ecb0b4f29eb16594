"""The session id of the handshake era: what a client said in `initialize`, signed and handed back to it. The server
stores nothing, so any worker can read it, and it authenticates nobody."""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping

from ..caller import Peer
from ..jsonrpc import MessageId
from ..revisions import HANDSHAKE
from ..sealing import Sealer
from ..typing import JSONObject

_PURPOSE = "session"
_MOST = 200
_CAPABILITIES = ("elicitation", "sampling", "roots")


def write_memo(sealer: Sealer, peer: Peer) -> str:
    """A client's three facts as text that a header can carry: visible ASCII, and never long."""
    client = {key: _short(peer.client[key]) for key in ("name", "version") if key in peer.client}
    # The random part tells two clients apart that say the same of themselves.
    facts = [peer.revision.name, client, _known(peer.capabilities), secrets.token_urlsafe(9)]
    return sealer.seal(_PURPOSE, facts)


def read_memo(sealer: Sealer | None, memo: str) -> Peer | None:
    """The facts in a memo, or None for one that this app did not write."""
    value = sealer.open(_PURPOSE, memo) if sealer is not None else None
    if not isinstance(value, list) or len(value) != 4 or value[0] not in HANDSHAKE:
        return None
    return Peer(HANDSHAKE[value[0]], value[1], value[2])


def ticket_of(memo: str, id: MessageId) -> str:
    """What a call of the client with this memo is cancelled by: nobody else can tell it."""
    digest = hashlib.sha256(f"{memo}\0{json.dumps(id)}".encode()).digest()
    return urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def _short(said: object) -> str:
    # Half a surrogate pair can come in as JSON, and cannot be signed.
    return str(said)[:_MOST].encode("utf-8", "replace").decode("utf-8")


def _known(capabilities: Mapping[str, object]) -> JSONObject:
    # Only what a handler may ever be told of goes into a header that comes back with every request.
    known: JSONObject = {}
    for name in _CAPABILITIES:
        declared = capabilities.get(name)
        if isinstance(declared, dict):
            known[name] = {kind: {} for kind in ("form", "url", "tools", "context") if kind in declared}
    return known
