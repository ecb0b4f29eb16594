"""HTTP responses of the server. Neither the app's session nor its own code sets a cookie on one, and a browser takes
none of them for a page."""

from __future__ import annotations

from collections.abc import Iterable
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
_REPLACED = frozenset({"set-cookie", "content-length", "x-content-type-options"})
_NO_PAGE = ("X-Content-Type-Options", "nosniff")
"""Errors repeat what was sent: no browser may take an answer for a page, whatever the app makes of its headers."""


class _Body(list[bytes]):
    """The body of a response, which is closed when it has gone out (PEP 3333)."""

    def __init__(self, chunks: Iterable[bytes], response: Response) -> None:
        super().__init__(chunks)
        self.close = response.close


class MCPResponse(Response):
    """An answer of the server. Neither the app's session nor its own code sets a cookie on it."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """The headers as they go out, without cookies: an AI client has no use for them."""
        headers = super().get_wsgi_headers(environ)
        headers.remove("Set-Cookie")
        headers[_NO_PAGE[0]] = _NO_PAGE[1]
        cors.grant(headers, environ)
        return headers

    def get_wsgi_response(self, environ: WSGIEnvironment) -> tuple[Iterable[bytes], str, list[tuple[str, str]]]:
        """What goes out. Werkzeug's own way is left to the answers that have something for it to look after, since it
        costs as much as reading the message."""
        is_plain = self.is_sequence and self.status_code not in (204, 304) and environ["REQUEST_METHOD"] == "POST"
        if not is_plain or cors.is_noted(environ):
            return super().get_wsgi_response(environ)
        body = _Body(self.iter_encoded(), self)
        written = [(name, value) for name, value in self.headers if name.lower() not in _REPLACED]
        written += [_NO_PAGE, ("Content-Length", str(sum(map(len, body))))]
        return body, self.status, written

    def set_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: what it would write does not go out."""

    def delete_cookie(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing, as for `set_cookie`."""


def whole(outgoing: Outgoing, environ: WSGIEnvironment) -> MCPResponse:
    """An answer that is one message."""
    body = b"" if outgoing.status == 204 else outgoing.body
    headers = _headers("application/json", ("Cache-Control", "no-store"), *outgoing.headers)
    return _remembered(MCPResponse([body], outgoing.status, headers), environ)


def streamed(events: Iterable[bytes], status: int, environ: WSGIEnvironment) -> MCPResponse:
    """An answer that is a stream of events."""
    return _remembered(MCPResponse(events, status, _headers(MEDIA_TYPE, *SSE_HEADERS)), environ)


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


def _headers(media_type: str, *more: tuple[str, str]) -> Headers:
    made = Headers()
    for name, value in (("Content-Type", media_type), *more):
        made.add(name, value)
    return made


def _remembered(response: MCPResponse, environ: WSGIEnvironment) -> MCPResponse:
    environ[_RESPONSE] = response
    return response
