"""Functions that answer calls: how each of them wants its arguments, and how it is called with what was loaded."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..arguments import ArgumentFaults
from ..host import is_coroutine_function
from ..request import Request


class Handler:
    """A function that answers calls, and how it wants its arguments.

    :ivar request_name: the name of its first parameter, which is given the `Request`; None where it has none.
    :ivar parameters: the parameters beside it that can be given by name.
    :ivar takes_any: it has a `**` parameter.
    :ivar is_async: it must be awaited.
    """

    __slots__ = ("_wants_whole", "function", "is_async", "parameters", "request_name", "takes_any")

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.is_async = is_coroutine_function(function)
        parameters = list(inspect.signature(function).parameters.values())
        self.takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        self.request_name = positional[0].name if positional else None
        self._wants_whole = len(positional) == 2 and positional[1].kind is inspect.Parameter.POSITIONAL_ONLY
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.parameters: Mapping[str, inspect.Parameter] = {p.name: p for p in named if p.name != self.request_name}

    def takes_whole(self, fields: frozenset[str]) -> bool:
        """Whether its one parameter, `arguments`, is given all that was loaded rather than a field of that name.

        A second parameter that has no name for its callers is given all, whatever the fields are called.
        """
        if self._wants_whole:
            return True
        return list(self.parameters) == ["arguments"] and not self.takes_any and "arguments" not in fields

    @property
    def yields(self) -> bool:
        """Whether it is a generator function."""
        return inspect.isgeneratorfunction(self.function)

    @property
    def yields_async(self) -> bool:
        """Whether it is an async generator function."""
        return inspect.isasyncgenfunction(self.function)


class Invocation:
    """A handler that is ready to be called with what was loaded."""

    __slots__ = ("_handler", "_taken", "_whole")

    def __init__(self, handler: Handler, fields: frozenset[str]) -> None:
        self._handler = handler
        self._whole = handler.takes_whole(fields)
        method = getattr(handler.function, "__func__", None)
        # What Python itself gives, a client cannot give by the same name: a method's own object, and the request.
        self._taken = {handler.request_name, *(list(inspect.signature(method).parameters)[:1] if method else ())}

    def __call__(self, request: Request, loaded: Any, run: Callable[..., Any]) -> Any:
        """Call the handler.

        :param run: makes a coroutine function one that is called and waited for.
        """
        function = self._handler.function
        if self._handler.is_async:
            function = run(function)
        if self._whole:
            return function(request, loaded)
        if type(loaded) is not dict and not isinstance(loaded, Mapping):
            raise TypeError(
                f"the schema's post_load made a {type(loaded).__name__}, which cannot be given by keyword: name the "
                "handler's one parameter 'arguments' to be given it whole"
            )
        if not self._taken.isdisjoint(loaded):
            taken = (name for name in self._taken if name in loaded)
            raise ArgumentFaults(tuple(f"{name}: this name is reserved, send another" for name in taken))
        return function(request, **loaded)
