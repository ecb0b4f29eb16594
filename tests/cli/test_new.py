"""`flask mcp new tool`: what is written works as it is, is laid out as ruff lays out, and replaces nothing."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from flask_arandu_mcp.commands import templates

from ..environs import environment
from .running import flask, invoke

APP = """
from flask import Flask
from flask_arandu_mcp import ArandoMCP, Server, public, tool

@tool(access=public)
def taken(request):
    '''Is there already.'''
    return ""

app = Flask(__name__)
ArandoMCP(app, Server("desk", tools=[taken]))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of an app in one file."""
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """The folder above an app that is a package."""
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "__init__.py").write_text(APP)
    return tmp_path


def written(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py") if path.name not in ("app.py",))


def passes(folder: Path, test: str) -> None:
    """What was written is run as its user is told to."""
    command = [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout


def test_a_tool_and_its_test_are_written(home: Path) -> None:
    """Beside the app, with the lines that are left to write; the test passes, and ruff has nothing against either."""
    done = flask("mcp", "new", "tool", "count_words", cwd=home)
    assert done.code == 0, done.err
    assert written(home) == ["mcp_tools/__init__.py", "mcp_tools/count_words.py", "tests/test_count_words.py"]
    assert done.out.splitlines() == [
        "written  mcp_tools/__init__.py",
        "written  mcp_tools/count_words.py",
        "written  tests/test_count_words.py",
        "",
        "Give it to your server, and run its test in .:",
        "",
        "    from mcp_tools.count_words import count_words",
        "    server = Server(..., tools=[..., count_words])",
        "",
        "    python -m pytest tests/test_count_words.py",
    ]
    passes(home, "tests/test_count_words.py")
    for check in (["check", "--select", "E,F,W,I,B,UP,PT,RUF,ANN"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", check[0], "--isolated", *check[1:], "mcp_tools", "tests"]
        linted = subprocess.run(ruff, cwd=home, capture_output=True, text=True, check=False)
        assert linted.returncode == 0, linted.stdout + linted.stderr


def test_what_is_written_can_be_served(home: Path) -> None:
    """The line that is printed is all that is missing, and there is nothing to advise on the tool."""
    flask("mcp", "new", "tool", "count_words", cwd=home)
    source = (home / "app.py").read_text().replace("[taken]", "[taken, count_words]")
    (home / "app.py").write_text(f"from mcp_tools.count_words import count_words\n{source}")
    done = flask("mcp", "check", "--strict", "--ignore", "no-users", cwd=home)
    assert done.code == 0, done.out


def test_a_package_gets_a_package(package: Path) -> None:
    """The tool is within the app's package, and its test beside the package, whatever folder the command runs in."""
    (package / "elsewhere").mkdir()
    done = flask("--app", str(package / "shop"), "mcp", "new", "tool", "greet", "--json", cwd=package / "elsewhere")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert printed["import"] == "from shop.mcp_tools.greet import greet"
    assert printed["test"] == str(package / "tests" / "test_greet.py")
    assert [Path(file).relative_to(package) for file in printed["files"]] == [
        Path("shop/mcp_tools/__init__.py"),
        Path("shop/mcp_tools/greet.py"),
        Path("tests/test_greet.py"),
    ]
    passes(package, "tests/test_greet.py")


def test_the_tests_of_a_package_stay_where_they_are(package: Path) -> None:
    """An app that keeps its tests within itself keeps these there too."""
    (package / "shop" / "tests").mkdir()
    flask("--app", "shop", "mcp", "new", "tool", "greet", cwd=package)
    assert (package / "shop" / "tests" / "test_greet.py").exists()


def test_the_folders_can_be_said(home: Path) -> None:
    """A folder that is there is taken as it is, and a new one becomes a package."""
    (home / "lib").mkdir()
    done = flask("mcp", "new", "tool", "one", "--to", "lib", "--tests", "checks", "--json", cwd=home)
    assert json.loads(done.out)["import"] == "from lib.one import one"
    assert json.loads(done.out)["files"] == ["lib/one.py", "checks/test_one.py"]
    done = flask("mcp", "new", "tool", "two", "--to", "ai/tools", "--json", cwd=home)
    assert json.loads(done.out)["import"] == "from ai.tools.two import two"
    assert json.loads(done.out)["files"] == ["ai/tools/__init__.py", "ai/tools/two.py", "tests/test_two.py"]


def test_a_folder_that_is_no_package_works_as_told(home: Path) -> None:
    """The app can import the line that is printed, and the test runs with the command that is printed."""
    (home / "plain").mkdir()
    done = flask("--app", str(home / "app.py"), "mcp", "new", "tool", "one", "--to", ".", cwd=home / "plain")
    assert f"run its test in {home}:" in done.out
    line, command = "from plain.one import one", "python -m pytest tests/test_one.py"
    assert f"    {line}\n" in done.out
    assert done.out.endswith(f"    {command}\n")
    passes(home, "tests/test_one.py")
    source = (home / "app.py").read_text().replace("[taken]", "[taken, one]")
    (home / "app.py").write_text(f"{line}\n{source}")
    assert flask("mcp", "check", cwd=home).code == 0


@pytest.mark.parametrize("folder", ["my-tools", "class", "a/1st", "x\nimport os", "a b"])
def test_a_folder_is_one_that_can_be_imported(home: Path, folder: str) -> None:
    """What is written imports from it; whether it is there already does not matter."""
    for _ in range(2):
        done = flask("mcp", "new", "tool", "one", "--to", folder, cwd=home)
        assert (done.code, done.out) == (2, "")
        assert f"{Path(folder).name!r}: Python imports from no folder of such a name" in done.err
        assert written(home) == []
        (home / folder).mkdir(parents=True, exist_ok=True)


def test_nothing_is_written_over(home: Path) -> None:
    """Where one of the files is there, none is written."""
    (home / "tests").mkdir()
    (home / "tests" / "test_one.py").write_text("mine")
    done = flask("mcp", "new", "tool", "one", cwd=home)
    assert (done.code, done.out) == (1, "")
    assert "already there, and nothing was written: tests/test_one.py. Take another name or folder." in done.err
    assert (home / "tests" / "test_one.py").read_text() == "mine"
    assert written(home) == ["tests/test_one.py"]


@pytest.mark.parametrize("name", ["Greet", "1st", "class", "signed_in", "a-b", "a.b", "../x", "x" * 61, ""])
def test_a_name_is_one_that_can_be_written(home: Path, name: str) -> None:
    """It is a function's and a module's, and a tool's that every client takes."""
    result = invoke(Flask("x", root_path=str(home)), "new", "tool", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{name!r}: a tool's name is a small letter and up to 59 of a-z, 0-9 and _" in " ".join(
        result.stderr.split()
    )
    assert written(home) == []


def test_a_tool_that_is_there_is_told(home: Path) -> None:
    """Two of one name would stop the app."""
    done = flask("mcp", "new", "tool", "taken", cwd=home)
    assert done.code == 1
    assert "the server 'default' has a tool 'taken' already: take another name, or mend that one." in done.err


def test_a_folder_that_cannot_be_written_is_told(home: Path) -> None:
    """As the system says it, and nothing is left behind."""
    (home / "file").write_text("")
    done = flask("mcp", "new", "tool", "one", "--tests", f"file{os.sep}below", cwd=home)
    assert done.code == 1
    assert "choose folders that can be written, with --to and --tests." in done.err
    assert written(home) == []
    assert not (home / "mcp_tools").exists()


def test_the_texts_use_no_name_that_a_tool_may_have() -> None:
    """A tool of such a name would take the place of what the text needs."""
    names = templates.Names("one", "mcp_tools.one")
    used: set[str] = set()
    for text in (templates.declaration(names), templates.test(names)):
        for statement in ast.parse(text).body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                used |= {alias.name for alias in statement.names}
            elif isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
                used.add(statement.name)
    might_be = {name for name in used if name.islower() and not name.startswith("test_")}
    assert might_be - {"one", "annotations"} == templates.TAKEN
