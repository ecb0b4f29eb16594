"""Attacks that no client library would send, as bytes to a real gunicorn: requests within requests, headers within
headers, and bodies that never come."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from .served import Gunicorn, Raw, exchange
from .wire import MODERN, call, modern

WHOAMI = json.dumps(call("tools/call", {"name": "whoami", "arguments": {}})).encode()
PING = json.dumps(call("ping")).encode()
SMUGGLED = b"POST /sign-in/root HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gunicorn]:
    """The app under attack, with threads, so that one connection need not wait for another."""
    with Gunicorn(
        tmp_path_factory.mktemp("gunicorn"), "tests.target", "--threads", "4", "--keep-alive", "1"
    ) as running:
        yield running


def request(*headers: str, body: bytes = PING, target: str = "/mcp", host: str = "127.0.0.1") -> bytes:
    """A request that keeps its connection, whose head and body are as they are given."""
    lines = [f"POST {target} HTTP/1.1", f"Host: {host}", "Content-Type: application/json", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def length(body: bytes) -> str:
    return f"Content-Length: {len(body)}"


def is_one_refusal(answer: Raw) -> None:
    """A 400, after which nothing of the connection is read as another request."""
    assert answer.status == 400
    assert b"HTTP/1.1" not in answer.body
    assert "Set-Cookie" not in answer.head


CHUNKED = b"%x\r\n%s\r\n0\r\n\r\n" % (len(PING), PING)


@pytest.mark.parametrize(
    "headers",
    [
        ["Transfer-Encoding: chunked", length(CHUNKED + SMUGGLED)],
        [length(CHUNKED), "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding : chunked"],
        [" Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked\nX: y"],
    ],
)
def test_a_request_within_a_request(gunicorn: Gunicorn, headers: list[str]) -> None:
    """A body whose end two readers would find in two places is refused, and its connection with it."""
    answer = exchange(gunicorn.port, [request(*headers, body=CHUNKED + SMUGGLED)])
    assert answer.status in {400, 501}
    assert b"HTTP/1.1" not in answer.body
    assert "Set-Cookie" not in answer.head


@pytest.mark.parametrize(
    "headers", [[length(PING), "Content-Length: 0"], ["Content-Length: +5"], ["Content-Length: 5, 5"]]
)
def test_two_lengths_at_once(gunicorn: Gunicorn, headers: list[str]) -> None:
    """A length that is not one number is no length."""
    is_one_refusal(exchange(gunicorn.port, [request(*headers, body=PING + SMUGGLED)]))


@pytest.mark.parametrize(
    "line",
    [
        "Mcp-Name: whoami\r\n Set-Cookie: a=b",
        "Mcp-Name: who\x00ami",
        "Mcp-Name: who\nami",
        "Mcp Name: whoami",
        "Mcp-Name\r\n",
    ],
)
def test_lines_within_a_header(gunicorn: Gunicorn, line: str) -> None:
    """A header that is more than one line, or holds what none may hold, ends the request."""
    is_one_refusal(exchange(gunicorn.port, [request(length(PING), line)]))


def test_a_header_with_an_underscore(gunicorn: Gunicorn) -> None:
    """A name that WSGI would take for another one is not taken for it: the header it imitates is missing."""
    body = json.dumps(modern("tools/call", {"name": "whoami", "arguments": {}})).encode()
    spoofed = [f"MCP-Protocol-Version: {MODERN}", "Mcp-Method: tools/call", "Mcp_Name: whoami", "Connection: close"]
    answer = exchange(gunicorn.port, [request(length(body), *spoofed, body=body)])
    assert answer.status == 400
    assert json.loads(answer.body)["error"]["code"] == -32020


@pytest.mark.parametrize("host", ["evil.example", "<script>", "a b", "", "é", "[::1", "a" * 300])
def test_a_host_that_is_none(gunicorn: Gunicorn, host: str) -> None:
    """Whatever is said to be the host is trusted for nothing, and comes back nowhere."""
    answer = exchange(gunicorn.port, [request(length(PING), "Connection: close", host=host)])
    assert answer.status in {200, 400}
    assert "script" not in answer.head + answer.body.decode()
    rebound = exchange(gunicorn.port, [request(length(PING), f"Origin: http://{host}", "Connection: close", host=host)])
    assert rebound.status in {400, 403}


@pytest.mark.parametrize(
    ("target", "statuses"),
    [
        ("http://evil.example/mcp", {200, 400}),
        ("/mcp/../mcp", {404}),
        ("//mcp", {200, 308, 404}),
        ("/%6dcp", {200}),
        ("/mcp%2f..%2fpeak", {404}),
        ("/mcp;x=1", {404}),
        ("/MCP", {404}),
        ("/mcp#", {200, 400}),
    ],
)
def test_targets_that_look_like_others(gunicorn: Gunicorn, target: str, statuses: set[int]) -> None:
    """Whichever way the path is written, it is the server's own route with all its rules, or none."""
    foreign = exchange(
        gunicorn.port, [request(length(PING), "Origin: https://evil.example", "Connection: close", target=target)]
    )
    plain = exchange(gunicorn.port, [request(length(PING), "Connection: close", target=target)])
    assert plain.status in statuses
    assert foreign.status == (403 if plain.status == 200 else plain.status)


def test_a_body_that_comes_slowly(gunicorn: Gunicorn) -> None:
    """While one client takes its time others are served, and what it sends in the end is a message like any other."""
    with socket.create_connection(("127.0.0.1", gunicorn.port), 60) as slow:
        slow.sendall(request(length(WHOAMI), "Connection: close", body=WHOAMI[:10]))
        for at in range(10, len(WHOAMI), 30):
            quick = exchange(gunicorn.port, [request(length(PING), "Connection: close")])
            assert quick.status == 200
            slow.sendall(WHOAMI[at : at + 30])
        answer = b"".join(iter(lambda: slow.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 200")


def test_a_body_that_never_comes(gunicorn: Gunicorn) -> None:
    """A client that goes away in the middle of its message has sent none."""
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", gunicorn.port), 60) as gone:
            gone.sendall(request(length(WHOAMI), "Connection: close", body=WHOAMI[:10]))
    assert exchange(gunicorn.port, [request(length(PING), "Connection: close")]).status == 200


def test_a_request_of_an_old_protocol(gunicorn: Gunicorn) -> None:
    """Without a host, as HTTP/1.0 allows, a request is served and trusted for nothing."""
    head = f"POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\n{length(PING)}\r\n"
    assert exchange(gunicorn.port, [head.encode() + b"\r\n" + PING]).status == 200
    foreign = exchange(gunicorn.port, [head.encode() + b"Origin: http://evil.example\r\n\r\n" + PING])
    assert foreign.status == 403


def test_many_headers_and_long_ones(gunicorn: Gunicorn) -> None:
    """Headers are few and short, or the request is refused before anything is read."""
    for headers in ([f"X-{n}: x" for n in range(500)], ["X: " + "x" * 100_000], ["Mcp-Session-Id: " + "x" * 9_000]):
        assert exchange(gunicorn.port, [request(length(PING), *headers, "Connection: close")]).status in {400, 404, 431}
