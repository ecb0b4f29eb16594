"""docs/ tells the truth: every block of Python in it runs, and what it shows is what is printed and answered."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from .environs import ROOT, environment
from .snippets import Block, answers_to, blocks_of, documents, run, run_block, write_files

PAGES = sorted((ROOT / "docs").glob("*.md"))
BLOCKS = [(page, block) for page in PAGES for block in blocks_of(page)]


def _each(is_wanted: Callable[[Block], bool]) -> pytest.MarkDecorator:
    chosen = [(page, block) for page, block in BLOCKS if is_wanted(block)]
    return pytest.mark.parametrize(
        ("page", "block"), chosen, ids=[f"{page.name}:{block.line}" for page, block in chosen]
    )


@_each(lambda block: block.language == "python")
def test_a_block_runs(tmp_path: Path, page: Path, block: Block) -> None:
    """What a block asserts is so; none is left out, whatever stands above it."""
    write_files(blocks_of(page), tmp_path)
    run_block(block, tmp_path)


@_each(lambda block: block.marker.startswith("output: "))
def test_what_is_shown_is_printed(tmp_path: Path, page: Path, block: Block) -> None:
    """What a command of the page's app is shown to print, it prints."""
    write_files(blocks_of(page), tmp_path)
    command = block.marker.removeprefix("output: ")
    assert run(tmp_path, "-m", *shlex.split(command)) == block.text
    assert f"`{command}`" in page.read_text(encoding="utf-8")  # for whoever reads the page, who sees no markers


@_each(lambda block: block.marker == "curl")
def test_lines_for_curl_are_answered(tmp_path: Path, page: Path, block: Block) -> None:
    """What is to be asked by hand is answered as the next block says."""
    blocks = blocks_of(page)
    write_files(blocks, tmp_path)
    said = next(after for before, after in pairwise(blocks) if before == block)
    assert said.marker == "answers"
    assert answers_to(block, tmp_path) == documents(said.text)


@_each(lambda block: block.language == "json")
def test_json_can_be_pasted(page: Path, block: Block) -> None:
    """A block for a client's configuration is JSON."""
    assert json.loads(block.text)


@_each(lambda block: block.language == "sh" and not block.marker)
def test_a_line_for_the_shell_succeeds(tmp_path: Path, page: Path, block: Block) -> None:
    """What is to be typed can be typed as it stands, beside the app on the page."""
    write_files(blocks_of(page), tmp_path)
    environ = {**environment(), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", "-e", "-c", block.text], cwd=tmp_path, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_is_read(page: Path) -> None:
    """A block that opens in a way that the tests do not read would be run by nobody."""
    fences = [
        line for line in page.read_text(encoding="utf-8").splitlines() if line.lstrip().startswith(("```", "~~~"))
    ]
    assert len(fences) == 2 * len(blocks_of(page))
