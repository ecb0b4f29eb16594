"""The environment of the programs that tests start. What their users have set for Flask counts for nothing, and what
else is installed for the tests costs them nothing."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]

HIDDEN = Path(__file__).parent / "hidden"
"""Distributions without commands, which stand before those of the same name that have some: `flask` loads everybody's
commands before it looks up `mcp`, and APIFlask's alone take as long as all the rest of a start."""


def environment(**more: str) -> dict[str, str]:
    """What programs have: the tests can be imported, and `flask` has the commands of this project and of few others."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("FLASK_")}
    return {**own, "PYTHONPATH": f"{ROOT}{os.pathsep}{HIDDEN}", **more}
