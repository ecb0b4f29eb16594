"""HTTP: one POST route in a Blueprint. Who may come in is found out in the Blueprint's URL value preprocessor, before
the app's own code runs, and every answer on the route is made here, even where that code answered first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flask import Response, current_app, request
from flask.blueprints import BlueprintSetupState
from werkzeug.exceptions import HTTPException

from .. import headers
from ..connection import Connection
from ..dispatch import HANDSHAKE_ERA, Outgoing, era_of, may_stream, refused, respond
from ..errors import INVALID_REQUEST, ProtocolError, let_go
from ..identity import current_request, identify
from ..jsonrpc import Call, MessageId, Notice, Reply, is_id
from ..state import State
from . import admission, cors
from .admission import Admitted
from .gate import ADMITTED, refusal_of
from .mailbox import Mailbox
from .memo import ticket_of, write_memo
from .responses import own, streamed, whole
from .sse import accepts_events
from .streaming import Conversation, EventStream, subject_id

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


class _Refused(HTTPException):
    """An answer before the app's own code runs. It has no code, so that no error handler of the app is asked."""

    def get_response(self, *given: Any, **more: Any) -> Any:
        """The answer. Flask keeps what it takes the place of beside the call that raised it."""
        let_go(self)
        return super().get_response(*given, **more)


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
                raise _Refused(response=whole(admitted, environ))
            environ[ADMITTED] = admitted

    # An app that traps HTTP exceptions asks its handlers about ours too, and those of a Blueprint first.
    blueprint.register_error_handler(_Refused, _Refused.get_response)

    @blueprint.after_request
    def finish(response: Response) -> Response:
        environ = current_request().environ
        if state.settings.allowed_origins:
            cors.note(environ, state.settings.allowed_origins)
        answer = own(response, environ) or whole(_translated(state, response), environ)
        environ.pop(ADMITTED, None)  # it holds the environ, and would keep all of the request until a collection
        return answer

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
    environ = current_request().environ
    admitted: Admitted = environ[ADMITTED]
    message = admitted.message
    if isinstance(message, Call) and may_stream(state.server, message):
        return _streamed(state, admitted, message, environ)
    return whole(_answer(state, admitted), environ)


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
        words = "A response answers nothing here, where no requests are sent: send none."
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
            return whole(sent, environ)
        return streamed(EventStream(conversation, sent, messages), sent.status, environ)
    return whole(Outgoing(b"", 202), environ)  # cancelled before there was anything to send


def _why_not_ask(takes_events: bool, mailbox: Mailbox | None) -> str:
    if not takes_events:
        return "the client must accept text/event-stream."
    if mailbox is None:
        return "the app must have a SECRET_KEY."
    if not request.environ.get("wsgi.multithread") and not request.environ.get("wsgi.multiprocess"):
        return "the server must have another thread, or process, to take the answer in."
    lacking = mailbox.lacking()
    if lacking:
        current_app.logger.error("No question can be asked in the handshake era: %s", lacking)
        return "the server has nowhere to take the answer in; its log says why."
    return ""


def _translated(state: State, response: Response) -> Outgoing:
    """What the app's own code answered in the server's place, as the JSON-RPC error of its status."""
    admitted: Admitted | None = request.environ.get(ADMITTED)
    message = admitted.message if admitted else None
    connection = admitted.connection if admitted else Connection(state.host, header=request.environ.get)
    error = refusal_of(response, state.resource.challenge())
    return refused(message, error, connection)
