"""How endpoints are declared: by name and by patterns, for each app of a server, with every fault at once."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Blueprint, Flask, jsonify
from flask.views import MethodView
from marshmallow import fields
from webargs.flaskparser import use_args

from flask_arandu_mcp import (
    ArandoMCP,
    DeclarationError,
    Operation,
    ProtocolError,
    Request,
    Response,
    Server,
    endpoint_tool,
    endpoints,
    guest,
    public,
    signed_in,
    tool,
)
from flask_arandu_mcp.operations.declare import Endpoints

from ..app import User
from ..wire import Wire, call


class Posts(MethodView):
    """Posts by their slugs."""

    def get(self, slug: str) -> Any:
        """Reads a post."""
        return jsonify(slug=slug)

    def delete(self, slug: str) -> Any:
        """Deletes a post."""
        return "", 204


def create_app(word: str = "posts") -> Flask:
    app = Flask(__name__)
    app.config.from_mapping(SECRET_KEY="a key for the tests", TESTING=True)
    posts = Blueprint(word, __name__, url_prefix=f"/{word}")

    @posts.get("/")
    def index() -> Any:
        """Lists posts."""
        return jsonify([word])

    @posts.post("/")
    def create() -> Any:
        return jsonify(word=word)

    posts.add_url_rule("/<slug>", view_func=Posts.as_view("by_slug"))
    app.register_blueprint(posts)
    return app


def served(app: Flask, *tools: Any, **options: Any) -> ArandoMCP:
    mcp = ArandoMCP(app, Server("test", tools=tools, **{"access": public, **options}))
    mcp.check(app)
    return mcp


def names(app: Flask) -> list[str]:
    return [each["name"] for each in Wire(app).call("tools/list")["tools"]]


def faults(*tools: Any, app: Flask | None = None, **options: Any) -> tuple[str, ...]:
    with pytest.raises(DeclarationError) as caught:
        served(app or create_app(), *tools, **options)
    assert all(fault.endswith((".", "?")) for fault in caught.value.faults), caught.value.faults
    return caught.value.faults


# ---------------------------------------------------------------------------------------------- what is chosen


CHOICES: list[tuple[dict[str, Any], list[str]]] = [
    ({"include": ["posts.index"]}, ["posts_index"]),
    ({"include": ["* posts.by_*"]}, ["posts_by_slug_delete", "posts_by_slug_get"]),
    ({"include": ["GET posts.*"]}, ["posts_index", "posts_by_slug_get"]),
    ({"include": ["GET posts.*"], "exclude": ["posts.index"]}, ["posts_by_slug_get"]),
    ({"include": ["* posts.by_*"], "exclude": ["DELETE *"]}, ["posts_by_slug_get"]),
    ({"include": ["posts.index", "GET posts.i*"]}, ["posts_index"]),
    ({"include": ("GET *",)}, ["posts_index", "posts_by_slug_get"]),
]


@pytest.mark.parametrize(("chosen", "expected"), CHOICES)
def test_what_patterns_choose(chosen: dict[str, Any], expected: list[str]) -> None:
    """Patterns choose endpoints and methods, each once; the app's files and the server itself are never among them."""
    app = create_app()
    served(app, endpoints(**chosen))
    assert sorted(names(app)) == sorted(expected)


def test_a_tool_of_a_name_of_its_own() -> None:
    """What is said at the tool stands in the place of what is found."""
    app = create_app()
    one = endpoint_tool("posts.by_slug", method="delete", name="bin", title="Bin", description="Bins.", idempotent=True)
    served(app, one)
    (entry,) = Wire(app).call("tools/list")["tools"]
    assert (entry["name"], entry["title"], entry["description"]) == ("bin", "Bin", "Bins.")
    assert entry["annotations"] == {"destructiveHint": True, "idempotentHint": True}


def test_endpoints_beside_other_tools() -> None:
    """Tools stand in the order in which they were declared, whatever kind they are."""

    @tool
    def first(request: Request) -> str:
        """First."""
        return "1"

    def invoke(request: Request, arguments: Any) -> dict[str, int]:
        """Last."""
        return {}

    app = create_app()
    served(app, first, endpoint_tool("posts.index"), Operation("last", invoke))
    assert names(app) == ["first", "posts_index", "last"]


# ---------------------------------------------------------------------------------------------- whose they are


def test_one_server_on_two_apps() -> None:
    """Each app has its own endpoints as tools, of one server."""
    server = Server("test", access=public, tools=[endpoints(["*.index"])])
    mcp = ArandoMCP(server=server)
    apps = [create_app("posts"), create_app("notes")]
    for app in apps:
        mcp.init_app(app)
        mcp.check(app)
    for app, word in zip(apps, ("posts", "notes"), strict=True):
        assert names(app) == [f"{word}_index"]
        with app.app_context():
            assert server.call(guest, f"{word}_index").data == [word]
            assert [each["name"] for each in server.list_tools(guest)] == [f"{word}_index"]


def test_outside_of_any_app() -> None:
    """Without an app there are no endpoints: the server has what it declares itself."""
    server = Server("test", access=public, tools=[endpoints(["*.index"])])
    ArandoMCP(create_app(), server)
    assert server.list_tools(guest) == []
    with pytest.raises(ProtocolError, match="Unknown tool"):
        server.call(guest, "posts_index")


def test_an_app_that_is_not_this_servers() -> None:
    """In the context of an app that does not serve it, a server has what it declares itself."""
    server = Server("test", access=public, tools=[endpoints(["*.index"])])
    with Flask("other").app_context():
        assert server.list_tools(guest) == []


def test_an_endpoint_that_is_added_after_init_app() -> None:
    """What is a tool is seen when the app is finished, not when the server was mounted."""
    app = create_app()
    ArandoMCP(app, Server("test", access=public, tools=[endpoint_tool("late", description="Late.")]))
    app.add_url_rule("/late", "late", lambda: "late")
    assert names(app) == ["late"]


def test_a_second_check_looks_again() -> None:
    """A check looks at the app as it is then."""
    app = create_app()
    mcp = ArandoMCP(app, Server("test", access=public, tools=[endpoints(["late*"])]))
    with pytest.raises(DeclarationError, match="matches no endpoint"):
        mcp.check(app)

    def later() -> str:
        return "late"

    app.add_url_rule("/late", "later", later)
    with pytest.raises(DeclarationError, match="has no description"):
        mcp.check(app)
    app.view_functions["later"].__doc__ = "Later."
    mcp.check(app)
    assert names(app) == ["later"]


def test_faults_of_the_finished_app_answer_503() -> None:
    """Without a check, faults are found by the first message, and nothing is served until they are mended."""
    app = create_app()
    ArandoMCP(app, Server("test", access=public, tools=[endpoint_tool("posts.nothing")]))
    assert Wire(app).post(call("tools/list")).status_code == 503


# ---------------------------------------------------------------------------------------------------- policies


def test_the_policy_of_an_endpoint_tool() -> None:
    """Access is asked as of any tool: at the list, and before the endpoint is."""
    app = create_app()
    server = Server("test", tools=[endpoints(["posts.index"], access=signed_in)])
    ArandoMCP(app, server)
    with app.app_context():
        assert server.list_tools(guest) == []
        assert server.call(guest, "posts_index").text == "403 Forbidden: sign in to use this."
        assert server.call(User("ana"), "posts_index").data == ["posts"]


def test_recheck_and_guard_of_an_endpoint_tool() -> None:
    """What an endpoint answered is rechecked and guarded as any answer is."""
    answers = iter([True, False])
    seen: list[Any] = []

    def guard(request: Request, response: Response) -> None:
        seen.append(response.data)

    app = create_app()
    fickle = endpoint_tool("posts.index", access=lambda subject: next(answers))
    steady = endpoint_tool("posts.by_slug", method="GET", access=public)
    server = Server("test", tools=[fickle, steady], recheck=True, guard=guard)
    ArandoMCP(app, server)
    with app.app_context():
        assert server.call(guest, "posts_index").text.endswith("It had been carried out when this was found.")
        server.call(guest, "posts_by_slug_get", {"slug": "a"})
    assert seen == [{"slug": "a"}]


# ------------------------------------------------------------------------------------------------------ faults


BROKEN: Any = True


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        (
            [endpoint_tool("posts.idnex")],
            "endpoint 'posts.idnex': the app has no such endpoint: did you mean 'posts.index'?",
        ),
        ([endpoint_tool("zzz")], "endpoint 'zzz': the app has no such endpoint: `flask mcp routes` lists them; mend"),
        ([endpoint_tool("static")], "endpoint 'static': it serves files, or is an MCP server itself"),
        ([endpoint_tool("arandu_mcp.serve")], "endpoint 'arandu_mcp.serve': it serves files, or is an MCP server"),
        ([endpoint_tool("posts.by_slug")], "it answers DELETE, GET: choose one, method='DELETE'."),
        ([endpoint_tool("posts.index", method="POST")], "it does not answer POST, but GET: mend method=."),
        ([endpoint_tool("posts.create")], "tool 'posts_create' has no description"),
        ([endpoint_tool("posts.index", name="Bad Name")], "a name has 1 to 128 of the characters"),
        ([endpoint_tool("posts.index", name="Upper")], "its id 'Upper' is served as 'Upper', and must be a small"),
        ([endpoint_tool("posts.index", confirm="List {what}?")], "has {what} in it, which is no argument"),
        ([endpoint_tool("posts.index", confirm="")], "confirm is '', and would ask nothing"),
        ([endpoint_tool("posts.index", confirm=BROKEN)], "confirm is True, and would ask nothing"),
        (
            [
                endpoint_tool(
                    "posts.create",
                    arguments={"a": fields.String(), "b": fields.String()},
                    place={"a": "form", "b": "json"},
                )
            ],
            "it would send 'a' in form and 'b' in json, and a request has one body",
        ),
        ([endpoint_tool("posts.index", place={"x": "query"})], "place names 'x', which is none of its arguments"),
        (
            [endpoint_tool("posts.by_slug", method="GET", place={"slug": "query"})],
            "place takes 'slug' out of the path, which needs it",
        ),
        (
            [endpoint_tool("posts.by_slug", method="GET", place={"slug": "body"})],
            "place sends 'slug' to 'body': write one of path, query, form, json.",
        ),
        (
            [endpoint_tool("posts.index", arguments={"q": fields.String()}, place={"q": "path"})],
            "place sends 'q' to the path, which has no such variable",
        ),
        ([endpoint_tool("posts.index"), endpoints(["posts.index"])], "two tools share 'posts_index'"),
        ([endpoints(["nothing.*"])], "endpoints(): include 'nothing.*' matches no endpoint: `flask mcp routes` lists"),
        ([endpoints(["PUT posts.*"])], "include 'PUT posts.*' matches no endpoint"),
        ([endpoints(["GET posts.*"], exclude=["psots.*"])], "endpoints(): exclude 'psots.*' matches no endpoint"),
        (
            [endpoints(["posts.by_*"])],
            "endpoint 'posts.by_slug': include 'posts.by_*' matches it, and it answers DELETE, GET: write "
            "'DELETE posts.by_*' for one of them, or '* posts.by_*' for each.",
        ),
        ([endpoints([])], "endpoints(): include is empty, so nothing is exposed"),
        ([endpoints("posts.*")], "endpoints(): include is 'posts.*'; it must be a list of patterns"),
        ([endpoints(["static"])], "include 'static' matches no endpoint"),
    ],
)
def test_a_fault(tools: list[Endpoints], said: str) -> None:
    """A fault names the endpoint or the pattern, the rule and the way out."""
    found = faults(*tools)
    assert any(said in fault for fault in found), found


def test_an_option_that_nobody_reads() -> None:
    """A misspelt option is refused where it is written, of one endpoint and of many."""
    wrong: dict[str, Any] = {"acces": public}
    with pytest.raises(
        TypeError, match=r"'posts\.index' is declared with 'acces', which is no option: did you mean 'access'"
    ):
        endpoint_tool("posts.index", **wrong)
    with pytest.raises(TypeError, match="is declared with 'acces', which is no option"):
        endpoints(["posts.*"], **wrong)


def test_what_is_no_name_of_an_endpoint() -> None:
    """What is no name, and no method, is refused where it is written."""
    view: Any = create_app
    with pytest.raises(TypeError, match=r"write the endpoint's name, such as 'posts\.create'"):
        endpoint_tool(view)
    methods: Any = ["PUT"]
    with pytest.raises(TypeError, match=r"'posts\.index' has method=\['PUT'\]: write one"):
        endpoint_tool("posts.index", method=methods)


def test_an_endpoint_without_access() -> None:
    """An endpoint is opted in with the word for who may use it, or not at all."""
    (fault,) = faults(endpoint_tool("posts.index"), access=None)
    assert fault.startswith("tool 'posts_index' does not say who may use it")


def test_a_header_that_is_needed() -> None:
    """An endpoint that cannot do without a header of its own can be no tool."""
    app = create_app()

    @app.get("/versioned")
    @use_args({"version": fields.String(required=True)}, location="headers")
    def versioned(args: Any) -> Any:
        """Wants a header."""
        return jsonify(args)

    (fault,) = faults(endpoint_tool("versioned"), app=app)
    assert fault == (
        "endpoint 'versioned': it needs 'version' in its headers, where a tool sends nothing of the model's: make it "
        "optional there."
    )


def test_all_faults_are_listed_at_once() -> None:
    """One error has the faults of endpoints, of descriptions and of the app."""
    found = faults(
        endpoint_tool("posts.nothing"),
        endpoints(["nothing.*"]),
        endpoint_tool("posts.create"),
        endpoint_tool("posts.index", name="same"),
        endpoint_tool("posts.by_slug", method="GET", name="same"),
        endpoint_tool("posts.by_slug"),
    )
    assert len(found) == 5
    assert any("two tools share 'same'" in fault for fault in found)


def test_what_a_tool_takes_may_be_wrong_in_any_place() -> None:
    """What a query cannot hold is an argument fault, and what nobody sent is not sent."""
    app = create_app()

    @app.get("/find")
    def find() -> Any:
        """Finds."""
        from flask import request

        return jsonify(request.args.to_dict(flat=False))

    kinds = {"q": fields.Raw(allow_none=True), "n": fields.Integer(), "exact": fields.Boolean()}
    served(app, endpoint_tool("find", arguments=kinds))
    wire = Wire(app)

    def use(**arguments: Any) -> Any:
        return wire.call("tools/call", {"name": "find", "arguments": arguments})

    assert use(q="a", n=1, exact=False)["structuredContent"] == {"q": ["a"], "n": ["1"], "exact": ["false"]}
    assert use(q=None)["structuredContent"] == {}
    assert use(q=["a", 1, 0.5, True, None])["structuredContent"] == {"q": ["a", "1", "0.5", "true"]}
    assert use(q=[])["structuredContent"] == {}
    for wrong in ({"a": 1}, [["a"]], [{"a": 1}]):
        told = use(q=wrong)["content"][0]["text"]
        assert told == ("Invalid arguments:\n- q: cannot be sent in a query: send text, a number, or a list of them.")
