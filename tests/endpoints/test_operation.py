"""Operations that are described by hand: what a description may say, and the gate in front of each invoke."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields, post_load
from werkzeug.exceptions import NotFound

from flask_arandu_mcp import (
    ArandoMCP,
    DeclarationError,
    Elicit,
    Operation,
    ProtocolError,
    Request,
    Response,
    Server,
    guest,
    public,
    signed_in,
)

from ..app import User

RAN: list[object] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> Iterator[None]:
    RAN.clear()
    yield
    RAN.clear()


def save(request: Request, given: Any) -> Any:
    """Keeps a bookmark."""
    RAN.append(given)
    return {"url": given["url"]}


def operation(id: Any = "bookmarks.create", invoke: Any = save, **options: Any) -> Operation:
    given: dict[str, Any] = {
        "access": public,
        "input": {"url": fields.String(required=True)},
        "result": {"url": fields.String()},
        "description": "Keeps a bookmark.",
        **options,
    }
    return Operation(id, invoke, **given)


def server(*operations: Operation, **options: Any) -> Server:
    return Server("test", tools=operations, **options)


def test_an_operation_is_a_tool() -> None:
    """Its id is the tool's name, its input and its result are schemas, and its flags are hints."""
    listed = server(operation(idempotent=True, read_only=False, destructive=True)).list_tools(guest)
    assert listed == [
        {
            "name": "bookmarks_create",
            "description": "Keeps a bookmark.",
            "inputSchema": {
                "type": "object",
                "properties": {"url": {"type": "string"}},
                "required": ["url"],
                "additionalProperties": False,
            },
            "outputSchema": {"type": "object", "properties": {"url": {"type": "string"}}},
            "annotations": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True},
        }
    ]


def test_the_docstring_describes_it() -> None:
    """Without a description, the docstring of invoke is it."""
    assert server(operation(description="")).list_tools(guest)[0]["description"] == "Keeps a bookmark."


def test_invoke_is_given_all_that_was_loaded() -> None:
    """The arguments come whole, whatever the parameter and the fields are called."""
    names = {name: fields.String() for name in ("request", "arguments", "self")}
    own = operation(invoke=lambda r, a: {"url": "".join(sorted(a))}, input=names)
    assert server(own).call(guest, "bookmarks_create", dict.fromkeys(names, "x")).data == {
        "url": "argumentsrequestself"
    }

    class Made(Schema):
        url = fields.String(required=True)

        @post_load
        def make(self, data: Any, **_: Any) -> tuple[str, str]:
            return ("made", data["url"])

    made = operation(input=Made, invoke=lambda request, made: {"url": made[0]})
    assert server(made).call(guest, "bookmarks_create", {"url": "x"}).data == {"url": "made"}


def test_an_operation_takes_a_json_schema() -> None:
    """An input and a result may be JSON Schemas of the author's own."""
    schema = {"type": "object", "properties": {"url": {"type": "string", "minLength": 3}}, "required": ["url"]}
    own = server(operation(input=schema, result={"type": "object", "required": ["url"]}))
    assert own.call(guest, "bookmarks_create", {"url": "abc"}).data == {"url": "abc"}
    assert own.call(guest, "bookmarks_create", {"url": "a"}).is_error


def plays(request: Request, given: Any) -> Any:
    """Asks."""
    answer = yield Elicit("why", "Why?", {"reason": fields.String(required=True)})
    return {"url": answer.content["reason"]}


async def waits(request: Request, given: Any) -> Any:
    """Waits."""
    return {"url": "later"}


def test_invoke_may_ask_and_wait() -> None:
    """An invoke may be a generator that asks, or a coroutine function."""
    answers = {"why": {"action": "accept", "content": {"reason": "so"}}}
    both = server(operation("a", plays), operation("b", waits))
    assert both.call(guest, "a", {"url": "x"}, answers=answers).data == {"url": "so"}
    assert both.call(guest, "b", {"url": "x"}).data == {"url": "later"}


# ---------------------------------------------------------------------------------------------------- the gate


def refuses(subject: Any) -> bool:
    return False


def fails(subject: Any) -> bool:
    raise RuntimeError("no answer")


def conceals(subject: Any) -> bool:
    raise NotFound


@pytest.mark.parametrize("access", [refuses, fails, signed_in])
def test_the_check_comes_before_invoke(access: Callable[[Any], bool]) -> None:
    """An invoke of one's own is not reached but past its access, whatever that answers."""
    answer = server(operation(access=access)).call(guest, "bookmarks_create", {"url": "x"})
    assert (answer.is_error, RAN) == (True, [])
    assert answer.text.startswith("403 Forbidden: ")


def test_the_check_conceals() -> None:
    """An operation that must seem not to exist is not reached, and not listed."""
    own = server(operation(access=conceals))
    with pytest.raises(ProtocolError, match="Unknown tool"):
        own.call(guest, "bookmarks_create", {"url": "x"})
    assert own.list_tools(guest) == []
    assert RAN == []


def test_the_check_comes_before_the_arguments() -> None:
    """Who may not use an operation learns nothing of its arguments."""
    answer = server(operation(access=refuses)).call(guest, "bookmarks_create", {"nonsense": 1})
    assert "nonsense" not in answer.text


def test_a_method_of_a_subclass_cannot_skip_the_check() -> None:
    """A subclass that handles calls by itself is asked for its access all the same."""

    class Own(Operation):
        def handle(self, request: Request, *args: Any, **kwargs: Any) -> Any:
            RAN.append("handled")

    own = Own("own", save, access=refuses, input={"url": fields.String()})
    assert server(own).call(guest, "own", {"url": "x"}).is_error
    assert RAN == []


class Fickle:
    """Lets in once."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self, subject: Any) -> bool:
        self.asked += 1
        return self.asked == 1


def test_the_check_is_asked_again_on_the_way_out() -> None:
    """Who may not use the operation any more is not given what it found, and is told that it was carried out."""
    answer = server(operation(access=Fickle()), recheck=True).call(guest, "bookmarks_create", {"url": "x"})
    assert answer.is_error
    assert answer.text.endswith("It had been carried out when this was found.")
    assert RAN == [{"url": "x"}]


def test_the_guard_sees_the_result_last() -> None:
    """A guard sees what an operation answered, and may take it out."""

    def guard(request: Request, response: Response) -> Response:
        return Response.json({"url": "taken out"})

    answer = server(operation(), recheck=True, guard=guard).call(guest, "bookmarks_create", {"url": "x"})
    assert answer.data == {"url": "taken out"}


@pytest.mark.parametrize("result", [["a"], "text", 7, None, Response.text("done")])
def test_a_result_that_is_not_what_was_declared(result: object) -> None:
    """What is no object of the declared schema is an internal error with a ref."""
    answer = server(operation(invoke=lambda request, arguments: result)).call(guest, "bookmarks_create", {"url": "x"})
    assert answer.is_error
    assert answer.text.startswith("Internal error (ref ")


def test_a_result_of_which_nothing_is_said() -> None:
    """Without a declared result, whatever an operation gives is its answer."""
    free = operation(result=None, invoke=lambda request, arguments: ["a"])
    assert server(free).call(guest, "bookmarks_create", {"url": "x"}).data == ["a"]


def test_an_error_needs_no_result() -> None:
    """An error that an operation answers with is no broken result."""
    own = operation(invoke=lambda request, arguments: Response.error("Full."))
    assert server(own).call(guest, "bookmarks_create", {"url": "x"}).text == "Full."


# ---------------------------------------------------------------------------------------------------- faults


def faults(*operations: Operation) -> tuple[str, ...]:
    with pytest.raises(DeclarationError) as caught:
        ArandoMCP(Flask(__name__), server(*operations))
    return caught.value.faults


async def asks_nothing(request: Request, arguments: Any) -> Any:
    """Waits."""


async def streams(request: Request, arguments: Any) -> Any:
    """Streams."""
    yield 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"id": "Bookmarks.create"}, "its id 'Bookmarks.create' is served as 'Bookmarks_create', and must be a small"),
        ({"id": "9lives"}, "its id '9lives'"),
        ({"id": "a-b"}, "its id 'a-b'"),
        ({"id": "a" * 65}, "its id 'aaa"),
        ({"id": ".a"}, "its id '.a'"),
        ({"id": "a\n"}, "its id 'a\\n'"),
        ({"access": None}, "does not say who may use it"),
        ({"access": "public"}, "access is 'public'"),
        ({"description": "", "invoke": lambda request, arguments: {}}, "has no description"),
        ({"invoke": streams}, "invoke is an async generator, which cannot be run again"),
        ({"input": Schema(many=True)}, "many=True"),
        ({"input": {"type": "array"}}, "type: object"),
        ({"result": Schema.from_dict({"n": fields.Integer()})(many=True)}, "its result is no object"),
        ({"result": {"type": "array", "items": {}}}, "its result is no object"),
        ({"read_only": True, "destructive": True}, "says read_only and destructive, and cannot be both"),
        (
            {"confirm": "Delete {slug}?"},
            "confirm 'Delete {slug}?' has {slug} in it, which is no argument: write one of",
        ),
        ({"confirm": "Delete {url.__class__}?"}, "has {url.__class__} in it"),
        ({"confirm": "Delete {url!r}?"}, "has {url} in it"),
        ({"confirm": "Delete {0}?"}, "has {0} in it"),
        ({"confirm": "Delete {?"}, "cannot be read"),
        ({"confirm": "Sure?", "invoke": asks_nothing}, "its invoke is async"),
    ],
)
def test_a_fault_of_a_description(options: dict[str, Any], said: str) -> None:
    """A fault names the operation, the rule and the way out."""
    found = faults(operation(**options))
    assert any(said in fault for fault in found), found


def test_an_option_that_nobody_reads() -> None:
    """A misspelt option is refused where it is written: what nobody reads would protect nothing."""
    with pytest.raises(
        TypeError, match=r"'bookmarks\.create' is declared with 'scope', which is no option: did you mean"
    ):
        operation(scope=["write"])


def test_an_invoke_that_cannot_be_called() -> None:
    """An invoke that is no function is told, with what becomes of that."""
    found = faults(operation(invoke="save", description="Saves."))
    assert "tool 'bookmarks_create': invoke is 'save': give it a function, invoke(request, arguments)." in found


def test_all_faults_are_listed_at_once() -> None:
    """The faults of all descriptions are in one error, those of two of one name among them."""
    found = faults(
        operation("a.b"), operation("a_b"), operation("C", access=None), operation("d", input=Schema(many=True))
    )
    assert len(found) == 4
    assert any("two tools share 'a_b'" in fault for fault in found)


def test_an_operation_for_signed_in_users() -> None:
    """The subject reaches invoke in the request."""
    own = operation(access=signed_in, invoke=lambda request, arguments: {"url": request.subject.id})
    assert server(own).call(User("ana"), "bookmarks_create", {"url": "x"}).data == {"url": "ana"}
