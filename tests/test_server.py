"""The door, from plain Python: what a subject may list, call, read, get and complete."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from marshmallow import Schema, ValidationError, fields, post_load
from werkzeug.exceptions import Conflict, Forbidden, HTTPException
from werkzeug.utils import redirect
from werkzeug.wrappers import Response as HTTPResponse

from flask_arandu_mcp import (
    Audio,
    EmbeddedResource,
    Image,
    ProtocolError,
    Request,
    ResourceLink,
    Response,
    Server,
    Text,
    Tool,
    guest,
    prompt,
    public,
    resource,
    tool,
)

from .app import User, make_server

ALICE, ROOT = User("alice"), User("root", admin=True)


def serving(*tools: Tool, **options: Any) -> Server:
    return Server(name="test", tools=tools, **options)


def returning(value: Any, **options: Any) -> Server:
    @tool(access=public, **options)
    def give(request: Request) -> Any:
        """Gives a value."""
        if isinstance(value, Exception):
            raise value
        return value

    return serving(give)


def given(value: Any, **options: Any) -> Any:
    return returning(value, **options).call(ALICE, "give")


def error_of(call: Any, *args: Any) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        call(*args)
    return caught.value


# ------------------------------------------------------------------------------------------------ lists


def test_lists_hold_what_the_subject_may_use() -> None:
    """Each list is the policy's answer for whoever asks, and in the order of the declarations."""
    server = make_server()
    hidden = {"admin_hidden", "admin_forbidden", "admin_false"}
    names = [entry["name"] for entry in server.list_tools(ROOT)]
    assert hidden < set(names)
    assert [entry["name"] for entry in server.list_tools(ALICE)] == [n for n in names if n not in hidden]
    assert [entry["uri"] for entry in server.list_resources(ALICE)] == ["shop://about"]
    assert [entry["uriTemplate"] for entry in server.list_templates(ALICE)] == ["shop://items/{name}"]
    assert [entry["name"] for entry in server.list_prompts(ALICE)] == ["outline"]


def test_an_entry_says_how_to_call() -> None:
    """An entry has the schema of its arguments, closed, and the hints that its author gave."""
    entry = make_server().list_tools(ALICE)[0]
    assert entry == {
        "name": "add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": True},
    }


# ------------------------------------------------------------------------------------------------ calls


def test_a_call_loads_its_arguments() -> None:
    """The handler gets what the schema made of the arguments."""
    assert make_server().call(ALICE, "add", {"a": 1, "b": 2.0}).data == {"sum": 3}


def test_an_undeclared_argument_is_refused() -> None:
    """What nobody declared is named, and nothing runs."""
    answer = make_server().call(ALICE, "add", {"a": 1, "b": 2, "c": 3})
    assert answer.is_error
    assert "c: " in answer.text


def test_all_faults_are_told_at_once() -> None:
    """Each fault of the arguments has a line of its own, with its path."""
    text = make_server().call(ALICE, "search", {"limit": 1000, "status": "gone", "tag": "", "x": 1}).text
    for name in ("limit: ", "status: ", "tag: ", "x: "):
        assert f"- {name}" in text


class ByName(tuple[int, ...]):
    """A row whose items are asked for by their names, as some database drivers give."""

    def __getitem__(self, name: Any) -> Any:
        """The item of a name."""
        return tuple(self)[("a", "b").index(name)]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "Done."),
        ("plain", "plain"),
        ({"a": 1}, '{"a":1}'),
        ([1, 2], "[1,2]"),
        (7, "7"),
        (ByName((1, 2)), "[1,2]"),
        (["one", "two"], '["one","two"]'),
        (["one", Text("two")], "one\ntwo"),
        (Response.text("said"), "said"),
        (Response.json([1]), "[1]"),
        (Text("block"), "block"),
        ([Text("one"), Text("two")], "one\ntwo"),
        (Response(Text("one"), Text("two")), "one\ntwo"),
        (HTTPException(response=HTTPResponse(status=409)), "409 Conflict"),
        (Conflict("Taken."), "409 Conflict: Taken."),
        (Forbidden("Not yours."), "403 Forbidden: Not yours."),
        (HTTPResponse("x", 403), "403 Forbidden"),
        (redirect("/sign-in"), "401 Unauthorized: sign in first."),
    ],
)
def test_what_a_handler_gives_is_answered(value: Any, text: str) -> None:
    """Text, data, blocks, and refusals as HTTP knows them, in words for the model."""
    answer = given(value)
    assert answer.text == text
    assert answer.is_error == text.startswith("40")


@pytest.mark.parametrize(
    ("block", "wire"),
    [
        (Image(b"\x89PNG", "image/png"), {"type": "image", "data": "iVBORw==", "mimeType": "image/png"}),
        (Audio(b"\x00", "audio/wav"), {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}),
        (
            ResourceLink("a:b", "b", description="B", mime_type="text/plain"),
            {"type": "resource_link", "uri": "a:b", "name": "b", "description": "B", "mimeType": "text/plain"},
        ),
        (ResourceLink("a:b", "b"), {"type": "resource_link", "uri": "a:b", "name": "b"}),
        (EmbeddedResource("a:b", "é"), {"type": "resource", "resource": {"uri": "a:b", "text": "é"}}),
        (
            EmbeddedResource("a:b", b"\xff", mime_type="x/y"),
            {"type": "resource", "resource": {"uri": "a:b", "mimeType": "x/y", "blob": "/w=="}},
        ),
    ],
)
def test_blocks_of_content_are_written(block: Any, wire: Any) -> None:
    """Each kind of block is written as the protocol's schema has it."""
    assert given(block).content == [wire]


@pytest.mark.parametrize(
    "value",
    [RuntimeError("secret"), KeyError("secret"), b"secret", object(), HTTPResponse("secret", 200), {"a": float("nan")}],
)
def test_the_unexpected_is_an_internal_error(value: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A crash or a value that cannot go out is told by a ref alone; the log has the rest under it."""
    answer = given(value)
    assert answer.is_error
    assert answer.text.startswith("Internal error (ref ")
    assert "secret" not in answer.text
    assert answer.text[20:28] in caplog.text


def test_a_validation_error_of_a_handler_is_told_like_a_fault() -> None:
    """A second schema that refuses is as good a reason as the first."""
    assert "- deep.0: no" in given(ValidationError({"deep": {0: ["no"]}})).text


def test_a_result_over_the_limit_says_by_how_much() -> None:
    """A result that is too large is told to be narrowed, and not cut."""
    answer = given({"rows": "x" * (2 * 1024 * 1024)})
    assert answer.is_error
    assert "11 bytes over the limit" in answer.text


def test_results_go_through_their_schema() -> None:
    """With a result schema, what goes out is what the schema dumps."""

    class Row(Schema):
        id = fields.Integer(required=True)
        secret = fields.String(load_only=True)

    answer = given([{"id": 1, "secret": "x", "more": 2}], result=Row(many=True))
    assert answer.data == [{"id": 1}]


def test_a_handler_may_take_its_arguments_whole() -> None:
    """A handler with the one parameter `arguments` is given what the schema loaded, whatever that is."""

    class Point:
        def __init__(self, x: int) -> None:
            self.x = x

    class PointSchema(Schema):
        x = fields.Integer(required=True)

        @post_load
        def make(self, data: Any, **_: Any) -> Point:
            return Point(**data)

    @tool(access=public, arguments=PointSchema)
    def whole(request: Request, arguments: Point) -> int:
        """Takes a point."""
        assert request.arguments is arguments
        x: int = arguments.x
        return x

    @tool(access=public, arguments=PointSchema)
    def parts(request: Request, x: int) -> int:
        """Takes a coordinate."""
        return x

    server = serving(whole, parts)
    assert server.call(ALICE, "whole", {"x": 4}).data == 4
    assert server.call(ALICE, "parts", {"x": 4}).text.startswith("Internal error")


def test_attribute_names_reach_the_handler() -> None:
    """A field is sent by its data key, and given by its own name."""

    @tool(access=public, arguments={"class_": fields.String(data_key="class", required=True)})
    def classify(request: Request, class_: str) -> str:
        """Classifies."""
        assert dict(request.arguments) == {"class_": "a"}
        assert dict(request.raw) == {"class": "a"}
        return class_

    assert serving(classify).call(ALICE, "classify", {"class": "a"}).text == "a"


def test_anything_goes_only_where_it_is_declared() -> None:
    """INCLUDE gives a handler with `**` what was not declared, but nothing under the request's own name."""

    class Open(Schema):
        class Meta:
            unknown = "include"

    @tool(access=public, arguments=Open)
    def anything(request: Request, **others: Any) -> Any:
        """Takes anything."""
        return others

    server = serving(anything)
    assert server.call(ALICE, "anything", {"x": 1}).data == {"x": 1}
    assert "request: " in server.call(ALICE, "anything", {"request": 1}).text


def test_a_request_cannot_be_changed() -> None:
    """What a handler is told of its call is frozen."""
    arguments: Any = Request(subject=1, arguments={"a": 1}).arguments
    with pytest.raises(TypeError):
        arguments["a"] = 2


def test_a_decorated_function_stays_a_function() -> None:
    """A declaration made of a function is tested as that function."""

    @tool(access=public, arguments={"n": fields.Integer(required=True)})
    def double(request: Request, n: int) -> int:
        """Doubles."""
        return 2 * n

    @tool
    def bare(request: Request) -> str:
        """Says hello."""
        return "hello"

    assert double(Request(subject=ALICE), n=2) == 4
    assert bare(Request(subject=ALICE)) == "hello"
    assert serving(bare, access=public).call(ALICE, "bare").text == "hello"


def test_async_handlers_are_awaited() -> None:
    """A coroutine function is a handler like any other."""
    assert make_server().call(ALICE, "later").text == "awaited"


def test_a_policy_in_a_class_body_is_no_method() -> None:
    """`access` is taken as it stands; a decision that needs the object is its method `allows`."""

    def policy(subject: Any) -> bool:
        return subject is ROOT

    class One(Tool):
        """Says one."""

        name = "one"
        access = policy

        def handle(self, request: Request) -> str:
            return "one"

    class Two(Tool):
        """Says two."""

        name = "two"

        def allows(self, subject: Any) -> bool:
            return subject is ALICE

        def handle(self, request: Request) -> str:
            return "two"

    server = serving(One(), Two())
    assert [entry["name"] for entry in server.list_tools(ROOT)] == ["one"]
    assert [entry["name"] for entry in server.list_tools(ALICE)] == ["two"]
    assert server.call(ALICE, "one").text == "403 Forbidden: you may not use this."


def test_calls_from_many_threads_are_apart() -> None:
    """Nothing of a call is kept on the server."""
    server = make_server()
    seen: list[Any] = []

    def add(n: int) -> None:
        seen.append(server.call(ALICE, "add", {"a": n, "b": 0}).data)

    threads = [threading.Thread(target=add, args=(n,)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one["sum"] for one in seen) == list(range(20))


# ------------------------------------------------------------------------------------------------ resources


@pytest.mark.parametrize(
    ("value", "mime_type", "contents"),
    [
        ("é", "", [{"uri": "a:b", "mimeType": "text/plain", "text": "é"}]),
        ("é", "text/markdown", [{"uri": "a:b", "mimeType": "text/markdown", "text": "é"}]),
        (b"\x00\xff", "", [{"uri": "a:b", "mimeType": "application/octet-stream", "blob": "AP8="}]),
        (b"\x00\xff", "text/plain", [{"uri": "a:b", "mimeType": "text/plain", "blob": "AP8="}]),
        (b"caf\xc3\xa9", "text/plain", [{"uri": "a:b", "mimeType": "text/plain", "text": "café"}]),
        (b"caf\xc3\xa9", "image/png", [{"uri": "a:b", "mimeType": "image/png", "blob": "Y2Fmw6k="}]),
        ({"a": 1}, "", [{"uri": "a:b", "mimeType": "application/json", "text": '{"a":1}'}]),
        ([{"a": 1}], "", [{"uri": "a:b", "mimeType": "application/json", "text": '[{"a":1}]'}]),
        ([], "", [{"uri": "a:b", "mimeType": "application/json", "text": "[]"}]),
        (None, "", [{"uri": "a:b", "mimeType": "text/plain", "text": ""}]),
        (
            ["one", EmbeddedResource("a:c", b"\x01", mime_type="x/y")],
            "",
            [
                {"uri": "a:b", "mimeType": "text/plain", "text": "one"},
                {"uri": "a:c", "mimeType": "x/y", "blob": "AQ=="},
            ],
        ),
    ],
)
def test_u05_a_resource_is_text_or_a_blob(value: Any, mime_type: str, contents: Any) -> None:
    """The declared media type is honoured; without one, text is plain text."""

    @resource("a:b", access=public, mime_type=mime_type)
    def give(request: Request) -> Any:
        """Gives a value."""
        return value

    assert serving(resources=[give]).read(ALICE, "a:b") == contents


def test_a_template_gives_its_variables_decoded() -> None:
    """A variable is decoded once, and the URI comes back as it was asked for."""
    [contents] = make_server().read(ALICE, "shop://items/caf%C3%A9%2520")
    assert contents == {"uri": "shop://items/caf%C3%A9%2520", "mimeType": "text/markdown", "text": "# café%20"}


def test_u03_a_refused_resource_is_an_error() -> None:
    """A refusal is told as one, with its status as the code; what failed has a ref."""
    server = make_server()
    refused = error_of(server.read, ALICE, "shop://ledger")
    assert (refused.code, refused.message) == (403, "403 Forbidden: Ask an admin.")
    crashed = error_of(server.read, ALICE, "shop://items/crash")
    assert crashed.code == -32603
    assert crashed.data is not None
    assert str(crashed.data["ref"]) in crashed.message
    assert "secret" not in crashed.message


# ------------------------------------------------------------------------------------------------ prompts


def test_a_prompt_is_messages() -> None:
    """Text is one message of the user's; messages are what they are."""
    messages = make_server().get(ALICE, "outline", {"topic": "x"})
    assert messages == [
        {"role": "user", "content": {"type": "text", "text": "Outline x."}},
        {"role": "assistant", "content": {"type": "text", "text": "Here:"}},
    ]
    assert make_server().get(ROOT, "secret_prompt") == [{"role": "user", "content": {"type": "text", "text": "secret"}}]


def test_a_prompt_tells_its_faults() -> None:
    """Arguments that do not fit are invalid params, all of them told."""
    error = error_of(make_server().get, ALICE, "outline", {"topik": "x"})
    assert error.code == -32602
    assert "topic: " in error.message
    assert "topik: " in error.message


def test_a_prompt_that_gives_no_messages_fails() -> None:
    """What is no message is the author's fault, and never sent."""

    @prompt(access=public)
    def wrong(request: Request) -> Any:
        """Gives a number."""
        return 5

    assert error_of(serving(prompts=[wrong]).get, ALICE, "wrong").code == -32603


# ------------------------------------------------------------------------------------------------ completions


def test_variables_are_completed_by_whoever_may_read() -> None:
    """A completion goes through the same policy as what it completes."""
    server = make_server()
    assert server.complete(ALICE, "shop://items/{name}", "name", "ap") == ["apple", "apricot"]
    assert server.complete(ALICE, "outline", "topic", "x") == []
    assert error_of(server.complete, ALICE, "secret_prompt", "x").code == -32602
    assert error_of(server.complete, ALICE, "nope", "x").code == -32602


def test_a_completion_has_100_values_at_most() -> None:
    """More than the protocol allows are cut, and said to be."""

    @prompt(access=public, arguments={"n": fields.String(required=True)})
    def many(request: Request, n: str) -> str:
        """Has many values."""
        return n

    @many.completes("n")
    def numbers(request: Request, value: str) -> list[str]:
        return [f"{value}{n}" for n in range(150)]

    assert len(serving(prompts=[many]).complete(ALICE, "many", "n", "x")) == 100


# ------------------------------------------------------------------------------------------------ describe


def test_describe_shows_everything_and_the_access_word() -> None:
    """The operator sees every declaration, and the word for who may use it."""
    described: Any = make_server().describe()
    words = {entry["name"]: entry["access"] for entry in described["tools"]}
    assert words["add"] == "public"
    assert words["delete_user"] == "signed_in"
    assert words["admin_false"] == "is_admin"
    assert [entry["name"] for entry in described["prompts"]] == ["outline", "secret_prompt"]


def test_the_threads_of_a_handler_are_told_one_attempt() -> None:
    """Work that must happen once is known by one id, whichever of its threads asks for it first."""
    seen: list[set[str]] = []

    @tool(access=public)
    def spread(request: Request) -> str:
        """Asks in several threads at once."""
        begin = threading.Barrier(8)

        def ask(_: int) -> str:
            begin.wait()
            return request.attempt

        with ThreadPoolExecutor(8) as threads:
            seen.append(set(threads.map(ask, range(8))))
        return ""

    server = Server("s", tools=[spread])
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(40):
            assert not server.call(guest, "spread").is_error
    finally:
        sys.setswitchinterval(before)
    assert [len(ids) for ids in seen] == [1] * 40
