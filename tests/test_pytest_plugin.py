"""The fixture that every project gets which has the package and pytest: it costs nothing until it is asked for."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

from flask_arandu_mcp.testing import MCPClient

from .snippets import run
from .test_installed import loaded_by

PROJECT = """
import pytest
from flask import Flask
from flask_arandu_mcp import ArandoMCP, Request, Server, public, tool

@tool(access=public)
def greet(request: Request) -> str:
    "Greets."
    return "Hello."

@pytest.fixture
def app():
    app = Flask("project")
    ArandoMCP(app, Server("s", tools=[greet]))
    return app
"""
TEST = """
def test_greet(mcp_client):
    assert mcp_client.call("greet").assert_ok().text == "Hello."
"""


def run_tests(folder: Path, *options: str) -> str:
    """What pytest prints of a project's tests, passed or not."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONWARNINGS": "error"}, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_here_too(app: Flask, mcp_client: MCPClient) -> None:
    """The fixture is a client of the fixture `app`: a guest's, which makes others."""
    assert mcp_client.app is app
    assert mcp_client.call("whoami").data["subject"] is None
    bob = mcp_client.acting_as(app.extensions["test_users"]["bob"])
    assert bob.call("whoami").data["subject"] == "bob"


def test_a_project_has_it(tmp_path: Path) -> None:
    """A project that has a fixture `app` writes nothing more."""
    (tmp_path / "conftest.py").write_text(PROJECT)
    (tmp_path / "test_it.py").write_text(TEST)
    assert "1 passed" in run(tmp_path, "-m", "pytest", "-p", "no:cacheprovider")


def test_a_project_without_an_app(tmp_path: Path) -> None:
    """Says which fixture is missing, and what else can be done; the traceback of the plugin is of no use."""
    (tmp_path / "test_it.py").write_text(TEST)
    told = run_tests(tmp_path)
    assert "The fixture 'mcp_client' needs a fixture 'app' that returns your Flask app, and there is none" in told
    assert "flask_arandu_mcp.testing.MCPClient(app)" in told
    assert "pytest_plugin.py" not in told


def test_what_the_fixture_of_the_app_lacks_is_not_said_of_the_app(tmp_path: Path) -> None:
    """A fixture `app` that wants another one which is missing is told of as pytest tells it."""
    (tmp_path / "conftest.py").write_text("import pytest\n\n@pytest.fixture\ndef app(database):\n    return None\n")
    (tmp_path / "test_it.py").write_text(TEST)
    assert "fixture 'database' not found" in run_tests(tmp_path)


def test_a_project_may_have_its_own(tmp_path: Path) -> None:
    """A fixture of the same name in the project's conftest.py stands in the place of this one."""
    (tmp_path / "conftest.py").write_text('import pytest\n\n@pytest.fixture\ndef mcp_client():\n    return "own"\n')
    (tmp_path / "test_it.py").write_text("def test_it(mcp_client):\n    assert mcp_client == 'own'\n")
    assert "1 passed" in run(tmp_path, "-m", "pytest", "-p", "no:cacheprovider")


def test_it_is_found_by_pytest() -> None:
    """The entry point is this module."""
    (entry,) = importlib.metadata.entry_points(group="pytest11", name="arandu_mcp")
    assert entry.value == "flask_arandu_mcp.pytest_plugin"


def test_it_costs_nothing_until_it_is_asked_for(tmp_path: Path) -> None:
    """pytest loads it in every project, so it loads neither Flask nor any other room of the package."""
    assert loaded_by("import pytest\nimport flask_arandu_mcp.pytest_plugin") == loaded_by("import pytest")
    (tmp_path / "test_it.py").write_text(
        "import sys\n\ndef test_it():\n"
        "    loaded = {name for name in sys.modules if name.split('.')[0] in ('flask', 'flask_arandu_mcp')}\n"
        "    assert loaded == {'flask_arandu_mcp', 'flask_arandu_mcp.pytest_plugin'}\n"
    )
    assert "1 passed" in run(tmp_path, "-m", "pytest", "-p", "no:cacheprovider")


def test_a_failure_shows_the_line_of_the_test(tmp_path: Path) -> None:
    """pytest shows the test's own line and the sentence, and below no line of this package; above, what broke."""
    (tmp_path / "conftest.py").write_text(PROJECT.replace('return "Hello."', 'raise RuntimeError("no bread")'))
    (tmp_path / "test_it.py").write_text(TEST)
    told = run_tests(tmp_path)
    assert "RuntimeError: no bread" in told
    assert 'raise RuntimeError("no bread")' in told
    assert "The above exception was the direct cause of the following exception" in told
    after = told.split("The above exception was the direct cause of the following exception")[1]
    assert 'assert mcp_client.call("greet").assert_ok()' in after
    assert "results.py" not in after
    assert "call('greet') as a guest should have been answered, and was an error:" in after


@pytest.mark.parametrize("pushed", ["app.app_context()", "app.test_request_context()"])
def test_a_context_that_another_plugin_pushes(tmp_path: Path, pushed: str) -> None:
    """A plugin that holds a context open around each test, as some do, is in nobody's way."""
    own = f"\n@pytest.fixture(autouse=True)\ndef _pushed(app):\n    with {pushed}:\n        yield\n"
    (tmp_path / "conftest.py").write_text(PROJECT + own)
    (tmp_path / "test_it.py").write_text(TEST)
    assert "1 passed" in run(tmp_path, "-m", "pytest", "-p", "no:cacheprovider")
