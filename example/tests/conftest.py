"""What the blog's tests share: an app on its own data, its users, their assistants, and signed-in browsers. A test
works either inside an app context or through a browser, as one context would remember the user of the request before;
assistants are asked from outside of it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from example import accounts, create_app
from example.database import db
from example.first_start import DEMO_PASSWORDS
from example.models import User
from flask_arandu_mcp.testing import MCPClient


@pytest.fixture(scope="session")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An instance folder as the first start leaves it; tests work on copies, as seeding takes a moment."""
    folder = tmp_path_factory.mktemp("seeded")
    close(create_app({"INSTANCE_PATH": folder}))
    return folder


@pytest.fixture
def app(seeded: Path, tmp_path: Path) -> Iterator[Flask]:
    """The blog on data of this test's own."""
    folder = tmp_path / "instance"
    shutil.copytree(seeded, folder)
    app = create_app({"TESTING": True, "INSTANCE_PATH": folder})
    yield app
    close(app)


@pytest.fixture
def context(app: Flask) -> Iterator[None]:
    """An app context, for tests that call services and policies."""
    with app.app_context():
        yield


@pytest.fixture
def user(context: None) -> Callable[[str], User]:
    """Finds a user by name, inside the test's app context."""

    def find(name: str) -> User:
        found = accounts.user_by_name(name)
        assert found is not None
        return found

    return find


@pytest.fixture
def assistant_of(mcp_client: MCPClient, user: Callable[[str], User]) -> Callable[[str | None], MCPClient]:
    """Finds the assistant of a user by name, or of a guest."""
    return lambda name: mcp_client.acting_as(None if name is None else user(name))


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    """A browser in which nobody is signed in."""
    return app.test_client()


@pytest.fixture
def client_of(app: Flask) -> Callable[[str], FlaskClient]:
    """Makes a browser in which a user has signed in through the page."""

    def make(name: str) -> FlaskClient:
        client = app.test_client()
        answer = client.post("/sign-in", data={"name": name, "password": DEMO_PASSWORDS[name]})
        assert answer.status_code == 302
        return client

    return make


def close(app: Flask) -> None:
    """Close the app's connections to its database file."""
    with app.app_context():
        db.engine.dispose()
