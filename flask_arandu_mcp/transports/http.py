"""HTTP: one POST route in a Blueprint. Who may come in is found out in the Blueprint's URL value preprocessor, before
the app's own code runs, and every answer on the route is made here, even where that code answered first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from flask import Response, current_app, request
from flask.blueprints import BlueprintSetupState
from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import ClosingIterator

from .. import headers
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, era_of, may_stream, refused, respond
from ..errors import INVALID_REQUEST, ProtocolError
from ..identity import current_request, identify
from ..jsonrpc import Call, MessageId, Notice, Reply, is_id
from ..state import State
from . import admission, cors
from .admission import Admitted
from .gate import ADMITTED, refusal_of
from .mailbox import Mailbox
from .memo import ticket_of, write_memo
from .sse import HEADERS as SSE_HEADERS
from .sse import MEDIA_TYPE, accepts_events
from .streaming import Conversation, EventStream, subject_id

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_RESPONSE = "flask_arandu_mcp.response"
_REPLACED = frozenset({"set-cookie", "content-length"})


class MCPResponse(Response):
    """An answer of the server. Neither the app's session nor its own code sets a cookie on it."""

    default_mimetype = "application/json"

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """The headers as they go out, without cookies: an AI client has no use for them."""
        headers = super().get_wsgi_headers(environ)
        headers.remove("Set-Cookie")
        cors.grant(headers, environ)
        return headers

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """What goes out. Werkzeug's own way is left to the answers that have something for it to look after, since it
        costs as much as reading the message."""
        is_plain = self.is_sequence and self.status_code not in (204, 304) and environ["REQUEST_METHOD"] == "POST"
        if not is_plain or cors.is_noted(environ):
            return super().get_wsgi_response(environ)
        body = list(self.iter_encoded())
        written = [(name, value) for name, value in self.headers if name.lower() not in _REPLACED]
        written.append(("Content-Length", str(sum(map(len, body)))))
        return ClosingIterator(body, self.close), self.status, written

    def set_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: what it would write does not go out."""

    def delete_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, as for `set_cookie`."""


class _Refused(HTTPException):
    """An answer before the app's own code runs. It has no code, so that no error handler of the app is asked."""


def mount(state: State) -> None:
    """Serve a state's server at its URL, through its Blueprint."""
    blueprint = state.blueprint

    @blueprint.url_value_preprocessor
    def admit(endpoint: str | None, values: dict[str, Any] | None) -> None:
        current = current_request()
        environ = current.environ
        if ADMITTED not in environ:
            admitted = admission.admit(state, current)
            if isinstance(admitted, Outgoing):
                raise _Refused(response=_response(admitted, environ))
            environ[ADMITTED] = admitted

    # An app that traps HTTP exceptions asks its handlers about ours too, and those of a Blueprint first.
    blueprint.register_error_handler(_Refused, lambda refused: refused.response)

    @blueprint.after_request
    def finish(response: Response) -> Response:
        if state.settings.allowed_origins:
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


def _serve(state: State) -> Response:
    environ = request.environ
    admitted: Admitted = environ[ADMITTED]
    message = admitted.message
    if isinstance(message, Call) and may_stream(state.server, message):
        return _streamed(state, admitted, message, environ)
    return _response(_answer(state, admitted), environ)


def _answer(state: State, admitted: Admitted) -> Outgoing:
    message, identity, connection = admitted
    if isinstance(message, Call):
        sent = respond(state.server, identity.subject, message, connection)
        if sent.peer is not None and connection.host.sealer is not None:
            memo = write_memo(connection.host.sealer, sent.peer)
            return sent._replace(headers=(*sent.headers, (headers.SESSION, memo)))
        return sent
    if isinstance(message, Reply):
        return _take(state, message, admitted)
    if message.method == "notifications/cancelled":
        _cancel(state, message, admitted)
    return Outgoing(b"", 202)


def _take(state: State, reply: Reply, admitted: Admitted) -> Outgoing:
    if era_of(reply, admitted.connection) is not HANDSHAKE_ERA:
        words = "A response answers nothing here: this server sends no requests."
        return refused(reply, ProtocolError(INVALID_REQUEST, words, status=400), admitted.connection)
    mailbox = _mailbox(state)
    if mailbox is not None:
        mailbox.put(reply, subject_id(admitted.identity.subject))
    return Outgoing(b"", 202)


def _cancel(state: State, notice: Notice, admitted: Admitted) -> None:
    """Tell the worker that carries a call out that its client does not want the answer any more."""
    id, ticket = notice.params.get("requestId"), ""
    if is_id(id):
        ticket = _ticket(id, admitted)
    mailbox = _mailbox(state)
    if ticket and mailbox is not None:
        mailbox.put(Reply(ticket, True, None), subject_id(admitted.identity.subject))


def _ticket(id: MessageId, admitted: Admitted) -> str:
    # Without a memo nothing tells a client from others that use the same ids; the stateless era closes its stream.
    memo = request.headers.get(headers.SESSION)
    return ticket_of(memo, id) if memo and admitted.connection.peer is not None else ""


def _mailbox(state: State) -> Mailbox | None:
    keys = [state.app.secret_key, *(state.app.config.get("SECRET_KEY_FALLBACKS") or ())]
    return Mailbox.of([key for key in keys if key], f"{state.name}/{state.server.name}") if keys[0] else None


def _streamed(state: State, admitted: Admitted, call: Call, environ: WSGIEnvironment) -> Response:
    """One JSON object where the response comes first, else events where the client takes them."""
    takes_events = accepts_events(request.headers.get("Accept"))
    mailbox = _mailbox(state)
    connection = admitted.connection
    if connection.peer is not None and connection.peer.capabilities:
        connection.cannot_ask = _why_not_ask(takes_events, mailbox)

    def who() -> Any:
        return identify(
            state.app, current_request(), state.resource.challenge, state.host, login_required=not state.terms.open
        ).subject

    ticket = _ticket(call.id, admitted) if mailbox is not None and not mailbox.lacking() else ""
    conversation = Conversation(
        state,
        request.environ,
        request.get_data(),
        call,
        connection,
        who,
        mailbox,
        ticket=ticket,
        subject_id=subject_id(admitted.identity.subject),
    )
    messages = conversation.messages()
    for sent in messages:
        if sent is None or (not sent.final and not takes_events):
            continue
        if sent.final:
            return _response(sent, environ)
        body = EventStream(conversation, sent, messages)
        return _ours(MCPResponse(body, sent.status, _headers(MEDIA_TYPE, *SSE_HEADERS)), environ)
    return _response(Outgoing(b"", 202), environ)  # cancelled before there was anything to send


def _why_not_ask(takes_events: bool, mailbox: Mailbox | None) -> str:
    if not takes_events:
        return "the client does not take an event stream."
    if mailbox is None:
        return "the app has no SECRET_KEY."
    if not request.environ.get("wsgi.multithread") and not request.environ.get("wsgi.multiprocess"):
        return "the server has one thread in one process, so nobody could take the answer in."
    lacking = mailbox.lacking()
    if lacking:
        current_app.logger.error("No question can be asked in the handshake era: %s", lacking)
        return "the server has nowhere to take the answer in; its log says why."
    return ""


def _response(outgoing: Outgoing, environ: WSGIEnvironment) -> MCPResponse:
    body = b"" if outgoing.status == 204 else outgoing.body
    headers = _headers("application/json", ("Cache-Control", "no-store"), *outgoing.headers)
    return _ours(MCPResponse([body], outgoing.status, headers), environ)


def _headers(media_type: str, *more: tuple[str, str]) -> Headers:
    made = Headers()
    # Errors repeat what was sent: no browser may take an answer for a page.
    for name, value in (("Content-Type", media_type), ("X-Content-Type-Options", "nosniff"), *more):
        made.add(name, value)
    return made


def _ours(response: MCPResponse, environ: WSGIEnvironment) -> MCPResponse:
    environ[_RESPONSE] = response
    return response


def _finish(state: State, response: Response) -> Response:
    if isinstance(response, MCPResponse):
        return response
    environ = request.environ
    ours: MCPResponse | None = environ.get(_RESPONSE)
    if ours is None:
        return _response(_translated(state, response), environ)
    # An app with a response class of its own has turned ours into one of it, cookies and all.
    ours.__class__ = MCPResponse
    return ours


def _translated(state: State, response: Response) -> Outgoing:
    """What the app's own code answered in the server's place, as the JSON-RPC error of its status."""
    admitted: Admitted | None = request.environ.get(ADMITTED)
    message = admitted.message if admitted else None
    connection = admitted.connection if admitted else Connection(state.host, header=headers.reader(request.environ))
    error = refusal_of(response, state.resource.challenge())
    return refused(message, error, connection)
