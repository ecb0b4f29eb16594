"""README.md tells the truth: every Python block runs, and what it shows is what is printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"(?:<!-- (?P<marker>[^>]+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```", re.DOTALL)
BLOCKS = [(found["marker"] or "", found["language"], found["text"]) for found in BLOCK.finditer(README)]


def _block(marker: str) -> str:
    return next(text for mark, _, text in BLOCKS if mark == marker)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "app.py").write_text(_block("file: app.py"), encoding="utf-8")
    return tmp_path


def _run(folder: Path, *command: str) -> str:
    environ = {**os.environ, "PYTHONWARNINGS": "error"}
    line = [sys.executable, *command]
    done = subprocess.run(line, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_python_block_is_run() -> None:
    """A block of Python without a marker would be run by nobody."""
    markers = {marker for marker, language, _ in BLOCKS if language == "python"}
    assert markers == {"file: app.py", "run after: app.py", "run"}


@pytest.mark.parametrize("marker", ["run after: app.py", "run"])
def test_a_block_runs(folder: Path, marker: str) -> None:
    """What a block asserts is so."""
    (folder / "block.py").write_text(_block(marker), encoding="utf-8")
    _run(folder, "block.py")


def test_the_list_is_what_is_printed(folder: Path) -> None:
    """`flask mcp list` of the smallest app prints what the README shows."""
    assert _run(folder, "-m", "flask", "mcp", "list") == _block("output: flask mcp list")


def test_the_client_block_is_json() -> None:
    """The block for a client's configuration can be pasted."""
    block = next(text for _, language, text in BLOCKS if language == "json")
    assert json.loads(block)["mcpServers"]["tasks"]["args"][-2:] == ["mcp", "start"]
