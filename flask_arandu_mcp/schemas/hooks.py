"""Find the methods that a schema runs around loading and dumping. It is the one place that reads how
marshmallow 3 and 4 mark them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from marshmallow import Schema


class Hook(NamedTuple):
    """A marked method: what it is for, itself, and the fields that it is about."""

    tag: str
    method: Callable[..., object]
    fields: tuple[str, ...]


def _configured(config: dict[object, object]) -> Iterator[tuple[str, dict[str, object]]]:
    for key, given in config.items():
        # marshmallow 3 keys by (tag, pass_many), 4 by the tag, with a list of (many, options).
        tag = str(key[0] if isinstance(key, tuple) else key)
        if isinstance(given, list):
            yield from ((tag, options) for _, options in given)
        elif isinstance(given, dict):
            yield tag, given


def _names(options: dict[str, object]) -> tuple[str, ...]:
    if isinstance(named := options.get("field_names"), Iterable):
        return tuple(str(name) for name in named)
    return (str(options["field_name"]),) if "field_name" in options else ()


def hooks_of(schema: Schema) -> tuple[Hook, ...]:
    """List the methods of a schema that are marked as hooks, in the order of their names."""
    found = []
    for name in dir(type(schema)):
        method = getattr(type(schema), name, None)
        config = getattr(method, "__marshmallow_hook__", None)
        if callable(method) and config:
            found += [Hook(tag, method, _names(options)) for tag, options in _configured(config)]
    return tuple(found)
