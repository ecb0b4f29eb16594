"""What comes of one call of an endpoint, made as an HTTP request and made as a call of its tool, and in what the two
differ. Each is made by a client of its own, so that nothing is left of the one before."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping
from contextlib import closing
from contextvars import Context
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from flask import Flask, request
from flask.signals import request_started
from werkzeug.test import TestResponse

from ..arguments import ArgumentFaults
from ..errors import Failure, attempt
from ..operations.endpoint import EndpointOperation
from ..operations.inner import Address, address_of, body_of, csrf_headers
from ..operations.placement import Parts
from ..operations.routing import Route
from .browser import Browser
from .client import MCPClient
from .kinds import ToolResult
from .questions import Answer, Question
from .refusals import broke
from .who import Who


class Outcome(NamedTuple):
    """What came of a call.

    :ivar told: what was answered, for sentences.
    :ivar data: what was given, or the JSON of a refusal.
    :ivar status: of HTTP; 0 for a tool.
    :ivar reached: the endpoint was asked.
    :ivar undecided: why this says nothing about who may; empty where it does.
    """

    told: str
    refused: bool
    data: object = None
    status: int = 0
    reached: bool = True
    undecided: str = ""


def over_http(app: Flask, operation: EndpointOperation, arguments: Mapping[str, object], who: Who) -> Outcome:
    """Ask an endpoint as a page of the app would."""
    reply = attempt(_reply, app, operation, arguments, who)
    if isinstance(reply, Failure):
        # What an app lets through to its tests is a page of status 500 for everybody else.
        unsent = isinstance(reply.error, ArgumentFaults)
        why = "cannot be sent these arguments" if unsent else "breaks"
        return Outcome(f"{type(reply.error).__name__}: {reply.error}", True, undecided=why)
    response, body = reply
    status = response.status_code
    told = f"{response.status} {body.decode('utf-8', 'replace').strip()}"
    return Outcome(told, status >= 300, _given(response, body), status, undecided="breaks" if status >= 500 else "")


def _reply(
    app: Flask, operation: EndpointOperation, arguments: Mapping[str, object], who: Who
) -> tuple[TestResponse, bytes]:
    route, parts = operation.route, operation.placement.split(arguments)
    address = Context().run(_address, app, route, parts)
    where, root = urlsplit(address.url), address.environ.get("SCRIPT_NAME", "").rstrip("/")
    site = f"{where.scheme}://{where.netloc}{root}"
    browser = Browser(app, who)
    headers = {"Accept": "application/json"}
    if "csrf" in app.extensions:
        headers |= browser.in_session(lambda: csrf_headers(app, f"{site}/"))
    body, kind = body_of(parts)
    headers |= {"Content-Type": kind} if kind else {}
    path, query = where.path.removeprefix(root), urlencode(parts.query)
    reply = browser.open(path, method=route.method, query_string=query, data=body, headers=headers, base_url=site)
    with closing(reply):
        return reply.response, b"".join(reply.chunks())


def _address(app: Flask, route: Route, parts: Parts) -> Address:
    with app.app_context():
        return address_of(app, route, parts)


def _given(response: TestResponse, body: bytes) -> object:
    if not body or response.status_code in (204, 205):
        return "Done."
    if response.is_json:
        data = attempt(json.loads, body)
        return None if isinstance(data, Failure) else data
    if (response.mimetype or "").startswith("text/"):
        return body.decode("utf-8", "replace")
    return base64.b64encode(body).decode()


def by_tool(
    app: Flask, client: MCPClient, name: str, operation: EndpointOperation, arguments: Mapping[str, object]
) -> Outcome:
    """Call the tool of an endpoint, with a yes to its confirmation."""
    asked: set[str | None] = set()

    def note(sender: object, **_: object) -> None:
        asked.add(request.endpoint)

    with request_started.connected_to(note, app):
        result = client.answering(_yes).call(name, arguments)
    told = f"HTTP {result.status}: {result.text}" if result.status >= 400 else result.text
    data = _told(result) if result.is_error else _data(result)
    undecided = "breaks" if broke(result.text) else ""
    return Outcome(told, result.is_error, data, reached=operation.route.endpoint in asked, undecided=undecided)


def _yes(question: Question) -> Answer | None:
    return {"yes": True} if question.key == "confirm" else None


def _told(result: ToolResult) -> object:
    envelope = attempt(json.loads, result.text)
    return result.text if isinstance(envelope, Failure) else envelope


def _data(result: ToolResult) -> object:
    if "structuredContent" in result.result:
        return result.result["structuredContent"]
    (block, *_) = result.content
    held: Mapping[str, Any] = block.get("resource", block)
    return held.get("text") or held.get("blob") or held.get("data")


def disagreement(api: Outcome, tool: Outcome, *, stricter: bool, ignoring: Collection[str]) -> str:
    """In what two outcomes differ; empty where they agree."""
    for what, outcome in (("endpoint", api), ("tool", tool)):
        if outcome.undecided:
            return f"the {what} {outcome.undecided}, which decides nothing"
    if tool.refused and not tool.reached:
        # By its access, or by what it declares of its arguments: the endpoint need not say it in the same words.
        return "" if api.refused or stricter else "the endpoint answers, and the tool refuses before it is asked"
    if api.refused is not tool.refused:
        one, other = ("tool", "endpoint") if tool.refused else ("endpoint", "tool")
        return f"the {one} refuses, and the {other} answers"
    if not api.refused:
        same = _without(api.data, ignoring) == _without(tool.data, ignoring)
        return "" if same else "both answer, with other data"
    if isinstance(api.data, dict):
        return "" if _without(api.data, ignoring) == _without(tool.data, ignoring) else "both refuse, in other words"
    return "" if tool.told.startswith(f"{api.status} ") else "both refuse, with another status"


def _without(value: object, names: Collection[str]) -> object:
    """Data without the members of some names, wherever they are."""
    if isinstance(value, dict):
        return {name: _without(member, names) for name, member in value.items() if name not in names}
    return [_without(each, names) for each in value] if isinstance(value, list) else value
