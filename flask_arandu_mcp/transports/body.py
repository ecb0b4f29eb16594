"""The body of an HTTP request, read whole and never beyond the limit. What is refused is read to its end too, so that
the client gets to see the answer."""

from __future__ import annotations

from contextlib import suppress

from werkzeug.exceptions import ClientDisconnected, RequestEntityTooLarge
from werkzeug.wrappers import Request

from ..errors import INVALID_REQUEST, PARSE_ERROR
from ..jsonrpc import Malformed

_CHUNK = 64 * 1024
_DRAINED = 16 * 1024 * 1024


def read(request: Request, limit: int) -> bytes:
    """The bytes of a message. The request keeps them, for the app's own code may want to read them too.

    :raises Malformed: 413 for more than the limit, 400 for less than was announced.
    """
    # A body without a length is cut at the limit and not refused, so its limit is one byte further.
    announced = request.content_length
    request.max_content_length = limit + 1 if announced is None else limit
    too_large = Malformed(INVALID_REQUEST, f"The message is too large: at most {limit} bytes.", status=413)
    cut = Malformed(PARSE_ERROR, "The body ended before it was complete: send it again.")
    try:
        body = request.get_data()
    except RequestEntityTooLarge:
        raise too_large from None
    except ClientDisconnected:
        raise cut from None
    if len(body) > limit:
        raise too_large
    if announced is not None and len(body) < announced:
        raise cut
    return body


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
