"""What a tool answered, as text to be read on a terminal: data as indented JSON, text as it is, and a line for what is
neither."""

from __future__ import annotations

import base64
import json
from typing import Any

from ..typing import JSONObject
from .visible import for_stdout, visible


def error_text(response: JSONObject) -> str | None:
    """Why a call was not answered, in the words that the model would read; None where it was."""
    error: Any = response.get("error")
    if error is not None:
        return visible(str(error["message"]))
    result: Any = response["result"]
    return visible(_blocks(result["content"])) if result.get("isError") else None


def result_text(response: JSONObject) -> str:
    """The answer of a call."""
    result: Any = response["result"]
    if "structuredContent" in result:
        return for_stdout(json.dumps(result["structuredContent"], indent=2, ensure_ascii=False))
    return for_stdout(_blocks(result["content"]))


def _blocks(content: list[Any]) -> str:
    return "\n".join(map(_block, content))


def _block(block: Any) -> str:
    kind = block["type"]
    if kind == "text":
        return str(block["text"])
    if kind == "resource_link":
        return f"[{block['name']}: {block['uri']}]"
    if kind == "resource":
        held = block["resource"]
        return str(held["text"]) if "text" in held else f"[{held['uri']}]"
    return f"[{kind}: {block.get('mimeType', '')}, {len(base64.b64decode(block.get('data', '')))} bytes]"
