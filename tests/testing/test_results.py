"""What a test says of what came: what holds passes, and what does not says who called what, what was expected, what
came, and where to look."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, redirect
from marshmallow import fields
from werkzeug.exceptions import Conflict, Forbidden

from flask_arandu_mcp import Request, Server, ToolError, endpoint_tool, public, signed_in, tool
from flask_arandu_mcp.revisions import REVISIONS
from flask_arandu_mcp.testing import MCPClient, Result

from ..app import User, Users, broken, create_app
from ..ext.limited import create_app as create_limited
from .failing import failure

Say = Callable[[MCPClient], Result]


@pytest.fixture(params=list(REVISIONS))
def client(request: pytest.FixtureRequest, app: Flask) -> MCPClient:
    """A user's client, in each revision."""
    users: Users = app.extensions["test_users"]
    return MCPClient(app, revision=request.param).acting_as(users["bob"])


def test_assertions_chain(client: MCPClient) -> None:
    """Each gives the very result back, of its own kind."""
    result = client.call("add", a=1, b=2)
    assert result.assert_ok().assert_sees("3").assert_does_not_see("4").assert_asked() is result
    refused = client.call("admin_forbidden", key="k")
    assert refused.assert_refused("Ask an admin").assert_error("403") is refused


def test_an_error_that_should_be_an_answer(client: MCPClient) -> None:
    """The sentence has the call, the user, what was told, and the policy that decides."""
    assert failure(client.call("admin_forbidden", key="k").assert_ok) == (
        "call('admin_forbidden', key='k') as User 'bob' should have been answered, and was an error:\n"
        "    403 Forbidden: Ask an admin.\n"
        "The tool 'admin_forbidden' is declared with access forbidden: look there, and at its handler."
    )


def test_an_answer_that_should_be_a_refusal(client: MCPClient) -> None:
    """What was given away is shown."""
    assert failure(client.call("delete_user", id=1).assert_refused) == (
        "call('delete_user', id=1) as User 'bob' should have been refused, and was answered:\n"
        "    deleted\n"
        "The tool 'delete_user' is declared with access signed_in: look there, and at its handler."
    )
    told = failure(lambda: client.call("delete_user", id=1).assert_error("x"))
    assert "should have been an error, and was answered:" in told


REFUSED: list[Say] = [
    lambda client: client.call("admin_forbidden", key="k"),
    lambda client: client.call("admin_false", key="k"),
    lambda client: client.call("admin_hidden", key="k"),
    lambda client: client.call("fail", how="forbidden"),
    lambda client: client.call("fail", how="notfound"),
    lambda client: client.read("shop://ledger"),
    lambda client: client.read("shop://items/missing"),
    lambda client: client.prompt("secret_prompt"),
    lambda client: client.complete("secret_prompt", "x"),
    lambda client: client.with_token("nobody").call("add", a=1, b=2),
    lambda client: client.with_token("nobody").tools(),
]
NOT_REFUSED: list[tuple[Say, str]] = [
    (lambda client: client.call("add", a=1), "failed for another reason"),
    (lambda client: client.call("fail", how="tool"), "failed for another reason"),
    (lambda client: client.call("fail", how="crash"), "broke, which is nobody's decision"),
    (lambda client: client.read("shop://items/crash"), "broke, which is nobody's decision"),
    (lambda client: client.prompt("outline"), "failed for another reason"),
    (lambda client: client.call("delete_usr", id=1), "is not declared at all, so that nothing refused it"),
    (lambda client: client.read("shop://aboud"), "is not declared at all, so that nothing refused it"),
    (lambda client: client.prompt("outlin"), "is not declared at all, so that nothing refused it"),
    (lambda client: client.complete("outlin", "x"), "is not declared at all, so that nothing refused it"),
    (lambda client: client.call("add", a=1, b=2), "was answered"),
    (lambda client: client.tools(), "was answered"),
]


@pytest.mark.parametrize("say", REFUSED)
def test_what_is_a_refusal(client: MCPClient, say: Say) -> None:
    """Whatever refuses is a refusal: a policy, one that conceals, a handler, the door; in every revision."""
    say(client).assert_refused()
    assert "should have been answered, and was an error" in failure(say(client).assert_ok)


@pytest.mark.parametrize(("say", "why"), NOT_REFUSED)
def test_what_is_no_refusal(client: MCPClient, say: Say, why: str) -> None:
    """A test of a refusal does not pass because of a wrong argument, a misspelt name, or code that broke."""
    assert f"should have been refused, and {why}:" in failure(say(client).assert_refused)


def test_a_policy_that_breaks_is_no_refusal() -> None:
    """It lets nobody in, and decides nothing: the test is shown what it raised."""

    @tool(access=broken)
    def shut(request: Request) -> str:
        """Is never called."""
        return ""

    result = MCPClient(create_app(server=Server("s", tools=[shut]))).call("shut")
    with pytest.raises(AssertionError, match="RuntimeError: the policy's secret") as failed:
        result.assert_refused()
    assert isinstance(failed.value.__cause__, RuntimeError)
    result.assert_does_not_see("secret")


def test_a_list_that_breaks_has_its_cause() -> None:
    """A policy that breaks fails the whole list, and the test is shown what it raised."""

    @tool(access=broken)
    def shut(request: Request) -> str:
        """Is never called."""
        return ""

    client = MCPClient(create_app(server=Server("s", tools=[shut])))
    with pytest.raises(AssertionError, match=r"tools\(\) as a guest should have been answered") as failed:
        client.tools().names  # noqa: B018 - asking is what fails
    assert isinstance(failed.value.__cause__, RuntimeError)


def test_a_limit_is_a_refusal() -> None:
    """Too often is refused."""
    client = MCPClient(create_limited())
    results = [client.call("ping") for _ in range(4)]
    assert [result.is_error for result in results] == [False, False, True, True]
    results[2].assert_refused("429 Too Many Requests")


@pytest.mark.parametrize(("status", "refused"), [(403, True), (409, False), (422, False), (400, False), (None, True)])
def test_the_apps_own_json_is_a_refusal(status: int | None, refused: bool) -> None:
    """An error handler's JSON is the app's refusal, unless it says itself that the request was wrong."""

    @tool(access=public)
    def refuse(request: Request) -> str:
        """Refuses."""
        raise Forbidden("No.")

    app = create_app(server=Server("s", tools=[refuse]))

    @app.errorhandler(403)
    def forbidden(error: Any) -> tuple[dict[str, Any], int]:
        return {"message": "No.", "limit": 422, "code": status}, 403

    result = MCPClient(app).call("refuse")
    if refused:
        result.assert_refused()
    else:
        assert "failed for another reason" in failure(result.assert_refused)


def test_words_that_do_not_match(client: MCPClient) -> None:
    """What is matched is a regular expression, and a text that would have to be escaped is pointed out."""
    result = client.call("admin_forbidden", key="k")
    result.assert_refused(re.compile("ask", re.IGNORECASE)).assert_error(r"admin\.$")
    told = failure(lambda: result.assert_refused("Sign in"))
    assert "should have been refused with words that match 'Sign in', and says:\n    403 Forbidden: Ask" in told


def test_a_text_that_is_there_literally() -> None:
    """Parentheses in a message are groups in a regular expression; the sentence says what to do."""

    @tool(access=public)
    def say(request: Request) -> str:
        """Says why not."""
        raise ToolError("no beds (of beans) left")

    result = MCPClient(create_app(server=Server("s", tools=[say]))).call("say").assert_error(re.escape("(of beans)"))
    told = failure(lambda: result.assert_error("beds (of beans)"))
    assert "that match 'beds (of beans)'; it is there literally: give re.escape() of it, and says:" in told


def test_a_name_that_is_not_declared(client: MCPClient) -> None:
    """The nearest name is offered, or all that there are."""
    assert failure(client.call("ad", a=1).assert_ok).endswith("The server declares no tool 'ad': did you mean 'add'?")
    assert failure(client.prompt("x").assert_ok).endswith("no prompt 'x': use one of 'outline', 'secret_prompt'.")
    there = "use one of 'shop://about', 'shop://ledger', 'shop://items/{name}'."
    assert failure(client.read("blog:x").assert_ok).endswith(f"The server declares no resource 'blog:x': {there}")


def test_a_name_that_is_concealed(client: MCPClient) -> None:
    """What a policy conceals is told apart from what is not there: to the test, and to nobody else."""
    told = failure(client.call("admin_hidden", key="k").assert_ok)
    assert "    Unknown tool: 'admin_hidden'. The list has those that there are.\n" in told
    assert told.endswith("with access hidden, and there is a NotFound in the way: look there, and at its handler.")


def test_wrong_arguments(client: MCPClient) -> None:
    """The faults are shown, and where to look is the declaration."""
    told = failure(client.call("add", a=1, c=2).assert_ok)
    assert "    Invalid arguments:\n    - " in told
    assert told.endswith("Look at the arguments that the tool 'add' declares.")


def test_what_broke_is_the_cause(client: MCPClient) -> None:
    """The exception that the client is told nothing of is the cause of the failure, so that its traceback is shown."""
    result = client.call("fail", how="crash")
    with pytest.raises(AssertionError) as failed:
        result.assert_ok()
    assert isinstance(failed.value.__cause__, RuntimeError)
    assert failed.value.__cause__ is result.raised[-1]
    assert failed.value.__cause__.__traceback__ is not None
    assert "It broke: RuntimeError: the handler's secret. Its traceback is above." in str(failed.value)
    result.assert_does_not_see("secret")


def test_a_refusal_gives_nothing_away() -> None:
    """A leak in a refusal is found wherever it is."""
    secret = "the fence costs 840"

    @tool(access=public, arguments={"slug": fields.String(required=True)})
    def leaky(request: Request, slug: str) -> str:
        """Refuses, and says too much."""
        raise Forbidden(f"You may not read that {secret}.")

    @tool(access=public, arguments={"slug": fields.String(required=True)})
    def tight(request: Request, slug: str) -> str:
        """Refuses."""
        raise Forbidden("You may not read this.")

    client = MCPClient(create_app(server=Server("s", tools=[leaky, tight])))
    client.call("tight", slug="fence").assert_refused().assert_does_not_see("840", "costs")
    told = failure(lambda: client.call("leaky", slug="fence").assert_refused().assert_does_not_see("840"))
    assert "should not have shown '840', and did, in result.content.0.text:" in told
    assert "You may not read that the fence costs 840." in told


def test_what_is_not_seen(client: MCPClient) -> None:
    """What should have been shown is named, and what came instead."""
    told = failure(lambda: client.call("add", a=1, b=2).assert_sees("3", "4"))
    assert "should have shown '4', which is in nothing that came:\n    {\"sum\":3}" in told


@pytest.mark.parametrize("texts", [(), ("",), ("3", "")])
def test_an_assertion_that_could_not_fail(client: MCPClient, texts: tuple[str, ...]) -> None:
    """To look for nothing is a mistake of the test's."""
    result = client.call("add", a=1, b=2)
    for assertion in (result.assert_sees, result.assert_does_not_see):
        with pytest.raises(ValueError, match="was given no text to look for, and could not fail"):
            assertion(*texts)


def test_a_long_text_is_cut(client: MCPClient) -> None:
    """A sentence stays one, however much came, and shows the place that it is about."""
    result = client.call("echo", value="beans " * 2000 + "secret" + " kale" * 2000)
    told = failure(lambda: result.assert_does_not_see("secret"))
    assert len(told) < 2500
    assert "secret kale" in told
    assert "echo', value='beans" in told


def test_an_answer_is_not_read_off_an_error(client: MCPClient) -> None:
    """What only an answer has fails in words where there is none: an error is no empty list, and no None."""
    refused = client.call("admin_false", key="k")
    for take in (
        lambda: refused.data,
        lambda: client.read("shop://ledger").contents,
        lambda: client.read("shop://ledger").data,
        lambda: client.prompt("secret_prompt").messages,
        lambda: client.complete("secret_prompt", "x").values,
        lambda: client.with_token("nobody").tools().names,
        lambda: len(client.with_token("nobody").tools()),
    ):
        assert "should have been answered, and was an error" in failure(take)
    assert refused.text == "403 Forbidden: you may not use this."
    assert refused.content[0]["text"] == refused.text
    assert "is not declared" not in failure(lambda: client.call("admin_hidden", key="k").content)


def test_a_result_is_shown_in_one_line(client: MCPClient) -> None:
    """What pytest shows of a variable says what it is."""
    assert repr(client.call("add", a=1, b=2)) == (
        "<ToolResult of call('add', a=1, b=2) as User 'bob': ok, '{\"sum\":3}'>"
    )
    assert repr(client.read("shop://ledger")).endswith("error, '403 Forbidden: Ask an admin.'>")


def test_a_user_of_a_policy_by_name() -> None:
    """The word for a policy is the one that `flask mcp list` has."""

    @tool(access=signed_in)
    def mine(request: Request) -> str:
        """Mine."""
        return "mine"

    client = MCPClient(create_app(server=Server("s", tools=[mine])))
    assert "is declared with access signed_in" in failure(client.call("mine").assert_ok)


@pytest.mark.parametrize(("where", "refused"), [("/done", False), ("/login?next=%2Fwipe", True)])
def test_a_redirect_is_a_refusal_where_it_leads_to_a_sign_in(where: str, refused: bool) -> None:
    """An endpoint that did its work and leads on has refused nothing."""
    app = create_app(server=Server("s", tools=[endpoint_tool("wipe", access=public)]))

    @app.post("/wipe")
    def wipe() -> Any:
        """Wipes everything that there is."""
        return redirect(where)

    result = MCPClient(app).call("wipe")
    if refused:
        result.assert_refused(re.escape(where))
    else:
        assert "failed for another reason" in failure(result.assert_refused)


UNASKED: list[Say] = [
    lambda client: client.call("delete_usr", id=1),
    lambda client: client.read("shop://aboud"),
    lambda client: client.prompt("outlin"),
    lambda client: client.complete("outlin", "x"),
    lambda client: client.acting_as(User("zoe")).call("whoami"),
    lambda client: client.acting_as(User("zoe")).tools(),
]


@pytest.mark.parametrize("say", UNASKED)
def test_nothing_is_kept_where_there_is_nothing(client: MCPClient, say: Say) -> None:
    """What nobody declared, and a user whom the app does not know, show nothing whatever the policies say."""
    told = failure(lambda: say(client).assert_does_not_see("costs"))
    assert re.search("and (is not declared at all|was not even asked for)", told)


def test_a_listing_knows_uris(client: MCPClient) -> None:
    """A resource that is listed is in the list by its URI too, so that a test of its absence can fail."""
    resources, templates = client.resources(), client.templates()
    assert resources.entries
    assert templates.entries
    for entry in resources:
        assert entry["uri"] in resources
        assert resources[entry["uri"]] == entry
    for entry in templates:
        assert entry["uriTemplate"] in templates
    assert "shop://nothing" not in resources


@pytest.mark.parametrize("revision", list(REVISIONS))
@pytest.mark.parametrize(
    "error",
    [
        ToolError("350 rows match: narrow the query."),
        ToolError("403 Forbidden: it only looks like one."),
        ToolError('{"detail": "the disk is full"}'),
        ToolError('{"status": 403}'),
        Conflict("The slug is taken."),
    ],
    ids=str,
)
def test_an_error_that_looks_like_a_refusal(revision: str, error: Exception) -> None:
    """What a handler says in its own words, or of what it met, is no decision about who may."""

    @tool(access=public)
    def find(request: Request) -> str:
        """Finds nothing."""
        raise error

    result = MCPClient(create_app(server=Server("s", tools=[find])), revision=revision).call("find")
    assert "failed for another reason" in failure(result.assert_refused)
