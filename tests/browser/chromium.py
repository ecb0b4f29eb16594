"""Headless Chromium, as Debian packages it: started, and told what WebDriver itself has no words for."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

ELSEWHERE = "http://blog.test"
"""A second address of the port that the browser is started for. It is plain http and not of this machine, as far as
the browser knows, so that its pages get what such pages get: no clipboard, for one."""

WAIT = 30.0


@contextmanager
def chromium(folder: Path, port: int) -> Iterator[Chrome]:
    """A browser with a profile of its own in a folder."""
    options = ChromeOptions()
    options.binary_location = _program("chromium")
    for option in (
        "--headless=new",
        "--no-sandbox",  # root may not have one
        "--disable-dev-shm-usage",  # /dev/shm is small in containers
        "--disable-background-networking",
        "--hide-scrollbars",
        f"--host-resolver-rules=MAP {ELSEWHERE.removeprefix('http://')} 127.0.0.1:{port}",
        f"--user-data-dir={folder / 'profile'}",
    ):
        options.add_argument(option)
    driver = Chrome(options, ChromeService(_program("chromedriver"), log_output=str(folder / "chromedriver.log")))
    try:
        driver.set_page_load_timeout(WAIT)
        driver.set_script_timeout(WAIT)
        yield driver
    finally:
        driver.quit()


def _program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"There is no {name} on this machine: apt-get install chromium chromium-driver."
    return found


def set_screen(driver: Chrome, width: int, height: int) -> None:
    """Show pages as a screen of this size does; a narrow one is a phone's."""
    screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)


def grant_clipboard(driver: Chrome, origin: str) -> None:
    """Let the pages of an origin read the clipboard without asking, and write to it as they may anyway."""
    permissions = ["clipboardReadWrite", "clipboardSanitizedWrite"]  # what is not named here is taken away
    driver.execute_cdp_cmd("Browser.grantPermissions", {"origin": origin, "permissions": permissions})


def complaints(driver: Chrome) -> list[str]:
    """What the browser had to say since it was asked last: failed scripts, refused loads."""
    entries = driver.get_log("browser")  # type: ignore[no-untyped-call]  # Selenium has typed the rest
    # Browsers ask every site for an icon, and the blog has none.
    return [str(entry["message"]) for entry in entries if "/favicon.ico" not in entry["message"]]


def screenshot(driver: Chrome) -> bytes:
    """What the screen shows, as a PNG."""
    return base64.b64decode(driver.get_screenshot_as_base64())
