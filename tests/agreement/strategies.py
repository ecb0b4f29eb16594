"""Draw values that a JSON Schema allows. Scalars are hypothesis-jsonschema's; objects, arrays and references are put
together here, because it cannot draw from a schema that contains itself.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis_jsonschema import from_schema

from .judge import judge

Document = dict[str, Any]
_ANYTHING = st.sampled_from((None, True, 0, 1.5, "x", [1], {"a": 1}))


class Drawer:
    """Makes strategies for the schemas of one document."""

    def __init__(self, document: Document) -> None:
        self.definitions = document.get("$defs", {})

    def of(self, schema: Document, depth: int = 3) -> st.SearchStrategy[Any]:
        """Give what draws values that a schema allows; below `depth` an object has only what it must have."""
        if "$ref" in schema:
            return self.of(self.definitions[schema["$ref"].rpartition("/")[2]], depth - 1)
        if "anyOf" in schema:
            return st.one_of([self.of(each, depth) for each in schema["anyOf"]])
        kind = schema.get("type")
        if isinstance(kind, list) and "enum" not in schema and {"object", "array"} & {*kind}:
            return st.one_of([self.of({**schema, "type": each}, depth) for each in kind])
        if kind == "object" and "enum" not in schema:
            return self._named(schema, depth) if schema.get("properties") else self._mapping(schema, depth)
        if kind == "array" and not {"enum", "const"} & {*schema}:
            return self._array(schema, depth)
        bare = {key: schema[key] for key in schema if key not in ("default", "examples", "description", "allOf")}
        drawn = from_schema(bare) if {"type", "enum", "const"} & {*bare} else _ANYTHING
        return drawn.filter(judge(schema, False).is_valid)

    def _named(self, schema: Document, depth: int) -> st.SearchStrategy[Any]:
        required = schema.get("required", ())
        chosen = [key for key in schema["properties"] if key in required or depth > 0]
        drawn = {key: self.of(schema["properties"][key], depth) for key in chosen}
        must = {key: each for key, each in drawn.items() if key in required}
        may = {key: each for key, each in drawn.items() if key not in required}
        found = st.fixed_dictionaries(must, optional=may)
        if schema.get("additionalProperties") is False:
            return found
        more = st.dictionaries(st.sampled_from(("zzz", "extra")), _ANYTHING, max_size=1)
        return st.builds(lambda one, other: {**other, **one}, found, more)

    def _mapping(self, schema: Document, depth: int) -> st.SearchStrategy[Any]:
        if schema.get("additionalProperties") is False:
            return st.just({})
        names = from_schema({"type": "string", **schema.get("propertyNames", {})})
        rest = schema.get("additionalProperties")
        values = self.of(rest, depth - 1) if isinstance(rest, dict) else _ANYTHING
        return st.dictionaries(
            names, values, min_size=schema.get("minProperties", 0), max_size=schema.get("maxProperties", 3)
        )

    def _array(self, schema: Document, depth: int) -> st.SearchStrategy[Any]:
        if "prefixItems" in schema:
            return st.tuples(*(self.of(each, depth) for each in schema["prefixItems"])).map(list)
        least = schema.get("minItems", 0)
        most = schema.get("maxItems", max(least, 3) if depth > 0 else least)
        return st.lists(self.of(schema["items"], depth - 1), min_size=least, max_size=most)
