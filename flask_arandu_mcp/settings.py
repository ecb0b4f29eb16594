"""What an app's configuration says of the server: where and how much. The `MCP_*` keys are read once, in `init_app`,
and a key that nobody reads is a mistake."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from .caller import Terms
from .limits import ASK_TIMEOUT, MAX_MESSAGE, MAX_RESULT, SCOPE
from .transports.origins import site


class Settings(NamedTuple):
    """The `MCP_*` keys of an app's configuration.

    :ivar allowed_origins: `MCP_ALLOWED_ORIGINS`: origins whose pages may call the server, such as
        `https://inspector.example.org`.
    :ivar authorization_servers: `MCP_AUTHORIZATION_SERVERS`: the issuers of the tokens that the app takes; with any,
        guests are told to get one.
    :ivar endpoint_headers: `MCP_ENDPOINT_HEADERS`: headers that a call hands on to the endpoint behind its tool,
        such as one that chooses a tenant.
    :ivar login_required: `MCP_LOGIN_REQUIRED`: guests are told to sign in, whatever a policy says.
    :ivar max_message: `MCP_MAX_MESSAGE`: bytes of one message, at most.
    :ivar max_result: `MCP_MAX_RESULT`: bytes of one result, at most.
    :ivar page_size: `MCP_PAGE_SIZE`: declarations on one page of a list; without it, a list is one page.
    :ivar ask_timeout: `MCP_ASK_TIMEOUT`: seconds that a question to the user stays open.
    :ivar public_url: `MCP_PUBLIC_URL`: where the app is reached from outside, such as `https://api.example.com`.
    :ivar scopes: `MCP_SCOPES`: what every token must have been given.
    :ivar stdio_workers: `MCP_STDIO_WORKERS`: calls that a pipe works on at the same time.
    """

    allowed_origins: frozenset[str] = frozenset()
    authorization_servers: tuple[str, ...] = ()
    login_required: bool = False
    max_message: int = MAX_MESSAGE
    max_result: int = MAX_RESULT
    public_url: str = ""
    scopes: tuple[str, ...] = ()
    stdio_workers: int = 4
    ask_timeout: int = ASK_TIMEOUT
    page_size: int | None = None
    endpoint_headers: tuple[str, ...] = ()

    @property
    def serves_guests(self) -> bool:
        """Whether somebody who is not known is served at all."""
        return not (self.login_required or self.authorization_servers)

    @property
    def terms(self) -> Terms:
        """The part of the settings that the door goes by."""
        return Terms(self.max_result, self.serves_guests, self.ask_timeout, self.page_size)


_KEYS = {f"MCP_{field.upper()}": field for field in Settings._fields}


def read(config: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """The settings of an app, and every mistake in them, one sentence each; with a mistake they are the defaults."""
    mistakes = list(_mistakes(config))
    if mistakes:
        return Settings(), mistakes
    given = {field: config[key] for key, field in _KEYS.items() if key in config}
    for field, read in _READERS.items():
        if field in given:
            given[field] = read(given[field])
    return Settings(**given), []


def _mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    for key in config:
        if key.startswith("MCP_") and key not in _KEYS:
            meant = difflib.get_close_matches(key, _KEYS, 1, 0.8)
            if meant:
                yield f"config {key!r} is no setting of this extension: did you mean {meant[0]!r}?"
    for key, field in _KEYS.items():
        if key in config:
            wrong = _CHECKS.get(field, _positive)(config[key])
            if wrong:
                yield f"config {key!r} is {config[key]!r}: {wrong}."


def _positive(value: object) -> str:
    return "" if type(value) is int and value > 0 else "it must be a whole number above 0"


def _boolean(value: object) -> str:
    return "" if isinstance(value, bool) else "it must be True or False"


def _list_of(is_one: Callable[[str], bool], what: str) -> Callable[[object], str]:
    def check(value: object) -> str:
        is_list = isinstance(value, (list, tuple, set, frozenset))
        fits = is_list and all(isinstance(one, str) and is_one(one) for one in cast("Iterable[object]", value))
        return "" if fits else f"it must be a list of {what}"

    return check


def _may_be_handed_on(name: str) -> bool:
    return _HEADER.fullmatch(name) is not None and not _OF_THE_MESSAGE.match(name)


def _is_origin(value: str) -> bool:
    # A wildcard, `null` or a path would match nothing that a browser sends, or anything.
    return "*" not in value and site(value.removesuffix("/")) is not None


def _is_issuer(value: str) -> bool:
    return _URL.fullmatch(value) is not None and _is_private(value)


def _public_url(value: object) -> str:
    if isinstance(value, str) and (value == "" or _is_issuer(value)):
        return ""
    return "it must be an https URL without query, such as 'https://api.example.com' (http only on this machine)"


def _is_private(url: str) -> bool:
    """Whether nobody on the way can read what is sent to a URL (RFC 9728, section 1.2; RFC 8414, section 2)."""
    where = site("/".join(url.split("/", 3)[:3]))
    return where is not None and (where.scheme == "https" or where.is_loopback)


def _origins_of(value: Iterable[str]) -> frozenset[str]:
    sites = (site(origin.removesuffix("/")) for origin in value)
    return frozenset(where.origin for where in sites if where is not None)


def _canonical(url: str) -> str:
    """A URL as the protocol wants its own: scheme and host in lower case, no slash at the end."""
    origin, path = "/".join(url.split("/", 3)[:3]), "".join(url.split("/", 3)[3:]).rstrip("/")
    where = site(origin)
    return "" if where is None else f"{where.origin}/{path}".rstrip("/")


_URL = re.compile(r"https?://[^/\s]+(/[A-Za-z0-9._~!$&'()*+,;=:@%/-]*)?", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9-]+")
_OF_THE_MESSAGE = re.compile(r"(content-|accept(-(encoding|charset))?$|if-|range$|transfer-|host$|mcp-)", re.IGNORECASE)
"""Headers that say something of one message alone, and would be wrong on another."""
_CHECKS: dict[str, Callable[[object], str]] = {
    "login_required": _boolean,
    "allowed_origins": _list_of(_is_origin, "origins, such as ['https://example.org']"),
    "authorization_servers": _list_of(
        _is_issuer, "https URLs without query, such as ['https://auth.example.com'] (http only on this machine)"
    ),
    "endpoint_headers": _list_of(
        _may_be_handed_on, "names of headers, such as ['X-Tenant'], none of which describes the message itself"
    ),
    "public_url": _public_url,
    "scopes": _list_of(lambda scope: SCOPE.fullmatch(scope) is not None, "scopes, such as ['tasks:read']"),
}
_READERS: dict[str, Callable[[Any], object]] = {
    "allowed_origins": _origins_of,
    "authorization_servers": tuple,
    "endpoint_headers": tuple,
    "public_url": _canonical,
    "scopes": tuple,
}
