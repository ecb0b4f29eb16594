"""Schemas that an app has put on its views already, with webargs, flask-smorest or APIFlask. They are read from what
these libraries leave on a function, and none of the libraries is imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from marshmallow import Schema

from .routing import chain_of, words_of

_PLACES = {
    "path": "path",
    "view_args": "path",
    "query": "query",
    "querystring": "query",
    "json_or_query": "json",
    "json": "json",
    "json_or_form": "json",
    "form": "form",
    "headers": "headers",
    "cookies": "cookies",
    "files": "files",
    "form_and_files": "files",
}


class Input(NamedTuple):
    """A schema of what a view takes, and the place in the request that it is read from."""

    place: str
    schema: Schema | type[Schema]


class Found(NamedTuple):
    """What a view says of itself.

    :ivar result: the schema of what it gives, where it says one for sure.
    :ivar unknown: the kinds of its schemas that are not marshmallow's.
    """

    inputs: tuple[Input, ...] = ()
    result: Schema | type[Schema] | None = None
    description: str = ""
    unknown: tuple[str, ...] = ()


def find(view: Callable[..., Any], config: Mapping[str, Any]) -> Found:
    """What a view says of itself.

    :param config: the app's, which may say that all results are wrapped.
    """
    given = list(_inputs(view))
    inputs = tuple(Input(place, schema) for place, schema in given if _is_schema(schema))
    unknown = [type(schema).__name__ for _, schema in given if not _is_schema(schema)]
    return Found(inputs, _result(view, config), _description(view), tuple(unknown))


def _inputs(view: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    seen: list[Any] = []
    for place, schema in (*_of_webargs(view), *_of_smorest(view), *_of_apiflask(view)):
        if not any(schema is known for known in seen):
            seen.append(schema)
            yield _PLACES.get(place, place), schema


def _is_schema(schema: object) -> bool:
    return isinstance(schema, Schema) or (isinstance(schema, type) and issubclass(schema, Schema))


def _of_webargs(view: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What `use_args` and `use_kwargs` hold, which flask-smorest and APIFlask call too: they keep it in a closure."""
    for function in chain_of(view):
        code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
        if code is None or not cells or not {"argmap", "location", "self"} <= set(code.co_freevars):
            continue
        held = {name: cell.cell_contents for name, cell in zip(code.co_freevars, cells, strict=True)}
        parser = held["self"]
        if any(kind.__module__ == "webargs.core" for kind in type(parser).__mro__):
            yield str(held["location"] or parser.location), held["argmap"]


def _of_smorest(view: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """The page that `paginate` reads, which no decorator of webargs holds."""
    pagination = _apidoc(view).get("pagination", {}).get("parameters")
    if isinstance(pagination, Mapping):
        yield str(pagination.get("in")), pagination.get("schema")


def _of_apiflask(view: Callable[..., Any]) -> Iterator[tuple[str, Any]]:
    """What `input` was given, where it does not check it with webargs."""
    spec = _spec(view)
    if spec.get("body") is not None:
        kind = spec.get("content_type")
        uploads, form = kind == "multipart/form-data", kind == "application/x-www-form-urlencoded"
        yield "files" if uploads else "form" if form else "json", spec["body"]
    for schema, place in spec.get("args") or ():
        yield place, schema


def _result(view: Callable[..., Any], config: Mapping[str, Any]) -> Schema | type[Schema] | None:
    responses = _apidoc(view).get("response", {}).get("responses", {})
    good = [doc for code, docs in responses.items() if str(code).startswith("2") for doc in _listed(docs)]
    said = _spec(view).get("response")
    if isinstance(said, Mapping) and not config.get("BASE_RESPONSE_SCHEMA"):
        good.append(said)
    if len(good) != 1 or good[0].get("content_type") not in (None, "application/json"):
        return None  # of several, nobody can tell which one will come
    schema = good[0].get("schema")
    return schema if _is_schema(schema) and not _is_empty(schema) else None


def _is_empty(schema: Any) -> bool:
    return not getattr(schema, "_declared_fields", None)


def _listed(docs: object) -> list[Any]:
    return [doc for doc in (docs if isinstance(docs, list) else [docs]) if isinstance(doc, Mapping)]


def _description(view: Callable[..., Any]) -> str:
    manual, spec = _apidoc(view).get("manual_doc", {}), _spec(view)
    said = [manual.get("summary"), manual.get("description")]
    if not spec.get("generated_summary"):
        said.append(spec.get("summary"))
    if not spec.get("generated_description"):
        said.append(spec.get("description"))
    words = [str(each).strip() for each in said if each and str(each).strip()]
    return "\n\n".join(words) or words_of(view)


def _apidoc(view: Callable[..., Any]) -> Mapping[str, Any]:
    found = getattr(view, "_apidoc", None)
    return found if isinstance(found, Mapping) else {}


def _spec(view: Callable[..., Any]) -> Mapping[str, Any]:
    found = getattr(view, "_spec", None)
    return found if isinstance(found, Mapping) else {}
