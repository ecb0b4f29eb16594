"""Every endpoint of an app, and what it would be as a tool: whether it could be one, what a model would miss, and the
line that makes it one. It is for the author; nothing is served by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from flask import Flask

from ..catalogue import Catalogue
from ..listing import Paint, plain
from ..server import Server
from .declare import exposable
from .endpoint import EndpointOperation, make, name_of, routes_of

_MISSING = {
    "description": "a description (a docstring will do)",
    "schema": "a schema of what it takes",
    "result": "a schema of what it gives",
}
_KINDS = {"served": "good", "could be a tool": "advice", "cannot be a tool": "bad"}


class Surveyed(NamedTuple):
    """An endpoint with a method.

    :ivar served: a tool of it is served.
    :ivar missing: `description`, `schema`, `result`: what is not said, and helps a model.
    :ivar faults: why no tool can be made of it as it is.
    :ivar line: what makes a tool of it, to be pasted into the server's list; empty where nothing does.
    """

    endpoint: str
    method: str
    path: str
    tool: str
    served: bool
    missing: Sequence[str]
    faults: Sequence[str]
    line: str


def survey(app: Flask, server: Server, catalogue: Catalogue | None) -> list[Surveyed]:
    """Every endpoint of an app with each of its methods, in the order of their paths.

    :param catalogue: what is served; None where a mistake keeps it from being served.
    """
    found = []
    declared = [] if catalogue is None else [tool.declaration for tool in catalogue.tools.items]
    served = {
        (tool.route.endpoint, tool.route.method): tool for tool in declared if isinstance(tool, EndpointOperation)
    }
    for endpoint in exposable(app):
        routes = routes_of(app, endpoint)
        for route in routes:
            name = name_of(route, len(routes) > 1)
            made = make(app, route, name, {}, server.rules, 0)
            # What is served may say more than its view does, and has no faults.
            operation = served.get((endpoint, route.method), made.operation)
            is_served = (endpoint, route.method) in served
            faults = [] if is_served else list(made.faults)
            if operation is not None:
                faults += operation.mistakes()
            missing = operation.missing if operation is not None else ()
            method = route.method if len(routes) > 1 else ""
            line = "" if faults else _line(endpoint, method, "description" in missing, server)
            path = route.rules[0].rule
            found.append(Surveyed(endpoint, route.method, path, name, is_served, missing, faults, line))
    return sorted(found, key=lambda each: (each.path, each.method))


def _line(endpoint: str, method: str, undescribed: bool, server: Server) -> str:
    words = [f'"{endpoint}"']
    words += [f'method="{method}"'] if method else []
    words += ["access=signed_in"] if server.access is None else []
    words += ['description="..."'] if undescribed else []
    return f"endpoint_tool({', '.join(words)}),"


def as_json(entries: Sequence[Surveyed]) -> list[dict[str, Any]]:
    """The survey as JSON."""
    return [{**entry._asdict(), "could_be_a_tool": not entry.faults} for entry in entries]


def screen(entries: Sequence[Surveyed], paint: Paint = plain) -> Iterator[str]:
    """The lines that show a survey."""
    if not entries:
        yield "The app has no endpoints beside its own files and its MCP servers."
    for entry in entries:
        word = "served" if entry.served else "cannot be a tool" if entry.faults else "could be a tool"
        shown = paint("name", f"{entry.method} {entry.path}")
        yield f"{shown}  {paint('aside', f'({entry.endpoint})')}  [{paint(_KINDS[word], word)}]"
        yield from (f"      {fault}" for fault in entry.faults)
        if entry.missing:
            yield f"      without {', '.join(_MISSING[each] for each in entry.missing)}"
        if entry.line and not entry.served:
            yield f"      {entry.line}"
