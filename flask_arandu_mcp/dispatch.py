"""One parsed message in, the messages that answer it out. It finds the era, the method and the caller; what is sent
where is the transport's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

from .answers import Answer
from .asking import Answers
from .caller import Caller, Peer
from .connection import Connection
from .declarations.base import Prepared
from .eras import handshake, stateless
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, ProtocolError, attempt
from .grants import unwatched
from .headers import VERSION
from .host import Host
from .jsonrpc import (
    Call,
    Malformed,
    Message,
    encode,
    parse,
    write_error,
    write_notification,
    write_request,
    write_result,
)
from .methods.lifecycle import server_info
from .methods.table import HANDSHAKE_METHODS, STATELESS_METHODS, Method
from .playing import Flow
from .revisions import STATELESS
from .rounds import ASKING, Waiting, answers_of, ask, requests
from .server import Server


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
    if connection.header is not None and connection.header(VERSION) in STATELESS:
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


def dispatch(
    server: Server, subject: Any, call: Call, connection: Connection, answers: Answers | None = None
) -> Iterator[Sent]:
    """Answer one request, as a subject. What a handler sends while it works comes first, its response last.

    In the handshake era a handler that asks gives a `Waiting`, and then the requests that ask, in place of the
    response: the request is dispatched once more when they are answered.

    :param answers: those of earlier rounds.
    """
    era = era_of(call, connection)
    flow = _flow(server, subject, call, connection, era, answers)
    try:
        while True:
            step = attempt(unwatched, next, flow)
            if step is None:
                yield None
                continue
            if not isinstance(step, Failure):
                yield Outgoing(write_notification(step.method, step.params), final=False)
                continue
            if isinstance(step.error, StopIteration):
                yield from _ended(server, call, era, step.error.value)
            else:
                yield refused(call, _as_protocol_error(step.error, connection), connection)
            return
    finally:
        flow.close()


def _ended(server: Server, call: Call, era: Era, answer: Answer | Waiting) -> Iterator[Sent]:
    if isinstance(answer, Answer):
        yield Outgoing(write_result(call.id, era.rules.dress(answer, _server_info(server))), peer=answer.peer)
        return
    # Before the requests go out, for an answer must find that it is waited for.
    yield answer
    for id, method, params in requests(answer):
        yield Outgoing(write_request(id, method, params), final=False)


def _flow(
    server: Server, subject: Any, call: Call, connection: Connection, era: Era, answers: Answers | None
) -> Flow[Answer | Waiting]:
    peer = era.rules.admit(call, connection)
    method = era.methods.get(call.method)
    if method is None or (method.capability and method.capability not in server.catalogue.capabilities):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {call.method!r} is not served here.")
    meta = era.rules.meta_of(call)
    caller = Caller(
        subject,
        connection.host,
        peer,
        meta=meta,
        terms=connection.terms,
        scopes=connection.scopes,
        answers=answers,
        why_not=era.rules.why_not(peer, connection),
        log_level=era.rules.log_level(meta, logging=server.logging),
        header=connection.header if era is STATELESS_ERA else None,
    )
    if era is STATELESS_ERA and call.method in ASKING:
        caller.answers = answers_of(server.name, call, caller)
    made = method.function(server, caller, call)
    answer = made if isinstance(made, Answer) else (yield from made)
    if isinstance(answer, Answer):
        return answer
    return ask(server.name, call, caller, answer) if era is STATELESS_ERA else Waiting.at(answer, caller.revision)


def _as_protocol_error(error: Exception, connection: Connection) -> ProtocolError:
    if isinstance(error, ProtocolError):
        return error
    ref = connection.host.report(error, "the MCP server")
    return ProtocolError(INTERNAL_ERROR, f"Internal error (ref {ref}).", {"ref": ref})


def refused(message: Message | None, error: ProtocolError, connection: Connection) -> Outgoing:
    """A message that is answered with an error."""
    id = error.id if isinstance(error, Malformed) else message.id if isinstance(message, Call) else None
    status: int = era_of(message, connection).rules.status(error)
    return Outgoing(write_error(id, error), status, error.headers)


def _server_info(server: Server) -> str:
    return encode(server_info(server))


def answer(server: Server, subject: Any, body: bytes, *, host: Host | None = None) -> Iterator[bytes]:
    """The whole protocol on one message, for a transport of your own: its bytes in, the bytes of each answer out.

    Nothing comes out for what is owed no answer. A message without the facts of the stateless era is served in the
    newest handshake revision.
    """
    connection = Connection(host)
    connection.cannot_ask = "nothing brings the answers back."
    message = attempt(parse, body)
    if isinstance(message, Failure):
        error = _as_protocol_error(message.error, connection)
        yield refused(None, error, connection).body
    elif isinstance(message, Call):
        for sent in dispatch(server, subject, message, connection):
            if isinstance(sent, Outgoing):
                yield sent.body
