"""Hold the order inside the room of schemas, as its docstring draws it."""

from __future__ import annotations

import ast
from pathlib import Path

from flask_arandu_mcp import schemas

ROOM = Path(schemas.__file__).parent
ROWS = [
    line.split() for line in (schemas.__doc__ or "").splitlines() if line.startswith("    ") or "  " in line.strip()
]
RANK = {name: rank for rank, row in enumerate(ROWS) for name in row}


def test_every_module_is_drawn() -> None:
    """The docstring of the room names each of its modules once."""
    assert sorted(RANK) == sorted(path.stem for path in ROOM.glob("*.py") if path.stem != "__init__")


def test_arrows_point_up_the_drawing() -> None:
    """A module imports only from rows above its own, and nothing of the package but its types."""
    for path in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level:
                if node.level == 2:
                    assert node.module == "typing", path.name
                else:
                    assert RANK[str(node.module)] < RANK[path.stem], f"{path.name} imports {node.module}"
