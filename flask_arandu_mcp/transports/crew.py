"""A few threads that do jobs, each one at a time. A job that ends its thread ends that thread alone: another takes its
place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Generic, TypeVar

J = TypeVar("J")

DISMISSAL = 0.3
"""Seconds that the threads have to end."""


class Crew(Generic[J]):
    """Does jobs in the order in which they come.

    :param do: does one job; what it raises ends its thread.
    """

    def __init__(self, do: Callable[[J], None]) -> None:
        self._do = do
        self._jobs: SimpleQueue[J | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []

    def start(self, size: int) -> None:
        """Begin to do jobs, this many at the same time."""
        for _ in range(size):
            self._hire()

    def take(self, job: J) -> None:
        """Take a job in, to be done when a thread is free."""
        self._jobs.put(job)

    def dismiss(self) -> None:
        """Send the threads home, and wait a little for those that are not busy."""
        # A thread that still says its last words on stderr would abort an interpreter that is ending.
        for _ in self._threads:
            self._jobs.put(None)
        deadline = time.monotonic() + DISMISSAL
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _hire(self) -> None:
        thread = threading.Thread(target=self._work, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            over = False
            try:
                self._do(job)
                over = True
            finally:
                if not over:  # sys.exit() in a handler, or what else is no Exception
                    self._hire()
