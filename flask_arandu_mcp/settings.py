"""What an app's configuration says of the server: where and how much. The `MCP_*` keys are read once, in `init_app`,
and a key that nobody reads is a mistake."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .caller import Terms
from .limits import ASK_TIMEOUT, MAX_MESSAGE, MAX_RESULT


class Settings(NamedTuple):
    """The `MCP_*` keys of an app's configuration.

    :ivar allowed_origins: `MCP_ALLOWED_ORIGINS`: origins whose pages may call the server, such as
        `https://inspector.example.org`.
    :ivar login_required: `MCP_LOGIN_REQUIRED`: guests are told to sign in, whatever a policy says.
    :ivar max_message: `MCP_MAX_MESSAGE`: bytes of one message, at most.
    :ivar max_result: `MCP_MAX_RESULT`: bytes of one result, at most.
    :ivar ask_timeout: `MCP_ASK_TIMEOUT`: seconds that a question to the user stays open.
    :ivar stdio_workers: `MCP_STDIO_WORKERS`: calls that a pipe works on at the same time.
    """

    allowed_origins: frozenset[str] = frozenset()
    login_required: bool = False
    max_message: int = MAX_MESSAGE
    max_result: int = MAX_RESULT
    stdio_workers: int = 4
    ask_timeout: int = ASK_TIMEOUT

    @property
    def terms(self) -> Terms:
        """The part of the settings that the door goes by."""
        return Terms(self.max_result, not self.login_required, self.ask_timeout)


_KEYS = {f"MCP_{field.upper()}": field for field in Settings._fields}


def read(config: Mapping[str, Any]) -> tuple[Settings, list[str]]:
    """The settings of an app, and every mistake in them, one sentence each; with a mistake they are the defaults."""
    mistakes = list(_mistakes(config))
    if mistakes:
        return Settings(), mistakes
    given = {field: config[key] for key, field in _KEYS.items() if key in config}
    if "allowed_origins" in given:
        given["allowed_origins"] = frozenset(origin.lower().rstrip("/") for origin in given["allowed_origins"])
    return Settings(**given), []


def _mistakes(config: Mapping[str, Any]) -> Iterator[str]:
    for key in config:
        if key.startswith("MCP_") and key not in _KEYS:
            meant = difflib.get_close_matches(key, _KEYS, 1, 0.8)
            if meant:
                yield f"config {key!r} is no setting of this extension: did you mean {meant[0]!r}?"
    for key, field in _KEYS.items():
        if key in config:
            wrong = _CHECKS.get(field, _positive)(config[key])
            if wrong:
                yield f"config {key!r} is {config[key]!r}: {wrong}."


def _positive(value: object) -> str:
    return "" if type(value) is int and value > 0 else "it must be a whole number above 0"


def _boolean(value: object) -> str:
    return "" if isinstance(value, bool) else "it must be True or False"


def _origins(value: object) -> str:
    is_list = isinstance(value, (list, tuple, set, frozenset)) and all(map(_is_origin, value))
    return "" if is_list else "it must be a list of origins, such as ['https://example.org']"


def _is_origin(value: object) -> bool:
    # A wildcard, `null` or a path would match nothing that a browser sends, or anything.
    return isinstance(value, str) and _ORIGIN.fullmatch(value) is not None


_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@*\s]+/?", re.IGNORECASE)
_CHECKS = {"login_required": _boolean, "allowed_origins": _origins}
