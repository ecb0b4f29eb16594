"""How a process that served a pipe ends. Its client is gone, so neither a thread of the app, nor a call that never
ends, nor an exit function may keep it alive."""

from __future__ import annotations

import atexit
import os
import threading
import time

from .descriptors import flush

LAST_WORDS = 1.0
"""Seconds that the app's own exit functions have."""


def end(settled: bool, code: int = 0) -> None:
    """Prepare the end of the process, or end it now where it would not end by itself.

    :param settled: no call is under way.
    """
    begun = threading.Event()

    def watch() -> None:
        begun.wait()
        time.sleep(LAST_WORDS)
        os._exit(code)

    # From now on, since no thread can be started once exit functions run.
    threading.Thread(target=watch, daemon=True).start()
    # What is registered last runs first, and so before the app's own exit functions.
    atexit.register(begun.set)
    if settled and not _threads():
        return
    atexit._run_exitfuncs()
    flush()
    os._exit(code)


def _threads() -> bool:
    """Whether a thread is left that the interpreter would wait for."""
    return any(t is not threading.main_thread() and not t.daemon for t in threading.enumerate())
