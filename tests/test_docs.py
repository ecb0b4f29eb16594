"""docs/ tells the truth: every block of Python in it runs, and asserts what the text says."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from .snippets import ROOT, Block, blocks_of, run, run_block, write_files

PAGES = sorted((ROOT / "docs").glob("*.md"))
PYTHON = [
    pytest.param(page, block, id=f"{page.name}:{block.line}")
    for page in PAGES
    for block in blocks_of(page)
    if block.language == "python"
]
PRINTS = "output: "
PRINTED = [
    pytest.param(page, block, id=f"{page.name}:{block.line}")
    for page in PAGES
    for block in blocks_of(page)
    if block.marker.startswith(PRINTS)
]
SHELL = [
    pytest.param(page, block, id=f"{page.name}:{block.line}")
    for page in PAGES
    for block in blocks_of(page)
    if block.language == "sh"
]


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_a_block_runs(tmp_path: Path, page: Path, block: Block) -> None:
    """What a block asserts is so; none is left out, whatever stands above it."""
    write_files(blocks_of(page), tmp_path)
    run_block(block, tmp_path)


@pytest.mark.parametrize(("page", "block"), PRINTED)
def test_a_command_prints_what_is_shown(tmp_path: Path, page: Path, block: Block) -> None:
    """What stands below a command is what it prints, of the app on the page."""
    write_files(blocks_of(page), tmp_path)
    command = shlex.split(block.marker.removeprefix(PRINTS), posix=False)
    assert run(tmp_path, "-m", *command) == block.text


@pytest.mark.parametrize(("page", "block"), SHELL)
def test_a_line_for_the_shell_succeeds(tmp_path: Path, page: Path, block: Block) -> None:
    """What is to be typed can be typed as it stands, beside the app on the page."""
    write_files(blocks_of(page), tmp_path)
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", block.text], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_is_read(page: Path) -> None:
    """A block that opens in a way that the tests do not read would be run by nobody."""
    fences = [
        line for line in page.read_text(encoding="utf-8").splitlines() if line.lstrip().startswith(("```", "~~~"))
    ]
    assert len(fences) == 2 * len(blocks_of(page))
