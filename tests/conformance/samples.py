"""The bytes and the words that the suite looks for, in one place. Tools, resources and prompts show the same ones."""

from __future__ import annotations

import base64

from flask_arandu_mcp import ClientRequest

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=")

SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""A JSON Schema with the keywords that a converter is likely to lose."""


def sampling(key: str, text: str) -> ClientRequest:
    """Ask the client's model, which has no name of its own in this package."""
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return ClientRequest(key, "sampling/createMessage", {"messages": [message], "maxTokens": 100})


def roots(key: str) -> ClientRequest:
    """Ask the client for its roots, which have no name of their own in this package either."""
    return ClientRequest(key, "roots/list")
