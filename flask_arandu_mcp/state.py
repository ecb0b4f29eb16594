"""What `init_app` leaves on an app: one frozen state a server, under its name. Whatever serves a message reads it, and
nothing writes to it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from flask import Blueprint, Flask

from .catalogue import Catalogue
from .declarations.tools import Tool, ToolSource
from .errors import DeclarationError, Failure, attempt
from .ext import limiter
from .hosting import FlaskHost
from .identity import has_no_loader, reads_no_tokens
from .oauth import Resource
from .server import Server
from .settings import Settings

KEY = "arandu_mcp"
"""Where the states are kept: `app.extensions[KEY]`, a dict of name to `State`."""


class Declared:
    """What was declared on an extension object, for every app that it serves.

    :ivar local_subject: who an assistant on this machine acts as.
    :ivar token_scopes: what the token of a request was given.
    """

    __slots__ = ("local_subject", "token_scopes")

    def __init__(self) -> None:
        self.local_subject: Callable[[], Any] | None = None
        self.token_scopes: Callable[[Any], str | Iterable[str]] | None = None


class State:
    """One server on one app.

    :ivar name: the name that it was given in `ArandoMCP(name=...)`.
    :ivar url: where it is served over HTTP.
    :ivar blueprint: what serves it there.
    :ivar is_ready: it was found to be without mistakes, with the finished app around it.
    :ivar resource: what it says of the tokens that it takes.
    :ivar terms: the part of its settings that the door goes by.
    """

    __slots__ = (
        "_catalogue",
        "_lock",
        "app",
        "blueprint",
        "declared",
        "host",
        "is_ready",
        "name",
        "resource",
        "server",
        "settings",
        "terms",
        "url",
    )

    def __init__(
        self, app: Flask, server: Server, settings: Settings, declared: Declared, *, name: str, url: str
    ) -> None:
        self.app = app
        self.server = server
        self.settings = settings
        self.terms = settings.terms
        self.declared = declared
        self.name = name
        self.url = url
        self.resource = Resource(
            server,
            url,
            issuers=settings.authorization_servers,
            public_url=settings.public_url,
            scopes=settings.scopes,
        )
        self.blueprint = Blueprint(KEY if name == "default" else f"{KEY}_{name}", __name__)
        self.host = FlaskHost(app, f"{self.blueprint.name}:{server.name}", self.resource)
        self._catalogue: Catalogue | None = None
        self.is_ready = False
        self._lock = threading.Lock()

    def check(self) -> None:
        """Check what only the finished app shows, and settle what could not be settled before.

        :raises DeclarationError: listing every mistake.
        """
        with self._lock, self.app.app_context():
            self._leave_csrf_to_us()
            faults = [*self._expansion_faults(), *self._faults()]
            if faults:
                self._catalogue = None
        if faults:
            raise DeclarationError(self.server.name, faults)

    @property
    def catalogue(self) -> Catalogue:
        """All that the server offers on this app, with what only the finished app shows.

        :raises DeclarationError: listing every mistake.
        """
        if self._catalogue is None:
            self._catalogue = self._expanded()
        return self._catalogue

    def be_ready(self) -> None:
        """Check before the first message that is served, and not again: by then the app is finished.

        :raises DeclarationError: listing every mistake.
        """
        if not self.is_ready:
            self.check()
            self.is_ready = True

    def _expanded(self) -> Catalogue:
        """The catalogue of the app as it is now."""
        server = self.server
        if all(isinstance(tool, Tool) for tool in server.tools):
            return server.own
        tools: list[Tool | ToolSource] = []
        faults: list[str] = []
        for tool in server.tools:
            if isinstance(tool, ToolSource):
                found = tool.expand(self.app, server.rules, self.settings.max_result)
                tools += found.tools
                faults += found.faults
            else:
                tools.append(tool)
        return server.offering(tools, faults)

    def _expansion_faults(self) -> tuple[str, ...]:
        try:
            self._catalogue = self._expanded()
        except DeclarationError as error:
            self._catalogue = self.server.own  # so that the other faults can be told beside
            return error.faults
        return ()

    def _leave_csrf_to_us(self) -> None:
        # No AI client could have a form's token; the rules on Origin and Sec-Fetch-Site take its place.
        csrf = self.app.extensions.get("csrf")
        if csrf is not None:
            csrf.exempt(self.blueprint)

    def _hidden_by(self) -> str:
        """The endpoint of the app that is asked in the place of the server; empty where none is."""
        if self.app.url_map.host_matching:
            return ""
        match = partial(self.app.url_map.bind("", url_scheme="http").match, method="POST")
        found = attempt(match, self.url or "/")
        endpoint = "" if isinstance(found, Failure) else str(found[0])
        return "" if endpoint == f"{self.blueprint.name}.serve" else endpoint

    def _faults(self) -> Iterator[str]:
        if hidden_by := self._hidden_by():
            yield (
                f"POST {self.url} leads to the app's endpoint {hidden_by!r}, which has the same rule: give the server "
                "a path of its own, ArandoMCP(..., url=...)."
            )
        if has_no_loader():
            yield (
                "the app's LoginManager can load nobody: give it a @login_manager.user_loader or a "
                "@login_manager.request_loader."
            )
        elif self.settings.authorization_servers and reads_no_tokens():
            yield (
                "config 'MCP_AUTHORIZATION_SERVERS' sends clients for tokens that nothing in the app reads: give its "
                "LoginManager a @login_manager.request_loader."
            )
        if self.declared.token_scopes is None and not reads_no_tokens():
            for declared in self.resource.limited():
                yield (
                    f"{declared!r} has scopes, and nothing tells which scopes a token has: decorate a function that "
                    "does with @mcp.token_scopes, or take them away."
                )
        limited = self.server.catalogue.limited
        if limited and (lacking := limiter.lacking(self.app)):
            yield f"{', '.join(limited)} have limits, and {lacking}"


def states(app: Flask) -> dict[str, State]:
    """The servers of an app, by their names."""
    found: dict[str, State] = app.extensions.setdefault(KEY, {})
    return found


def chosen(found: Mapping[str, State], name: str | None) -> State | None:
    """Of an app's servers the one of a name, or what clients know one alone by; without a name the one called
    `default`, or the only one. None where there is none such."""
    if name is None:
        name = next(iter(found)) if len(found) == 1 else "default"
    if name in found:
        return found[name]
    known_so = [state for state in found.values() if state.server.name == name]
    return known_so[0] if len(known_so) == 1 else None


def find(app: Flask, name: str | None) -> State:
    """A server of an app, as :func:`chosen` does.

    :raises LookupError: where there is none of this name.
    """
    found = states(app)
    if not found:
        words = f"The app {app.name!r} serves no MCP server: create one in its factory, ArandoMCP(app, server)."
        raise LookupError(words)
    state = chosen(found, name)
    if state is None:
        name, there = name or "default", ", ".join(map(repr, found))
        raise LookupError(f"There is no server {name!r}: this app has {there}; say which, server=...")
    return state
