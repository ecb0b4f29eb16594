"""Messages as clients send them, over the test client and over a real pipe."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any, cast

from flask import Flask
from werkzeug.test import TestResponse

from flask_arandu_mcp.transports.memo import read_memo

from .environs import environment
from .surface import Sent

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def call(method: str, params: Any = None, id: Any = 1, **members: Any) -> dict[str, Any]:
    """A request of the handshake era."""
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id, "method": method, **members}
    if params is not None:
        message["params"] = params
    return message


def modern(method: str, params: Mapping[str, Any] | None = None, id: Any = 1, **meta: Any) -> dict[str, Any]:
    """A request of the stateless era."""
    own = {f"{META}protocolVersion": MODERN, f"{META}clientCapabilities": {}, **meta}
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**(params or {}), "_meta": own}}


def modern_headers(message: Mapping[str, Any]) -> dict[str, str]:
    """The headers that repeat what a request of the stateless era says."""
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    named_by = NAMED_BY.get(message["method"])
    if named_by and named_by in message["params"]:
        headers["Mcp-Name"] = message["params"][named_by]
    return headers


class Wire:
    """An app's server, spoken to over HTTP."""

    def __init__(self, app: Flask, url: str = "/mcp") -> None:
        self.app = app
        self.client = app.test_client()
        self.url = url

    def post(self, body: Any, headers: Mapping[str, Any] | None = None, **options: Any) -> TestResponse:
        """POST a message, or any bytes."""
        data = body if isinstance(body, (bytes, str)) else json.dumps(body)
        options.setdefault("content_type", "application/json")
        answer = self.client.post(self.url, data=data, headers=headers or {}, **options)
        self._judge(data if isinstance(data, bytes) else data.encode("utf-8", "replace"), dict(headers or {}), answer)
        return answer

    def _judge(self, data: bytes, headers: Mapping[str, Any], answer: TestResponse) -> None:
        named = {str(name).lower(): str(value) for name, value in headers.items()}
        version = named.get("mcp-protocol-version", "2025-03-26")
        state = self.app.extensions["arandu_mcp"]["default"]
        peer = read_memo(state.host.sealer, named.get("mcp-session-id", ""))
        sent = Sent(peer.revision.name if peer and "mcp-protocol-version" not in named else version)
        sent.note(data)
        if answer.mimetype == "application/json" and answer.data:
            sent.judge(answer.data)

    def modern(self, method: str, params: Mapping[str, Any] | None = None, **headers: str) -> TestResponse:
        """POST a request of the stateless era, with its headers."""
        message = modern(method, params)
        return self.post(message, {**modern_headers(message), **headers})

    def call(self, method: str, params: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        """The result of a request of the handshake era."""
        answer = self.post(call(method, params), {"MCP-Protocol-Version": "2025-11-25", **(headers or {})}).get_json()
        assert "result" in answer, answer
        return answer["result"]

    def sign_in(self, name: str) -> None:
        """Sign a user in; the session cookie goes with what follows."""
        assert self.client.post(f"/sign-in/{name}").status_code == 200


def bearer(name: str) -> dict[str, str]:
    """The header that shows a user's token."""
    return {"Authorization": f"Bearer token-{name}"}


class Pipe:
    """A real process that serves a pipe."""

    def __init__(
        self, app: str = "tests.app", *args: str, env: Mapping[str, str] | None = None, **options: Any
    ) -> None:
        command = [sys.executable, "-m", "flask", "--app", app, "mcp", "start", *args]
        environ = environment(**(env or {}))
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command, env=environ, **{**pipes, **options})
        self.process = cast("subprocess.Popen[bytes]", process)
        self._held = b""
        self._sent = Sent()
        self._unsent = b""

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: Any) -> None:
        """Write messages, or any bytes, in one write."""
        assert self.process.stdin is not None
        lines = [m if isinstance(m, bytes) else json.dumps(m).encode() + b"\n" for m in messages]
        *whole, self._unsent = (self._unsent + b"".join(lines)).split(b"\n")
        for line in [*whole, self._unsent]:
            self._sent.note(line)
        self.process.stdin.write(b"".join(lines))
        self.process.stdin.flush()

    def line(self, timeout: float = 20.0) -> bytes | None:
        """The next line that comes out, or None when none does in time."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + timeout
        while b"\n" not in self._held:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                return None
            self._held += chunk
        line, _, self._held = self._held.partition(b"\n")
        self._sent.judge(line)
        return line

    def receive(self, timeout: float = 20.0) -> Any:
        """The next message that comes out."""
        line = self.line(timeout)
        assert line is not None, "nothing came out"
        return json.loads(line)

    def ask(self, message: Any) -> Any:
        """Send one message and receive one."""
        self.send(message)
        return self.receive()

    def close(self) -> tuple[int, bytes, bytes]:
        """Close stdin and wait: the exit code, what else came out, and stderr."""
        out, err = self.process.communicate(timeout=10)
        return self.process.returncode, self._held + out, err
