"""An operation made of an endpoint of the app. What it takes and gives is what its view says already, and it is done by
asking the app for it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from flask import Flask
from werkzeug.local import LocalProxy

from ..declarations.base import Rules
from ..declarations.tools import ResultDeclaration
from ..grants import system_grant
from ..request import Request
from ..response import Response
from ..results import ConversionError, Results
from ..schemas.conform import conforming
from ..schemas.plain import ResultFault
from ..schemas.raw import is_raw
from ..schemas.shown import Shown
from ..typing import JSONObject
from .answers import answer_of
from .found import find
from .inner import address_of, asked
from .inputs import Taken, inputs_of
from .operation import Operation
from .placement import Placement
from .routing import Route, methods_of, rules_of, view_of

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BY_METHOD: Mapping[str, Mapping[str, bool]] = {
    "GET": {"read_only": True},
    "DELETE": {"destructive": True},
    "PUT": {"idempotent": True},
}


class EndpointOperation(Operation):
    """An operation whose answer is the app's, which may be a list.

    :ivar route: what it was made of.
    :ivar placement: where its arguments go in a request.
    :ivar missing: what a model would want to know, and is not said: `description`, `schema`, `result`.
    """

    takes_lists: ClassVar[bool] = True
    route: Route
    placement: Placement
    missing: Sequence[str] = ()

    def notes(self) -> JSONObject:
        """That it asks first, and the route behind it."""
        route = self.route
        return {**super().notes(), "route": f"{route.method} {route.rules[0].rule}  ({route.endpoint})"}


class Made(NamedTuple):
    """What became of an endpoint: an operation, or what is wrong with it."""

    name: str
    operation: EndpointOperation | None
    faults: Sequence[str]


def routes_of(app: Flask, endpoint: str) -> list[Route]:
    """An endpoint with each of its methods."""
    rules = rules_of(app.url_map, endpoint)
    view = app.view_functions.get(endpoint)
    if view is None:
        return []
    above = endpoint.split(".")[:-1]
    scopes = [None, *(".".join(above[: depth + 1]) for depth in range(len(above)))]
    filled = any(app.url_default_functions.get(scope) for scope in scopes)
    return [
        Route(endpoint, method, tuple(r for r in rules if method in (r.methods or ())), view_of(view, method), filled)
        for method in methods_of(rules)
    ]


def name_of(route: Route, several: bool) -> str:
    """The name that an endpoint is served as: `pets.PetsById` with DELETE is `pets_pets_by_id_delete`."""
    words = re.sub(r"\W", "_", _HUMP.sub("_", route.endpoint)).lower()
    return f"{words}_{route.method.lower()}" if several else words


def make(app: Flask, route: Route, name: str, options: Mapping[str, Any], rules: Rules, limit: int) -> Made:
    """Make an operation of an endpoint.

    :param options: what the author says in the place of what is found.
    :param limit: bytes of one result, at most.
    """
    options = dict(options)
    found = find(route.view, app.config)
    arguments, given = options.pop("arguments", None), options.pop("result", None)
    places = options.pop("place", {})
    faults: list[str] = []
    if found.unknown and arguments is None:
        kinds = ", ".join(found.unknown)
        faults.append(f"its schema is a {kinds}, which is none of marshmallow's: say arguments= in its place.")
    taken, result = None, None
    try:
        taken = inputs_of(route, found.inputs, arguments, places, rules)
        faults += taken.faults
    except ConversionError as error:
        faults.append(f"{error}{'; or say arguments= in the place of what was found' if arguments is None else ''}")
    try:
        result = _result(given if given is not None else found.result, rules)
    except ConversionError as error:
        faults.append(f"{error}{'; or say result= in the place of what was found' if given is None else ''}")
    description = options.pop("description", "") or found.description
    if taken is None or faults:
        return Made(name, None, faults)
    said = {**_BY_METHOD.get(route.method, {}), **options}
    operation = EndpointOperation(
        name,
        _invocation(app, route, taken.placement, limit),
        input=taken.shown,
        result=result,
        **said,
    )
    operation.description = description
    operation.route, operation.placement = route, taken.placement
    operation.missing = _missing(taken, operation, route)
    return Made(name, operation, faults)


def _result(declared: ResultDeclaration, rules: Rules) -> ResultDeclaration:
    """What the app has dumped already, and is only checked; a JSON Schema of the author's own stays as it is."""
    if declared is None or (isinstance(declared, Mapping) and is_raw(declared)):
        return declared
    schema = Results(declared, name="its result", table=rules.fields).output_schema
    if schema is None:
        return None
    check = conforming(schema)

    def faults(value: object) -> tuple[str, ...]:
        try:
            check(value)
        except ResultFault as error:
            return (str(error),)
        return ()

    return Shown(schema, faults)


def _missing(taken: Taken, operation: Operation, route: Route) -> list[str]:
    lacking = {
        "description": not str(operation.description),
        "schema": not taken.has_schema and route.method in ("POST", "PUT", "PATCH"),
        "result": operation.result is None and route.method != "DELETE",
    }
    return [word for word, lacks in lacking.items() if lacks]


def _invocation(app: Flask, route: Route, placement: Placement, limit: int) -> Any:
    def invoke(request: Request, arguments: Mapping[str, Any]) -> Response:
        parts = placement.split(arguments)
        # The endpoint's own request decides, by all that refuses a browser, in every call.
        reason = "its own request decides what the caller may do"
        system_grant(f"call the endpoint {route.endpoint!r}", reason, level=logging.INFO)
        address = address_of(app, route, parts)
        subject = request.subject
        if isinstance(subject, LocalProxy):
            subject = subject._get_current_object()  # the proxy would mean another user in a context of its own
        with asked(app, route, address, parts, subject) as response:
            return answer_of(response, route.endpoint, address.url, limit)

    return invoke
