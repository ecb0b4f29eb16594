"""Tools: what a model may do. A class that holds its services and a decorated function give the same thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, ParamSpec, TypeAlias, TypeVar, Unpack, overload

from marshmallow import Schema
from marshmallow.fields import Field

from ..arguments import Arguments, ArgumentsDeclaration
from ..mirroring import mirrored
from ..request import Request
from ..results import Results
from ..revisions import Revision
from ..schemas.shown import Shown
from ..typing import JSONObject
from .base import Declaration, Decorated, Options, Prepared, Rules
from .handlers import Handler, Invocation

P = ParamSpec("P")
R = TypeVar("R")

# Text, since marshmallow 3's Field takes no type at run time.
ResultDeclaration: TypeAlias = "Schema | type[Schema] | Mapping[str, Field[Any]] | Mapping[str, object] | Shown | None"


class Tool(Declaration):
    """Something that a model may do. Subclass it, and write `handle`.

    :cvar arguments: what it takes: a dict of marshmallow fields, a Schema class or a Schema instance.
    :cvar result: how its results are dumped, and their schema that the client is shown; optional.
    :cvar read_only: it changes nothing.
    :cvar destructive: it may delete or overwrite.
    :cvar idempotent: calling it twice with the same arguments does no more than calling it once.
    :cvar open_world: it reaches beyond this application.
    """

    arguments: ArgumentsDeclaration = None
    result: ResultDeclaration = None
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None

    def handle(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Answer one call: a `Response`, text, or data. The arguments come by keyword, loaded and checked."""
        raise NotImplementedError

    def mistakes(self) -> Iterable[str]:
        """What is wrong with this kind of tool beside what all tools share: the rule, and the way out."""
        return ()

    def notes(self) -> JSONObject:
        """What the operator is told of this kind of tool, and clients are not."""
        return {}


class Expanded(NamedTuple):
    """What a `ToolSource` found: tools, and what is wrong with those that it could not make."""

    tools: Sequence[Tool]
    faults: Sequence[str]


class ToolSource:
    """Stands in a list of tools for those that only a finished app shows; each app that is served has its own."""

    def expand(self, app: Any, rules: Rules, max_result: int) -> Expanded:
        """Find the tools on an app, in its context.

        :param max_result: bytes of one result, at most.
        """
        raise NotImplementedError

    def here(self, server: object) -> Any:
        """What a server offers on the app in whose context this is asked; None outside of any."""
        raise NotImplementedError


class ToolOptions(Options, total=False):
    """What `@tool` takes: the attributes of :class:`Tool`."""

    arguments: ArgumentsDeclaration
    result: ResultDeclaration
    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


class FunctionTool(Decorated[P, R], Tool):
    """A tool made of a function, which stays callable as the function that it was."""

    options = ToolOptions


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...
def tool(function: Callable[P, R] | None = None, /, **options: Any) -> Any:
    """Make a tool of a function: its name is the tool's, its docstring the description.

    The options are the attributes of :class:`Tool`.
    """
    if function is not None:
        return FunctionTool(function, options)
    return lambda decorated: FunctionTool(decorated, options)


class PreparedTool(Prepared):
    """A tool, converted and ready to be listed and called."""

    __slots__ = ("arguments", "declaration", "invoke", "mirrored", "results")

    kind = "tool"

    def __init__(self, declaration: Tool, rules: Rules) -> None:
        self.declaration = declaration
        self.arguments = Arguments(declaration.arguments, name=f"tool {declaration.name!r}", table=rules.fields)
        self.results = Results(declaration.result, name=f"tool {declaration.name!r}", table=rules.fields)
        super().__init__(declaration, rules, (field.key for field in self.arguments.fields))
        self.strict = bool(declaration.destructive)
        self.mirrored = mirrored(self.arguments.input_schema)
        fields = frozenset(field.name for field in self.arguments.fields)
        self.invoke = Invocation(Handler(declaration.handler()), fields)

    def entry(self, revision: Revision) -> JSONObject:
        """This tool as a revision lists it (2026-07-28, schema, Tool)."""
        members: JSONObject = {"name": self.name, **self.declaration.describe(revision)}
        members["inputSchema"] = self.arguments.input_schema
        if revision.structured and self.results.output_schema is not None:
            output = self.results.output_schema
            members["outputSchema"] = output if revision.arrays else in_object(output)
        hints = self._hints()
        if hints and revision.annotations:
            members["annotations"] = hints
        return members

    def notes(self) -> JSONObject:
        """What the operator is told of it, and clients are not."""
        return self.declaration.notes()

    def _hints(self) -> JSONObject:
        tool = self.declaration
        hints = {
            "readOnlyHint": tool.read_only,
            "destructiveHint": tool.destructive,
            "idempotentHint": tool.idempotent,
            "openWorldHint": tool.open_world,
        }
        return {name: hint for name, hint in hints.items() if hint is not None}


def in_object(schema: JSONObject) -> JSONObject:
    """The schema of a result, as a revision wants it in which a structured result is always an object."""
    if schema.get("type") == "object":
        return schema
    inner = dict(schema)
    definitions = inner.pop("$defs", None)
    wrapped: JSONObject = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    return wrapped if definitions is None else {**wrapped, "$defs": definitions}
