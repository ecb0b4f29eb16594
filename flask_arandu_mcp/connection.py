"""What is known of the connection that a message came on: its headers, if it has any, and what its client said
before. Transports make one; eras read it."""

from __future__ import annotations

from collections.abc import Callable

from .caller import DEFAULT_TERMS, Peer, Terms
from .host import Host, PlainHost


class Connection:
    """The way that a message came.

    :ivar header: gives a header of the HTTP request by its key in a WSGI environ, None where it was not sent; None on
        a pipe.
    :ivar peer: what the client said in its handshake, where that is known.
    :ivar host: the application around the server.
    :ivar cannot_ask: why no question can be sent while a call waits; empty where one can.
    :ivar scopes: what the caller's token was given; None where nothing limits them.
    :ivar terms: as the server's operator set them.
    """

    __slots__ = ("cannot_ask", "header", "host", "peer", "scopes", "terms")

    def __init__(
        self,
        host: Host | None = None,
        *,
        header: Callable[[str], str | None] | None = None,
        peer: Peer | None = None,
        terms: Terms = DEFAULT_TERMS,
    ) -> None:
        self.host: Host = host or PlainHost()
        self.header = header
        self.peer = peer
        self.terms = terms
        self.scopes: frozenset[str] | None = None
        self.cannot_ask = ""
