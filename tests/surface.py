"""Every message that the server sends in the tests is held against the schema of its revision. The official types are
the judge, and how many they saw is said when the tests are over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from mcp_types import methods
from pydantic import ValidationError

SEEN: Counter[str] = Counter()
"""Messages that were judged, by what they are."""

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/protocolVersion"


class Sent:
    """What is known of the requests that a client sent, to judge what comes back.

    :param version: the revision that is spoken where a message does not say; None on a pipe that has not agreed on one.
    """

    def __init__(self, version: str | None = None) -> None:
        self._version = version
        # A client that uses an id again may get the answers in any order.
        self._methods: dict[Any, set[tuple[str, str]]] = {}

    def note(self, body: bytes) -> None:
        """Remember a message that goes out to the server, if it is a request."""
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            return
        if isinstance(message, dict) and isinstance(message.get("method"), str) and _is_id(message.get("id")):
            asked = (message["method"], self._spoken(message))
            self._methods.setdefault(_key(message["id"]), set()).add(asked)

    def _spoken(self, message: Mapping[str, Any]) -> str:
        params = message.get("params")
        meta = params.get("_meta") if isinstance(params, dict) else None
        if (isinstance(meta, dict) and META in meta) or self._version == MODERN:
            return MODERN
        return self._version if self._version in HANDSHAKE else HANDSHAKE[-1]

    def judge(self, body: bytes) -> None:
        """Hold a message of the server's against the schema of its revision.

        :raises AssertionError: where it is no message. :raises pydantic.ValidationError: where it breaks the schema.
        """
        assert body.isascii(), body
        message = json.loads(body)
        assert message["jsonrpc"] == "2.0", body
        asked = self._methods.get(_key(message.get("id")), set())
        if "error" in message:
            error = message["error"]
            assert isinstance(error["code"], int), body
            assert isinstance(error["message"], str), body
            assert set(message) <= {"jsonrpc", "id", "error"}, body
            SEEN["errors"] += 1
        elif "result" in message:
            assert set(message) == {"jsonrpc", "id", "result"}, body
            SEEN[f"results of {self._fitting(asked, message['result'])}"] += 1
        elif "id" in message:
            version = self._version if self._version in HANDSHAKE else HANDSHAKE[-1]
            methods.parse_server_request(message["method"], version, message.get("params"))
            SEEN[f"requests of {version}"] += 1
        else:
            version = self._version if self._version in (*HANDSHAKE, MODERN) else HANDSHAKE[-1]
            methods.parse_server_notification(message["method"], version, message.get("params"))
            SEEN[f"notifications of {version}"] += 1

    def _fitting(self, asked: set[tuple[str, str]], result: dict[str, Any]) -> str:
        """The revision of the request that a result answers."""
        failure: Exception | None = None
        for method, version in sorted(asked):
            spoken = version
            if method == "initialize" and "protocolVersion" in result:
                spoken = result["protocolVersion"]
                self._version = self._version or spoken
            try:
                methods.validate_server_result(method, spoken, result)
            except (KeyError, ValidationError) as error:
                failure = error
            else:
                return spoken
        raise failure or AssertionError(f"a result that nobody asked for: {result}")


def _is_id(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _key(id: object) -> tuple[str, object]:
    return (type(id).__name__, id)


def summary() -> str:
    """How many messages were judged, and what they were."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(SEEN.items()))
    return f"{sum(SEEN.values())} messages of the server were valid for their revision: {kinds}."
