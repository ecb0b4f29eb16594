"""Add to a field's schema what its author says about it: descriptions, examples, defaults and JSON Schema of their
own. It takes from the metadata what is known to be said to a client, and nothing that would constrain.
"""

from __future__ import annotations

import warnings
from typing import Any

from marshmallow import ValidationError, fields, missing

from ..typing import JSONObject
from .errors import ConversionError
from .text import joined
from .values import Unsayable, as_json, dumped, loaded


def overlaid(schema: JSONObject, given: object) -> JSONObject:
    """Lay the author's own JSON Schema over a converted one; a keyword given as None is taken away.

    Properties are laid over one by one. Raises `ConversionError` for what is no JSON object.
    """
    if given is None:
        return schema
    try:
        own = as_json(given)
    except Unsayable:
        own = None
    if not isinstance(own, dict):
        raise ConversionError("its json_schema is not JSON; give a dict of JSON Schema keywords")
    result = dict(schema)
    for key, value in own.items():
        below = result.get(key)
        if key == "properties" and isinstance(below, dict) and isinstance(value, dict):
            result[key] = {**below, **{each: _over(below.get(each), more) for each, more in value.items()}}
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result


def _over(known: object, more: object) -> object:
    return {**known, **more} if isinstance(known, dict) and isinstance(more, dict) else more


def _example(field: fields.Field[Any], value: object) -> list[object]:
    try:
        return [as_json(value)]
    except Unsayable:
        pass
    try:
        return [dumped(field, value)]
    except Unsayable:
        return []


def _examples(field: fields.Field[Any]) -> JSONObject:
    given = field.metadata.get("examples")
    many = list(given) if isinstance(given, list | tuple) else []
    if "example" in field.metadata:
        many.insert(0, field.metadata["example"])
    found = [example for value in many for example in _example(field, value) if example is not None]
    return {"examples": found} if found else {}


def _extensions(field: fields.Field[Any]) -> JSONObject:
    kept: JSONObject = {}
    for key, value in field.metadata.items():
        if key.startswith("x-") or (key == "deprecated" and isinstance(value, bool)):
            try:
                kept[key] = as_json(value)
            except Unsayable:
                continue
    return kept


def annotated(schema: JSONObject, field: fields.Field[Any], words: list[object]) -> JSONObject:
    """Give a field's schema with its title, its description and the words that stand for what JSON cannot say."""
    title = joined(field.metadata.get("title"))
    said = joined(field.metadata.get("description"), schema.get("description"), *words)
    result = {**schema, **_examples(field), **_extensions(field)}
    result |= {} if title is None else {"title": title}
    result |= {} if said is None else {"description": said}
    return overlaid(result, field.metadata.get("json_schema"))


def default_of(field: fields.Field[Any], name: str) -> JSONObject:
    """Give the keyword `default` for a static load_default, as the client would send it.

    A callable is never called. A default that the field itself refuses is left out, with a warning.
    """
    default = field.load_default
    if default is missing or default is None or callable(default) or isinstance(field, fields.Constant):
        return {}
    try:
        sent = dumped(field, default)
        field._validate(loaded(field, sent))
    except (Unsayable, ValidationError):
        warnings.warn(
            f"{name}: its load_default {default!r} is not what the field itself takes, so the schema leaves it out; "
            "give a value that loads",
            stacklevel=2,
        )
        return {}
    return {} if sent is None else {"default": sent}


def own_words(field: fields.Field[Any]) -> tuple[str, ...]:
    """Say in words that a field's own code reads the value, where the app wrote any."""
    words = []
    kind = type(field)
    reads = next(base for base in kind.__mro__ if "_deserialize" in vars(base))
    if not reads.__module__.startswith("marshmallow."):
        words.append(f"Read by the application ({_named(kind)})")
    for name in ("deserialize_method_name", "deserialize_func"):
        if (reader := getattr(field, name, None)) is not None:
            words.append(f"Read by the application{_called(reader)}")
    prepared = getattr(field, "pre_load", None)
    if isinstance(prepared, list) and prepared:
        words.append("Prepared by the application before it is checked")
    return tuple(words)


def _named(kind: type[object]) -> str:
    doc = (kind.__doc__ or "").strip()
    inherited = any(kind.__doc__ == base.__doc__ for base in kind.__mro__[1:])
    return doc.splitlines()[0] if doc and not inherited else kind.__name__


def _called(reader: object) -> str:
    name = reader if isinstance(reader, str) else getattr(reader, "__name__", "")
    return f" ({name})" if name and "<" not in str(name) else ""
