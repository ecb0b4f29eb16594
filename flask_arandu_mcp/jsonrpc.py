"""JSON-RPC 2.0 messages, from bytes. It is strict in what it reads, does no I/O and knows no method of the protocol."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Never, TypeAlias, TypeGuard

from .errors import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ProtocolError
from .limits import MAX_DEPTH, MAX_SAFE_INTEGER
from .typing import JSONObject

MessageId: TypeAlias = str | int


class Call:
    """A request: it has an id, and is owed exactly one answer.

    :ivar suspect: the message may hold a number that overflowed or half a surrogate pair; without it, it holds
        neither, and nobody has to look.
    """

    __slots__ = ("id", "method", "params", "suspect")

    def __init__(self, id: MessageId, method: str, params: JSONObject, suspect: bool = False) -> None:
        self.id = id
        self.method = method
        self.params = params
        self.suspect = suspect


class Notice:
    """A notification: it has no id, and is never answered."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: JSONObject) -> None:
        self.method = method
        self.params = params


class Reply:
    """A client's answer to a request that a server sent."""

    __slots__ = ("error", "id", "result")

    def __init__(self, id: MessageId | None, result: object, error: object) -> None:
        self.id = id
        self.result = result
        self.error = error


Message: TypeAlias = Call | Notice | Reply


class Malformed(ProtocolError):
    """Bytes that are no message. `id` is the one to answer to, None where none could be read."""

    def __init__(self, code: int, message: str, id: MessageId | None = None, *, status: int | None = 400) -> None:
        super().__init__(code, message, status=status)
        self.id = id


def parse(body: bytes) -> Message:
    """Read one message.

    :raises Malformed: with -32700 for what is not JSON, and -32600 for JSON that is not one message.
    """
    value, suspect = _read(body)
    raw_id = value.get("id") if isinstance(value, dict) else None
    id = raw_id if is_id(raw_id) else None
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and _is_too_deep(value):
        raise Malformed(PARSE_ERROR if id is None else INVALID_REQUEST, _TOO_DEEP, id)
    if isinstance(value, list):
        raise Malformed(INVALID_REQUEST, "Batches are not supported: send one message, a JSON object, at a time.")
    if not isinstance(value, dict):
        raise Malformed(INVALID_REQUEST, "A message must be a JSON object with the member 'jsonrpc': \"2.0\".")
    if value.get("jsonrpc") != "2.0":
        raise Malformed(INVALID_REQUEST, "The member 'jsonrpc' must be the string \"2.0\".", id)
    if "id" in value and id is None and ("method" in value or raw_id is not None):
        limit = f"±{MAX_SAFE_INTEGER}"
        raise Malformed(INVALID_REQUEST, f"The member 'id' must be a string or an integer within {limit}, not null.")
    return _classify(value, id, suspect)


def _classify(value: JSONObject, id: MessageId | None, suspect: bool) -> Message:
    is_reply = "result" in value or "error" in value
    if "method" not in value:
        if is_reply and "id" in value:
            return Reply(id, value.get("result"), value.get("error"))
        raise Malformed(INVALID_REQUEST, "A message must have the member 'method'.", id)
    method = value["method"]
    if not isinstance(method, str):
        raise Malformed(INVALID_REQUEST, "The member 'method' must be a string.", id)
    if is_reply:
        raise Malformed(INVALID_REQUEST, "A message must have 'method', or 'result' or 'error', and not both.", id)
    params = value.get("params")
    if id is None:
        return Notice(method, params if isinstance(params, dict) else {})
    if method.startswith("notifications/"):
        raise Malformed(INVALID_REQUEST, f"{method!r} is a notification: send it without an 'id'.", id)
    return Call(id, method, _params(params, id), suspect)


def _params(params: object, id: MessageId) -> JSONObject:
    # Clients written in PHP send an empty map as an empty array, and some send null for nothing.
    if params is None or params == []:
        return {}
    if isinstance(params, dict):
        return params
    # It is a request, so each era answers it with the status of its own.
    raise Malformed(INVALID_PARAMS, "The member 'params' must be a JSON object.", id, status=None)


def is_id(value: object) -> TypeGuard[MessageId]:
    """Whether a value may be the id of a request: a string that can be written back, or a safe integer."""
    if isinstance(value, str):
        return value.isascii() or not _SURROGATE.search(value)
    return type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER


class _Overflow(Exception):
    """A number too large for a float; it is read again, leniently, for its message to be answered."""


class _Refused(ValueError):
    """JSON that this reader refuses although a lenient one would take it."""


def _constant(name: str) -> Never:
    raise _Refused(f"{name} is no number of JSON, send null")


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise _Overflow
    return value


def _members(pairs: list[tuple[str, object]]) -> JSONObject:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise _Refused(f"the member {twice[:64]!a} occurs twice in one object, send it once")
    return members


_TOO_DEEP = f"The message is nested too deeply: send at most {MAX_DEPTH} levels."
_SURROGATE = re.compile("[\ud800-\udfff]")
_strict = json.JSONDecoder(object_pairs_hook=_members, parse_float=_finite, parse_constant=_constant)
_read_overflowing = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_constant).decode


def _decoded(text: str) -> object:
    # A message begins with its brace and ends with it, and `decode` takes long to look for white space around it.
    if text.startswith("{"):
        value, end = _strict.raw_decode(text)
        if end == len(text) or text[end:] == "\n":
            return value
    return _strict.decode(text)


def _read(body: bytes) -> tuple[object, bool]:
    text = ""
    try:
        text = body.decode("utf-8")
        # A lone surrogate can only come from an escape; strict UTF-8 has none.
        suspect = "\\u" in text and ("\\ud" in text or "\\uD" in text)
        try:
            return _decoded(text), suspect
        except _Overflow:
            return _read_overflowing(text), True
    except RecursionError:
        raise Malformed(PARSE_ERROR, _TOO_DEEP) from None
    except UnicodeDecodeError:
        raise Malformed(PARSE_ERROR, "The message is not UTF-8: send it in UTF-8.") from None
    except _Refused as error:
        raise Malformed(PARSE_ERROR, f"The message is not JSON: {error}.") from None
    except json.JSONDecodeError as error:
        what = "it is empty" if not text.strip() else f"{error.msg.lower()} at character {error.pos}"
        raise Malformed(PARSE_ERROR, f"The message is not JSON ({what}): send one JSON object.") from None
    except ValueError:
        raise Malformed(PARSE_ERROR, "The message holds an integer with too many digits: send it as text.") from None


def _is_too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node if isinstance(node, list) else ())
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True
