"""The picture of the assistant's page in the documentation. `python -m tests.browser.picture` takes it anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

from selenium.webdriver import Chrome

from ..blog import Blog
from ..environs import ROOT
from .chromium import ELSEWHERE, chromium, screenshot, set_screen
from .reader import Reader

PICTURE = ROOT / "docs" / "pictures" / "assistant.png"
WIDTH, HEIGHT = 800, 1500


def take(driver: Chrome, blog: Blog) -> bytes:
    """The page as an editor sees it who has just made a token, as a PNG."""
    # At an address without a port, so that the picture shows none that is another one each time.
    reader = Reader(driver, blog, ELSEWHERE)
    reader.open("/assistant")
    reader.sign_in("eda")
    reader.make_token("Cursor on my laptop")
    reader.choose_client("Cursor")
    set_screen(driver, WIDTH, HEIGHT)
    driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
    return screenshot(driver)


def main() -> None:
    """Take the picture of a new blog."""
    with (
        tempfile.TemporaryDirectory() as name,
        Blog(Path(name) / "blog") as blog,
        chromium(Path(name), blog.port) as driver,
    ):
        PICTURE.write_bytes(take(driver, blog))
    print(f"{PICTURE}: {PICTURE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
