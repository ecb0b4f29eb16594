"""What a token was given, as the app tells it. Scopes limit tokens, and nobody who came without one; what a token lacks
is said before anything of the call is looked at, in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask import Flask, abort
from flask.wrappers import Request as FlaskRequest
from flask_login import LoginManager
from marshmallow import fields
from werkzeug.exceptions import NotFound
from werkzeug.test import TestResponse

from flask_arandu_mcp import (
    ArandoMCP,
    DeclarationError,
    Progress,
    Request,
    Server,
    prompt,
    public,
    resource,
    signed_in,
    tool,
)

from .app import User, Users, calls, create_app
from .wire import Wire, bearer, call

PUBLIC = "https://api.example.com"
DOCUMENT = f"{PUBLIC}/.well-known/oauth-protected-resource/mcp"
PROTECTED: dict[str, Any] = {"MCP_AUTHORIZATION_SERVERS": ["https://auth.example.com"], "MCP_PUBLIC_URL": PUBLIC}


@tool(access=public)
def free(request: Request) -> str:
    """Needs no scope."""
    calls.append("free")
    return "free"


@tool(access=signed_in, scopes=["tasks:write", "tasks:read"], arguments={"id": fields.Integer(required=True)})
def finish(request: Request, id: int) -> str:
    """Needs two."""
    calls.append("finish")
    return "finished"


def nobody(subject: object) -> bool:
    raise NotFound


@tool(access=nobody, scopes=["secret:scope"])
def hidden(request: Request) -> str:
    """Nobody knows of it."""
    calls.append("hidden")
    return "hidden"


@resource("tasks://{id}", access=signed_in, scopes=["tasks:read"])
def task(request: Request, id: str) -> str:
    """Needs one."""
    calls.append("task")
    return f"task {id}"


@task.completes("id")
def task_ids(request: Request, value: str) -> list[str]:
    calls.append("task_ids")
    return ["1"]


@resource("tasks://all", access=signed_in, scopes=["tasks:read"])
def all_tasks(request: Request) -> str:
    """Needs one."""
    calls.append("all_tasks")
    return "all tasks"


@prompt(access=signed_in, scopes=["tasks:read"])
def plan(request: Request) -> str:
    """Needs one."""
    calls.append("plan")
    return "plan"


def told(scopes: Any) -> Callable[[FlaskRequest], Any]:
    return lambda request: scopes


def make_app(scopes: Callable[[FlaskRequest], Any] | None, config: dict[str, Any] | None = None) -> Flask:
    """An app whose tokens were given what a function says."""
    server = Server(
        "tasks", tools=[free, finish, hidden], resources=[task, all_tasks], prompts=[plan], access=signed_in
    )
    app = create_app(config, server=server)
    if scopes is not None:
        app.extensions["arandu_mcp"]["default"].declared.token_scopes = scopes
    return app


def make_wire(scopes: Any, config: dict[str, Any] | None = None) -> Wire:
    return Wire(make_app(told(scopes), config))


def use(wire: Wire, name: str = "finish", arguments: Any = None, headers: dict[str, str] | None = None) -> TestResponse:
    params = {"name": name, "arguments": {"id": 1} if arguments is None else arguments}
    return wire.post(call("tools/call", params, "q-1"), headers or {})


def is_insufficient(answer: TestResponse, scope: str, *, document: str = "", id: Any = "q-1") -> None:
    """A 403 that says which scopes are needed, to the request that it answers, and nothing ran."""
    assert (answer.status_code, answer.mimetype) == (403, "application/json"), answer.data
    where = f', resource_metadata="{document}"' if document else ""
    expected = f'Bearer realm="tasks", error="insufficient_scope", scope="{scope}"{where}'
    assert answer.headers["WWW-Authenticate"] == expected
    body = answer.get_json()
    assert (body["id"], body["error"]["code"]) == (id, 403)
    assert "result" not in body
    assert calls == []


def is_served(answer: TestResponse, *ran: str) -> None:
    assert answer.status_code == 200, answer.data
    assert "result" in answer.get_json()
    assert not answer.get_json()["result"].get("isError")
    assert calls == list(ran)
    calls.clear()


# ------------------------------------------------------------------------------------------- of a declaration


def test_a_token_that_lacks_a_scope_is_told_all_that_are_needed() -> None:
    """A missing scope is 403 with every scope of the call, so that a client asks its user once."""
    for given in ([], ["tasks:read"], ["tasks:writer", "tasks"], "tasks:read other", ["TASKS:READ", "tasks:write"]):
        is_insufficient(use(make_wire(given), headers=bearer("alice")), "tasks:read tasks:write")
    wire = make_wire([], PROTECTED)
    is_insufficient(use(wire, headers=bearer("alice")), "tasks:read tasks:write", document=DOCUMENT)


@pytest.mark.parametrize(
    "given",
    [
        ["tasks:read", "tasks:write"],
        ("tasks:write", "tasks:read", "more"),
        {"tasks:read", "tasks:write"},
        "tasks:read tasks:write",
        "  tasks:write   tasks:read ",
        iter(["tasks:read", "tasks:write"]),
    ],
)
def test_a_token_with_all_scopes_is_served(given: Any) -> None:
    """Scopes come as any list, or as the one str that tokens carry."""
    is_served(use(make_wire(given), headers=bearer("alice")), "finish")


def test_scopes_come_before_arguments() -> None:
    """What a token may not do is said before what it said is looked at."""
    for arguments in ({}, {"id": "x"}, {"unknown": 1}):
        is_insufficient(use(make_wire([]), arguments=arguments, headers=bearer("alice")), "tasks:read tasks:write")


@pytest.mark.parametrize(
    ("method", "params", "ran"),
    [
        ("resources/read", {"uri": "tasks://1"}, "task"),
        ("resources/read", {"uri": "tasks://all"}, "all_tasks"),
        ("prompts/get", {"name": "plan"}, "plan"),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "tasks://{id}"}, "argument": {"name": "id", "value": ""}},
            "task_ids",
        ),
    ],
)
def test_every_way_to_a_declaration_asks_for_its_scopes(method: str, params: dict[str, Any], ran: str) -> None:
    """Reading, rendering and completing are limited as calling is, in both eras."""
    wire = make_wire(["tasks:write"])
    is_insufficient(wire.post(call(method, params, "q-1"), bearer("alice")), "tasks:read")
    is_insufficient(wire.modern(method, params, **bearer("alice")), "tasks:read", id=1)
    is_served(make_wire(["tasks:read"]).post(call(method, params, "q-1"), bearer("alice")), ran)


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/event-stream"])
def test_a_handler_that_talks_is_limited_before_it_says_anything(accept: str) -> None:
    """What a token lacks is a 403 for a handler that would stream, too, and no stream begins."""

    @tool(access=public, scopes=["tasks:write"])
    def slow(request: Request) -> Iterator[Progress]:
        """Works for a while."""
        calls.append("slow")
        yield Progress(1, total=2)

    app = create_app(server=Server("tasks", tools=[slow]))
    given: list[str] = []
    app.extensions["arandu_mcp"]["default"].declared.token_scopes = told(given)
    message = call("tools/call", {"name": "slow", "_meta": {"progressToken": 1}}, "q-1")
    is_insufficient(Wire(app).post(message, {"Accept": accept, **bearer("alice")}), "tasks:write")
    given.append("tasks:write")
    assert Wire(app).post(message, {"Accept": accept, **bearer("alice")}).status_code == 200
    assert calls == ["slow"]


def test_what_needs_no_scope_is_served_to_any_token() -> None:
    """Lists and declarations without scopes are not limited by those of others."""
    wire = make_wire([])
    is_served(use(wire, "free", {}, bearer("alice")), "free")
    listed = wire.call("tools/list", headers=bearer("alice"))["tools"]
    assert [one["name"] for one in listed] == ["free", "finish"]


def test_the_policy_comes_before_the_scopes() -> None:
    """A declaration that must seem not to exist is not found by the scopes that it needs."""
    for config in ({}, {"MCP_SCOPES": ["tasks"]}):
        wire = make_wire(["tasks"], config)
        unknown = use(wire, "unknown", {}, bearer("alice"))
        answer = use(wire, "hidden", {}, bearer("alice"))
        assert answer.data.replace(b"hidden", b"unknown") == unknown.data
        assert "WWW-Authenticate" not in answer.headers
    wire = make_wire([], {"MCP_SCOPES": ["tasks"]})
    is_insufficient(use(wire, "hidden", {}, bearer("alice")), "tasks")
    assert calls == []


# --------------------------------------------------------------------------------------------- of every token


@pytest.mark.parametrize("method", ["initialize", "ping", "tools/list", "tools/call", "no/such"])
def test_mcp_scopes_are_asked_of_every_message(method: str) -> None:
    """A token without the scopes that all need is told so whatever it asks."""
    wire = make_wire(["other"], {"MCP_SCOPES": ["tasks", "base"], **PROTECTED})
    answer = wire.post(call(method, {"name": "free"}, "q-1"), bearer("alice"))
    is_insufficient(answer, "tasks base", document=DOCUMENT)
    notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert wire.post(notification, bearer("alice")).status_code == 403


@pytest.mark.parametrize(
    ("method", "params", "scope"),
    [
        ("tools/call", {"name": "finish"}, "base tasks:read tasks:write"),
        ("resources/read", {"uri": "tasks://9"}, "base tasks:read"),
        ("resources/read", {"uri": 9}, "base"),
        ("resources/read", {"uri": "other://9"}, "base"),
        ("prompts/get", {"name": "plan"}, "base tasks:read"),
        ("prompts/get", {"name": ["plan"]}, "base"),
    ],
)
def test_what_all_need_and_what_one_needs_is_asked_for_together(method: str, params: Any, scope: str) -> None:
    """A client that lacks both is told both, not one after the other."""
    wire = make_wire([], {"MCP_SCOPES": ["base"]})
    is_insufficient(wire.post(call(method, params, "q-1"), bearer("alice")), scope)
    wire = make_wire(["base"], {"MCP_SCOPES": ["base"]})
    answer = wire.post(call(method, params, "q-1"), bearer("alice"))
    assert answer.headers.get("WWW-Authenticate", scope).count(scope) == 1
    assert calls == []


def test_a_token_with_all_that_all_need_is_served() -> None:
    """MCP_SCOPES and the declaration's own are enough."""
    wire = make_wire("base tasks:read tasks:write", {"MCP_SCOPES": ["base"], **PROTECTED})
    is_served(use(wire, headers=bearer("alice")), "finish")


def test_scopes_that_are_not_known_are_not_checked() -> None:
    """MCP_SCOPES alone are for the challenge: an app that tells no token's scopes has checked them itself."""
    app = create_app({"MCP_SCOPES": ["base"]}, server=Server("tasks", tools=[free]))
    is_served(use(Wire(app), "free", {}, bearer("alice")), "free")
    assert Wire(app).post(call("ping"), bearer("nobody")).headers["WWW-Authenticate"].endswith(', scope="base"')


# --------------------------------------------------------------------------------------------- tokens, and no others


def refuse(request: FlaskRequest) -> Any:
    raise AssertionError("asked for scopes of what is no token")


def test_a_session_has_no_scopes() -> None:
    """Who signed in to the app's pages is limited by the policy alone, and the app is not asked for scopes."""
    wire = Wire(make_app(refuse, {"MCP_SCOPES": ["base"]}))
    wire.sign_in("alice")
    is_served(use(wire), "finish")


def test_a_guest_has_no_scopes() -> None:
    """A guest without any token is limited by the policy alone."""
    wire = Wire(make_app(refuse, {"MCP_SCOPES": ["base"]}))
    is_served(use(wire, "free", {}), "free")


def test_basic_credentials_are_no_token() -> None:
    """What a browser keeps and adds by itself has no scopes."""
    app = make_app(refuse)
    manager: Any = app.login_manager  # type: ignore[attr-defined]  # Flask-Login puts it there
    manager.request_loader(lambda request: app.extensions["test_users"]["alice"])
    is_served(use(Wire(app), headers={"Authorization": "Basic eA=="}), "finish")


def test_the_door_for_plain_python_has_no_scopes() -> None:
    """Tests and an app's own code call as a subject, not with a token."""
    app = make_app(refuse)
    server: Server = app.extensions["arandu_mcp"]["default"].server
    assert server.call(User("alice"), "finish", {"id": 1}).text == "finished"


def test_a_bad_token_is_asked_for_nothing() -> None:
    """A token that nobody has is 401, and its scopes do not matter."""
    answer = use(Wire(make_app(refuse)), headers=bearer("nobody"))
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


def test_the_decorator_is_given_the_request_each_time() -> None:
    """`@mcp.token_scopes` leaves the function as it was, and asks it for every message, with Flask's request."""
    app = Flask(__name__)
    app.secret_key = "a key for the tests"
    users = Users({"alice": User("alice")})
    LoginManager(app).request_loader(users.by_token)
    mcp = ArandoMCP(app, Server("tasks", tools=[finish]))
    seen: list[str] = []

    @mcp.token_scopes
    def scopes(request: FlaskRequest) -> list[str]:
        seen.append(request.headers["Authorization"])
        return ["tasks:read", "tasks:write"] if len(seen) == 1 else []

    mcp.check(app)
    is_served(use(Wire(app), headers=bearer("alice")), "finish")
    is_insufficient(use(Wire(app), headers=bearer("alice")), "tasks:read tasks:write")
    assert seen == ["Bearer token-alice"] * 2
    assert scopes.__name__ == "scopes"


def test_a_coroutine_may_tell_the_scopes() -> None:
    """The function may be async, as views may."""

    async def scopes(request: FlaskRequest) -> str:
        return "tasks:read tasks:write"

    is_served(use(Wire(make_app(scopes)), headers=bearer("alice")), "finish")


def failing(request: FlaskRequest) -> Any:
    raise ConnectionError("the token service's secret")


@pytest.mark.parametrize("scopes", [failing, told(None), told(7), told([1]), told(b"tasks:read"), told([None])])
def test_scopes_that_cannot_be_told_are_503(scopes: Any, caplog: pytest.LogCaptureFixture) -> None:
    """While it cannot be told what a token may do it may do nothing, and the log says why."""
    for name in ("finish", "free"):
        answer = use(Wire(make_app(scopes)), name, headers=bearer("alice"))
        assert (answer.status_code, answer.mimetype) == (503, "application/json")
        body = answer.get_json()
        assert (body["id"], body["error"]["code"]) == ("q-1", -32603)
        assert "secret" not in answer.text
        assert (
            f"the function that @mcp.token_scopes decorates failed (ref {body['error']['data']['ref']})" in caplog.text
        )
    assert calls == []


def test_a_function_that_finds_the_token_to_be_no_good_says_so() -> None:
    """`abort(401)` in it is what it is in a loader: the token is not valid."""
    answer = use(Wire(make_app(lambda request: abort(401))), headers=bearer("alice"))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="tasks", error="invalid_token"'


# -------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("scopes", [["a b"], ['"'], ["a\\b"], [""], ["caf\u00e9"], [7], [None], ["ok", "not ok"]])
def test_what_is_no_scope_stops_the_app(scopes: Any) -> None:
    """A scope with a space or a quote could be no token's, and is found at boot."""

    @tool(access=public, scopes=scopes)
    def limited(request: Request) -> str:
        """Is limited."""
        return ""

    with pytest.raises(DeclarationError, match=r"tool 'limited': .* is no scope.*'tasks:read'") as caught:
        Server("tasks", tools=[limited]).validate()
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize("scopes", ["tasks:read", 7, None])
def test_scopes_that_are_no_list_stop_the_app(scopes: Any) -> None:
    """One str would be taken for its letters."""

    @resource("tasks://x", access=public, scopes=scopes)
    def limited(request: Request) -> str:
        """Is limited."""
        return ""

    with pytest.raises(DeclarationError, match=r"limited.*: scopes is .*; it must be a list .*\['tasks:read'\]"):
        Server("tasks", resources=[limited]).validate()


def test_scopes_that_nobody_tells_are_a_mistake() -> None:
    """Scopes without `@mcp.token_scopes` would limit nobody, and the finished app is told which they are."""
    app = make_app(None)
    with pytest.raises(DeclarationError) as caught:
        app.extensions["arandu_mcp"]["default"].check()
    assert len(caught.value.faults) == 5
    assert all("@mcp.token_scopes" in fault for fault in caught.value.faults)
    assert caught.value.faults[0].startswith("'finish' has scopes, ")
    assert use(Wire(app), "free", {}, bearer("alice")).status_code == 503
