"""The blocks of a Markdown file, and how those of Python are run. A comment above a block says what it is for."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from .environs import environment

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>[^>]+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


class Block(NamedTuple):
    """One block.

    :ivar marker: what the comment above it says: `file: NAME`, `run`, `output: COMMAND`, `curl` or anything else.
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
    environ = environment(PYTHONWARNINGS="error")
    line = [sys.executable, *command]
    done = subprocess.run(line, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documents(text: str) -> list[object]:
    """The JSON documents in a text, one after the other, however their lines are broken."""
    found, rest = [], text.strip()
    while rest:
        document, end = json.JSONDecoder().raw_decode(rest)
        found.append(document)
        rest = rest[end:].strip()
    return found


def answers_to(block: Block, folder: Path) -> list[object]:
    """What `app.py` of a folder answers to a block of commands for curl, one a line unless it ends with a backslash."""
    sent = [shlex.split(line) for line in block.text.replace("\\\n", " ").splitlines()]
    code = """
import json, sys
from app import app
for options in json.loads(sys.argv[1]):
    headers = [options[at + 1].split(": ", 1) for at, word in enumerate(options) if word == "-H"]
    body = options[options.index("-d") + 1]
    print(app.test_client().post("/mcp", data=body, headers=headers).get_data(as_text=True))
"""
    (folder / "curl.py").write_text(code, encoding="utf-8")
    return documents(run(folder, "curl.py", json.dumps(sent)))
