"""The blog and the browser that the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome

from ..blog import Blog
from .chromium import chromium as started
from .reader import Reader


@pytest.fixture(scope="session")
def blog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Blog]:
    """The example over gunicorn, which logs every request that it gets and all that it knows of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GUNICORN_CMD_ARGS", "--access-logfile - --log-level debug")
        with Blog(tmp_path_factory.mktemp("blog")) as blog:
            yield blog


@pytest.fixture(scope="session")
def chromium(blog: Blog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """The browser; it needs Chromium and its driver."""
    with started(tmp_path_factory.mktemp("chromium"), blog.port) as driver:
        yield driver


@pytest.fixture
def reader(chromium: Chrome, blog: Blog) -> Reader:
    """Somebody at the browser, who has not signed in yet."""
    return Reader(chromium, blog)
