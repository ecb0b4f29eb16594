"""Refuse SQL that nobody allowed. It cannot see other engines, raw DBAPI connections, threads that were not started
with `contextvars.copy_context().run`, or what is flushed after the answer: what those do is on the app's own word."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import shorten
from typing import Any

from sqlalchemy import Engine, event

from ..grants import ungranted


def require_grant(engine: Engine) -> None:
    """Make an engine refuse any statement that a handler runs before a Grant was made in its call.

    It holds from the loading of the arguments to the answer, the dump of the result included. What identity, access
    and policies read is let through. Outside of a call nothing changes. Of several engines each wants its own; of an
    AsyncEngine, give the `sync_engine`. A sequence that is asked for by itself is not seen.

    :raises GrantRequired: from the statement; the answer of the call is refused even if that is swallowed.
    """
    # The ORM's own events miss flushes, Core and reflection, and a connection's cost four times as much as these.
    # Listening twice is listening once; asking first whether it listens is a mistake, as SQLAlchemy knows engines by
    # their addresses, and an engine may stand where another one stood.
    for name, hook in _HOOKS.items():
        event.listen(engine, name, hook)


def _refuse(cursor: Any, statement: str, parameters: Any, context: Any) -> None:
    ledger = ungranted()
    if ledger is None or (ledger.deciding and not _writes(context)):
        return
    ledger.refuse(f"The statement {shorten(statement, 120)!r} was sent to the database")


def _refuse_bare(cursor: Any, statement: str, context: Any) -> None:
    _refuse(cursor, statement, None, context)


def _writes(context: Any) -> bool:
    # A policy that reads makes the session flush what its handler had pending, which the policy has not allowed yet.
    return any(getattr(context, kind, False) for kind in ("isinsert", "isupdate", "isdelete", "isddl"))


_HOOKS: dict[str, Callable[..., None]] = {
    "do_execute": _refuse,
    "do_executemany": _refuse,
    "do_execute_no_params": _refuse_bare,
}
