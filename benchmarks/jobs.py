"""What servers are asked to do, and how an answer is judged. Nothing is measured that was not judged right before."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import work

BOOKING = {"room": "north", "floor": 2, "seats": 12, "kind": "talk", "quiet": True}
FAULTY = {"room": 7, "floor": 99, "seats": "many", "kind": "war", "quiet": "perhaps"}


class WrongAnswer(Exception):
    """A server did not do the work, so that its time says nothing."""


class Job(NamedTuple):
    """Something to ask.

    :ivar name: what it is called in the table.
    :ivar method: the method of the protocol.
    :ivar params: its parameters.
    :ivar judge: raises `WrongAnswer` for a message that is not the right answer.
    """

    name: str
    method: str
    params: Mapping[str, Any]
    judge: Callable[[Mapping[str, Any]], None]

    @property
    def slug(self) -> str:
        """Its name where a path wants one."""
        return re.sub(r"[^a-z0-9]+", "-", self.name)


def _texts(message: Mapping[str, Any]) -> list[str]:
    return [block["text"] for block in message["result"]["content"]]


def _plain(structured: Any) -> Any:
    """Structured content without the object that older revisions put around what is none."""
    return structured["result"] if isinstance(structured, dict) and list(structured) == ["result"] else structured


def gives(expected: Any) -> Callable[[Mapping[str, Any]], None]:
    """A judge: the data as text and as structured content."""

    def judge(message: Mapping[str, Any]) -> None:
        result = message["result"]
        if result.get("isError") or _plain(result["structuredContent"]) != expected:
            raise WrongAnswer(f"not the data: {message!r:.400}")
        texts = _texts(message)
        # Some servers send the rows of a list as a block each.
        said = _plain(json.loads(texts[0])) if len(texts) == 1 else [json.loads(text) for text in texts]
        if said != expected:
            raise WrongAnswer(f"not the data as text: {message!r:.400}")

    return judge


def refuses(*words: str) -> Callable[[Mapping[str, Any]], None]:
    """A judge: a tool error that says all of these words."""

    def judge(message: Mapping[str, Any]) -> None:
        text = "\n".join(_texts(message))
        if not message["result"].get("isError") or not all(word in text for word in words):
            raise WrongAnswer(f"no refusal that says {words}: {message!r:.400}")

    return judge


def lists(count: int) -> Callable[[Mapping[str, Any]], None]:
    """A judge: a list of as many tools, in one page, each with a schema."""

    def judge(message: Mapping[str, Any]) -> None:
        result = message["result"]
        if len(result["tools"]) != count or "nextCursor" in result:
            raise WrongAnswer(f"{len(result['tools'])} tools in place of {count}")
        if not all(tool["inputSchema"]["type"] == "object" for tool in result["tools"]):
            raise WrongAnswer("a tool without a schema")

    return judge


def reads(text: str) -> Callable[[Mapping[str, Any]], None]:
    """A judge: the text of a resource."""

    def judge(message: Mapping[str, Any]) -> None:
        if [content["text"] for content in message["result"]["contents"]] != [text]:
            raise WrongAnswer(f"not the text: {message!r:.400}")

    return judge


def says(text: str) -> Callable[[Mapping[str, Any]], None]:
    """A judge: a result that is a text."""

    def judge(message: Mapping[str, Any]) -> None:
        if message["result"].get("isError") or _texts(message) != [text]:
            raise WrongAnswer(f"not the text: {message!r:.400}")

    return judge


def tool_call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a call."""
    return {"name": name, "arguments": arguments}


def taking(kilobytes: int) -> Job:
    """A call with an argument of this size."""
    text = "x" * (1000 * kilobytes)
    return Job(
        f"take {kilobytes} KB", "tools/call", tool_call("take_text", {"text": text}), gives(work.take_text(text))
    )


def giving(kilobytes: int) -> Job:
    """A call with a result of this size."""
    size = 1000 * kilobytes
    return Job(f"give {kilobytes} KB", "tools/call", tool_call("give_text", {"size": size}), says(work.give_text(size)))


def rows(count: int) -> Job:
    """A call with as many rows as arguments."""
    given = [work.POSTS[number % len(work.POSTS)] for number in range(count)]
    return Job(f"take {count} rows", "tools/call", tool_call("take_rows", {"rows": given}), gives({"count": count}))


def waiting(seconds: float) -> Job:
    """A call that waits."""
    data = {"waited": seconds}
    return Job(f"wait {seconds * 1000:g} ms", "tools/call", tool_call("wait", {"seconds": seconds}), gives(data))


def listing(count: int) -> Job:
    """The list of a server's tools."""
    return Job(f"tools/list, {count}", "tools/list", {}, lists(count))


ADD = Job("add", "tools/call", tool_call("add", {"a": 2, "b": 3}), gives(work.add(2, 3)))
LIST_POSTS = Job(
    "list_posts", "tools/call", tool_call("list_posts", {"limit": work.ROWS}), gives(work.posts(work.ROWS))
)
LIST_ROWS = Job("list_rows", "tools/call", tool_call("list_rows", {"limit": work.ROWS}), gives(work.posts(work.ROWS)))
BOOK = Job("book", "tools/call", tool_call("book", BOOKING), gives(work.booking("north", 2, 12, "talk", True)))
FAULTS = Job("five faults", "tools/call", tool_call("book", FAULTY), refuses("room", "floor", "seats", "kind", "quiet"))
REFUSED = Job("refused", "tools/call", tool_call("close", {"a": 2, "b": 3}), refuses("403"))
CLOSE = REFUSED._replace(name="admitted", judge=ADD.judge)
"""The same call by somebody who is signed in: whoever has no good credential is refused it."""
READ = Job("resources/read", "resources/read", {"uri": work.URI}, reads(work.TEXT))
HALF = listing(100)._replace(name="tools/list, 100 of 200")
JOBS = [ADD, LIST_POSTS, LIST_ROWS, BOOK, FAULTS, REFUSED, READ]
