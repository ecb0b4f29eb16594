"""What somebody gets who installs the package: Flask, Flask-Login, marshmallow and their own dependencies, and a wheel
that holds the package and nothing else."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import flask_arandu_mcp

ROOT = Path(__file__).parents[1]
NAME = "flask-arandu-mcp"
NEEDED = {"flask", "flask-login", "marshmallow"}
PACKAGE = ROOT / "flask_arandu_mcp"

LOADED = """
import json, sys
before = set(sys.modules)
{code}
print(json.dumps(sorted({{name.partition(".")[0] for name in set(sys.modules) - before}})))
"""


def canonical(name: str) -> str:
    """A distribution's name as an index spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required_by(distribution: str) -> set[str]:
    """What a distribution requires without any of its extras, where it is installed at all."""
    try:
        requirements = importlib.metadata.requires(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return set()  # required on another platform or an older Python only
    plain = [requirement for requirement in requirements if not re.search(r"\bextra\s*==", requirement)]
    return {canonical(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0]) for requirement in plain}


def closure(distributions: set[str]) -> set[str]:
    """Distributions with all that they require in turn."""
    found: set[str] = set()
    new = set(distributions)
    while new:
        found |= new
        new = {required for distribution in new for required in required_by(distribution)} - found
    return found


def loaded_by(code: str) -> set[str]:
    """The distributions whose modules a fresh interpreter has loaded after some code."""
    # A coverage run would follow into the interpreter and be counted with it.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", LOADED.format(code=code)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    homes = importlib.metadata.packages_distributions()
    foreign = set(json.loads(done.stdout)) - sys.stdlib_module_names - {"flask_arandu_mcp"}
    return {canonical(home) for module in foreign for home in homes.get(module, [module])}


def test_three_distributions_are_required() -> None:
    """A user who asks for no extra installs Flask, Flask-Login and marshmallow, and nothing else."""
    assert required_by(NAME) == NEEDED


def test_every_public_name_comes_with_those_three_alone() -> None:
    """Whatever is used of the package, no module is loaded beyond those of the three and of their own dependencies."""
    names = ", ".join(flask_arandu_mcp.__all__)
    loaded = loaded_by(f"from flask_arandu_mcp import {names}\nimport flask_arandu_mcp.cli")
    assert loaded >= NEEDED
    assert loaded - closure(NEEDED) == set()


def test_what_is_declared_needs_those_three_alone() -> None:
    """An app that declares, mounts and serves a tool loads nothing more either."""
    code = """
from flask import Flask
from marshmallow import fields
from flask_arandu_mcp import ArandoMCP, Server, public, tool

@tool(access=public, arguments={"a": fields.Integer(required=True)})
def double(request, a):
    "Doubles."
    return {"result": a * 2}

app = Flask("app")
ArandoMCP(app, Server(name="s", version="1", tools=[double]))
call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "double", "arguments": {"a": 2}}}
answer = app.test_client().post("/mcp", json=call, headers={"MCP-Protocol-Version": "2025-11-25"})
assert answer.json["result"]["structuredContent"] == {"result": 4}
"""
    assert loaded_by(code) - closure(NEEDED) == set()


def test_the_entry_point_adds_click_alone() -> None:
    """Every `flask` command imports what `flask mcp` is entered through, and that imports nothing but click."""
    (entry,) = importlib.metadata.entry_points(group="flask.commands", name="mcp")
    assert entry.value == "flask_arandu_mcp.cli:mcp"
    assert loaded_by("import flask_arandu_mcp.cli") == {"click"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[zipfile.ZipFile]:
    """The wheel as a build makes it, through the hook that pip calls."""
    folder = tmp_path_factory.mktemp("wheel")
    code = "import sys; from flit_core.buildapi import build_wheel; build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, check=True)
    (built,) = folder.iterdir()
    with zipfile.ZipFile(built) as wheel:
        yield wheel


def test_the_wheel_holds_the_package_alone(wheel: zipfile.ZipFile) -> None:
    """Every module and the marker of its types is in the wheel; tests, example and settings are not."""
    files = {name for name in wheel.namelist() if not name.endswith("/")}
    about = {name for name in files if name.startswith("flask_arandu_mcp-")}
    sources = {str(path.relative_to(ROOT)) for path in PACKAGE.rglob("*.py")}
    assert files - about == sources | {"flask_arandu_mcp/py.typed"}
    assert {name.partition("/")[2] for name in about} >= {"METADATA", "entry_points.txt", "licenses/LICENSE"}


def test_the_wheel_says_what_it_needs(wheel: zipfile.ZipFile) -> None:
    """The metadata that an installer reads names the three, with the versions that are tested, and the Python."""
    (metadata,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    lines = wheel.read(metadata).decode().splitlines()
    required = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    plain = {line.replace(" ", "") for line in required if "extra ==" not in line}
    assert plain == {"flask>=3.1", "flask-login>=0.6.3", "marshmallow>=3.20,<5"}
    assert "Requires-Python: >=3.11" in lines


def test_the_import_time_can_be_measured() -> None:
    """The measurement that the project's figures come from runs, and reports a line for each of its cases."""
    command = [sys.executable, "benchmarks/import_time.py", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    head, *lines = done.stdout.splitlines()
    assert head.startswith("Python 3.")
    assert len(lines) == 4
    assert all(re.match(r" +\d+\.\d +\d+\.\d  \S", line) for line in lines)
