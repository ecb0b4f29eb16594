"""What can be wrong with the attributes of a declaration: its words, its policy, its limits, scopes and hints. Each
mistake is one sentence that names the culprit, the rule and the way out."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from .declarations.base import Declaration, Rules, static
from .declarations.resources import Resource
from .declarations.tools import Tool
from .limits import NAME, SCOPE
from .policies import public

_HINTS = ("read_only", "destructive", "idempotent", "open_world")


def of_words(kind: str, culprit: str, declaration: Declaration) -> Iterator[str]:
    """Names and words that are missing, or that clients could not take."""
    name = declaration.name
    if not name:
        yield f"{culprit} has no name: give it one, name = '...'."
    elif kind != "resource" and not NAME.fullmatch(name):
        yield f"{culprit}: a name has 1 to 128 of the characters A-Z a-z 0-9 _ . -, and no others: rename it."
    if not str(declaration.words()):
        yield f"{culprit} has no description, which the model chooses by: write one, or a docstring."
    for attribute in ("title", "description"):
        if isinstance(getattr(declaration, attribute), (bool, int, float, bytes, list, tuple, dict)):
            yield f"{culprit}: its {attribute} is {getattr(declaration, attribute)!r}; it must be text."


def of_access(culprit: str, declaration: Declaration, rules: Rules) -> Iterator[str]:
    """Policies and guards that are missing, cannot be asked, or are more than one."""
    access = declaration.policy(rules.access)
    if access is None:
        yield f"{culprit} does not say who may use it: give it access=public, signed_in or a callable of your own."
    elif not callable(access):
        yield f"{culprit}: access is {access!r}; it must be a callable, such as public or signed_in."
    elif not _takes_one(access):
        yield f"{culprit}: its policy cannot be asked about anybody: give it one parameter, the subject."
    if static(declaration, "access") is not None and hasattr(declaration, "allows"):
        yield f"{culprit} has both access and a method allows(), and only one can decide: remove one of them."
    guard = static(declaration, "guard")
    if guard is not None and not rules.recheck:
        yield f"{culprit} has a guard, and its server does not recheck: write Server(recheck=True)."
    if declaration.guarded and guard is None and rules.guard is None:
        yield f"{culprit} says guarded=True, and there is no guard: give it one, or Server(guard=...)."


def _takes_one(policy: Callable[..., Any]) -> bool:
    try:
        inspect.signature(policy).bind(object())
    except TypeError:
        return False
    except ValueError:
        return True  # a builtin that does not tell
    return True


def of_limits(culprit: str, limits: str) -> Iterator[str]:
    """Rate limits that cannot be read."""
    if not limits:
        return
    try:
        from limits import parse_many  # needed by those alone who declare limits
    except ImportError:
        return  # the check of the finished app says what is to be installed
    try:
        parse_many(limits)
    except ValueError:
        yield f"{culprit}: limits {limits!r} cannot be read: write such as '30/minute', and several with ';' between."


def of_scopes(culprit: str, declaration: Declaration) -> Iterator[str]:
    """Scopes that no token could have."""
    scopes: object = declaration.scopes
    if not isinstance(scopes, (list, tuple, set, frozenset)):
        yield f"{culprit}: scopes is {scopes!r}; it must be a list of scopes: write ['tasks:read']."
        return
    for scope in scopes:
        if not isinstance(scope, str) or not SCOPE.fullmatch(scope):
            yield f"{culprit}: {scope!r} is no scope, which has no spaces, quotes or backslashes: write 'tasks:read'."


def of_cache(culprit: str, declaration: Declaration, rules: Rules) -> Iterator[str]:
    """Answers that would be shared, or kept, as they must not be."""
    if not isinstance(declaration, Resource):
        return
    shared = declaration.cache == "public"
    if declaration.cache not in {"private", "public"}:
        yield f"{culprit}: cache is {declaration.cache!r}; it must be 'private' or 'public'."
    if shared and declaration.policy(rules.access) is not public:
        yield f"{culprit}: cache='public' would share what its policy keeps apart: drop it, or say access=public."
    if shared and (static(declaration, "guard") or rules.guard) is not None:
        yield f"{culprit}: cache='public' would share what a guard decides for each caller: drop one of them."
    if type(declaration.ttl) not in (int, float) or declaration.ttl < 0:
        yield f"{culprit}: ttl is {declaration.ttl!r}; it must be a number of seconds, 0 or more."


def of_hints(culprit: str, declaration: Declaration) -> Iterator[str]:
    """Hints that no client could take, or that contradict each other."""
    if not isinstance(declaration, Tool):
        return
    for hint in _HINTS:
        if not isinstance(getattr(declaration, hint), bool | None):
            yield f"{culprit}: {hint} is {getattr(declaration, hint)!r}; it must be True or False, or be left out."
    if declaration.read_only and declaration.destructive:
        yield f"{culprit} says read_only and destructive, and cannot be both: drop one of them."


def of_misspelt(culprit: str, declaration: Declaration, type_: type[Declaration]) -> Iterator[str]:
    """Attributes of a class that are almost those that are read: what nobody reads would protect nothing."""
    known = [name for name in dir(type_) if not name.startswith("_")]
    for cls in type(declaration).__mro__:
        if cls is type_ or not issubclass(cls, type_):
            continue
        for name, value in vars(cls).items():
            if name.startswith("_") or name in known or callable(value):
                continue
            meant = difflib.get_close_matches(name, known, 1, 0.8)
            if meant:
                yield f"{culprit}: nobody reads the attribute {name!r}: did you mean {meant[0]!r}?"
