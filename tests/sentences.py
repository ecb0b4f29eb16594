"""All that the package says, read out of its source, beside the list of it that people have read: sentences.txt. New
texts are put into the list by `python -m tests.sentences`, with a `?` for its reader to replace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "flask_arandu_mcp"
LIST = Path(__file__).parent / "sentences.txt"
NEW = "?"

_WORDS = re.compile(r"[A-Za-z}'`)\]][,:;.]? +[A-Za-z{'`(\[]")
"""Two words, or a word and a place for one: what has less is a name, and no text."""

_EXCEPTION = re.compile(
    r"(Error|Exception|Fault|Faults|Trouble|Malformed|Unanswerable|Unfit|Limiter|Subject|_Refused)$"
)


def of_package() -> dict[str, dict[str, bool]]:
    """The texts of each module, in order, and whether an exception is made of them."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        texts: dict[str, bool] = {}
        for text, is_raised in _texts(ast.parse(path.read_text(encoding="utf-8"))):
            texts[text] = texts.get(text, False) or is_raised
        if texts:
            found[path.relative_to(PACKAGE).as_posix()] = texts
    return found


def of_list() -> dict[str, dict[str, str]]:
    """The texts of each module as they are listed, and the kind of each."""
    listed: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            texts = listed.setdefault(line.removeprefix("## "), {})
        elif line and not line.startswith("#"):
            kind, _, text = line.partition(" ")
            texts[text.strip()] = kind
    return listed


def _texts(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    silent = set(_silent(tree))
    raised = {
        argument
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _EXCEPTION.search(ast.unparse(call.func))
        for argument in call.args
    }
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if node in silent:
            continue
        text = _text(node)
        if text is not None and _WORDS.search(text):
            yield text.strip().replace("\n", "\\n"), node in raised
        # The pieces of a text are no texts, but what stands in its places may be.
        pieces = node.values if isinstance(node, ast.JoinedStr) else ()
        below = [each for each in ast.iter_child_nodes(node) if not (each in pieces and isinstance(each, ast.Constant))]
        waiting += reversed(below)


def _silent(tree: ast.Module) -> Iterator[ast.AST]:
    """What is written as text and says nothing: docstrings, annotations and patterns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node
        elif isinstance(node, ast.AnnAssign):
            yield node.annotation
            if ast.unparse(node.annotation) == "TypeAlias" and node.value is not None:
                yield node.value
        elif isinstance(node, ast.arg) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            yield node.returns
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("re.compile", "re.sub", "cast"):
            yield node.args[0]


def _text(node: ast.AST) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(piece) for piece in node.values)
    return None


def _piece(piece: ast.expr) -> str:
    if isinstance(piece, ast.FormattedValue):
        return f"{{{ast.unparse(piece.value)}{'!r' if piece.conversion == ord('r') else ''}}}"
    assert isinstance(piece, ast.Constant)
    return str(piece.value)


def main() -> None:
    """Write the list anew, with the kinds that are known."""
    listed = of_list()
    head = LIST.read_text(encoding="utf-8").partition("## ")[0].rstrip()
    lines = [head]
    for module, texts in of_package().items():
        lines += ["", f"## {module}"]
        lines += [f"{listed.get(module, {}).get(text, NEW):8}{text}" for text in texts]
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
