"""Mistakes in declarations: each stops the app at boot, and all of them are listed at once."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from marshmallow import Schema, fields
from marshmallow.validate import Length

from flask_arandu_mcp import ArandoMCP, DeclarationError, Request, Server, Tool, prompt, public, resource, tool


def faults(**server: Any) -> tuple[str, ...]:
    """The mistakes that an app with this server would be stopped by."""
    with pytest.raises(DeclarationError) as caught:
        ArandoMCP(Flask(__name__), Server(**{"name": "test", **server}))
    assert all(fault.endswith((".", "?")) for fault in caught.value.faults), caught.value.faults
    return caught.value.faults


def only(**server: Any) -> str:
    found = faults(**server)
    assert len(found) == 1, found
    return found[0]


def of_tool(handler: Any, **options: Any) -> str:
    handler.__doc__ = handler.__doc__ or "Does something."
    said: dict[str, Any] = {"access": public, "name": "t", **options}
    return only(tools=[tool(**said)(handler)])


def test_a_decorator_that_is_given_no_function() -> None:
    """A name in the place of the function is refused where it is written."""
    name: Any = "search"
    with pytest.raises(TypeError, match=r"@tool is given 'search' for a function: .* @tool\(name=…\)"):
        tool(name)


def test_a_server_without_mistakes_boots() -> None:
    """Validation is silent where there is nothing to say."""
    Server(name="test").validate()


def test_all_mistakes_are_listed_at_once() -> None:
    """One error names every mistake, so that an author mends them in one go."""

    class Nameless(Tool):
        pass

    with pytest.raises(DeclarationError) as caught:
        ArandoMCP(Flask(__name__), Server(name="", tools=[Nameless(), Nameless()]))
    error = caught.value
    assert len(error.faults) == 9
    assert str(error).startswith("MCP server '' has 9 mistakes in its declarations:\n  - the server has no name")
    assert sum("has no description" in fault for fault in error.faults) == 2


def test_a_declaration_without_words_is_named_by_its_place() -> None:
    """What has no name is found by its place in the list and its class."""

    class Nameless(Tool):
        """Has a docstring."""

        access = public

        def handle(self, request: Request) -> str:
            return ""

    assert only(tools=[Nameless()]).startswith("tools[0] (Nameless) has no name")


@pytest.mark.parametrize("name", ["has space", "a/b", "é", "a" * 129, "a\n", "a,b"])
def test_a_name_has_a_narrow_alphabet(name: str) -> None:
    """A name that a client could refuse is refused at boot."""
    assert "rename it" in of_tool(lambda request: "", name=name)


def test_a_name_is_used_once() -> None:
    """Two declarations of one name, or at one URI, cannot both be reached."""

    @tool(access=public)
    def twice(request: Request) -> str:
        """Is there twice."""
        return ""

    def at(uri: str) -> Any:
        return resource(uri, access=public, name=f"n{len(uri)}", description="Is there.")(lambda request: "")

    assert "two tools share 'twice'" in only(tools=[twice, twice])
    assert "two resources share" in only(resources=[at("a:é"), at("a:%C3%A9")])


def test_access_is_never_guessed() -> None:
    """Who may use a declaration is said, by itself or by its server."""

    @tool
    def silent(request: Request) -> str:
        """Says nothing of access."""
        return ""

    assert "access=public, signed_in" in only(tools=[silent])
    Server(name="test", tools=[silent], access=public).validate()


@pytest.mark.parametrize("access", ["public", True, 0])
def test_access_is_a_callable(access: Any) -> None:
    """A word in quotes is no policy."""
    assert f"access is {access!r}" in of_tool(lambda request: "", access=access)
    assert f"the server's access is {access!r}" in only(access=access)


def test_one_thing_decides() -> None:
    """A declaration with two policies would be as open as the one that is asked."""

    class Both(Tool):
        """Has two policies."""

        name = "both"
        access = public

        def allows(self, subject: Any) -> bool:
            return False

        def handle(self, request: Request) -> str:
            return ""

    assert "only one can decide" in only(tools=[Both()])


def test_lists_hold_declarations() -> None:
    """A class in place of an object, and a function that nobody decorated, are named with the way out."""

    class Good(Tool):
        """Is good."""

    def bare(request: Request) -> str:
        return ""

    assert "write Good()" in only(tools=[Good])
    assert "decorate the function with @tool" in only(tools=[bare])
    assert "@resource" in only(resources=[bare])
    assert "@prompt" in only(prompts=[prompt, bare][1:])


def test_a_class_has_a_handler() -> None:
    """A class without `handle` would fail on its first call."""

    class Idle(Tool):
        """Does nothing."""

        name = "idle"
        access = public

    assert "handle(self, request" in only(tools=[Idle()])


def test_a_handler_takes_the_request() -> None:
    """The first parameter is the request."""

    def none() -> str:
        return ""

    assert "give it a first parameter, request" in of_tool(none)


def test_handlers_and_fields_agree() -> None:
    """A field that the handler does not take, and a parameter that no field fills, are mistakes."""
    assert "give it a parameter n" in of_tool(lambda request: "", arguments={"n": fields.Integer(required=True)})
    assert "wants 'm'" in of_tool(lambda request, m: "")
    assert "give it a parameter **arguments" in of_tool(
        lambda request: "", arguments={"not-a-name": fields.Integer(required=True)}
    )
    Server(
        name="test",
        tools=[
            tool(access=public, name="t", description="D.", arguments={"a-b": fields.Int()})(lambda request, **a: "")
        ],
    ).validate()


def test_what_may_be_absent_needs_a_default() -> None:
    """An optional field without load_default is not passed, so its parameter has a default."""
    optional = {"n": fields.Integer()}
    assert "may be absent" in of_tool(lambda request, n: "", arguments=optional)
    for handler, arguments in (
        (lambda request, n=None: "", optional),
        (lambda request, n: "", {"n": fields.Integer(load_default=1)}),
    ):
        server = Server(name="t", tools=[tool(access=public, name="t", description="D.", arguments=arguments)(handler)])
        server.validate()


@pytest.mark.parametrize("name", ["self", "request", "Meta"])
def test_some_names_are_taken(name: str) -> None:
    """A field of such a name could not be given, or would change its schema."""

    class Named(Schema):
        pass

    schema = Named.from_dict({name: fields.Integer(required=True)}) if name != "Meta" else None
    if schema is None:
        schema = type("Named", (Schema,), {"other": fields.Integer(data_key="x")})
        schema._declared_fields = {"Meta": fields.Integer(required=True)}
    assert any(f"cannot be called {name!r}" in fault for fault in _faults_of(schema))


def _faults_of(schema: Any) -> tuple[str, ...]:
    return faults(tools=[tool(access=public, name="t", description="D.", arguments=schema)(lambda request, **a: "")])


def test_include_needs_a_place_to_go() -> None:
    """What a schema lets in must reach the handler."""

    class Open(Schema):
        class Meta:
            unknown = "include"

    assert "INCLUDE" in of_tool(lambda request: "", arguments=Open)


def test_arguments_are_one_object() -> None:
    """A list of objects cannot be given by keyword."""

    class Row(Schema):
        n = fields.Integer()

    assert "many=True" in of_tool(lambda request, n=0: "", arguments=Row(many=True))


def test_a_method_field_has_its_method() -> None:
    """A field that would fail on its first call fails at boot."""

    class Broken(Schema):
        n = fields.Method(deserialize="missing")

    assert "missing" in of_tool(lambda request, n=None: "", arguments=Broken)


def test_async_generators_are_refused() -> None:
    """An async generator cannot be run again; a plain one can."""

    async def asynchronous(request: Request) -> Any:
        yield ""

    def plain(request: Request) -> Any:
        yield ""

    assert "async generator" in of_tool(asynchronous)
    server = Server(name="t", tools=[tool(access=public, name="t", description="D.")(plain)])
    server.validate()


@pytest.mark.parametrize(
    ("uri", "says"),
    [
        ("no-scheme", "must begin with a scheme"),
        ("", "must begin with a scheme"),
        ("a:{x}/{x}", "occurs twice"),
        ("a:{/x}", "is no variable"),
        ("a:{x", "a brace stands alone"),
        ("a:b\n", "must hold no control characters"),
    ],
)
def test_a_uri_is_one(uri: str, says: str) -> None:
    """A URI that cannot be matched is refused, with the rule it breaks."""
    declared = resource(uri, access=public, name="r", description="D.")(lambda request, x=1: "")
    assert says in only(resources=[declared])


def test_a_template_and_its_handler_agree() -> None:
    """Each variable is a parameter, and each parameter a variable."""
    declared = resource("a:{x}", access=public, name="r", description="D.")(lambda request, y: "")
    found = faults(resources=[declared])
    assert "the variable 'x'" in found[0]
    assert "wants 'y'" in found[1]


@pytest.mark.parametrize("mime_type", ["text", "text/html\r\nX: y", "a b/c"])
def test_a_media_type_is_one(mime_type: str) -> None:
    """A media type that could split a header is refused."""
    declared = resource("a:b", access=public, name="r", description="D.", mime_type=mime_type)(lambda request: "")
    assert "is no media type" in only(resources=[declared])


def test_a_name_and_a_url_are_given_once() -> None:
    """`init_app` twice, or two servers at one URL, would hide one of them."""
    app = Flask(__name__)
    ArandoMCP(app, Server(name="one"))
    with pytest.raises(DeclarationError, match="the name 'default' is taken"):
        ArandoMCP(app, Server(name="two"), url="/other")
    with pytest.raises(DeclarationError, match="url '/mcp/' is taken"):
        ArandoMCP(app, Server(name="two"), name="two", url="/mcp/")
    with pytest.raises(DeclarationError, match="is no path"):
        ArandoMCP(app, Server(name="three"), name="three", url="mcp3")


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("MCP_LOGIN_REQIRED", True, "did you mean 'MCP_LOGIN_REQUIRED'"),
        ("MCP_LOGIN_REQUIRED", "yes", "must be True or False"),
        ("MCP_MAX_MESSAGE", 0, "above 0"),
        ("MCP_MAX_MESSAGE", True, "above 0"),
        ("MCP_STDIO_WORKERS", "4", "above 0"),
        ("MCP_ALLOWED_ORIGINS", "https://a.example", "a list of origins"),
        ("MCP_ENDPOINT_HEADERS", "X-Tenant", "names of headers"),
        ("MCP_ENDPOINT_HEADERS", ["X Tenant"], "names of headers"),
        ("MCP_ENDPOINT_HEADERS", ["Content-Type"], "none of which describes the message itself"),
        ("MCP_ENDPOINT_HEADERS", ["accept"], "none of which describes the message itself"),
    ],
)
def test_a_setting_is_checked(key: str, value: Any, says: str) -> None:
    """A key that nobody reads, or a value of the wrong type, is a mistake like any other."""
    app = Flask(__name__)
    app.config[key] = value
    with pytest.raises(DeclarationError, match=says):
        ArandoMCP(app, Server(name="test"))


def test_keys_of_others_are_left_alone() -> None:
    """A key that only begins alike may be somebody else's."""
    app = Flask(__name__)
    app.config["MCP_SOMETHING_ELSE"] = 1
    ArandoMCP(app, Server(name="test"))


def test_an_object_of_no_server_serves_an_empty_one() -> None:
    """`ArandoMCP(app)` alone serves a server that is named after the app."""
    app = Flask("garden")
    ArandoMCP(app)
    assert app.extensions["arandu_mcp"]["default"].server.name == "garden"


def test_validators_of_fields_are_converted() -> None:
    """A well-declared schema has nothing to report."""
    arguments = {"tags": fields.List(fields.String(validate=Length(1, 9)))}
    server = Server(
        name="test",
        tools=[tool(access=public, name="t", description="D.", arguments=arguments)(lambda request, tags=None: "")],
    )
    assert server.list_tools(None)[0]["inputSchema"]["properties"]["tags"]["items"]["maxLength"] == 9


@pytest.mark.parametrize(
    ("option", "meant"),
    [("scope", "scopes"), ("limit", "limits"), ("readonly", "read_only"), ("acess", "access"), ("zzz", "")],
)
def test_an_option_that_there_is_not_is_refused(option: str, meant: str) -> None:
    """A misspelt option would protect nothing, so the decorator refuses it and says which one was meant."""
    options: Any = {option: "x"}
    for decorate in (tool, prompt, lambda **options: resource("a:b", **options)):
        if option == "readonly" and decorate is not tool:
            continue
        with pytest.raises(
            TypeError,
            match=f"'{option}', which is no option" + (f": .*'{meant}'" if meant else ": write one of access, "),
        ):
            decorate(**options)(lambda request: "")


def test_an_attribute_that_nobody_reads_is_a_mistake() -> None:
    """A class may have attributes of its own, but none that is almost one that protects it."""

    class Misspelt(Tool):
        """Is not what it says."""

        name = "misspelt"
        access = public
        readonly = True
        scope = ("admin",)
        posts = "its own"

        def handle(self, request: Request) -> str:
            return ""

    found = faults(tools=[Misspelt()])
    assert [fault.split(": ", 1)[1] for fault in found] == [
        "nobody reads the attribute 'readonly': did you mean 'read_only'?",
        "nobody reads the attribute 'scope': did you mean 'scopes'?",
    ]


def test_a_function_without_words_has_no_description() -> None:
    """A function without a docstring is not described by the package's own."""
    for declared, kind in ((tool, "tools"), (prompt, "prompts")):
        assert "has no description" in only(**{kind: [declared(access=public, name="d")(lambda request: "")]})
    assert "has no description" in only(resources=[resource("a:b", access=public, name="d")(lambda request: "")])


def test_a_policy_can_be_asked() -> None:
    """A policy without a parameter could be asked about nobody."""
    assert "give it one parameter, the subject" in of_tool(lambda request: "", access=lambda: True)


def test_words_and_hints_are_what_clients_take() -> None:
    """A title that is no text, or a hint that is no boolean, makes clients drop the whole list."""
    assert "its title is 3" in of_tool(lambda request: "", title=3)
    assert "read_only is 'yes'" in of_tool(lambda request: "", read_only="yes")
    assert "cannot be both" in of_tool(lambda request: "", read_only=True, destructive=True)


def test_a_prompt_takes_text() -> None:
    """Clients send nothing but strings to a prompt."""
    declared = prompt(access=public, name="p", description="D.", arguments={"n": fields.List(fields.Integer())})
    assert "is no text" in only(prompts=[declared(lambda request, n=None: "")])


def test_what_is_completed_is_an_argument() -> None:
    """A completer under a name that nobody asks for is a slip."""
    declared = resource("a:{x}", access=public, name="r", description="D.")(lambda request, x: "")
    declared.completes("zz")(lambda request, value: [])
    assert "'zz' is completed" in only(resources=[declared])


def test_lists_are_lists_of_their_own_kind() -> None:
    """A declaration in place of a list, or in the wrong one, is named with where it belongs."""
    one = tool(access=public, name="t", description="D.")(lambda request: "")
    assert "write tools=[...]" in only(tools=one)
    assert "put it into tools=[...]" in only(prompts=[one])


def test_a_field_may_have_a_name_that_python_keeps() -> None:
    """A field called as a keyword of Python is renamed, and keeps its name on the wire."""
    arguments = {"from": fields.String(required=True)}
    assert "call the field from_, with data_key='from'" in of_tool(lambda request: "", arguments=arguments)


def test_the_server_is_no_app() -> None:
    """A server in the app's place is told apart at once."""
    server: Any = Server(name="s")
    with pytest.raises(TypeError, match="write ArandoMCP"):
        ArandoMCP(server)
