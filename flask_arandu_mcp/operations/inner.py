"""A request within a request: the app is asked as a browser would ask it, in an app context of its own, with its own
copy of the user. Middleware around the app is not run again; all that the app itself does is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes, urlencode, urlsplit

from flask import Flask, has_request_context, request
from werkzeug.routing import BaseConverter, Rule
from werkzeug.wrappers import Response as HTTPResponse

from ..arguments import ArgumentFaults
from ..errors import Failure, attempt
from ..headers import KEYS
from ..identity import act_as, reloaded
from ..policies import guest
from ..state import states
from ..transports.local import local_environ
from .placement import Parts
from .routing import Route, from_json

_FROM_OUTSIDE = (
    "wsgi.url_scheme",
    "wsgi.version",
    "wsgi.errors",
    "wsgi.multithread",
    "wsgi.multiprocess",
    "wsgi.run_once",
    "HTTP_HOST",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
    "SCRIPT_NAME",
    "REMOTE_ADDR",
    "HTTP_AUTHORIZATION",
    "HTTP_COOKIE",
    "HTTP_ACCEPT_LANGUAGE",
)
"""What an inner request has of the one around it, beside the headers that the app names in `MCP_ENDPOINT_HEADERS`."""

_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*(:\d+)?", re.I)
"""What may be the host of a request, part of which may come from an argument."""

_MISSING = "Missing data for required field."


class Address(NamedTuple):
    """Where a call goes.

    :ivar values: the variables of its path, as the converters were given them.
    """

    url: str
    environ: dict[str, Any]
    values: Mapping[str, Any]


def address_of(app: Flask, route: Route, parts: Parts) -> Address:
    """Build the address of a call from the variables of its path.

    :raises ArgumentFaults: where there is no such address.
    """
    environ = {**_outer_environ(app), "REQUEST_METHOD": route.method, "PATH_INFO": "/"}
    values, faults = _values(app, route, parts.path)
    if faults:
        raise ArgumentFaults(tuple(faults))
    adapter = app.create_url_adapter(app.request_class(environ))
    assert adapter is not None
    build = partial(adapter.build, force_external=True, append_unknown=False)
    url = attempt(build, route.endpoint, values, route.method)
    if isinstance(url, Failure):
        raise ArgumentFaults(_nowhere(_unfit(route, values) or values))
    _, host, path, _, _ = urlsplit(url)
    raw = unquote_to_bytes(path).decode("latin-1")
    environ["PATH_INFO"] = raw.removeprefix(environ.get("SCRIPT_NAME", "").rstrip("/"))
    if app.subdomain_matching or app.url_map.host_matching:
        domain = "" if app.url_map.host_matching else adapter.server_name
        if not _HOST.fullmatch(host) or not f".{host}".endswith(f".{domain}" if domain else ""):
            raise ArgumentFaults(_nowhere(values))
        environ["HTTP_HOST"] = host
    environ["QUERY_STRING"] = urlencode(parts.query)
    return Address(url, environ, values)


def _values(app: Flask, route: Route, given: Mapping[str, object]) -> tuple[dict[str, Any], list[str]]:
    values: dict[str, Any] = {}
    faults = []
    variables = route.variables
    for name, value in given.items():
        made = attempt(from_json, variables[name], value)
        if isinstance(made, Failure):
            faults.append(f"{name}: {made.error}." if isinstance(made.error, ValueError) and str(made.error) else
                          f"{name}: nothing is found by this, send another value.")  # fmt: skip
        else:
            values[name] = made
    if route.filled:
        filled = dict(values)
        attempt(app.inject_url_defaults, route.endpoint, filled)
        values |= {name: value for name, value in filled.items() if name in variables and name not in given}
        if not any(_fits(rule, values) for rule in route.rules):
            faults += [f"{name}: {_MISSING}" for name in variables if name not in values and name not in given]
    return values, faults


def _fits(rule: Rule, values: Mapping[str, Any]) -> bool:
    return rule.arguments - set(rule.defaults or ()) <= values.keys()


def _unfit(route: Route, values: Mapping[str, Any]) -> set[str]:
    """The values that their own converters would not find in an address."""
    return {name for name, value in values.items() if not _found_again(route.variables[name], value)}


def _found_again(converter: BaseConverter, value: Any) -> bool:
    def again() -> bool:
        text = unquote_to_bytes(converter.to_url(value)).decode()
        return re.fullmatch(converter.regex, text) is not None and _is_same(converter, value, converter.to_python(text))

    found = attempt(again)
    return not isinstance(found, Failure) and found


def _nowhere(names: Mapping[str, Any] | set[str]) -> tuple[str, ...]:
    faults = tuple(f"{name}: no address can be made of this; send another value." for name in sorted(names))
    return faults or ("no address can be made of these arguments; send others.",)


def _outer_environ(app: Flask) -> dict[str, Any]:
    outer = request.environ if has_request_context() else local_environ(app, "/")
    named = {name for state in states(app).values() for name in state.settings.endpoint_headers}
    names = (*_FROM_OUTSIDE, *(KEYS[name] for name in named))
    return {name: outer[name] for name in names if name in outer}


@contextmanager
def asked(app: Flask, route: Route, address: Address, parts: Parts, subject: Any) -> Iterator[HTTPResponse]:
    """The app's response to a call, open for as long as the contexts of its request are.

    :raises ArgumentFaults: where the address leads to another view, or to this one with other values.
    """
    with app.app_context(), ExitStack() as held:
        act_as(_own_copy(subject))
        context = app.request_context({**address.environ, **_sent(parts)})
        held.push(context.__exit__)  # before it is entered, as what began is torn down where a request cannot begin
        context.push()
        _check_same(route, address, context.request)
        _show_token(app, context.request)
        response = app.full_dispatch_request()
        held.callback(response.close)
        yield response


def _own_copy(subject: Any) -> Any:
    # An object of the ORM belongs to the context that it was loaded in.
    own = reloaded(subject)
    return guest if own is None else own


def body_of(parts: Parts) -> tuple[bytes, str]:
    """The body that a call is sent with, and its media type; empty for none."""
    if parts.json is not None:
        return json.dumps(parts.json).encode(), "application/json"
    if parts.form is not None:
        return urlencode(parts.form).encode(), "application/x-www-form-urlencoded"
    return b"", ""


def _sent(parts: Parts) -> dict[str, Any]:
    body, kind = body_of(parts)
    sent = {"HTTP_ACCEPT": "application/json", "wsgi.input": BytesIO(body)}
    return {**sent, "CONTENT_LENGTH": str(len(body)), **({"CONTENT_TYPE": kind} if kind else {})}


def _check_same(route: Route, address: Address, inner: Any) -> None:
    rule: Rule | None = inner.url_rule
    if rule is None or inner.routing_exception is not None or rule.endpoint != route.endpoint:
        raise ArgumentFaults(_nowhere(_unfit(route, address.values) or address.values))
    variables, found = route.variables, {**(inner.view_args or {})}
    same = {name for name, value in address.values.items() if _is_same(variables[name], value, found.get(name))}
    others = found.keys() - address.values.keys() - set(rule.defaults or ())
    if rule not in route.rules or others or same != address.values.keys():
        raise ArgumentFaults(_nowhere((address.values.keys() - same) or set(address.values)))


def _is_same(converter: BaseConverter, sent: Any, found: Any) -> bool:
    if sent == found:
        return True
    # "5" and 5 are one place, and so are two objects that a converter of the app's own loads for one text.
    texts = attempt(lambda: (converter.to_url(sent), converter.to_url(found)))
    return not isinstance(texts, Failure) and texts[0] == texts[1]


def _show_token(app: Flask, inner: Any) -> None:
    """Show Flask-WTF the token of the inner request's own session, as a page of the app would."""
    inner.environ.update({KEYS[name]: value for name, value in csrf_headers(app, inner.host_url).items()})


def csrf_headers(app: Flask, page: str) -> dict[str, str]:
    """The headers by which Flask-WTF knows a request of the app's own pages; none where the app has no CSRFProtect.

    :param page: a URL of the app, as one is asked for beside the token over https.
    """
    make = app.jinja_env.globals.get("csrf_token")
    if "csrf" not in app.extensions or not app.config.get("WTF_CSRF_ENABLED", True) or not callable(make):
        return {}
    names = app.config.get("WTF_CSRF_HEADERS") or ["X-CSRFToken"]
    return {names[0]: str(make()), "Referer": page}
