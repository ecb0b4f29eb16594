"""The stateless era, since 2026-07-28: every message says what it speaks and who sends it. Over HTTP its headers repeat
some of its body, and the two must agree."""

from __future__ import annotations

from collections.abc import Callable

from ..answers import Answer
from ..asking import Question, declared
from ..caller import Peer
from ..connection import Connection
from ..errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    UNSUPPORTED_PROTOCOL_VERSION,
    ProtocolError,
)
from ..headers import KEYS, METHOD, VERSION, decode
from ..headers import NAME as NAME_HEADER
from ..jsonrpc import Call, Malformed
from ..messages import Unanswerable
from ..revisions import STATELESS
from ..typing import JSONObject
from ..writing import encode

NAME = "stateless"
PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = f"{PREFIX}protocolVersion"
CLIENT_INFO = f"{PREFIX}clientInfo"
CLIENT_CAPABILITIES = f"{PREFIX}clientCapabilities"
SERVER_INFO = f"{PREFIX}serverInfo"
LOG_LEVEL = f"{PREFIX}logLevel"

_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def admit(call: Call, connection: Connection) -> tuple[Peer, JSONObject]:
    """Who sent a request, and its `_meta` (2026-07-28, basic, `_meta`; transports, Server Validation).

    :raises ProtocolError: 400 with -32602, -32020 or -32022.
    """
    header = connection.header
    meta = call.params.get("_meta")
    if not isinstance(meta, dict):
        raise ProtocolError(INVALID_PARAMS, "params._meta must be an object.", status=400)
    version = meta.get(PROTOCOL_VERSION)
    if not isinstance(version, str):
        raise _incomplete(PROTOCOL_VERSION, "a string")
    if header is not None and (sent := header(KEYS[VERSION])) != version:
        _compare(VERSION, sent, version)
    revision = STATELESS.get(version)
    if revision is None:
        raise ProtocolError(
            UNSUPPORTED_PROTOCOL_VERSION,
            f"Protocol version {version!r} is not served: use one of {', '.join(STATELESS)}.",
            {"supported": list(STATELESS), "requested": version},
            status=400,
        )
    capabilities = meta.get(CLIENT_CAPABILITIES)
    if not isinstance(capabilities, dict):
        raise _incomplete(CLIENT_CAPABILITIES, "an object")
    client = meta.get(CLIENT_INFO, {})
    if not isinstance(client, dict):
        raise _incomplete(CLIENT_INFO, "an object")
    if header is not None:
        if (sent := header(KEYS[METHOD])) != call.method:
            _compare(METHOD, sent, call.method)
        named_by = _NAMED_BY.get(call.method)
        if named_by is not None:
            _compare(NAME_HEADER, header(KEYS[NAME_HEADER]), call.params.get(named_by), read=decode)
    return Peer(revision, client, capabilities), meta


def dress(answer: Answer, server_info: str) -> tuple[str, str | bytes, str]:
    """A result as this era writes it, around its members: with its type, how long it may be kept, and who answers."""
    comma = "," if answer.members else ""
    kept = ""
    if answer.cache is not None:
        scope = "public" if answer.cache.public else "private"
        kept = f',"ttlMs":{answer.cache.ttl},"cacheScope":"{scope}"'
    own = ""
    if answer.meta:
        # A handler that gives back the `_meta` it was sent does not speak for the server.
        others = {key: value for key, value in answer.meta.items() if key != SERVER_INFO}
        own = f"{encode(others)[1:-1]}," if others else ""
    head = f'{{"resultType":"{answer.type}"{comma}'
    return head, answer.members, f'{kept},"_meta":{{{own}"{SERVER_INFO}":{server_info}}}}}'


def status(error: ProtocolError) -> int:
    """The HTTP status of an error: 404 for a method that is not served (transports, Protocol Version Header)."""
    if error.status is not None:
        return error.status
    return 400 if isinstance(error, Malformed) else 404 if error.code == METHOD_NOT_FOUND else 200


def why_not(peer: Peer, connection: Connection, question: Question) -> Exception | None:
    """Why a question cannot be asked: the client did not say that it can be (2026-07-28, basic, `_meta`)."""
    if connection.host.sealer is None:
        return Unanswerable("The user cannot be asked here: the app must have a SECRET_KEY to sign the question.")
    if declared(peer.capabilities, question.needs):
        return None
    needed: JSONObject = {}
    for name in reversed(question.needs):
        needed = {name: needed}
    words = f"The client must declare the capability {'.'.join(question.needs)!r} for this."
    return ProtocolError(MISSING_CAPABILITY, words, {"requiredCapabilities": needed}, status=400)


def log_level(meta: JSONObject) -> str | None:
    """The least serious log message that the client wants: what this very message says (2026-07-28,
    server/utilities/logging)."""
    level = meta.get(LOG_LEVEL)
    return level if isinstance(level, str) else None


def _incomplete(key: str, kind: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"params._meta must hold {key!r}, {kind}.", status=400)


def _compare(
    header: str, sent: str | None, value: object, read: Callable[[str], str | None] = lambda sent: sent.strip(" \t")
) -> None:
    """Check that a header says what the body says.

    :param read: gives what was sent as the body would say it.
    """
    if sent is None or read(sent) != value or value is None:
        what = "is missing" if sent is None else "does not say the same"
        raise ProtocolError(HEADER_MISMATCH, f"The header {header} {what}: send in it what the body says.", status=400)
