"""Values that leave the server and come back, signed. Nothing is stored, so any process that has the keys can read
them, and nobody without the keys can make or change one."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from itsdangerous import BadData, URLSafeSerializer
from itsdangerous.encoding import base64_decode, base64_encode


class Sealer:
    """Signs values for one purpose with the newest key, and reads what any of the keys signed.

    :param keys: the newest first, as Flask orders `SECRET_KEY` and `SECRET_KEY_FALLBACKS`.
    """

    __slots__ = ("_keys",)

    def __init__(self, keys: Sequence[str | bytes]) -> None:
        self._keys = [key if isinstance(key, bytes) else key.encode() for key in reversed(keys)]

    def seal(self, purpose: str, value: object) -> str:
        """A value as signed text of letters, digits, `-`, `_` and `.` only."""
        return self._serializer(purpose).dumps(value)

    def open(self, purpose: str, sealed: str) -> object | None:
        """The value that was sealed for this purpose, or None for text that was not."""
        signature = sealed.rpartition(".")[2]
        try:
            # Base64 is read leniently, so that many texts are one signature: only the one that `seal` wrote is taken.
            if base64_encode(base64_decode(signature)).decode() != signature:
                return None
            value: object = self._serializer(purpose).loads(sealed)
        except (BadData, UnicodeError):
            return None
        return value

    def _serializer(self, purpose: str) -> URLSafeSerializer:
        return URLSafeSerializer(
            self._keys,
            salt=f"flask_arandu_mcp.{purpose}",
            signer_kwargs={"key_derivation": "hmac", "digest_method": hashlib.sha256},
        )
