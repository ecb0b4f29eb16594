"""The HTTP headers of the protocol, read and compared. Nothing here knows a web framework: values come in as strings
and a verdict goes out."""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from typing import NamedTuple

VERSION = "MCP-Protocol-Version"
METHOD = "Mcp-Method"
NAME = "Mcp-Name"
SESSION = "Mcp-Session-Id"
PARAM_PREFIX = "Mcp-Param-"

_PREFIX = "=?base64?"
_SUFFIX = "?="
_UNSENDABLE = re.compile(r"[^ -~]")
_SENDABLE = re.compile(r"[\t -~]*")


class Challenge(NamedTuple):
    """What a `WWW-Authenticate: Bearer` header says (RFC 6750, section 3; RFC 9728, section 5.1).

    :ivar realm: the server's name.
    :ivar error: `invalid_token` or `insufficient_scope`; empty where no token was shown.
    :ivar scope: the scopes that a token needs, with a space between two.
    :ivar resource_metadata: the URL of the document that says where tokens come from.
    """

    realm: str
    error: str = ""
    scope: str = ""
    resource_metadata: str = ""

    def header(self) -> tuple[str, str]:
        """The header, with the parameters that say something."""
        said = [f'{name}="{_quoted(value)}"' for name, value in self._asdict().items() if value]
        return "WWW-Authenticate", f"Bearer {', '.join(said)}"


def _quoted(text: str) -> str:
    return _UNSENDABLE.sub("?", text).replace("\\", "\\\\").replace('"', '\\"')


class _Keys(dict[str, str]):
    """The keys of headers in a WSGI environ (PEP 3333). Only the server's own code asks, for few of them."""

    def __missing__(self, name: str) -> str:
        return self.setdefault(name, f"HTTP_{name.upper().replace('-', '_')}")


KEYS = _Keys()
"""The key of a header in a WSGI environ, by its name."""


@lru_cache(maxsize=64)
def is_json(content_type: str | None) -> bool:
    """Whether a Content-Type is `application/json`, with no charset or UTF-8.

    Only this very type: a body of any other one can be sent across sites without a preflight.
    """
    if not content_type:
        return False
    media_type, *parameters = (part.strip().lower() for part in content_type.split(";"))
    if media_type != "application/json":
        return False
    charsets = [p.partition("=")[2].strip(' "') for p in parameters if p.partition("=")[0].strip() == "charset"]
    return all(charset in {"utf-8", "utf8"} for charset in charsets)


def decode(value: str) -> str | None:
    """The text that a mirrored header stands for, or None when it stands for none.

    A value between `=?base64?` and `?=`, spelt exactly so, is Base64 of UTF-8; any other one is itself, less the
    optional white space around it (2026-07-28, transports, Value Encoding).
    """
    if value.isidentifier() and value.isascii():
        return value  # as most names are
    value = value.strip(" \t")
    if not (value.startswith(_PREFIX) and value.endswith(_SUFFIX) and len(value) >= len(_PREFIX) + len(_SUFFIX)):
        return value if _SENDABLE.fullmatch(value) else None
    try:
        return base64.b64decode(value[len(_PREFIX) : -len(_SUFFIX)], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def encode(text: str) -> str:
    """A text as a mirrored header carries it: as itself where it can be read so, else as Base64 of UTF-8."""
    if decode(text) == text:
        return text
    return f"{_PREFIX}{base64.b64encode(text.encode()).decode()}{_SUFFIX}"
