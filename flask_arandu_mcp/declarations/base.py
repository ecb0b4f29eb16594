"""What every declaration has: a name, words for people, a policy and a handler. Nothing here knows which of the three
kinds it belongs to."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, NamedTuple, ParamSpec, Protocol, TypeAlias, TypedDict, TypeVar

from ..content import Icon
from ..policies import Access
from ..request import Request
from ..response import Response
from ..revisions import Revision
from ..schemas.convert import Table
from ..typing import JSONObject

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=Callable[..., Any])

Completer: TypeAlias = Callable[[Request, str], Any]
"""Completes a value: it is given the request and what was typed so far, and returns the values that fit."""

Guard: TypeAlias = Callable[[Request, Response], Any]
"""Sees an answer last: it is given the request and the answer, and returns another one, or None to let it be."""


class Text(Protocol):
    """Words for people: a str, or a lazily translated object that becomes one."""

    def __str__(self) -> str: ...


class Declaration:
    """The part that tools, resources and prompts share.

    :cvar name: what a client calls it.
    :cvar title: what people call it.
    :cvar description: what the model chooses by; without one, the docstring.
    :cvar access: who may use it: `public`, `signed_in` or any callable that is given the subject.
    :cvar guard: sees every answer of it last, in place of the server's guard.
    :cvar guarded: it must not be served without a guard, its own or the server's.
    :cvar scopes: what a token must have been given, for it to be used with a token.
    :cvar icons: pictures that stand for it.
    :cvar meta: its `_meta` in lists, for clients that know what it means.
    :cvar limits: how often one subject may use it, such as `30/minute`, in place of the server's limit.
    """

    name: str = ""
    title: Text = ""
    description: Text = ""
    # A class variable: type checkers would take a plain function in a class body for a method of an instance.
    access: ClassVar[Access | None] = None
    guard: ClassVar[Guard | None] = None
    guarded: bool = False
    scopes: Sequence[str] = ()
    limits: str = ""
    icons: Sequence[Icon] = ()
    meta: Mapping[str, Any] | None = None

    def policy(self, default: Access | None = None) -> Access | None:
        """The policy of this declaration: its `access`, its method `allows`, or the server's default."""
        # Read past the descriptor protocol: a plain function in a class body is the policy, not a method.
        access: Access | None = static(self, "access")
        return access if access is not None else getattr(self, "allows", default)

    def words(self) -> Text:
        """The description, or else the docstring of the class that was declared."""
        return self.description if str(self.description) else inspect.cleandoc(type(self).__dict__.get("__doc__") or "")

    def handler(self) -> Callable[..., Any]:
        """The function that does the work."""
        handle: Callable[..., Any] = self.handle  # type: ignore[attr-defined]  # each kind declares its own
        return handle

    def describe(self, revision: Revision, **members: object) -> JSONObject:
        """The members that all kinds are listed with, without those that say nothing or that a revision lacks."""
        known: JSONObject = {"title": self.title if revision.structured else "", "description": self.words(), **members}
        known["icons"] = [icon.wire() for icon in self.icons] if revision.icons else []
        known["_meta"] = dict(self.meta or {}) if revision.structured else {}
        return {name: value for name, value in known.items() if value not in ("", None, [], {})}


class Completing(Declaration):
    """A declaration whose arguments can be completed, by methods called `complete_` and the argument's name."""

    def completers(self) -> dict[str, Completer]:
        """What completes each argument that can be completed."""
        names = [name for name in dir(self) if name.startswith("complete_")]
        return {name.removeprefix("complete_"): getattr(self, name) for name in names}


class CompletedBy:
    """A declaration made of a function, whose arguments other functions complete."""

    def completers(self) -> dict[str, Completer]:
        """What completes each argument that can be completed."""
        found: dict[str, Completer] = self.__dict__.setdefault("_completers", {})
        return found

    def completes(self, argument: str) -> Callable[[C], C]:
        """Register the function that completes an argument: `@post_text.completes("slug")`."""

        def register(function: C) -> C:
            self.completers()[argument] = function
            return function

        return register


class Common(TypedDict, total=False):
    """The attributes of :class:`Declaration` that are neither its words nor its policy."""

    guard: Guard
    guarded: bool
    scopes: Sequence[str]
    limits: str
    icons: Sequence[Icon]
    meta: Mapping[str, Any]


class Options(Common, total=False):
    """What every decorator takes: the attributes of :class:`Declaration`."""

    name: str
    title: Text
    description: Text
    access: Access


def check_options(culprit: str, options: Iterable[str], known: type[Any]) -> None:
    """Check that somebody reads each option.

    :param known: a `TypedDict` that has them.
    :raises TypeError: for an option that there is not.
    """
    names = sorted(known.__annotations__)
    for option in options:
        if option not in names:
            meant = difflib.get_close_matches(option, names, 1, 0.5)
            hint = f"did you mean {meant[0]!r}?" if meant else f"write one of {', '.join(names)}"
            raise TypeError(f"{culprit!r} is declared with {option!r}, which is no option: {hint}")


class Decorated(Declaration, Generic[P, R]):
    """A declaration made of a function, which stays callable as the function that it was.

    :raises TypeError: for an option that there is not: one that nobody reads would protect nothing.
    """

    options: ClassVar[type[Any]] = Options

    def __init__(self, function: Callable[P, R], options: Mapping[str, object]) -> None:
        given: object = function
        if not callable(given):
            word = type(self).__name__.removeprefix("Function").lower()
            raise TypeError(f"@{word} is given {given!r} for a function: write its options by name, @{word}(name=…)")
        check_options(function.__name__, options, self.options)
        self.function = function
        self.name = function.__name__
        self.description = inspect.cleandoc(function.__doc__ or "")
        self.__dict__.update(options)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)

    def words(self) -> Text:
        """The description, which is the function's docstring unless it is given."""
        return self.description

    def handler(self) -> Callable[..., Any]:
        """The function that does the work."""
        return self.function


class Rules(NamedTuple):
    """What a server says of all its declarations.

    :ivar access: the policy of those that have none.
    :ivar recheck: the policy is asked again before an answer goes out.
    :ivar guard: sees the answers of those that have no guard of their own.
    :ivar limits: the rate limit of those that have none, such as `30/minute`.
    :ivar fields: what JSON Schema says of field classes that marshmallow does not know.
    :ivar logging: the protocol's own logging is offered.
    """

    access: Access | None = None
    recheck: bool = False
    guard: Guard | None = None
    limits: str = ""
    logging: bool = False
    fields: Table | None = None


class Prepared:
    """A declaration that is converted, and ready to be listed and used.

    :ivar label: what the audit trail calls it.
    :ivar access: its own policy, or the server's.
    :ivar scopes: what a token must have been given for it.
    :cvar kind: the word for what it is.
    :ivar argument_names: the arguments that it declares, as clients spell them.
    :ivar strict: an answer counts for the very question that it was given to, and for no other.
    :ivar streams: its handler may send something while it works, and ask.
    """

    __slots__ = (
        "access",
        "argument_names",
        "guard",
        "label",
        "limits",
        "name",
        "recheck",
        "scopes",
        "streams",
        "strict",
    )

    kind: ClassVar[str]

    def __init__(self, declaration: Declaration, rules: Rules, argument_names: Iterable[str]) -> None:
        access = declaration.policy(rules.access)
        assert access is not None
        self.name = self.label = declaration.name
        self.access: Access = access
        self.recheck = rules.recheck
        self.guard: Guard | None = static(declaration, "guard") or rules.guard
        self.limits = declaration.limits or rules.limits
        self.scopes = frozenset(declaration.scopes)
        self.argument_names = frozenset(argument_names)
        self.strict = False
        self.streams = inspect.isgeneratorfunction(declaration.handler())

    def entry(self, revision: Revision) -> JSONObject:
        """What a revision lists it as."""
        raise NotImplementedError

    def notes(self) -> JSONObject:
        """What the operator is told of it, and clients are not."""
        return {}


def static(declaration: Declaration, attribute: str) -> Any:
    """An attribute as it was written, not bound to the declaration."""
    value = inspect.getattr_static(declaration, attribute, None)
    return value.__func__ if isinstance(value, staticmethod) else value
