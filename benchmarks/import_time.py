"""How long importing the package takes on top of what it needs. Run it with `python benchmarks/import_time.py`, on an
idle machine: each figure is taken in fresh interpreters, and the least is the one that the machine disturbed least."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable

ROUNDS = 15
NEEDED = "import flask, flask_login, marshmallow"
CASES = {
    "import flask_arandu_mcp, on top of Flask, Flask-Login and marshmallow": (NEEDED, "import flask_arandu_mcp"),
    "every public name of it": (NEEDED, "from flask_arandu_mcp import *"),
    "the entry point of `flask mcp`, on top of click": ("import click", "import flask_arandu_mcp.cli"),
    "for comparison: Flask, Flask-Login and marshmallow": ("pass", NEEDED),
}
"""What is measured: what is imported before, and the import whose time is taken."""

_TIMED = """
from time import perf_counter
{before}
start = perf_counter()
{timed}
print((perf_counter() - start) * 1000)
"""


def measure(before: str, timed: str, rounds: int = ROUNDS) -> list[float]:
    """The milliseconds that an import took, in as many fresh interpreters."""
    command = [sys.executable, "-c", _TIMED.format(before=before, timed=timed)]
    # A coverage run would follow into the interpreter and be measured with it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    # An installer compiles modules; here the first run does, whatever the shell says of bytecode, and is not counted.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as folder:
        environment["PYTHONPYCACHEPREFIX"] = folder
        taken = [float(subprocess.check_output(command, text=True, env=environment)) for _ in range(rounds + 1)]
    return taken[1:]


def report(rounds: int = ROUNDS, write: Callable[[str], object] = print) -> None:
    """Write one line for each case."""
    write(f"Python {sys.version.split()[0]}, {rounds} rounds: least and median, in milliseconds")
    for what, (before, timed) in CASES.items():
        taken = measure(before, timed, rounds)
        write(f"{min(taken):8.1f} {statistics.median(taken):8.1f}  {what}")


if __name__ == "__main__":
    report(int(sys.argv[1]) if sys.argv[1:] else ROUNDS)
