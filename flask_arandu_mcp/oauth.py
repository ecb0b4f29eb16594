"""A server as an OAuth resource: where its tokens come from, and what they must allow, said in a document and in each
challenge (RFC 9728). Nothing that is said of the server's own address is taken from a Host header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flask import Flask, Response, current_app, has_request_context, request
from flask.blueprints import Blueprint
from werkzeug.exceptions import HTTPException

from .errors import DeclarationError
from .headers import Challenge
from .server import Server
from .transports.origins import site
from .typing import JSONObject
from .writing import encode

WELL_KNOWN = "/.well-known/oauth-protected-resource"
_ALLOW = "GET, HEAD, OPTIONS"


class Resource:
    """One server, as whoever needs a token for it is told of it.

    :ivar issuers: the authorization servers whose tokens it takes; empty where it says nothing of any.
    :ivar scopes: what every token must have been given.
    """

    __slots__ = ("_public_url", "_server", "_url", "issuers", "scopes")

    def __init__(
        self, server: Server, url: str, *, issuers: Sequence[str] = (), public_url: str = "", scopes: Sequence[str] = ()
    ) -> None:
        self._server = server
        self._url = url.rstrip("/")
        self._public_url = public_url
        self.issuers = tuple(issuers)
        self.scopes = tuple(scopes)

    def challenge(self) -> Challenge:
        """What somebody is told who must show a token first."""
        base = self._base() if self.issuers else None
        document = "" if base is None else f"{base}{WELL_KNOWN}{self._url}"
        return Challenge(str(self._server.name), scope=" ".join(self.scopes), resource_metadata=document)

    def step_up(self, scopes: Iterable[str]) -> Challenge:
        """What somebody is told whose token was not given these scopes: all that it needs, in one go."""
        needed = " ".join(dict.fromkeys([*self.scopes, *sorted(scopes)]))
        return self.challenge()._replace(error="insufficient_scope", scope=needed)

    def check_reached(self) -> None:
        """Check that the server knows its own address, wherever it was reached.

        :raises DeclarationError: where it does not.
        """
        if self.issuers and self._base() is None:
            raise DeclarationError(self._server.name, [NO_PUBLIC_URL])

    def document(self) -> JSONObject | None:
        """The document on the server (RFC 9728, section 2); None where the server does not know its own address."""
        base = self._base()
        if base is None:
            return None
        document: JSONObject = {"resource": f"{base}{self._url}", "authorization_servers": list(self.issuers)}
        declared = sorted({scope for item in self._server.catalogue.declarations for scope in item.scopes})
        scopes = list(dict.fromkeys([*self.scopes, *declared]))
        if scopes:
            document["scopes_supported"] = scopes
        document["bearer_methods_supported"] = ["header"]
        document["resource_name"] = str(self._server.title) or self._server.name
        return document

    def limited(self) -> list[str]:
        """The names of the declarations that a token needs scopes of their own for."""
        return [item.name for item in self._server.catalogue.declarations if item.scopes]

    def paths(self, *, is_default: bool) -> Iterable[str]:
        """Where the document is served.

        :param is_default: the app's default server has the document of the root, too.
        """
        own = f"{WELL_KNOWN}{self._url}"
        # The place that RFC 9728 gives it, which only a proxy can lead to an app that has a part of a host.
        at_the_root = f"{WELL_KNOWN}{_path(self._public_url)}{self._url}"
        paths = [own, at_the_root, *([WELL_KNOWN] if is_default else [])]
        return dict.fromkeys(path for each in paths for path in (each, f"{each}/"))

    def _base(self) -> str | None:
        if self._public_url:
            return self._public_url
        own = site(f"{request.scheme}://{request.host}") if has_request_context() else None
        if own is None or not own.is_loopback:
            return None
        return f"{own.origin}{request.root_path.rstrip('/')}"


NO_PUBLIC_URL = (
    "config 'MCP_PUBLIC_URL' is missing: with MCP_AUTHORIZATION_SERVERS clients are told the server's own address, "
    "which no Host header is trusted with; set it to the public URL of the app, such as 'https://api.example.com'."
)


def mistakes(app: Flask, *, issuers: Sequence[str], public_url: str) -> list[str]:
    """What can be told at boot: an app that says that it has other hosts than this machine must say its address."""
    if not issuers or public_url:
        return []
    named = [app.config.get("SERVER_NAME"), *(app.config.get("TRUSTED_HOSTS") or ())]
    sites = [site(f"http://{host.removeprefix('.')}") for host in named if host]
    return [NO_PUBLIC_URL] if any(where is not None and not where.is_loopback for where in sites) else []


def _path(url: str) -> str:
    _, slash, path = url.partition("://")[2].partition("/")
    return slash + path


class _Answered(HTTPException):
    """An answer before the app's own code runs. It has no code, so that no error handler of the app is asked."""


def publish(app: Flask, resource: Resource, *, name: str, is_default: bool) -> None:
    """Serve a resource's document, to everybody.

    :param name: of the Blueprint that does it.
    """
    if not resource.issuers:
        return
    blueprint = Blueprint(name, __name__)

    @blueprint.url_value_preprocessor
    def answer(endpoint: str | None, values: dict[str, Any] | None) -> None:
        # Before the app's own before_request functions, which may let in users only.
        raise _Answered(response=_answer(resource))

    # An app that traps HTTP exceptions asks its handlers about ours too, and those of a Blueprint first.
    blueprint.register_error_handler(_Answered, lambda answered: answered.response)
    app.register_blueprint(blueprint)
    endpoint = f"{name}.document"
    for path in resource.paths(is_default=is_default):
        rule = app.url_rule_class(path, methods=None, endpoint=endpoint)
        rule.provide_automatic_options = False  # type: ignore[attr-defined]  # Flask reads it off the rule
        app.url_map.add(rule)
    app.view_functions[endpoint] = lambda: _answer(resource)


def _answer(resource: Resource) -> Response:
    document = resource.document()
    if request.method == "OPTIONS":
        response = Response(status=204)
        response.headers["Access-Control-Allow-Methods"] = "GET"
        response.headers["Access-Control-Allow-Headers"] = "*"
    elif request.method not in {"GET", "HEAD"}:
        response = _json({"error": f"{request.method} is not served here: GET this document."}, 405)
    elif document is None:
        current_app.logger.error(NO_PUBLIC_URL)
        response = _json({"error": "The server does not know its own address: its log says why."}, 503)
    else:
        response = _json(document, 200)
    response.headers["Allow"] = _ALLOW
    # For everybody: it is public, and pages that act as clients must read it before they can sign in.
    response.headers["Access-Control-Allow-Origin"] = "*"
    return response


def _json(body: JSONObject, status: int) -> Response:
    response = Response(encode(body), status, mimetype="application/json")
    response.headers["Cache-Control"] = "no-store"
    return response
