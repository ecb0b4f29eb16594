"""How an author makes tools of endpoints: one by its name, or many by patterns. Which endpoints there are is known when
the app is finished, so both stand in the server's list for what they will become."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Unpack

from flask import Flask, current_app, has_app_context

from ..declarations.base import Common, Rules, check_options
from ..declarations.tools import Expanded, Tool, ToolOptions, ToolSource
from ..policies import Access
from ..state import states
from .endpoint import make, name_of, routes_of
from .inputs import Places
from .routing import Route


class Shared(Common, total=False):
    """The attributes of a tool that several endpoints may share."""

    access: Access
    open_world: bool


class Options(ToolOptions, total=False):
    """What may be said of one endpoint, in the place of what is found."""

    place: Places
    confirm: str


class Endpoints(ToolSource):
    """Stands for the tools that endpoints of the app become."""

    def here(self, server: object) -> Any:
        """What a server offers on the app in whose context this is asked."""
        here = states(current_app) if has_app_context() else {}
        return next((state.catalogue for state in here.values() if state.server is server), None)


class OneEndpoint(Endpoints):
    """Stands for one endpoint. See :func:`endpoint_tool`."""

    def __init__(self, endpoint: str, method: str | None, options: Mapping[str, Any]) -> None:
        self.endpoint = endpoint
        self.method = method.upper() if method else None
        self.options = dict(options)

    def expand(self, app: Flask, rules: Rules, max_result: int) -> Expanded:
        """The tool of the endpoint on an app."""
        culprit = f"endpoint {self.endpoint!r}"
        routes = routes_of(app, self.endpoint)
        fault = _not_one(app, self.endpoint, self.method, routes)
        if fault:
            return Expanded([], [f"{culprit}: {fault}"])
        route = next(route for route in routes if self.method in (None, route.method))
        options = dict(self.options)
        name = options.pop("name", "") or name_of(route, len(routes) > 1)
        made = make(app, route, name, options, rules, max_result)
        tools: list[Tool] = [made.operation] if made.operation is not None else []
        return Expanded(tools, [f"{culprit}: {fault}" for fault in made.faults])


class ManyEndpoints(Endpoints):
    """Stands for all endpoints that patterns match. See :func:`endpoints`."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str], options: Mapping[str, Any]) -> None:
        self.include = include
        self.exclude = exclude
        self.options = dict(options)

    def expand(self, app: Flask, rules: Rules, max_result: int) -> Expanded:
        """The tools of the endpoints on an app."""
        faults = list(self._faults())
        if faults:
            return Expanded([], faults)
        offered = {endpoint: routes_of(app, endpoint) for endpoint in exposable(app)}
        taken_out = {id(route) for pattern in self.exclude for route in _matching(pattern, offered)}
        chosen: dict[int, Route] = {}
        for word, patterns in (("include", self.include), ("exclude", self.exclude)):
            for pattern in patterns:
                found = list(_matching(pattern, offered))
                if not found:
                    faults.append(
                        f"endpoints(): {word} {pattern!r} matches no endpoint: `flask mcp routes` lists them; mend or "
                        "drop it."
                    )
                elif word == "include":
                    left = [route for route in found if id(route) not in taken_out]
                    faults += _unchosen(pattern, left, offered)
                    chosen |= {id(route): route for route in left}
        made = [
            make(app, route, name_of(route, len(offered[route.endpoint]) > 1), self.options, rules, max_result)
            for route in ([] if faults else chosen.values())
        ]
        tools = [each.operation for each in made if each.operation is not None]
        faults += [f"tool {each.name!r}: {fault}" for each in made for fault in each.faults]
        return Expanded(tools, list(dict.fromkeys(faults)))

    def _faults(self) -> Iterator[str]:
        for word, patterns in (("include", self.include), ("exclude", self.exclude)):
            given: object = patterns
            if not isinstance(given, (list, tuple)) or not all(isinstance(each, str) for each in given):
                yield f"endpoints(): {word} is {given!r}; it must be a list of patterns: write ['posts.*']."
        if not self.include:
            yield "endpoints(): include is empty, so nothing is exposed: name endpoints, such as ['posts.*']."


def endpoint_tool(endpoint: str, *, method: str | None = None, **options: Unpack[Options]) -> Endpoints:
    """Make a tool of an endpoint of the app, which is asked as a browser would ask it.

    :param endpoint: as the app calls it, such as `posts.create`; it is served as `posts_create`.
    :param method: which of its methods, where it has several.
    :param options: the attributes of :class:`Tool`, in the place of what the app says already; `confirm` asks the user
        first, with arguments in it (`Delete {slug}?`), and `place` says where arguments go that must not go where they
        would (`{"dry_run": "query"}`).
    :raises TypeError: for an option that there is not.
    """
    given: tuple[object, object] = endpoint, method
    if not isinstance(given[0], str):
        raise TypeError(f"endpoint_tool() is given {given[0]!r}: write the endpoint's name, such as 'posts.create'")
    if not isinstance(given[1], (str, type(None))):
        raise TypeError(f"endpoint {endpoint!r} has method={given[1]!r}: write one, such as 'PUT'")
    check_options(endpoint, options, Options)
    return OneEndpoint(endpoint, method, options)


def endpoints(include: Sequence[str], *, exclude: Sequence[str] = (), **options: Unpack[Shared]) -> Endpoints:
    """Make tools of all endpoints that a pattern matches.

    :param include: patterns such as `posts.*`; with a method before it, `GET posts.*`, of that method alone, and with
        a star, `* posts.*`, of each.
    :param exclude: patterns of those that are left out.
    :param options: the attributes of :class:`Tool` that all of them share.
    :raises TypeError: for an option that there is not.
    """
    check_options("endpoints()", options, Shared)
    return ManyEndpoints(include, exclude, options)


def exposable(app: Flask) -> list[str]:
    """The endpoints that patterns match: all but files of the app, and the MCP servers themselves."""
    own = tuple(f"{state.blueprint.name}." for state in states(app).values())
    own += tuple(f"{state.blueprint.name}:oauth." for state in states(app).values())
    names = dict.fromkeys(rule.endpoint for rule in app.url_map.iter_rules())
    return [name for name in names if name.split(".")[-1] != "static" and not name.startswith(own)]


def _matching(pattern: str, offered: Mapping[str, Sequence[Route]]) -> Iterator[Route]:
    method, _, glob = pattern.rpartition(" ")
    for endpoint, routes in offered.items():
        if fnmatchcase(endpoint, glob):
            yield from (route for route in routes if method.strip() in ("", "*") or method.strip() == route.method)


def _unchosen(pattern: str, routes: Sequence[Route], offered: Mapping[str, Sequence[Route]]) -> Iterator[str]:
    """The endpoints of which one method must be chosen, where a pattern has none."""
    if " " in pattern:
        return
    for endpoint in dict.fromkeys(route.endpoint for route in routes):
        if len([route for route in routes if route.endpoint == endpoint]) > 1:
            methods = [route.method for route in offered[endpoint]]
            yield (
                f"endpoint {endpoint!r}: include {pattern!r} matches it, and it answers {', '.join(methods)}: write "
                f"'{methods[0]} {pattern}' for one of them, or '* {pattern}' for each."
            )


def _not_one(app: Flask, endpoint: str, method: str | None, routes: Sequence[Route]) -> str:
    """Why an endpoint and a method are not one route; empty where they are."""
    methods = [route.method for route in routes]
    if endpoint not in exposable(app) and endpoint in app.view_functions:
        return "it serves files, or is an MCP server itself, and can be no tool: name another endpoint."
    if not routes:
        near = difflib.get_close_matches(endpoint, exposable(app), 1)
        hint = f"did you mean {near[0]!r}? `flask mcp routes`" if near else "`flask mcp routes`"
        return f"the app has no such endpoint: {hint} lists them; mend the name."
    if method is not None and method not in methods:
        return f"it does not answer {method}, but {', '.join(methods)}: mend method=."
    if method is None and len(methods) > 1:
        return f"it answers {', '.join(methods)}: choose one, method={methods[0]!r}."
    return ""
