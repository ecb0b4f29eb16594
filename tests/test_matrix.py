"""Everything that reaches a declaration, for everybody, in every way: what each may have goes out, and nothing else.
The cells are made of the declarations, and what each must answer is worked out beside them, from the rules alone."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import product
from typing import Any, NamedTuple

import pytest

from flask_arandu_mcp.methods.table import HANDSHAKE_METHODS, STATELESS_METHODS
from flask_arandu_mcp.state import states

from .matrix import CANARIES, NOWHERE, Answered, Asked, Http, Line, World, create_app, pipe, policies, requests
from .wire import call, modern, modern_headers

IDENTITIES = ("guest", "user", "other", "inactive", "deleted", "demoted", "gone")
"""`demoted` and `gone` are members who are demoted, or deleted, while their request is under way."""

ERAS = ("handshake", "stateless")
CREDENTIALS = ("cookie", "bearer", "both", "bad bearer", "none")
CHANGING = {"demoted", "gone"}
CELLS = 8428


class Cell(NamedTuple):
    """One way to ask."""

    policy: str
    recheck: bool
    era: str
    identity: str
    credentials: str
    asked: Asked

    @property
    def server(self) -> str:
        return f"{self.policy}-{self.recheck}"


class Verdict(enum.Enum):
    """What the rules say of somebody who asks."""

    ADMITTED = enum.auto()
    TOLD = enum.auto()
    CONCEALED = enum.auto()
    BROKEN = enum.auto()


REFUSING = {
    "signed_in": Verdict.TOLD,
    "False": Verdict.TOLD,
    "Forbidden": Verdict.TOLD,
    "NotFound": Verdict.CONCEALED,
    "raises": Verdict.BROKEN,
    "non-bool": Verdict.BROKEN,
}


# ------------------------------------------------------------------------------------------------- the cells


def is_possible(transport: str, identity: str, credentials: str, recheck: bool) -> bool:
    """Whether there is such a cell: by rules, so that none is left out by hand."""
    if transport == "pipe" and credentials != "none":
        return False  # a pipe has neither cookie nor token
    if transport == "http" and (identity == "guest") != (credentials == "none") and credentials != "bad bearer":
        return False  # a guest shows nothing, or nothing good; and who shows nothing is a guest
    # Where nobody changes meanwhile, asking again is asking twice.
    return recheck or identity in CHANGING


def cells(transport: str, policy: str, recheck: bool, asked: list[Asked]) -> Iterator[Cell]:
    """All the cells of one server, over one transport."""
    for era, identity, credentials, one in product(ERAS, IDENTITIES, CREDENTIALS, asked):
        if is_possible(transport, identity, credentials, recheck):
            yield Cell(policy, recheck, era, identity, credentials, one)


def message_of(cell: Cell, named: str = "qzname") -> tuple[Any, dict[str, str]]:
    """The message and the headers of a cell, or of one like it that leads nowhere."""
    params = json.loads(json.dumps(cell.asked.params).replace("qzname", named))
    if cell.era == "handshake":
        return call(cell.asked.method, params), {"MCP-Protocol-Version": "2025-11-25"}
    message = modern(cell.asked.method, params)
    return message, modern_headers(message)


# ------------------------------------------------------------------------------------------------- the rules


def is_known(cell: Cell) -> bool:
    """Whether the credentials are good: one that was presented and is not good is never a guest's."""
    return cell.identity != "deleted" and cell.credentials != "bad bearer"


def first(cell: Cell) -> Verdict:
    """What the policy says when the request comes in."""
    if cell.policy == "public" or cell.identity in {"user", *CHANGING}:
        return Verdict.ADMITTED
    if cell.policy == "signed_in" and cell.identity == "other":
        return Verdict.ADMITTED
    return REFUSING[cell.policy]  # to guests, an inactive user among them, and to who is no member


def second(cell: Cell) -> Verdict:
    """What it says before the answer goes out, where somebody had the time to change."""
    if first(cell) is not Verdict.ADMITTED or not cell.recheck or cell.identity not in CHANGING:
        return first(cell)
    if cell.identity == "gone":
        return Verdict.TOLD
    if cell.policy in {"public", "signed_in"}:
        return Verdict.ADMITTED
    # It had been carried out, so there is nothing to conceal any more.
    verdict = REFUSING[cell.policy]
    return Verdict.TOLD if verdict is Verdict.CONCEALED and not cell.asked.is_list else verdict


# ------------------------------------------------------------------------------------------------- the checks


def check(cell: Cell, world: World, answer: Answered, unknown: Answered | None) -> None:
    """Check the answer of a cell, what was entered for it, and that it tells nothing more."""
    known = is_known(cell)
    admitted = known and not cell.asked.is_list and first(cell) is Verdict.ADMITTED
    assert world.loaded == (admitted and cell.asked.loads)
    assert world.ran == (admitted and cell.asked.fits)
    if not known:
        unauthorized(cell, answer)
        silent(cell, answer)
        return
    assert answer.status in {0, 200}
    assert "Set-Cookie" not in answer.head
    verdict = first(cell) if not cell.asked.fits else second(cell)
    if verdict is not Verdict.ADMITTED:
        silent(cell, answer)
    if cell.asked.is_list:
        listed(cell, answer.json, verdict)
    elif verdict is Verdict.ADMITTED:
        served(cell, answer)
    elif verdict is Verdict.CONCEALED:
        assert unknown is not None
        assert answer.body.replace(b"qzname", NOWHERE.encode()) == unknown.body
        assert (answer.status, answer.head) == (unknown.status, unknown.head.replace(NOWHERE, "qzname"))
    else:
        refused(cell, answer.json, verdict)


def silent(cell: Cell, answer: Answered) -> None:
    """Nothing of what is refused is in the answer, but what the request itself had said."""
    said = json.dumps(cell.asked.params)
    for canary in CANARIES:
        if canary not in said:
            assert canary not in answer.head
            assert canary.encode() not in answer.body


def unauthorized(cell: Cell, answer: Answered) -> None:
    assert answer.json["error"]["code"] == 401
    assert answer.json["id"] == 1
    if answer.status:
        assert answer.status == 401
        assert ("invalid_token" in answer.head) == (cell.credentials != "cookie")
        assert "WWW-Authenticate: Bearer" in answer.head


def listed(cell: Cell, answer: Any, verdict: Verdict) -> None:
    if verdict is Verdict.BROKEN:
        assert answer["error"]["code"] == -32603
        assert set(answer["error"]["data"]) == {"ref"}
    elif verdict is Verdict.TOLD and cell.identity == "gone":
        assert answer["error"]["code"] == 403
    else:
        (entries,) = [value for value in answer["result"].values() if isinstance(value, list)]
        names = {entry["name"] for entry in entries}
        assert {name for name in names if name.startswith("open")}
        guarded = [entry for entry in entries if "qzname" in entry["name"]]
        assert bool(guarded) == (verdict is Verdict.ADMITTED)
        assert all(entry["title"] == "QZTITLE" and entry["description"] == "QZDESCRIPTION" for entry in guarded)


def served(cell: Cell, answer: Answered) -> None:
    text = answer.body.decode()
    if not cell.asked.fits:
        assert "qzfield: Missing data for required field." in text
    elif cell.asked.method == "completion/complete":
        assert answer.json["result"]["completion"]["values"] == ["QZVALUE"]
    else:
        assert "QZTEXT" in text
        assert "isError" not in answer.json["result"]


def refused(cell: Cell, answer: Any, verdict: Verdict) -> None:
    if cell.asked.method == "tools/call":
        assert answer["result"]["isError"] is True
        words = answer["result"]["content"][0]["text"]
    else:
        assert answer["error"]["code"] == 403
        assert ("data" in answer["error"]) == (verdict is Verdict.BROKEN)
        words = answer["error"]["message"]
    assert words.startswith("403 Forbidden: ")
    assert ("(ref " in words) == (verdict is Verdict.BROKEN)
    assert ("It had been carried out" in words) == (first(cell) is Verdict.ADMITTED)


# ------------------------------------------------------------------------------------------------- the run


class Doors:
    """Both ways in, and the world behind them."""

    def __init__(self, pipes: ExitStack) -> None:
        self.world = World()
        self.app = create_app(self.world)
        self._http = Http(self.app, self.world)
        self._pipes: dict[str, Line] = {name: pipes.enter_context(pipe(self.app, name)) for name in states(self.app)}

    def ask(self, transport: str, cell: Cell, named: str = "qzname") -> Answered:
        """Ask as a cell says, on a new day."""
        self.world.dawn(cell.identity)
        self.world.begin()
        message, headers = message_of(cell, named)
        who = "" if cell.identity == "guest" else cell.identity
        if transport == "pipe":
            self.world.local = who or None
            return self._pipes[cell.server].ask(message)
        # Beside a token the session is somebody else's: it must count for nothing.
        cookie = {"cookie": who, "both": "other" if who == "user" else "user", "bad bearer": who}
        token = {"bearer": who, "both": who, "bad bearer": "nobody"}
        shown = cookie.get(cell.credentials, ""), token.get(cell.credentials, "")
        return self._http.ask(cell.server, message, headers, *shown)


@pytest.fixture(scope="module")
def doors() -> Iterator[Doors]:
    with ExitStack() as pipes:
        yield Doors(pipes)


def asked_of(doors: Doors, server: str) -> list[Asked]:
    state = states(doors.app)[server]
    access = next(item.access for item in state.server.catalogue.tools.items if item.name == "qzname_plain")
    return list(requests(state.server, access))


def test_every_method_that_reaches_a_declaration_is_asked(doors: Doors) -> None:
    """A method that the protocol's table has and the matrix has not would go unseen."""
    asked = {one.method for one in asked_of(doors, "public-True")}
    for methods in (HANDSHAKE_METHODS, STATELESS_METHODS):
        assert asked == {name for name, method in methods.items() if method.capability not in {"", "logging"}}


def test_what_a_policy_says_holds_in_every_cell(doors: Doors) -> None:
    """In each cell the loader and the handler are entered exactly when they should be, and nothing of what is refused
    is in the answer."""
    checked = 0
    for transport, policy, recheck in product(("http", "pipe"), policies(doors.world), (True, False)):
        server = f"{policy}-{recheck}"
        for cell in cells(transport, policy, recheck, asked_of(doors, server)):
            answer = doors.ask(transport, cell)
            entered = doors.world.loaded, doors.world.ran
            conceals = is_known(cell) and not cell.asked.is_list and second(cell) is Verdict.CONCEALED
            unknown = doors.ask(transport, cell, NOWHERE) if conceals else None
            doors.world.loaded, doors.world.ran = entered
            try:
                check(cell, doors.world, answer, unknown)
            except AssertionError as error:
                error.add_note(f"{transport}, {cell}: {answer}")
                raise
            checked += 1
    print(f"\n{checked} cells checked")
    assert checked == CELLS
