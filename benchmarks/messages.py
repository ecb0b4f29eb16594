"""Messages as clients of either era send them: the bytes of a body and its headers. No server is sent more or less than
its era asks for."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, NamedTuple

from .jobs import Job

_META = "io.modelcontextprotocol/"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}


class Era(Enum):
    """The revision that a client speaks, the newest of its era."""

    HANDSHAKE = "2025-11-25"
    STATELESS = "2026-07-28"


class Message(NamedTuple):
    """A request as it goes out."""

    body: bytes
    headers: dict[str, str]


def message(job: Job, era: Era, id: int = 1) -> Message:
    """A job's request, with the headers of its era and no session id."""
    return Message(_compact(_members(job, era, id)), _headers(job, era))


def line(job: Job, era: Era, id: int = 1) -> bytes:
    """A job's request as a line of a pipe."""
    return _compact(_members(job, era, id)) + b"\n"


def answered(body: bytes) -> Any:
    """The message in an answer: a JSON object, or the last event of a stream."""
    if body.lstrip().startswith(b"{"):
        return json.loads(body)
    return json.loads([line[5:] for line in body.splitlines() if line.startswith(b"data:")][-1])


def _compact(members: dict[str, Any]) -> bytes:
    """JSON without white space, as the official clients write it."""
    return json.dumps(members, separators=(",", ":")).encode()


def _members(job: Job, era: Era, id: int) -> dict[str, Any]:
    params = dict(job.params)
    if era is Era.STATELESS:
        params["_meta"] = {f"{_META}protocolVersion": era.value, f"{_META}clientCapabilities": {}}
    return {"jsonrpc": "2.0", "id": id, "method": job.method, "params": params}


def _headers(job: Job, era: Era) -> dict[str, str]:
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": era.value,
    }
    if era is Era.STATELESS:
        headers["Mcp-Method"] = job.method
        if job.method in _NAMED_BY:
            headers["Mcp-Name"] = job.params[_NAMED_BY[job.method]]
    return headers
