"""One parsed message in, the messages that answer it out. It finds the era, the method and the caller; what is sent
where is the transport's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import partial
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from .answers import Answer
from .asking import Answers, Asked
from .caller import Caller, Peer
from .connection import Connection
from .declarations.base import Prepared
from .eras import handshake, stateless
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, ProtocolError, attempt, let_go
from .grants import unwatched
from .headers import KEYS, VERSION
from .host import Host
from .jsonrpc import Call, Malformed, Message, parse
from .methods.table import HANDSHAKE_METHODS, STATELESS_METHODS, Method
from .playing import Flow
from .revisions import STATELESS
from .rounds import ASKING, BROUGHT, Waiting, answers_of, ask, requests
from .server import Server
from .writing import write_error, write_notification, write_request, write_result


class Outgoing(NamedTuple):
    """A message to send.

    :ivar body: its bytes.
    :ivar status: the HTTP status that it goes out with, where it is the first.
    :ivar headers: the HTTP headers that it goes out with.
    :ivar peer: what an `initialize` leaves behind.
    :ivar final: it is the response, and nothing comes after it.
    """

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    peer: Peer | None = None
    final: bool = True


Sent: TypeAlias = Outgoing | Waiting | None
"""What comes of a request: messages, and in the end its response, or what it waits for. None is a step of its handler
of which nothing goes out."""


class Era(NamedTuple):
    """An era, and the methods that it serves."""

    rules: ModuleType
    methods: Mapping[str, Method]


HANDSHAKE_ERA = Era(handshake, HANDSHAKE_METHODS)
STATELESS_ERA = Era(stateless, STATELESS_METHODS)


def era_of(message: Message | None, connection: Connection) -> Era:
    """The era that a message belongs to: stateless where it, or its header, says so."""
    if isinstance(message, Call):
        meta = message.params.get("_meta")
        if isinstance(meta, dict) and stateless.PROTOCOL_VERSION in meta:
            return STATELESS_ERA
    if connection.header is not None and connection.header(KEYS[VERSION]) in STATELESS:
        return STATELESS_ERA
    return HANDSHAKE_ERA


def method_of(call: Call, connection: Connection) -> Method | None:
    """The method that a request asks for, where its era has it."""
    return era_of(call, connection).methods.get(call.method)


def may_stream(server: Server, call: Call) -> bool:
    """Whether what a request asks for may send something before its response."""
    catalogue = server.catalogue
    name = call.params.get(ASKING.get(call.method, ""))
    found: Prepared | None = None
    if call.method == "tools/call":
        found = catalogue.tool(name)
    elif call.method == "prompts/get":
        found = catalogue.prompt(name)
    elif call.method == "resources/read" and isinstance(name, str):
        found = (catalogue.resource(name) or (None,))[0]
    return found is not None and found.streams


def respond(server: Server, subject: Any, call: Call, connection: Connection) -> Outgoing:
    """Answer one request at once, as a subject: one of which :func:`may_stream` says that nothing comes before its
    response."""
    era = era_of(call, connection)
    answer = attempt(unwatched, _begun, server, subject, call, connection, era, None)
    if isinstance(answer, Failure):
        return _failed(call, answer.error, connection)
    assert isinstance(answer, Answer)
    return _response(server, call, era, answer)


def dispatch(
    server: Server, subject: Any, call: Call, connection: Connection, answers: Answers | None = None
) -> Iterator[Sent]:
    """Answer one request, as a subject. What a handler sends while it works comes first, its response last.

    In the handshake era a handler that asks gives a `Waiting`, and then the requests that ask, in place of the
    response: the request is dispatched once more when they are answered.

    :param answers: those of earlier rounds.
    """
    era = era_of(call, connection)
    flow = attempt(unwatched, _begun, server, subject, call, connection, era, answers)
    if isinstance(flow, Answer):
        yield _response(server, call, era, flow)
    elif isinstance(flow, Failure):
        yield _failed(call, flow.error, connection)
    else:
        with closing(flow):
            yield from _played(server, call, connection, era, flow)


def _played(
    server: Server, call: Call, connection: Connection, era: Era, flow: Flow[Answer | Waiting]
) -> Iterator[Sent]:
    while not isinstance(step := attempt(unwatched, next, flow), Failure):
        yield None if step is None else Outgoing(write_notification(step.method, step.params), final=False)
    if not isinstance(step.error, StopIteration):
        yield _failed(call, step.error, connection)
    elif isinstance(step.error.value, Answer):
        yield _response(server, call, era, step.error.value)
    else:
        waiting: Waiting = step.error.value
        # Before the requests go out, for an answer must find that it is waited for.
        yield waiting
        for id, method, params in requests(waiting):
            yield Outgoing(write_request(id, method, params), final=False)


def _response(server: Server, call: Call, era: Era, answer: Answer) -> Outgoing:
    return Outgoing(write_result(call.id, *era.rules.dress(answer, server.written_info)), peer=answer.peer)


def _failed(call: Call, error: Exception, connection: Connection) -> Outgoing:
    return refused(call, _as_protocol_error(error, connection), connection)


def _begun(
    server: Server, subject: Any, call: Call, connection: Connection, era: Era, answers: Answers | None
) -> Answer | Flow[Answer | Waiting]:
    peer, meta = era.rules.admit(call, connection)
    method = era.methods.get(call.method)
    if method is None or (method.capability and method.capability not in server.catalogue.capabilities):
        raise ProtocolError(
            METHOD_NOT_FOUND, f"Method not found: {call.method!r} is not served here: see the capabilities for what is."
        )
    caller = Caller(
        subject,
        connection.host,
        peer,
        meta=meta,
        terms=connection.terms,
        scopes=connection.scopes,
        answers=answers,
        why_not=partial(era.rules.why_not, peer, connection),
        log_level=era.rules.log_level(meta) if server.logging else None,
        header=connection.header if era is STATELESS_ERA else None,
    )
    if era is STATELESS_ERA and call.method in ASKING and not BROUGHT.isdisjoint(call.params):
        caller.bring(answers_of(server.name, call, caller))
    made = method.function(server, caller, call)
    return made if isinstance(made, Answer) else _asking(server, call, caller, era, made)


def _asking(server: Server, call: Call, caller: Caller, era: Era, flow: Flow[Answer | Asked]) -> Flow[Answer | Waiting]:
    answer = yield from flow
    if isinstance(answer, Answer):
        return answer
    if era is STATELESS_ERA:
        return ask(server.name, call, caller, answer)
    return Waiting.at(answer, caller.revision)


def _as_protocol_error(error: Exception, connection: Connection) -> ProtocolError:
    if isinstance(error, ProtocolError):
        return let_go(error)
    ref = connection.host.report(error, "the MCP server")
    return ProtocolError(INTERNAL_ERROR, f"Internal error (ref {ref}).", {"ref": ref})


def refused(message: Message | None, error: ProtocolError, connection: Connection) -> Outgoing:
    """A message that is answered with an error."""
    id = error.id if isinstance(error, Malformed) else message.id if isinstance(message, Call) else None
    status: int = era_of(message, connection).rules.status(error)
    return Outgoing(write_error(id, error), status, error.headers)


def answer(server: Server, subject: Any, body: bytes, *, host: Host | None = None) -> Iterator[bytes]:
    """The whole protocol on one message, for a transport of your own: its bytes in, the bytes of each answer out.

    Nothing comes out for what is owed no answer. A message without the facts of the stateless era is served in the
    newest handshake revision.
    """
    connection = Connection(host)
    connection.cannot_ask = "nothing brings the answers back: use HTTP or the pipe."
    message = attempt(parse, body)
    if isinstance(message, Failure):
        error = _as_protocol_error(message.error, connection)
        yield refused(None, error, connection).body
    elif isinstance(message, Call):
        for sent in dispatch(server, subject, message, connection):
            if isinstance(sent, Outgoing):
                yield sent.body
