"""A handler's SQL wants a Grant first, whatever sends it, on a real SQLite file and at every door."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from marshmallow import fields
from sqlalchemy import Dialect, Engine, create_engine, event, select, text
from werkzeug.exceptions import Forbidden

from flask_arandu_mcp import (
    GrantRequired,
    ProtocolError,
    Request,
    Server,
    answer,
    authorize,
    granting,
    public,
    system_grant,
    tool,
)
from flask_arandu_mcp.ext.sqlalchemy import _HOOKS, require_grant

from ..environs import ROOT
from ..wire import Pipe, Wire, call
from .library import WAYS, Book, Reader, add, connect, create_app, db, known, make_server, ran, watched_over

REFUSED = "403 Forbidden: nothing had allowed this (ref "
ANA = {"Authorization": "Bearer ana"}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'library.sqlite'}"


@pytest.fixture
def app(url: str) -> Iterator[Flask]:
    yield from closed(create_app(url))


def closed(app: Flask) -> Iterator[Flask]:
    yield app
    with app.app_context():
        db.engine.dispose()


@pytest.fixture
def ana(app: Flask) -> Iterator[Reader]:
    """The reader, in an app context in which the server is called as plain Python."""
    with app.app_context():
        yield db.session.scalars(select(Reader)).one()


@pytest.fixture
def http(app: Flask) -> Callable[..., Any]:
    """Calls a tool over HTTP, as the reader."""
    wire = Wire(app)
    return lambda name, **given: wire.call("tools/call", {"name": name, "arguments": given}, ANA)


def text_of(result: Any) -> str:
    return "".join(block["text"] for block in result["content"])


def calling(subject: Reader, handle: Callable[[Request], Any], **options: Any) -> Any:
    """What the door answers when a tool of this handler is called."""
    return make_server(tool(name="it", description="Does it.", access=public, **options)(handle)).call(subject, "it")


# --------------------------------------------------------------------------------------- what is seen


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["reach", "reach_later"])
def test_a_statement_before_a_grant_is_refused(http: Callable[..., Any], name: str, how: str) -> None:
    """Whatever sends the statement, it does not reach the database, and the tool that sent it is refused."""
    result = http(name, how=how)
    assert result["isError"] is True
    assert text_of(result).startswith(REFUSED)
    assert ran == []


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("name", ["reach", "reach_later"])
def test_a_statement_after_a_grant_is_sent(http: Callable[..., Any], name: str, how: str) -> None:
    """Once a policy has let the subject, nothing is in the way, for plain handlers and for coroutines."""
    result = http(name, how=how, granted=True)
    assert text_of(result) == "reached"
    assert "isError" not in result
    assert ran != []


def test_the_log_names_the_tool_and_the_statement(http: Callable[..., Any], caplog: pytest.LogCaptureFixture) -> None:
    """The model is told a ref, and the operator finds by it which tool sent what, and what to write instead."""
    told = text_of(http("reach", how="core"))
    ref = told.removeprefix(REFUSED).split(")")[0]
    assert f"'reach' failed (ref {ref})" in caplog.text
    assert "The statement 'SELECT book.title FROM book' was sent to the database before anything had" in caplog.text
    assert "call authorize(policy, subject, action) first" in caplog.text
    assert "SELECT" not in told


def test_the_dump_of_the_result_is_watched(http: Callable[..., Any]) -> None:
    """What is loaded lazily while the result is dumped is asked for by the handler's answer, and wants a Grant."""
    assert text_of(http("dump")).startswith(REFUSED)
    assert ran == []
    assert http("dump", granted=True)["structuredContent"] == {"name": "ana", "books": [{"title": "Emma"}]}


def test_the_loading_of_arguments_is_watched(http: Callable[..., Any]) -> None:
    """What a validator looks up is asked for on the caller's word, so that its faults would tell what is there."""
    assert text_of(http("check", title="Emma")).startswith(REFUSED)
    assert text_of(http("check", title="Evelina")).startswith(REFUSED)
    assert ran == []


@pytest.mark.parametrize("then", [False, True])
@pytest.mark.parametrize("how", ["select", "autoflush", "core, many"])
def test_a_swallowed_refusal_refuses_the_answer(http: Callable[..., Any], how: str, then: bool) -> None:
    """A handler that catches the refusal and goes on, even with a Grant, gives no answer all the same."""
    assert text_of(http("swallow", how=how, then=then)).startswith(REFUSED)


def test_a_swallowed_refusal_in_a_validator_refuses_the_call(ana: Reader) -> None:
    """The handler does not even begin after a loader that was refused, swallowed or not."""
    began: list[str] = []

    def look(value: str) -> None:
        with suppress(GrantRequired):
            WAYS["select"](Request(ana))

    @tool(access=public, arguments={"value": fields.String(required=True, validate=look)})
    def begin(request: Request, value: str) -> str:
        """Begins."""
        began.append(value)
        return "begun"

    assert make_server(begin).call(ana, "begin", {"value": "x"}).text.startswith(REFUSED)
    assert began == []


@pytest.mark.parametrize("title", ["granted", "bare"])
def test_resources_prompts_and_completions_are_watched(ana: Reader, title: str) -> None:
    """Every kind of declaration wants a Grant, and is refused as it refuses: with the status 403 and a ref."""
    server = make_server()
    asked: list[Callable[[], Any]] = [
        lambda: server.read(ana, f"library://books/{title}"),
        lambda: server.get(ana, "review", {"title": title}),
        lambda: server.complete(ana, "library://books/{title}", "title", title),
    ]
    for ask in asked:
        if title == "granted":
            assert title in str(ask())
            continue
        with pytest.raises(ProtocolError) as refused:
            ask()
        assert refused.value.code == 403
        assert refused.value.message.startswith(REFUSED)
        assert ran == []


def test_the_pipe_is_watched(url: str) -> None:
    """The workers of a pipe each watch their own call, and the local subject is found without a Grant."""
    with Pipe("tests.ext.library", env={"LIBRARY": url}) as pipe:
        for name in ("reach", "reach_later"):
            for granted in (False, True, False):
                given = {"how": "select", "granted": granted}
                told = text_of(pipe.ask(call("tools/call", {"name": name, "arguments": given}))["result"])
                assert told.startswith("reached" if granted else REFUSED)


# --------------------------------------------------------------------------------------- whose grant it is


def test_a_grant_is_for_one_call(http: Callable[..., Any]) -> None:
    """What one call was granted is not granted to the next one on the same thread."""
    assert text_of(http("reach", how="select", granted=True)) == "reached"
    assert text_of(http("reach", how="select")).startswith(REFUSED)


def test_calls_at_the_same_time_are_kept_apart(ana: Reader) -> None:
    """A Grant in one thread is none in another that works on another call."""
    meeting = threading.Barrier(2, timeout=20)
    told: dict[bool, str] = {}

    def work(granted: bool) -> None:
        def handle(request: Request) -> str:
            if granted:
                authorize(public, request.subject, "list books")
            meeting.wait()
            connect(select(Book.title))
            meeting.wait()
            return "listed"

        def refused_too(request: Request) -> str:
            try:
                return handle(request)
            finally:
                if not granted:
                    meeting.wait()

        told[granted] = calling(ana, refused_too).text

    threads = [threading.Thread(target=copy_context().run, args=(work, granted)) for granted in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert told[True] == "listed"
    assert told[False].startswith(REFUSED)


def through_the_server(server: Server, subject: Reader, granted: bool) -> str:
    return server.call(subject, "reach", {"how": "select", "granted": granted}).text


def through_a_message(server: Server, subject: Reader, granted: bool) -> str:
    given = {"name": "reach", "arguments": {"how": "select", "granted": granted}}
    (said,) = answer(server, subject, json.dumps(call("tools/call", given)).encode())
    return text_of(json.loads(said)["result"])


@pytest.mark.parametrize("inner", [through_the_server, through_a_message])
@pytest.mark.parametrize("outer_granted", [False, True])
@pytest.mark.parametrize("inner_granted", [False, True])
def test_a_call_within_a_call_is_watched_by_itself(
    ana: Reader, inner: Callable[..., str], outer_granted: bool, inner_granted: bool
) -> None:
    """A handler that calls the server neither lends its Grant nor borrows one, and policy, recheck and guard within
    read what they need."""
    server = make_server(recheck=True, guard=watched_over)
    told: list[str] = []

    def handle(request: Request) -> str:
        if outer_granted:
            authorize(public, request.subject, "list books")
        assert "reach" in {entry["name"] for entry in server.list_tools(request.subject)}
        told.append(inner(server, request.subject, inner_granted))
        WAYS["select"](request)
        return "listed"

    assert calling(ana, handle).text.startswith("listed" if outer_granted else REFUSED)
    assert told[0].startswith("reached" if inner_granted else REFUSED)


def test_tasks_and_threads_of_a_handler_share_its_ledger(ana: Reader) -> None:
    """What is granted in one task is granted in the others, and what is refused in a thread refuses the answer."""

    async def handle(granted: bool) -> str:
        async def grant() -> None:
            if granted:
                authorize(public, ana, "list books")

        await asyncio.gather(grant())
        await asyncio.gather(asyncio.to_thread(connect, select(Book.title)), return_exceptions=True)
        return "listed"

    async def bare(request: Request) -> str:
        return await handle(False)

    async def granted(request: Request) -> str:
        return await handle(True)

    assert calling(ana, bare).text.startswith(REFUSED)
    assert calling(ana, granted).text == "listed"


def test_a_thread_that_takes_the_context_along_is_seen(ana: Reader) -> None:
    """`copy_context().run` is what makes a thread belong to its call."""

    def handle(request: Request) -> str:
        failed: list[Exception] = []

        def work() -> None:
            try:
                connect(select(Book.title))
            except GrantRequired as error:
                failed.append(error)

        thread = threading.Thread(target=copy_context().run, args=(work,))
        thread.start()
        thread.join()
        assert failed
        return "listed"

    assert calling(ana, handle).text.startswith(REFUSED)


def elsewhere(request: Request) -> None:
    engine = create_engine(db.engine.url)
    with engine.connect() as connection:
        connection.execute(text("SELECT title FROM book"))
    engine.dispose()


def raw(request: Request) -> None:
    connection = db.engine.raw_connection()
    connection.cursor().execute("SELECT title FROM book").close()
    connection.close()


def in_a_plain_thread(request: Request) -> None:
    engine = db.engine
    read: list[object] = []

    def work() -> None:
        with engine.connect() as connection:
            read.extend(connection.execute(text("SELECT title FROM book")))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert read


@pytest.mark.parametrize("reach", [elsewhere, raw, in_a_plain_thread])
def test_what_it_cannot_see(ana: Reader, reach: Callable[[Request], None]) -> None:
    """Other engines, raw connections and threads without the context are not seen, as the documents say."""
    assert calling(ana, reach).text == "Done."


# --------------------------------------------------------------------------------------- what is let through


def test_outside_of_a_call_nothing_changes(app: Flask, ana: Reader) -> None:
    """The app's pages, its scripts and what follows a refused call need no Grant."""
    assert app.test_client().get("/books").get_json() == ["Emma"]
    assert calling(ana, WAYS["select"]).text.startswith(REFUSED)
    for reach in WAYS.values():
        reach(Request(ana))
        db.session.rollback()


def test_recheck_and_guard_read_what_they_need(url: str) -> None:
    """A policy asked again and a guard read the database for the server, not for the handler, at both doors."""
    for app in closed(create_app(url, server=make_server(recheck=True, guard=watched_over))):
        wire = Wire(app)
        for granted in (True, False):
            given = {"name": "reach", "arguments": {"how": "select", "granted": granted}}
            told = text_of(wire.call("tools/call", given, ANA))
            assert told.startswith("reached" if granted else REFUSED)
        assert wire.call("tools/list", None, ANA)["tools"][0]["name"] == "reach"


def test_a_policy_reads_what_it_decides_by(ana: Reader) -> None:
    """What a policy reads needs no Grant, and what it answers decides what comes after it."""

    def handle(request: Request) -> str:
        grant = authorize(known, request.subject, "list books")
        return f"{grant.action}: {connect(select(Book.title))}"

    assert calling(ana, handle).text == "list books: [('Emma',)]"


@pytest.mark.parametrize("answer", [False, None, 1, Forbidden])
def test_a_policy_that_does_not_say_yes_grants_nothing(ana: Reader, answer: Any) -> None:
    """After any answer but True a statement is refused, even where the handler swallowed the refusal."""

    def policy(subject: Reader) -> Any:
        assert known(subject)
        if answer is Forbidden:
            raise Forbidden
        return answer

    def handle(request: Request) -> str:
        with pytest.raises(Forbidden):
            authorize(policy, request.subject, "list books")
        connect(select(Book.title))
        return "listed"

    assert calling(ana, handle).text.startswith(REFUSED)


@pytest.mark.parametrize("answer", [False, True])
def test_a_policy_flushes_nothing_for_the_handler(ana: Reader, answer: bool) -> None:
    """A policy may read, but what the handler had pending is not written by the way, before the policy has answered."""

    def policy(subject: Reader) -> bool:
        return known(subject) and answer

    def handle(request: Request) -> str:
        add("Evelina")
        with suppress(Forbidden, GrantRequired):
            authorize(policy, request.subject, "add a book")
        db.session.commit()
        return "added"

    assert calling(ana, handle).text.startswith(REFUSED)
    db.session.rollback()
    assert connect(select(Book.title)) == [("Emma",)]


def test_a_policy_is_flushed_for_once_something_was_granted(ana: Reader) -> None:
    """A second policy may make the session flush what the first one allowed."""

    def handle(request: Request) -> str:
        authorize(known, request.subject, "add a book")
        add("Evelina")
        authorize(known, request.subject, "list books")
        db.session.commit()
        return str(len(connect(select(Book.title))))

    assert calling(ana, handle).text == "2"


def test_what_a_policy_is_granted_within_counts_no_further(ana: Reader) -> None:
    """A policy that asks another one, and then says no, has let nobody do anything."""

    def asking(subject: Reader) -> bool:
        authorize(known, subject, "be known")
        return False

    def handle(request: Request) -> str:
        with pytest.raises(Forbidden):
            authorize(asking, request.subject, "list books")
        connect(select(Book.title))
        return "listed"

    assert calling(ana, handle).text.startswith(REFUSED)


def test_a_decorated_policy_and_a_system_grant_let_through(ana: Reader) -> None:
    """A Grant is a Grant, whichever of its makers made it."""
    may_list = granting("list books")(known)

    def decorated(request: Request) -> str:
        may_list(request.subject)
        return str(connect(select(Book.title)))

    def by_the_system(request: Request) -> str:
        system_grant("list books", "the front page shows them to everybody")
        return str(connect(select(Book.title)))

    assert calling(ana, decorated).text == calling(ana, by_the_system).text == "[('Emma',)]"


# --------------------------------------------------------------------------------------- engines


def test_asking_for_it_twice_is_asking_once(app: Flask) -> None:
    """`require_grant` may be called at every start, as an app in a factory is."""
    with app.app_context():
        require_grant(db.engine)
        require_grant(db.engine)
        assert len(list(db.engine.dialect.dispatch.do_execute)) == 1


def test_an_engine_in_the_place_of_another_is_watched_too() -> None:
    """An engine made where one stood that is gone is watched as any: SQLAlchemy would say that it was already."""
    gone, places, dialects = [create_engine("sqlite://") for _ in range(100)], set[int](), list[Dialect]()
    while gone:
        require_grant(gone[-1])
        dialects.append(gone[-1].dialect)
        places.add(id(gone.pop()))
    gc.collect()
    other = create_engine("sqlite://")
    made = [Engine(other.pool, other.dialect, other.url) for _ in range(5_000)]
    engine = next(each for each in made if id(each) in places)
    assert event.contains(engine, "do_execute", _HOOKS["do_execute"])
    require_grant(engine)
    assert len(list(engine.dialect.dispatch.do_execute)) == 1


def test_each_engine_is_asked_for(ana: Reader, tmp_path: Path) -> None:
    """Of several engines, each that was named is watched, under one Grant for all."""
    other = create_engine(f"sqlite:///{tmp_path / 'other.sqlite'}")
    require_grant(other)

    def handle(request: Request) -> str:
        with other.connect() as connection:
            return str(connection.scalar(text("SELECT 1")))

    def granted(request: Request) -> str:
        authorize(public, request.subject, "look elsewhere")
        connect(select(Book.title))
        return handle(request)

    assert calling(ana, handle).text.startswith(REFUSED)
    assert calling(ana, granted).text == "1"
    other.dispose()


def test_what_it_costs_can_be_measured() -> None:
    """The measurement that the project's figure comes from runs, and reports what a statement costs in each case."""
    command = [sys.executable, "benchmarks/grants.py", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(re.findall(r": [+-]\d+\.\d\d us a statement$", done.stdout, re.MULTILINE)) == 3
