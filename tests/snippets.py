"""The blocks of a Markdown file, and how those of Python are run. A comment above a block says what it is for."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """One block.

    :ivar marker: what the comment above it says: `file: NAME`, `run`, `run after: NAME` or anything else.
    :ivar line: where it begins.
    """

    marker: str
    language: str
    text: str
    line: int


def blocks_of(path: Path) -> list[Block]:
    """The blocks of a file, in order."""
    text = path.read_text(encoding="utf-8")
    return [
        Block(found["marker"] or "", found["language"], found["text"], text.count("\n", 0, found.start("text")))
        for found in _BLOCK.finditer(text)
    ]


def write_files(blocks: list[Block], folder: Path) -> None:
    """Write the blocks that are files into a folder, for others to import."""
    for block in blocks:
        if block.marker.startswith("file: "):
            (folder / block.marker.removeprefix("file: ")).write_text(block.text, encoding="utf-8")


def run_block(block: Block, folder: Path) -> None:
    """Run a block of Python in a process of its own: what it asserts is so, and it warns of nothing.

    One that is a file of tests is run by pytest, and has some.
    """
    name = block.marker.removeprefix("file: ")
    if name.startswith("test_"):
        assert " passed" in run(folder, "-m", "pytest", "-p", "no:cacheprovider", name)
        return
    (folder / "block.py").write_text(block.text, encoding="utf-8")
    run(folder, "block.py")


def run(folder: Path, *command: str) -> str:
    """What a Python command prints that succeeds."""
    environ = {**os.environ, "PYTHONWARNINGS": "error"}
    line = [sys.executable, *command]
    done = subprocess.run(line, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
