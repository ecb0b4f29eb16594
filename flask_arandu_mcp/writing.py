"""JSON and JSON-RPC 2.0 messages, to bytes. What goes out is compact ASCII, without NaN and without half a surrogate
pair, and a long result is encoded once."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from .errors import ProtocolError
from .jsonrpc import MessageId
from .typing import JSONObject


def _encoder(*, ensure_ascii: bool) -> Callable[[object], str]:
    own = json.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=False, check_circular=False, separators=(",", ":"))
    # CPython makes its accelerator anew for each value, which takes as long as it then takes for a short one.
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return own.encode
    quote = json.encoder.encode_basestring_ascii if ensure_ascii else json.encoder.encode_basestring
    pieces = make(None, own.default, quote, None, ":", ",", False, False, False)
    return lambda value: "".join(pieces(value, 0))


_encode = _encoder(ensure_ascii=True)
_encode_readable = _encoder(ensure_ascii=False)
_ESCAPES = re.compile(r"\\\\|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})")


def encode(value: object) -> str:
    """A JSON value as compact ASCII, without NaN and without half a surrogate pair.

    :raises ValueError: for a number that is not finite.
    :raises TypeError: for what JSON cannot carry.
    """
    text = _encode(value)
    if "\\ud" in text:
        text = _ESCAPES.sub(lambda match: "\\ufffd" if match[1] else match[0], text)
    return text


def encode_twice(value: object) -> tuple[str, str]:
    """A JSON value encoded as itself, and as a JSON string that holds its text.

    The text is what a model reads, so it keeps its letters; both come from one encoding where that is ASCII.
    """
    text = _encode_readable(value)
    return (text if text.isascii() and "\\ud" not in text else encode(value)), encode(text)


def write_notification(method: str, params: JSONObject) -> bytes:
    """A message that is owed no answer."""
    return f'{{"jsonrpc":"2.0","method":{_encode(method)},"params":{encode(params)}}}'.encode("ascii")


def write_request(id: MessageId, method: str, params: JSONObject) -> bytes:
    """A message that asks the client for something, under an id of the server's own."""
    return f'{{"jsonrpc":"2.0","id":{_encode(id)},"method":{_encode(method)},"params":{encode(params)}}}'.encode(
        "ascii"
    )


def write_result(id: MessageId, head: str, members: str | bytes, tail: str) -> bytes:
    """The answer to a request, from a result that is encoded already.

    :param members: what stands between its head and its tail; bytes where it was prepared.
    """
    written = str(id) if isinstance(id, int) else _encode(id)
    before, after = f'{{"jsonrpc":"2.0","id":{written},"result":{head}', f"{tail}}}"
    if isinstance(members, str):
        return f"{before}{members}{after}".encode("ascii")
    return b"".join((before.encode("ascii"), members, after.encode("ascii")))


def write_error(id: MessageId | None, error: ProtocolError) -> bytes:
    """The error that a message is answered with; its id is null where none was read."""
    body: JSONObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    head = "" if error.anonymous else f'"id":{_encode(id)},'
    return f'{{"jsonrpc":"2.0",{head}"error":{encode(body)}}}'.encode("ascii")
