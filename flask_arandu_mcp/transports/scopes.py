"""What the token of a request was given, as the app tells it, and what every token must have been given. Sessions and
pipes have no token, and nothing here limits them."""

from __future__ import annotations

from collections.abc import Iterable

from flask import request
from werkzeug.exceptions import Unauthorized

from ..declarations.base import Prepared
from ..errors import Failure, ProtocolError, attempt
from ..identity import Identity, invalid_token, unavailable
from ..jsonrpc import Call, Message
from ..policies import decide
from ..state import State
from ..troubles import FORBIDDEN


def scopes_of(state: State, message: Message, identity: Identity) -> frozenset[str] | None:
    """The scopes of the token that a message came with; None where nothing limits it.

    :raises ProtocolError: 403 where it lacks one that every token needs; 503 where the app's function fails.
    """
    ask = state.declared.token_scopes
    if ask is None or not identity.by_token:
        return None
    found = attempt(lambda: _read(state.app.ensure_sync(ask)(request)))
    if isinstance(found, Failure):
        if isinstance(found.error, Unauthorized):
            raise invalid_token(state.resource.challenge())
        raise unavailable(found.error, state.host, "the function that @mcp.token_scopes decorates")
    missing = frozenset(state.settings.scopes) - found
    if missing:
        words = f"403 Forbidden: the token lacks the scope {' '.join(sorted(missing))!r}: get one that has it."
        needed = _needed_too(state, message, identity)
        raise ProtocolError(FORBIDDEN, words, status=FORBIDDEN, headers=state.host.step_up(needed))
    return found


def _read(scopes: object) -> frozenset[str]:
    if isinstance(scopes, str):
        return frozenset(scopes.split())
    # Nothing at all is no answer: it would be taken for a token that may do everything, or nothing.
    found = frozenset(scopes) if isinstance(scopes, Iterable) else None
    if found is None or not all(isinstance(scope, str) for scope in found):
        raise TypeError(f"token_scopes answered {scopes!r}; it must answer a list of scopes, or a str of them")
    return found


def _needed_too(state: State, message: Message, identity: Identity) -> frozenset[str]:
    """What the message needs beside: a client that is told all in one go asks its user once."""
    declared = _declared(state, message) if isinstance(message, Call) else None
    # Nobody learns of what a policy hides.
    if declared is None or not decide(declared.access, identity.subject).admitted:
        return frozenset()
    return declared.scopes


def _declared(state: State, call: Call) -> Prepared | None:
    catalogue = state.server.catalogue
    if call.method == "tools/call":
        return catalogue.tool(call.params.get("name"))
    if call.method == "prompts/get":
        return catalogue.prompt(call.params.get("name"))
    uri = call.params.get("uri")
    if call.method == "resources/read" and isinstance(uri, str):
        found = catalogue.resource(uri)
        return found[0] if found else None
    return None
