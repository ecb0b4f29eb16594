"""Which web pages may call the server. A browser says where a request comes from, and these rules take the place of a
CSRF token, which no AI client could have."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import NamedTuple

_ORIGIN = re.compile(r"([a-z][a-z0-9+.-]*)://(\[[0-9a-f:.]+\]|[^\s,/?#@:\[\]]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[::1\]")
_PORTS = {"http": "80", "https": "443"}
_SAME_SITE = frozenset({"same-origin", "none"})


class Site(NamedTuple):
    """A scheme, a host and a port, all of them as text in lower case."""

    scheme: str
    host: str
    port: str

    @property
    def is_loopback(self) -> bool:
        """Whether it can only be reached from this machine."""
        return _LOOPBACK.fullmatch(self.host) is not None

    @property
    def origin(self) -> str:
        """The origin as browsers write it: without the port that its scheme has anyway."""
        port = "" if self.port == _PORTS.get(self.scheme, "") else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}"


def site(origin: str) -> Site | None:
    """The site that an origin names, or None for what names none (`null`, a path, a look-alike)."""
    found = _ORIGIN.fullmatch(origin)
    if found is None:
        return None
    scheme, host, port = found.groups()
    return Site(scheme.lower(), host.lower(), port or _PORTS.get(scheme.lower(), ""))


def is_listed(origin: str | None, allowed: Set[str]) -> bool:
    """Whether an origin is among those that the app's operator listed."""
    return origin is not None and origin.lower() in allowed


def may_call(origin: str | None, own: Site | None, *, own_is_trusted: bool, allowed: Set[str]) -> bool:
    """Whether a page of this origin may call the server (2026-07-28, transports, Security Warning).

    :param origin: the Origin header, or None.
    :param own: where the request itself was sent to.
    :param own_is_trusted: the app's TRUSTED_HOSTS vouches for the host that the request was sent to; without that, a
        page that rebinds its name to this machine would be of the same origin.
    """
    if origin is None or is_listed(origin, allowed):
        return True
    page = site(origin)
    if page is None or own is None or page.scheme not in _PORTS:
        return False
    if page.is_loopback and own.is_loopback:
        return True
    return own_is_trusted and page == own


def is_cross_site(fetch_site: str | None, origin: str | None, own: Site | None) -> bool:
    """Whether a browser says that another site made it send this request (Fetch metadata, Sec-Fetch-Site)."""
    if fetch_site is None or fetch_site in _SAME_SITE:
        return False
    page = site(origin) if origin else None
    return not (page is not None and page.is_loopback and own is not None and own.is_loopback)
