"""Who may come in over HTTP: what is asked of a request before the app's own code runs. Origin, method, media type,
size, message and identity, in this order; the first that is wrong is what the client is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from flask import Request

from ..caller import Peer
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, era_of, refused
from ..errors import INVALID_REQUEST, ProtocolError
from ..headers import KEYS, SESSION, VERSION, is_json
from ..identity import Identity, identify
from ..jsonrpc import Call, Message, parse
from ..revisions import HANDSHAKE
from ..state import State
from .body import drain, read
from .gate import check_ready
from .memo import read_memo
from .origins import Site, is_cross_site, is_listed, may_call, site
from .scopes import scopes_of

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

ALLOW = "POST, OPTIONS"


class Admitted(NamedTuple):
    """A request that may go on to the app's own code, and then to the server."""

    message: Message
    identity: Identity
    connection: Connection


def admit(state: State, request: Request) -> Admitted | Outgoing:
    """Look at a request, and give what is known of it, or the answer that it is turned away with."""
    connection = Connection(state.host, header=request.environ.get, terms=state.terms)
    message: Message | None = None
    try:
        message = parse(_body(state, request))
        check_ready(state)
        identity = identify(
            state.app, request, state.resource.challenge, state.host, login_required=not state.terms.open
        )
        _check_site(state, request, identity)
        connection.scopes = scopes_of(state, message, identity)
        connection.peer = _peer(message, connection, request.environ)
    except ProtocolError as error:
        return refused(message, error, connection)
    return Admitted(message, identity, connection)


def _body(state: State, request: Request) -> bytes:
    try:
        _check_origin(state, request)
        _check_method(request)
        _check_media_type(request.environ)
        return read(request, state.settings.max_message)
    except ProtocolError:
        drain(request)
        raise


def _check_origin(state: State, request: Request) -> None:
    origin = request.environ.get("HTTP_ORIGIN")
    if origin is None:
        return
    trusted = bool(state.app.config.get("TRUSTED_HOSTS"))
    if not may_call(origin, _own(request), own_is_trusted=trusted, allowed=state.settings.allowed_origins):
        raise _foreign()


def _check_site(state: State, request: Request, identity: Identity) -> None:
    fetch_site = request.environ.get("HTTP_SEC_FETCH_SITE")
    if fetch_site is None or identity.by_token:
        return
    origin = request.environ.get("HTTP_ORIGIN")
    if not is_listed(origin, state.settings.allowed_origins) and is_cross_site(fetch_site, origin, _own(request)):
        raise _foreign()


def _own(request: Request) -> Site | None:
    return site(f"{request.scheme}://{request.host}")


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


def _check_media_type(environ: WSGIEnvironment) -> None:
    if not is_json(environ.get("CONTENT_TYPE")):
        words = "The body must be sent with 'Content-Type: application/json', in UTF-8."
        raise ProtocolError(INVALID_REQUEST, words, status=415)
    encoding = environ.get("HTTP_CONTENT_ENCODING")
    if encoding is not None and encoding.strip().lower() != "identity":
        # A gateway that unpacks would read another message than the one that is served.
        words = "The body must be sent as it is: without a Content-Encoding."
        raise ProtocolError(INVALID_REQUEST, words, status=415, headers=(("Accept-Encoding", "identity"),))


def _peer(message: Message, connection: Connection, environ: WSGIEnvironment) -> Peer | None:
    memo = environ.get(KEYS[SESSION])
    if memo is None or era_of(message, connection) is not HANDSHAKE_ERA:
        return None
    if isinstance(message, Call) and message.method == "initialize":
        return None
    peer = read_memo(connection.host.sealer, memo)
    if peer is None:
        raise ProtocolError(INVALID_REQUEST, "The session is not known: initialize again.", status=404)
    version = environ.get(KEYS[VERSION])
    return peer._replace(revision=HANDSHAKE[version]) if version in HANDSHAKE else peer
