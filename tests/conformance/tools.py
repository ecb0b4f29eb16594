"""Tools that answer without asking: every kind of content, errors, progress and logs. The suite calls the first tool of
the list with no arguments, so that one takes none."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from marshmallow import fields

from flask_arandu_mcp import (
    Audio,
    EmbeddedResource,
    Image,
    Notification,
    Progress,
    Request,
    Response,
    Text,
    Tool,
    ToolError,
    tool,
)

from .samples import PNG, SCHEMA_2020_12, WAV

_STEP = 0.05
"""Seconds between two messages of one call, as the suite has it."""


@tool
def test_simple_text(request: Request) -> str:
    """Answers with text."""
    return "This is a simple text response for testing."


@tool
def test_image_content(request: Request) -> Response:
    """Answers with a picture."""
    return Response(Image(PNG, "image/png"))


@tool
def test_audio_content(request: Request) -> Response:
    """Answers with a sound."""
    return Response(Audio(WAV, "audio/wav"))


@tool
def test_embedded_resource(request: Request) -> Response:
    """Answers with a resource."""
    body = "This is an embedded resource content."
    return Response(EmbeddedResource("test://embedded-resource", body, mime_type="text/plain"))


@tool
def test_multiple_content_types(request: Request) -> Response:
    """Answers with several kinds of content."""
    return Response(
        Text("Multiple content types test:"),
        Image(PNG, "image/png"),
        EmbeddedResource("test://mixed-content-resource", '{"test":"data","value":123}', mime_type="application/json"),
    )


@tool
def test_error_handling(request: Request) -> None:
    """Answers with an error."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool
def test_tool_with_progress(request: Request) -> Generator[Progress, None, str]:
    """Says how far it has come."""
    for done in (0, 50, 100):
        yield Progress(done, 100, f"Completed step {done} of 100")
        time.sleep(_STEP)
    return "All of it is done."


def _log(text: str) -> Notification:
    return Notification("notifications/message", {"level": "info", "data": text})


@tool
def test_tool_with_logging(request: Request) -> Generator[Notification, None, str]:
    """Logs what it does, to the client."""
    yield _log("Tool execution started")
    time.sleep(_STEP)
    yield _log("Tool processing data")
    time.sleep(_STEP)
    yield _log("Tool execution completed")
    return "All of it is logged."


@tool
def test_logging_tool(request: Request) -> Generator[Notification, None, str]:
    """Logs once, to a client that wants logs."""
    yield _log("This is a log message.")
    return "It is logged where logs are wanted."


@tool
def test_reconnection(request: Request) -> Generator[Notification, None, str]:
    """Answers on a stream, which the suite would like to see end and go on elsewhere."""
    yield _log("Reconnection test started")
    return "Reconnection test completed successfully"


@tool(arguments=SCHEMA_2020_12)
def json_schema_2020_12_tool(request: Request, arguments: dict[str, Any]) -> dict[str, Any]:
    """Takes what a JSON Schema of its own says."""
    return arguments


@tool(arguments={"region": fields.String(load_default="", metadata={"x-mcp-header": "Region"})})
def test_x_mcp_header(request: Request, region: str) -> str:
    """Takes an argument that a header repeats."""
    return f"The region is {region!r}."


TOOLS: list[Tool] = [
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_tool_with_logging,
    test_logging_tool,
    test_reconnection,
    json_schema_2020_12_tool,
    test_x_mcp_header,
]
