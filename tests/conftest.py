"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from .app import calls, create_app
from .surface import summary
from .wire import Pipe, Wire

SYSTEM_FIXTURES = {"redis", "nginx", "chromium", "node_clients"}
"""Fixtures that start a program which Python's packages do not bring."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need such a program, so that the tests pass on a machine that has Python alone."""
    for item in items:
        if SYSTEM_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.system)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many of the server's messages the official types have judged."""
    terminalreporter.write_line(summary())


@pytest.fixture
def app() -> Flask:
    return create_app()


@pytest.fixture
def wire(app: Flask) -> Wire:
    return Wire(app)


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """Where the handlers of `talk` write what they did."""
    return tmp_path / "journal"


@pytest.fixture(autouse=True)
def _nothing_ran() -> Iterator[None]:
    calls.clear()
    yield
    calls.clear()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    with Pipe() as running:
        yield running
