"""Serve the Model Context Protocol from a Flask app, through the policies that the app already has."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .content import Audio, EmbeddedResource, Icon, Image, Message, ResourceLink, Text
    from .declarations.prompts import Prompt, prompt
    from .declarations.resources import Resource, resource
    from .declarations.tools import Tool, tool
    from .dispatch import answer
    from .elicitation import Elicit, Elicited
    from .errors import DeclarationError, ProtocolError, ToolError
    from .extension import ArandoMCP
    from .grants import Grant, GrantRequired, authorize, granting, system_grant
    from .messages import ClientRequest, Notification, Progress
    from .operations.declare import endpoint_tool, endpoints
    from .operations.operation import Operation
    from .policies import guest, public, signed_in
    from .request import Request
    from .response import Response
    from .server import Server

_HOMES = {
    "content": ("Audio", "EmbeddedResource", "Icon", "Image", "Message", "ResourceLink", "Text"),
    "declarations.prompts": ("Prompt", "prompt"),
    "declarations.resources": ("Resource", "resource"),
    "declarations.tools": ("Tool", "tool"),
    "dispatch": ("answer",),
    "elicitation": ("Elicit", "Elicited"),
    "errors": ("DeclarationError", "ProtocolError", "ToolError"),
    "extension": ("ArandoMCP",),
    "grants": ("Grant", "GrantRequired", "authorize", "granting", "system_grant"),
    "messages": ("ClientRequest", "Notification", "Progress"),
    "operations.declare": ("endpoint_tool", "endpoints"),
    "operations.operation": ("Operation",),
    "policies": ("guest", "public", "signed_in"),
    "request": ("Request",),
    "response": ("Response",),
    "server": ("Server",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ArandoMCP",
    "Audio",
    "ClientRequest",
    "DeclarationError",
    "Elicit",
    "Elicited",
    "EmbeddedResource",
    "Grant",
    "GrantRequired",
    "Icon",
    "Image",
    "Message",
    "Notification",
    "Operation",
    "Progress",
    "Prompt",
    "ProtocolError",
    "Request",
    "Resource",
    "ResourceLink",
    "Response",
    "Server",
    "Text",
    "Tool",
    "ToolError",
    "answer",
    "authorize",
    "endpoint_tool",
    "endpoints",
    "granting",
    "guest",
    "prompt",
    "public",
    "resource",
    "signed_in",
    "system_grant",
    "tool",
]


def __getattr__(name: str) -> object:
    # Every `flask` command imports the entry point of `flask mcp`, and so this module: it must cost nothing.
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(importlib.import_module(f".{_HOME_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
