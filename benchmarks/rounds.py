"""Timing of calls within this process: every variant runs once a round, in an order that is shuffled anew, so that what
disturbs the machine disturbs all alike. CPU time of the process is taken, of which other processes take little."""

from __future__ import annotations

import gc
import random
import statistics
from collections.abc import Callable, Mapping
from time import process_time

Call = Callable[[], object]


def measure(variants: Mapping[str, Call], rounds: int, seconds: float) -> dict[str, list[float]]:
    """The microseconds that a call of each variant takes, one figure a round.

    :param seconds: how long a variant runs in a round, about.
    """
    gc.collect()
    gc.freeze()
    try:
        calls = {name: max(1, round(seconds / _one(call))) for name, call in variants.items()}
        taken: dict[str, list[float]] = {name: [] for name in variants}
        for _ in range(rounds):
            for name in random.sample(list(variants), len(variants)):
                taken[name].append(_microseconds(variants[name], calls[name]))
    finally:
        gc.unfreeze()
    return taken


def _one(call: Call) -> float:
    """About what one call takes, warmed up."""
    return statistics.median(_microseconds(call, 10) for _ in range(5)) / 1e6


def _microseconds(call: Call, times: int) -> float:
    gc.collect(0)
    start = process_time()
    for _ in range(times):
        call()
    return (process_time() - start) / times * 1e6
