"""The numbers and spellings that the protocol's messages must keep to. They are fixed; what an app may set is in
`settings`."""

from __future__ import annotations

import re

MAX_DEPTH = 64
"""How deep the containers of one message may nest."""

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer, either way from 0, that every JSON reader keeps exact (RFC 8259, section 6)."""

MAX_MESSAGE = 1024 * 1024
"""Bytes of one message, unless `MCP_MAX_MESSAGE` says otherwise."""

MAX_URI = 8192
"""Characters of a URI that is matched against templates; RFC 9110, section 4.1, asks for 8000 at least."""

MAX_RESULT = 2 * 1024 * 1024
"""Bytes of one result, unless `MCP_MAX_RESULT` says otherwise."""

ASK_TIMEOUT = 600
"""Seconds that a question stays open, unless `MCP_ASK_TIMEOUT` says otherwise."""

NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
"""A name of a tool or a prompt (2026-07-28, server/tools, Tool Names)."""

MIME_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}(\s*;\s*[\x20-\x7e]+)?")
"""A media type with its parameters, as one header value could carry it (RFC 6838, section 4.2)."""

SCOPE = re.compile(r"[!#-\[\]-~]+")
"""One scope of a token (RFC 6749, section 3.3)."""

MAX_FAULTS = 100
"""Faults of one call that are told; a client that sends more has something else to mend first."""

MAX_COMPLETIONS = 100
"""Values of one completion (2026-07-28, server/utilities/completion)."""
