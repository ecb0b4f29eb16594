"""Ask three converters for the JSON Schema of what a marshmallow schema loads, each in its own way, as one document
whose references lie in itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

from marshmallow import Schema

from flask_arandu_mcp.schemas.convert import input_schema

Document = dict[str, Any]


def ours(schema: Schema) -> Document:
    """Convert with the package under test."""
    return input_schema(schema)


def apispec(schema: Schema) -> Document:
    """Convert with apispec's marshmallow plugin, OpenAPI 3.1 being JSON Schema 2020-12."""
    plugin = import_module("apispec.ext.marshmallow").MarshmallowPlugin()
    spec = import_module("apispec").APISpec("t", "1", "3.1.0", plugins=[plugin])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = plugin.converter.schema2jsonschema(schema)
    return {**found, "components": spec.to_dict().get("components", {})}


def marshmallow_jsonschema(schema: Schema) -> Document:
    """Convert with marshmallow-jsonschema, which speaks draft-07."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found: Document = import_module("marshmallow_jsonschema").JSONSchema().dump(schema)
        except import_module("marshmallow_jsonschema.exceptions").UnsupportedValueError as error:
            raise ValueError(str(error)) from error
    return found


CONVERTERS: dict[str, Callable[[Schema], Document]] = {
    "ours": ours,
    "apispec": apispec,
    "marshmallow-jsonschema": marshmallow_jsonschema,
}
