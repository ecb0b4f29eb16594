"""Handlers and what they are given: a handler that does not fit its fields would fail on its first call. Each mistake
is one sentence that names the culprit, the rule and the way out."""

from __future__ import annotations

import importlib.util
import inspect
import keyword
from collections.abc import Callable, Generator, Iterator, Mapping

from .declarations.base import Declaration
from .declarations.handlers import Handler

RESERVED = frozenset({"self", "request", "Meta"})


def of_handler(
    culprit: str, declaration: Declaration, base: Callable[..., object]
) -> Generator[str, None, Handler | None]:
    """Yield each mistake of a declaration's handler, and return the handler, None where it is of no use.

    :param base: what the handler is where nobody has written one.
    """
    function = declaration.handler()
    if inspect.unwrap(getattr(function, "__func__", function)) is base:
        yield f"{culprit} has no handler: write its method handle(self, request, ...)."
        return None
    handler = Handler(function)
    if handler.request_name is None:
        yield f"{culprit}: the handler takes no request: give it a first parameter, request."
        return None
    if handler.yields_async:
        yield f"{culprit}: the handler is an async generator, which cannot be run again: make it a plain one."
        return None
    if handler.is_async and importlib.util.find_spec("asgiref") is None:
        yield f"{culprit}: the handler is async, which needs asgiref: pip install 'flask[async]', or write def."
    return handler


def of_parameters(culprit: str, handler: Handler, fields: Mapping[str, bool], what: str) -> Iterator[str]:
    """Parameters and fields that are not each other's; a field is True that always has a value."""
    for name, always in fields.items():
        parameter = handler.parameters.get(name)
        if parameter is None:
            if name == handler.request_name:
                yield (
                    f"{culprit}: the handler's first parameter is {name!r}, as a {what} is called, and is given the "
                    f"request: write (request, {name})."
                )
            elif not handler.takes_any and name not in RESERVED:
                yield f"{culprit}: the handler does not take the {what} {name!r}: {_way_out(name, what)}."
        elif not always and parameter.default is parameter.empty:
            yield (
                f"{culprit}: the {what} {name!r} may be absent, and the handler's parameter has no default: write "
                f"{name}=None, or give the field a load_default."
            )
    for name, parameter in handler.parameters.items():
        if name not in fields and parameter.default is parameter.empty:
            yield f"{culprit}: the handler wants {name!r}, and no {what} is called so: declare it, or drop it."


def _way_out(name: str, what: str) -> str:
    if keyword.iskeyword(name) and what == "field":
        return f"call the field {name}_, with data_key={name!r}, and give it a parameter {name}_"
    return f"give it a parameter {name if name.isidentifier() and not keyword.iskeyword(name) else '**arguments'}"
