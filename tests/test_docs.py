"""docs/ tells the truth: every block of Python in it runs, and asserts what the text says."""

from __future__ import annotations

from pathlib import Path

import pytest

from .snippets import ROOT, Block, blocks_of, run_block, write_files

PAGES = sorted((ROOT / "docs").glob("*.md"))
PYTHON = [
    pytest.param(page, block, id=f"{page.name}:{block.line}")
    for page in PAGES
    for block in blocks_of(page)
    if block.language == "python"
]


@pytest.mark.parametrize(("page", "block"), PYTHON)
def test_a_block_runs(tmp_path: Path, page: Path, block: Block) -> None:
    """What a block asserts is so; none is left out, whatever stands above it."""
    write_files(blocks_of(page), tmp_path)
    run_block(block, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_fence_is_read(page: Path) -> None:
    """A block that opens in a way that the tests do not read would be run by nobody."""
    fences = [
        line for line in page.read_text(encoding="utf-8").splitlines() if line.lstrip().startswith(("```", "~~~"))
    ]
    assert len(fences) == 2 * len(blocks_of(page))
