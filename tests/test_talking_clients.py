"""The official Python client and handlers that talk while they work: progress, questions and cancellation, in both
eras, over gunicorn and over a real pipe."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import ElicitRequestParams, ElicitResult, TextContent

from .environs import ROOT
from .served import Gunicorn
from .talk import lines, wait_for
from .wire import MODERN, bearer

Content = dict[str, Any]
Ask = Callable[[Any, ElicitRequestParams], Awaitable[ElicitResult]]
GTHREAD = ("--workers", "3", "--worker-class", "gthread", "--threads", "4")
ANSWERS: dict[str, Content] = {"Who are you?": {"name": "Ann"}, "How old is Ann?": {"age": 7}}


class Server:
    """The talking app behind gunicorn, and how a client gets to it and to a pipe."""

    def __init__(self, port: int, journal: Path) -> None:
        self._url = f"http://127.0.0.1:{port}/mcp"
        self.journal = journal

    @asynccontextmanager
    async def client(self, transport: str, mode: str, ask: Ask | None = None) -> AsyncIterator[Client]:
        options: dict[str, Any] = {"mode": mode, "elicitation_callback": ask}
        if transport == "stdio":
            env = {**os.environ, "TALK_JOURNAL": str(self.journal)}
            command = ["-m", "flask", "--app", "tests.talk", "mcp", "start"]
            pipe = StdioServerParameters(command=sys.executable, args=command, env=env, cwd=ROOT)
            async with Client(pipe, **options) as client:
                yield client
        else:
            async with (
                httpx2.AsyncClient(headers=bearer("alice"), timeout=60) as http,
                Client(streamable_http_client(self._url, http_client=http), **options) as client,
            ):
                yield client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("talk")
    env = {"TALK_JOURNAL": str(folder / "journal"), "TMPDIR": str(folder)}
    with Gunicorn(folder, "tests.talk", *GTHREAD, env=env) as gunicorn:
        yield Server(gunicorn.port, folder / "journal")


def everywhere(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test on both transports, in both eras."""
    transports = pytest.mark.parametrize("transport", ["http", "stdio"])
    eras = pytest.mark.parametrize("mode", ["legacy", MODERN])
    marked: Callable[..., None] = transports(eras(test))
    return marked


async def answering(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """What a user fills in."""
    return ElicitResult(action="accept", content=ANSWERS[params.message])


async def declining(context: Any, params: ElicitRequestParams) -> ElicitResult:
    """What a user does who does not want to."""
    return ElicitResult(action="decline")


def text_of(result: Any) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@everywhere
def test_progress_reaches_the_client(server: Server, transport: str, mode: str) -> None:
    """The client's own callback is called at each step, before the answer is there."""
    seen: list[tuple[float, float | None, str | None]] = []

    async def run() -> str:
        async def told(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total, message))

        async with server.client(transport, mode) as client:
            return text_of(await client.call_tool("count", {"numbers": [1, 2, 3]}, progress_callback=told))

    assert asyncio.run(run()) == "counted"
    assert seen == [(1, 100, "at 1"), (2, 100, "at 2"), (3, 100, "at 3")]


@everywhere
def test_questions_reach_the_user(server: Server, transport: str, mode: str) -> None:
    """Two rounds of questions are asked through the client's own callback, and answered."""

    async def run() -> str:
        async with server.client(transport, mode, answering) as client:
            return text_of(await client.call_tool("greet", {}))

    assert asyncio.run(run()) == "Hello, Ann, 7."


@everywhere
def test_a_user_may_decline(server: Server, transport: str, mode: str) -> None:
    """Nothing is done to which the user said no."""

    async def run() -> str:
        async with server.client(transport, mode, declining) as client:
            return text_of(await client.call_tool("delete_posts", {}))

    assert asyncio.run(run()) == "The user said decline; nothing was deleted."


@everywhere
def test_a_call_that_its_client_gives_up_is_stopped(server: Server, transport: str, mode: str) -> None:
    """Whoever gives a call up cancels it: the handler's `finally` runs, and the next call is answered."""
    before = lines(server.journal).count("stopped alice True")

    async def run() -> str:
        under_way = asyncio.Event()

        async def told(progress: float, total: float | None, message: str | None) -> None:
            under_way.set()

        async with server.client(transport, mode) as client:
            call = asyncio.create_task(client.call_tool("endless", {}, progress_callback=told))
            await asyncio.wait_for(under_way.wait(), 20)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await asyncio.to_thread(wait_for, lambda: lines(server.journal).count("stopped alice True") > before)
            return text_of(await client.call_tool("count", {"numbers": [1]}))

    assert asyncio.run(run()) == "counted"
