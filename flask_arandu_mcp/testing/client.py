"""A client of an app's MCP server for tests: it speaks the protocol over Flask's test client, in any revision, as one
of the app's users, and through all that the app does with a request."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Self

from flask import Flask
from flask.testing import FlaskClient

from ..catalogue import Catalogue
from ..declarations.base import Prepared
from ..errors import METHOD_NOT_FOUND
from ..mirroring import repeated
from ..revisions import R_2026_07_28, REVISIONS, Revision
from ..state import find
from ..typing import JSONObject
from .about import About, words_of
from .browser import Browser, noting, noting_outcomes
from .exchange import Exchange
from .kinds import CompletionResult, Listing, PromptResult, ResourceResult, ToolResult
from .questions import Answering, Answers
from .speaking import Call, Line, Speaker, speaker
from .who import Who, by_token, who

_ALL: JSONObject = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


class MCPClient:
    """Calls an app's MCP server as an assistant would, and as one of its users: a guest, until something else is said.

    What makes another client, such as :meth:`acting_as`, leaves this one as it is.

    :param server: the name of the server, where the app has several; without it the one called `default`, or the only
        one.
    :param revision: of the protocol, such as `2025-11-25`; one of the handshake introduces itself.
    :param token_of: gives a Bearer token of a user, for :meth:`acting_as` to show in place of a session.
    :param capabilities: what the client says that it can be asked; everything, without it.
    :param base_url: where the app is reached, such as `https://example.org/prefix`; without it as Flask's test client
        has it, or the first of the app's `TRUSTED_HOSTS`.
    :raises LookupError: for an app that has no such server.
    :raises ValueError: for a revision that is not served.
    """

    def __init__(
        self,
        app: Flask,
        *,
        server: str | None = None,
        revision: str = R_2026_07_28.name,
        token_of: Callable[[Any], str] | None = None,
        capabilities: Mapping[str, object] | None = None,
        base_url: str | None = None,
    ) -> None:
        self.app = app
        self._state = find(app, server)
        self._revision = _known(revision)
        self._token_of = token_of
        self._capabilities: JSONObject = dict(_ALL if capabilities is None else capabilities)
        self._base_url = base_url
        self._who = Who()
        self._headers: dict[str, str] = {}
        self._answers: Answers = {}
        self._speaker: Speaker | None = None

    def __repr__(self) -> str:
        return f"<MCPClient of {self._state.server.name!r} as {self._who.words}>"

    # ------------------------------------------------------------------------------------------ another client

    def acting_as(self, user: Any) -> Self:
        """A client that acts as a user: signed in by a session as the app's own sign-in makes one, or with a token of
        `token_of`. None, or Flask-Login's anonymous user, is a guest.

        :raises ValueError: for an app that would not know the user, a user without an id, or an empty token.
        :raises TypeError: for what is no user.
        """
        return self._with(_who=who(self.app, user, self._token_of))

    def with_token(self, token: str) -> Self:
        """A client that shows a Bearer token, which the app's `request_loader` reads.

        :raises ValueError: for an app that reads none, or an empty token.
        """
        return self._with(_who=by_token(self.app, token))

    def with_client(self, client: FlaskClient) -> Self:
        """A client that uses a test client of yours, such as one that has signed in through the app's own page."""
        return self._with(_who=Who("whoever is signed in there", client=client))

    def with_headers(self, headers: Mapping[str, str]) -> Self:
        """A client whose every request has these headers too, or in place of its own."""
        return self._with(_headers={**self._headers, **headers})

    def answering(self, answers: Answers) -> Self:
        """A client that answers what its user is asked.

        :param answers: by the keys of the questions, what is filled in, or `decline`, `cancel` or `accept`; or a
            function that is given the :class:`Question` and returns such an answer.
        """
        return self._with(_answers=answers)

    def speaking(self, revision: str) -> Self:
        """A client of another revision of the protocol."""
        return self._with(_revision=_known(revision))

    def of_server(self, name: str) -> Self:
        """A client of another server of the app."""
        return self._with(_state=find(self.app, name))

    def _with(self, **changes: object) -> Self:
        other = copy.copy(self)
        other.__dict__.update(changes, _speaker=None)
        return other

    # -------------------------------------------------------------------------------------------------- calls

    def call(self, tool: str, arguments: Mapping[str, object] | None = None, /, **named: object) -> ToolResult:
        """Call a tool: `call("list_posts", limit=3)`.

        :param arguments: for names that Python cannot write as keywords: `call("find", {"from": "a"}, to="b")`.
        """
        given = _together(arguments, named)
        found = self._catalogue.tool(tool)
        about = self._about("call", "tool", tool, given, found)
        headers = repeated(found.mirrored, given) if found is not None and self._revision.stateless else {}
        return ToolResult(self._sent("tools/call", {"name": tool, "arguments": given}, about, headers), about)

    def read(self, uri: str) -> ResourceResult:
        """Read a resource."""
        about = self._about("read", "resource", uri, {}, (self._catalogue.resource(uri) or (None,))[0])
        return ResourceResult(self._sent("resources/read", {"uri": uri}, about), about)

    def prompt(self, name: str, arguments: Mapping[str, object] | None = None, /, **named: object) -> PromptResult:
        """Render a prompt: `prompt("review", title="Emma")`.

        :param arguments: for names that Python cannot write as keywords.
        """
        given = _together(arguments, named)
        about = self._about("prompt", "prompt", name, given, self._catalogue.prompt(name))
        return PromptResult(self._sent("prompts/get", {"name": name, "arguments": given}, about), about)

    def complete(
        self, of: str, argument: str, value: str = "", filled: Mapping[str, str] | None = None
    ) -> CompletionResult:
        """Complete an argument of a prompt, or a variable of a resource's template.

        :param of: the name of the prompt, or the template as it was declared.
        :param filled: the arguments that have their values already.
        """
        found = self._catalogue.prompt(of) or self._catalogue.template(of)
        given = {"argument": argument, "value": value}
        about = self._about("complete", "prompt or resource template", of, given, found)
        # A prompt's name has no colon in it, and a URI has one.
        ref = {"type": "ref/resource", "uri": of} if ":" in of else {"type": "ref/prompt", "name": of}
        params: JSONObject = {"ref": ref, "argument": {"name": argument, "value": value}}
        if filled:
            params["context"] = {"arguments": dict(filled)}
        return CompletionResult(self._sent("completion/complete", params, about), about)

    def tools(self) -> Listing:
        """The tools that this user is shown."""
        return self._list("tools", "tools/list", "tools")

    def resources(self) -> Listing:
        """The resources that this user is shown."""
        return self._list("resources", "resources/list", "resources")

    def templates(self) -> Listing:
        """The templates of resources that this user is shown."""
        return self._list("templates", "resources/templates/list", "resourceTemplates")

    def prompts(self) -> Listing:
        """The prompts that this user is shown."""
        return self._list("prompts", "prompts/list", "prompts")

    def _list(self, verb: str, method: str, key: str) -> Listing:
        about = self._about(verb)
        whole = Exchange()
        params: JSONObject = {}
        while True:
            page = self._sent(method, params, about)
            whole.take(page)
            result, error = page.last.get("result"), page.last.get("error")
            if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND:
                # A server that has none declares none, and a client that was told so does not ask.
                whole.messages[-1] = {"result": {key: []}}
            if not isinstance(result, dict) or "nextCursor" not in result:
                return Listing(whole, about, key)
            params = {"cursor": result["nextCursor"]}

    @property
    def _catalogue(self) -> Catalogue:
        # What a client is told of a mistake in a declaration is a ref; a test is told the mistake.
        self._state.be_ready()
        return self._state.catalogue

    def _about(
        self,
        verb: str,
        kind: str = "",
        name: str = "",
        arguments: Mapping[str, object] | None = None,
        declared: Prepared | None = None,
    ) -> About:
        headers = f", with the headers {', '.join(self._headers)}" if self._headers else ""
        words = f"{words_of(verb, [name] if kind else [], arguments or {})} as {self._who.words}{headers}"
        others = [item.label for listing in self._catalogue.listings for item in listing.items if item.kind in kind]
        return About(words, kind, name, declared, others, self._who.loader, self._who.is_user)

    def _sent(
        self, method: str, params: JSONObject, about: About, headers: Mapping[str, str] | None = None
    ) -> Exchange:
        exchange = Exchange()
        with noting(self.app, exchange.raised), noting_outcomes(exchange.outcomes):
            if self._speaker is None:
                browser = Browser(self.app, self._who, headers=self._headers, base_url=self._base_url)
                self._speaker = speaker(Line(browser, self._state.url, self._revision, self._capabilities))
            self._speaker.send(Call(method, params, headers or {}), exchange, Answering(self._answers, about.words))
        return exchange


def _known(revision: str) -> Revision:
    if revision not in REVISIONS:
        served = ", ".join(REVISIONS)
        raise ValueError(f"Revision {revision!r} of the protocol is not served: write one of {served}.")
    return REVISIONS[revision]


def _together(arguments: Mapping[str, object] | None, named: Mapping[str, object]) -> JSONObject:
    twice = ", ".join(map(repr, sorted(set(arguments or {}) & set(named))))
    if twice:
        raise TypeError(f"The argument {twice} is given twice: once in the dict, and once by name; leave one out.")
    return {**(arguments or {}), **named}
