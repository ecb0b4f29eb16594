"""The official Python client on the example, in both eras, over gunicorn with two workers and over a real pipe. What
each caller may list, call, read and get is what the blog's policies say, and plain sessions of older revisions work."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent, TextResourceContents

from flask_arandu_mcp.revisions import HANDSHAKE

from .blog import Blog
from .environs import ROOT
from .wire import MODERN, call

READING = ["list_posts", "search_posts", "get_post", "list_tags", "whoami"]
WRITING = ["create_draft", "edit_post", "publish_post", "delete_post"]
PUBLISHED, DRAFT = "why-we-share-one-plot", "what-the-new-fence-will-cost"  # both ana's
NOT_SIGNED_IN = "403 Forbidden: sign in to use this."
NOT_ADMITTED = "403 Forbidden: you may not use this."
HIDDEN = '{"error":"Not Found","message":"There is no such post."}'
NOT_YOURS = '{"error":"Forbidden","message":"Only its author or an editor may change this post."}'

OF_ANA = ["seed-swap-the-list", DRAFT, "beans-around-the-hive"]
OF_BEN = ["moving-a-beehive-three-metres", "a-hive-we-lost"]
OF_EDA = ["house-rules-second-version"]
OF_THE_ASSISTANT = ["answers-to-readers-questions"]


class Person(NamedTuple):
    """Who calls, and what the blog's policies let them see."""

    name: str | None
    says: str
    drafts: list[str]
    bees: int
    editor: bool = False

    @property
    def tools(self) -> list[str]:
        return READING + (WRITING if self.name else []) + (["blog_statistics"] if self.editor else [])

    @property
    def signed_in(self) -> bool:
        return self.name is not None


GUEST = Person(None, "You act as a guest, who may read what is published.", [], 4)
ANA = Person("ana", "You act as Ana Duarte (ana), author on this blog.", OF_ANA, 5)
BEN = Person("ben", "You act as Ben Okafor (ben), author on this blog.", OF_BEN, 6)
EVERY_DRAFT = OF_THE_ASSISTANT + OF_EDA + OF_BEN + OF_ANA
EDA = Person("eda", "You act as Eda Lindqvist (eda), editor on this blog.", EVERY_DRAFT, 7, editor=True)
LOCAL = Person("assistant", "You act as The assistant (assistant), author on this blog.", OF_THE_ASSISTANT, 4)
PEOPLE = [GUEST, ANA, BEN, EDA, LOCAL]

Talk = Callable[[Client], Awaitable[None]]


class Doors:
    """The blog's two doors, and the official client at them."""

    def __init__(self, blog: Blog) -> None:
        self.blog = blog
        self.tokens = {name: blog.token(name) for name in ("ana", "ben", "eda")}

    def converse(self, person: Person, mode: str, talk: Talk) -> None:
        """Let a person's client talk: the local subject's over the pipe, everyone else's over HTTP."""

        async def run() -> None:
            async with self._connected(person, mode) as client:
                await talk(client)

        asyncio.run(run())

    @asynccontextmanager
    async def _connected(self, person: Person, mode: str) -> AsyncIterator[Client]:
        if person is LOCAL:
            command = ["-m", "flask", "--app", "example", "mcp", "start"]
            environment = self.blog.pipe_environment()
            pipe = StdioServerParameters(command=sys.executable, args=command, env=environment, cwd=ROOT)
            async with Client(pipe, mode=mode) as client:
                yield client
        elif person.name is None:
            async with Client(self.blog.url, mode=mode) as client:
                yield client
        else:
            async with self.bearing(self.tokens[person.name], mode) as client:
                yield client

    @asynccontextmanager
    async def bearing(self, token: str, mode: str) -> AsyncIterator[Client]:
        """A client over HTTP that shows a token."""
        async with (
            httpx2.AsyncClient(headers=bearer(token)) as http,
            Client(streamable_http_client(self.blog.url, http_client=http), mode=mode) as client,
        ):
            yield client


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doors]:
    with Blog(tmp_path_factory.mktemp("blog") / "instance") as blog:
        yield Doors(blog)


def everyone_in_both_eras(test: Callable[..., None]) -> Callable[..., None]:
    """Run a test as each person, in the handshake era and in the stateless one."""
    people = pytest.mark.parametrize("person", PEOPLE, ids=lambda person: person.name or "guest")
    eras = pytest.mark.parametrize("mode", ["legacy", MODERN])
    marked: Callable[..., None] = people(eras(test))
    return marked


def bearer(token: str) -> dict[str, str]:
    """The header that shows a token."""
    return {"Authorization": f"Bearer {token}"}


def text_of(result: CallToolResult) -> str:
    """The text of a result that has nothing else."""
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def _json(text: str) -> object:
    """The blog's own envelope of a refusal, which goes out as data where no schema says otherwise."""
    return json.loads(text) if text.startswith("{") else None


async def refusal(client: Client, tool: str, **arguments: object) -> str:
    """What a tool says when it refuses."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    assert result.structured_content in (None, _json(text_of(result)))
    return text_of(result)


async def told(client: Client, tool: str, **arguments: object) -> str:
    """The text that a tool answers."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert result.structured_content is None
    return text_of(result)


async def data(client: Client, tool: str, **arguments: object) -> Any:
    """The data that a tool answers, which its text repeats. The handshake era wraps what is no object."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    answered: Any = result.structured_content
    assert json.loads(text_of(result)) == answered
    if client.protocol_version == MODERN or set(answered) != {"result"}:
        return answered
    return answered["result"]


async def read(client: Client, uri: str) -> tuple[str | None, str]:
    """The media type and the text of a resource."""
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    assert content.uri == uri
    return content.mime_type, content.text


async def error(answer: Awaitable[object]) -> tuple[int, str]:
    """The code and the words of the error that a request is answered with."""
    with pytest.raises(MCPError) as caught:
        await answer
    return caught.value.code, caught.value.message


# -------------------------------------------------------------------------------------------------- what is there


@everyone_in_both_eras
def test_everyone_is_told_who_serves(doors: Doors, person: Person, mode: str) -> None:
    """Whoever connects, and in which era, learns the server's name, version, title, offers and instructions."""

    async def talk(client: Client) -> None:
        if mode == MODERN:
            found = await client.session.discover()
            assert found.supported_versions == [MODERN]
            assert (found.ttl_ms, found.cache_scope) == (0, "private")
        assert client.protocol_version == (MODERN if mode == MODERN else "2025-11-25")
        info = client.server_info
        assert info is not None
        assert (info.name, info.version, info.title) == ("blog", "1.0.0", "The Common Plot")
        offered = client.server_capabilities.model_dump(exclude_none=True, by_alias=True)
        assert set(offered) == {"tools", "resources", "prompts"}
        assert client.instructions is not None
        assert client.instructions.startswith("You act as the signed-in user of this application")
        assert client.instructions.endswith("Drafts are not public: do not repeat them to others.")

    # A client that is bound to the stateless era does not ask; one that looks for it (`auto`) does.
    doors.converse(person, "auto" if mode == MODERN else mode, talk)


@everyone_in_both_eras
def test_everyone_is_shown_what_they_may_use(doors: Doors, person: Person, mode: str) -> None:
    """Guests are shown what reads, users what writes too, and editors the statistics."""

    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == person.tools
        assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools)
        resources = (await client.list_resources()).resources
        drafts = ["blog://drafts"] if person.signed_in else []
        assert [entry.uri for entry in resources] == ["blog://about", *drafts]
        templates = (await client.list_resource_templates()).resource_templates
        assert [entry.uri_template for entry in templates] == ["blog://posts/{slug}"]
        prompts = (await client.list_prompts()).prompts
        assert [entry.name for entry in prompts] == ["outline", *(["review_post"] if person.signed_in else [])]
        assert {argument.name: argument.required for argument in prompts[0].arguments or []} == {
            "topic": True,
            "readers": False,
        }

    doors.converse(person, mode, talk)


# --------------------------------------------------------------------------------------------------------- tools


@everyone_in_both_eras
def test_everyone_reads_their_own_view_of_the_blog(doors: Doors, person: Person, mode: str) -> None:
    """Each reading tool answers with what is published and the drafts that its caller may see, and no others."""

    async def talk(client: Client) -> None:
        assert await told(client, "whoami") == person.says
        found = await data(client, "list_posts", limit=100)
        assert [post["slug"] for post in found if post["status"] == "draft"] == person.drafts
        assert len([post for post in found if post["status"] == "published"]) == 30
        assert len(await data(client, "list_posts")) == 20
        if person.signed_in:
            drafts = await data(client, "list_posts", status="draft")
            assert [post["slug"] for post in drafts] == person.drafts
        else:
            words = await refusal(client, "list_posts", status="draft")
            assert words == '{"error":"Forbidden","message":"Sign in to see drafts."}'
        (jar,) = await data(client, "search_posts", text="jam jar")
        assert jar["author"] == {"name": "ben", "full_name": "Ben Okafor"}
        fence = await data(client, "search_posts", text="what the new fence")
        assert [post["slug"] for post in fence] == ([DRAFT] if DRAFT in person.drafts else [])
        assert {"tag": "bees", "posts": person.bees} in await data(client, "list_tags")

    doors.converse(person, mode, talk)


@everyone_in_both_eras
def test_everyone_reads_posts_by_the_same_rule(doors: Doors, person: Person, mode: str) -> None:
    """A published post is for all; a draft that its caller may not see is answered as one that never was."""

    async def talk(client: Client) -> None:
        post = await data(client, "get_post", slug=PUBLISHED)
        assert (post["status"], post["published_on"]) == ("published", "2024-02-03")
        assert post["body"].startswith("Four households")
        if DRAFT in person.drafts:
            assert "840" in (await data(client, "get_post", slug=DRAFT))["body"]
        else:
            assert await refusal(client, "get_post", slug=DRAFT) == HIDDEN
        assert await refusal(client, "get_post", slug="never-written") == HIDDEN

    doors.converse(person, mode, talk)


@everyone_in_both_eras
def test_who_may_write_writes(doors: Doors, person: Person, mode: str) -> None:
    """Users write, edit, publish and delete posts of their own; a guest is refused by each of these tools."""

    async def refuse(client: Client) -> None:
        assert await refusal(client, "create_draft", title="Mine", body="Text") == NOT_SIGNED_IN
        for tool in ("edit_post", "publish_post", "delete_post"):
            assert await refusal(client, tool, slug=PUBLISHED) == NOT_SIGNED_IN
            assert await refusal(client, tool, slug="never-written") == NOT_SIGNED_IN

    async def write(client: Client) -> None:
        title = f"Written by {person.name}"
        draft = await data(client, "create_draft", title=title, body="Text", tags=["Soil", "soil "])
        assert (draft["author"]["name"], draft["status"], draft["tags"]) == (person.name, "draft", ["soil"])
        edited = await data(client, "edit_post", slug=draft["slug"], body="More")
        assert edited == {**draft, "body": "More"}
        published = await told(client, "publish_post", slug=draft["slug"])
        assert published.startswith(f"“{title}” is public since 2")
        assert (await data(client, "get_post", slug=draft["slug"]))["status"] == "published"
        assert await told(client, "delete_post", slug=draft["slug"]) == f"Deleted {draft['slug']}."
        assert await refusal(client, "get_post", slug=draft["slug"]) == HIDDEN

    doors.converse(person, mode, write if person.signed_in else refuse)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
@pytest.mark.parametrize("person", [BEN, LOCAL], ids=["ben", "assistant"])
def test_nobody_writes_in_the_posts_of_others(doors: Doors, person: Person, mode: str) -> None:
    """An author may not change what someone else published, and does not even find someone else's draft."""

    async def talk(client: Client) -> None:
        for tool in ("edit_post", "publish_post", "delete_post"):
            assert await refusal(client, tool, slug=PUBLISHED) == NOT_YOURS
            assert await refusal(client, tool, slug=DRAFT) == HIDDEN

    doors.converse(person, mode, talk)


@pytest.mark.parametrize("mode", ["legacy", MODERN])
def test_an_editor_writes_in_the_posts_of_others(doors: Doors, mode: str) -> None:
    """The policy that keeps authors from each other's posts lets an editor in."""

    async def talk(client: Client) -> None:
        before = await data(client, "get_post", slug=DRAFT)
        edited = await data(client, "edit_post", slug=DRAFT, tags=["money"])
        assert edited == {**before, "tags": ["money"]}
        assert await data(client, "edit_post", slug=DRAFT, tags=before["tags"]) == before

    doors.converse(EDA, mode, talk)


@everyone_in_both_eras
def test_statistics_are_for_editors(doors: Doors, person: Person, mode: str) -> None:
    """What is not shown to a caller is not carried out for them either."""

    async def talk(client: Client) -> None:
        if person.editor:
            assert await data(client, "blog_statistics") == {
                "posts": 37,
                "by_status": {"draft": 7, "published": 30},
                "by_author": {"ana": 17, "assistant": 1, "ben": 14, "eda": 5},
                "tags": 21,
            }
        else:
            assert await refusal(client, "blog_statistics") == NOT_ADMITTED

    doors.converse(person, mode, talk)


@everyone_in_both_eras
def test_arguments_are_checked_for_everyone(doors: Doors, person: Person, mode: str) -> None:
    """A wrong argument is a tool error that names every fault; an unknown tool is a protocol error."""

    async def talk(client: Client) -> None:
        words = await refusal(client, "search_posts", text="a", limit=0, sort="new")
        assert words.startswith("Invalid arguments:\n")
        assert {line.partition(":")[0] for line in words.splitlines()[1:]} == {"- text", "- limit", "- sort"}
        code, message = await error(client.call_tool("list_post", {}))
        assert code == -32602
        assert message.startswith("Unknown tool: 'list_post'.")

    doors.converse(person, mode, talk)


# --------------------------------------------------------------------------------------------- resources, prompts


@everyone_in_both_eras
def test_everyone_reads_resources(doors: Doors, person: Person, mode: str) -> None:
    """Resources follow the same policies: drafts are for users, and a hidden post is not found."""
    not_found = -32602 if mode == MODERN else -32002

    async def talk(client: Client) -> None:
        media, text = await read(client, "blog://about")
        assert media == "text/plain"
        assert text.startswith("The Common Plot is the blog of a garden")
        if person.signed_in:
            media, text = await read(client, "blog://drafts")
            assert media == "text/markdown"
            listed = [line.partition("(blog://posts/")[2].partition(")")[0] for line in text.splitlines()]
            assert listed == person.drafts
        else:
            assert await error(client.read_resource("blog://drafts")) == (403, NOT_SIGNED_IN)
        media, text = await read(client, f"blog://posts/{PUBLISHED}")
        assert media == "text/markdown"
        assert text.startswith("# Why we share one plot\n\n*Ana Duarte, 2024-02-03*\n")
        if DRAFT in person.drafts:
            assert (await read(client, f"blog://posts/{DRAFT}"))[1].startswith("# What the new fence will cost\n")
        for uri in [f"blog://posts/{slug}" for slug in (DRAFT, "never-written")] + ["blog://nothing"]:
            if uri.rpartition("/")[2] not in person.drafts:
                assert await error(client.read_resource(uri)) == (
                    not_found,
                    f"Resource not found: {uri!r}. The lists have those that there are.",
                )

    doors.converse(person, mode, talk)


async def rendered(client: Client, name: str, **arguments: str) -> list[tuple[str, str]]:
    """The role and the text of each message of a prompt."""
    messages = (await client.get_prompt(name, arguments)).messages
    assert all(isinstance(message.content, TextContent) for message in messages)
    return [(message.role, getattr(message.content, "text", "")) for message in messages]


@everyone_in_both_eras
def test_everyone_gets_prompts(doors: Doors, person: Person, mode: str) -> None:
    """Prompts are rendered with what their caller may see, and refused as tools and resources are."""

    async def talk(client: Client) -> None:
        (role, text), last = await rendered(client, "outline", topic="mulch")
        assert role == "user"
        assert "about mulch, written for beginners" in text
        assert last == ("assistant", "Here is a first cut, with a line on what each part should tell:")
        code, message = await error(client.get_prompt("outline", {"topic": "mulch", "readers": "nobody"}))
        assert (code, "readers: " in message) == (-32602, True)
        if not person.signed_in:
            assert await error(client.get_prompt("review_post", {"slug": PUBLISHED})) == (403, NOT_SIGNED_IN)
            return
        ((role, text),) = await rendered(client, "review_post", slug=PUBLISHED)
        assert (role, "# Why we share one plot\n" in text) == ("user", True)
        if DRAFT in person.drafts:
            assert "840" in (await rendered(client, "review_post", slug=DRAFT))[0][1]
        else:
            hidden = await error(client.get_prompt("review_post", {"slug": DRAFT}))
            never = await error(client.get_prompt("review_post", {"slug": "never-written"}))
            assert hidden == never
            assert hidden[0] == -32602

    doors.converse(person, mode, talk)


# -------------------------------------------------------------------------------------------------- the two doors


@pytest.mark.parametrize("person", [GUEST, ANA, LOCAL], ids=["guest", "ana", "assistant"])
def test_a_client_that_speaks_both_eras_takes_the_newer(doors: Doors, person: Person) -> None:
    """A client that asks first (`auto`) finds the stateless era at both doors."""

    async def talk(client: Client) -> None:
        assert client.protocol_version == MODERN
        assert await told(client, "whoami") == person.says

    doors.converse(person, "auto", talk)


def test_both_doors_open_on_one_blog(doors: Doors) -> None:
    """What the local assistant writes over the pipe, in one era, an editor finds over HTTP, in the other."""
    slugs: list[str] = []

    async def write(client: Client) -> None:
        draft = await data(client, "create_draft", title="Over the pipe", body="Text")
        slugs.append(draft["slug"])

    async def find(client: Client) -> None:
        assert (await data(client, "get_post", slug=slugs[0]))["author"]["name"] == "assistant"
        assert await told(client, "delete_post", slug=slugs[0]) == f"Deleted {slugs[0]}."

    doors.converse(LOCAL, "legacy", write)
    doors.converse(EDA, MODERN, find)


@pytest.mark.parametrize("mode", ["legacy", MODERN, "auto"])
def test_a_token_that_is_not_good_makes_no_guest(doors: Doors, mode: str) -> None:
    """The client of a token that nobody was given is refused, even where guests are served."""

    async def connect() -> None:
        async with doors.bearing("never-issued", mode) as client:
            await client.list_tools()

    with pytest.raises(ExceptionGroup) as caught:
        asyncio.run(connect())
    errors = caught.value.subgroup(MCPError)
    assert errors is not None
    assert "401 Unauthorized: The token is not valid: get a new one." in repr(errors)


# --------------------------------------------------------------------------------- plain sessions of each revision

Ask = Callable[..., Any]


def over_http(doors: Doors, revision: str) -> Ask:
    """A session of ana's whose every message is a connection of its own."""
    # Since 2025-06-18 a client repeats the revision in a header; before, the memo alone tells it.
    version = {"MCP-Protocol-Version": revision} if revision >= "2025-06-18" else {}
    session = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    session |= bearer(doors.tokens["ana"])

    def ask(message: dict[str, Any]) -> Any:
        status, headers, body = doors.blog.request("POST", "/mcp", json.dumps(message).encode(), session)
        if "id" not in message:
            assert (status, body) == (202, b"")
            return None
        assert (status, headers["Content-Type"]) == (200, "application/json")
        if message["method"] == "initialize":
            session.update({"Mcp-Session-Id": headers["Mcp-Session-Id"], **version})
        return json.loads(body)

    return ask


@pytest.fixture(params=["http", "pipe"])
def door(request: pytest.FixtureRequest, doors: Doors) -> Iterator[tuple[Person, Callable[[str], Ask]]]:
    """Opens a plain session over HTTP, as ana, and over the pipe, as the local subject."""
    if request.param == "http":
        yield ANA, lambda revision: over_http(doors, revision)
        return
    with doors.blog.pipe() as pipe:

        def ask(message: dict[str, Any]) -> Any:
            if "id" in message:
                return pipe.ask(message)
            return pipe.send(message)

        yield LOCAL, lambda revision: ask
        code, out, err = pipe.close()
        assert (code, out) == (0, b""), err


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_plain_session_of_each_handshake_revision(door: tuple[Person, Callable[[str], Ask]], revision: str) -> None:
    """A client of any handshake revision initializes, lists, calls, reads and gets in the words of its revision."""
    person, opened = door
    ask = opened(revision)
    proposal = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "plain", "version": "0"}}
    agreed = result(ask, "initialize", proposal)
    assert agreed["protocolVersion"] == revision
    assert set(agreed["capabilities"]) == {"tools", "resources", "prompts"}
    assert ask({"jsonrpc": "2.0", "method": "notifications/initialized"}) is None
    assert result(ask, "ping") == {}

    tools = result(ask, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == person.tools
    answered = result(ask, "tools/call", {"name": "list_posts", "arguments": {"status": "draft"}})
    (content,) = answered["content"]
    assert content["type"] == "text"
    assert all(f'"slug":"{slug}"' in content["text"] for slug in person.drafts)
    check_words(revision, tools[0], answered)

    refused = result(ask, "tools/call", {"name": "blog_statistics", "arguments": {}})
    assert refused == {"content": [{"type": "text", "text": NOT_ADMITTED}], "isError": True}
    assert [entry["uri"] for entry in result(ask, "resources/list")["resources"]] == ["blog://about", "blog://drafts"]
    assert len(result(ask, "resources/templates/list")["resourceTemplates"]) == 1
    uri = f"blog://posts/{PUBLISHED}"
    (text,) = result(ask, "resources/read", {"uri": uri})["contents"]
    assert (text["uri"], text["mimeType"], "# Why" in text["text"]) == (uri, "text/markdown", True)
    assert [prompt["name"] for prompt in result(ask, "prompts/list")["prompts"]] == ["outline", "review_post"]
    messages = result(ask, "prompts/get", {"name": "outline", "arguments": {"topic": "mulch"}})["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"]
    missing = ask(call("resources/read", {"uri": "blog://posts/never-written"}))["error"]
    assert (missing["code"], missing["data"]) == (-32002, {"uri": "blog://posts/never-written"})


def result(ask: Ask, method: str, params: Any = None) -> Any:
    """The result of a request, whose id comes back."""
    answer = ask(call(method, params, id=method))
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", method), answer
    return answer["result"]


def check_words(revision: str, tool: dict[str, Any], answered: dict[str, Any]) -> None:
    """A revision is told what it knows: annotations since 2025-03-26, titles and structure since 2025-06-18."""
    known = {"name", "description", "inputSchema"}
    known |= {"annotations"} if revision >= "2025-03-26" else set()
    structured = revision >= "2025-06-18"
    assert set(tool) == known | ({"title", "outputSchema"} if structured else set())
    assert set(answered) - {"isError"} == {"content"} | ({"structuredContent"} if structured else set())
    assert answered.get("isError", False) is False
