"""HTTP: one POST route in a Blueprint. What must come before the app's own code runs in the Blueprint's URL value
preprocessor, and every answer on the route is made here, even where the app's own code answered first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from flask import Response, current_app, request
from flask.blueprints import BlueprintSetupState
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException

from .. import headers
from ..caller import Peer
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, dispatch, era_of, may_stream, refused
from ..errors import INVALID_REQUEST, ProtocolError
from ..identity import Identity, identify
from ..jsonrpc import Call, Message, Reply, parse
from ..revisions import HANDSHAKE
from ..state import State
from . import cors
from .body import drain, read
from .gate import ADMITTED, check_ready, refusal_of
from .mailbox import Mailbox
from .memo import read_memo, write_memo
from .origins import Site, is_cross_site, is_listed, may_call, site
from .scopes import scopes_of
from .sse import HEADERS as SSE_HEADERS
from .sse import MEDIA_TYPE, accepts_events
from .streaming import Conversation, EventStream, subject_id

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

ALLOW = "POST, OPTIONS"
_RESPONSE = "flask_arandu_mcp.response"


class Admitted(NamedTuple):
    """A request that may go on to the app's own code, and then to the server."""

    message: Message
    identity: Identity
    connection: Connection


class MCPResponse(Response):
    """An answer of the server. Neither the app's session nor its own code sets a cookie on it."""

    default_mimetype = "application/json"

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """The headers as they go out, without cookies: an AI client has no use for them."""
        headers = super().get_wsgi_headers(environ)
        headers.remove("Set-Cookie")
        # Errors repeat what was sent: no browser may take an answer for a page.
        headers["X-Content-Type-Options"] = "nosniff"
        cors.grant(headers, environ)
        return headers


class _Refused(HTTPException):
    """An answer before the app's own code runs. It has no code, so that no error handler of the app is asked."""


def mount(state: State) -> None:
    """Serve a state's server at its URL, through its Blueprint."""
    blueprint = state.blueprint

    @blueprint.url_value_preprocessor
    def admit(endpoint: str | None, values: dict[str, Any] | None) -> None:
        if ADMITTED not in request.environ:
            _admit(state)

    # An app that traps HTTP exceptions asks its handlers about ours too, and those of a Blueprint first.
    blueprint.register_error_handler(_Refused, lambda refused: refused.response)

    @blueprint.after_request
    def finish(response: Response) -> Response:
        cors.note(request.environ, state.settings.allowed_origins)
        return _finish(state, response)

    @blueprint.record
    def add_rules(setup: BlueprintSetupState) -> None:
        _add_rules(state, setup, _serve)


def _add_rules(state: State, setup: BlueprintSetupState, serve: Any) -> None:
    # No list of methods, so that the router refuses none: what is no POST is answered here, as JSON.
    app, endpoint = setup.app, f"{state.blueprint.name}.serve"
    url = state.url.rstrip("/")
    for path in dict.fromkeys([url or "/", f"{url}/"]):
        rule = app.url_rule_class(path, methods=None, endpoint=endpoint, strict_slashes=False)
        rule.provide_automatic_options = False  # type: ignore[attr-defined]  # Flask reads it off the rule
        app.url_map.add(rule)
    app.view_functions[endpoint] = lambda: serve(state)


# ------------------------------------------------------------------------------------- before the app's own code


def _admit(state: State) -> None:
    connection = Connection(state.host, header=request.headers.get, terms=state.settings.terms)
    message: Message | None = None
    try:
        own = site(f"{request.scheme}://{request.host}")
        message = parse(_body(state, own))
        check_ready(state)
        challenge = state.resource.challenge()
        identity = identify(challenge, state.host, login_required=not state.settings.serves_guests)
        _check_site(state, own, identity)
        connection.scopes = scopes_of(state, message, identity, challenge)
        connection.peer = _peer(message, connection)
    except ProtocolError as error:
        _refuse(refused(message, error, connection))
    else:
        request.environ[ADMITTED] = Admitted(message, identity, connection)


def _refuse(outgoing: Outgoing) -> None:
    raise _Refused(response=_response(outgoing))


def _body(state: State, own: Site | None) -> bytes:
    try:
        _check_origin(state, own)
        _check_method()
        _check_media_type()
        return read(request, state.settings.max_message)
    except ProtocolError:
        drain(request)
        raise


def _check_origin(state: State, own: Site | None) -> None:
    trusted = bool(current_app.config.get("TRUSTED_HOSTS"))
    origin = request.headers.get("Origin")
    if not may_call(origin, own, own_is_trusted=trusted, allowed=state.settings.allowed_origins):
        raise _foreign()


def _check_site(state: State, own: Site | None, identity: Identity) -> None:
    origin = request.headers.get("Origin")
    if identity.by_token or is_listed(origin, state.settings.allowed_origins):
        return
    if is_cross_site(request.headers.get("Sec-Fetch-Site"), origin, own):
        raise _foreign()


class _Foreign(ProtocolError):
    """A request that another site made a browser send."""

    anonymous = True


def _foreign() -> ProtocolError:
    words = "403 Forbidden: pages of this origin may not call this server; its operator can list them in "
    return _Foreign(403, f"{words}MCP_ALLOWED_ORIGINS.", status=403)


def _check_method() -> None:
    if request.method != "POST":
        status = 204 if request.method == "OPTIONS" else 405
        words = f"{request.method} is not served here: send each message as a POST."
        raise ProtocolError(INVALID_REQUEST, words, status=status, headers=(("Allow", ALLOW),))


def _check_media_type() -> None:
    if not headers.is_json(request.headers.get("Content-Type")):
        words = "The body must be sent with 'Content-Type: application/json', in UTF-8."
        raise ProtocolError(INVALID_REQUEST, words, status=415)
    if request.headers.get("Content-Encoding", "identity").strip().lower() != "identity":
        # A gateway that unpacks would read another message than the one that is served.
        words = "The body must be sent as it is: without a Content-Encoding."
        raise ProtocolError(INVALID_REQUEST, words, status=415, headers=(("Accept-Encoding", "identity"),))


def _peer(message: Message, connection: Connection) -> Peer | None:
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


# ------------------------------------------------------------------------------------------------- after it


def _serve(state: State) -> Response:
    admitted: Admitted = request.environ[ADMITTED]
    message = admitted.message
    if isinstance(message, Call) and may_stream(state.server, message):
        return _streamed(state, admitted, message)
    return _response(_answer(state, admitted))


def _answer(state: State, admitted: Admitted) -> Outgoing:
    message, identity, connection = admitted
    if isinstance(message, Call):
        sent = next(dispatch(state.server, identity.subject, message, connection))
        assert isinstance(sent, Outgoing)  # a plain handler asks nothing
        if sent.peer is not None and connection.host.sealer is not None:
            memo = write_memo(connection.host.sealer, sent.peer)
            return sent._replace(headers=(*sent.headers, (headers.SESSION, memo)))
        return sent
    if isinstance(message, Reply):
        return _take(state, message, admitted)
    return Outgoing(b"", 202)


def _take(state: State, reply: Reply, admitted: Admitted) -> Outgoing:
    if era_of(reply, admitted.connection) is not HANDSHAKE_ERA:
        words = "A response answers nothing here: this server sends no requests."
        return refused(reply, ProtocolError(INVALID_REQUEST, words, status=400), admitted.connection)
    mailbox = _mailbox(state)
    if mailbox is not None:
        mailbox.put(reply, subject_id(admitted.identity.subject))
    return Outgoing(b"", 202)


def _mailbox(state: State) -> Mailbox | None:
    keys = [state.app.secret_key, *(state.app.config.get("SECRET_KEY_FALLBACKS") or ())]
    return Mailbox.of([key for key in keys if key], f"{state.name}/{state.server.name}") if keys[0] else None


def _streamed(state: State, admitted: Admitted, call: Call) -> Response:
    """One JSON object where the response comes first, else events where the client takes them."""
    takes_events = accepts_events(request.headers.get("Accept"))
    mailbox = _mailbox(state)
    connection = admitted.connection
    if connection.peer is not None and connection.peer.capabilities:
        connection.cannot_ask = _why_not_ask(takes_events, mailbox)

    def who() -> Any:
        return identify(state.resource.challenge(), state.host, login_required=not state.settings.serves_guests).subject

    conversation = Conversation(state, request.environ, request.get_data(), call, connection, who, mailbox)
    messages = conversation.messages()
    for sent in messages:
        if sent is None or (not sent.final and not takes_events):
            continue
        if sent.final:
            return _response(sent)
        stream = MCPResponse(EventStream(conversation, sent, messages), sent.status, content_type=MEDIA_TYPE)
        stream.headers.extend(SSE_HEADERS)
        return _ours(stream)
    raise AssertionError("a call ends with its response")


def _why_not_ask(takes_events: bool, mailbox: Mailbox | None) -> str:
    if not takes_events:
        return "the client does not take an event stream."
    if mailbox is None:
        return "the app has no SECRET_KEY."
    if not request.environ.get("wsgi.multithread") and not request.environ.get("wsgi.multiprocess"):
        return "the server has one thread in one process, so nobody could take the answer in."
    return mailbox.lacking()


def _response(outgoing: Outgoing) -> MCPResponse:
    body = b"" if outgoing.status == 204 else outgoing.body
    response = MCPResponse(body, outgoing.status)
    response.headers["Cache-Control"] = "no-store"
    for name, value in outgoing.headers:
        response.headers[name] = value
    return _ours(response)


def _ours(response: MCPResponse) -> MCPResponse:
    request.environ[_RESPONSE] = response
    return response


def _finish(state: State, response: Response) -> Response:
    ours: MCPResponse | None = request.environ.get(_RESPONSE)
    if ours is None:
        return _response(_translated(state, response))
    # An app with a response class of its own has turned ours into one of it, cookies and all.
    ours.__class__ = MCPResponse
    return ours


def _translated(state: State, response: Response) -> Outgoing:
    """What the app's own code answered in the server's place, as the JSON-RPC error of its status."""
    admitted: Admitted | None = request.environ.get(ADMITTED)
    message = admitted.message if admitted else None
    connection = admitted.connection if admitted else Connection(state.host, header=request.headers.get)
    error = refusal_of(response, state.resource.challenge())
    return refused(message, error, connection)
