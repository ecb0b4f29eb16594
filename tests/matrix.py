"""The app that the matrix drives: for each policy a server, whose declarations are full of words that nobody else uses.
It counts who comes in, and lets time pass for users who change while they are served."""

from __future__ import annotations

import json
import os
import select
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from flask import Flask
from flask_login import LoginManager, login_user
from marshmallow import Schema, fields, pre_load
from werkzeug.exceptions import Forbidden, NotFound
from werkzeug.test import TestResponse

from flask_arandu_mcp import ArandoMCP, Progress, Request, Server, guest, prompt, public, resource, signed_in, tool
from flask_arandu_mcp.state import states
from flask_arandu_mcp.transports.descriptors import Descriptors
from flask_arandu_mcp.transports.local import Application
from flask_arandu_mcp.transports.stdio import Pipe
from flask_arandu_mcp.typing import JSONObject

from .app import User, Users
from .wire import bearer

Policy = Callable[[Any], Any]

CANARIES = ("qzname", "QZTITLE", "QZDESCRIPTION", "qzfield", "QZTEXT", "QZVALUE")
"""In the names, titles, descriptions, schemas, texts and completions of what a policy guards, and nowhere else."""

NOWHERE = "qznone"
"""What stands for `qzname` where a name must lead nowhere."""

MEMBERS = ("user", "inactive", "deleted", "demoted", "gone")
"""Whom the policies let in; `other` is a user too, and none of them."""

PEOPLE = (*MEMBERS, "other")


class World:
    """Who there is, and what was entered. Each cell of the matrix begins with a new day.

    :ivar local: who the pipe acts as; None for a guest.
    :ivar now: whom the request under way is made by.
    """

    def __init__(self) -> None:
        self.users = Users()
        self.members: set[str] = set()
        self.local: str | None = None
        self.now = ""
        self.dawn("")

    def dawn(self, now: str) -> None:
        """Everybody is there, nobody has changed, nothing was entered."""
        self.now = now
        self.loaded = self.ran = 0
        self.users.update({id: User(id) for id in PEOPLE})
        self.members = set(MEMBERS)

    def begin(self) -> None:
        """What had happened to people before the request, after they signed in."""
        self.users["inactive"].enabled = False
        del self.users["deleted"]

    def pass_time(self) -> None:
        """What happens to people while their request is under way."""
        if self.now == "demoted":
            self.members.discard("demoted")
        elif self.now == "gone":
            self.users.pop("gone", None)


def policies(world: World) -> dict[str, Policy]:
    """The kinds of answers that a policy can give to who is no member."""

    def is_member(subject: Any) -> bool:
        return getattr(subject, "id", None) in world.members

    def forbids(subject: Any) -> bool:
        if not is_member(subject):
            raise Forbidden("Members only.")
        return True

    def conceals(subject: Any) -> bool:
        if not is_member(subject):
            raise NotFound
        return True

    def raises(subject: Any) -> bool:
        if not is_member(subject):
            raise RuntimeError("QZTEXT")
        return True

    def says_yes(subject: Any) -> Any:
        return True if is_member(subject) else "yes"

    return {
        "public": public,
        "signed_in": signed_in,
        "False": is_member,
        "Forbidden": forbids,
        "NotFound": conceals,
        "raises": raises,
        "non-bool": says_yes,
    }


def counting(world: World) -> type[Schema]:
    """A schema whose loader counts how often it is entered."""

    class Counted(Schema):
        qzfield = fields.String(required=True, metadata={"description": "QZDESCRIPTION"})

        @pre_load
        def count(self, data: Any, **_: Any) -> Any:
            world.loaded += 1
            return data

    return Counted


def guarded(world: World, access: Policy) -> tuple[list[Any], list[Any], list[Any]]:
    """Tools, resources and prompts under a policy."""
    schema = counting(world)

    def run(*_: Any) -> str:
        world.ran += 1
        world.pass_time()
        return "QZTEXT"

    def words(name: str) -> dict[str, Any]:
        return {"name": name, "title": "QZTITLE", "description": "QZDESCRIPTION", "access": access}

    @tool(**words("qzname_talking"), arguments=schema)
    def talking(request: Request, qzfield: str) -> Generator[Progress, None, str]:
        yield Progress(1, message="QZTEXT")
        return run()

    plain = tool(**words("qzname_plain"), arguments=schema)(lambda request, qzfield: run())
    fixed = resource("qz://qzname/fixed", **words("qzname_fixed"))(lambda request: run())
    template = resource("qz://qzname/{part}", **words("qzname_template"))(lambda request, part: run())
    asked = prompt(**words("qzname_prompt"), arguments=schema)(lambda request, qzfield: run())

    @template.completes("part")
    @asked.completes("qzfield")
    def values(request: Request, value: str) -> list[str]:
        return [run() and "QZVALUE"]

    return [plain, talking], [fixed, template], [asked]


def open_to_all(world: World) -> tuple[list[Any], list[Any], list[Any]]:
    """Tools, resources and prompts that are listed beside, whatever the policy says."""

    def everybody(subject: Any) -> bool:
        world.pass_time()  # it is declared last, so while a list is made nothing is asked after it
        return True

    words: dict[str, Any] = {"access": everybody, "description": "Open."}
    return (
        [tool(name="open", **words)(lambda request: "open")],
        [
            resource("open://fixed", name="open", **words)(lambda request: "open"),
            resource("open://{x}", name="open_t", **words)(lambda request, x: x),
        ],
        [prompt(name="open", **words)(lambda request: "open")],
    )


def server_of(world: World, access: Policy, *, recheck: bool) -> Server:
    """A server with declarations of each kind under a policy, and one of each for everybody."""
    tools, resources, prompts = (a + b for a, b in zip(guarded(world, access), open_to_all(world), strict=True))
    return Server("matrix", recheck=recheck, tools=tools, resources=resources, prompts=prompts)


class Asked(NamedTuple):
    """A request that reaches declarations under the policy.

    :ivar loads: the loader of a schema comes before the handler.
    :ivar fits: the arguments are what the schema wants.
    """

    method: str
    params: Mapping[str, Any]
    loads: bool = False
    fits: bool = True

    @property
    def is_list(self) -> bool:
        return self.method.endswith("/list")


def requests(server: Server, access: Policy) -> Iterator[Asked]:
    """Every request that reaches what a server declares under a policy, made of the declarations themselves."""
    catalogue = server.catalogue
    for listing in (catalogue.tools, catalogue.resources, catalogue.templates, catalogue.prompts):
        method = "resources/templates" if listing.key == "resourceTemplates" else listing.key
        yield Asked(f"{method}/list", {})
    for tool_ in catalogue.tools.items:
        if tool_.access is access:
            yield from _called("tools/call", tool_.name, tool_.argument_names)
    for prompt_ in catalogue.prompts.items:
        if prompt_.access is access:
            yield from _called("prompts/get", prompt_.name, prompt_.argument_names)
            yield from _completed({"type": "ref/prompt", "name": prompt_.name}, prompt_.completers)
    for resource_ in (*catalogue.resources.items, *catalogue.templates.items):
        if resource_.access is access:
            yield Asked("resources/read", {"uri": resource_.label.replace("{part}", "one")})
            yield from _completed({"type": "ref/resource", "uri": resource_.label}, resource_.completers)


def _called(method: str, name: str, arguments: Iterable[str]) -> Iterator[Asked]:
    yield Asked(method, {"name": name, "arguments": dict.fromkeys(arguments, "x")}, loads=True)
    yield Asked(method, {"name": name, "arguments": {}}, loads=True, fits=False)


def _completed(of: JSONObject, arguments: Iterable[str]) -> Iterator[Asked]:
    for argument in arguments:
        yield Asked("completion/complete", {"ref": of, "argument": {"name": argument, "value": ""}})


def create_app(world: World) -> Flask:
    """An app with a server for each policy, with recheck and without, each at a URL of its own."""
    app = Flask("matrix")
    app.config.update({"SECRET_KEY": "a key for the tests", "MCP_STDIO_WORKERS": 1})
    app.logger.disabled = True  # what policies raise is logged, thousands of times
    manager = LoginManager(app)
    manager.user_loader(lambda id: world.users.get(id))
    manager.request_loader(world.users.by_token)

    @app.post("/sign-in/<name>")
    def sign_in(name: str) -> str:
        login_user(world.users[name])
        return name

    for word, access in policies(world).items():
        for recheck in (True, False):
            name = f"{word}-{recheck}"
            mcp = ArandoMCP(app, server_of(world, access, recheck=recheck), name=name, url=f"/{name}")
            mcp.local_subject(lambda: guest if world.local is None else world.users.get(world.local))
    return app


# ------------------------------------------------------------------------------------------------- the two doors


class Answered(NamedTuple):
    """An answer as it came.

    :ivar status: 0 over a pipe.
    :ivar head: the headers, as one text.
    """

    status: int
    head: str
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Http:
    """The app's servers over HTTP, asked with the cookies of whoever signed in."""

    def __init__(self, app: Flask, world: World) -> None:
        self._clients = {id: app.test_client() for id in PEOPLE}
        self._clients[""] = app.test_client()
        for id in PEOPLE:
            assert self._clients[id].post(f"/sign-in/{id}").status_code == 200

    def ask(self, server: str, message: Any, headers: Mapping[str, str], cookie: str, token: str) -> Answered:
        """An answer to a message that shows somebody's cookie, or somebody's token, or both."""
        shown = bearer(token) if token else {}
        answer: TestResponse = self._clients[cookie].post(f"/{server}", json=message, headers={**headers, **shown})
        return Answered(answer.status_code, str(answer.headers), answer.data)


class Line:
    """One server over a pipe of this process."""

    def __init__(self, incoming: int, outgoing: int) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self._held = b""

    def ask(self, message: Any) -> Answered:
        """An answer to a message."""
        os.write(self._incoming, json.dumps(message).encode() + b"\n")
        while b"\n" not in self._held:
            assert select.select([self._outgoing], [], [], 20)[0], "nothing came out"
            self._held += os.read(self._outgoing, 65536)
        line, _, self._held = self._held.partition(b"\n")
        return Answered(0, "", line)


@contextmanager
def pipe(app: Flask, server: str) -> Iterator[Line]:
    """A server of the app over a pipe, while the context lasts."""
    state = states(app)[server]
    (theirs, ours), (out, theirs_out) = os.pipe(), os.pipe()
    serving = Pipe(state, Application(state), Descriptors(theirs, theirs_out))
    thread = threading.Thread(target=serving.serve)
    thread.start()
    try:
        yield Line(ours, out)
    finally:
        os.close(ours)
        thread.join(20)
        assert not thread.is_alive()
        for descriptor in (theirs, theirs_out, out):
            os.close(descriptor)
