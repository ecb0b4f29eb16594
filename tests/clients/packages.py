"""The packages from npm that are the clients, in the versions that are pinned here. They are installed once, outside
the tree: where NODE_CLIENTS_CACHE says, else with the machine's temporary files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

PINNED = {
    "@modelcontextprotocol/client": "2.4.0",
    "@modelcontextprotocol/sdk": "1.32.2",
    "@modelcontextprotocol/inspector": "2.12.0",
}
_TIMEOUT = 300.0


def installed() -> Path:
    """The `node_modules` that has them all."""
    cache = Path(os.environ.get("NODE_CLIENTS_CACHE") or Path(tempfile.gettempdir()) / "flask-arandu-mcp-clients")
    wanted = [f"{name}@{version}" for name, version in PINNED.items()]
    prefix = cache / hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:16]
    if not prefix.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as work:
            made = Path(work) / "made"
            made.mkdir()
            command = ["npm", "install", "--loglevel", "error", "--no-audit", "--no-fund", "--ignore-scripts"]
            command += ["--prefix", str(made), *wanted]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_TIMEOUT)
            # In one piece: a run that was stopped leaves nothing that looks whole.
            made.rename(prefix)
    return prefix / "node_modules"


if __name__ == "__main__":
    print(installed())
