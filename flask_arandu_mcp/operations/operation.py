"""An operation: what an application can do, described as data, with the function that does it. It becomes a tool, and
goes through the same checks as every other one before that function is called."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from string import Formatter
from typing import Any, ClassVar, Unpack

from marshmallow import fields

from ..arguments import Arguments, ArgumentsDeclaration
from ..declarations.base import Common, Text, check_options
from ..declarations.tools import ResultDeclaration, Tool
from ..elicitation import Elicit
from ..host import is_coroutine_function
from ..policies import Access
from ..request import Request
from ..response import Response
from ..results import ConversionError, Results
from ..typing import JSONObject

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
UNSAID = "(none)"
"""What a confirmation says in the place of an argument that nobody sent."""

_NO = "The user said no; nothing was done."


class More(Common, total=False):
    """The other attributes of :class:`Tool` that an operation may have."""

    title: Text
    open_world: bool


class Operation(Tool):
    """Something that the application can do, as a tool.

    :param id: what the application calls it; `bookmarks.create` is served as `bookmarks_create`.
    :param invoke: does it: `invoke(request, arguments)` is given all that was loaded, and returns the result.
    :param access: who may: `public`, `signed_in` or any callable that is given the subject; asked before `invoke`.
    :param input: what it takes, as a tool's `arguments` are declared.
    :param result: what it gives, which is an object; None where nothing is said of it.
    :param confirm: asks the user before anything is done, with arguments in it: `Delete {slug}?`.
    :param options: the other attributes of :class:`Tool`.
    :raises TypeError: for an option that there is not: one that nobody reads would protect nothing.
    """

    takes_lists: ClassVar[bool] = False
    """Whether its result may be a list."""

    def __init__(
        self,
        id: str,
        invoke: Callable[[Request, Any], Any],
        *,
        access: Access | None = None,
        input: ArgumentsDeclaration = None,
        result: ResultDeclaration = None,
        description: Text = "",
        read_only: bool | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        confirm: str | None = None,
        **options: Unpack[More],
    ) -> None:
        check_options(str(id), options, More)
        self.id = id
        self.name = id.replace(".", "_")
        self.invoke = invoke
        self.arguments = input
        self.result = result
        said = getattr(invoke, "__doc__", None) or ""
        self.description = description if str(description) else inspect.cleandoc(said)
        self.read_only = read_only
        self.destructive = destructive
        self.idempotent = idempotent
        self.confirm = confirm
        self.__dict__.update(options)
        if access is not None:
            self.__dict__["access"] = access

    def words(self) -> Text:
        """The description; the docstring of this class describes no operation."""
        return self.description

    def handler(self) -> Callable[..., Any]:
        """The function that does the work, after the user has confirmed it where that is asked for."""
        return _whole(self.invoke) if self.confirm is None else self._confirmed

    def _confirmed(self, request: Request, arguments: Any, /) -> Generator[Any, Any, Any]:
        answer = yield Elicit("confirm", self._question(request.raw), {"yes": fields.Boolean(required=True)})
        if not (answer.accepted and answer.content["yes"]):
            return Response.error(_NO)
        made = self.invoke(request, arguments)
        return (yield from made) if inspect.isgenerator(made) else made

    def _question(self, arguments: Mapping[str, object]) -> str:
        words = self.confirm or ""
        return words.format_map({name: _visibly(arguments.get(name, UNSAID)) for name in _placeholders(words)})

    def notes(self) -> JSONObject:
        """That it asks first, and what."""
        return {} if self.confirm is None else {"confirm": self.confirm}

    def mistakes(self) -> Iterator[str]:
        """What is wrong with the description."""
        if not NAME.fullmatch(self.name):
            yield (
                f"its id {self.id!r} is served as {self.name!r}, and must be a small letter and up to 63 of a-z, 0-9 "
                "and _ after it: give it another."
            )
        if not callable(self.invoke):
            yield f"invoke is {self.invoke!r}: give it a function, invoke(request, arguments)."
        elif inspect.isasyncgenfunction(self.invoke):
            yield "invoke is an async generator, which cannot be run again: make it a plain one."
        yield from self._mistakes_of_result()
        yield from self._mistakes_of_confirm()

    def _mistakes_of_result(self) -> Iterator[str]:
        if self.result is None or self.takes_lists:
            return
        try:
            schema = Results(self.result, name="").output_schema or {}
        except ConversionError:
            return  # told by whoever converts it for good
        if schema.get("type") != "object":
            yield "its result is no object: say what holds the list, such as {'items': fields.List(...)}."

    def _mistakes_of_confirm(self) -> Iterator[str]:
        if self.confirm is None:
            return
        given: object = self.confirm
        if not isinstance(given, str) or not given.strip():
            yield f"confirm is {given!r}, and would ask nothing: write such as 'Delete {{slug}}?', or drop it."
            return
        if is_coroutine_function(self.invoke):
            yield "it asks the user to confirm, and its invoke is async: make invoke a plain function."
        try:
            parts = list(Formatter().parse(self.confirm))
            known = {field.key for field in Arguments(self.arguments, name="").fields}
        except ValueError as error:
            if not isinstance(error, ConversionError):
                yield f"confirm {self.confirm!r} cannot be read ({error}): write such as 'Delete {{slug}}?'."
            return
        for _, name, spec, conversion in parts:
            if name is not None and (spec or conversion or name not in known):
                names = ", ".join(sorted(known))
                yield f"confirm {self.confirm!r} has {{{name}}} in it, which is no argument: write one of {names}."


def _visibly(value: object) -> str:
    # A line break, or a sign that turns the direction of writing, could make a question say something else.
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))


def _placeholders(text: str) -> Iterator[str]:
    return (name for _, name, _, _ in Formatter().parse(text) if name is not None)


def _whole(invoke: Callable[[Request, Any], Any]) -> Callable[..., Any]:
    """A handler of the same kind that is given all arguments at once, whatever its author called them."""
    if inspect.isgeneratorfunction(invoke):

        def play(request: Request, arguments: Any, /) -> Generator[Any, Any, Any]:
            return (yield from invoke(request, arguments))

        return play
    if is_coroutine_function(invoke):

        async def wait(request: Request, arguments: Any, /) -> Any:
            return await invoke(request, arguments)

        return wait

    def handle(request: Request, arguments: Any, /) -> Any:
        return invoke(request, arguments)

    return handle
