"""The recheck and the guard: what goes out is decided once more, as of now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.exceptions import Forbidden

from flask_arandu_mcp import (
    DeclarationError,
    Request,
    Response,
    Server,
    Text,
    Tool,
    ToolError,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

from .app import User, create_app, is_admin
from .wire import Wire, bearer


def app_with(meanwhile: Callable[[dict[str, User]], None], **options: Any) -> Flask:
    """An app whose handlers do something to its users before they answer."""
    box: dict[str, dict[str, User]] = {}

    @tool(access=is_admin)
    def secret(request: Request) -> str:
        """Tells a secret."""
        meanwhile(box["users"])
        return "the secret"

    @tool(access=is_admin)
    def fails(request: Request) -> str:
        """Fails with a secret."""
        meanwhile(box["users"])
        raise ToolError("the secret")

    @resource("a:secret", access=is_admin)
    def page(request: Request) -> str:
        """A secret page."""
        meanwhile(box["users"])
        return "the secret"

    @prompt(access=is_admin)
    def words(request: Request) -> str:
        """Secret words."""
        meanwhile(box["users"])
        return "the secret"

    options = {"recheck": True, **options}
    server = Server(name="test", tools=[secret, fails], resources=[page], prompts=[words], **options)
    app = create_app(server=server)
    box["users"] = app.extensions["test_users"]
    return app


def nothing(users: dict[str, User]) -> None:
    pass


def demote(users: dict[str, User]) -> None:
    users["root"] = User("root")


def disable(users: dict[str, User]) -> None:
    users["root"] = User("root", admin=True)
    users["root"].enabled = False


def delete(users: dict[str, User]) -> None:
    del users["root"]


def test_what_is_allowed_goes_out() -> None:
    """A subject who may have it before and after gets it."""
    wire = Wire(app_with(nothing))
    assert wire.call("tools/call", {"name": "secret"}, bearer("root"))["content"][0]["text"] == "the secret"


@pytest.mark.parametrize("change", [demote, disable, delete])
@pytest.mark.parametrize("by", ["session", "token"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "secret"}),
        ("tools/call", {"name": "fails"}),
        ("resources/read", {"uri": "a:secret"}),
        ("prompts/get", {"name": "words"}),
    ],
)
def test_a_subject_who_lost_it_meanwhile_is_refused(change: Any, by: str, method: str, params: Any) -> None:
    """Demoted, disabled or deleted while the handler ran: a refusal goes out, and says that it had been carried out."""
    wire = Wire(app_with(change))
    headers = bearer("root") if by == "token" else {}
    if by == "session":
        wire.sign_in("root")
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = wire.post(message, headers)
    assert b"the secret" not in answer.data
    assert b"403 Forbidden" in answer.data
    assert b"carried out" in answer.data


def test_without_recheck_the_answer_goes_out() -> None:
    """The recheck is asked for; without it the decision at the door stands."""
    answer = Wire(app_with(delete, recheck=False)).call("tools/call", {"name": "secret"}, bearer("root"))
    assert answer["content"][0]["text"] == "the secret"


def test_lists_are_rechecked() -> None:
    """An entry whose policy lets in only once is not listed."""
    asked: list[str] = []

    def once(subject: Any) -> bool:
        asked.append("x")
        return len(asked) % 2 == 1

    @tool(access=once)
    def fleeting(request: Request) -> str:
        """Is there for a moment."""
        return ""

    app = create_app(server=Server(name="test", tools=[fleeting], recheck=True))
    assert Wire(app).call("tools/list")["tools"] == []


# ------------------------------------------------------------------------------------------------ the guard


def guarded(guard: Any, **options: Any) -> Wire:
    @tool(access=public)
    def data(request: Request) -> dict[str, str]:
        """Gives data."""
        return {"iban": "DE00", "name": "Ana"}

    @tool(access=public)
    def text(request: Request) -> str:
        """Gives text."""
        return "IBAN DE00"

    @tool(access=public)
    def fault(request: Request) -> Response:
        """Gives an error."""
        return Response.error("Nothing found.")

    @resource("a:b", access=public)
    def page(request: Request) -> str:
        """A page."""
        return "IBAN DE00"

    @prompt(access=public)
    def words(request: Request) -> str:
        """Words."""
        return "IBAN DE00"

    server = Server(
        name="test", tools=[data, text, fault], resources=[page], prompts=[words], recheck=True, guard=guard, **options
    )
    return Wire(create_app(server=server))


def redact(request: Request, response: Response) -> Response | None:
    """Take account numbers out of every kind of answer."""

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: clean(inner) for key, inner in value.items() if key != "iban"}
        if isinstance(value, list):
            return [clean(inner) for inner in value]
        return value.replace("DE00", "…") if isinstance(value, str) else value

    if response.has_data:
        return Response.json(clean(response.data))
    return Response(*(Text(clean(block.text)) for block in response.content if isinstance(block, Text)))


def test_a_guard_may_replace_every_kind_of_answer() -> None:
    """Tools, resources, prompts and lists pass the guard last, and what it gives back goes out."""
    wire = guarded(redact)
    assert wire.call("tools/call", {"name": "data"})["structuredContent"] == {"name": "Ana"}
    assert wire.call("tools/call", {"name": "text"})["content"][0]["text"] == "IBAN …"
    assert wire.call("resources/read", {"uri": "a:b"})["contents"][0]["text"] == "IBAN …"
    assert wire.call("prompts/get", {"name": "words"})["messages"][0]["content"]["text"] == "IBAN …"


def test_a_guard_sees_lists() -> None:
    """The entries of a list are an answer too."""

    def only_text(request: Request, response: Response) -> Response | None:
        entries = response.data
        assert isinstance(entries, list)
        return Response.json([entry for entry in entries if entry["name"] == "text"])

    assert [entry["name"] for entry in guarded(only_text).call("tools/list")["tools"]] == ["text"]


def test_a_guard_is_not_shown_errors() -> None:
    """Only successful answers carry what a guard is for."""
    seen: list[Response] = []

    def note(request: Request, response: Response) -> None:
        seen.append(response)

    result = guarded(note).call("tools/call", {"name": "fault"})
    assert result["content"][0]["text"] == "Nothing found."
    assert seen == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "data"}),
        ("resources/read", {"uri": "a:b"}),
        ("prompts/get", {"name": "words"}),
        ("tools/list", {}),
    ],
)
@pytest.mark.parametrize("how", ["forbid", "error", "crash", "wrong"])
def test_a_guard_may_refuse(method: str, params: Any, how: str) -> None:
    """A guard that refuses, breaks or gives nonsense lets nothing out."""

    def refuse(request: Request, response: Response) -> Any:
        if how == "forbid":
            raise Forbidden("Not this.")
        if how == "crash":
            raise RuntimeError("DE00")
        return Response.error("Not this.") if how == "error" else 5

    answer = guarded(refuse).post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    assert b"DE00" not in answer.data
    assert (b"Not this." in answer.data) == (how in {"forbid", "error"})
    assert (b"Internal error (ref" in answer.data) == (how in {"crash", "wrong"})


def test_nothing_is_shared_where_a_guard_decides() -> None:
    """What a guard may take out for one caller is not cached for another."""
    for method in ("tools/list", "server/discover"):
        assert guarded(redact).modern(method).get_json()["result"]["cacheScope"] == "private"


def test_a_declaration_may_have_its_own_guard() -> None:
    """A declaration's guard takes the place of the server's, and a plain function of a class body is no method."""

    def own(request: Request, response: Response) -> Response:
        return Response.text("guarded")

    class Open(Tool):
        """Says much."""

        name = "open"
        access = signed_in
        guard = own

        def handle(self, request: Request) -> str:
            return "much"

    server = Server(name="test", tools=[Open()], recheck=True)
    assert server.call(User("alice"), "open").text == "guarded"


def test_a_guard_needs_a_recheck() -> None:
    """A guard that is given an answer for somebody who is gone would guard it for nobody."""

    @tool(access=public, guarded=True)
    def precious(request: Request) -> str:
        """Must not be served unguarded."""
        return ""

    cases: list[tuple[dict[str, Any], str]] = [
        ({"guard": redact}, "add recheck=True"),
        ({"recheck": True, "tools": [precious]}, "says guarded=True"),
    ]
    for options, says in cases:
        with pytest.raises(DeclarationError, match=says):
            Server(name="test", **options).validate()
    Server(name="test", recheck=True, guard=redact, tools=[precious]).validate()
