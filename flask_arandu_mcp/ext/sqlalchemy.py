"""Refuse SQL that nobody allowed. It cannot see other engines, raw DBAPI connections, or threads that were not started
with `contextvars.copy_context().run`: what those do is on the app's own word."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, event

from ..grants import require


def require_grant(engine: Engine) -> None:
    """Make an engine refuse any statement that a handler runs before a Grant was made in its call.

    It holds from the loading of the arguments to the answer, the dump of the result included. What identity, access
    and policies read is let through. Outside of a call nothing changes.

    :raises GrantRequired: from the statement; the answer of the call is refused even if that is swallowed.
    """
    if not event.contains(engine, "before_cursor_execute", _refuse):
        event.listen(engine, "before_cursor_execute", _refuse)


def _refuse(conn: Any, cursor: Any, statement: str, parameters: Any, context: Any, executemany: bool) -> None:
    # The ORM's own events miss flushes, Core and reflection; this one sees every statement of the engine.
    require("A statement was sent to the database")
