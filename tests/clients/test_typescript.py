"""MCP's TypeScript SDK as the client, both the packages that it is published in, over gunicorn with three workers and
over a real pipe. Its newest one speaks every revision; the older one is what most clients are still built upon."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flask_arandu_mcp.revisions import HANDSHAKE

from ..wire import MODERN
from .conftest import Shed

SPOKEN = [("client", revision) for revision in ("auto", MODERN, *HANDSHAKE)] + [("sdk", "2025-11-25")]
"""Which package speaks which revision; with `auto` it looks for the newest one that both know."""

ROWS = [{"progress": done, "total": 5, "message": f"row {done}"} for done in range(1, 6)]
WHAT = {
    "message": "What would you like to borrow?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
DAYS = {
    "message": "For how many days is the hoe?",
    "requestedSchema": {
        "type": "object",
        "properties": {"days": {"type": "integer", "minimum": 1}},
        "required": ["days"],
    },
}


class Conversations:
    """What each client was told, over each door; each is held once, for all the tests."""

    def __init__(self, shed: Shed) -> None:
        self._shed = shed
        self._held: dict[str, Any] = {}

    def held(self, sdk: str, revision: str, door: str) -> Any:
        """What a client was told."""
        key = f"{sdk}-{revision}-{door}"
        if key not in self._held:
            where = {"url": self._shed.url, "token": "token-bob"} if door == "http" else {"command": self._shed.command}
            self._held[key] = self._hold({"sdk": sdk, "revision": revision, "key": key, **where})
        return self._held[key]

    def _hold(self, what: dict[str, Any]) -> Any:
        command = ["node", str(Path(__file__).with_name("client.mjs")), json.dumps(what)]
        environment = self._shed.environment
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def conversations(shed: Shed) -> Conversations:
    return Conversations(shed)


@pytest.fixture(params=["http", "pipe"])
def door(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def told(conversations: Conversations, sdk: str, revision: str, door: str) -> Any:
    """What the client was told."""
    return conversations.held(sdk, revision, door)


def in_all_revisions(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test with each package, in each revision that it speaks."""
    marked: Callable[..., None] = pytest.mark.parametrize(("sdk", "revision"), SPOKEN)(test)
    return marked


def is_stateless(revision: str) -> bool:
    return revision in ("auto", MODERN)


def text(result: Any) -> str:
    """The text of a result that has nothing else to show."""
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


def refusal(result: Any) -> str:
    """What a tool says when it refuses."""
    assert result["isError"] is True
    assert "structuredContent" not in result
    return text(result)


# -------------------------------------------------------------------------------------------------- what is there


@in_all_revisions
def test_it_connects_in_its_revision(told: Any, revision: str, door: str) -> None:
    """The revision that the client is bound to is spoken, the newest one where it looks, and nothing is amiss."""
    whoami = json.loads(text(told["whoami"]))
    assert whoami["revision"] == (MODERN if is_stateless(revision) else revision)
    assert whoami["subject"] == ("bob" if door == "http" else "alice")
    assert told["era"] == ("modern" if is_stateless(revision) else "legacy")
    assert (told["server"]["name"], told["server"]["version"]) == ("shed", "1.0.0")
    assert set(told["offers"]) == {"tools", "resources", "prompts", "completions"}
    assert told["instructions"].endswith("Tools, lent.")
    assert told["faults"] == []


@in_all_revisions
def test_it_lists(told: Any) -> None:
    """All pages of every list reach the client; what its caller may not use is in none."""
    names = ["add", "items", "locate", "whoami", "fail", "count", "heard", "lend", "pay", "dig", "dug"]
    assert [tool["name"] for tool in told["tools"]] == names
    assert [resource["uri"] for resource in told["resources"]] == ["shed://rules", "shed://logo"]
    assert [template["uriTemplate"] for template in told["templates"]] == ["shed://tools/{name}"]
    assert [(prompt["name"], prompt["arguments"]) for prompt in told["prompts"]] == [
        ("advise", [{"name": "name", "required": True}])
    ]


# ------------------------------------------------------------------------------------------ calling, reading, getting


@in_all_revisions
def test_it_takes_structured_results(told: Any, revision: str) -> None:
    """Results pass the client's own validator of output schemas, in the shape that its revision has for them."""
    listed = [{"name": "hoe"}, {"name": "rake"}, {"name": "spade"}]
    items = listed if is_stateless(revision) else {"result": listed}
    assert json.loads(text(told["add"])) == {"sum": 5}
    assert json.loads(text(told["items"])) == items
    schemas = {tool["name"]: tool.get("outputSchema") for tool in told["tools"]}
    if is_stateless(revision) or revision >= "2025-06-18":
        assert (told["add"]["structuredContent"], told["items"]["structuredContent"]) == ({"sum": 5}, items)
        assert schemas["add"]["properties"] == {"sum": {"type": "integer"}}
        assert schemas["items"]["type"] == ("array" if is_stateless(revision) else "object")
    else:
        assert "structuredContent" not in {**told["add"], **told["items"]}
        assert set(schemas.values()) == {None}


@in_all_revisions
def test_it_repeats_an_argument_in_a_header(told: Any) -> None:
    """What the client of the stateless era repeats in a header, and how it writes it there, is what we compare with."""
    assert text(told["locate"]) == "in süd 7"


@in_all_revisions
def test_it_reads_gets_and_completes(told: Any) -> None:
    """A resource from a template, one of bytes, a prompt, and completions of both kinds."""
    assert told["read"]["contents"] == [{"uri": "shed://tools/hoe", "mimeType": "text/plain", "text": "A hoe."}]
    assert told["picture"]["contents"] == [{"uri": "shed://logo", "mimeType": "image/png", "blob": "iVBORw0K"}]
    assert [(message["role"], message["content"]["text"]) for message in told["got"]["messages"]] == [
        ("user", "How do I use a hoe?"),
        ("assistant", "With care."),
    ]
    assert told["completed"]["completion"]["values"] == ["spade"]
    assert told["completedUri"]["completion"]["values"] == ["hoe", "rake", "spade"]


@in_all_revisions
def test_it_sees_what_is_refused(told: Any, sdk: str, revision: str) -> None:
    """Failures, refusals and unfit arguments are results that say so; what there is not, errors of the protocol."""
    assert refusal(told["failed"]) == "The shed is locked."
    assert refusal(told["wiped"]) == "403 Forbidden: you may not use this."
    assert refusal(told["unfit"]) == "Invalid arguments:\n- b: Missing data for required field."
    assert told["unknown"]["code"] == -32602
    assert "Unknown tool: 'nothing'" in told["unknown"]["message"]
    # The newest package turns the older code into the newer one.
    assert told["missing"]["code"] == (-32002 if sdk == "sdk" else -32602)
    assert "Resource not found: 'shed://nothing'" in told["missing"]["message"]


@pytest.mark.parametrize("door", ["http"])
@in_all_revisions
def test_it_sees_that_its_token_is_not_good(told: Any, sdk: str) -> None:
    """A token that nobody has is 401 to the client, when it connects."""
    assert told["stranger"]["code" if sdk == "sdk" else "status"] == 401


@pytest.mark.parametrize("door", ["http"])
@in_all_revisions
def test_it_ends_its_session(told: Any, revision: str) -> None:
    """The client ends what it takes for a session, where it has one, and is content that there is none to end."""
    assert told.get("ended") == (None if is_stateless(revision) else "ended")


# ------------------------------------------------------------------------------------------------- talking handlers


@in_all_revisions
def test_it_hears_progress(told: Any) -> None:
    """Each step is heard before the answer, in order."""
    assert told["counted"]["progress"] == ROWS
    assert text(told["counted"]["result"]) == "counted"


@in_all_revisions
def test_it_is_asked(told: Any, revision: str) -> None:
    """The client answers two questions, the second made of the first's answer; a revision without questions is told."""
    if is_stateless(revision) or revision >= "2025-06-18":
        assert told["lent"]["questions"] == [WHAT, DAYS]
        assert text(told["lent"]["result"]) == "hoe, 3 days"
        assert "isError" not in told["lent"]["result"]
    else:
        assert told["lent"]["questions"] == []
        assert revision in refusal(told["lent"]["result"])


@in_all_revisions
def test_it_declines(told: Any, revision: str) -> None:
    """What the user does not want reaches the handler, at the first question and at the second."""
    if is_stateless(revision) or revision >= "2025-06-18":
        assert told["declined"]["questions"] == [WHAT]
        assert text(told["declined"]["result"]) == "The user said decline."
        assert told["dismissed"]["questions"] == [WHAT, DAYS]
        assert text(told["dismissed"]["result"]) == "The user said cancel in the end."
    else:
        assert told["declined"]["questions"] == told["dismissed"]["questions"] == []
        assert refusal(told["declined"]["result"]) == refusal(told["dismissed"]["result"])


@in_all_revisions
def test_it_is_asked_to_open_a_page(told: Any, revision: str) -> None:
    """The client is given the page by a revision that has pages; in an older one the handler is told."""
    if is_stateless(revision) or revision >= "2025-11-25":
        (question,) = told["paid"]["questions"]
        assert (question["mode"], question["url"]) == ("url", "https://shop.example/pay")
        assert text(told["paid"]["result"]) == "accept"
    else:
        assert told["paid"]["questions"] == []
        assert revision in refusal(told["paid"]["result"])


@in_all_revisions
def test_it_gives_a_call_up(told: Any) -> None:
    """A call that is aborted ends in the handler's `finally`, and is carried no further."""
    assert "enough" in told["cancelled"]["seen"]["message"]
    assert text(told["cancelled"]["then"]) == "ended"
    assert told["cancelled"]["faults"] == []
