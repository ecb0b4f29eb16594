"""Start-up: what importing each framework takes, in milliseconds and in memory, in fresh interpreters that take turns.
What a bare interpreter takes is taken off."""

from __future__ import annotations

import os
import random
import subprocess
from time import perf_counter

from .environments import OURS, ROOT, Environments
from .machine import Others, cores, on
from .table import Group

BARE = "a bare interpreter"
NEEDED = "Flask, Flask-Login, marshmallow"
OUR = "ours, with what it needs"
ADDED = "ours, on top of what it needs"
_NEEDED = "import flask, flask_login, marshmallow"
_DJANGO = "import django.conf; django.conf.settings.configure(); import django; django.setup()"
_PEAK = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
CASES = {
    BARE: (OURS, "pass"),
    "Flask": (OURS, "import flask"),
    NEEDED: (OURS, _NEEDED),
    OUR: (OURS, f"{_NEEDED}; from flask_arandu_mcp import ArandoMCP, Server, public, resource, signed_in, tool"),
    "ours, every public name": (OURS, f"{_NEEDED}; from flask_arandu_mcp import *"),
    "SDK": ("sdk", "from mcp.server import MCPServer"),
    "FastMCP": ("fastmcp", "from fastmcp import FastMCP"),
    "Django, set up": ("django", _DJANGO),
    "django-mcpz": ("django", f"{_DJANGO}; from django_mcpz.server import MCPServer"),
}


def report(environments: Environments, others: Others, rounds: int) -> list[Group]:
    """Import everything, once a round."""
    commands = {
        of: environments.command(name, ["python", "-c", f"{code}\n{_PEAK}"]) for of, (name, code) in CASES.items()
    }
    for command in commands.values():
        _once(command)  # compiles what an installer would have compiled
    taken: dict[str, list[tuple[float, float]]] = {of: [] for of in CASES}
    with others.watched():
        for _ in range(rounds):
            for of in random.sample(list(CASES), len(CASES)):
                taken[of].append(_once(commands[of]))
    groups = []
    for index, unit in enumerate(("ms", "MiB")):
        bare = [each[index] for each in taken[BARE]]
        net = {
            of: [each[index] - less for each, less in zip(taken[of], bare, strict=True)] for of in CASES if of != BARE
        }
        net[ADDED] = [ours - needed for ours, needed in zip(net[OUR], net[NEEDED], strict=True)]
        groups.append(Group(f"import, {unit} over {BARE}", unit, net, NEEDED))
    return groups


def _once(command: list[str]) -> tuple[float, float]:
    """Milliseconds that an interpreter ran, and the MiB that it had at most."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHONDONTWRITE"))}
    with on(cores()[0]):
        start = perf_counter()
        # What it had is asked in it: what the system says of a child includes its parent's memory.
        kilobytes = subprocess.check_output(command, cwd=ROOT, env=kept)
        taken = perf_counter() - start
    return taken * 1000, int(kilobytes) / 1024
