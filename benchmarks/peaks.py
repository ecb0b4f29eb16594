"""The memory that one large call takes at most, in process, as Python's own allocator counts it: everything from the
reading of the body on, without what was there before."""

from __future__ import annotations

import gc
import json
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask

from . import jobs
from .in_process import View, ours_view, plain_view
from .jobs import Job
from .messages import Era, answered, message
from .servers import ours, same_job
from .servers.schemas import RowsSchema
from .setups import Setup
from .table import Group

BARE = "json.loads and the schema's load"
ROWS = jobs.rows(5000)
TEXTS = [(jobs.taking(1000), "a 1 MB argument"), (jobs.giving(2000), "a 2 MB result")]


def report() -> list[Group]:
    """The peaks of large texts as multiples of their size, and of rows in MiB."""
    working, plain = ours.create_app(Setup()), same_job.create_app()
    groups = []
    for job, what in TEXTS:
        size = 2_000_000 if job.name.startswith("give") else 1_000_000
        figures = {of: [taken / size] for of, taken in _peaks(working, plain, job).items()}
        groups.append(Group(f"peak memory in process, {what}", "x its size", figures, "same job"))
    body = message(ROWS, Era.HANDSHAKE).body
    schema = RowsSchema()
    with _file(body) as file:
        bare = peak(lambda: schema.load(json.loads(file.read_bytes())["params"]["arguments"]))
    rows = {BARE: bare, **_peaks(working, plain, ROWS)}
    in_mib = {of: [taken / 2**20] for of, taken in rows.items()}
    groups.append(Group(f"peak memory in process, {ROWS.name}", "MiB", in_mib, BARE))
    return groups


def peak(call: Callable[[], object]) -> int:
    """The bytes that a call takes at most, when it is made again."""
    call()
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        call()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def _peaks(working: Flask, plain: Flask, job: Job) -> dict[str, int]:
    views = {"same job": plain_view(plain, job)}
    views |= {f"ours {era.value}": ours_view(working, job, era) for era in Era}
    return {of: _peak_of(view, job) for of, view in views.items()}


def _peak_of(view: View, job: Job) -> int:
    job.judge(answered(view()))
    with _file(view.body) as file:
        # Out of a file, so that reading makes new bytes, as reading from a socket does.
        view.stream = lambda: file.open("rb", buffering=0)
        return peak(view)


@contextmanager
def _file(content: bytes) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "body"
        file.write_bytes(content)
        yield file
