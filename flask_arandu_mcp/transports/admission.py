"""Who may come in over HTTP: what is asked of a request before the app's own code runs. Origin, method, media type,
size, message and identity, in this order; the first that is wrong is what the client is told."""

from __future__ import annotations

from typing import NamedTuple

from flask import Request

from .. import headers
from ..caller import Peer
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, era_of, refused
from ..errors import INVALID_REQUEST, ProtocolError
from ..identity import Identity, identify
from ..jsonrpc import Call, Message, parse
from ..revisions import HANDSHAKE
from ..state import State
from .body import drain, read
from .gate import check_ready
from .memo import read_memo
from .origins import Site, is_cross_site, is_listed, may_call, site
from .scopes import scopes_of

ALLOW = "POST, OPTIONS"


class Admitted(NamedTuple):
    """A request that may go on to the app's own code, and then to the server."""

    message: Message
    identity: Identity
    connection: Connection


def admit(state: State, request: Request) -> Admitted | Outgoing:
    """Look at a request, and give what is known of it, or the answer that it is turned away with."""
    connection = Connection(state.host, header=request.headers.get, terms=state.settings.terms)
    message: Message | None = None
    try:
        own = site(f"{request.scheme}://{request.host}")
        message = parse(_body(state, request, own))
        check_ready(state)
        challenge = state.resource.challenge()
        identity = identify(challenge, state.host, login_required=not state.settings.serves_guests)
        _check_site(state, request, own, identity)
        connection.scopes = scopes_of(state, message, identity, challenge)
        connection.peer = _peer(request, message, connection)
    except ProtocolError as error:
        return refused(message, error, connection)
    return Admitted(message, identity, connection)


def _body(state: State, request: Request, own: Site | None) -> bytes:
    try:
        _check_origin(state, request, own)
        _check_method(request)
        _check_media_type(request)
        return read(request, state.settings.max_message)
    except ProtocolError:
        drain(request)
        raise


def _check_origin(state: State, request: Request, own: Site | None) -> None:
    trusted = bool(state.app.config.get("TRUSTED_HOSTS"))
    origin = request.headers.get("Origin")
    if not may_call(origin, own, own_is_trusted=trusted, allowed=state.settings.allowed_origins):
        raise _foreign()


def _check_site(state: State, request: Request, own: Site | None, identity: Identity) -> None:
    origin = request.headers.get("Origin")
    if identity.by_token or is_listed(origin, state.settings.allowed_origins):
        return
    if is_cross_site(request.headers.get("Sec-Fetch-Site"), origin, own):
        raise _foreign()


class _Foreign(ProtocolError):
    """A request that another site made a browser send."""

    anonymous = True


def _foreign() -> ProtocolError:
    words = (
        "403 Forbidden: pages of this origin may not call this server. Its operator can list them in "
        "MCP_ALLOWED_ORIGINS, or vouch for the app's own host in TRUSTED_HOSTS."
    )
    return _Foreign(403, words, status=403)


def _check_method(request: Request) -> None:
    if request.method != "POST":
        status = 204 if request.method == "OPTIONS" else 405
        words = f"{request.method} is not served here: send each message as a POST."
        raise ProtocolError(INVALID_REQUEST, words, status=status, headers=(("Allow", ALLOW),))


def _check_media_type(request: Request) -> None:
    if not headers.is_json(request.headers.get("Content-Type")):
        words = "The body must be sent with 'Content-Type: application/json', in UTF-8."
        raise ProtocolError(INVALID_REQUEST, words, status=415)
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        # A gateway that unpacks would read another message than the one that is served.
        words = "The body must be sent as it is: without a Content-Encoding."
        raise ProtocolError(INVALID_REQUEST, words, status=415, headers=(("Accept-Encoding", "identity"),))


def _peer(request: Request, message: Message, connection: Connection) -> Peer | None:
    memo = request.headers.get(headers.SESSION)
    if memo is None or era_of(message, connection) is not HANDSHAKE_ERA:
        return None
    if isinstance(message, Call) and message.method == "initialize":
        return None
    peer = read_memo(connection.host.sealer, memo)
    if peer is None:
        raise ProtocolError(INVALID_REQUEST, "The session is not known: initialize again.", status=404)
    version = request.headers.get(headers.VERSION)
    return peer._replace(revision=HANDSHAKE[version]) if version in HANDSHAKE else peer
