"""Questions of the handshake era over HTTP: they go out on the call's own stream, and their answers come back as other
requests, to any worker of this machine."""

from __future__ import annotations

import http.client
import json
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from flask_arandu_mcp.jsonrpc import Reply
from flask_arandu_mcp.transports.mailbox import Mailbox

from .served import Gunicorn
from .talk import AGE, ASKS, NAME, STREAMED, YES, create_app, lines, wait_for, write_meanwhile
from .wire import Wire, bearer, call, modern, modern_headers

ID, OTHER = "a" * 22, "b" * 22
WORKERS = {
    "sync": ("--workers", "3"),
    "gthread": ("--workers", "3", "--worker-class", "gthread", "--threads", "4"),
}


# ------------------------------------------------------------------------------------------------ the folder


@pytest.fixture
def box(tmp_path: Path) -> Mailbox:
    made = Mailbox([tmp_path / "new", tmp_path / "old"])
    assert made.lacking() == ""
    return made


def waited(box: Mailbox, *ids: str, seconds: float = 20.0) -> dict[str, Any]:
    """The results that came, or the errors, by their ids."""
    *_, found = box.wait(ids, seconds)
    return {id: reply.error or reply.result for id, reply in found.items()}


def test_an_answer_reaches_whoever_waits(box: Mailbox) -> None:
    """It is there once, for the subject that was asked, and nothing of it stays."""
    box.open([ID], "bob")
    assert box.put(Reply(ID, {"x": 1}, None), "bob")
    assert waited(box, ID) == {ID: {"x": 1}}
    box.close([ID])
    assert not box.put(Reply(ID, {"x": 2}, None), "bob")


@pytest.mark.parametrize(
    ("asked", "answers"), [("bob", "alice"), ("bob", None), (None, "None"), ("None", None), (7, 8)]
)
def test_nobody_answers_for_another(box: Mailbox, asked: Any, answers: Any) -> None:
    """An answer counts from the subject that was asked alone, who can still give theirs."""
    box.open([ID], asked)
    assert not box.put(Reply(ID, {}, None), answers)
    assert box.put(Reply(ID, {"x": 1}, None), asked)
    assert waited(box, ID) == {ID: {"x": 1}}


def test_the_first_answer_counts(box: Mailbox) -> None:
    """A second one finds no question."""
    box.open([ID], "bob")
    assert box.put(Reply(ID, 1, None), "bob")
    assert not box.put(Reply(ID, 2, None), "bob")
    assert waited(box, ID) == {ID: 1}


@pytest.mark.parametrize(
    "id", [None, 1, "", "x", "../" + "a" * 19, "/" + "a" * 21, "a" * 21 + "\n", "a" * 23, "é" * 22]
)
def test_an_id_is_no_path(box: Mailbox, tmp_path: Path, id: Any) -> None:
    """Only what a question could be called is ever looked for."""
    before = sorted(tmp_path.rglob("*"))
    assert not box.put(Reply(id, {}, None), "bob")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_is_an_answer(box: Mailbox) -> None:
    """A client that refuses has answered."""
    box.open([ID], None)
    assert box.put(Reply(ID, None, {"message": "no"}), None)
    assert waited(box, ID) == {ID: {"message": "no"}}


def test_the_time_ends(box: Mailbox) -> None:
    """What has no answer in time is told so, beside what has one."""
    box.open([ID, OTHER], None)
    assert box.put(Reply(OTHER, 5, None), None)
    assert waited(box, ID, OTHER, seconds=0.2) == {ID: {"message": "no answer came in time: call again."}, OTHER: 5}


def test_a_worker_with_a_new_key_finds_what_the_old_key_opened(tmp_path: Path) -> None:
    """While SECRET_KEY is changed, workers of both keys share one machine."""
    old, new = Mailbox([tmp_path / "old"]), Mailbox([tmp_path / "new", tmp_path / "old"])
    assert old.lacking() == new.lacking() == ""
    old.open([ID], "bob")
    assert new.put(Reply(ID, 1, None), "bob")
    assert waited(old, ID) == {ID: 1}


def test_a_mailbox_is_found_by_the_key_and_by_no_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All workers of one server share a folder, which is nobody else's, and does not show the key."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for made in (
        Mailbox.of(["k"], "s"),
        Mailbox.of([b"k"], "s"),
        Mailbox.of(["k2", "k"], "s"),
        Mailbox.of(["k"], "s2"),
    ):
        assert made.lacking() == ""
    folders = list(tmp_path.iterdir())
    assert len(folders) == 3
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}


def test_the_files_are_their_owners_alone(box: Mailbox, tmp_path: Path) -> None:
    """What people fill in is nobody else's to read."""
    box.open([ID, OTHER], None)
    assert box.put(Reply(ID, {"secret": 1}, None), None)
    files = list((tmp_path / "new").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert sorted(path.name for path in files) == [f"{ID}.answer", f"{OTHER}.open"]
    box.close([ID, OTHER])
    assert list((tmp_path / "new").iterdir()) == []


def test_a_folder_of_somebody_elses_making_is_not_used(tmp_path: Path) -> None:
    """In a shared folder for temporary files anybody may have made one of the name before."""
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").write_text("")
    assert "chmod 700" in Mailbox([tmp_path / "open"]).lacking()
    assert "remove it" in Mailbox([tmp_path / "link"]).lacking()
    assert "cannot be made" in Mailbox([tmp_path / "file"]).lacking()
    assert "cannot be made" in Mailbox([tmp_path / "none" / "there"]).lacking()


def test_what_a_killed_worker_left_is_swept(box: Mailbox, tmp_path: Path) -> None:
    """After a day nobody waits any more; what is newer stays."""
    box.open([ID], None)
    left = tmp_path / "new" / f"{ID}.open"
    long_ago = time.time() - 90_000
    os.utime(left, (long_ago, long_ago))
    box.open([OTHER], None)
    assert [path.name for path in (tmp_path / "new").iterdir()] == [f"{OTHER}.open"]


# ------------------------------------------------------------------------------------------------ in one process


def handshake(capabilities: Any = ASKS) -> dict[str, Any]:
    client = {"name": "c", "version": "1"}
    return call("initialize", {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client})


@pytest.mark.parametrize(
    ("options", "headers", "words"),
    [
        ({"multithread": True}, {"Accept": "application/json"}, "must accept text/event-stream"),
        ({"multithread": False, "multiprocess": False}, STREAMED, "must have another thread"),
    ],
)
def test_where_nobody_could_answer_nobody_is_asked(options: Any, headers: dict[str, str], words: str) -> None:
    """The handler is told why, at once, instead of waiting for what cannot come."""
    wire = Wire(create_app())
    session = wire.post(handshake()).headers["Mcp-Session-Id"]
    message = call("tools/call", {"name": "forgiving", "arguments": {}})
    answer = wire.post(message, {**headers, "Mcp-Session-Id": session}, **options).get_json()
    assert words in answer["result"]["content"][0]["text"]


def test_the_clients_are_not_told_of_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the folder cannot be used, the log says which and why, and the client that it cannot be asked."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    wire = Wire(create_app())
    session = wire.post(handshake()).headers["Mcp-Session-Id"]
    message = call("tools/call", {"name": "forgiving", "arguments": {}})
    answer = wire.post(message, {**STREAMED, "Mcp-Session-Id": session}, multithread=True).get_json()
    text = answer["result"]["content"][0]["text"]
    assert text.startswith("Without asking: The user cannot be asked here: ")
    assert str(tmp_path) not in text
    assert str(tmp_path) in caplog.text


def test_a_client_without_a_session_is_not_asked() -> None:
    """Without a handshake nobody said that they can be asked."""
    wire = Wire(create_app())
    message = call("tools/call", {"name": "forgiving", "arguments": {}})
    answer = wire.post(message, {**STREAMED, "MCP-Protocol-Version": "2025-11-25"}, multithread=True).get_json()
    assert "must declare" in answer["result"]["content"][0]["text"]


# ------------------------------------------------------------------------------------------------ in three workers


class Client:
    """A client of the handshake era, each of whose requests is a connection of its own."""

    def __init__(self, port: int, user: str) -> None:
        self._port = port
        self._open = ExitStack()
        self._headers = {"Content-Type": "application/json", **STREAMED, **bearer(user)}
        answer = self.post(handshake())
        answer.read()
        self._headers["Mcp-Session-Id"] = str(answer.headers["Mcp-Session-Id"])

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def post(self, message: Any, user: str = "", **more: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        self._open.enter_context(closing(connection))
        headers = {**self._headers, **(bearer(user) if user else {}), **more}
        connection.request("POST", "/mcp", json.dumps(message), headers)
        return self._open.enter_context(closing(connection.getresponse()))

    def call(self, name: str, token: Any = None, **arguments: Any) -> http.client.HTTPResponse:
        meta = {} if token is None else {"_meta": {"progressToken": token}}
        answer = self.post(call("tools/call", {"name": name, "arguments": arguments, **meta}))
        assert answer.headers["Content-Type"] == "text/event-stream"
        return answer

    def reply(self, question: Any, result: Any, user: str = "") -> None:
        answer = self.post({"jsonrpc": "2.0", "id": question["id"], "result": result}, user)
        assert (answer.status, answer.read()) == (202, b"")


def event(answer: http.client.HTTPResponse) -> Any:
    """The next message of a stream."""
    while not (line := answer.readline()).startswith(b"data: "):
        assert line, "the stream has ended"
    return json.loads(line[6:])


@pytest.fixture(scope="module", params=list(WORKERS.values()), ids=list(WORKERS))
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    folder = tmp_path_factory.mktemp("served")
    env = {"TALK_JOURNAL": str(folder / "journal"), "TMPDIR": str(folder)}
    with Gunicorn(folder, "tests.talk", *request.param, env=env) as gunicorn:
        yield gunicorn.port, folder


def test_any_worker_takes_an_answer_in(served: tuple[int, Path]) -> None:
    """Two rounds of questions over three workers, under one attempt, and nothing is left behind."""
    port, folder = served
    with Client(port, "bob") as client:
        stream = client.call("greet")
        client.reply(event(stream), NAME)
        question = event(stream)
        assert question["params"]["message"] == "How old is Ann?"
        client.reply(question, AGE)
        assert event(stream)["result"]["content"][0]["text"] == "Hello, Ann, 7."
        assert stream.read().strip() == b""
        rounds = [line.split() for line in lines(folder / "journal") if line.startswith("round")]
        assert {tuple(words[1:]) for words in rounds} == {(rounds[0][1], "bob")}
        (box,) = folder.glob("flask_arandu_mcp-*")
        assert list(box.iterdir()) == []


def test_another_users_answer_is_none(served: tuple[int, Path]) -> None:
    """Who knows the id of a question and is not who was asked answers nothing, and is not told."""
    with Client(served[0], "bob") as client:
        stream = client.call("delete_posts")
        question = event(stream)
        client.reply(question, YES, user="alice")
        client.reply(question, {"action": "decline"})
        assert "The user said decline" in event(stream)["result"]["content"][0]["text"]


def test_no_transaction_waits_for_a_human(served: tuple[int, Path]) -> None:
    """The handler's app context is gone before its question goes out, so that another writer goes on."""
    port, folder = served
    with Client(port, "bob") as client:
        stream = client.call("locking")
        question = event(stream)
        write_meanwhile(folder / "journal")
        client.reply(question, YES)
        assert event(stream)["result"]["content"][0]["text"] == "written"


def test_progress_goes_forward_over_all_rounds(served: tuple[int, Path]) -> None:
    """A handler that is run again says again how far it is, and its client hears it once."""
    with Client(served[0], "bob") as client:
        stream = client.call("steps", token="t")
        told = [event(stream), event(stream)]
        client.reply(event(stream), YES)
        told.append(event(stream))
        assert [message["params"]["progress"] for message in told] == [1, 2, 3]
        assert event(stream)["result"]["content"][0]["text"] == "stepped"


def test_h13_a_client_that_leaves_has_its_call_carried_out(served: tuple[int, Path]) -> None:
    """In the handshake era a lost connection cancels nothing."""
    port, folder = served
    before = lines(folder / "journal").count("done")
    with Client(port, "bob") as client:
        stream = client.call("long", token="t")
        event(stream)
    wait_for(lambda: lines(folder / "journal").count("done") == before + 1)


def test_h13_a_stateless_client_that_leaves_stops_its_call(served: tuple[int, Path]) -> None:
    """In the stateless era it is how a call is cancelled: the handler's `finally` runs, and nothing after it."""
    port, folder = served
    before = lines(folder / "journal").count("stopped bob True")
    message = modern("tools/call", {"name": "endless", "arguments": {}}, progressToken="t")
    with Client(port, "bob") as client:
        stream = client.post(message, **modern_headers(message), **{"Mcp-Session-Id": ""})
        event(stream)
    wait_for(lambda: lines(folder / "journal").count("stopped bob True") == before + 1)
