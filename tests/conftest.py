"""Fixtures that several test modules share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from .app import calls, create_app
from .wire import Pipe, Wire


@pytest.fixture
def app() -> Flask:
    return create_app()


@pytest.fixture
def wire(app: Flask) -> Wire:
    return Wire(app)


@pytest.fixture(autouse=True)
def _nothing_ran() -> Iterator[None]:
    calls.clear()
    yield
    calls.clear()


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    with Pipe() as running:
        yield running
