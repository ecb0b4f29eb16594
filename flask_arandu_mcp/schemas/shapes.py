"""Name what one field looks like in JSON: its schema, what kind of value it loads, and what only words can say.
It is the vocabulary between the modules that read fields, the one that reads validators and the one that joins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from marshmallow.fields import Field, Nested

from ..typing import JSONObject

View: TypeAlias = Literal["input", "output"]
"""Which of a schema's two faces is meant: what `load` takes, or what `dump` gives."""

Kind: TypeAlias = Literal["text", "number", "flag", "array", "object", "nested", "any", "other"]
"""What a validator is handed: JSON's own value for all but `other`, which is an object such as a date."""


class Shape(NamedTuple):
    """A field in JSON Schema, without its validators, its default and what is said about it."""

    schema: JSONObject
    kind: Kind
    words: tuple[object, ...] = ()


class Turn(NamedTuple):
    """What reading one field needs from the conversion that it is part of."""

    view: View
    inner: Callable[[Field[Any], str], JSONObject]
    """Converts a field that lies in this one, under the name given."""
    nested: Callable[[Nested], JSONObject]
    """Converts the schema that a Nested field holds, as one object."""
    plucked: Callable[[Nested, str], JSONObject]
    """Converts one field of the schema that a Pluck holds."""


Maker: TypeAlias = Callable[[Any, Turn], Shape]
"""Reads one class of fields. What it is handed is that class, which a table cannot say."""
