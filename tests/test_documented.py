"""What docs/ and README.md say of the package is so: its names, signatures, options, settings and commands are all of
those that there are, and none that there is not."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
import tomllib
import xml.etree.ElementTree
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import click
import pytest

import flask_arandu_mcp
from flask_arandu_mcp import ArandoMCP, Elicit, Server, ext, testing
from flask_arandu_mcp.cli import mcp
from flask_arandu_mcp.declarations.prompts import PromptOptions
from flask_arandu_mcp.declarations.resources import ResourceOptions
from flask_arandu_mcp.declarations.tools import ToolOptions
from flask_arandu_mcp.ext import principal, security, sqlalchemy
from flask_arandu_mcp.settings import Settings
from flask_arandu_mcp.testing import MCPClient
from flask_arandu_mcp.testing.results import Result

from .environs import ROOT
from .test_layers import FLASK_ROOMS, LAYERS

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
API = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")

OUTSIDERS = {
    *(
        "OneOf",
        "allows",
        "app.app_context",
        "close",
        "doc",
        "get_id",
        "json_schema",
        "jsonify",
        "len",
        "request.get_json",
        "token_of",
    ),
    'limiter.limit("100/minute")',
}
"""What docs/ write with parentheses that is no function of the package."""


def _prose(page: Path) -> str:
    """A page without its blocks, which run anyway."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _rows(text: str, heading: str) -> list[list[str]]:
    """The rows of the one table whose first column has a heading."""
    (table,) = re.findall(rf"^\| {re.escape(heading)} \|.*\n\|[-| :]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip().strip("|").split(" | ")] for line in table.splitlines()]


def _calls(prose: str) -> Iterator[tuple[str, ast.Call]]:
    for span in re.findall(r"`([^`\n]+)`", prose):
        if re.match(r"@?[\w.]+\(.*\)$", span) and "*, " not in span:  # such are written out, and compared below
            text = re.sub(r", …\)$", ")", span.lstrip("@")).replace("…", "...")
            call = ast.parse(text, mode="eval").body
            assert isinstance(call, ast.Call), span
            yield span, call


def _known(name: str) -> object:
    """The object that docs/ call by a name."""
    head, _, rest = name.partition(".")
    homes = {"mcp": ArandoMCP, "server": Server, "Elicit": Elicit, "client": MCPClient}
    if rest and head in homes:
        return getattr(homes[head], rest)
    for home in (principal, security, sqlalchemy, testing, MCPClient, Result):
        if name in vars(home):
            return vars(home)[name]
    return getattr(flask_arandu_mcp, name)


def _parameters(of: object) -> tuple[list[str], set[str], bool]:
    """The names of a callable's positional parameters and of all keywords that it takes, without `self`."""
    assert callable(of)
    parameters = list(inspect.signature(of).parameters.values())
    parameters = [each for each in parameters if each.name != "self"]
    positional = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    keywords = {each.name for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)}
    for each in parameters:
        if each.kind is each.VAR_KEYWORD:
            (options,) = get_args(get_type_hints(of)[each.name]) or (None,)
            keywords = keywords | set(options.__annotations__) if options else _Any()
    return positional, keywords, any(each.kind is each.VAR_POSITIONAL for each in parameters)


class _Any(set[str]):
    """Every name, as the keywords of a function that takes whatever an app declares."""

    def __contains__(self, name: object) -> bool:
        return True


# --------------------------------------------------------------------------------------------------------- names


def _documented(kind: str) -> set[str]:
    return {name.split("(")[0] for name in re.findall(rf"^\.\. auto{kind}:: ([\w.]+)", API, re.MULTILINE)}


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    """What can be imported from the package is described there, and nothing that cannot."""
    shown = {name for name in _documented("(?:class|exception|function|data)") if "." not in name}
    signals = {name for name in shown if name in vars(flask_arandu_mcp.signals)}
    assert shown - signals == set(flask_arandu_mcp.__all__)


def test_every_public_module_is_on_the_page_of_the_api() -> None:
    """The modules that an app imports by their own names are described there."""
    own = {f"{ext.__name__}.{module.name}" for module in pkgutil.iter_modules(ext.__path__)}
    own |= {f"flask_arandu_mcp.{name}" for name in ("signals", "testing") if _is_there(name)}
    assert _documented("module") == own


def test_every_public_name_for_tests_is_on_the_page_of_the_api() -> None:
    """What can be imported from the module for tests is described there, and nothing that cannot."""
    home = f"{testing.__name__}."
    shown = {name.removeprefix(home) for name in _documented("(?:class|function|data)") if name.startswith(home)}
    assert shown == set(testing.__all__)


def _is_there(module: str) -> bool:
    return any(each.name == module for each in pkgutil.iter_modules(flask_arandu_mcp.__path__))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(getattr(home, name), id=name)
        for home in (flask_arandu_mcp, testing)
        for name in home.__all__
        if name not in ("Answer", "Answers")  # which are aliases of types
    ],
)
def test_every_public_name_has_a_docstring(value: object) -> None:
    """A public name, and each public member that it defines, says in a docstring of its own what it does."""
    assert inspect.getdoc(value)
    if inspect.isclass(value):
        members = {key: getattr(value, key) for key in vars(value) if not key.startswith("_")}
        functions = {key: each for key, each in members.items() if callable(each) or isinstance(each, property)}
        assert [key for key, each in functions.items() if not inspect.getdoc(each)] == []


# ---------------------------------------------------------------------------------------------------- signatures


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_calls_in_prose_fit_the_signatures(page: Path) -> None:
    """A call that a page writes could be made: its parameters are there, in this order and by these names."""
    wrong = []
    for span, call in _calls(_prose(page)):
        name = ast.unparse(call.func)
        if name.replace("'", '"') in OUTSIDERS:
            continue
        positional, keywords, takes_any = _parameters(_known(name))
        given = [argument for argument in call.args if not _is_ellipsis(argument)]
        if not takes_any and len(given) > len(positional):
            wrong.append(f"{span}: {name} takes {positional}")
        wrong += [
            f"{span}: no {keyword.arg}= in {sorted(keywords)}"
            for keyword in call.keywords
            if keyword.arg not in keywords
        ]
        wrong += [
            f"{span}: {argument.id} is called {parameter}"
            for argument, parameter in zip(given, positional, strict=False)
            if isinstance(argument, ast.Name) and argument.id not in (parameter, f"{parameter}s")
        ]
    assert wrong == []


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...


def test_written_out_signatures_are_the_real_ones() -> None:
    """A signature in a table is the function's, to the last default."""
    rows = _rows((ROOT / "docs" / "door.md").read_text(encoding="utf-8"), "signature")
    for cell, *_ in rows:
        name, _, parameters = cell.strip("`").partition("(")
        signature = inspect.signature(getattr(Server, name.removeprefix("server.")))
        plain = [each.replace(annotation=each.empty) for each in signature.parameters.values() if each.name != "self"]
        real = signature.replace(parameters=plain, return_annotation=signature.empty)
        assert f"({parameters}" == str(real), name


def test_the_table_of_options_has_all_of_them() -> None:
    """What the decorators take stands in README's table, and nothing else."""
    rows = _rows(
        (ROOT / "README.md").read_text(encoding="utf-8"),
        "option of `@tool`, `@resource`, `@prompt`, or attribute of the class",
    )
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row[0])}
    assert named == {name for kind in (ToolOptions, ResourceOptions, PromptOptions) for name in kind.__annotations__}


# ------------------------------------------------------------------------------------- settings, commands, versions


def test_the_table_of_settings_has_all_of_them_and_their_defaults() -> None:
    """Every `MCP_*` key stands in README's table, which docs/settings.md shows, with its real default."""
    rows = _rows((ROOT / "README.md").read_text(encoding="utf-8"), "key")
    told = {key.strip("`"): default.strip("`") for key, default, *_ in rows}
    assert told == {f"MCP_{name.upper()}": _said(value) for name, value in Settings()._asdict().items()}


def _said(default: object) -> str:
    if default is None or default in ("", (), frozenset()):
        return "none"
    if isinstance(default, int) and default % 2**20 == 0 and default:
        return f"{default // 2**20} MiB"
    return str(default)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_and_command_that_is_named_is_there(page: Path) -> None:
    """No page names a setting or a command of `flask mcp` that there is not."""
    text = page.read_text(encoding="utf-8")
    settings = {f"MCP_{name.upper()}" for name in Settings._fields}
    assert set(re.findall(r"\bMCP_[A-Z_]+[A-Z]", text)) <= settings
    assert set(re.findall(r"flask mcp ([a-z]+)", text)) <= set(mcp.list_commands(click.Context(mcp)))


def test_the_versions_that_are_needed_are_told() -> None:
    """docs/upgrading.md names what the package needs as pyproject.toml does."""
    text = (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert all(f"`{dependency}`" in text for dependency in project["dependencies"])
    assert f"Python {project['requires-python'].removeprefix('>=')}" in text


# ------------------------------------------------------------------------------------------------------ pictures


def test_the_picture_of_the_house_is_the_table_of_rows() -> None:
    """Each row of the house is drawn, the lowest at the bottom, with the modules that know Flask in bold."""
    svg = xml.etree.ElementTree.parse(ROOT / "docs" / "pictures" / "house.svg")
    rows = svg.findall(".//{*}tspan[@class='row']")
    drawn = [[(name.text, name.get("class") == "flask") for name in row] for row in rows]
    assert drawn == [[(name or "flask_arandu_mcp", name in FLASK_ROOMS) for name in row] for row in reversed(LAYERS)]
    below = sum(int(line.get("dy", 0)) for line in svg.iter())
    assert svg.getroot().get("viewBox") == f"0 0 860 {84 + below + 30}"
