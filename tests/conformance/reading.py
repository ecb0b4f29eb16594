"""What the suite reads: resources, one of them a template, and prompts, one of which asks. Nothing can be subscribed
to, so `test://watched-resource` is a resource like any other."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from marshmallow import fields

from flask_arandu_mcp import (
    ClientRequest,
    Elicit,
    EmbeddedResource,
    Image,
    Message,
    Prompt,
    Request,
    Resource,
    prompt,
    resource,
)

from .samples import PNG


@resource("test://static-text", mime_type="text/plain")
def static_text(request: Request) -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@resource("test://static-binary", mime_type="image/png")
def static_binary(request: Request) -> bytes:
    """A picture that never changes."""
    return PNG


@resource("test://watched-resource", mime_type="text/plain")
def watched_resource(request: Request) -> str:
    """A text that a client would like to watch."""
    return "Watched resource content."


@resource("test://template/{id}/data", mime_type="application/json")
def template_data(request: Request, id: str) -> dict[str, Any]:
    """The data of an id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@template_data.completes("id")
def ids(request: Request, value: str) -> list[str]:
    return [id for id in ("123", "124", "200") if id.startswith(value)]


@prompt
def test_simple_prompt(request: Request) -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


@prompt(
    arguments={
        "arg1": fields.String(required=True, metadata={"description": "First test argument"}),
        "arg2": fields.String(required=True, metadata={"description": "Second test argument"}),
    }
)
def test_prompt_with_arguments(request: Request, arg1: str, arg2: str) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@test_prompt_with_arguments.completes("arg1")
def words(request: Request, value: str) -> list[str]:
    return [word for word in ("testing", "testValue1", "other") if word.startswith(value)]


@prompt(arguments={"resourceUri": fields.String(required=True, metadata={"description": "The resource to embed"})})
def test_prompt_with_embedded_resource(request: Request, resourceUri: str) -> list[Message]:
    """A prompt that gives a resource."""
    body = "Embedded resource content for testing."
    return [
        Message.user(EmbeddedResource(resourceUri, body, mime_type="text/plain")),
        Message.user("Please process the embedded resource above."),
    ]


@prompt
def test_prompt_with_image(request: Request) -> list[Message]:
    """A prompt that shows a picture."""
    return [Message.user(Image(PNG, "image/png")), Message.user("Please analyze the image above.")]


@prompt
def test_input_required_result_prompt(request: Request) -> Generator[ClientRequest, Any, str]:
    """A prompt that asks what it is about."""
    answer = yield Elicit("user_context", "What is the context?", {"context": fields.String(required=True)})
    return f"The context is: {answer.content.get('context', 'unknown')}"


RESOURCES: list[Resource] = [static_text, static_binary, watched_resource, template_data]
PROMPTS: list[Prompt] = [
    test_simple_prompt,
    test_prompt_with_arguments,
    test_prompt_with_embedded_resource,
    test_prompt_with_image,
    test_input_required_result_prompt,
]
