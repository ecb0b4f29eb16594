"""`flask mcp new`: begin a declaration, with its test. Nothing that is there already is written over."""

from __future__ import annotations

import keyword
import re
import shlex
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import click
from flask import Flask

from ..errors import DeclarationError
from ..state import State, states
from . import templates
from .served import json_option, load, write_json

_NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")
_FOLDER = "mcp_tools"


@click.group("new", short_help="Begin a tool, with its test.")
def command() -> None:
    """Begin a declaration, with its test."""


class Place(NamedTuple):
    """Where a tool and its test go.

    :ivar tool: the file of the tool.
    :ivar package: the file that makes its new folder a package; None in a folder that is there.
    :ivar root: the folder that its module is imported from.
    """

    tool: Path
    test: Path
    package: Path | None
    root: Path

    @property
    def module(self) -> str:
        """The module of the tool."""
        return ".".join(self.tool.with_suffix("").relative_to(self.root).parts)


@command.command("tool")
@click.argument("name")
@click.option(
    "--to", type=click.Path(file_okay=False, path_type=Path), help=f"Folder of the tool; {_FOLDER} beside the app."
)
@click.option(
    "--tests", type=click.Path(file_okay=False, path_type=Path), help="Folder of the test; tests above the app."
)
@json_option
@click.pass_context
def tool(ctx: click.Context, name: str, to: Path | None, tests: Path | None, as_json: bool) -> None:
    """Write the tool NAME and its test, to be filled in."""
    app = load(ctx)
    _check_name(ctx, app, name)
    place = _place(Path(app.root_path), name, to, tests)
    _check_module(ctx, place)
    names = templates.Names(name, place.module)
    texts = {place.package: templates.PACKAGE} if place.package is not None else {}
    texts |= {place.tool: templates.declaration(names), place.test: templates.test(names)}
    _write(texts)
    files = [_shown(path) for path in texts]
    line = f"from {place.module} import {name}"
    if as_json:
        write_json({"tool": name, "files": files, "import": line, "test": _shown(place.test)})
        return
    click.echo("\n".join(f"{click.style('written', fg='green')}  {file}" for file in files))
    click.echo(f"\nGive it to your server, and run its test in {_shown(place.root)}:\n")
    click.echo(f"    {line}\n    server = Server(..., tools=[..., {name}])\n")
    click.echo(f"    python -m pytest {shlex.quote(_shown(place.test, place.root))}")


def _check_name(ctx: click.Context, app: Flask, name: str) -> None:
    if not _NAME.fullmatch(name) or keyword.iskeyword(name) or name in templates.TAKEN:
        words = (
            "a tool's name is a small letter and up to 59 of a-z, 0-9 and _ after it, and no word of Python's or of "
            "what is written: take another."
        )
        raise click.UsageError(f"{name!r}: {words}", ctx)
    for server, state in states(app).items():
        if name in _offered(state):
            words = f"the server {server!r} has a tool {name!r} already: take another name, or mend that one."
            raise click.ClickException(words)


def _check_module(ctx: click.Context, place: Place) -> None:
    for part in place.module.split("."):
        if not part.isidentifier() or keyword.iskeyword(part):
            words = "Python imports from no folder of such a name: choose one of letters, digits and _, with --to."
            raise click.UsageError(f"{part!r}: {words}", ctx)


def _offered(state: State) -> list[str]:
    try:
        state.check()
    except DeclarationError:
        return []  # told by what serves; a new tool may be what mends it
    return [tool.name for tool in state.catalogue.tools.items]


def _place(app: Path, name: str, to: Path | None, tests: Path | None) -> Place:
    folder = (app / _FOLDER if to is None else to).resolve()
    package = None if folder.exists() else folder / "__init__.py"
    above, inner = _above(app.resolve()), folder.parent if package is not None else folder
    root = _above(inner)
    if root == inner and root.is_relative_to(above):
        root = above  # from where the app imports folders that are no packages, too
    if tests is None:
        inside = app / "tests"
        tests = inside if inside.exists() and not (above / "tests").exists() else above / "tests"
    return Place(folder / f"{name}.py", tests.resolve() / f"test_{name}.py", package, root)


def _above(folder: Path) -> Path:
    """The first folder that is no package, from this one up."""
    while (folder / "__init__.py").exists():
        folder = folder.parent
    return folder


def _write(texts: dict[Path, str]) -> None:
    """Write files, or none of them.

    :raises click.ClickException: where one is there already, or cannot be written.
    """
    there = [path for path in texts if path.exists()]
    if there:
        names = ", ".join(map(_shown, there))
        raise click.ClickException(f"already there, and nothing was written: {names}. Take another name or folder.")
    try:
        with ExitStack() as undo:
            for path, text in texts.items():
                for folder in reversed([each for each in path.parents if not each.exists()]):
                    folder.mkdir()
                    undo.callback(folder.rmdir)
                with path.open("x", encoding="utf-8") as file:
                    undo.callback(path.unlink)
                    file.write(text)
            undo.pop_all()
    except OSError as error:
        raise click.ClickException(f"{error}: choose folders that can be written, with --to and --tests.") from None


def _shown(path: Path, here: Path | None = None) -> str:
    here = here or Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
