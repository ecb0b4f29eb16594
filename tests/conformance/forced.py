"""Makes every client of the handshake era propose a revision of our choice. The suite's own client proposes 2025-11-25
whatever revision it tests, so the older ones would be declared and never spoken."""

from __future__ import annotations

import json
from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Forced:
    """WSGI middleware that changes what `initialize` asks for, and nothing else.

    :param revision: what is asked for in place of what the client proposed.
    """

    def __init__(self, app: WSGIApplication, revision: str) -> None:
        self._app = app
        self._revision = revision

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        length = int(environ.get("CONTENT_LENGTH") or 0)
        if length:
            body = self._forced(environ["wsgi.input"].read(length))
            environ["wsgi.input"], environ["CONTENT_LENGTH"] = BytesIO(body), str(len(body))
        return self._app(environ, start_response)

    def _forced(self, body: bytes) -> bytes:
        try:
            message: Any = json.loads(body)
        except ValueError:
            return body
        if not isinstance(message, dict) or message.get("method") != "initialize":
            return body
        message["params"] = {**message["params"], "protocolVersion": self._revision}
        return json.dumps(message).encode()
