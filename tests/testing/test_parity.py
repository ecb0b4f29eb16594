"""Endpoints held against their tools: what agrees passes, what does not is named, and what means nothing fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any

import pytest
from flask import Flask, Response, abort, jsonify, redirect, request, send_file
from flask_login import LoginManager, current_user, login_required
from flask_wtf.csrf import CSRFProtect
from marshmallow import fields
from marshmallow.validate import Range

from flask_arandu_mcp import ArandoMCP, Server, endpoint_tool, endpoints, public, signed_in
from flask_arandu_mcp.testing import assert_policy_parity

from ..app import User, Users
from ..endpoints.shelf import USERS, db, limiter
from ..endpoints.shelf import User as Reader
from ..endpoints.shelf import create_app as create_shelf
from ..endpoints.test_parity import OPERATIONS, Data
from .failing import failure

BEDS: dict[str, Any] = {}


def sow() -> None:
    """The beds that every call starts from."""
    BEDS.clear()
    BEDS.update({"north": ["beans"], "south": ["kale"]})


def create_app(config: dict[str, Any] | None = None, *, sessions: bool = True, tokens: bool = False) -> Flask:
    """A garden: everybody reads, users plant and dig, and the owner alone counts."""
    app = Flask("garden")
    app.config.from_mapping(SECRET_KEY="a key for the tests", **(config or {}))
    app.extensions["test_users"] = users = Users({name: User(name, admin=name == "owner") for name in ("ana", "owner")})
    login = LoginManager(app)
    if sessions:
        login.user_loader(users.get)
    if tokens:
        login.request_loader(users.by_token)
    count = itertools.count()

    @app.get("/beds/<name>")
    def bed(name: str) -> Any:
        """Says what grows in a bed."""
        return BEDS[name] if name in BEDS else abort(404, f"There is no bed {name}.")

    @app.post("/beds/<name>")
    @login_required  # type: ignore[untyped-decorator]  # Flask-Login ships no types
    def plant(name: str) -> Any:
        """Plants something."""
        BEDS[name].append(request.get_json()["plant"])
        return jsonify({"bed": name, "at": next(count)}), 201

    @app.delete("/beds/<name>")
    @login_required  # type: ignore[untyped-decorator]  # Flask-Login ships no types
    def dig(name: str) -> Any:
        """Digs a bed over."""
        del BEDS[name]
        return "", 204

    @app.get("/count")
    def number() -> Any:
        """Counts the beds, for the owner."""
        if not getattr(current_user, "admin", False):
            return jsonify(problem="Ask the owner."), 403
        return jsonify(beds=len(BEDS))

    return app


CALLS: dict[str, list[dict[str, Any]]] = {
    "bed": [{"name": "north"}, {"name": "west"}],
    "plant": [{"name": "north", "plant": "peas"}],
    "dig": [{"name": "north"}],
    "number": [{}],
}


def serve(app: Flask, **access: Any) -> Flask:
    """Make tools of all of them; `access` is by the names of the tools."""
    who = {"bed": public, "plant": signed_in, "dig": public, "number": public, **access}
    tools = [
        endpoint_tool("bed", access=who["bed"]),
        endpoint_tool("plant", access=who["plant"], arguments={"plant": fields.String(required=True)}),
        endpoint_tool("dig", access=who["dig"], confirm="Dig {name} over?"),
        endpoint_tool("number", access=who["number"]),
    ]
    ArandoMCP(app, Server("garden", tools=tools))
    return app


@pytest.fixture
def garden() -> Iterator[Flask]:
    """The garden with its tools."""
    sow()
    yield serve(create_app())
    sow()


def people(app: Flask) -> dict[str, User | None]:
    """A guest, a user and the owner."""
    users: Users = app.extensions["test_users"]
    return {"a guest": None, "Ana": users["ana"], "the owner": users["owner"]}


def compare(app: Flask, calls: Any = None, **options: Any) -> int:
    """Compare with all users, from the same beds each time."""
    options = {"users": people(app), "reset": sow, "state": lambda: dict(BEDS), "ignoring": ["at"], **options}
    return assert_policy_parity(app, CALLS if calls is None else calls, **options)


def test_what_agrees_passes(garden: Flask) -> None:
    """Every call of every user was compared, and how many that is comes back."""
    assert compare(garden) == 15


def test_users_need_no_names(garden: Flask) -> None:
    """Users may be a plain list, in which None is a guest."""
    assert compare(garden, users=list(people(garden).values())) == 15


def test_a_user_by_tokens() -> None:
    """An app that knows tokens alone is asked with tokens, on both ways."""
    app = serve(create_app(sessions=False, tokens=True))
    assert compare(app, token_of=lambda user: f"token-{user.id}") == 15


def test_an_app_with_csrf_protection() -> None:
    """The HTTP request has the token that a page of the app would have."""
    app = create_app()
    CSRFProtect(app)
    assert compare(serve(app)) == 15


@pytest.mark.parametrize(
    "config",
    [{"APPLICATION_ROOT": "/shop"}, {"SERVER_NAME": "garden.example"}, {"TRUSTED_HOSTS": ["garden.example"]}],
)
def test_wherever_the_app_is_served(config: dict[str, Any]) -> None:
    """Endpoints are asked where the app itself says that it is."""
    assert compare(serve(create_app(config))) == 15


def test_a_real_api(tmp_path: Any) -> None:
    """The bookmarks of two tenants, with a database and limits: twelve operations, four users, in one line."""
    data = Data(tmp_path)
    data.reset()
    app = create_shelf(str(data.path))

    def reset() -> None:
        data.reset()
        limiter.reset()

    with app.app_context():
        users: dict[str, Any] = {name: db.session.query(Reader).filter_by(name=name).one_or_none() for name in USERS}
        calls = {operation.tool: operation.tries for operation in OPERATIONS}
        assert assert_policy_parity(app, calls, users=users, reset=reset, state=data.rows) == 164


# ------------------------------------------------------------------------------------------------ disagreements


def test_a_tool_that_refuses_more(garden: Flask) -> None:
    """The sentence names the call, the user and both outcomes; where it is meant to be so, a test says so."""
    app = serve(create_app(), bed=signed_in)
    assert failure(lambda: compare(app)) == (
        "The tools of 'garden' and their endpoints do not agree, or were not compared:\n"
        "  - bed(name='north') as a guest: the endpoint answers, and the tool refuses before it is asked.\n"
        '      HTTP: 200 OK ["beans"]\n'
        "      tool: 403 Forbidden: sign in to use this."
    )
    assert compare(app, stricter=["bed"]) == 15


def test_arguments_that_the_tool_alone_refuses() -> None:
    """A schema beside the endpoint's own is part of what the tool refuses by itself."""
    app = create_app()
    app.add_url_rule("/twice/<int:n>", "twice", lambda n: jsonify(n * 2))
    twice = endpoint_tool(
        "twice", access=public, description="Doubles.", arguments={"n": fields.Integer(validate=Range(max=10))}
    )
    ArandoMCP(app, Server("s", tools=[twice]))
    calls = {"twice": [{"n": 3}, {"n": 11}, {"n": -1}]}
    told = failure(lambda: compare(app, calls))
    assert told.count("twice(n=11) as") == told.count("the tool refuses before it is asked") == 3
    assert compare(app, calls, stricter=["twice"]) == 9
    told = failure(lambda: compare(app, {"twice": [{"n": 3}, {"n": "many"}]}))
    assert "twice(n='many') as a guest: the endpoint cannot be sent these arguments, which decides nothing" in told


def differing(view: Callable[[bool], Any]) -> Flask:
    """An app with one endpoint, which answers otherwise within a call of its tool."""
    from flask import g

    app = create_app()

    @app.before_request
    def tell() -> None:
        g.by_tool = request.headers.get("X-Outside") is None

    app.wsgi_app = _outside(app.wsgi_app)  # type: ignore[method-assign]  # as Flask says to
    app.add_url_rule("/it", "it", lambda: view(g.by_tool))
    ArandoMCP(app, Server("s", tools=[endpoint_tool("it", access=public, description="Differs.")]))
    return app


def _outside(wsgi: Any) -> Any:
    # Middleware is not run again for the request within a call, which is what lets an endpoint differ.
    def run(environ: Any, start: Any) -> Any:
        return wsgi({**environ, "HTTP_X_OUTSIDE": "yes"}, start)

    return run


DIFFERING: list[tuple[Callable[[bool], Any], str]] = [
    (lambda by_tool: jsonify(1) if by_tool else abort(403), "the endpoint refuses, and the tool answers"),
    (lambda by_tool: abort(403) if by_tool else jsonify(1), "the tool refuses, and the endpoint answers"),
    (lambda by_tool: jsonify({"seen": by_tool}), "both answer, with other data"),
    (lambda by_tool: jsonify([1]) if by_tool else jsonify([1, 2]), "both answer, with other data"),
    (lambda by_tool: "text" if by_tool else "words", "both answer, with other data"),
    (lambda by_tool: ("", 204) if by_tool else jsonify(None), "both answer, with other data"),
    (lambda by_tool: abort(404 if by_tool else 403), "both refuse, with another status"),
    (lambda by_tool: redirect("/x") if by_tool else abort(401), "both refuse, with another status"),
    (lambda by_tool: (jsonify(why="b" if by_tool else "a"), 403), "both refuse, in other words"),
    (lambda by_tool: abort(500) if by_tool else jsonify(1), "the tool breaks, which decides nothing"),
    (lambda by_tool: jsonify(1) if by_tool else abort(500), "the endpoint breaks, which decides nothing"),
    (lambda by_tool: abort(500), "the endpoint breaks, which decides nothing"),
]


@pytest.mark.parametrize(("view", "what"), DIFFERING)
def test_what_does_not_agree(view: Callable[[bool], Any], what: str) -> None:
    """An endpoint that is not the same within a call of its tool is found out, in each way that it can differ."""
    told = failure(lambda: compare(differing(view), {"it": [{}]}))
    assert f"it() as Ana: {what}.\n      HTTP: " in told


SAME: list[Callable[[], Any]] = [
    lambda: jsonify([1, {"a": None}]),
    lambda: jsonify(None),
    lambda: "words",
    lambda: ("", 204),
    lambda: ("", 201, {"Location": "/x"}),
    lambda: send_file(BytesIO(b"\x89PNG"), mimetype="image/png"),
    lambda: send_file(BytesIO(b"RIFF"), mimetype="audio/wav"),
    lambda: send_file(BytesIO(b"%PDF\x00"), mimetype="application/pdf"),
    lambda: Response("a,b\n", mimetype="text/csv"),
]


@pytest.mark.parametrize("view", SAME)
def test_every_kind_of_answer_can_agree(view: Callable[[], Any]) -> None:
    """Whatever an endpoint answers with, the tool's answer is recognised as the same."""
    assert compare(differing(lambda by_tool: view()), {"it": [{}]}) == 3


REFUSALS: list[Callable[[], Any]] = [
    lambda: abort(401),
    lambda: abort(404, "Nothing <here>."),
    lambda: redirect("/sign-in"),
    lambda: (jsonify(code=409, why="taken"), 409),
    lambda: (jsonify(["taken"]), 409),
    lambda: ("<h1>No</h1>", 410),
]


@pytest.mark.parametrize("refuse", REFUSALS)
def test_every_kind_of_refusal_can_agree(refuse: Callable[[], Any]) -> None:
    """Guests are refused in one way or another, and users are not."""
    app = differing(lambda by_tool: jsonify(1) if current_user.is_authenticated else refuse())
    assert compare(app, {"it": [{}]}) == 3


def test_an_exception_that_the_app_lets_through() -> None:
    """An app under test may raise out of its client; that is a broken endpoint, with its exception."""
    app = differing(lambda by_tool: BEDS["nowhere"])
    app.config["TESTING"] = True
    told = failure(lambda: compare(app, {"it": [{}]}))
    assert "the endpoint breaks, which decides nothing.\n      HTTP: KeyError: 'nowhere'\n      tool: Internal" in told


def test_something_else_that_is_left_behind(garden: Flask) -> None:
    """Equal answers are not enough where the state is compared too."""

    def view(by_tool: bool) -> Any:
        BEDS["east"] = ["weeds"] if by_tool else ["peas"]
        return jsonify(1)

    told = failure(lambda: compare(differing(view), {"it": [{}]}))
    assert "it() as a guest: something else is left behind.\n      HTTP: {'north'" in told
    assert "['peas']}\n      tool: {" in told


def test_calls_that_change_something_need_a_reset(garden: Flask) -> None:
    """What the first of two calls did is in the way of the second, and the sentence says so."""
    told = failure(lambda: compare(garden, {**CALLS, "dig": [{"name": "south"}]}, reset=None, state=None))
    assert "dig(name='south') as Ana: the tool breaks, which decides nothing." in told
    assert "  - dig may change something, and each call was made twice: give reset=." in told


# -------------------------------------------------------------------------------------- what would mean nothing


def test_a_tool_that_nothing_is_said_of(garden: Flask) -> None:
    """A tool that is added one day has to be given calls, or left out by its name."""
    rest = {name: tries for name, tries in CALLS.items() if name != "dig"}
    assert failure(lambda: compare(garden, rest)).endswith(
        "  - dig has no calls: give it arguments to try, {'dig': [{...}]}, or name it in without=."
    )
    assert "dig has no calls" in failure(lambda: compare(garden, {**CALLS, "dig": []}))
    assert compare(garden, rest, without=["dig"]) == 12
    assert "dig has calls, and is named in without=" in failure(lambda: compare(garden, without=["dig"]))


@pytest.mark.parametrize("users", [{}, [], iter(())])
def test_no_users(garden: Flask, users: Any) -> None:
    """Nobody asked nothing."""
    assert "no users were given: give users=[None, ...]" in failure(lambda: compare(garden, users=users))


def test_no_endpoint_tools() -> None:
    """A server without endpoint tools has nothing to compare, and neither has one of which all are left out."""
    app = create_app()
    ArandoMCP(app, Server("s"))
    assert "there are no endpoint tools to compare: see endpoint_tool()" in failure(lambda: compare(app, {}))
    served = serve(create_app())
    assert "there are no endpoint tools to compare" in failure(lambda: compare(served, {}, without=list(CALLS)))


@pytest.mark.parametrize("options", [{"calls": {**CALLS, "bd": [{}]}}, {"stricter": ["bd"]}, {"without": ["bd"]}])
def test_a_name_that_is_none(garden: Flask, options: dict[str, Any]) -> None:
    """A misspelt name would leave out what it means."""
    told = failure(lambda: compare(garden, options.pop("calls", None), **options))
    assert "'bd' is no endpoint tool of this server: did you mean 'bed'?" in told


def test_what_is_refused_to_everybody(garden: Flask) -> None:
    """Two refusals agree easily: somebody must be answered."""
    told = failure(lambda: compare(garden, users=[None]))
    assert "  - plant answers nobody, and its data was never compared: give it a call and a user" in told
    assert "bed answers nobody" not in told


def test_a_user_whom_the_app_does_not_know(garden: Flask) -> None:
    """A user who is in no data is refused everywhere, which would look like agreement."""
    told = failure(lambda: compare(garden, users={"a ghost": User("ghost"), **people(garden)}))
    assert "bed(name='north') as a ghost: the app's user_loader does not find this user." in told


def test_several_servers() -> None:
    """The server that is meant is named."""
    app = serve(create_app())
    ArandoMCP(app, Server("second", tools=[endpoints(["bed"], access=public)]), name="second", url="/second")
    assert compare(app, {"bed": CALLS["bed"]}, server="second") == 6
    assert compare(app) == 15
