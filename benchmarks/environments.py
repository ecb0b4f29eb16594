"""The virtual environments that servers run in, one for each family of frameworks. They are made once, outside of the
tree, and made anew when what is wanted in them has changed."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
VARIABLE = "BENCHMARK_ENVIRONMENTS"
OURS = "flask"
WANTED: dict[str, list[str]] = {
    OURS: [f"-e{ROOT}", "gunicorn[gevent]==27.0.1", "gevent==26.9.0", "granian==2.8.9"],
    "sdk": ["mcp==2.3.0", "uvicorn==0.54.0", "uvloop", "httptools"],
    "fastmcp": ["fastmcp==4.2.3", "uvicorn==0.54.0", "uvloop", "httptools"],
    "django": ["django-mcpz==1.2.0", "django==5.2.*", "gunicorn==27.0.1"],
}
"""What pip is to install in each; one of the tree's own is installed as it stands, so that it is never out of date."""

SHOWN = [
    *("flask", "werkzeug", "flask-login", "marshmallow", "gunicorn", "gevent", "granian"),
    *("mcp", "fastmcp", "pydantic", "starlette", "anyio", "uvicorn", "uvloop", "httptools"),
    *("django", "django-mcpz", "msgspec"),
]
"""The packages whose versions a report names."""


def folder() -> Path:
    """Where environments are kept, unless an option says otherwise."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get(VARIABLE) or Path(cache) / "flask-arandu-mcp-benchmarks")


class Environments:
    """Environments that are there, each as the folder of its programs."""

    def __init__(self, at: Path | None = None) -> None:
        self._at = (at or folder()).absolute()

    def programs(self, name: str) -> Path:
        """The folder of an environment's programs; the environment is made where it is missing or out of date.

        :raises subprocess.CalledProcessError: where pip cannot install what is wanted.
        """
        wanted = "\n".join([sys.version, *WANTED[name]])
        # Two trees may keep their environments in one place.
        tree = f"-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}" if name == OURS else ""
        place = self._at / f"{name}{tree}"
        stamp = place / "wanted.txt"
        if not stamp.exists() or stamp.read_text() != wanted:
            print(f"Making {place} ...", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
            pip = [str(place / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
            subprocess.run(pip + WANTED[name], check=True)
            stamp.write_text(wanted)
        return place / "bin"

    def command(self, name: str, command: Sequence[str]) -> list[str]:
        """A command with an environment's own program."""
        program, *arguments = command
        return [str(self.programs(name) / program), *arguments]

    def versions(self, name: str) -> str:
        """What is installed in an environment of what decides about speed, in one line."""
        code = (
            "import sys, importlib.metadata\n"
            "found = {each.name.lower(): each.version for each in importlib.metadata.distributions()}\n"
            f"shown = [f'{{name}} {{found[name]}}' for name in {SHOWN} if name in found]\n"
            "print(f'Python {sys.version.split()[0]}', *shown, sep=', ')"
        )
        return subprocess.check_output(self.command(name, ["python", "-c", code]), text=True).strip()
