"""The extension object: it declares which server an app serves, and where. All it leaves on an app is the frozen state
in `app.extensions`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask

from . import oauth
from .errors import DeclarationError
from .server import Server
from .settings import read
from .state import Declared, State, states
from .transports.http import mount

F = TypeVar("F", bound=Callable[[], Any])
S = TypeVar("S", bound=Callable[[Any], Any])


class ArandoMCP:
    """Serves a :class:`Server` from a Flask app, over HTTP at `url` and over a pipe with `flask mcp start`.

    :param app: call :meth:`init_app` on this app.
    :param server: what is served; without one, an empty server that is named after the app.
    :param name: tells several servers on one app apart.
    :param url: where it is served.
    """

    def __init__(
        self,
        app: Flask | None = None,
        server: Server | None = None,
        *,
        name: str = "default",
        url: str = "/mcp",
    ) -> None:
        if isinstance(app, Server):
            raise TypeError("ArandoMCP() is given a server where it wants the app: write ArandoMCP(server=server).")
        self.name = name
        self.url = url
        self._server = server
        self._declared = Declared()
        if app is not None:
            self.init_app(app)

    def init_app(self, app: Flask, server: Server | None = None) -> None:
        """Serve the server from an app.

        :param server: for this app, in place of the extension's own.
        :raises DeclarationError: listing every mistake in what is declared and configured.
        """
        server = server or self._server or Server(app.name)
        settings, mistakes = read(app.config)
        faults = [*self._faults(app), *mistakes]
        faults += oauth.mistakes(app, issuers=settings.authorization_servers, public_url=settings.public_url)
        try:
            server.validate()
        except DeclarationError as error:
            faults += error.faults
        if faults:
            raise DeclarationError(str(server.name), faults)
        state = State(app, server, settings, self._declared, name=self.name, url=self.url)
        mount(state)
        app.register_blueprint(state.blueprint)
        oauth.publish(app, state.resource, name=f"{state.blueprint.name}:oauth", is_default=self.name == "default")
        states(app)[self.name] = state

    def _faults(self, app: Flask) -> list[str]:
        faults = []
        if not self.url.startswith("/"):
            faults.append(f"url {self.url!r} is no path: it must begin with a slash, such as '/mcp'.")
        for name, state in states(app).items():
            if name == self.name:
                faults.append(
                    f"the name {name!r} is taken: call init_app once, or give a second server a name of its own, "
                    "ArandoMCP(name=...)."
                )
            elif state.url.rstrip("/") == self.url.rstrip("/"):
                faults.append(f"url {self.url!r} is taken by the server {name!r}: give ArandoMCP another url=.")
        return faults

    def local_subject(self, function: F) -> F:
        """Declare who an assistant on this machine acts as, over the pipe of `flask mcp start`.

        The function is called for every message, in an app context, and returns one of the app's users, or `guest`.
        """
        self._declared.local_subject = function
        return function

    def token_scopes(self, function: S) -> S:
        """Declare which scopes the token of a request was given.

        The function is called for every message that shows a Bearer token, after the app's request_loader, with
        Flask's request; it returns the scopes as a list, or as one str with spaces between them.
        """
        self._declared.token_scopes = function
        return function

    def check(self, app: Flask) -> None:
        """Check what only the finished app shows; the optional last line of a factory.

        :raises DeclarationError: listing every mistake.
        """
        states(app)[self.name].check()
