"""Mistakes in declarations, found before the first message. Each is one sentence that names the culprit, the rule and
the way out, and all of them are listed at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .arguments import Arguments
from .attributes import of_access, of_cache, of_hints, of_limits, of_misspelt, of_scopes, of_words
from .declarations.base import Declaration, Rules
from .declarations.prompts import Prompt
from .declarations.resources import Resource
from .declarations.tools import Tool, ToolSource
from .limits import MIME_TYPE
from .mirroring import mirrored
from .results import Results
from .schemas.convert import ConversionError
from .signatures import RESERVED, of_handler, of_parameters
from .uri_templates import TemplateError, UriTemplate, canonical


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
    found += of_limits("the server", rules.limits)
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
    if not isinstance(declared, (list, tuple)):
        yield f"{kind}s={type(declared).__name__!r} is no list: write {kind}s=[...]."
        return
    seen: set[str] = set()
    for index, declaration in enumerate(declared):
        if isinstance(declaration, ToolSource) and type_ is Tool:
            continue  # the finished app shows what is in it
        if not isinstance(declaration, type_):
            yield _not_declared(kind, index, declaration, type_)
            continue
        culprit = f"{kind} {declaration.name!r}" if declaration.name else _place(kind, index, declaration)
        yield from of_words(kind, culprit, declaration)
        yield from of_access(culprit, declaration, rules)
        yield from of_cache(culprit, declaration, rules)
        yield from of_limits(culprit, declaration.limits)
        yield from of_scopes(culprit, declaration)
        yield from of_hints(culprit, declaration)
        yield from of_misspelt(culprit, declaration, type_)
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
    if isinstance(declaration, Declaration):
        home = (
            "tools" if isinstance(declaration, Tool) else "prompts" if isinstance(declaration, Prompt) else "resources"
        )
        return f"{kind}s[{index}] is {declaration.name!r}, which is no {type_.__name__}: put it into {home}=[...]."
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


def _of_tool(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Tool)
    yield from (f"{culprit}: {mistake}" for mistake in declaration.mistakes())
    yield from _of_arguments(culprit, declaration, rules)
    try:
        Results(declaration.result, name=culprit, table=rules.fields)
    except ConversionError as error:
        yield f"{error}."
    try:
        mirrored(Arguments(declaration.arguments, name=culprit, table=rules.fields).input_schema)
    except ConversionError:
        pass  # told already
    except ValueError as error:
        yield f"{culprit}: {error}, or clients leave the tool out."


def _of_prompt(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Prompt)
    yield from _of_arguments(culprit, declaration, rules)
    try:
        arguments = Arguments(declaration.arguments, name=culprit, table=rules.fields)
    except ConversionError:
        return  # told already
    yield from _of_completers(culprit, declaration.completers(), [field.key for field in arguments.fields])
    properties = arguments.input_schema["properties"]
    for name, schema in properties.items() if isinstance(properties, dict) else ():
        kind = schema.get("type") if isinstance(schema, dict) else None
        if {"array", "object"} & set(kind if isinstance(kind, list) else [kind]):
            yield f"{culprit}: its argument {name!r} is no text, which is all that clients send: take a String apart."


def _of_completers(culprit: str, completers: Iterable[str], names: Sequence[str]) -> Iterator[str]:
    for name in completers:
        if name not in names:
            have = ", ".join(names) or "none"
            yield f"{culprit}: {name!r} is completed, and is none of its arguments, which are {have}: rename it."


def _of_arguments(culprit: str, declaration: Tool | Prompt, rules: Rules) -> Iterator[str]:
    try:
        arguments = Arguments(declaration.arguments, name=culprit, table=rules.fields)
    except ConversionError as error:
        yield f"{error}."
        return
    fields = {field.name: field.required or field.default for field in arguments.fields}
    handler = yield from of_handler(
        culprit, declaration, Tool.handle if isinstance(declaration, Tool) else Prompt.handle
    )
    if handler is not None and handler.takes_whole(frozenset(fields)):
        return
    for name in RESERVED & fields.keys():
        yield f"{culprit}: a field cannot be called {name!r}: rename it, and keep its name with data_key={name!r}."
    if handler is None:
        return
    if arguments.include and not handler.takes_any:
        yield (
            f"{culprit}: its schema says INCLUDE, so anything may come: give the handler a ** parameter, or one "
            "called 'arguments'."
        )
    yield from of_parameters(culprit, handler, fields, "field")


def _of_resource(culprit: str, declaration: object, rules: Rules) -> Iterator[str]:
    assert isinstance(declaration, Resource)
    if declaration.mime_type and not MIME_TYPE.fullmatch(declaration.mime_type):
        yield f"{culprit}: mime_type {declaration.mime_type!r} is no media type: write one such as 'text/markdown'."
    try:
        template = UriTemplate(declaration.uri)
    except TemplateError as error:
        yield f"{culprit}: uri {declaration.uri!r} cannot be used: {error}."
        return
    yield from _of_completers(culprit, declaration.completers(), template.variables)
    handler = yield from of_handler(culprit, declaration, Resource.handle)
    if handler is not None:
        yield from of_parameters(culprit, handler, dict.fromkeys(template.variables, True), "variable")
