"""The revisions of the protocol that are served, and what each of them can say. A revision is data: rooms ask it
what it knows, and none compares version strings."""

from __future__ import annotations

from typing import NamedTuple

from .errors import INVALID_PARAMS, RESOURCE_NOT_FOUND


class Revision(NamedTuple):
    """One revision of the protocol.

    :ivar name: as it is spelt on the wire.
    :ivar stateless: every message carries its own revision and client; there is no handshake.
    :ivar annotations: tools carry annotations and results may hold audio (since 2025-03-26).
    :ivar structured: titles, output schemas, structured results and resource links (since 2025-06-18).
    :ivar icons: declarations carry icons (since 2025-11-25).
    :ivar forms: users can be asked to fill in a form (since 2025-06-18).
    :ivar pages: users can be asked to open a page, and to choose several things, or by labels (since 2025-11-25).
    :ivar arrays: a structured result may be any JSON value, not only an object (since 2026-07-28).
    :ivar unknown_resource: the error code for a URI that leads nowhere.
    """

    name: str
    stateless: bool
    annotations: bool
    structured: bool
    icons: bool
    forms: bool
    pages: bool
    arrays: bool
    unknown_resource: int


def _handshake(name: str, *, annotations: bool, structured: bool, icons: bool) -> Revision:
    return Revision(name, False, annotations, structured, icons, structured, icons, False, RESOURCE_NOT_FOUND)


R_2024_11_05 = _handshake("2024-11-05", annotations=False, structured=False, icons=False)
R_2025_03_26 = _handshake("2025-03-26", annotations=True, structured=False, icons=False)
R_2025_06_18 = _handshake("2025-06-18", annotations=True, structured=True, icons=False)
R_2025_11_25 = _handshake("2025-11-25", annotations=True, structured=True, icons=True)
R_2026_07_28 = Revision("2026-07-28", True, True, True, True, True, True, True, INVALID_PARAMS)

REVISIONS = {r.name: r for r in (R_2024_11_05, R_2025_03_26, R_2025_06_18, R_2025_11_25, R_2026_07_28)}
"""Every revision served, by its name, oldest first."""

HANDSHAKE = {name: revision for name, revision in REVISIONS.items() if not revision.stateless}
"""The revisions that begin with `initialize`."""

STATELESS = {name: revision for name, revision in REVISIONS.items() if revision.stateless}
"""The revisions whose every message stands alone."""

NEWEST_HANDSHAKE = R_2025_11_25
"""What `initialize` answers a client that asks for a revision it does not know (lifecycle, 2025-11-25)."""

WITHOUT_HEADER = R_2025_03_26
"""What a client speaks that sends neither session id nor `MCP-Protocol-Version` (transports, 2025-06-18)."""
