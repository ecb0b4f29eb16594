"""The two file descriptors of a pipe, kept for the protocol alone. Whatever else the process prints lands on stderr,
and whatever else reads finds the end of its input."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

_CHUNK = 64 * 1024


class Descriptors(NamedTuple):
    """Private duplicates of stdin and stdout, which no child process inherits."""

    incoming: int
    outgoing: int


@contextmanager
def claim() -> Iterator[Descriptors]:
    """Take file descriptors 0 and 1 for the protocol, and give them back in the end.

    In between, 1 leads where 2 does and 0 is empty: for prints, for logs, for C code and for child processes.
    """
    sys.stdout.flush()
    descriptors = Descriptors(os.dup(0), os.dup(1))
    _be_binary(descriptors)
    _point(os.devnull, os.O_RDONLY, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # stderr may be closed
        _point(os.devnull, os.O_WRONLY, 1)
    try:
        yield descriptors
    finally:
        _flush()
        os.dup2(descriptors.incoming, 0)
        os.dup2(descriptors.outgoing, 1)
        os.close(descriptors.incoming)
        os.close(descriptors.outgoing)


def _point(path: str, flags: int, descriptor: int) -> None:
    opened = os.open(path, flags)
    os.dup2(opened, descriptor)
    os.close(opened)


def _flush() -> None:
    import ctypes  # only needed once, at the very end

    with suppress(OSError, ValueError):
        sys.stdout.flush()
    # What C code has buffered would otherwise be written when the process exits, into the protocol's stream.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).fflush(None)


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
            if skipping:
                skipping = False
            elif len(held) + len(line) > limit:
                yield None
            else:
                yield bytes(held + line)
            held.clear()
        if skipping:
            continue
        held += rest
        if len(held) > limit:
            held.clear()
            skipping = True
            yield None
    if held:
        yield bytes(held)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""


class Writer:
    """Writes whole lines, one at a time, whoever writes them.

    :ivar broken: set once nobody reads any more.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self.broken = threading.Event()

    def write(self, message: bytes) -> None:
        """Write one message and the end of its line."""
        left = memoryview(message + b"\n")
        with self._lock:
            try:
                while left:
                    left = left[os.write(self._descriptor, left) :]
            except OSError:
                self.broken.set()
