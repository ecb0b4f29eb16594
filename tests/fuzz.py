"""Messages that no client should send: real ones of both eras, damaged by a seeded mutator. The same seed gives the
same messages."""

from __future__ import annotations

import copy
import json
from base64 import b64encode
from collections.abc import Iterator
from random import Random
from typing import Any

from .wire import META, MODERN, call, modern, modern_headers

BOTH: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/list", {"cursor": "x"}),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}),
    ("tools/call", {"name": "echo", "arguments": {"value": {"x": [1, 2.5, None, "é", "😀"]}}}),
    ("tools/call", {"name": "search", "arguments": {"status": "open", "limit": 3, "tag": "t"}}),
    ("tools/call", {"name": "delete_user", "arguments": {"id": 7}}),
    ("tools/call", {"name": "admin_hidden", "arguments": {"key": "k"}}),
    ("tools/call", {"name": "fail", "arguments": {"how": "notfound"}}),
    ("tools/call", {"name": "whoami"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "shop://items/apple"}),
    ("resources/read", {"uri": "shop://ledger"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "outline", "arguments": {"topic": "bees"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "shop://items/{name}"}, "argument": {"name": "name", "value": "ap"}},
    ),
    ("server/discover", {}),
    ("ping", {}),
    ("no/such/method", {"x": 1}),
]
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"roots": {"listChanged": True}},
    "clientInfo": {"name": "fuzz", "version": "1"},
}
OTHERS: list[dict[str, Any]] = [
    call("initialize", HELLO),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "nobody", "reason": "enough"}},
    {"jsonrpc": "2.0", "id": 3, "result": {"action": "accept"}},
    {"jsonrpc": "2.0", "id": 3, "error": {"code": -1, "message": "no"}},
]
REAL = [make(method, params) for method, params in BOTH for make in (call, modern)] + OTHERS


def _nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


JUNK: list[Any] = [
    None, True, False, 0, 1, -1, 1.0, 0.5, -0.0, 2**53, 2**53 - 1, 2**64, 10**400, 1e308, float("nan"), float("inf"),
    "", " ", "1", "x" * 5000, "\ud800", "\udc00\ud800", "\x00", "é", "😀", "\u2028", "__class__", "../../etc/passwd",
    "=?base64?%%%?=", "%s%n{0}", "'; drop table users --", "shop://items/%zz", "shop://items/" + "a/" * 50,
    [], [[]], [1, "a", None], {}, {"": {}}, {"$ref": "#"}, {"__proto__": 1}, _nested(58), _nested(70), _nested(300),
    MODERN, "2025-06-18", "1999-01-01", "tools/call", "notifications/initialized", "add", "ref/prompt",
]  # fmt: skip
NAMES = ["id", "method", "params", "jsonrpc", "result", "error", "name", "arguments", "_meta", "uri", "requestId", ""]
HEADER_JUNK = ["", " ", MODERN, "2025-11-25", "1999-01-01", "x" * 3000, "\xff\xfe", "=?base64?YWRk?=", "=?base64?%?="]
BYTES_JUNK = [b"\x00", b"\xff", b"\xed\xa0\x80", b'"', b"{", b"]", b"\\u"]


class Mutator:
    """Makes messages of one seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def messages(self, count: int) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Real messages, and the bytes that became of them; none holds a line feed."""
        for number in range(count):
            real = copy.deepcopy(self.random.choice(REAL))
            if "id" in real:
                real["id"] = self.random.choice([number, f"n{number}", f"é{number}"])
            yield real, self.body(real).replace(b"\n", b" ")

    def body(self, real: dict[str, Any]) -> bytes:
        """A message, damaged or whole."""
        value: Any = copy.deepcopy(real)
        for _ in range(self.random.choice([0, 1, 1, 1, 2, 3, 5])):
            value = self.damaged(value)
        body = self._encoded(value)
        for _ in range(self.random.choice([0] * 9 + [1, 2, 8])):
            body = self.damaged_bytes(body)
        return body

    def _encoded(self, value: Any) -> bytes:
        text = json.dumps(value, ensure_ascii=self.random.random() < 0.5)
        if self.random.random() < 0.05:
            member = f'"{self.random.choice(NAMES)}":{json.dumps(self.random.choice(JUNK))}'
            text = text.replace("{", f"{{{member},", 1)
        return text.encode("utf-8", "surrogatepass")

    def damaged(self, value: Any) -> Any:
        """A value with one of its parts dropped, doubled, renamed, wrapped or made something else."""
        parents = list(_containers(value))
        if not parents:
            return self.junk()
        parent = self.random.choice(parents)
        keys: list[Any] = list(parent) if isinstance(parent, dict) else list(range(len(parent)))
        if not keys or self.random.random() < 0.1:
            return self._with_more(value, parent)
        key = self.random.choice(keys)
        how = self.random.randrange(6)
        if how == 0:
            del parent[key]
        elif how == 1:
            self._with_more(value, parent, parent[key])
        elif how == 2 and isinstance(parent, dict):
            parent[self.random.choice([key.upper(), key + " ", key[:-1], *NAMES])] = parent.pop(key)
        elif how == 3:
            parent[key] = self.random.choice([[parent[key]], {"value": parent[key]}, str(parent[key])])
        else:
            parent[key] = self.junk()
        return value

    def junk(self) -> Any:
        """A value that belongs nowhere."""
        # A copy, for what is damaged next may be this very value.
        return copy.deepcopy(self.random.choice(JUNK))

    def _with_more(self, value: Any, parent: Any, *more: Any) -> Any:
        added = copy.deepcopy(more[0]) if more else self.junk()
        if isinstance(parent, dict):
            parent[self.random.choice(NAMES)] = added
        else:
            parent.append(added)
        return value

    def damaged_bytes(self, body: bytes) -> bytes:
        """Bytes of which some are flipped, cut out, doubled, put in or cut off."""
        at = self.random.randrange(len(body) + 1)
        to = min(len(body), at + self.random.choice([1, 1, 2, 8, 64]))
        how = self.random.randrange(5)
        if how == 0 and at < len(body):
            return body[:at] + bytes([body[at] ^ 1 << self.random.randrange(8)]) + body[at + 1 :]
        if how == 1:
            return body[:at] + body[to:]
        if how == 2:
            return body[:to] + body[at:]
        if how == 3:
            return body[:at] + self.random.choice(BYTES_JUNK) + body[at:]
        return body[:at]

    def headers(self, real: dict[str, Any]) -> dict[str, str]:
        """The headers that go with a message, damaged or whole."""
        is_modern = f"{META}protocolVersion" in (real.get("params") or {}).get("_meta", {})
        found = modern_headers(real) if is_modern else {"MCP-Protocol-Version": "2025-11-25"}
        more = {
            "Accept": ["application/json", "text/html", "text/event-stream", "*/*;q=0"],
            "Origin": ["http://localhost", "https://evil.example", "null"],
            "Sec-Fetch-Site": ["same-origin", "cross-site", "none"],
            "Authorization": ["Bearer token-alice", "Bearer token-root", "Bearer nobody", "Basic eA==", "Bearer"],
            "Mcp-Session-Id": ["x", "a.b.c", b64encode(b"{}").decode()],
            "Content-Type": ["application/json", "text/plain", "application/json; charset=utf-16", ""],
            "Cookie": ["session=x", "remember_token=1|x", "session=" + "a" * 3000],
            "Host": ["localhost", "evil.example", "a b", ""],
            "Mcp-Param-A": ["1"],
        }
        for _ in range(self.random.choice([0, 0, 0, 0, 1, 1, 2, 4])):
            name = self.random.choice([*more, *found])
            found[name] = self.random.choice(more.get(name, HEADER_JUNK) + HEADER_JUNK[:2])
        return found


def _containers(value: Any) -> Iterator[Any]:
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, (dict, list)):
            yield one
            left += one.values() if isinstance(one, dict) else one
