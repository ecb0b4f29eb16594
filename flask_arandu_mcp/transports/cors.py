"""What a browser is told, so that the pages of a listed origin may read what they are answered (Fetch standard, CORS
protocol). It is said last of all, and nothing is said where the app's own CORS has answered."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, MutableMapping, Set
from typing import Any

from werkzeug.datastructures import Headers
from werkzeug.http import parse_set_header

from .. import headers as names
from .origins import is_listed

_ALLOWED = "flask_arandu_mcp.allowed_origins"
_ORIGIN = "Access-Control-Allow-Origin"
_REQUESTED = "HTTP_ACCESS_CONTROL_REQUEST_HEADERS"
_PARAM = re.compile(rf"{names.PARAM_PREFIX}[!#$%&'*+.^_`|~0-9a-z-]+", re.IGNORECASE)

HEADERS = (
    "content-type",
    "authorization",
    "accept",
    names.VERSION.lower(),
    names.METHOD.lower(),
    names.NAME.lower(),
    names.SESSION.lower(),
    "last-event-id",
)
"""What a page may send."""

EXPOSED = ("WWW-Authenticate", names.SESSION, names.VERSION, "Retry-After")
"""What a page may read, beside what any page may."""

MAX_AGE = "7200"
"""Seconds that a browser keeps what a preflight said; the longest that all of them keep it."""


def note(environ: MutableMapping[str, Any], allowed: Set[str]) -> None:
    """Note on a request which origins may read its answer."""
    environ[_ALLOWED] = allowed


def is_noted(environ: Mapping[str, Any]) -> bool:
    """Whether any origin may read answers."""
    return _ALLOWED in environ


def grant(headers: Headers, environ: MutableMapping[str, Any]) -> None:
    """Add to the headers of an answer what a listed origin is granted."""
    allowed = environ.get(_ALLOWED)
    if not allowed or _ORIGIN in headers:
        return
    vary = parse_set_header(headers.get("Vary"))
    vary.add("Origin")
    headers["Vary"] = vary.to_header()
    origin: str | None = environ.get("HTTP_ORIGIN")
    if not is_listed(origin, allowed):
        return
    # Never Allow-Credentials: a page acts with a token that its user gave it, not with whatever the browser keeps.
    headers[_ORIGIN] = str(origin)
    headers["Access-Control-Expose-Headers"] = ", ".join(EXPOSED)
    if environ["REQUEST_METHOD"] == "OPTIONS":
        headers["Access-Control-Allow-Methods"] = "POST"
        headers["Access-Control-Allow-Headers"] = ", ".join([*HEADERS, *_params(environ.get(_REQUESTED, ""))])
        headers["Access-Control-Max-Age"] = MAX_AGE


def _params(requested: str) -> Iterator[str]:
    for name in requested.split(","):
        if _PARAM.fullmatch(name.strip()):
            yield name.strip().lower()
