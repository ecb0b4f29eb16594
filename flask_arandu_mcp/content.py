"""What a result, a resource or a prompt's message is made of. Each block knows how it is written in the protocol
(2026-07-28, schema, ContentBlock), and none knows where it is going."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Self

from .typing import JSONObject

Role = Literal["user", "assistant"]


class Icon(NamedTuple):
    """A picture that stands for a declaration (2026-07-28, schema, Icon).

    :ivar src: its URL, or a `data:` URI.
    :ivar sizes: such as `("48x48",)`.
    :ivar theme: `light` or `dark`, where it is meant for one of them.
    """

    src: str
    mime_type: str = ""
    sizes: tuple[str, ...] = ()
    theme: str = ""

    def wire(self) -> JSONObject:
        """This icon as a JSON object."""
        members = {"src": self.src, "mimeType": self.mime_type, "sizes": list(self.sizes), "theme": self.theme}
        return {name: value for name, value in members.items() if value}


class Content:
    """One block of content. Its `wire()` is the JSON object that the protocol wants.

    :ivar annotations: `audience`, `priority` and `lastModified`, where they are said (2026-07-28, schema, Annotations).
    """

    __slots__ = ("annotations",)

    annotations: Mapping[str, object] | None

    def annotated(
        self, *, audience: Sequence[Role] = (), priority: float | None = None, last_modified: str = ""
    ) -> Self:
        """Say who this block is for, how much it matters (0 to 1) and when it last changed (ISO 8601)."""
        given = {"audience": list(audience), "priority": priority, "lastModified": last_modified}
        self.annotations = {name: value for name, value in given.items() if value not in ([], None, "")}
        return self

    def _with_annotations(self, block: JSONObject) -> JSONObject:
        annotations = getattr(self, "annotations", None)
        return {**block, "annotations": dict(annotations)} if annotations else block

    def wire(self) -> JSONObject:
        """This block as a JSON object."""
        raise NotImplementedError


class Text(Content):
    """A piece of text for the model."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def wire(self) -> JSONObject:
        """This block as a JSON object."""
        return self._with_annotations({"type": "text", "text": self.text})


class _Binary(Content):
    """Bytes with a media type, written in Base64."""

    __slots__ = ("data", "mime_type")
    kind = ""

    def __init__(self, data: bytes, mime_type: str) -> None:
        self.data = data
        self.mime_type = mime_type

    def wire(self) -> JSONObject:
        """This block as a JSON object."""
        data = encode_bytes(self.data)
        return self._with_annotations({"type": self.kind, "data": data, "mimeType": self.mime_type})


class Image(_Binary):
    """A picture: its bytes and their media type, such as `image/png`."""

    __slots__ = ()
    kind = "image"


class Audio(_Binary):
    """A sound: its bytes and their media type, such as `audio/wav`."""

    __slots__ = ()
    kind = "audio"


class ResourceLink(Content):
    """Points to a resource that the client may read."""

    __slots__ = ("description", "mime_type", "name", "uri")

    def __init__(self, uri: str, name: str, *, description: str = "", mime_type: str = "") -> None:
        self.uri = uri
        self.name = name
        self.description = description
        self.mime_type = mime_type

    def wire(self) -> JSONObject:
        """This block as a JSON object."""
        block: JSONObject = {"type": "resource_link", "uri": self.uri, "name": self.name}
        if self.description:
            block["description"] = self.description
        if self.mime_type:
            block["mimeType"] = self.mime_type
        return self._with_annotations(block)


class EmbeddedResource(Content):
    """A resource that is given with the answer: text when `body` is a str, a blob when it is bytes."""

    __slots__ = ("body", "mime_type", "uri")

    def __init__(self, uri: str, body: str | bytes, *, mime_type: str = "") -> None:
        self.uri = uri
        self.body = body
        self.mime_type = mime_type

    def wire(self) -> JSONObject:
        """This block as a JSON object."""
        resource = resource_contents(self.uri, self.body, self.mime_type)
        return self._with_annotations({"type": "resource", "resource": resource})


class Message:
    """One message of a prompt: who says it, and what."""

    __slots__ = ("content", "role")

    def __init__(self, role: Role, content: str | Content) -> None:
        self.role = role
        self.content = Text(content) if isinstance(content, str) else content

    @classmethod
    def user(cls, content: str | Content) -> Message:
        """A message that the user says."""
        return cls("user", content)

    @classmethod
    def assistant(cls, content: str | Content) -> Message:
        """A message that the assistant says."""
        return cls("assistant", content)

    def wire(self) -> JSONObject:
        """This message as a JSON object (2026-07-28, schema, PromptMessage)."""
        return {"role": self.role, "content": self.content.wire()}


def encode_bytes(data: bytes) -> str:
    """Bytes in standard Base64, with padding and without line breaks."""
    return base64.b64encode(data).decode("ascii")


def resource_contents(uri: str, body: str | bytes, mime_type: str) -> JSONObject:
    """The contents of one resource: text for a str, a blob for bytes (2026-07-28, schema, TextResourceContents)."""
    contents: JSONObject = {"uri": uri}
    if mime_type:
        contents["mimeType"] = mime_type
    if isinstance(body, bytes):
        contents["blob"] = encode_bytes(body)
    else:
        contents["text"] = body
    return contents


def known_block(block: JSONObject, *, audio: bool, links: bool) -> JSONObject:
    """A block for a client whose revision may not know its kind: what it does not know is said in text."""
    if block.get("type") == "audio" and not audio:
        return {"type": "text", "text": f"[audio, {block['mimeType']}, which this client cannot play]"}
    if block.get("type") == "resource_link" and not links:
        return {"type": "text", "text": f"{block['name']}: {block['uri']}"}
    return block
