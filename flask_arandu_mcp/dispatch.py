"""One parsed message in, the messages that answer it out. It finds the era, the method and the caller; what is sent
where is the transport's business."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from .answers import Answer
from .caller import Caller, Peer
from .connection import Connection
from .eras import handshake, stateless
from .errors import INTERNAL_ERROR, METHOD_NOT_FOUND, Failure, ProtocolError, attempt
from .grants import unwatched
from .headers import VERSION
from .host import Host
from .jsonrpc import Call, Malformed, Message, encode, parse, write_error, write_notification, write_result
from .methods.lifecycle import server_info
from .methods.table import HANDSHAKE_METHODS, STATELESS_METHODS, Method
from .revisions import STATELESS
from .server import Server
from .steps import Flow


class Outgoing(NamedTuple):
    """A message to send.

    :ivar body: its bytes.
    :ivar status: the HTTP status that it goes out with, where it is the first.
    :ivar headers: the HTTP headers that it goes out with.
    :ivar peer: what an `initialize` leaves behind.
    """

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    peer: Peer | None = None


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


def dispatch(server: Server, subject: Any, call: Call, connection: Connection) -> Iterator[Outgoing]:
    """Answer one request, as a subject. What a handler sends while it works comes first, its response last."""
    era = era_of(call, connection)
    flow = _flow(server, subject, call, connection, era)
    while True:
        step = attempt(unwatched, next, flow)
        if not isinstance(step, Failure):
            yield Outgoing(write_notification(step.method, step.params))
        elif isinstance(step.error, StopIteration):
            answer: Answer = step.error.value
            yield Outgoing(write_result(call.id, era.rules.dress(answer, _server_info(server))), peer=answer.peer)
            return
        else:
            yield refused(call, _as_protocol_error(step.error, connection), connection)
            return


def _flow(server: Server, subject: Any, call: Call, connection: Connection, era: Era) -> Flow[Answer]:
    peer = era.rules.admit(call, connection)
    method = era.methods.get(call.method)
    if method is None or (method.capability and method.capability not in server.catalogue.capabilities):
        raise ProtocolError(METHOD_NOT_FOUND, f"Method not found: {call.method!r} is not served here.")
    meta = era.rules.meta_of(call)
    caller = Caller(subject, connection.host, peer, meta=meta, terms=connection.terms, scopes=connection.scopes)
    answer = method.function(server, caller, call)
    return answer if isinstance(answer, Answer) else (yield from answer)


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
    message = attempt(parse, body)
    if isinstance(message, Failure):
        error = _as_protocol_error(message.error, connection)
        yield refused(None, error, connection).body
    elif isinstance(message, Call):
        for outgoing in dispatch(server, subject, message, connection):
            yield outgoing.body
