"""What a run was made on, and how busy others kept it meanwhile. The cores are shared out here: servers run on one, and
what loads them on another."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_TICK = os.sysconf("SC_CLK_TCK")


def cores() -> tuple[int, int]:
    """The core of the servers and the core of the load."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


@contextmanager
def on(core: int) -> Iterator[None]:
    """What is started meanwhile runs on this core alone, for all its life."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def description() -> str:
    """The machine, in one line."""
    models = [line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next(int(line.split()[1]) for line in _lines("/proc/meminfo") if line.startswith("MemTotal"))
    server, load = cores()
    made = f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, {memory / 2**20:.0f} GiB"
    sharing = "SERVERS AND LOAD SHARE ONE CORE" if server == load else f"servers on core {server}, load on core {load}"
    return f"{made}, {platform.platform()}; {sharing}"


class Others:
    """How many cores were kept busy by what does not belong to this run, while it was watched.

    :ivar seen: cores, one figure for each time.
    """

    def __init__(self) -> None:
        self.seen: list[float] = []

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch while this lasts. What is started meanwhile must be waited for, or be alive before and after."""
        start, busy, own = time.monotonic(), _busy(), _own()
        yield
        others = (_busy() - busy) - (_own() - own)
        self.seen.append(max(0.0, others / (time.monotonic() - start)))

    def __str__(self) -> str:
        """In one line, for a report."""
        if not self.seen:
            return "nothing was watched"
        ordered = sorted(self.seen)
        return f"other work took {ordered[len(ordered) // 2]:.2f} of a core (median), {ordered[-1]:.2f} at worst"


def _busy() -> float:
    """Seconds that all cores have worked, for anybody."""
    user, nice, system, _, _, irq, softirq, steal = (int(part) for part in _lines("/proc/stat")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICK


def _own() -> float:
    """Seconds that this process and all below it have worked, also those that have ended and were waited for."""
    parents: dict[int, int] = {}
    worked: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parts = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended meanwhile
                continue
            parents[int(entry.name)] = int(parts[1])
            worked[int(entry.name)] = sum(int(part) for part in parts[11:15])
    below = {os.getpid()}
    for _ in range(8):  # as deep as anything here goes
        below |= {pid for pid, parent in parents.items() if parent in below}
    return sum(worked.get(pid, 0) for pid in below) / _TICK


def _lines(file: str) -> list[str]:
    return Path(file).read_text().splitlines()
