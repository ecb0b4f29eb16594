"""Rate limits, counted by the real Flask-Limiter, in memory and in a real Redis."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, Response, request
from flask_limiter import Limiter
from flask_limiter.util import get_remote_address
from werkzeug.http import http_date
from werkzeug.middleware.proxy_fix import ProxyFix

from flask_arandu_mcp import ArandoMCP, DeclarationError, Request, Server, public, resource, tool
from flask_arandu_mcp.signals import tool_refused

from ..app import create_app as create_unlimited_app
from ..served import Gunicorn, exchange, post
from ..wire import META, Pipe, Wire, bearer, call, modern, modern_headers
from .limited import Redis, blueprint_of, create_app, limiter_of, make_server

PING = {"name": "ping", "arguments": {}}
WAIT = re.compile(r"429 Too Many Requests: .*, try again in (\d+) seconds?\.")
MEMORY = {"RATELIMIT_STORAGE_URI": "memory://"}
LATER = 3700


def seconds(said: str) -> int:
    """In how many seconds one is told to come back."""
    match = WAIT.fullmatch(said)
    assert match, said
    return int(match[1])


class Limited:
    """An app's server, and a caller of it, in one era."""

    def __init__(self, app: Flask, era: str = "handshake", url: str = "/mcp", **options: Any) -> None:
        self.wire = Wire(app, url)
        self.era = era
        self.options = options

    def ask(self, method: str, params: dict[str, Any]) -> Any:
        """The whole answer."""
        if self.era == "stateless":
            headers = self.options.get("headers") or {}
            answer = self.wire.modern(method, params, **headers)
        else:
            answer = self.wire.post(call(method, params), **self.options)
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    def use(self, name: str = "ping", **arguments: Any) -> str:
        """What a tool says, or why it does not."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        text: str = result["content"][0]["text"]
        assert result.get("isError", False) is not text.isalnum()
        return text

    def uses(self, times: int = 4, name: str = "ping") -> int:
        """How many of some uses are let through."""
        return sum(not WAIT.fullmatch(self.use(name)) for _ in range(times))


@pytest.fixture
def app() -> Flask:
    return create_app()


@pytest.fixture(params=["handshake", "stateless"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def redis() -> Iterator[Redis]:
    with Redis() as running:
        yield running


def closing(app: Flask) -> Iterator[Flask]:
    """An app whose connections to Redis are closed in the end."""
    yield app
    limiter_of(app).storage.storage.connection_pool.disconnect()  # type: ignore[attr-defined]  # Redis has it


# ------------------------------------------------------------------------------------------- what is told


def test_over_the_limit_is_a_tool_error_that_says_when_to_come_back(app: Flask, era: str) -> None:
    """A tool that was used too often answers with an error of the tool, not of HTTP, that says when to come back."""
    limited = Limited(app, era)
    assert limited.uses(2) == 2
    said = limited.use()
    assert "the limit of this tool is 2 per 1 hour" in said
    assert 3500 < seconds(said) <= 3600


@pytest.mark.parametrize(
    ("method", "params", "kind"),
    [
        ("resources/read", {"uri": "note://a"}, "resource"),
        ("prompts/get", {"name": "ping"}, "prompt"),
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "ping"}, "argument": {"name": "topic", "value": ""}},
            "prompt",
        ),
        (
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "note://{name}"}, "argument": {"name": "name", "value": "a"}},
            "resource",
        ),
    ],
)
def test_over_the_limit_of_what_is_no_tool(
    app: Flask, era: str, method: str, params: dict[str, Any], kind: str
) -> None:
    """Where there is no tool error it is the JSON-RPC error of code 429, still without a status of HTTP."""
    limited = Limited(app, era)
    assert ["result" in limited.ask(method, params) for _ in range(3)] == [True, True, False]
    error = limited.ask(method, params)["error"]
    assert error["code"] == 429
    assert f"the limit of this {kind} is 2 per 1 hour" in error["message"]
    assert WAIT.fullmatch(error["message"])


def test_a_use_too_many_is_refused_in_the_audit_trail(app: Flask) -> None:
    """The trail tells a use too many from others as it tells other refusals."""
    facts: list[dict[str, Any]] = []

    def listen(sender: Server, **said: Any) -> None:
        facts.append(said)

    with tool_refused.connected_to(listen):
        Limited(app).uses(3)
    assert [(fact["name"], fact["outcome"]) for fact in facts] == [("ping", "refused")]


# ------------------------------------------------------------------------------------------- what is counted


def test_bad_calls_are_counted(app: Flask, era: str) -> None:
    """A call whose arguments do not fit is a use as any other: guessing is no cheaper than asking."""
    limited = Limited(app, era)
    assert "Invalid arguments" in limited.use(a="no number")
    assert "Invalid arguments" in limited.use(b=1)
    assert WAIT.fullmatch(limited.use())
    assert WAIT.fullmatch(limited.use(b=1))


def test_who_is_not_admitted_is_not_counted() -> None:
    """A refusal of the policy comes first, and uses nothing up."""
    doors = {"open": False}

    @tool(access=lambda subject: doors["open"], limits="1/hour")
    def door(request: Request) -> str:
        """A door."""
        return "in"

    limited = Limited(create_app(server=Server("house", tools=[door])))
    assert all(limited.use("door").startswith("403 Forbidden") for _ in range(3))
    doors["open"] = True
    assert limited.use("door") == "in"
    doors["open"] = False
    assert limited.use("door").startswith("403 Forbidden")


def test_a_token_without_the_scope_is_not_counted() -> None:
    """Scopes come before the limit: a token that lacks one uses up nothing of its user's."""
    given = ["read"]

    @tool(access=public, limits="1/hour", scopes=["write"])
    def write(request: Request) -> str:
        """Writes."""
        return "written"

    app = create_app()
    mcp = ArandoMCP(app, Server("scoped", tools=[write]), name="scoped", url="/scoped")
    mcp.token_scopes(lambda request: given)
    limited = Limited(app, url="/scoped", headers=bearer("alice"))
    message = call("tools/call", {"name": "write"})
    assert [limited.wire.post(message, bearer("alice")).status_code for _ in range(3)] == [403] * 3
    given.append("write")
    assert limited.uses(3, "write") == 1


ACCEPTED = {"action": "accept", "content": {"yes": True}}
ASKABLE: dict[str, Any] = {f"{META}clientCapabilities": {"elicitation": {}}}


def test_a_call_that_asks_is_one_use() -> None:
    """The rounds in which a user is asked are counted once, and the answers of a round are good for no second one."""
    wire = Wire(create_app(limits="1/hour"))

    def send(**params: Any) -> dict[str, Any]:
        message = modern("tools/call", {"name": "farewell", **params}, **ASKABLE)
        result: dict[str, Any] = wire.post(message, modern_headers(message)).get_json()["result"]
        return result

    first = send()
    answers = {"requestState": first["requestState"], "inputResponses": {"sure": ACCEPTED}}
    second = send(**answers)
    last = {"requestState": second["requestState"], "inputResponses": {"quite": ACCEPTED}}
    assert send(**last)["content"][0]["text"] == "bye"
    for again in ({}, answers, last, {"requestState": first["requestState"]}, {"inputResponses": {"sure": ACCEPTED}}):
        assert WAIT.fullmatch(send(**again)["content"][0]["text"])


def test_a_call_that_asks_over_the_pipe_is_one_use() -> None:
    """Over the pipe too, where the server itself goes on with the call that it had put aside."""
    with Pipe("tests.ext.limited", env={"TEST_LIMITS": "1/hour"}) as pipe:
        hello = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}, "clientInfo": {}}
        pipe.ask(call("initialize", hello))
        question = pipe.ask(call("tools/call", {"name": "farewell"}, "c"))
        for _ in ("sure", "quite"):
            assert question["method"] == "elicitation/create"
            question = pipe.ask({"jsonrpc": "2.0", "id": question["id"], "result": ACCEPTED})
        assert question["result"]["content"][0]["text"] == "bye"
        refused = pipe.ask(call("tools/call", {"name": "farewell"}))["result"]
        assert WAIT.fullmatch(refused["content"][0]["text"])


def test_lists_are_not_limited(app: Flask, era: str) -> None:
    """What a declaration's limit counts is its use; it is listed as often as anybody likes, used up or not."""
    limited = Limited(app, era)
    limited.uses(3)
    for _ in range(4):
        tools = limited.ask("tools/list", {})["result"]["tools"]
        assert [each["name"] for each in tools] == ["ping", "pong", "farewell"]


def test_two_declarations_are_counted_apart(app: Flask) -> None:
    """The server's limit is each declaration's own, also where a tool and a prompt have one name."""
    limited = Limited(app)
    assert (limited.uses(name="ping"), limited.uses(name="pong")) == (2, 2)
    assert ["result" in limited.ask("prompts/get", {"name": "ping"}) for _ in range(3)] == [True, True, False]
    assert "result" in limited.ask("resources/read", {"uri": "note://a"})


def test_a_template_is_one_declaration(app: Flask) -> None:
    """All that a template leads to is counted together: another URI is no way around its limit."""
    limited = Limited(app)
    answers = [limited.ask("resources/read", {"uri": f"note://{name}"}) for name in "abc"]
    assert ["result" in answer for answer in answers] == [True, True, False]


def test_a_declaration_s_own_limit_stands_in_place_of_the_server_s() -> None:
    """A declaration may be used more often, or less often, than its server says."""

    @tool(access=public, limits="3/hour")
    def more(request: Request) -> str:
        """May be used more often."""
        return "more"

    @tool(access=public, limits="1/hour")
    def less(request: Request) -> str:
        """May be used less often."""
        return "less"

    @tool(access=public)
    def same(request: Request) -> str:
        """Has no limit of its own."""
        return "same"

    limited = Limited(create_app(server=Server("s", tools=[more, less, same], limits="2/hour")))
    assert [limited.uses(name=name) for name in ("more", "less", "same")] == [3, 1, 2]


def test_what_has_no_limit_is_not_counted() -> None:
    """Without a limit, nothing is counted and the app's limiter is not asked."""

    @tool(access=public)
    def free(request: Request) -> str:
        """Is free."""
        return "free"

    app = create_app(server=Server("s", tools=[free]))
    assert Limited(app).uses(20, "free") == 20
    assert not limiter_of(app).storage.storage  # type: ignore[attr-defined]  # the memory's counter


@pytest.mark.parametrize("limits", ["5/hour;2/minute", "2 per minute; 5 per hour", "2/minute,5/hour"])
def test_several_limits_hold_together(limits: str) -> None:
    """Of several limits each holds, and whoever breaks one is told to wait for the longest that is used up."""
    limited = Limited(create_app(limits=limits))
    assert limited.uses(4) == 2
    assert seconds(limited.use()) <= 60
    both = Limited(create_app(limits="2/minute;2/hour"))
    assert both.uses(2) == 2
    assert seconds(both.use()) > 60


@pytest.mark.parametrize("strategy", ["fixed-window", "moving-window", "sliding-window-counter"])
def test_the_limiter_s_strategy_counts(strategy: str) -> None:
    """Whichever strategy the app's limiter has, it counts, and says when to come back."""
    limited = Limited(create_app(strategy=strategy))
    assert limited.uses(2) == 2
    assert 1 <= seconds(limited.use()) <= 3600


@pytest.mark.parametrize("strategy", ["fixed-window", "moving-window"])
def test_the_window_passes(strategy: str) -> None:
    """Whoever waits for as long as they are told may go on."""
    limited = Limited(create_app(limits="1/second", strategy=strategy))
    deadline = time.monotonic() + 30
    while (said := WAIT.fullmatch(limited.use())) is None:
        assert time.monotonic() < deadline, "no two uses within one second"
    assert said[1] == "1"
    while not limited.use().isdigit():
        assert time.monotonic() < deadline, "the window does not pass"
        time.sleep(0.1)


# ------------------------------------------------------------------------------------------- who is counted


def test_two_users_are_counted_apart(app: Flask, era: str) -> None:
    """What one user has used up is still there for another, at the same address."""
    assert Limited(app, era, headers=bearer("alice")).uses() == 2
    assert Limited(app, era, headers=bearer("bob")).uses() == 2
    assert Limited(app, era).uses() == 2


def test_a_user_is_one_whatever_shows_it(app: Flask) -> None:
    """A user has one budget, over cookie and token and from any address."""
    signed = Limited(app)
    signed.wire.sign_in("alice")
    assert signed.uses(1) == 1
    assert Limited(app, headers=bearer("alice"), environ_base={"REMOTE_ADDR": "10.0.0.9"}).uses(4) == 1
    assert signed.uses(1) == 0
    assert Limited(app, "stateless", headers=bearer("alice")).uses(1) == 0


def test_guests_are_counted_by_address(app: Flask) -> None:
    """Guests at one address share its budget, and a session of their own does not double it."""
    assert Limited(app, environ_base={"REMOTE_ADDR": "10.0.0.1"}).uses() == 2
    assert Limited(app, environ_base={"REMOTE_ADDR": "10.0.0.1"}).uses() == 0
    assert Limited(app, environ_base={"REMOTE_ADDR": "10.0.0.2"}).uses() == 2
    assert Limited(app, environ_base={"REMOTE_ADDR": "2001:db8::1"}).uses() == 2


def test_a_guest_behind_a_proxy_is_counted_as_the_app_sees_it(app: Flask) -> None:
    """ProxyFix says whose address it is; without it a forwarded one is not believed."""
    first, second = ({"X-Forwarded-For": f"10.0.0.{number}"} for number in (1, 2))
    assert (Limited(app, headers=first).uses(), Limited(app, headers=second).uses()) == (2, 0)
    app.wsgi_app = ProxyFix(app.wsgi_app)  # type: ignore[method-assign]
    assert (Limited(app, headers=first).uses(), Limited(app, headers=second).uses()) == (2, 2)


def test_the_limiter_s_key_tells_guests_apart() -> None:
    """Where the app's limiter knows callers by something else than the address, so are guests known here."""
    app = create_app(key_func=lambda: request.headers.get("X-Real-Client", ""))
    assert Limited(app, headers={"X-Real-Client": "a"}).uses() == 2
    assert Limited(app, headers={"X-Real-Client": "b"}).uses() == 2
    # A key that is empty would be no limit at all.
    assert Limited(app).uses() == 2


def test_a_user_and_a_guest_of_one_name_are_counted_apart() -> None:
    """No guest can use up what a user of the same key has."""
    app = create_app(key_func=lambda: "alice")
    assert Limited(app).uses() == 2
    assert Limited(app, headers=bearer("alice")).uses() == 2


def test_two_servers_are_counted_apart() -> None:
    """Two servers of an app count apart, even where they are the same object under two names."""
    server = make_server()
    app = create_app(server=server)
    ArandoMCP(app, server, name="second", url="/second")
    assert (Limited(app).uses(), Limited(app, url="/second").uses()) == (2, 2)
    assert (Limited(app).uses(), Limited(app, url="/second").uses()) == (0, 0)


def test_the_key_prefix_is_the_limiter_s() -> None:
    """What is kept in a storage has the limiter's prefix, and no character that some storage does not take."""

    @tool(access=public, limits="1/hour")
    def one(request: Request) -> str:
        """One."""
        return "one"

    app = create_app(server=Server("The shop / Läden", tools=[one]), key_prefix="ours")
    Limited(app, headers=bearer("alice")).use("one")
    (key,) = limiter_of(app).storage.storage  # type: ignore[attr-defined]  # the memory's counter
    assert key == "LIMITER/ours/arandu_mcp:The%20shop%20%2F%20L%C3%A4den/tool/one/user/alice/1/1/hour"


def test_a_caller_that_the_limiter_exempts_is_not_counted(app: Flask) -> None:
    """Whom the app's request filters exempt from its limits is exempt from these, too."""
    limiter_of(app).request_filter(lambda: request.headers.get("X-Internal") == "yes")
    assert Limited(app, headers={"X-Internal": "yes"}).uses(5) == 5
    assert Limited(app).uses(5) == 2


def test_of_several_limiters_the_first_counts() -> None:
    """An app with several limiters is counted in the one that it initialised first, and only once."""
    app = create_app(key_prefix="first")
    others = [Limiter(get_remote_address, app=app, storage_uri="memory://", key_prefix=str(n)) for n in range(5)]
    assert Limited(app).uses() == 2
    assert not any(other.storage.storage for other in others)  # type: ignore[attr-defined]  # the memory's counter


# ------------------------------------------------------------------------------------------- the pipe


def test_the_pipe_is_one_caller(redis: Redis) -> None:
    """All that comes over pipes is counted as `local`, apart from the same user over HTTP and from guests."""
    env = {"TEST_STORAGE": redis.uri}
    ping = call("tools/call", PING)
    with Pipe("tests.ext.limited", env=env) as pipe, Pipe("tests.ext.limited", env=env) as another:
        assert "isError" not in pipe.ask(ping)["result"]
        assert "isError" not in another.ask(ping)["result"]
        for each in (pipe, another):
            assert WAIT.fullmatch(each.ask(ping)["result"]["content"][0]["text"])
        assert "result" in pipe.ask(call("resources/read", {"uri": "note://a"}))
        pipe.ask(call("resources/read", {"uri": "note://a"}))
        assert pipe.ask(call("resources/read", {"uri": "note://a"}))["error"]["code"] == 429
    for app in closing(create_app(storage_uri=redis.uri)):
        assert Limited(app, headers=bearer("alice")).uses() == 2
        assert Limited(app).uses() == 2


def test_the_app_s_own_limits_hold_on_the_pipe() -> None:
    """A limit of the app that covers the endpoint covers the pipe, where the words must do for Retry-After."""
    with Pipe("tests.ext.limited", env={"TEST_DEFAULT": "1/hour"}) as pipe:
        assert "result" in pipe.ask(call("tools/list"))
        error = pipe.ask(call("tools/list"))["error"]
        assert error["code"] == 429
        assert WAIT.fullmatch(error["message"])


# ------------------------------------------------------------------------------------------- the whole endpoint


def whole_endpoint(how: str, **options: Any) -> Flask:
    """An app whose own limiter covers the server's endpoint."""
    if how == "blueprint":
        app = create_app(**options)
        limiter_of(app).limit("2/hour")(blueprint_of(app))
        return app
    options[how] = ["2/hour"]
    return create_app(limits="1/hour", **options)


@pytest.mark.parametrize("how", ["default_limits", "application_limits", "blueprint"])
@pytest.mark.parametrize("headers", [True, False])
def test_an_endpoint_that_the_app_limits_answers_429(how: str, headers: bool, era: str) -> None:
    """Over a limit of the app on the whole endpoint it is HTTP's 429 with Retry-After, as JSON, for lists too."""
    wire = Wire(whole_endpoint(how, headers_enabled=headers))
    send = wire.modern if era == "stateless" else lambda method: wire.post(call(method))
    assert [send("tools/list").status_code for _ in range(2)] == [200, 200]
    answer = send("tools/list")
    assert (answer.status_code, answer.mimetype) == (429, "application/json")
    assert 3500 < int(answer.headers["Retry-After"]) <= 3601
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.get_json()
    assert (body["id"], body["error"]["code"]) == (1, 429)


def test_what_a_declaration_limits_does_not_lift_the_endpoint_s_limit() -> None:
    """A declaration's limit is one more, and does not take the place of the app's own."""
    wire = Wire(whole_endpoint("default_limits"))
    statuses = [wire.post(call("tools/call", PING)).status_code for _ in range(3)]
    assert statuses == [200, 200, 429]


@pytest.mark.parametrize("value", ["120", http_date(time.time() + LATER)])
def test_the_app_s_own_retry_after_is_kept(value: str) -> None:
    """What the app's 429 says of when to come back goes out as it stands, and its page does not."""
    app = create_app(default_limits=["1/hour"])

    @app.errorhandler(429)
    def too_many(error: Exception) -> Response:
        return Response("<h1>Slow down</h1>", 429, {"Retry-After": value})

    wire = Wire(app)
    wire.post(call("tools/list"))
    answer = wire.post(call("tools/list"))
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, value)
    assert "Slow down" not in answer.text
    assert answer.get_json()["error"]["code"] == 429


def test_an_exempt_endpoint_keeps_its_declarations_limits() -> None:
    """An app that exempts the endpoint from its own limits has still declared those of its tools."""
    app = create_app(default_limits=["1/hour"])
    limiter_of(app).exempt(blueprint_of(app))
    assert Limited(app).uses(5) == 2


# ------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    "limits", ["often", "30", "30/fortnight", "/minute", "2/minute; ", "-1/minute", 30, "²/minute"]
)
def test_a_limit_that_cannot_be_read_stops_the_app(limits: Any) -> None:
    """At boot, a limit that Flask-Limiter could not read is told of, with its declaration and what to write."""

    @tool(access=public, limits=limits)
    def ping(request: Request) -> str:
        """Pings."""
        return ""

    @resource("note://a", access=public, limits=limits)
    def note(request: Request) -> str:
        """A note."""
        return ""

    server = Server("s", tools=[ping], resources=[note], limits=limits)
    with pytest.raises(DeclarationError) as caught:
        ArandoMCP(Flask("a"), server)
    said = f"limits {limits!r} cannot be read: write such as '30/minute', and several with ';' between."
    assert caught.value.faults == (
        f"the server: {said}",
        f"tool 'ping': {said}",
        f"resource 'note': {said}",
    )


def test_limits_without_a_limiter_are_a_mistake() -> None:
    """The finished app must have a limiter, which it may be given after the server; the check says who needs it."""
    app = Flask("a")
    mcp = ArandoMCP(app, make_server())
    with pytest.raises(DeclarationError) as caught:
        mcp.check(app)
    assert caught.value.faults == (
        "tool 'ping', tool 'pong', tool 'farewell', resource 'note', prompt 'ping' have limits, and no Flask-Limiter "
        "of the app counts them: give the app one, Limiter(get_remote_address, app=app).",
    )
    Limiter(get_remote_address, storage_uri="memory://").init_app(app)
    mcp.check(app)
    assert Limited(app).uses() == 2


def test_nothing_is_served_until_limits_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    """Without a check at boot, the first message finds that nothing would count, and is not served."""
    app = Flask("a")
    ArandoMCP(app, make_server())
    assert Wire(app).post(call("tools/call", PING)).status_code == 503
    assert "no Flask-Limiter of the app counts them" in caplog.text


@pytest.mark.parametrize("limits", ["2/hour", "often"])
def test_without_the_extra_the_mistake_says_what_to_install(limits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Flask-Limiter is not installed, the check says how it is, whatever the limits say."""
    for name in ("limits", "flask_limiter"):
        monkeypatch.setitem(sys.modules, name, None)
    app = Flask("a")
    mcp = ArandoMCP(app, make_server(limits))
    with pytest.raises(DeclarationError) as caught:
        mcp.check(app)
    assert "pip install 'flask-arandu-mcp[limiter]', and give the app one" in caught.value.faults[0]


@pytest.mark.parametrize("how", ["config", "argument", "later"])
def test_a_limiter_that_is_switched_off_counts_nothing(how: str) -> None:
    """An app whose limiter is switched off, as it is in many tests, has neither limits nor a mistake."""
    app = create_unlimited_app(
        {**MEMORY, **({"RATELIMIT_ENABLED": False} if how == "config" else {})}, server=make_server()
    )
    limiter = Limiter(get_remote_address, app=app, enabled=how != "argument")
    if how == "later":
        limiter.enabled = False
    assert Limited(app).uses(5) == 5


def test_plain_python_counts_nothing() -> None:
    """Server.call is for tests and for the app's own code, and has no storage to count in."""
    server = make_server()
    assert [server.call(object(), "ping").is_error for _ in range(4)] == [False] * 4


def test_nothing_is_imported_without_limits() -> None:
    """Who declares no limits does not pay for the import of what would count them."""
    code = """
import sys
from tests.app import create_app
from tests.wire import Wire, call
Wire(create_app()).call("tools/call", {"name": "no_args"})
print({"limits", "flask_limiter"} & set(sys.modules))
"""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "set()\n"


# ------------------------------------------------------------------------------------------- a storage that is down


def over_redis(redis: Redis, **options: Any) -> Iterator[Flask]:
    yield from closing(create_app(storage_uri=redis.uri, **options))


def test_without_its_storage_a_limit_fails_closed(redis: Redis, caplog: pytest.LogCaptureFixture, era: str) -> None:
    """When nothing can be counted nothing is answered: an internal error whose ref is in the log, and no more."""
    for app in over_redis(redis):
        limited = Limited(app, era)
        assert limited.uses(1) == 1
        redis.stop()
        said = re.fullmatch(r"Internal error \(ref (\w+)\)\.", limited.use())
        assert said
        assert f"the limit of 'ping' failed (ref {said[1]})" in caplog.text
        error = limited.ask("resources/read", {"uri": "note://a"})["error"]
        assert (error["code"], error["data"]["ref"] in caplog.text) == (-32603, True)
        redis.start()
        assert limited.uses() == 2


def test_a_limiter_that_swallows_errors_lets_through(redis: Redis, caplog: pytest.LogCaptureFixture) -> None:
    """An app that would rather serve than count says so to its limiter; what is swallowed is in the log."""
    for app in over_redis(redis, swallow_errors=True):
        limited = Limited(app)
        redis.stop()
        assert limited.uses(5) == 5
        assert "Swallowing error" in caplog.text
        redis.start()
        assert limited.uses(5) == 2


def test_a_limiter_that_falls_back_counts_in_memory(redis: Redis) -> None:
    """An app that falls back to memory keeps its limits there, and goes back to the storage when it is there again."""
    for app in over_redis(redis, in_memory_fallback_enabled=True):
        limited = Limited(app)
        assert limited.uses(1) == 1
        redis.stop()
        assert limited.uses(5) == 2
        redis.start()
        deadline = time.monotonic() + 60
        while not limiter_of(app).storage.storage.keys("*ping*"):  # type: ignore[attr-defined]  # Redis has it
            assert time.monotonic() < deadline, "it does not go back to its storage"
            limited.use()
            time.sleep(0.2)


def test_fallback_limits_hold_on_the_endpoint(redis: Redis) -> None:
    """Limits for when the storage is down are the whole endpoint's, by Flask-Limiter; a declaration keeps its own."""
    for app in over_redis(redis, in_memory_fallback=["4/hour"]):
        wire = Wire(app)
        redis.stop()
        answers = [wire.post(call("tools/call", PING)) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]  # the first found that it is down
        assert ["isError" in answer.get_json()["result"] for answer in answers[:5]] == [False, False, True, True, True]


# ------------------------------------------------------------------------------------------- two workers


def test_two_workers_share_one_limit(redis: Redis, tmp_path: Path) -> None:
    """Two processes of gunicorn that count in one Redis let through together what the limit says, not twice that."""
    message = json.dumps(call("tools/call", {"name": "ping", "arguments": {"a": 100}})).encode()
    head = post("Content-Type: application/json", f"Content-Length: {len(message)}")
    env = {"TEST_STORAGE": redis.uri, "TEST_LIMITS": "20/hour"}
    with Gunicorn(tmp_path, "tests.ext.limited", "--workers", "2", env=env) as served, ThreadPoolExecutor(8) as pool:
        raw = list(pool.map(lambda _: exchange(served.port, [head, message]), range(30)))
    assert {answer.status for answer in raw} == {200}
    results = [json.loads(answer.body)["result"] for answer in raw]
    texts = [result["content"][0]["text"] for result in results]
    answered = [text for text in texts if text.isdigit()]
    assert len(answered) == 20
    assert len(set(answered)) == 2, "one of the two processes answered nothing"
    assert all(WAIT.fullmatch(text) for text in texts if not text.isdigit())
