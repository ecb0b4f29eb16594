"""The body of an HTTP request, read whole and never beyond the limit. What is refused is read to its end too, so that
the client gets to see the answer."""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wrappers import Request

from ..errors import INVALID_REQUEST, PARSE_ERROR
from ..jsonrpc import Malformed

_CHUNK = 64 * 1024
_DRAINED = 16 * 1024 * 1024
_DIGITS = 20
"""Of a length, which Python would refuse to read where there are thousands."""


def read(request: Request, limit: int) -> bytes:
    """The bytes of a message. The request keeps them, for the app's own code may want to read them too.

    :raises Malformed: 413 for more than the limit, 400 for less than was announced.
    """
    # Werkzeug keeps the body that `get_data` has read under this name, and reads no stream where it is there. It is a
    # private one, like those in `identity`: going through `get_data` costs as much as parsing the message.
    kept: bytes | None = getattr(request, "_cached_data", None)
    request.max_content_length = limit  # in place of the app's own, for its code to read what was let in
    announced = _length(request)
    if kept is not None:
        body = kept
    elif announced is None or "stream" in vars(request):  # the app's own code may have begun to read
        body = _by_werkzeug(request, limit)
    elif announced <= limit:
        body = _announced(request, announced)
    else:
        raise _too_large(limit)
    if len(body) > limit:
        raise _too_large(limit)
    request._cached_data = body
    request.environ["wsgi.input"] = BytesIO(body)
    return body


def _length(request: Request) -> int | None:
    sent = request.environ.get("CONTENT_LENGTH", "")
    if sent.isdecimal() and len(sent) < _DIGITS and "HTTP_TRANSFER_ENCODING" not in request.environ:
        return int(sent)
    return request.content_length


def _announced(request: Request, length: int) -> bytes:
    stream = request.environ["wsgi.input"]
    try:
        body: bytes = stream.read(length)
        while len(body) < length and (more := stream.read(length - len(body))):
            body += more
    except (OSError, ValueError):
        raise _cut() from None
    if len(body) < length:
        raise _cut()
    return body


def _by_werkzeug(request: Request, limit: int) -> bytes:
    # Without a length it is cut at the limit and not refused, so its limit is one byte further.
    request.max_content_length = limit + 1
    try:
        body = request.get_data()
    except RequestEntityTooLarge:
        raise _too_large(limit) from None
    except ClientDisconnected:
        raise _cut() from None
    return body


def _too_large(limit: int) -> Malformed:
    return Malformed(INVALID_REQUEST, f"The message is too large: send at most {limit} bytes.", status=413)


def _cut() -> Malformed:
    return Malformed(PARSE_ERROR, "The body ended before it was complete: send it again.")


def drain(request: Request) -> None:
    """Read what is left of the body and forget it, up to 16 MiB.

    A server that closes with bytes unread resets the connection, and the client loses the answer.
    """
    stream = request.environ["wsgi.input"]
    is_terminated = request.environ.get("wsgi.input_terminated", False)
    left = _DRAINED if is_terminated else min(request.content_length or 0, _DRAINED)
    with suppress(OSError):
        while left > 0 and (chunk := stream.read(min(_CHUNK, left))):
            left -= len(chunk)
