"""README.md tells the truth: every Python block runs, and what it shows is what is printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .environs import ROOT
from .snippets import Block, answers_to, blocks_of, documents, run, run_block, write_files

BLOCKS = blocks_of(ROOT / "README.md")


def _block(marker: str) -> str:
    return next(block.text for block in BLOCKS if block.marker == marker)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(BLOCKS, tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    "block", [block for block in BLOCKS if block.language == "python"], ids=lambda block: block.line
)
def test_a_block_runs(folder: Path, block: Block) -> None:
    """What a block asserts is so; none is left out, whatever stands above it."""
    run_block(block, folder)


def test_the_list_is_what_is_printed(folder: Path) -> None:
    """`flask mcp list` of the smallest app prints what the README shows."""
    assert run(folder, "-m", "flask", "mcp", "list") == _block("output: flask mcp list")


def test_the_client_block_is_json() -> None:
    """The block for a client's configuration can be pasted."""
    block = next(block.text for block in BLOCKS if block.language == "json")
    servers = json.loads(block)["mcpServers"]
    assert servers["tasks on this machine"]["args"][-2:] == ["mcp", "start"]
    assert servers["tasks"]["url"].endswith("/mcp")


def test_the_lines_for_curl_are_answered(folder: Path) -> None:
    """What is to be asked by hand is answered as it says: by anybody, and as Ana."""
    lines, said = (next(block for block in BLOCKS if block.marker == marker) for marker in ("curl", "answers"))
    assert answers_to(lines, folder) == documents(said.text)
