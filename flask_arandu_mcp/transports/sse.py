"""Server-sent events: how messages go out one after the other on one HTTP response. It knows bytes and nothing of a
web framework (2026-07-28, transports, Receiving Messages)."""

from __future__ import annotations

MEDIA_TYPE = "text/event-stream"
HEADERS = (("Cache-Control", "no-cache"), ("X-Accel-Buffering", "no"))
"""What keeps proxies from holding events back."""

KEEP_ALIVE = b":\n\n"
"""A comment, by which a server finds out that nobody reads any more."""


def event(message: bytes) -> bytes:
    """One message as an event; it is JSON in one line, so it needs no splitting."""
    return b"data: " + message + b"\n\n"


def accepts_events(accept: str | None) -> bool:
    """Whether a client takes an event stream, by its Accept header."""
    ranges = [part.partition(";")[0].strip().lower() for part in (accept or "").split(",")]
    return MEDIA_TYPE in ranges
