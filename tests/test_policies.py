"""Who may reach a declaration: one decision for lists and calls, over every way in. What is refused does not run, and
what is concealed answers exactly as what was never declared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, abort
from marshmallow import fields
from werkzeug.exceptions import Forbidden, NotFound, Unauthorized
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, Request, Server, guest, prompt, public, resource, signed_in, tool
from flask_arandu_mcp.errors import ProtocolError

from .app import User, create_app
from .wire import Wire, bearer, call, modern, modern_headers

NEWEST = {"MCP-Protocol-Version": "2025-11-25"}
Policy = Callable[[Any], Any]


def everybody(subject: Any) -> bool:
    """Like `public`, but for the caches: what is public to them says of a list that nothing is hidden."""
    return True


class Guarded:
    """A server whose declarations of each kind share one policy, and what ran of them."""

    def __init__(self, access: Policy, *, declared: bool = True) -> None:
        self.ran: list[str] = []
        kinds = self._declarations(access) if declared else ([], [], [])
        tools, resources, prompts = kinds
        tools.append(self._open_tool())
        resources += self._open_resources()
        prompts.append(self._open_prompt())
        self.server = Server("guarded", tools=tools, resources=resources, prompts=prompts)

    def _declarations(self, access: Policy) -> tuple[list[Any], list[Any], list[Any]]:
        ran = self.ran

        @tool(access=access, arguments={"key": fields.String(required=True)})
        def wipe(request: Request, key: str) -> str:
            """Wipes."""
            ran.append("tool")
            return "wiped"

        @resource("x://ledger", access=access)
        def ledger(request: Request) -> str:
            """The ledger."""
            ran.append("resource")
            return "ledger"

        @resource("x://books/{name}", access=access)
        def book(request: Request, name: str) -> str:
            """A book."""
            ran.append("template")
            return name

        @prompt(access=access, arguments={"topic": fields.String(required=True)})
        def plan(request: Request, topic: str) -> str:
            """A plan."""
            ran.append("prompt")
            return topic

        @book.completes("name")
        @plan.completes("topic")
        def values(request: Request, value: str) -> list[str]:
            ran.append("completion")
            return ["one"]

        return [wipe], [ledger, book], [plan]

    @staticmethod
    def _open_tool() -> Any:
        @tool(access=everybody)
        def open_tool(request: Request) -> str:
            """For everybody."""
            return "open"

        return open_tool

    @staticmethod
    def _open_resources() -> list[Any]:
        @resource("x://open", access=everybody)
        def open_resource(request: Request) -> str:
            """For everybody."""
            return "open"

        @resource("x://open/{name}", access=everybody)
        def open_template(request: Request, name: str) -> str:
            """For everybody."""
            return name

        return [open_resource, open_template]

    @staticmethod
    def _open_prompt() -> Any:
        @prompt(access=everybody, arguments={"topic": fields.String()})
        def open_prompt(request: Request, topic: str = "") -> str:
            """For everybody."""
            return "open"

        @open_prompt.completes("topic")
        def values(request: Request, value: str) -> list[str]:
            return []

        return open_prompt

    def wire(self, config: dict[str, Any] | None = None) -> Wire:
        app = Flask("guarded")
        app.config.update(config or {})
        app.secret_key = "a key for the tests"
        ArandoMCP(app, self.server)
        return Wire(app)


LISTS = [
    ("tools/list", "tools"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
    ("prompts/list", "prompts"),
]
PLAN = {"type": "ref/prompt", "name": "plan"}
WITHOUT_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("resources/read", {"uri": "x://ledger"}),
    ("resources/read", {"uri": "x://books/emma"}),
    ("prompts/get", {"name": "plan", "arguments": {"topic": "t"}}),
    ("prompts/get", {"name": "plan", "arguments": {"wrong": 1}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "plan"}, "argument": {"name": "topic", "value": ""}},
    ),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "plan"}, "argument": {"name": "none", "value": ""}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "x://books/{name}"}, "argument": {"name": "name", "value": ""}},
    ),
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("tools/call", {"name": "wipe", "arguments": {"key": "k"}}),
    ("tools/call", {"name": "wipe", "arguments": {"wrong": 1}}),
    ("tools/call", {"name": "wipe"}),
    *WITHOUT_TOOLS,
]


def send(wire: Wire, method: str, params: dict[str, Any], era: str) -> TestResponse:
    if era == "handshake":
        return wire.post(call(method, params, "q-1"), NEWEST)
    message = modern(method, params, "q-1")
    return wire.post(message, modern_headers(message))


def names_listed(wire: Wire, method: str, key: str) -> list[str]:
    answer = wire.post(call(method), NEWEST).get_json()
    assert None not in answer["result"][key]
    return [one["name"] for one in answer["result"][key]]


def everything(answer: TestResponse) -> tuple[int, list[tuple[str, str]], bytes]:
    return answer.status_code, list(answer.headers), answer.data


def raising(error: Exception) -> Policy:
    def policy(subject: Any) -> bool:
        raise error

    return policy


# -------------------------------------------------------------------------------------------------- admitted

OPEN = [["open_tool"], ["open_resource"], ["open_template"], ["open_prompt"]]
ALL = [["wipe", "open_tool"], ["ledger", "open_resource"], ["book", "open_template"], ["plan", "open_prompt"]]


def test_a03_true_shows_and_runs() -> None:
    """Who is let in sees each declaration in its list, and reaches it."""
    guarded = Guarded(lambda subject: True)
    wire = guarded.wire()
    assert [names_listed(wire, *one) for one in LISTS] == ALL
    for method, params in CALLS[:1] + WITHOUT_TOOLS[:3] + WITHOUT_TOOLS[4:5] + WITHOUT_TOOLS[6:]:
        assert "error" not in send(wire, method, params, "handshake").get_json()
    assert guarded.ran == ["tool", "resource", "template", "prompt", "completion", "completion"]


# --------------------------------------------------------------------------------------------------- refused

REFUSALS: dict[str, tuple[Policy, str]] = {
    "False": (lambda subject: False, "403 Forbidden: you may not use this."),
    "Forbidden": (raising(Forbidden()), "403 Forbidden: you may not use this."),
    "Forbidden with words": (raising(Forbidden("Ask the owner.")), "403 Forbidden: Ask the owner."),
    "abort(403)": (lambda subject: abort(403), "403 Forbidden: you may not use this."),
    "signed_in": (signed_in, "403 Forbidden: sign in to use this."),
}


@pytest.mark.parametrize("refusal", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a03_a_refusal_hides_and_says_so(refusal: tuple[Policy, str], era: str) -> None:
    """False and Forbidden hide a declaration from its list, and a call is told that it may not; nothing runs."""
    policy, words = refusal
    guarded = Guarded(policy)
    wire = guarded.wire()
    assert [names_listed(wire, *one) for one in LISTS] == OPEN
    for method, params in CALLS:
        answer = send(wire, method, params, era)
        assert answer.status_code == 200
        body = answer.get_json()
        if method == "tools/call":
            assert body["result"]["isError"] is True
            assert body["result"]["content"] == [{"type": "text", "text": words}]
        else:
            assert body["error"] == {"code": 403, "message": words}
        assert "key" not in answer.text
    assert guarded.ran == []


# ------------------------------------------------------------------------------------------------- concealed

CONCEALING: dict[str, Policy] = {
    "NotFound": raising(NotFound()),
    "NotFound with words": raising(NotFound("There is a tool, but not for you.")),
    "abort(404)": lambda subject: abort(404),
    "a NotFound of the app's own": raising(type("NoSuchThing", (NotFound,), {})()),
}


@pytest.mark.parametrize("policy", CONCEALING.values(), ids=CONCEALING)
@pytest.mark.parametrize("era", ["handshake", "stateless"])
def test_a03_what_is_concealed_answers_as_what_was_never_declared(policy: Policy, era: str) -> None:
    """Every answer is, byte for byte and header for header, the one of a server that has no such declaration."""
    guarded = Guarded(policy)
    concealed, absent = guarded.wire(), Guarded(policy, declared=False).wire()
    for method, params in [
        *((method, {}) for method, _ in LISTS),
        *CALLS,
        ("tools/call", {"name": "wipe", "arguments": 5}),
    ]:
        one, other = (send(wire, method, params, era) for wire in (concealed, absent))
        assert everything(one) == everything(other)
    assert guarded.ran == []


def test_a03_the_door_conceals_too() -> None:
    """What plain Python is told is the same for a concealed name and an unknown one."""
    guarded, absent = Guarded(raising(NotFound())), Guarded(public, declared=False)

    def told(server: Server) -> list[Any]:
        asked: list[Callable[[], Any]] = [
            lambda: server.call(guest, "wipe", {"key": "k"}),
            lambda: server.read(guest, "x://ledger"),
            lambda: server.read(guest, "x://books/emma"),
            lambda: server.get(guest, "plan", {"topic": "t"}),
            lambda: server.complete(guest, "plan", "topic"),
            lambda: server.complete(guest, "x://books/{name}", "name"),
        ]
        answers: list[Any] = []
        for ask in asked:
            with pytest.raises(ProtocolError) as caught:
                ask()
            answers.append((caught.value.code, caught.value.message, caught.value.data))
        return answers

    assert told(guarded.server) == told(absent.server)


# ------------------------------------------------------------------------------------- policies that give no answer


class Odd:
    """An object that is true."""


BROKEN: dict[str, Policy] = {
    "None": lambda subject: None,
    "1": lambda subject: 1,
    "0": lambda subject: 0,
    "text": lambda subject: "yes",
    "an object": lambda subject: Odd(),
    "a function": lambda subject: signed_in,
    "a crash": raising(RuntimeError("the policy's secret")),
    "a missing attribute": lambda subject: subject.no_such_attribute_of_the_policy,
    "Unauthorized": raising(Unauthorized("the policy's secret")),
    "abort(500)": lambda subject: abort(500),
    "a ValueError": raising(ValueError("the policy's secret")),
}


@pytest.mark.parametrize("config", [{}, {"TESTING": True}, {"DEBUG": True}])
@pytest.mark.parametrize("policy", BROKEN.values(), ids=BROKEN)
def test_a03_a_policy_without_an_answer_refuses(
    policy: Policy, config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Anything but a bool, Forbidden or NotFound: lists fail, calls are refused, and both are logged with a ref."""
    guarded = Guarded(policy)
    wire = guarded.wire(config)
    refs = []
    for method, _ in LISTS:
        error = wire.post(call(method), NEWEST).get_json()["error"]
        assert error["code"] == -32603
        refs.append(error["data"]["ref"])
        assert error["message"] == f"Internal error (ref {refs[-1]})."
    for method, params in CALLS:
        body = send(wire, method, params, "handshake").get_json()
        if method == "tools/call":
            assert body["result"]["isError"] is True
            words = body["result"]["content"][0]["text"]
        else:
            assert body["error"]["code"] == 403
            words = body["error"]["message"]
        found = re.fullmatch(r"403 Forbidden: you may not use this\. \(ref ([0-9a-f]+)\)", words)
        assert found
        refs.append(found[1])
    assert guarded.ran == []
    assert len(set(refs)) == len(refs)
    assert all(f"(ref {ref})" in caplog.text for ref in refs)


def test_a_policy_that_answers_no_bool_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever reads the log learns which policy it was, and what it must answer."""

    def is_owner(subject: Any) -> Any:
        return None

    Guarded(is_owner).wire().post(call("tools/call", {"name": "wipe"}), NEWEST)
    assert "the policy 'is_owner' answered NoneType; it must answer a bool" in caplog.text


def test_nothing_of_a_broken_policy_goes_out() -> None:
    """No answer holds a word of the exception, not even its class."""
    wire = Guarded(raising(RuntimeError("the policy's secret"))).wire({"DEBUG": True})
    for method, params in [*((method, {}) for method, _ in LISTS), *CALLS]:
        text = send(wire, method, params, "handshake").text
        assert "secret" not in text
        assert "RuntimeError" not in text


# ------------------------------------------------------------------------------------------- when, and of whom


def test_a_policy_is_asked_anew_each_time() -> None:
    """A demotion counts from the next message on, in lists and calls alike; nothing is kept."""
    app = create_app()
    wire = Wire(app)
    root = app.extensions["test_users"]["root"]

    def admitted() -> tuple[bool, bool]:
        listed = wire.call("tools/list", headers=bearer("root"))["tools"]
        called = wire.call("tools/call", {"name": "admin_false", "arguments": {"key": "k"}}, bearer("root"))
        return "admin_false" in {one["name"] for one in listed}, "isError" not in called

    assert admitted() == (True, True)
    root.admin = False
    assert admitted() == (False, False)
    root.admin = True
    assert admitted() == (True, True)


def test_a03_each_user_has_lists_of_their_own() -> None:
    """Who asks next gets their own list, whoever asked before."""
    wire = Wire(create_app())
    seen: dict[str, str] = {}
    for who in ("root", "alice", "", "root", "alice", ""):
        headers = bearer(who) if who else {}
        listed = json.dumps(wire.call("tools/list", headers=headers))
        assert seen.setdefault(who, listed) == listed
    assert len({*seen.values()}) == 3


def test_the_subject_of_a_policy_is_the_user_itself() -> None:
    """A policy is given the app's own user, and a guest as Flask-Login's anonymous user."""
    seen: list[Any] = []

    def look(subject: Any) -> bool:
        seen.append(subject)
        return True

    app = create_app(server=Guarded(look).server)
    wire = Wire(app)
    wire.call("tools/list", headers=bearer("alice"))
    wire.call("tools/call", {"name": "wipe", "arguments": {"key": "k"}}, bearer("alice"))
    assert [type(one) for one in seen] == [User, User]
    assert all(one is app.extensions["test_users"]["alice"] for one in seen)


@pytest.mark.parametrize(
    ("authenticated", "active", "admitted"),
    [(True, True, True), (True, False, False), (False, True, False), (False, False, False)],
)
def test_signed_in_is_authenticated_and_active(authenticated: bool, active: bool, admitted: bool) -> None:
    """Both, in Flask-Login's words, and True or False whatever the app's users answer."""
    subject = type("Subject", (), {"is_authenticated": authenticated, "is_active": active})()
    assert signed_in(subject) is admitted
    assert signed_in(guest) is False
    assert signed_in(None) is False
    assert public(None) is True


def test_the_servers_word_is_the_default() -> None:
    """A declaration without a word of its own has the server's; one of its own counts alone."""

    @tool()
    def silent(request: Request) -> str:
        """Says nothing of who may."""
        return "silent"

    @tool(access=public)
    def spoken(request: Request) -> str:
        """Says who may."""
        return "spoken"

    server = Server("default", tools=[silent, spoken], access=signed_in)
    assert [one["name"] for one in server.list_tools(guest)] == ["spoken"]
    assert [one["name"] for one in server.list_tools(User("alice"))] == ["silent", "spoken"]
    assert server.call(guest, "silent").is_error
    assert server.call(User("alice"), "silent").text == "silent"


def test_a_policy_may_be_an_object(caplog: pytest.LogCaptureFixture) -> None:
    """Any callable decides, and an object that is one is named by its class."""

    class IsNamed:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, subject: Any) -> Any:
            return subject.id == self.name if hasattr(subject, "id") else None

    guarded = Guarded(IsNamed("alice"))
    assert guarded.server.call(User("alice"), "wipe", {"key": "k"}).text == "wiped"
    assert guarded.server.call(User("bob"), "wipe", {"key": "k"}).is_error
    guarded.server.call(guest, "wipe", {"key": "k"})
    assert "the policy 'IsNamed' answered NoneType" in caplog.text
