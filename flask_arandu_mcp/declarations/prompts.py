"""Prompts: messages that a user may start a conversation with. A class and a decorated function give the same
thing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, Unpack, overload

from ..arguments import Argument, Arguments, ArgumentsDeclaration
from ..content import Content, Message
from ..request import Request
from ..revisions import Revision
from ..typing import JSONObject
from .base import CompletedBy, Completing, Decorated, Options, Prepared, Rules
from .handlers import Handler, Invocation

P = ParamSpec("P")
R = TypeVar("R")


class Prompt(Completing):
    """Messages that a user may start a conversation with. Subclass it, and write `handle`.

    :cvar arguments: what it takes, as for a tool; a client sends every value as a string.
    """

    arguments: ArgumentsDeclaration = None

    def handle(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Answer with a list of `Message`, or with text for one message of the user's."""
        raise NotImplementedError


class PromptOptions(Options, total=False):
    """What `@prompt` takes: the attributes of :class:`Prompt`."""

    arguments: ArgumentsDeclaration


class FunctionPrompt(CompletedBy, Decorated[P, R], Prompt):
    """A prompt made of a function, which stays callable as the function that it was."""

    options = PromptOptions


@overload
def prompt(function: Callable[P, R], /) -> FunctionPrompt[P, R]: ...
@overload
def prompt(**options: Unpack[PromptOptions]) -> Callable[[Callable[P, R]], FunctionPrompt[P, R]]: ...
def prompt(function: Callable[P, R] | None = None, /, **options: Any) -> Any:
    """Make a prompt of a function: its name is the prompt's, its docstring the description.

    The options are the attributes of :class:`Prompt`.
    """
    if function is not None:
        return FunctionPrompt(function, options)
    return lambda decorated: FunctionPrompt(decorated, options)


class PreparedPrompt(Prepared):
    """A prompt, converted and ready to be listed and rendered."""

    __slots__ = ("arguments", "completers", "declaration", "invoke")

    kind = "prompt"

    def __init__(self, declaration: Prompt, rules: Rules) -> None:
        self.declaration = declaration
        self.completers = declaration.completers()
        self.arguments = Arguments(declaration.arguments, name=f"prompt {declaration.name!r}", table=rules.fields)
        super().__init__(declaration, rules, (field.key for field in self.arguments.fields))
        fields = frozenset(field.name for field in self.arguments.fields)
        self.invoke = Invocation(Handler(declaration.handler()), fields)

    def entry(self, revision: Revision) -> JSONObject:
        """This prompt as a revision lists it (2026-07-28, schema, Prompt)."""
        members: JSONObject = {"name": self.name, **self.declaration.describe(revision)}
        members["arguments"] = [_entry(field, revision) for field in self.arguments.fields]
        return members

    def messages(self, value: object) -> list[JSONObject]:
        """What a handler gave, as the messages of a prompt.

        :raises TypeError: for what is no message.
        """
        if isinstance(value, (str, Content)):
            value = Message.user(value)
        given = value if isinstance(value, (list, tuple)) else [value]
        return [self._message(message).wire() for message in given]

    def _message(self, value: object) -> Message:
        if not isinstance(value, Message):
            raise TypeError(f"prompt {self.name!r} gave a {type(value).__name__}: return text, or a list of Message")
        return value


def _entry(field: Argument, revision: Revision) -> JSONObject:
    entry: JSONObject = {"name": field.key, "required": field.required}
    if field.description:
        entry["description"] = field.description
    if field.title and revision.structured:
        entry["title"] = field.title
    return entry
