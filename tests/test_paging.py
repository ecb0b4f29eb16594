"""Lists in pages: opted into, cut after the policies were asked, with cursors that only their own list takes."""

from __future__ import annotations

from typing import Any

import pytest

from flask_arandu_mcp import Request, Response, Server, public, tool

from .app import create_app, is_admin
from .wire import Wire, bearer


def numbered(n: int) -> Any:
    access = is_admin if n % 3 == 0 else public
    return tool(access=access, name=f"t{n}", description="Is one of many.")(lambda request: "")


TOOLS = [numbered(n) for n in range(10)]
FOR_ALL = [f"t{n}" for n in range(10) if n % 3]


def wire(size: int | None = 2, **options: Any) -> Wire:
    config = {} if size is None else {"MCP_PAGE_SIZE": size}
    return Wire(create_app(config, server=Server(name="test", tools=TOOLS, **options)))


def pages(wire: Wire, headers: Any = None) -> list[list[str]]:
    found, cursor = [], None
    while True:
        result = wire.call("tools/list", {"cursor": cursor} if cursor else {}, headers)
        found.append([entry["name"] for entry in result["tools"]])
        cursor = result.get("nextCursor")
        if cursor is None:
            return found


def test_a_list_is_one_page_unless_it_is_cut() -> None:
    """Without a page size there is one page, and no cursor is taken."""
    assert pages(wire(None)) == [FOR_ALL]


def test_pages_hold_what_the_caller_may_use() -> None:
    """Every page is full but the last, since the policies are asked before the list is cut."""
    assert pages(wire()) == [FOR_ALL[0:2], FOR_ALL[2:4], FOR_ALL[4:6]]
    assert pages(wire(), bearer("root")) == [[f"t{n}", f"t{n + 1}"] for n in range(0, 10, 2)]


def test_a04_a_cursor_of_another_caller_shows_nothing_more() -> None:
    """A cursor is a place and no permission: an admin's cursor gives a guest a guest's page."""
    first = wire().call("tools/list", {}, bearer("root"))
    page = wire().call("tools/list", {"cursor": first["nextCursor"]})
    assert [entry["name"] for entry in page["tools"]] == ["t2", "t4"]


@pytest.mark.parametrize("cursor", ["", "abc", 5, {}, [], "WyJ0ZXN0IiwidG9vbHMiLDJd"])
def test_a_cursor_that_was_not_handed_out_is_invalid(cursor: Any) -> None:
    """A cursor is signed, and bound to its server and its list."""
    answer = wire().post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": cursor}})
    assert answer.get_json()["error"]["code"] == -32602


def test_a_cursor_belongs_to_its_list_and_server() -> None:
    """Neither another list nor another server takes it, nor a list that is not cut any more."""
    cursor = wire().call("tools/list")["nextCursor"]
    for other in (
        Wire(create_app({"MCP_PAGE_SIZE": 2}, server=Server(name="other", tools=TOOLS))),
        wire(None),
    ):
        answer = other.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"cursor": cursor}})
        assert answer.get_json()["error"]["code"] == -32602


def test_an_app_without_a_key_has_pages_too() -> None:
    """A cursor grants nothing, so it needs no secret."""
    app = create_app({"MCP_PAGE_SIZE": 4, "SECRET_KEY": None}, server=Server(name="test", tools=TOOLS), login=False)
    assert pages(Wire(app)) == [FOR_ALL[0:4], FOR_ALL[4:6]]


def test_a_guard_sees_each_page() -> None:
    """The guard is shown what goes out, which is one page."""
    seen: list[int] = []

    def guard(request: Request, response: Response) -> None:
        assert isinstance(response.data, list)
        seen.append(len(response.data))

    assert pages(wire(recheck=True, guard=guard)) == [FOR_ALL[0:2], FOR_ALL[2:4], FOR_ALL[4:6]]
    assert seen == [2, 2, 2]


def test_a04_a_list_is_nobody_elses() -> None:
    """Two callers of one worker are each shown their own, at once after a change too, and no cache may mix them up."""
    served = wire(None)
    users = served.app.extensions["test_users"]
    assert pages(served, bearer("root")) == [[f"t{n}" for n in range(10)]]
    assert pages(served, bearer("bob")) == [FOR_ALL]
    users["bob"].admin = True
    assert pages(served, bearer("bob")) == [[f"t{n}" for n in range(10)]]
    users["root"].admin = False
    assert pages(served, bearer("root")) == [FOR_ALL]
    answer = served.modern("tools/list")
    assert answer.get_json()["result"]["cacheScope"] == "private"
    assert answer.headers["Cache-Control"] == "no-store"
