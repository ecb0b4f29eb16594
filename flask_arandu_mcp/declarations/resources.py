"""Resources: what a model may read, at a URI or at all the URIs of a template. A class and a decorated function give
the same thing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, ParamSpec, TypeVar, Unpack

from ..content import EmbeddedResource, resource_contents
from ..request import Request
from ..results import plain
from ..revisions import Revision
from ..typing import JSONObject
from ..uri_templates import UriTemplate
from ..writing import encode
from .base import CompletedBy, Completing, Decorated, Options, Prepared, Rules
from .handlers import Handler, Invocation

P = ParamSpec("P")
R = TypeVar("R")


class Resource(Completing):
    """Something that a model may read. Subclass it, and write `handle`.

    :cvar uri: where it is; with `{variables}`, a template of many.
    :cvar mime_type: the media type of what is read; empty for plain text.
    :cvar cache: `public` where what is read is the same for everybody and may be shared between them.
    :cvar ttl: seconds that a client may keep what it read.
    :cvar size: bytes of what is read, where that is known.
    :cvar annotations: `audience`, `priority` and `lastModified`, for lists.
    """

    uri: str = ""
    mime_type: str = ""
    cache: Literal["private", "public"] = "private"
    ttl: float = 0
    size: int | None = None
    annotations: Mapping[str, Any] | None = None

    def handle(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        """Answer one read: text, bytes, or data. The variables of the template come by keyword, decoded."""
        raise NotImplementedError


class ResourceOptions(Options, total=False):
    """What `@resource` takes beside the URI: the attributes of :class:`Resource`."""

    mime_type: str
    cache: Literal["private", "public"]
    ttl: float
    size: int
    annotations: Mapping[str, Any]


class _AllOptions(ResourceOptions):
    uri: str


class FunctionResource(CompletedBy, Decorated[P, R], Resource):
    """A resource made of a function, which stays callable as the function that it was."""

    options = _AllOptions


def resource(uri: str, **options: Unpack[ResourceOptions]) -> Callable[[Callable[P, R]], FunctionResource[P, R]]:
    """Make a resource of a function: its name is the resource's, its docstring the description.

    :param uri: where it is; with `{variables}`, which the function takes by name, a template of many.

    The options are the attributes of :class:`Resource`.
    """
    return lambda function: FunctionResource(function, {"uri": uri, **options})


class PreparedResource(Prepared):
    """A resource, ready to be listed and read."""

    __slots__ = ("completers", "declaration", "invoke", "template")

    kind = "resource"

    def __init__(self, declaration: Resource, rules: Rules) -> None:
        self.declaration = declaration
        self.completers = declaration.completers()
        self.template = UriTemplate(declaration.uri)
        super().__init__(declaration, rules, self.template.variables)
        self.label = declaration.uri
        self.invoke = Invocation(Handler(declaration.handler()), frozenset(self.template.variables))

    def entry(self, revision: Revision) -> JSONObject:
        """This resource as a revision lists it (2026-07-28, schema, Resource and ResourceTemplate)."""
        where = "uriTemplate" if self.template.variables else "uri"
        members: JSONObject = {where: self.declaration.uri, "name": self.name}
        resource = self.declaration
        annotations = dict(resource.annotations or {}) if revision.annotations else {}
        size = resource.size if not self.template.variables else None
        return members | resource.describe(revision, mimeType=resource.mime_type, size=size, annotations=annotations)

    def contents(self, uri: str, value: object) -> list[JSONObject]:
        """What a handler gave, as the contents of a resource."""
        parts = list(value) if isinstance(value, (list, tuple)) else [value]
        if not parts or not all(isinstance(part, (str, bytes, EmbeddedResource)) for part in parts):
            parts = [value]
        return [self._part(uri, part) for part in parts]

    def _part(self, uri: str, part: object) -> JSONObject:
        mime_type = self.declaration.mime_type
        if isinstance(part, EmbeddedResource):
            return resource_contents(part.uri, part.body, part.mime_type)
        if isinstance(part, str):
            return resource_contents(uri, part, mime_type or "text/plain")
        if isinstance(part, (bytes, bytearray)):
            body = _as_text(bytes(part)) if mime_type.startswith("text/") else bytes(part)
            return resource_contents(uri, body, mime_type or "application/octet-stream")
        if part is None:
            return resource_contents(uri, "", mime_type or "text/plain")
        return resource_contents(uri, encode(plain(part)), mime_type or "application/json")


def _as_text(body: bytes) -> str | bytes:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body
