"""The two file descriptors of a pipe, kept for the protocol alone. Whatever else the process prints lands on stderr,
and whatever else reads finds the end of its input."""

from __future__ import annotations

import atexit
import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import NamedTuple

_CHUNK = 64 * 1024


class Descriptors(NamedTuple):
    """Private duplicates of stdin and stdout, which no child process inherits."""

    incoming: int
    outgoing: int


@contextmanager
def claim() -> Iterator[Descriptors]:
    """Take file descriptors 0 and 1 for the protocol, and give them back in the end.

    In between, 1 leads where 2 does and 0 is empty: for prints, for logs, for C code and for child processes. At the
    end of the process it does so again, for what exit functions print.
    """
    _open_what_is_closed()
    descriptors = Descriptors(os.dup(0), os.dup(1))
    _be_binary(descriptors)
    _point(os.devnull, os.O_RDONLY, 0)
    _lead_away()
    by_line = _print_by_line(True)
    kept = _keep_from_forks(descriptors)
    try:
        yield descriptors
    finally:
        flush()
        _print_by_line(by_line)
        if kept:  # else this is a child that was forked off
            kept.clear()
            os.dup2(descriptors.incoming, 0)
            os.dup2(descriptors.outgoing, 1)
            os.close(descriptors.incoming)
            os.close(descriptors.outgoing)
            # Registered last, it runs before the exit functions of the app.
            atexit.register(_leave_to_exit_functions)


def release() -> None:
    """Let exit functions print to stdout after all, where nobody was served."""
    atexit.unregister(_leave_to_exit_functions)


def _leave_to_exit_functions() -> None:
    flush()
    _lead_away()


def _lead_away() -> None:
    os.dup2(2, 1)
    flush()


def flush() -> None:
    """Write what Python and C hold back for 1, which would land in the protocol's stream later."""
    if not _flushed():
        # Nobody reads stderr any more. What is held back must go all the same, or it is tried again at the end.
        _point(os.devnull, os.O_WRONLY, 1)
        _flushed()
    with suppress(ImportError, OSError, AttributeError):
        import ctypes  # 10 ms of import that only this command pays

        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)


def _flushed() -> bool:
    try:
        sys.stdout.flush()
    except OSError:
        return False
    except (AttributeError, ValueError):  # there is none, or it was closed
        pass
    return True


def _open_what_is_closed() -> None:
    # A private duplicate would otherwise be given the number of a closed 0, 1 or 2, and be printed to.
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)


def _print_by_line(wanted: bool) -> bool:
    """Let prints show up on stderr as they are made, not when a buffer is full; return how it was before."""
    if not isinstance(sys.stdout, TextIOWrapper) or sys.stdout.closed:
        return False
    before = sys.stdout.line_buffering
    sys.stdout.reconfigure(line_buffering=wanted)
    return before


def _keep_from_forks(descriptors: Descriptors) -> list[int]:
    """Take the descriptors from whatever is forked off without exec, which would hold the pipe open or write to it.

    :return: the descriptors, for as long as they are kept; empty in a child.
    """
    kept = list(descriptors)

    def forget() -> None:
        # Pointed away rather than closed, so that no file of the child is given their numbers.
        while kept:
            _point(os.devnull, os.O_RDWR, kept.pop())

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)
    return kept


def _point(path: str, flags: int, descriptor: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def _be_binary(descriptors: Descriptors) -> None:
    if sys.platform == "win32":
        import msvcrt

        for descriptor in descriptors:
            msvcrt.setmode(descriptor, os.O_BINARY)


def lines(descriptor: int, limit: int) -> Iterator[bytes | None]:
    """The lines that come in, without their ends, the last one even without an end; None for one over the limit.

    Never more than the limit and one chunk is held in memory.
    """
    held = bytearray()
    skipping = False
    while chunk := _read(descriptor):
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            held += line
            if skipping:
                skipping = False
            else:
                yield bytes(held) if _fits(held, limit) else None
            held.clear()
        if skipping:
            continue
        held += rest
        if not _fits(held, limit):
            held.clear()
            skipping = True
            yield None
    if held:
        yield bytes(held)


def _fits(line: bytearray, limit: int) -> bool:
    # The carriage return belongs to the end of the line, where a client ends it so.
    return len(line) - line.endswith(b"\r") <= limit


def _read(descriptor: int) -> bytes:
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:  # whoever shares the other end may have made it so
            select.select([descriptor], [], [])
        except OSError:
            return b""


class Writer:
    """Writes whole lines, one at a time, whoever writes them.

    :param on_broken: called once nobody reads any more.
    """

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._lock = threading.Lock()
        self._closed = False

    def close(self) -> None:
        """Write nothing any more: the descriptor's number may soon be another file's."""
        self._closed = True

    def write(self, message: bytes) -> None:
        """Write one message and the end of its line."""
        left = memoryview(message + b"\n")
        with self._lock:
            try:
                while left and not self._closed:
                    left = left[self._write(left) :]
            except OSError:
                self._closed = True
                self._on_broken()

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            select.select([], [self._descriptor], [])
            return 0
