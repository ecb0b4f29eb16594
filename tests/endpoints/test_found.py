"""Schemas that apps have on their views already: those of webargs, flask-smorest and APIFlask, each in a real app."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from apiflask import APIBlueprint, APIFlask
from apiflask import Schema as APISchema
from apiflask.fields import File
from apiflask.views import MethodView as APIMethodView
from flask import Flask, jsonify
from flask.views import MethodView
from flask_smorest import Api, Blueprint
from flask_smorest.fields import Upload
from marshmallow import INCLUDE, Schema, fields
from marshmallow.validate import Length, OneOf, Range
from webargs.fields import DelimitedList
from webargs.flaskparser import FlaskParser, parser, use_args, use_kwargs

from flask_arandu_mcp import ArandoMCP, DeclarationError, Server, endpoint_tool, endpoints, public
from flask_arandu_mcp.operations.declare import Endpoints

from ..wire import Wire


class PetIn(APISchema):
    """A pet as it comes in."""

    name = fields.String(required=True, validate=Length(max=20), metadata={"description": "What it is called"})
    age = fields.Integer(validate=Range(min=0))


class PetOut(APISchema):
    """A pet as it goes out."""

    id = fields.Integer(required=True)
    name = fields.String(required=True)
    born = fields.Date()


class Paging(APISchema):
    """Which part of a list."""

    limit = fields.Integer(load_default=20, metadata={"description": "How many"})
    tags = fields.List(fields.String())
    kinds = DelimitedList(fields.String())


class Photo(APISchema):
    """A photo of a pet."""

    photo = Upload()


class Rename(APISchema):
    """A new name."""

    name = fields.String()
    pet_id = fields.Integer()


NAME = {"type": "string", "maxLength": 20, "description": "What it is called"}
AGE = {"type": "integer", "minimum": 0}


def served(app: Flask, *tools: Endpoints, **options: Any) -> Wire:
    mcp = ArandoMCP(app, Server("pets", access=public, tools=tools, **options))
    mcp.check(app)
    return Wire(app)


def faults(app: Flask, *tools: Endpoints) -> tuple[str, ...]:
    with pytest.raises(DeclarationError) as caught:
        served(app, *tools)
    return caught.value.faults


def tools_of(wire: Wire) -> dict[str, Any]:
    return {each["name"]: each for each in wire.call("tools/list")["tools"]}


def arguments_of(wire: Wire, name: str) -> Any:
    return tools_of(wire)[name]["inputSchema"]


def use(wire: Wire, name: str, /, **arguments: Any) -> Any:
    return wire.call("tools/call", {"name": name, "arguments": arguments})


def refusal(wire: Wire, name: str, /, **arguments: Any) -> Any:
    """The app's own JSON for a refusal: in the text alone, where a result was declared that it is none of."""
    result = use(wire, name, **arguments)
    assert result["isError"] is True
    assert "structuredContent" not in result
    return json.loads(result["content"][0]["text"])


# ---------------------------------------------------------------------------------------------------- webargs


@pytest.fixture
def with_webargs() -> Wire:
    app = Flask(__name__)
    app.config.from_mapping(TESTING=True)

    @app.errorhandler(422)
    def invalid(error: Any) -> tuple[Any, int]:
        return jsonify(errors=error.data["messages"]), 422

    @app.get("/pets")
    @use_args(Paging, location="query")
    def list_pets(args: dict[str, Any]) -> Any:
        """Lists pets."""
        return jsonify(args)

    def logged(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return view(*args, **kwargs)

        return wrapper

    @app.post("/shops/<int:shop>/pets")
    @logged
    @use_kwargs(PetIn)
    @use_kwargs({"dry_run": fields.Boolean(load_default=False)}, location="query")
    def add_pet(shop: int, name: str, dry_run: bool, age: int | None = None) -> Any:
        """Adds a pet."""
        return jsonify(shop=shop, name=name, age=age, dry_run=dry_run)

    @app.post("/loose")
    @use_args(PetIn(unknown=INCLUDE))
    async def loose(args: dict[str, Any]) -> Any:
        """Takes anything."""
        return jsonify(args)

    @app.post("/forms")
    @parser.use_kwargs({"text": fields.String(required=True)}, location="form")
    @parser.use_kwargs({"x": fields.Integer(data_key="X-Count")}, location="headers")
    def send_form(text: str, x: int | None = None) -> Any:
        """Sends a form."""
        return jsonify(text=text, x=x)

    class Own(FlaskParser):
        DEFAULT_VALIDATION_STATUS = 400

    @app.put("/pets/<name>")
    @Own().use_args({"name": fields.String(metadata={"description": "Whose age"})}, location="view_args")
    @Own().use_args({"age": fields.Integer(required=True, strict=True)})
    def set_age(path: Any, args: Any, name: str) -> Any:
        """Sets an age."""
        return jsonify(name=path["name"], **args)

    return served(app, *map(endpoint_tool, ("list_pets", "add_pet", "loose", "send_form", "set_age")))


def test_webargs_in_the_query(with_webargs: Wire) -> None:
    """A schema of the query is shown, and its values are sent as the query has them."""
    assert arguments_of(with_webargs, "list_pets")["properties"]["limit"] == {
        "type": "integer",
        "default": 20,
        "description": "How many",
    }
    found = use(with_webargs, "list_pets", limit=5, tags=["a", "b & c"], kinds=["x", "y"])["structuredContent"]
    assert found == {"limit": 5, "tags": ["a", "b & c"], "kinds": ["x", "y"]}
    assert use(with_webargs, "list_pets")["structuredContent"] == {"limit": 20}


def test_webargs_in_several_places(with_webargs: Wire) -> None:
    """Path, query and body of one endpoint are the arguments of one tool."""
    assert arguments_of(with_webargs, "add_pet") == {
        "type": "object",
        "properties": {
            "shop": {"type": "integer", "minimum": 0},
            "name": NAME,
            "age": AGE,
            "dry_run": {"type": "boolean", "default": False},
        },
        "required": ["shop", "name"],
        "additionalProperties": False,
    }
    found = use(with_webargs, "add_pet", shop=3, name="Rex", dry_run=True)["structuredContent"]
    assert found == {"shop": 3, "name": "Rex", "age": None, "dry_run": True}


def test_the_app_itself_refuses_what_its_schema_refuses(with_webargs: Wire) -> None:
    """What the schema of a view refuses is refused by the view, in the app's words, and checked once."""
    refused = use(with_webargs, "add_pet", shop=3, name="x" * 21, age=-1)
    assert refused["isError"] is True
    assert set(refused["structuredContent"]["errors"]["json"]) == {"name", "age"}


def test_a_schema_that_takes_anything(with_webargs: Wire) -> None:
    """INCLUDE lets through what nobody named, into the body."""
    assert arguments_of(with_webargs, "loose")["additionalProperties"] is True
    assert use(with_webargs, "loose", name="Rex", colour="red")["structuredContent"] == {"name": "Rex", "colour": "red"}


def test_forms_and_headers(with_webargs: Wire) -> None:
    """A form is sent as a form; an optional header is left out, as a model sends none."""
    assert list(arguments_of(with_webargs, "send_form")["properties"]) == ["text"]
    assert use(with_webargs, "send_form", text="a&b=c")["structuredContent"] == {"text": "a&b=c", "x": None}


def test_a_schema_of_the_path(with_webargs: Wire) -> None:
    """A schema of the path describes its variables; a number that JSON wrote with a point is a whole one still."""
    assert arguments_of(with_webargs, "set_age")["properties"]["name"] == {
        "type": "string",
        "description": "Whose age",
    }
    assert use(with_webargs, "set_age", name="Rex", age=3.0)["structuredContent"] == {"name": "Rex", "age": 3}


def test_what_webargs_makes_for_each_request() -> None:
    """A schema that is made for each request cannot be shown: it must be declared."""
    app = Flask(__name__)

    def make(request: Any) -> Schema:
        return PetIn()

    @app.post("/pets")
    @use_args(make)
    def add(args: Any) -> Any:
        """Adds a pet."""
        return jsonify(args)

    (fault,) = faults(app, endpoint_tool("add"))
    assert (
        fault
        == "endpoint 'add': its schema is a function, which is none of marshmallow's: say arguments= in its place."
    )


def test_a_schema_in_the_place_of_what_is_found() -> None:
    """What is declared at the tool stands in the place of what is found, and is checked there."""
    app = Flask(__name__)

    @app.post("/pets")
    @use_args(PetIn)
    def add(args: Any) -> Any:
        """Adds a pet."""
        return jsonify(args)

    wire = served(app, endpoint_tool("add", arguments={"name": fields.String(required=True, validate=Length(min=3))}))
    assert use(wire, "add", name="Rex")["structuredContent"] == {"name": "Rex"}
    refused = use(wire, "add", name="R")
    assert refused["content"][0]["text"] == "Invalid arguments:\n- name: Shorter than minimum length 3."
    assert "Unknown field" in use(wire, "add", name="Rex", age=3)["content"][0]["text"]


# ---------------------------------------------------------------------------------------------- flask-smorest


def smorest(**config: Any) -> tuple[Flask, Blueprint]:
    app = Flask(__name__)
    settings = {"API_TITLE": "Pets", "API_VERSION": "1", "OPENAPI_VERSION": "3.1.0", "TESTING": True, **config}
    app.config.from_mapping(settings)
    pets = Blueprint("pets", __name__, url_prefix="/pets")

    @pets.route("/")
    class Pets(MethodView):
        @pets.arguments(Paging, location="query")
        @pets.response(200, PetOut(many=True))
        @pets.paginate()
        def get(self, args: Any, pagination_parameters: Any) -> Any:
            """Lists pets.

            The newest first.
            ---
            Internal: for the documentation.
            """
            pagination_parameters.item_count = 50
            return [{"id": args["limit"], "name": f"page {pagination_parameters.page}"}]

        @pets.arguments(PetIn)
        @pets.response(201, PetOut)
        @pets.alt_response(409, description="Taken")
        def post(self, data: Any) -> Any:
            """Adds a pet."""
            return {"id": 1, **data}

    @pets.route("/<int:pet_id>")
    class PetsById(MethodView):
        @pets.response(200, PetOut)
        def get(self, pet_id: int) -> Any:
            """Reads a pet."""
            return {"id": pet_id, "name": "Rex"}

        @pets.response(204)
        def delete(self, pet_id: int) -> None:
            """Deletes a pet."""

    @pets.route("/<int:pet_id>/photo", methods=["PUT"])
    @pets.arguments(Photo, location="files")
    @pets.response(204)
    def put_photo(files: Any, pet_id: int) -> None:
        """Puts a photo."""

    @pets.route("/<int:pet_id>/name", methods=["PUT"])
    @pets.doc(summary="Renames a pet", description="Once a day.")
    @pets.arguments(Rename)
    @pets.response(200, PetOut)
    def rename(data: Any, pet_id: int) -> Any:
        """Internal words."""
        return {"id": pet_id, "name": f"{data['name']}/{data.get('pet_id')}"}

    return app, pets


def registered(app: Flask, pets: Blueprint) -> Flask:
    Api(app).register_blueprint(pets)
    return app


def test_a_whole_api_of_smorest() -> None:
    """Arguments, pages, results and words of an API are those of its tools."""
    wire = served(registered(*smorest()), endpoints(["* pets.*"], exclude=["pets.put_photo", "pets.rename"]))
    tools = tools_of(wire)
    assert set(tools) == {"pets_pets_get", "pets_pets_post", "pets_pets_by_id_get", "pets_pets_by_id_delete"}
    assert set(tools["pets_pets_get"]["inputSchema"]["properties"]) == {"limit", "tags", "kinds", "page", "page_size"}
    assert tools["pets_pets_get"]["description"] == "Lists pets.\n\nThe newest first."
    assert tools["pets_pets_post"]["inputSchema"]["properties"] == {"name": NAME, "age": AGE}
    out = tools["pets_pets_post"]["outputSchema"]
    assert out["properties"]["born"]["format"] == "date"
    assert "outputSchema" not in tools["pets_pets_by_id_delete"]


def test_calls_of_an_api_of_smorest() -> None:
    """Calls answer what the API answers, pages and all."""
    wire = served(registered(*smorest()), endpoints(["* pets.*"], exclude=["pets.put_photo", "pets.rename"]))
    listed = use(wire, "pets_pets_get", limit=7, page=2, page_size=10)
    assert listed["structuredContent"] == {"result": [{"id": 7, "name": "page 2"}]}
    assert listed["_meta"]["X-Pagination"]["total_pages"] == 5
    assert use(wire, "pets_pets_post", name="Rex")["structuredContent"] == {"id": 1, "name": "Rex"}
    assert use(wire, "pets_pets_by_id_delete", pet_id=3)["content"][0]["text"] == "Done."
    refused = refusal(wire, "pets_pets_post", age=1)
    assert refused["errors"]["json"]["name"] == ["Missing data for required field."]
    assert refused["code"] == 422


def test_an_upload_is_refused_with_the_reason() -> None:
    """An endpoint that takes a file can be no tool, and the fault says why."""
    (fault,) = faults(registered(*smorest()), endpoint_tool("pets.put_photo"))
    assert fault == (
        "endpoint 'pets.put_photo': it takes an upload, and a tool's arguments are JSON: make no tool of it, or a view "
        "that takes text."
    )


def test_names_that_clash() -> None:
    """An argument of the path and one of the body that share a name are a fault, until it is said where it goes."""
    (fault,) = faults(registered(*smorest()), endpoint_tool("pets.rename"))
    assert fault.startswith("endpoint 'pets.rename': 'pet_id' is in its path and in its json, and a tool has one")
    wire = served(registered(*smorest()), endpoint_tool("pets.rename", place={"pet_id": "path"}))
    assert tools_of(wire)["pets_rename"]["description"] == "Renames a pet\n\nOnce a day."
    assert use(wire, "pets_rename", pet_id=3, name="Rex")["structuredContent"] == {"id": 3, "name": "Rex/None"}
    wire = served(registered(*smorest()), endpoint_tool("pets.rename", place={"pet_id": ["path", "json"]}))
    assert use(wire, "pets_rename", pet_id=3, name="Rex")["structuredContent"] == {"id": 3, "name": "Rex/3"}


def test_a_result_that_the_api_breaks() -> None:
    """What an API answers beside its own schema is an internal error, as a client would refuse it."""
    app, pets = smorest()

    @pets.route("/odd")
    @pets.response(200, PetOut)
    def odd() -> Any:
        """Answers oddly."""
        return jsonify(id="one", name="x")

    wire = served(registered(app, pets), endpoint_tool("pets.odd"))
    assert use(wire, "pets_odd")["content"][0]["text"].startswith("Internal error (ref ")


# -------------------------------------------------------------------------------------------------- APIFlask


class AgeIn(APISchema):
    """An age as it comes in."""

    age = fields.Integer(required=True)


def api(**config: Any) -> APIFlask:
    app = APIFlask(__name__)
    app.config.from_mapping({"TESTING": True, **config})
    zoo = APIBlueprint("zoo", __name__, url_prefix="/zoo")

    @zoo.get("/pets")
    @zoo.input(Paging, location="query")
    @zoo.output(PetOut(many=True))
    def pets(query_data: Any) -> Any:
        """List pets"""
        return [{"id": query_data["limit"], "name": "Rex"}]

    @zoo.post("/pets")
    @zoo.doc(summary="Takes a pet in", description="For good.")
    @zoo.input(PetIn)
    @zoo.input({"loud": fields.Boolean(load_default=False)}, location="query", schema_name="Loud")
    @zoo.output(PetOut, status_code=201)
    def take(json_data: Any, query_data: Any) -> Any:
        return {"id": int(query_data["loud"]), **json_data}

    class Pet(APIMethodView):
        @zoo.input(AgeIn)
        @zoo.output(PetOut)
        def patch(self, pet_id: int, json_data: Any) -> Any:
            """Make a pet older"""
            return {"id": pet_id, "name": str(json_data["age"])}

        @zoo.output({}, status_code=204)
        def delete(self, pet_id: int) -> str:
            """Let a pet go"""
            return ""

    zoo.add_url_rule("/pets/<int:pet_id>", view_func=Pet.as_view("pet"))

    @zoo.post("/photos")
    @zoo.input({"photo": File(required=True)}, location="files", schema_name="PhotoIn")
    def photo(files_data: Any) -> str:
        """Add a photo"""
        return ""

    @zoo.post("/unchecked")
    @zoo.input(PetIn, validation=False)
    def unchecked(json_data: Any) -> Any:
        """Take anything"""
        return {"name": json_data["name"]}

    app.register_blueprint(zoo)
    return app


@pytest.fixture
def with_apiflask() -> Wire:
    return served(api(), endpoints(["* zoo.*"], exclude=["zoo.photo"]))


def test_a_whole_api_of_apiflask(with_apiflask: Wire) -> None:
    """What APIFlask was told of its views is what its tools say."""
    tools = tools_of(with_apiflask)
    assert set(tools) == {"zoo_pets", "zoo_take", "zoo_pet_patch", "zoo_pet_delete", "zoo_unchecked"}
    assert tools["zoo_take"]["description"] == "Takes a pet in\n\nFor good."
    assert tools["zoo_take"]["inputSchema"]["properties"] == {
        "name": NAME,
        "age": AGE,
        "loud": {"type": "boolean", "default": False},
    }
    assert set(tools["zoo_take"]["outputSchema"]["properties"]) == {"id", "name", "born"}
    assert tools["zoo_pet_patch"]["inputSchema"]["required"] == ["pet_id", "age"]
    assert "outputSchema" not in tools["zoo_pet_delete"]
    assert tools["zoo_unchecked"]["inputSchema"]["properties"] == {"name": NAME, "age": AGE}


def test_calls_of_an_api_of_apiflask(with_apiflask: Wire) -> None:
    """Calls answer what the API answers."""
    assert use(with_apiflask, "zoo_pets", limit=2)["structuredContent"] == {"result": [{"id": 2, "name": "Rex"}]}
    assert use(with_apiflask, "zoo_take", name="Rex", loud=True)["structuredContent"] == {"id": 1, "name": "Rex"}
    assert use(with_apiflask, "zoo_pet_patch", pet_id=3, age=4)["structuredContent"] == {"id": 3, "name": "4"}
    assert use(with_apiflask, "zoo_pet_delete", pet_id=3)["content"][0]["text"] == "Done."
    refused = refusal(with_apiflask, "zoo_take", age=1)
    assert refused["detail"]["json"]["name"] == ["Missing data for required field."]
    assert use(with_apiflask, "zoo_unchecked", name="Rex")["structuredContent"] == {"name": "Rex"}


def test_an_upload_of_apiflask_is_refused() -> None:
    """An upload of APIFlask can be no tool either."""
    (fault,) = faults(api(), endpoint_tool("zoo.photo"))
    assert "it takes an upload" in fault


def test_results_that_are_wrapped() -> None:
    """Where all results are wrapped, the schema of what is in them says nothing of the answer, and is not shown."""

    class Wrapped(Schema):
        data: fields.Field[Any] = fields.Field()

    wire = served(api(BASE_RESPONSE_SCHEMA=Wrapped), endpoint_tool("zoo.pets"))
    assert "outputSchema" not in tools_of(wire)["zoo_pets"]


def test_a_schema_that_no_client_can_be_shown() -> None:
    """A schema that cannot be converted is a fault, with what may be said in its place."""
    app = Flask(__name__)

    @app.post("/paint")
    @use_args({"colour": fields.String(validate=OneOf([]))})
    def paint(args: Any) -> Any:
        """Paints."""
        return jsonify(args)

    (fault,) = faults(app, endpoint_tool("paint"))
    assert fault.startswith("endpoint 'paint': endpoint 'paint': colour: ")
    assert fault.endswith("; or say arguments= in the place of what was found")


def test_a_result_in_the_place_of_what_is_found() -> None:
    """A result may be said at the tool, as a schema or as a JSON Schema, and must be one that can be shown."""
    app, pets = smorest()
    registered(app, pets)
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    wire = served(app, endpoint_tool("pets.PetsById", method="GET", result=schema))
    assert tools_of(wire)["pets_pets_by_id_get"]["outputSchema"] == schema
    assert use(wire, "pets_pets_by_id_get", pet_id=1)["content"][0]["text"].startswith("Internal error (ref ")
    again, pets = smorest()
    wrong = endpoint_tool("pets.PetsById", method="GET", result={"id": fields.Pluck(PetOut, "nothing")})
    (fault,) = faults(registered(again, pets), wrong)
    assert "its result: id: its nested schema cannot be made" in fault
    assert "what was found" not in fault


def test_schemas_that_define_one_name_twice() -> None:
    """Two schemas of one endpoint that name different things alike cannot both be shown."""
    app = Flask(__name__)

    def tree(**more: Any) -> type[Schema]:
        class Tree(Schema):
            below = fields.List(fields.Nested(lambda: made()))

        made: type[Schema] = type("Tree", (Tree,), more)
        return made

    body = {"tree": fields.Nested(tree(leaf=fields.String()))}
    query = {"other": fields.Nested(tree(leaf=fields.Integer()))}

    @app.post("/trees")
    @use_args(body)
    @use_args(query, location="query")
    def plant(*args: Any) -> Any:
        """Plants."""
        return jsonify({})

    (fault,) = faults(app, endpoint_tool("plant"))
    assert fault == "endpoint 'plant': two of its schemas define 'Tree' differently: say arguments= in their place."


def test_a_field_that_only_the_server_knows() -> None:
    """Field classes that the server describes are described in schemas that are found, too."""
    app = Flask(__name__)

    class Colour(fields.String):
        """A colour."""

    @app.post("/paint")
    @use_args({"colour": Colour(required=True)})
    def paint(args: Any) -> Any:
        """Paints."""
        return jsonify(args)

    wire = served(app, endpoint_tool("paint"), fields={Colour: {"type": "string", "enum": ["red"]}})
    assert arguments_of(wire, "paint")["properties"] == {"colour": {"type": "string", "enum": ["red"]}}
