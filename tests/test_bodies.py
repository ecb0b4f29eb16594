"""Bodies that are too large, have no length or end too soon, against real servers and the bare WSGI callable. The
client always gets its answer, and the server never holds more than one message."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from flask import Flask, request
from werkzeug.serving import make_server

from .app import calls, create_app
from .served import Gunicorn, Raw, chunked, exchange, post
from .wire import Wire, bearer, call

MIB = 1024 * 1024
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
PING = json.dumps(call("ping")).encode()


def padded(size: int) -> bytes:
    """A ping of this many bytes."""
    return PING + b" " * (size - len(PING))


def pieces(size: int) -> Iterator[bytes]:
    """A ping of this many bytes, without holding it."""
    yield PING
    left = size - len(PING)
    while left > 0:
        yield b" " * min(left, 65536)
        left -= 65536


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    with Gunicorn(tmp_path_factory.mktemp("gunicorn")) as running:
        yield running


@pytest.fixture(scope="module")
def development() -> Iterator[int]:
    """The port of Werkzeug's own server, whose input stream does not end where the body does."""
    server = make_server("127.0.0.1", 0, create_app(), threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["gunicorn", "development"])
def port(request: pytest.FixtureRequest) -> int:
    found = request.getfixturevalue(request.param)
    return found.port if isinstance(found, Gunicorn) else int(found)


def is_refused(answer: Raw, status: int, code: int, words: str) -> None:
    assert answer.status == status
    assert "application/json" in answer.head
    body = json.loads(answer.body)
    assert (body["id"], body["error"]["code"]) == (None, code)
    assert words in body["error"]["message"]


TOO_LARGE = (413, -32600, "at most 1048576 bytes")


@pytest.mark.parametrize("size", [MIB + 1, 2 * MIB, 12 * MIB])
def test_a_body_over_the_limit_is_answered_and_not_reset(port: int, size: int) -> None:
    """The client can send all that it announced, and then reads a 413 as JSON."""
    head = post(JSON, f"Content-Length: {size}")
    is_refused(exchange(port, [head, *pieces(size)]), *TOO_LARGE)


@pytest.mark.parametrize("size", [MIB + 1, MIB + 65537, 12 * MIB])
def test_a_body_without_a_length_is_held_to_the_limit(port: int, size: int) -> None:
    """A chunked body that goes over the limit is a 413 too, and never a message that was cut."""
    is_refused(exchange(port, [post(JSON, CHUNKED), *chunked(pieces(size))]), *TOO_LARGE)


@pytest.mark.parametrize("size", [len(PING), 70_000, MIB])
def test_a_body_up_to_the_limit_is_served(port: int, size: int) -> None:
    """The limit is the last size that is served, with a length and without."""
    for sent in (
        [post(JSON, f"Content-Length: {size}"), *pieces(size)],
        [post(JSON, CHUNKED), *chunked(pieces(size))],
    ):
        answer = exchange(port, sent)
        assert answer.status == 200
        assert json.loads(answer.body) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    ("status", "head"),
    [
        (403, (JSON, "Origin: https://evil.example")),
        (405, (JSON,)),
        (415, ("Content-Type: text/plain",)),
    ],
)
@pytest.mark.parametrize("has_length", [True, False])
def test_what_is_refused_unread_is_answered_and_not_reset(
    port: int, status: int, head: tuple[str, ...], has_length: bool
) -> None:
    """A refusal that needs no body still reads it to its end, so that the answer arrives."""
    size = 3 * MIB
    method = "PUT" if status == 405 else "POST"
    if has_length:
        answer = exchange(port, [post(*head, f"Content-Length: {size}", method=method), *pieces(size)])
    else:
        answer = exchange(port, [post(*head, CHUNKED, method=method), *chunked(pieces(size))])
    assert answer.status == status
    assert json.loads(answer.body)["error"]


def test_memory_is_bounded(gunicorn: Gunicorn) -> None:
    """Refusing bodies of 15 MiB, with and without a length, takes the memory of a message and not of a body."""
    warm = [post(JSON, f"Content-Length: {MIB}"), *pieces(MIB)]
    assert exchange(gunicorn.port, warm).status == 200
    before = gunicorn.peak()
    size = 15 * MIB
    for _ in range(3):
        assert exchange(gunicorn.port, [post(JSON, f"Content-Length: {size}"), *pieces(size)]).status == 413
        assert exchange(gunicorn.port, [post(JSON, CHUNKED), *chunked(pieces(size))]).status == 413
    assert gunicorn.peak() - before < 8 * MIB


@pytest.mark.parametrize("terminated", [True, False])
def test_a_body_that_ends_too_soon_is_a_parse_error(app: Flask, terminated: bool) -> None:
    """Less than was announced is no message, even where what did come would be one."""
    environ: dict[str, Any] = {
        "wsgi.input": BytesIO(PING),
        "wsgi.input_terminated": terminated,
        "CONTENT_LENGTH": str(len(PING) + 1),
    }
    answer = app.test_client().post("/mcp", content_type="application/json", environ_overrides=environ)
    assert (answer.status_code, answer.mimetype) == (400, "application/json")
    assert answer.get_json()["error"]["code"] == -32700
    assert "ended before it was complete" in answer.get_json()["error"]["message"]


class Dribbling(BytesIO):
    """A body that comes a few bytes at a time."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size or 7, 7))


def test_a_body_that_comes_in_pieces_is_put_together(app: Flask) -> None:
    """A server may give less at a time than it is asked for (PEP 3333)."""
    environ: dict[str, Any] = {"wsgi.input": Dribbling(PING), "CONTENT_LENGTH": str(len(PING))}
    answer = app.test_client().post("/mcp", content_type="application/json", environ_overrides=environ)
    assert answer.get_json()["result"] == {}


@pytest.mark.parametrize("length", [None, "", "x", "-5", "\u0661", "1_0"])
def test_a_length_that_is_no_number_announces_nothing(app: Flask, length: str | None) -> None:
    """What a server leaves out, or a client made up, is taken for no length: without an end there is no body."""
    environ: dict[str, Any] = {"wsgi.input": BytesIO(PING), "CONTENT_LENGTH": length or ""}
    answer = app.test_client().post("/mcp", content_type="application/json", environ_overrides=environ)
    assert answer.status_code == 400
    assert answer.get_json()["error"]["code"] == -32700


@pytest.mark.parametrize("way", ["get_data", "stream", "get_json"])
def test_the_apps_own_code_can_read_the_body_too(app: Flask, way: str) -> None:
    """What was read for the server is there for a before_request function, however that reads it."""
    seen: list[Any] = []

    @app.before_request
    def look() -> None:
        seen.append(request.stream.read() if way == "stream" else getattr(request, way)())

    assert app.test_client().post("/mcp", data=PING, content_type="application/json").get_json()["result"] == {}
    assert seen == [json.loads(PING) if way == "get_json" else PING]


@pytest.mark.parametrize("way", ["get_data", "get_json", "stream"])
def test_the_apps_own_code_may_read_the_body_first(app: Flask, way: str) -> None:
    """What an audit log, or a look at the values of the URL, has read is no message less."""

    @app.url_value_preprocessor
    def look(endpoint: str | None, values: dict[str, Any] | None) -> None:
        _ = request.stream if way == "stream" else getattr(request, way)()

    assert app.test_client().post("/mcp", data=PING, content_type="application/json").get_json()["result"] == {}


@pytest.mark.parametrize("way", ["uncached", "stream"])
def test_the_body_is_kept_for_whoever_reads_it_last(app: Flask, way: str) -> None:
    """A signature check reads all there is, and the app's later code finds it again."""
    seen: list[bytes] = []

    @app.before_request
    def check() -> None:
        seen.append(request.stream.read() if way == "stream" else request.get_data(cache=False))

    @app.after_request
    def log(response: Any) -> Any:
        seen.append(request.get_data())
        return response

    assert app.test_client().post("/mcp", data=PING, content_type="application/json").get_json()["result"] == {}
    assert seen == [PING, PING]


def test_a_length_of_thousands_of_digits_is_refused(app: Flask) -> None:
    """Python would not read it as a number, and no body is so long."""
    environ: dict[str, Any] = {"wsgi.input": BytesIO(PING), "CONTENT_LENGTH": "9" * 5000}
    answer = app.test_client().post("/mcp", content_type="application/json", environ_overrides=environ)
    assert answer.status_code in (400, 413)


class Endless(BytesIO):
    """A body without end, which counts what is read of it."""

    taken = 0
    largest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        assert size is not None
        assert size > 0, "a body without end is read whole"
        self.taken += size
        self.largest = max(self.largest, size)
        return b" " * size

    def readinto(self, buffer: Any, /) -> int:
        buffer[:] = self.read(len(buffer))
        return len(buffer)


@pytest.mark.parametrize("headers", [{}, {"Origin": "null"}, {"Content-Type": "text/plain"}])
def test_a_body_without_end_is_given_up(app: Flask, headers: dict[str, str]) -> None:
    """No body makes the server read forever, or much at once."""
    endless = Endless()
    environ: dict[str, Any] = {"wsgi.input": endless, "wsgi.input_terminated": True}
    answer = app.test_client().post(
        "/mcp", headers={"Content-Type": "application/json", **headers}, environ_overrides=environ
    )
    assert answer.status_code in (403, 413, 415)
    assert endless.taken <= 18 * MIB
    assert endless.largest <= 2 * MIB


class Broken(BytesIO):
    """A body whose client goes away."""

    def read(self, size: int | None = -1, /) -> bytes:
        raise ConnectionResetError("gone")

    def readinto(self, buffer: Any, /) -> int:
        raise ConnectionResetError("gone")


@pytest.mark.parametrize("headers", [{}, {"Origin": "null"}])
def test_a_client_that_goes_away_breaks_nothing(app: Flask, headers: dict[str, str]) -> None:
    """A connection that ends within the body is answered like any other broken message."""
    environ: dict[str, Any] = {"wsgi.input": Broken(), "CONTENT_LENGTH": "100"}
    answer = app.test_client().post(
        "/mcp", headers={"Content-Type": "application/json", **headers}, environ_overrides=environ
    )
    assert answer.status_code in (400, 403)
    assert answer.mimetype == "application/json"


def test_the_limit_is_the_apps_to_set() -> None:
    """MCP_MAX_MESSAGE is the limit, whatever the app's MAX_CONTENT_LENGTH says of its forms."""
    wire = Wire(create_app({"MCP_MAX_MESSAGE": 200, "MAX_CONTENT_LENGTH": 50}))
    assert wire.post(padded(200)).status_code == 200
    assert wire.post(padded(201)).status_code == 413


def test_a_tool_of_a_message_that_is_too_large_does_not_run(wire: Wire) -> None:
    """The 413 comes before anybody is asked who they are, and nothing runs."""
    message = call("tools/call", {"name": "delete_user", "arguments": {"id": 1}, "pad": "x" * MIB})
    assert wire.post(message, bearer("alice")).status_code == 413
    assert wire.post(message, bearer("nobody")).status_code == 413
    assert calls == []
