"""The descriptors of a pipe: lines in, whole lines out, and nothing else on them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from flask_arandu_mcp.transports.descriptors import Writer, lines


@contextmanager
def os_pipe() -> Iterator[tuple[int, int]]:
    reading, writing = os.pipe()
    try:
        yield reading, writing
    finally:
        for descriptor in (reading, writing):
            with suppress(OSError):
                os.close(descriptor)


def read(*chunks: bytes, limit: int = 10) -> list[bytes | None]:
    """What `lines` makes of chunks that arrive one after another."""
    with os_pipe() as (reading, writing):
        found: list[bytes | None] = []
        thread = threading.Thread(target=lambda: found.extend(lines(reading, limit)))
        thread.start()
        for chunk in chunks:
            os.write(writing, chunk)
            if len(chunks) > 1:
                time.sleep(0.005)
        os.close(writing)
        thread.join(10)
        assert not thread.is_alive()
        return found


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a\n\n\r\n b\n"], [b"a", b"", b"\r", b" b"]),
        ([b"a", b"b", b"\n", b"c\nd"], [b"ab", b"c", b"d"]),
        ([b"\xc3", b"\xa9\n"], [b"\xc3\xa9"]),
        ([b"last"], [b"last"]),
    ],
)
def test_s05_lines_are_cut_at_line_feeds_alone(chunks: list[bytes], expected: list[bytes]) -> None:
    """However the bytes arrive, the lines are the same, and the last needs no end."""
    assert read(*chunks) == expected


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_a_line_of_exactly_the_limit_is_read(end: bytes) -> None:
    """The limit is the longest line that is read; its end does not count."""
    assert [line and line.rstrip(b"\r") for line in read(b"x" * 10 + end)] == [b"x" * 10]
    assert read(b"x" * 11 + end) == [None]


@pytest.mark.parametrize(
    "chunks",
    [
        [b"x" * 11 + b"\nok\n"],
        [b"x" * 11, b"x" * 500, b"\nok\n"],
        [b"x" * 6, b"x" * 6, b"\n", b"ok\n"],
        [b"x" * 10, b"\r", b"x\nok\n"],
    ],
)
def test_a_line_over_the_limit_is_told_once(chunks: list[bytes]) -> None:
    """It is skipped to its end, and the next line is read."""
    assert read(*chunks) == [None, b"ok"]


def test_a_line_over_the_limit_without_end_is_told_at_once() -> None:
    """Nobody waits for the end of what is refused already."""
    with os_pipe() as (reading, writing):
        os.write(writing, b"x" * 30)
        assert next(lines(reading, 10)) is None


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    """Whoever shares the other end may have switched blocking off, which is not the end of the input."""
    with os_pipe() as (reading, writing):
        os.set_blocking(reading, False)
        timer = threading.Timer(0.1, os.write, (writing, b"late\n"))
        timer.start()
        assert next(lines(reading, 10)) == b"late"
        timer.join()


def test_a_closed_descriptor_is_at_its_end() -> None:
    """What cannot be read ends the lines, as an end does."""
    with os_pipe() as (reading, _):
        os.close(reading)
        assert list(lines(reading, 10)) == []


def drain(descriptor: int) -> bytes:
    found = b""
    while chunk := os.read(descriptor, 65536):
        found += chunk
    return found


@pytest.mark.parametrize("blocking", [True, False])
def test_s09_lines_that_are_written_together_stay_whole(blocking: bool) -> None:
    """A line that takes many writes is not mixed with another's, on a descriptor that does not block either."""
    with os_pipe() as (reading, writing):
        os.set_blocking(writing, blocking)
        writer = Writer(writing, lambda: None)
        letters = [bytes([letter]) * 200_000 for letter in b"abcdefgh"]
        threads = [threading.Thread(target=writer.write, args=(line,)) for line in letters]
        out: list[bytes] = []
        reader = threading.Thread(target=lambda: out.append(drain(reading)))
        for thread in (reader, *threads):
            thread.start()
        for thread in threads:
            thread.join(20)
        os.close(writing)
        reader.join(20)
        assert sorted(out[0].splitlines()) == letters


def test_a_writer_that_nobody_reads_says_so_once() -> None:
    """After the first failure nothing more is written, for half a line would be no line."""
    with os_pipe() as (reading, writing):
        broken: list[bool] = []
        writer = Writer(writing, lambda: broken.append(True))
        os.close(reading)
        writer.write(b"one")
        writer.write(b"two")
        assert broken == [True]


def test_a_closed_writer_writes_nothing() -> None:
    """The descriptor's number may be another file's by then."""
    with os_pipe() as (reading, writing):
        writer = Writer(writing, lambda: None)
        writer.write(b"before")
        writer.close()
        writer.write(b"after")
        os.close(writing)
        assert drain(reading) == b"before\n"


# ------------------------------------------------------------------------------------------------ claim


def run(script: str, redirections: str = "") -> tuple[int, str, str]:
    """Run a script in a process whose descriptors are real, with 'input' on its stdin."""
    command = ["/bin/sh", "-c", f'exec "$0" -c "$1" {redirections}', sys.executable, script]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(command, input=b"input\n", capture_output=True, timeout=30, env=environ)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


CLAIM = """
import os, subprocess, sys
from flask_arandu_mcp.transports.descriptors import claim
"""


def test_s02_what_is_printed_inside_lands_on_stderr() -> None:
    """Prints, bytes and children are led to stderr, and the protocol's descriptors stay the client's."""
    code, out, err = run(
        CLAIM
        + """
print("printed before")
with claim() as (incoming, outgoing):
    print("printed inside")
    os.write(1, b"written inside\\n")
    subprocess.run(["echo", "echoed inside"])
    os.write(outgoing, b"protocol: " + os.read(incoming, 100))
    print("held back", end="")
print("printed after")
"""
    )
    assert code == 0
    assert out == "protocol: input\nprinted after\n"
    assert {"printed before", "printed inside", "written inside", "echoed inside"} <= set(err.splitlines())
    assert err.endswith("held back")


def test_s02_prints_show_up_as_they_are_made() -> None:
    """Whoever watches stderr sees a print when it is made, and not when a buffer is full."""
    _, _, err = run(
        CLAIM
        + """
with claim():
    print("first")
    os.write(2, b"second\\n")
assert not sys.stdout.line_buffering
"""
    )
    assert err == "first\nsecond\n"


def test_s02_what_reads_inside_finds_the_end() -> None:
    """Neither the process nor a child of it can take a message from the protocol."""
    _, out, _ = run(
        CLAIM
        + """
with claim() as (incoming, outgoing):
    found = repr((sys.stdin.read(), subprocess.run(["cat"], capture_output=True).stdout))
    os.write(outgoing, found.encode() + os.read(incoming, 100))
print(os.read(0, 100))
"""
    )
    assert out == "('', b'')input\nb''\n"


def test_no_child_holds_the_descriptors() -> None:
    """Neither a child process nor a forked one can write to the client, or keep its pipe open."""
    code, out, err = run(
        CLAIM
        + """
with claim() as (incoming, outgoing):
    seen = f"import os; print(os.path.exists('/proc/self/fd/{outgoing}'))"
    subprocess.run([sys.executable, "-c", seen], close_fds=False)
    child = os.fork()
    if child == 0:
        os.write(outgoing, b"from a child")
        sys.exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    os.write(outgoing, b"kept")
"""
    )
    assert (code, out) == (0, "kept")
    assert err == "False\n7\n"


@pytest.mark.parametrize(
    ("redirections", "out"),
    [("2>&-", "input\n"), ("2>&- 0<&-", ""), ("0<&-", ""), ("1>&-", ""), ("1>&- 2>&-", ""), ("0<&- 1>&- 2>&-", "")],
)
def test_closed_descriptors_are_no_trap(redirections: str, out: str) -> None:
    """The protocol's duplicates never take the number of a closed 0, 1 or 2, which others print to."""
    code, found, err = run(
        CLAIM
        + """
with claim() as descriptors:
    assert min(descriptors) > 2
    print("printed")
    os.write(2, b"")
    subprocess.run(["echo", "echoed"])
    os.write(descriptors.outgoing, os.read(descriptors.incoming, 100))
""",
        redirections,
    )
    assert (code, found) == (0, out)
    assert ("echoed" in err) is ("2>&-" not in redirections)


def test_what_stderr_does_not_take_is_not_written_later() -> None:
    """Where nobody reads stderr, prints are lost: they are not kept for the client's stream."""
    code, out, _ = run(
        CLAIM
        + """
reading, writing = os.pipe()
os.dup2(writing, 2)
os.close(reading)
os.close(writing)
with claim() as descriptors:
    try:
        print("lost" * 10)
    except BrokenPipeError:
        pass
    os.write(descriptors.outgoing, b"kept")
"""
    )
    assert (code, out) == (0, "kept")


def test_descriptors_are_given_back_after_an_error() -> None:
    """What follows prints where it would have printed."""
    code, out, _ = run(
        CLAIM
        + """
try:
    with claim():
        raise ValueError
except ValueError:
    print("back", sys.stdin.readline().strip())
"""
    )
    assert (code, out) == (0, "back input\n")
