"""What has to run where the package is installed: `python -m benchmarks.inside PART` prints what a part found as JSON,
for the command, which itself needs nothing but Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from .environments import OURS, ROOT, Environments
from .machine import cores, on
from .table import Group


def ask(environments: Environments, part: str, *arguments: float) -> Any:
    """Run a part in the package's environment, on the servers' core.

    :raises subprocess.CalledProcessError: where it fails; what it wrote has been shown.
    """
    command = environments.command(OURS, ["python", "-m", "benchmarks.inside", part, *map(str, arguments)])
    with on(cores()[0]):
        return json.loads(subprocess.check_output(command, cwd=ROOT))


def groups(environments: Environments, part: str, *arguments: float) -> list[Group]:
    """The groups that a part has found."""
    return [Group(*group) for group in ask(environments, part, *arguments)]


def _answers() -> dict[str, Any]:
    """What our server answers to each job that the floor is given, for the floor to answer the same."""
    from . import growth, jobs, plans
    from .in_process import ours_view
    from .messages import Era, answered
    from .servers import ours
    from .setups import Setup

    working = ours.create_app(Setup())
    asked = [(working, job) for job in [*jobs.JOBS, *growth.sized()]]
    asked += [(ours.create_app(setup), job) for setup, job in plans.LISTS]
    asked += [(ours.create_app(Setup(tools=count)), jobs.listing(count)) for count in growth.COUNTS]
    found = {}
    for app, job in asked:
        answer = answered(ours_view(app, job, Era.HANDSHAKE)())
        job.judge(answer)
        found[job.slug] = answer
    return found


def _peaks() -> list[Group]:
    from . import peaks

    return peaks.report()


def _in_process(rounds: str, seconds: str) -> list[Group]:
    from . import in_process_report

    return in_process_report.report(int(rounds), float(seconds))


PARTS: dict[str, Callable[..., Any]] = {"answers": _answers, "peaks": _peaks, "in_process": _in_process}


if __name__ == "__main__":
    json.dump(PARTS[sys.argv[1]](*sys.argv[2:]), sys.stdout)
