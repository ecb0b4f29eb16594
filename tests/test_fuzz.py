"""Whatever comes in, what goes out is the protocol: ten thousand damaged messages on each transport."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from flask_arandu_mcp import answer, guest
from flask_arandu_mcp.errors import Failure, attempt
from flask_arandu_mcp.jsonrpc import Call, Malformed, Notice, is_id, parse

from .app import create_app, make_server
from .fuzz import Mutator
from .wire import Pipe, Wire, bearer, call

MESSAGES = 10_000


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    # Failures are logged with their traceback, which would take most of the time.
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def owed(body: bytes) -> list[Any]:
    """The ids of the answers that a message is owed: one, or none."""
    message = attempt(parse, body)
    if isinstance(message, Failure):
        assert isinstance(message.error, Malformed)
        return [message.error.id]
    return [message.id] if isinstance(message, Call) else []


def checked(line: bytes) -> dict[str, Any]:
    """An answer, found to be a JSON-RPC response in ASCII."""
    assert line.isascii()
    assert b"\n" not in line
    found: dict[str, Any] = json.loads(line, parse_constant=lambda name: pytest.fail(name))
    assert found["jsonrpc"] == "2.0"
    assert set(found) - {"id"} in ({"jsonrpc", "result"}, {"jsonrpc", "error"})
    if "error" in found:
        assert isinstance(found["error"]["code"], int)
        assert isinstance(found["error"]["message"], str)
    else:
        assert isinstance(found["result"], dict)
        assert is_id(found["id"])
    assert b"Traceback" not in line
    return found


def test_j_plain_python_answers_every_message() -> None:
    """`answer` gives one response to what is owed one, and nothing to what is owed none."""
    server = make_server()
    kinds: Counter[str] = Counter()
    for _, body in Mutator(1).messages(3_000):
        found = [checked(one) for one in answer(server, guest, body)]
        assert [one["id"] for one in found] == owed(body), body
        kinds.update(kind for one in found or [{"none": 1}] for kind in ("result", "error", "none") if kind in one)
    # The damage is neither so slight nor so heavy that only one kind of answer is tried.
    assert min(kinds["result"], kinds["error"]) > 500
    assert kinds["none"] > 50


@pytest.mark.parametrize(
    ("seed", "config"), [(2, {}), (3, {"TESTING": True, "PROPAGATE_EXCEPTIONS": True})], ids=["serving", "testing"]
)
def test_j_http_answers_every_message(seed: int, config: dict[str, Any]) -> None:
    """Each POST is answered with JSON-RPC or with nothing, never with HTML and never with an exception."""
    wire = Wire(create_app(config))
    mutator = Mutator(seed)
    for real, body in mutator.messages(MESSAGES // 2):
        headers = mutator.headers(real)
        content_type = headers.pop("Content-Type", "application/json")
        response = wire.post(body, headers, content_type=content_type)
        assert response.status_code in {200, 202, 400, 401, 403, 404, 415}, (body, headers)
        if response.status_code == 202:
            assert (response.data, owed(body)) == (b"", [])
            continue
        assert response.mimetype == "application/json"
        found = checked(response.data)
        if response.status_code == 200:
            assert [found["id"]] == owed(body), body
        else:
            assert "error" in found
            assert found.get("id") in (None, *owed(body)), body
    assert wire.post(call("ping")).get_json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "BREW"])
def test_j_http_answers_every_method(method: str) -> None:
    """What is no POST is refused in JSON, whatever it carries."""
    wire = Wire(create_app())
    mutator = Mutator(4)
    for real, body in mutator.messages(50):
        headers = {**mutator.headers(real), **bearer("alice")}
        response = wire.client.open("/mcp", method=method, data=body, headers=headers)
        assert response.status_code in ({204, 403} if method == "OPTIONS" else {403, 405})
        if response.data:
            assert "error" in checked(response.data)


def pipe_messages(seed: int) -> Iterator[tuple[bytes, list[Any]]]:
    """Lines for a pipe, each with the ids of the answers that it is owed."""
    ids: set[Any] = set()
    for _, body in Mutator(seed).messages(MESSAGES):
        message = attempt(parse, body)
        if isinstance(message, Notice) and message.method == "notifications/cancelled":
            id = message.params.get("requestId")
            if is_id(id) and id in ids:
                continue  # whether it comes in time to stop an answer is the clock's to say
        found = owed(body) if body.strip() else []
        ids.update(found)
        yield body + b"\n", found


def test_j_the_pipe_answers_every_message() -> None:
    """One process answers all of them, each as often as it is owed, and a ping at the end."""
    lines = list(pipe_messages(5))
    expected = Counter(id for _, ids in lines for id in ids)
    with Pipe(stderr=subprocess.DEVNULL) as pipe:
        writer = threading.Thread(target=lambda: pipe.send(*(line for line, _ in lines)))
        writer.start()
        found: Counter[Any] = Counter()
        for _ in range(expected.total()):
            line = pipe.line()
            assert line is not None, expected - found
            found[checked(line)["id"]] += 1
        writer.join()
        assert found == expected
        assert pipe.ask(call("ping", id="end")) == {"jsonrpc": "2.0", "id": "end", "result": {}}
        assert pipe.close()[:2] == (0, b"")
