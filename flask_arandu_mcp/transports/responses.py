"""HTTP responses of the server. Neither the app's session nor its own code sets a cookie on one, and a browser takes
none of them for a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from flask import Response
from werkzeug.datastructures import Headers

from ..dispatch import Outgoing
from . import cors
from .sse import HEADERS as SSE_HEADERS
from .sse import MEDIA_TYPE

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

_RESPONSE = "flask_arandu_mcp.response"
_REPLACED = frozenset({"set-cookie", "content-length", "x-content-type-options", "cache-control"})
_NO_PAGE = ("X-Content-Type-Options", "nosniff")
"""Errors repeat what was sent: no browser may take an answer for a page, whatever the app makes of its headers."""

_NOT_STORED = ("Cache-Control", "no-store")
"""Answers are for who asked: an app that lets its pages be kept does not mean these. It is among the headers from the
start, for the app's own code to see, and written over whatever that code has made of it."""


class MCPResponse(Response):
    """An answer of the server. Neither the app's session nor its own code sets a cookie on it."""

    def __iter__(self) -> Iterator[bytes]:
        """The body: a response that is one message is what a WSGI server reads and closes (PEP 3333)."""
        return self.iter_encoded()

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """The headers as they go out, without cookies: an AI client has no use for them."""
        headers = super().get_wsgi_headers(environ)
        headers.remove("Set-Cookie")
        for name, value in (_NO_PAGE,) if self.mimetype == MEDIA_TYPE else (_NO_PAGE, _NOT_STORED):
            headers[name] = value
        cors.grant(headers, environ)
        return headers

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """What goes out. Werkzeug's own way is left to the answers that have something for it to look after, since it
        costs as much as reading the message."""
        is_plain = self.is_sequence and self.status_code not in (204, 304) and environ["REQUEST_METHOD"] == "POST"
        if not is_plain or cors.is_noted(environ):
            return super().get_wsgi_response(environ)
        written = [header for header in self.headers if header[0].lower() not in _REPLACED]
        length = str(sum(map(len, self.iter_encoded())))
        return self, self.status, [*written, _NOT_STORED, _NO_PAGE, ("Content-Length", length)]

    def set_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: what it would write does not go out."""

    def delete_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, as for `set_cookie`."""


def whole(outgoing: Outgoing, environ: WSGIEnvironment) -> MCPResponse:
    """An answer that is one message."""
    body = b"" if outgoing.status == 204 else outgoing.body
    response = MCPResponse([body], outgoing.status, content_type="application/json")
    for name, value in (_NOT_STORED, *outgoing.headers):
        response.headers.add(name, value)
    return _remembered(response, environ)


def streamed(events: Iterable[bytes], status: int, environ: WSGIEnvironment) -> MCPResponse:
    """An answer that is a stream of events."""
    return _remembered(MCPResponse(events, status, Headers(SSE_HEADERS), content_type=MEDIA_TYPE), environ)


def own(response: Response, environ: WSGIEnvironment) -> MCPResponse | None:
    """The answer that the server gave to a request; None where the app's own code answered.

    :param response: what goes out. An app with a response class of its own has turned ours into one of it.
    """
    if isinstance(response, MCPResponse):
        return response
    ours: MCPResponse | None = environ.get(_RESPONSE)
    if ours is not None:
        ours.__class__ = MCPResponse
    return ours


def _remembered(response: MCPResponse, environ: WSGIEnvironment) -> MCPResponse:
    environ[_RESPONSE] = response
    return response
