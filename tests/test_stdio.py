"""The pipe, as a client meets it: a real process, its stdin, its stdout and its end."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from .app import create_app
from .wire import Pipe, call, modern


class Restless(Pipe):
    """The restless app on a pipe; its stderr goes to a file, so that much of it blocks nobody."""

    def __init__(self, log: Path, *args: str, env: Mapping[str, str], **options: Any) -> None:
        self.log = log
        with log.open("wb") as file:
            super().__init__("tests.restless", *args, env=env, **{"stderr": file, **options})

    def said(self) -> bytes:
        """What was written to stderr so far."""
        return self.log.read_bytes()

    def close(self) -> tuple[int, bytes, bytes]:
        code, out, _ = super().close()
        return code, out, self.said()

    def hang_up(self, *names: str) -> None:
        """Close these ends, as a client does that goes away."""
        for name in names:
            getattr(self.process, name).close()
            setattr(self.process, name, None)


Start = Callable[..., Restless]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts the restless app, configured by keywords."""
    with ExitStack() as running:

        def run(env: Mapping[str, str] | None = None, options: Any = None, **config: str) -> Restless:
            environ = {f"RESTLESS_{key}": value for key, value in config.items()}
            pipe = Restless(tmp_path / "log", env={"PYTHONUNBUFFERED": "", **environ, **(env or {})}, **(options or {}))
            running.enter_context(pipe)
            return pipe

        yield run


@pytest.fixture(scope="module")
def shared() -> Iterator[Pipe]:
    """One process for many tests that leave nothing behind in it."""
    with Pipe("tests.restless", stderr=subprocess.DEVNULL) as pipe:
        yield pipe


def tool(name: str, id: Any = 1, /, **arguments: Any) -> dict[str, Any]:
    return call("tools/call", {"name": name, "arguments": arguments}, id)


def ping(id: Any = "ping") -> dict[str, Any]:
    return call("ping", id=id)


def cancel(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}


def text(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def data(pipe: Pipe, name: str) -> Any:
    return json.loads(text(pipe.ask(tool(name, f"data of {name}"))))


def answers(pipe: Pipe, count: int) -> dict[Any, Any]:
    """As many answers, by their ids."""
    found = [pipe.receive() for _ in range(count)]
    return {answer["id"]: answer for answer in found}


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


# ---------------------------------------------------------------------------------- S01, S02: what else is printed


@pytest.mark.parametrize(
    "env", [{}, {"FLASK_DEBUG": "1"}, {"PYTHONWARNINGS": "always"}, {"PYTHONUNBUFFERED": "1"}, {"PYTHONDEVMODE": "1"}]
)
def test_s01_what_the_app_prints_at_import_lands_on_stderr(start: Start, env: dict[str, str]) -> None:
    """Banner, log, warnings and exit functions are on stderr, and stdout holds the answer alone."""
    pipe = start(env=env)
    pipe.send(ping(1))
    code, out, err = pipe.close()
    assert (code, out) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert {b"BANNER", b"BANNER of the factory", b"LAST WORDS"} <= set(err.splitlines())
    assert b"LOGGED" in err
    assert (b"OUTDATED" in err) is bool({"PYTHONWARNINGS", "PYTHONDEVMODE"} & set(env))


def test_s01_flasks_own_tips_land_on_stderr(start: Start, tmp_path: Path) -> None:
    """A .env file that cannot be read without python-dotenv is told on stderr."""
    (tmp_path / ".env").write_text("A=1")
    (tmp_path / "dotenv.py").write_text("raise ImportError")  # as where it is not installed
    pipe = start(options={"cwd": tmp_path})
    pipe.send(ping(1))
    code, out, err = pipe.close()
    assert (code, out) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    assert b"Tip: There are .env files present" in err


@pytest.mark.parametrize("how", ["print", "click", "sys", "os", "c", "log", "warn", "child", "fork"])
def test_s02_what_a_tool_prints_lands_on_stderr(start: Start, how: str) -> None:
    """Whatever prints, Python, C or a child, the protocol's stream holds answers alone."""
    pipe = start()
    assert text(pipe.ask(tool("noise", how=how))) == "made"
    assert pipe.ask(ping())["result"] == {}
    code, out, err = pipe.close()
    assert (code, out) == (0, b"")
    assert b"NOISE" in err


@pytest.mark.parametrize("how", ["cat", "read", "input"])
def test_s02_what_reads_finds_the_end_of_its_input(start: Start, how: str) -> None:
    """Neither a tool nor its child can take the next message or wait for one."""
    pipe = start()
    pipe.send(tool("noise", how=how), ping())
    found = answers(pipe, 2)
    assert found["ping"]["result"] == {}
    assert found[1]["result"].get("isError", False) is (how == "input")
    if how != "input":
        assert data(pipe, "marks")["result"][0] in ("cat b''", "read ''")


@pytest.mark.parametrize("config", [{"FORK": "1"}, {}])
def test_s02_no_forked_child_holds_the_pipe_open(start: Start, config: dict[str, str]) -> None:
    """The client sees the end of stdout although a child of the app, made at import or by a tool, lives on."""
    pipe = start(**config)
    if not config:
        pipe.ask(tool("noise", how="daemon"))
    child = int(data(pipe, "marks")["result"][0].split()[1])
    pipe.process.send_signal(signal.SIGTERM)
    try:
        assert pipe.line(timeout=10) is None
        pipe.process.wait(10)
        assert pipe.process.stdout is not None
        assert os.read(pipe.process.stdout.fileno(), 1) == b""
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def test_s02_a_closed_stderr_disturbs_nobody(start: Start) -> None:
    """Where nobody reads stderr, what is printed is lost, and the answers come."""
    pipe = start(options={"preexec_fn": lambda: os.close(2)})
    assert text(pipe.ask(tool("noise", how="print"))) == "made"
    assert "ref" in text(pipe.ask(tool("noise", how="input")))
    assert pipe.close() == (0, b"", b"")


def test_s02_a_stderr_that_nobody_reads_disturbs_nobody(start: Start) -> None:
    """A client that closed its end of stderr gets answers, and nothing else."""
    reading, writing = os.pipe()
    pipe = start(options={"stderr": writing})
    os.close(writing)
    pipe.ask(ping())
    os.close(reading)
    assert "ref" in text(pipe.ask(tool("noise", how="print")))
    assert text(pipe.ask(tool("noise", how="log"))) == "made"
    assert pipe.ask(ping())["result"] == {}
    assert pipe.close()[1] == b""


# ------------------------------------------------------------------------------------------------ S05: framing


def test_s05_framing(pipe: Pipe) -> None:
    """Blank lines are nothing, several messages in one write are several, and the last needs no end."""
    pipe.send(b"\n\r\n   \n\t\n", ping(1), ping(2), json.dumps(ping(3)).encode() + b"\r\n")
    assert [pipe.receive()["id"] for _ in range(3)] == [1, 2, 3]
    for byte in json.dumps(ping("é4"), ensure_ascii=False).encode() + b"\n":
        pipe.send(bytes([byte]))
    assert pipe.receive()["id"] == "é4"
    error = pipe.ask(b"}{\n")
    assert (error["error"]["code"], error["id"]) == (-32700, None)
    pipe.send(json.dumps(ping(5)).encode())
    code, out, _ = pipe.close()
    assert (code, out) == (0, b'{"jsonrpc":"2.0","id":5,"result":{}}\n')


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"\xef\xbb\xbf" + json.dumps(ping()).encode(), -32700),
        (json.dumps(ping()).encode("utf-16"), -32700),
        (b'{"jsonrpc":"2.0","id":"\xff","method":"ping"}', -32700),
        (b'{"jsonrpc":"2.0","id":"\xed\xa0\x80","method":"ping"}', -32700),
        (b"\x00", -32700),
        (json.dumps(ping()).encode() + b"\x00", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"a\x00b"}', -32700),
        (b"Content-Length: 41", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"[" + json.dumps(ping()).encode() + b"]", -32600),
        (b"null", -32600),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled"}', -32600),
    ],
)
def test_s05_what_is_no_message_is_told_and_the_pipe_goes_on(shared: Pipe, line: bytes, code: int) -> None:
    """A line that is no message gets one error, and the next line is read."""
    shared.send(line + b"\n", ping())
    assert shared.receive()["error"]["code"] == code
    assert shared.receive() == {"jsonrpc": "2.0", "id": "ping", "result": {}}


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "delete_user"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/unknown", "params": []},
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "x"}},
    ],
)
def test_what_is_owed_no_answer_gets_none(shared: Pipe, message: Any) -> None:
    """A notification and a stray response are never answered."""
    shared.send(message, ping())
    assert shared.receive()["id"] == "ping"
    assert shared.line(timeout=0.05) is None


def message_of(size: int) -> bytes:
    """A ping of as many bytes."""
    head, tail = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"', b'"}}'
    return head + b"x" * (size - len(head) - len(tail)) + tail


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_message_may_be_as_large_as_the_limit(end: bytes) -> None:
    """MCP_MAX_MESSAGE counts the bytes of the message, without the end of its line."""
    with Pipe() as pipe:
        pipe.send(message_of(2**20) + end, message_of(2**20 + 1) + end, ping())
        assert pipe.receive()["result"] == {}
        refusal = pipe.receive()
        assert (refusal["error"]["code"], refusal["id"]) == (-32600, None)
        assert "1048576 bytes" in refusal["error"]["message"]
        assert pipe.receive()["id"] == "ping"


def peak_memory(pipe: Pipe) -> int:
    """The most that the process ever held, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pipe.process.pid}/status").read_text())
    assert found
    return int(found[1]) * 1024


def test_a_huge_message_is_refused_in_bounded_memory(pipe: Pipe) -> None:
    """64 MiB without an end are refused at once, are never held, and the pipe goes on."""
    pipe.ask(ping())
    before = peak_memory(pipe)
    for _ in range(64):
        pipe.send(b"[" * 2**20)
    assert pipe.receive()["error"]["code"] == -32600
    pipe.send(b"\n", ping())
    assert pipe.receive()["id"] == "ping"
    assert peak_memory(pipe) - before < 8 * 2**20


# ------------------------------------------------------------------------------------------------ S06: the end


def ends(pipe: Pipe, seconds: float = 5) -> int:
    return pipe.process.wait(seconds)


def test_s06_an_empty_input_ends_it(start: Start) -> None:
    """Without a client there is nothing to serve."""
    assert ends(start(options={"stdin": subprocess.DEVNULL}), 15) == 0


@pytest.mark.parametrize("config", [{}, {"THREAD": "1"}, {"ATEXIT": "1"}, {"THREAD": "1", "ATEXIT": "1"}])
@pytest.mark.parametrize("how", ["eof", "SIGTERM", "SIGINT", "broken pipe"])
def test_s06_it_ends_whatever_the_app_left_running(start: Start, config: dict[str, str], how: str) -> None:
    """The end of the client is the end of the process, whatever threads and exit functions the app has."""
    pipe = start(**config)
    pipe.ask(tool("look"))
    began = time.monotonic()
    if how == "eof":
        pipe.hang_up("stdin")
    elif how == "broken pipe":
        pipe.hang_up("stdout")
        pipe.send(ping())
    else:
        pipe.process.send_signal(getattr(signal, how))
    assert ends(pipe) == 0
    assert time.monotonic() - began < 4
    err = pipe.said()
    assert b"Traceback" not in err
    assert b"DOWN NoneType" in err
    assert (b"LAST WORDS" in err) is not ("ATEXIT" in config)


@pytest.mark.parametrize("how", ["eof", "SIGTERM"])
def test_s06_a_call_under_way_is_dropped_after_a_while(start: Start, how: str) -> None:
    """A call that never ends does not outlive its client."""
    pipe = start()
    pipe.send(tool("wait", seconds=60), ping())
    assert pipe.receive()["id"] == "ping"
    if how == "eof":
        pipe.hang_up("stdin")
    else:
        pipe.process.send_signal(signal.SIGTERM)
    assert ends(pipe) == 0


@pytest.mark.parametrize("calls", [1, 20])
def test_s06_calls_that_end_soon_are_answered_after_the_end_of_input(start: Start, calls: int) -> None:
    """Who writes all messages and closes gets all answers, of queued calls too."""
    pipe = start()
    pipe.send(*(tool("wait", n, seconds=0.02) for n in range(calls)))
    code, out, _ = pipe.close()
    assert code == 0
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == list(range(calls))


def test_s06_its_parent_may_be_killed(start: Start) -> None:
    """A client that is killed closes both ends, and a call under way does not keep the process alive."""
    pipe = start()
    pipe.send(tool("wait", seconds=60), ping())
    pipe.receive()
    pipe.hang_up("stdin", "stdout")
    assert ends(pipe) == 0


def test_s06_many_signals_end_it_once(start: Start) -> None:
    """A signal may come at any moment, and any number of times."""
    pipe = start()
    pipe.ask(ping())
    for _ in range(20):
        pipe.process.send_signal(signal.SIGTERM)
    assert ends(pipe) in (0, -signal.SIGTERM)


def test_nothing_is_burnt_while_idle(start: Start) -> None:
    """A pipe that waits costs no processor time."""
    pipe = start()
    pipe.ask(ping())
    stat = Path(f"/proc/{pipe.process.pid}/stat")

    def ticks() -> int:
        fields = stat.read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    before = ticks()
    time.sleep(0.5)
    assert ticks() - before <= 2


# ------------------------------------------------------------------------------------------------ S08: contexts


def test_s08_one_call_leaves_nothing_for_the_next(start: Start, tmp_path: Path) -> None:
    """g, context variables, the user and the database session are each call's own, after a failed one too."""
    path = tmp_path / "notes.db"
    pipe = start(SQLALCHEMY_DATABASE_URI=f"sqlite:///{path}")
    assert data(pipe, "look")["notes"] == []
    for n in range(8):
        assert pipe.ask(tool("litter", n))["result"]["isError"] is True
    with sqlite3.connect(path) as connection:
        connection.execute("insert into note (body) values ('by another process')")
    for _ in range(8):
        assert data(pipe, "look") == {
            "who": None,
            "mood": "none",
            "nick": None,
            "notes": ["by another process"],
            "user": "alice",
            "same": True,
            "before": "POST /mcp",
            "started": True,
        }
    code, _, err = pipe.close()
    assert code == 0
    # One teardown a call, and one for each of the two checks at the start.
    assert err.count(b"DOWN") == 17 + 2


@pytest.mark.parametrize(
    ("how", "code"), [("abort", 429), ("redirect", 403), ("refuse", 403), ("answer", -32603), ("raise", -32603)]
)
@pytest.mark.parametrize("make", [call, modern])
def test_s08_what_the_app_does_before_each_request_is_done(start: Start, how: str, code: int, make: Any) -> None:
    """An app that refuses a request refuses a message of the pipe, and says so in the protocol's words."""
    pipe = start(BEFORE=how)
    answer = pipe.ask(make("tools/call", {"name": "marks", "arguments": {}}))
    assert answer["error"]["code"] == code
    assert answer["id"] == 1
    assert "html" not in json.dumps(answer)
    assert "secret" not in json.dumps(answer)
    assert pipe.ask(ping())["result"] == {}


def test_s08_a_guest_that_is_sent_to_sign_in_is_unauthorized(start: Start) -> None:
    """A redirect means another thing to a guest than to a user."""
    assert start(BEFORE="redirect", LOCAL="guest").ask(tool("look"))["error"]["code"] == 401


def test_s08_a_teardown_that_fails_is_told(start: Start) -> None:
    """A call whose end failed was not carried out as it should be; the pipe goes on."""
    pipe = start(TEARDOWN="1")
    for n in range(6):
        answer = pipe.ask(tool("marks", n))
        assert (answer["id"], answer["error"]["code"]) == (n, -32603)
    assert pipe.ask(ping())["result"] == {}
    code, _, err = pipe.close()
    assert code == 0
    assert b"the teardown's secret" in err


def test_s08_a_session_that_cannot_be_opened_is_told(start: Start) -> None:
    """Even where the request cannot begin, the call is answered, and what did begin is torn down."""
    pipe = start(SESSIONS="1")
    for n in range(6):
        answer = pipe.ask(tool("marks", n))
        assert (answer["id"], answer["error"]["code"]) == (n, -32603)
        assert "secret" not in json.dumps(answer)
    code, _, err = pipe.close()
    assert (code, err.count(b"RuntimeError: the store's secret")) == (0, 6)
    assert err.count(b"DOWN RuntimeError") + err.count(b"DOWN NoneType") == 6 + 2


@pytest.mark.parametrize("before", ["raise", ""])
def test_s08_an_apps_own_logging_may_fail(start: Start, before: str) -> None:
    """The request is there when a failure is logged, and the answer comes where even the log fails."""
    pipe = start(FILTER="1", BEFORE=before, TEARDOWN="" if before else "1")
    for n in range(6):
        answer = pipe.ask(tool("marks", n))
        assert answer["error"]["code"] == -32603
        assert ("data" in answer["error"]) is bool(before)


# ------------------------------------------------------------------------------------------------ S09: many calls


def test_s09_a_slow_call_stops_nothing(start: Start) -> None:
    """A ping and other calls overtake it, and cancelled it is never answered."""
    pipe = start()
    pipe.send(tool("wait", 1, seconds=1), ping(2), tool("marks", 3), cancel(1))
    assert {pipe.receive()["id"], pipe.receive()["id"]} == {2, 3}
    assert pipe.line(timeout=1.5) is None
    assert text(pipe.ask(tool("wait", 1, seconds=0))) == "waited"


def test_s09_pings_are_answered_while_all_workers_are_busy() -> None:
    """The reader answers what needs no application, in both eras, however long the queue is."""
    with Pipe("tests.restless", env={"RESTLESS_MCP_STDIO_WORKERS": "2"}) as pipe:
        pipe.send(*(tool("wait", n, seconds=1) for n in range(4)))
        for message in (ping(), modern("server/discover", id="discover"), call("initialize", {}, "hello")):
            assert pipe.ask(message)["id"] == message["id"]
        assert pipe.ask(call("no/such", id="no"))["error"]["code"] == -32601
        assert set(answers(pipe, 4)) == {0, 1, 2, 3}


def test_s09_large_answers_are_whole_lines(start: Start) -> None:
    """Fifty answers of 200 KB each, made at the same time, are fifty lines."""
    pipe = start()
    pipe.send(*(tool("big", n, letter=chr(97 + n % 26)) for n in range(50)))
    found = answers(pipe, 50)
    assert set(found) == set(range(50))
    for n, answer in found.items():
        assert text(answer) == chr(97 + n % 26) * 200_000


def test_s09_an_id_in_use_is_refused(start: Start) -> None:
    """Two calls of one id could not be told apart; a number and a string are two ids, and a ping has one too."""
    pipe = start()
    pipe.send(tool("wait", 1, seconds=0.5), tool("marks", 1), ping(1), tool("marks", "1"))
    found = [pipe.receive() for _ in range(4)]
    assert [answer["id"] for answer in found if "error" in answer] == [1, 1]
    assert {answer["error"]["code"] for answer in found if "error" in answer} == {-32600}
    assert "under way" in found[0]["error"]["message"]
    assert sorted(str(type(answer["id"])) for answer in found if "result" in answer) == [
        "<class 'int'>",
        "<class 'str'>",
    ]


def test_s09_an_id_can_be_used_again_once_it_is_answered(start: Start) -> None:
    """An answer that can be read is an id that is free."""
    pipe = start()
    for _ in range(200):
        assert "result" in pipe.ask(tool("wait", "again", seconds=0))


def test_s09_a_call_that_is_cancelled_before_it_starts_never_runs(start: Start) -> None:
    """What waits in the queue is forgotten."""
    pipe = start(env={"RESTLESS_MCP_STDIO_WORKERS": "1"})
    pipe.send(tool("wait", 1, seconds=0.5), tool("wait", 2, seconds=0, mark="never"), cancel(2))
    assert pipe.receive()["id"] == 1
    assert data(pipe, "marks")["result"] == [""]


@pytest.mark.parametrize(
    "notice",
    [
        cancel(99),
        cancel("1"),
        cancel(True),
        cancel(1.0),
        cancel(None),
        cancel([1]),
        cancel({"id": 1}),
        cancel("\ud800"),
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": []},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestid": 1}},
        {"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"requestId": 1}},
    ],
)
def test_s09_a_cancellation_of_nothing_cancels_nothing(shared: Pipe, notice: Any) -> None:
    """Only the very id cancels; what is unknown, over or malformed is ignored."""
    shared.send(tool("wait", 1, seconds=0.2), notice)
    assert text(shared.receive()) == "waited"
    shared.send(cancel(1))
    assert text(shared.ask(tool("wait", 1, seconds=0))) == "waited"


@pytest.mark.parametrize("how", ["exit", "interrupt", "cancelled", "generator"])
def test_s09_a_handler_that_leaves_is_answered_and_takes_no_worker_along(start: Start, how: str) -> None:
    """sys.exit() in a tool ends neither the process nor, one by one, all of its workers."""
    pipe = start()
    refs = []
    for n in range(9):
        answer = pipe.ask(tool("leave", n, how=how))
        assert (answer["id"], answer["error"]["code"]) == (n, -32603)
        refs.append(answer["error"]["data"]["ref"])
    assert text(pipe.ask(tool("wait", seconds=0))) == "waited"
    code, _, err = pipe.close()
    assert code == 0
    assert all(ref.encode() in err for ref in refs)


# ------------------------------------------------------------------------------------------------ the local subject


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("undeclared", b"Nobody is declared for an assistant on this machine to act as: decorate a function"),
        ("nobody", b"The function that @mcp.local_subject decorates found nobody: make it return"),
        ("raising", b"The function that @mcp.local_subject decorates failed (ref "),
    ],
)
@pytest.mark.parametrize("config", [{}, {"THREAD": "1"}])
def test_a07_without_a_local_subject_nothing_is_served(
    start: Start, kind: str, words: bytes, config: dict[str, str]
) -> None:
    """Who an assistant acts as is never guessed: the start says what is missing, and ends."""
    pipe = start(LOCAL=kind, **config)
    code, out, err = pipe.close()
    assert (code, out) == (1, b"")
    assert words in err
    assert (b"the database's secret" in err) is (kind == "raising")


@pytest.mark.parametrize(("kind", "code"), [("nobody later", 401), ("raising later", -32603)])
def test_a07_a_local_subject_that_is_lost_is_an_error_for_each_message(start: Start, kind: str, code: int) -> None:
    """The subject is found anew for every message, and a message without one is refused."""
    pipe = start(LOCAL=kind)
    for message in (tool("look"), call("tools/list"), modern("tools/list")):
        answer = pipe.ask(message)
        assert answer["error"]["code"] == code
        assert "secret" not in json.dumps(answer)
    assert pipe.ask(ping())["result"] == {}


@pytest.mark.parametrize(
    ("kind", "user"),
    [("alice", "alice"), ("guest", None), ("inactive", None), ("async", "awaited"), ("current_user", None)],
)
def test_a07_the_local_subject_is_the_current_user(start: Start, kind: str, user: str | None) -> None:
    """The subject and Flask-Login's user are the same object; an inactive user is a guest."""
    seen = data(start(LOCAL=kind), "look")
    assert (seen["user"], seen["same"]) == (user, True)


def test_a07_an_app_without_flask_login_can_be_served() -> None:
    """No LoginManager is needed to act as a guest or as a user."""
    with Pipe("tests.test_stdio:without_login") as pipe:
        assert text(pipe.ask(tool("add", a=1, b=2))) == '{"sum":3}'


def without_login() -> Any:
    return create_app(login=False)


# ------------------------------------------------------------------------------------------------ the request


def trusted() -> Any:
    return create_app({"TRUSTED_HOSTS": [".example.org"]})


def named() -> Any:
    return create_app({"SERVER_NAME": "shop.example.org", "APPLICATION_ROOT": "/shop", "PREFERRED_URL_SCHEME": "https"})


@pytest.mark.parametrize("factory", ["trusted", "named"])
def test_the_request_of_a_message_is_one_that_the_app_takes(factory: str) -> None:
    """An app that is particular about hosts and roots serves the pipe all the same."""
    with Pipe(f"tests.test_stdio:{factory}") as pipe:
        assert json.loads(text(pipe.ask(tool("whoami"))))["subject"] == "alice"


def test_v01_the_pipe_remembers_the_handshake(pipe: Pipe) -> None:
    """What a client said of itself is known to the calls that follow, in their order; the stateless era needs none."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "1"}}
    pipe.send(call("initialize", hello, 0), tool("whoami", 1), call("initialize", {**hello, "clientInfo": None}, 2))
    found = answers(pipe, 3)
    assert found[0]["result"]["protocolVersion"] == "2025-06-18"
    seen = found[1]["result"]["structuredContent"]
    assert (seen["revision"], seen["client"]) == ("2025-06-18", "probe")
    stateless = pipe.ask(modern("tools/call", {"name": "whoami", "arguments": {}}))
    assert stateless["result"]["structuredContent"]["revision"] == "2026-07-28"
    assert stateless["result"]["resultType"] == "complete"
