"""What a declaration may say of itself in lists: titles, icons, hints, `_meta`, sizes; and how long a read keeps."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask, current_app, has_app_context
from marshmallow import fields

from flask_arandu_mcp import (
    ArandoMCP,
    Audio,
    DeclarationError,
    Icon,
    Message,
    Request,
    ResourceLink,
    Response,
    Server,
    Text,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

from .app import create_app
from .wire import Wire

ICON = Icon("https://x.example/i.png", mime_type="image/png", sizes=("48x48",), theme="dark")
REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


@tool(
    access=public,
    title="Adorned",
    icons=[ICON],
    meta={"com.example/group": "a"},
    read_only=True,
    destructive=False,
    idempotent=True,
    open_world=False,
)
def adorned(request: Request) -> Response:
    """Has everything."""
    return Response(
        Text("for people").annotated(audience=["user"], priority=0.5, last_modified="2026-01-01T00:00:00Z"),
        Audio(b"\x00", "audio/wav"),
        ResourceLink("a:b", "page"),
        meta={"com.example/total": 3},
    )


@tool(access=public)
def counted(request: Request) -> Response:
    """Gives data, and says more of it to the client."""
    return Response.json([1], meta={"com.example/total": 3})


@resource(
    "a:b",
    access=public,
    title="Page",
    size=7,
    icons=[ICON],
    annotations={"audience": ["assistant"], "priority": 1},
    cache="public",
    ttl=1.5,
)
def page(request: Request) -> str:
    """A page."""
    return "content"


@prompt(access=public, title="Words", icons=[ICON], arguments={"x": fields.String(metadata={"title": "X"})})
def words(request: Request, x: str = "") -> list[Message]:
    """Words."""
    return [Message.user(Audio(b"\x00", "audio/wav")), Message.assistant(ResourceLink("a:b", "page"))]


def wire(**config: Any) -> Wire:
    server = Server(name="test", tools=[adorned, counted], resources=[page], prompts=[words])
    return Wire(create_app(config, server=server))


@pytest.mark.parametrize("version", REVISIONS)
def test_a_revision_is_told_what_it_knows(version: str) -> None:
    """Titles, `_meta` and icons are left out where the revision has no place for them."""
    headers = {"MCP-Protocol-Version": version}
    entry = wire().call("tools/list", headers=headers)["tools"][0]
    assert ("title" in entry) == ("_meta" in entry) == (version >= "2025-06-18")
    assert ("icons" in entry) == (version >= "2025-11-25")
    assert ("annotations" in entry) == (version >= "2025-03-26")
    of_page = wire().call("resources/list", headers=headers)["resources"][0]
    assert ("icons" in of_page) == (version >= "2025-11-25")
    assert of_page["size"] == 7
    of_words = wire().call("prompts/list", headers=headers)["prompts"][0]
    assert ("title" in of_words) == ("title" in of_words["arguments"][0]) == (version >= "2025-06-18")


def test_the_newest_revision_is_told_everything() -> None:
    """Each word of an author's is spelt as the protocol has it."""
    entry = wire().modern("tools/list").get_json()["result"]["tools"][0]
    assert entry["title"] == "Adorned"
    assert entry["_meta"] == {"com.example/group": "a"}
    assert entry["icons"] == [
        {"src": "https://x.example/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    ]
    assert entry["annotations"] == {
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    of_page = wire().modern("resources/list").get_json()["result"]["resources"][0]
    assert of_page["annotations"] == {"audience": ["assistant"], "priority": 1}


@pytest.mark.parametrize("version", REVISIONS)
def test_blocks_that_a_revision_does_not_know_are_said_in_text(version: str) -> None:
    """An older client gets words in place of a sound or a link, in tools and prompts alike."""
    headers = {"MCP-Protocol-Version": version}
    blocks = wire().call("tools/call", {"name": "adorned"}, headers)["content"]
    assert blocks[0]["annotations"] == {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z"}
    kinds = [block["type"] for block in blocks]
    audio, link = version >= "2025-03-26", version >= "2025-06-18"
    assert kinds == ["text", "audio" if audio else "text", "resource_link" if link else "text"]
    messages = wire().call("prompts/get", {"name": "words"}, headers)["messages"]
    assert [message["content"]["type"] for message in messages] == kinds[1:]
    if not link:
        assert messages[1]["content"] == {"type": "text", "text": "page: a:b"}


def test_a_result_may_have_meta() -> None:
    """What a handler says of its result to the client goes beside it, and beside what the era adds."""
    assert wire().call("tools/call", {"name": "adorned"})["_meta"] == {"com.example/total": 3}
    meta = wire().modern("tools/call", {"name": "counted"}).get_json()["result"]["_meta"]
    assert meta["com.example/total"] == 3
    assert meta["io.modelcontextprotocol/serverInfo"]["name"] == "test"


class Lazy:
    """A title in the language of the app's config."""

    def __str__(self) -> str:
        return f"Shop in {current_app.config['LANGUAGE']}" if has_app_context() else "Shop"


def test_a_title_is_translated_for_each_answer() -> None:
    """A lazily translated title of the server is told in the language of the moment."""

    @tool(access=public)
    def one(request: Request) -> str:
        """Answers one."""
        return "1"

    app = Flask("translated")
    ArandoMCP(app, Server("s", title=Lazy(), tools=[one]))
    titles = []
    for language in ("Guarani", "Tupi"):
        app.config["LANGUAGE"] = language
        meta = Wire(app).modern("tools/call", {"name": "one"}).get_json()["result"]["_meta"]
        titles.append(meta["io.modelcontextprotocol/serverInfo"]["title"])
    assert titles == ["Shop in Guarani", "Shop in Tupi"]


def test_a_read_says_how_long_it_keeps() -> None:
    """`ttl` and `cache` go out with the contents, and are private where guests are not served."""
    read = wire().modern("resources/read", {"uri": "a:b"}).get_json()["result"]
    assert (read["ttlMs"], read["cacheScope"]) == (1500, "public")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cache": "public", "access": signed_in}, "share what its policy keeps apart"),
        ({"cache": "shared", "access": public}, "must be 'private' or 'public'"),
        ({"ttl": -1, "access": public}, "must be a number of seconds"),
        ({"ttl": True, "access": public}, "must be a number of seconds"),
    ],
)
def test_what_cannot_be_shared_is_not_declared_so(options: Any, says: str) -> None:
    """A shared answer is the same for everybody, and a time is one."""
    declared = resource("a:b", name="r", description="D.", **options)(lambda request: "")
    with pytest.raises(DeclarationError, match=says):
        Server(name="test", resources=[declared]).validate()


def test_a_guarded_resource_is_not_shared() -> None:
    """What a guard decides for each caller is not the same for everybody."""
    declared = resource("a:b", name="r", description="D.", access=public, cache="public")(lambda request: "")
    with pytest.raises(DeclarationError, match="a guard decides"):
        Server(name="test", resources=[declared], recheck=True, guard=lambda request, response: None).validate()
