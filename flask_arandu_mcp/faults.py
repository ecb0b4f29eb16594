"""Mistakes in declarations, found before the first message. Each is one sentence that names the culprit, the rule and
the way out, and all of them are listed at once."""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

from .arguments import Arguments
from .declarations.base import Declaration, Rules, static
from .declarations.handlers import Handler
from .declarations.prompts import Prompt
from .declarations.resources import Resource
from .declarations.tools import Tool, ToolSource
from .limits import MIME_TYPE, NAME, SCOPE
from .mirroring import mirrored
from .policies import public
from .results import Results
from .schemas.convert import ConversionError
from .uri_templates import TemplateError, UriTemplate, canonical

_RESERVED = frozenset({"self", "request", "Meta"})


def find(
    name: object,
    tools: Sequence[object],
    resources: Sequence[object],
    prompts: Sequence[object],
    rules: Rules,
) -> list[str]:
    """Every mistake in a server's declarations, in the order in which they were declared."""
    found = [] if name and isinstance(name, str) else ["the server has no name: give it one, Server(name=...)."]
    if rules.access is not None and not callable(rules.access):
        found.append(f"the server's access is {rules.access!r}: it must be a callable, such as public or signed_in.")
    if rules.guard is not None and not rules.recheck:
        found.append("the server has a guard and no recheck, so it would guard answers for nobody: add recheck=True.")
    found += _of_limits("the server", rules.limits)
    for kind, declared, type_, of_kind in (
        ("tool", tools, Tool, _of_tool),
        ("resource", resources, Resource, _of_resource),
        ("prompt", prompts, Prompt, _of_prompt),
    ):
        found += _of_list(kind, declared, type_, of_kind, rules)
    return found


def _of_list(
    kind: str,
    declared: Sequence[object],
    type_: type[Declaration],
    of_kind: Callable[[str, object, Rules], Iterator[str]],
    rules: Rules,
) -> Iterator[str]:
    seen: set[str] = set()
    for index, declaration in enumerate(declared):
        if isinstance(declaration, ToolSource) and type_ is Tool:
            continue  # the finished app shows what is in it
        if not isinstance(declaration, type_):
            yield _not_declared(kind, index, declaration, type_)
            continue
        culprit = f"{kind} {declaration.name!r}" if declaration.name else _place(kind, index, declaration)
        yield from _of_words(kind, culprit, declaration)
        yield from _of_access(culprit, declaration, rules)
        yield from _of_cache(culprit, declaration, rules)
        yield from _of_limits(culprit, declaration.limits)
        yield from _of_scopes(culprit, declaration)
        yield from of_kind(culprit, declaration, rules)
        for key in _keys(declaration):
            if key in seen:
                yield f"{culprit}: two {kind}s share {key!r}; each needs its own: rename one of them."
            seen.add(key)


def _place(kind: str, index: int, declaration: object) -> str:
    return f"{kind}s[{index}] ({type(declaration).__name__})"


def _not_declared(kind: str, index: int, declaration: object, type_: type[Declaration]) -> str:
    if isinstance(declaration, type) and issubclass(declaration, type_):
        name = declaration.__name__
        return f"{kind}s[{index}] is the class {name}; the list wants an object: write {name}()."
    what = getattr(declaration, "__name__", None) or type(declaration).__name__
    return (
        f"{kind}s[{index}] is {what!r}, which is no {type_.__name__}: subclass {type_.__name__}, or decorate the "
        f"function with @{kind}."
    )


def _keys(declaration: Declaration) -> Iterable[str]:
    keys = [declaration.name] if declaration.name else []
    if isinstance(declaration, Resource) and isinstance(declaration.uri, str):
        keys.append(canonical(declaration.uri))
    return keys


def _of_words(kind: str, culprit: str, declaration: Declaration) -> Iterator[str]:
    name = declaration.name
    if not name:
        yield f"{culprit} has no name: give it one, name = '...'."
    elif kind != "resource" and not NAME.fullmatch(name):
        yield f"{culprit}: a name has 1 to 128 of the characters A-Z a-z 0-9 _ . -, and no others: rename it."
    if not str(declaration.words()):
        yield f"{culprit} has no description, which the model chooses by: write one, or a docstring."


def _of_access(culprit: str, declaration: Declaration, rules: Rules) -> Iterator[str]:
    access = declaration.policy(rules.access)
    if access is None:
        yield f"{culprit} does not say who may use it: give it access=public, signed_in or a callable of your own."
    elif not callable(access):
        yield f"{culprit}: access is {access!r}; it must be a callable, such as public or signed_in."
    if static(declaration, "access") is not None and hasattr(declaration, "allows"):
        yield f"{culprit} has both access and a method allows(), and only one can decide: remove one of them."
    guard = static(declaration, "guard")
    if guard is not None and not rules.recheck:
        yield f"{culprit} has a guard, and its server does not recheck: write Server(recheck=True)."
    if declaration.guarded and guard is None and rules.guard is None:
        yield f"{culprit} says guarded=True, and there is no guard: give it one, or Server(guard=...)."


def _of_limits(culprit: str, limits: str) -> Iterator[str]:
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


def _of_scopes(culprit: str, declaration: Declaration) -> Iterator[str]:
    scopes: object = declaration.scopes
    if not isinstance(scopes, (list, tuple, set, frozenset)):
        yield f"{culprit}: scopes is {scopes!r}; it must be a list of scopes: write ['tasks:read']."
        return
    for scope in scopes:
        if not isinstance(scope, str) or not SCOPE.fullmatch(scope):
            yield f"{culprit}: {scope!r} is no scope, which has no spaces, quotes or backslashes: write 'tasks:read'."


def _of_tool(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Tool)
    yield from (f"{culprit}: {mistake}" for mistake in declaration.mistakes())
    yield from _of_arguments(culprit, declaration, rules)
    try:
        Results(declaration.result, name=culprit, table=rules.fields)
    except ConversionError as error:
        yield str(error)
    try:
        mirrored(Arguments(declaration.arguments, name=culprit, table=rules.fields).input_schema)
    except ConversionError:
        pass  # told already
    except ValueError as error:
        yield f"{culprit}: {error}; clients would leave the tool out."


def _of_prompt(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Prompt)
    yield from _of_arguments(culprit, declaration, rules)


def _of_arguments(culprit: str, declaration: Tool | Prompt, rules: Rules) -> Iterator[str]:
    try:
        arguments = Arguments(declaration.arguments, name=culprit, table=rules.fields)
    except ConversionError as error:
        yield str(error)
        return
    fields = {field.name: field.required or field.default for field in arguments.fields}
    handler = yield from _of_handler(culprit, declaration)
    if handler is not None and handler.takes_whole(frozenset(fields)):
        return
    for name in _RESERVED & fields.keys():
        yield f"{culprit}: a field cannot be called {name!r}: rename it, and keep its name with data_key={name!r}."
    if handler is None:
        return
    if arguments.include and not handler.takes_any:
        yield (
            f"{culprit}: its schema says INCLUDE, so anything may come: give the handler a ** parameter, or one "
            "called 'arguments'."
        )
    yield from _of_parameters(culprit, handler, fields, "field")


def _of_cache(culprit: str, declaration: Declaration, rules: Rules) -> Iterator[str]:
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


def _of_resource(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Resource)
    if declaration.mime_type and not MIME_TYPE.fullmatch(declaration.mime_type):
        yield f"{culprit}: mime_type {declaration.mime_type!r} is no media type: write one such as 'text/markdown'."
    try:
        template = UriTemplate(declaration.uri)
    except TemplateError as error:
        yield f"{culprit}: uri {declaration.uri!r} cannot be used: {error}."
        return
    handler = yield from _of_handler(culprit, declaration)
    if handler is not None:
        yield from _of_parameters(culprit, handler, dict.fromkeys(template.variables, True), "variable")


def _of_handler(culprit: str, declaration: Declaration) -> Generator[str, None, Handler | None]:
    base = next(kind for kind in (Tool, Resource, Prompt) if isinstance(declaration, kind))
    function = declaration.handler()
    if inspect.unwrap(getattr(function, "__func__", function)) is base.handle:
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


def _of_parameters(culprit: str, handler: Handler, fields: Mapping[str, bool], what: str) -> Iterator[str]:
    for name, always in fields.items():
        parameter = handler.parameters.get(name)
        if parameter is None:
            if not handler.takes_any:
                identifier = name if name.isidentifier() else "**arguments"
                yield f"{culprit}: the handler does not take the {what} {name!r}: give it a parameter {identifier}."
        elif not always and parameter.default is parameter.empty:
            yield (
                f"{culprit}: the {what} {name!r} may be absent, and the handler's parameter has no default: write "
                f"{name}=None, or give the field a load_default."
            )
    for name, parameter in handler.parameters.items():
        if name not in fields and parameter.default is parameter.empty:
            yield f"{culprit}: the handler wants {name!r}, and no {what} is called so: declare it, or drop it."
