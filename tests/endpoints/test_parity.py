"""An API and its tools are one door: whoever asks, and whichever way, is refused the same, is given the same data, and
leaves the same rows behind."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from flask.testing import FlaskClient

from ..wire import Pipe, modern, modern_headers
from .shelf import USERS, create_app, db, seed

NEW = {"url": "https://example.org/new", "title": "New"}
TAKEN = {"url": "https://example.org/2", "title": "Again"}


class Operation(NamedTuple):
    """What the API can do, with the arguments that it is tried with."""

    tool: str
    method: str
    path: str
    query: tuple[str, ...]
    tries: Sequence[dict[str, Any]]


OPERATIONS = [
    Operation(
        "shelf_bookmarks_get",
        "GET",
        "/api/bookmarks",
        ("tag", "order", "page", "page_size"),
        [{}, {"tag": "trees"}, {"page": 2}, {"page": 9}, {"order": "title", "page_size": 3}, {"order": "owner"}],
    ),
    Operation("shelf_bookmarks_post", "POST", "/api/bookmarks", (), [NEW, TAKEN, {"title": "No URL"}, {}]),
    Operation("shelf_bookmarks_by_id_get", "GET", "/api/bookmarks/{id}", (), [{"id": n} for n in (1, 2, 4, 99)]),
    Operation(
        "shelf_bookmarks_by_id_put",
        "PUT",
        "/api/bookmarks/{id}",
        (),
        [{"id": 2, **NEW}, {"id": 3, **NEW}, {"id": 4, **NEW}, {"id": 2, "title": "Half"}],
    ),
    Operation(
        "shelf_bookmarks_by_id_patch",
        "PATCH",
        "/api/bookmarks/{id}",
        (),
        [{"id": 2, "title": "Other"}, {"id": 3, "tag": "x"}, {"id": 2, "title": ""}, {"id": 2}],
    ),
    Operation("shelf_bookmarks_by_id_delete", "DELETE", "/api/bookmarks/{id}", (), [{"id": n} for n in (1, 3, 4)]),
    Operation("shelf_share", "POST", "/api/bookmarks/{id}/share", (), [{"id": 2}, {"id": 3}, {"id": 99}]),
    Operation("shelf_tags", "GET", "/api/tags", (), [{}]),
    Operation(
        "shelf_rename_tag",
        "PUT",
        "/api/tags/{tag}",
        (),
        [{"tag": "trees", "name": "woods"}, {"tag": "none", "name": "x"}, {"tag": "trees", "name": ""}],
    ),
    Operation("shelf_numbers", "GET", "/api/numbers", (), [{}, {}, {}, {}]),
    Operation("shelf_me", "GET", "/api/me", (), [{}]),
    Operation(
        "shelf_batch",
        "POST",
        "/api/batch",
        (),
        [
            {"bookmarks": [NEW, {**NEW, "url": "https://example.org/newer"}]},
            {"bookmarks": [NEW, TAKEN]},
            {"bookmarks": []},
            {"bookmarks": [{"url": "no URL", "title": "x"}]},
        ],
    ),
]


class Outcome(NamedTuple):
    """What came of a call: a status where it is known, the JSON of the answer, and where to look further."""

    refused: bool
    data: Any
    location: Any
    pagination: Any


Transport = Callable[[Operation, dict[str, Any]], Outcome]


class Data:
    """The database file of one run."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "shelf.sqlite"
        self._seeded = folder / "seeded.sqlite"
        app = create_app(str(self._seeded))
        with app.app_context():
            seed()
            db.engine.dispose()

    def reset(self) -> None:
        shutil.copy(self._seeded, self.path)

    def rows(self) -> dict[str, list[Any]]:
        connection = sqlite3.connect(self.path)
        try:
            return {
                table: connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall()
                for table in ("user", "bookmark")
            }
        finally:
            connection.close()


def over_http(client: FlaskClient, token: str) -> Transport:
    """The API, as a page of the app asks it."""

    def ask(operation: Operation, arguments: dict[str, Any]) -> Outcome:
        rest = dict(arguments)
        path = operation.path
        for name in arguments:
            if f"{{{name}}}" in path:
                path = path.replace(f"{{{name}}}", str(rest.pop(name)))
        query = {name: rest.pop(name) for name in operation.query if name in rest}
        writes = operation.method in ("POST", "PUT", "PATCH") and operation.tool != "shelf_share"
        headers = {"X-CSRFToken": token}
        answer = client.open(
            path, method=operation.method, query_string=query, headers=headers, json=rest if writes else None
        )
        pagination = answer.headers.get("X-Pagination")
        return Outcome(
            answer.status_code >= 400,
            answer.get_json(silent=True) if answer.status_code != 204 else None,
            answer.headers.get("Location"),
            json.loads(pagination) if pagination else None,
        )

    return ask


def by_tool(send: Callable[[Any], Any]) -> Transport:
    """The tool, over either of its transports."""

    def ask(operation: Operation, arguments: dict[str, Any]) -> Outcome:
        result = send(modern("tools/call", {"name": operation.tool, "arguments": arguments}))["result"]
        meta = result.get("_meta", {})
        refused = bool(result.get("isError"))
        text = result["content"][0]["text"]
        data = None if text == "Done." else json.loads(text)
        return Outcome(refused, data, meta.get("Location"), meta.get("X-Pagination"))

    return ask


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("shelf"))


def browser(app: Flask, user: str) -> tuple[FlaskClient, str]:
    client = app.test_client()
    return client, client.get(f"/sign-in/{user}").get_json()["csrf"]


def posting(client: FlaskClient) -> Callable[[Any], Any]:
    """Sends a message to the server with a browser's session."""
    return lambda message: client.post("/mcp", json=message, headers=modern_headers(message)).get_json()


class Run(NamedTuple):
    """What came of all calls of a user by one transport: outcomes, and the rows after each."""

    outcomes: list[Outcome]
    rows: list[Any]


def run(data: Data, ask: Transport) -> Run:
    outcomes, rows = [], []
    for operation in OPERATIONS:
        for arguments in operation.tries:
            data.reset()
            outcomes.append(ask(operation, arguments))
            rows.append(data.rows())
    return Run(outcomes, rows)


@pytest.fixture(scope="module")
def runs(data: Data) -> dict[tuple[str, str], Run]:
    """Every operation with every try, by every user, in all three ways."""
    found: dict[tuple[str, str], Run] = {}
    for user in USERS:
        data.reset()
        client, token = browser(create_app(str(data.path)), user)
        found[user, "api"] = run(data, over_http(client, token))
        data.reset()
        client, _ = browser(create_app(str(data.path)), user)
        found[user, "http"] = run(data, by_tool(posting(client)))
        data.reset()
        env = {"SHELF_DATABASE": str(data.path), "SHELF_USER": user}
        with Pipe("tests.endpoints.shelf", env=env) as pipe:
            found[user, "pipe"] = run(data, by_tool(pipe.ask))
    return found


TRIES = [(operation, arguments) for operation in OPERATIONS for arguments in operation.tries]


def word(outcome: Outcome) -> str:
    return str(outcome.data["code"]) if outcome.refused else "ok"


def test_there_are_twelve_operations_and_four_users() -> None:
    """What is compared is all that the API can do, for a guest, an author, an editor and a user of another tenant."""
    app = create_app("unused.sqlite")
    served = app.extensions["arandu_mcp"]["default"].catalogue.tools.items
    assert {tool.name for tool in served} == {operation.tool for operation in OPERATIONS}
    assert (len(OPERATIONS), len(USERS)) == (12, 4)


@pytest.mark.parametrize("way", ["http", "pipe"])
@pytest.mark.parametrize("user", USERS)
def test_the_same_for_everybody(runs: dict[tuple[str, str], Run], user: str, way: str) -> None:
    """A tool refuses what the API refuses and answers what it answers, word for word, and the rows are the same."""
    api, tool = runs[user, "api"], runs[user, way]
    for at, (operation, arguments) in enumerate(TRIES):
        case = (operation.tool, arguments)
        assert (*case, tool.outcomes[at]) == (*case, api.outcomes[at])
        assert (*case, tool.rows[at]) == (*case, api.rows[at])


def test_the_comparison_compares(runs: dict[tuple[str, str], Run]) -> None:
    """Users differ in what they are refused, and calls in what they leave: nothing is equal because nothing happens."""
    words = {user: [word(outcome) for outcome in runs[user, "api"].outcomes] for user in USERS}
    assert len(set(map(tuple, words.values()))) == len(USERS)
    assert set().union(*words.values()) >= {"ok", "401", "403", "404", "409", "422", "429"}
    changed = {
        operation.tool
        for user in USERS
        for (operation, _), rows in zip(TRIES, runs[user, "api"].rows, strict=True)
        if rows != runs["guest", "api"].rows[0]
    }
    assert len(changed) == 7


def test_the_table(runs: dict[tuple[str, str], Run], capsys: pytest.CaptureFixture[str]) -> None:
    """The table of the comparison: for each operation and user what each try came to, the same in all three ways."""
    lines = [f"{'operation':<30}" + "".join(f"{user:<28}" for user in USERS)]
    at = 0
    for operation in OPERATIONS:
        cells = []
        for user in USERS:
            ways = [
                [word(outcome) for outcome in runs[user, way].outcomes[at : at + len(operation.tries)]]
                for way in ("api", "http", "pipe")
            ]
            assert ways[0] == ways[1] == ways[2]
            cells.append(" ".join(ways[0]))
        at += len(operation.tries)
        lines.append(f"{operation.tool:<30}" + "".join(f"{cell:<28}" for cell in cells))
    with capsys.disabled():
        print("\n" + "\n".join(lines))
    assert len(lines) == 13


def test_a_page_of_another_site_may_not_write(data: Data) -> None:
    """What the tools pass by a token of their own session still stops a page without one."""
    data.reset()
    client, _ = browser(create_app(str(data.path)), "ana")
    assert client.post("/api/bookmarks", json=NEW).status_code == 400
