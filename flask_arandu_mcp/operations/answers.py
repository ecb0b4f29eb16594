"""What the app answered to an inner request, as the answer of a tool. Every kind of HTTP response has one here: data,
text, a file, a refusal in the app's own words, or an error that only the operator is told of."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from werkzeug.http import HTTP_STATUS_CODES
from werkzeug.wrappers import Response as HTTPResponse

from ..content import Audio, EmbeddedResource, Image
from ..errors import Failure, attempt
from ..response import Response
from ..troubles import Trouble
from ..typing import JSONObject

_KEPT = ("Location", "X-Pagination", "X-Total-Count", "Link")
"""The headers that reach the `_meta` of a result."""

_OWN_PAGE = re.compile(r"<!doctype html>\s*<html lang=en>\s*<title>\d+ [^<]*</title>\s*<h1>[^<]*</h1>(.*)", re.S)
"""The page that werkzeug makes of an error, in an app that makes none of its own."""


class Unfit(Exception):
    """The app answered with what no tool can pass on; says what, and what to do."""


def answer_of(response: HTTPResponse, endpoint: str, url: str, limit: int) -> Response:
    """The answer of a tool.

    :param limit: bytes that are read of a body, at most.
    :raises Trouble: for a refusal, in the app's words.
    :raises Unfit: for what is the app's fault, or of no use to a model.
    """
    status = response.status_code
    if 300 <= status < 400:
        raise Trouble(_redirected(response), status=status)
    if not 200 <= status < 500:
        raise Unfit(f"the endpoint {endpoint!r} answered {response.status}: mend what its log says")
    if response.mimetype == "text/event-stream":
        raise Unfit(f"the endpoint {endpoint!r} answered with a stream that has no end: do not make a tool of it")
    body = _read(response, limit)
    if status >= 400:
        raise _refused(response, body)
    return _answered(response, body, endpoint, url)


def _read(response: HTTPResponse, limit: int) -> bytes:
    body = bytearray()
    for chunk in response.iter_encoded():
        body += chunk
        if len(body) > limit:
            words = f"The result is over the limit of {limit} bytes: ask for less, by narrowing the query."
            raise Trouble(words)
    return bytes(body)


def _answered(response: HTTPResponse, body: bytes, endpoint: str, url: str) -> Response:
    meta = _meta(response)
    kind = response.mimetype or ""
    if not body or response.status_code in (204, 205):  # no server sends a body with these, whatever a view gives
        return Response.text("Done.", meta=meta)
    if response.is_json:
        data = attempt(json.loads, body)
        if isinstance(data, Failure):
            raise Unfit(
                f"the endpoint {endpoint!r} answered with JSON that cannot be read ({data.error}): mend what it writes"
            )
        return Response.json(data, meta=meta)
    # Flask says text/html of any text that a view returns; a page is told by its first tag.
    if kind in ("text/html", "application/xhtml+xml") and body.lstrip()[:1] == b"<":
        raise Unfit(f"the endpoint {endpoint!r} answered with a page for people: let it answer JSON to a client that "
                    "accepts JSON, or do not make a tool of it")  # fmt: skip
    if kind.startswith("text/"):
        return Response.text(body.decode(response.mimetype_params.get("charset", "utf-8"), "replace"), meta=meta)
    if kind.startswith("image/"):
        return Response(Image(body, kind), meta=meta)
    if kind.startswith("audio/"):
        return Response(Audio(body, kind), meta=meta)
    return Response(EmbeddedResource(url, body, mime_type=kind or "application/octet-stream"), meta=meta)


def _meta(response: HTTPResponse) -> JSONObject | None:
    meta: JSONObject = {}
    for name in _KEPT:
        value = response.headers.get(name)
        if value is not None:
            read = attempt(json.loads, value) if value.startswith(("{", "[")) else value
            meta[name] = value if isinstance(read, Failure) else read
    return meta or None


def _redirected(response: HTTPResponse) -> str:
    where = response.headers.get("Location", "")
    return (
        f"{response.status_code} {HTTP_STATUS_CODES.get(response.status_code, 'Redirect')}: the application sends a "
        f"browser on to {where!r} instead of answering, which is not followed: sign in first, if that is what it wants."
    )


def _refused(response: HTTPResponse, body: bytes) -> Trouble:
    status = response.status_code
    envelope: Any = attempt(json.loads, body) if response.is_json else None
    words = f"{status} {HTTP_STATUS_CODES.get(status, 'Refused')}"
    said = _said(response, body)
    return Trouble(
        f"{words}: {said}" if said else words, status=status, envelope=envelope if isinstance(envelope, dict) else None
    )


def _said(response: HTTPResponse, body: bytes) -> str:
    """The sentence in which a refusal says why, where it has one."""
    text = body.decode("utf-8", "replace").strip()
    if response.mimetype == "text/html":
        page = _OWN_PAGE.fullmatch(text)
        text = html.unescape(re.sub(r"<[^>]*>", "", page[1])) if page else ""
    return " ".join(text.split())[:1000]
