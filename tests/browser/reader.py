"""Somebody who reads the example's pages in the browser. They find things by what is written on them, and wait for
what they expect to see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait

from example.first_start import DEMO_PASSWORDS

from ..blog import Blog
from .chromium import WAIT, grant_clipboard, set_screen

T = TypeVar("T")

CONTROLS = "main a, main button, main input, main select, main summary, main pre"


class Reader:
    """A browser in which nobody is signed in yet.

    :param origin: where the blog is read, if not at its own address on this machine.
    """

    def __init__(self, driver: Chrome, blog: Blog, origin: str | None = None) -> None:
        self.driver = driver
        self.here = f"http://127.0.0.1:{blog.port}"
        self.origin = origin or self.here
        set_screen(driver, 1280, 800)
        self.open("/sign-in")
        driver.delete_all_cookies()

    def open(self, path: str) -> None:
        """Type an address."""
        self.driver.get(self.origin + path)

    @property
    def path(self) -> str:
        """Where the browser is."""
        return self.driver.current_url.removeprefix(self.origin)

    @property
    def text(self) -> str:
        """What can be read on the page."""
        return self.driver.find_element(By.TAG_NAME, "main").text

    def sign_in(self, name: str) -> None:
        """Fill in the form that is shown."""
        self.control("Name").send_keys(name)
        self.control("Password").send_keys(DEMO_PASSWORDS[name])
        with self.another_page():
            self.control("Sign in").click()

    def make_token(self, name: str) -> str:
        """Have a token made, and read it."""
        self.control("What is it for?").send_keys(name)
        with self.another_page():
            self.control("Make a token").click()
        return self.driver.find_element(By.ID, "token").text

    def choose_client(self, client: str) -> None:
        """Choose a client in the list of them."""
        Select(self.control("Client")).select_by_visible_text(client)

    def copy(self, button: str) -> str:
        """Press a button that copies, wait for what it says, and look what is in the clipboard then."""
        found = self.control(button)
        found.click()
        said = found.find_element(By.XPATH, "following-sibling::*[@role='status']")
        self.wait(lambda: said.text == "Copied.")
        return self.clipboard()

    def clipboard(self) -> str:
        """What is in the clipboard, which only pages of this machine may read."""
        if self.origin != self.here:
            self.driver.get(f"{self.here}/sign-in")
        grant_clipboard(self.driver, self.here)
        read = "navigator.clipboard.readText().then(arguments[0], error => arguments[0](`${error}`))"
        return str(self.driver.execute_async_script(read))

    def controls(self) -> list[WebElement]:
        """Everything on the page that can be worked, and is shown."""
        shown = "return [...document.querySelectorAll(arguments[0])].filter(element => element.checkVisibility())"
        found: list[WebElement] = self.driver.execute_script(shown, CONTROLS)
        return found

    def control(self, name: str) -> WebElement:
        """The one control of this name, as a screen reader would say it."""
        # Versions of Chromium differ in the white space that they leave around a name.
        (found,) = [control for control in self.controls() if control.accessible_name.strip() == name]
        return found

    @contextmanager
    def another_page(self) -> Iterator[None]:
        """What is done here leads to another page: wait until it has come, whole."""
        before = self.driver.execute_script("return performance.timeOrigin")
        yield
        # The elements of a page that is just going away are no good to ask: the driver fails on them in several ways.
        is_whole = "return performance.timeOrigin !== arguments[0] && document.readyState === 'complete'"
        self.wait(lambda: self.driver.execute_script(is_whole, before))

    def wait(self, condition: Callable[[], T]) -> T:
        """Wait until something is so, and is not about to be another page's."""
        return WebDriverWait(self.driver, WAIT, ignored_exceptions=[WebDriverException]).until(lambda _: condition())
