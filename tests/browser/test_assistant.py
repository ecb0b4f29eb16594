"""The page of a user's assistant, used by hand: what it gives out is used for real, at the server that gave it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from example.clients import blocks

from ..blog import Blog
from .chromium import ELSEWHERE, complaints, set_screen
from .picture import HEIGHT, PICTURE, WIDTH, take
from .reader import Reader

WHOAMI = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "whoami", "arguments": {}}}
CLIENTS = ["Claude Desktop", "Claude Code", "VS Code", "Cursor", "Codex", "MCP Inspector"]
PHONE = (390, 844)


def ask(blog: Blog, configured: dict[str, Any]) -> tuple[int, str]:
    """What the server answers to a client that was configured so."""
    assert configured["url"] == blog.url
    headers = {"Content-Type": "application/json", **configured["headers"]}
    status, _, body = blog.request("POST", "/mcp", json.dumps(WHOAMI).encode(), headers)
    return status, body.decode()


@pytest.fixture
def ana(reader: Reader) -> Reader:
    """Ana, at her assistant's page."""
    reader.open("/assistant")
    reader.sign_in("ana")
    return reader


def test_from_signing_in_to_revoking(reader: Reader, blog: Blog) -> None:
    """A guest signs in, sees their tools, makes a token, copies a block that works, and revokes it: 401."""
    reader.open("/assistant")
    assert reader.path == "/sign-in?next=/assistant"
    assert "Please sign in first." in reader.text
    reader.sign_in("ana")
    assert reader.path == "/assistant"
    assert "Ana Duarte (ana), author on this blog" in reader.text
    assert "delete_post may delete or overwrite\nDeletes one post for good." in reader.text
    assert "blog_statistics" not in reader.text

    token = reader.make_token("Cursor at home")
    assert reader.path == "/assistant"
    reader.choose_client("Cursor")
    configured = json.loads(reader.copy("Copy for Cursor"))["mcpServers"]["blog"]
    assert configured["headers"] == {"Authorization": f"Bearer {token}"}
    status, said = ask(blog, configured)
    assert (status, "You act as Ana Duarte (ana)" in said) == (200, True)

    with reader.another_page():
        reader.control("Revoke “Cursor at home”").click()
    assert "“Cursor at home” is revoked." in reader.text
    assert ask(blog, configured)[0] == 401

    log = blog.log.read_text()
    assert "POST /assistant HTTP/1.1" in log
    assert token not in log


def test_an_editor_sees_the_editors_tool(reader: Reader) -> None:
    """What only editors may do is on an editor's page."""
    reader.open("/assistant")
    reader.sign_in("eda")
    assert "Eda Lindqvist (eda), editor on this blog" in reader.text
    assert "blog_statistics only reads\nCounts all posts" in reader.text


def test_every_block_is_copied_as_it_stands(ana: Reader, blog: Blog) -> None:
    """The list chooses which block is shown, and its button copies exactly that."""
    token = ana.make_token("every client")
    copied = {}
    for client in CLIENTS:
        ana.choose_client(client)
        shown = [block for block in ana.driver.find_elements(By.CLASS_NAME, "block") if block.is_displayed()]
        assert [block.text.split(".")[0] for block in shown] == [client]
        copied[client] = ana.copy(f"Copy for {client}")
    assert copied == {block.client: block.text for block in blocks("blog", blog.url, token)}
    assert ana.copy("Copy the token") == token


def test_copying_where_the_browser_gives_no_clipboard(chromium: Chrome, blog: Blog) -> None:
    """On plain http of another machine the buttons copy too, the older way."""
    reader = Reader(chromium, blog, ELSEWHERE)
    reader.open("/assistant")
    reader.sign_in("ana")
    token = reader.make_token("plain http")
    assert chromium.execute_script("return navigator.clipboard === undefined")
    assert reader.copy("Copy the token") == token


def test_the_keyboard_is_enough(ana: Reader) -> None:
    """A token is made and a block is copied without a mouse, and the focus leads from one to the other."""

    def press(*keys: str) -> None:
        ActionChains(ana.driver).send_keys(*keys).perform()

    def focused() -> str:
        return ana.driver.switch_to.active_element.accessible_name

    ana.control("What is it for?").send_keys("by hand")
    with ana.another_page():
        press(Keys.ENTER)
    assert ana.driver.switch_to.active_element.text.startswith("Your new token “by hand”, shown this once.")
    way: list[str] = []
    while not way or way[-1] != "Client":
        press(Keys.TAB)
        way.append(focused())
    assert way[:3] == ["Copy the token", "What is it for?", "Make a token"]
    assert "Revoke “by hand”" in way[3:]
    press("C", "u")
    ana.wait(lambda: ana.control("Copy for Cursor"))
    press(Keys.TAB)
    assert focused() == "The block for Cursor"
    press(Keys.TAB)
    assert focused() == "Copy for Cursor"
    press(Keys.ENTER)
    ana.wait(lambda: "Copied." in ana.text)
    assert '"mcpServers"' in ana.clipboard()


def test_everything_that_can_be_worked_has_a_name(ana: Reader) -> None:
    """A screen reader has something to say of each control, and a name is another one's only where both do the same."""
    ana.make_token("to be read")
    names = [control.accessible_name for control in ana.controls() if control.tag_name != "summary"]
    assert all(names)
    assert len(names) == len(set(names))


def test_it_fits_a_phone(ana: Reader) -> None:
    """On a phone nothing sticks out, with every list open, and fingers find what they are to hit (WCAG 2.2, 2.5.8)."""
    set_screen(ana.driver, *PHONE)
    ana.make_token("on the phone, and with a longer name")
    for summary in ana.driver.find_elements(By.TAG_NAME, "summary"):
        summary.click()
    assert ana.driver.execute_script("return document.documentElement.scrollWidth") == PHONE[0]
    assert min(control.size["height"] for control in ana.controls()) >= 24


def test_it_works_without_scripts(ana: Reader) -> None:
    """Where no script runs, all blocks are there to be copied by hand, and no button promises more than it does."""
    ana.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        token = ana.make_token("no scripts")
        text = ana.text
    finally:
        ana.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    assert [client for client in CLIENTS if f"{client}. " in text] == CLIENTS
    assert text.count(token) == 1 + len(CLIENTS)
    assert "Copy" not in text


def test_the_page_breaks_none_of_its_own_rules(ana: Reader) -> None:
    """The page needs nothing that its Content-Security-Policy refuses, nothing from elsewhere, and no script fails."""
    complaints(ana.driver)
    ana.make_token("by the rules")
    ana.copy("Copy the token")
    assert complaints(ana.driver) == []
    fetched = ana.driver.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert {name.rpartition("/")[2] for name in fetched if "favicon" not in name} == {"style.css", "assistant.js"}
    assert all(name.startswith(ana.here) for name in fetched)


def test_the_picture_can_be_taken_anew(chromium: Chrome, blog: Blog) -> None:
    """The picture in the documentation is such as `python -m tests.browser.picture` takes, and no burden to load."""
    for png in (take(chromium, blog), PICTURE.read_bytes()):
        assert png.startswith(b"\x89PNG")
        assert (int.from_bytes(png[16:20]), int.from_bytes(png[20:24])) == (WIDTH, HEIGHT)
        assert len(png) < 200_000
