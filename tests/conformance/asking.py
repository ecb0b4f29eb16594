"""Tools that ask before they answer, one question or several, in one round or in more. The same declarations serve the
handshake era, which is sent requests, and the stateless one, which is asked for input."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias

from marshmallow import fields
from marshmallow.validate import OneOf

from flask_arandu_mcp import ClientRequest, Elicit, Elicited, Request, Tool, tool

from .samples import roots, sampling

Form: TypeAlias = "Mapping[str, fields.Field[Any]]"  # text, since marshmallow 3 takes no type at run time

NAME = {"name": fields.String(required=True)}
OK = {"ok": fields.Boolean(required=True)}


def _said(answer: Elicited) -> str:
    return f"User response: action={answer.action}, content={dict(answer.content)}"


@tool(arguments={"prompt": fields.String(required=True)})
def test_sampling(request: Request, prompt: str) -> Generator[ClientRequest, Any, str]:
    """Asks the client's model."""
    answer = yield sampling("prompt", prompt)
    return f"LLM response: {answer['content']['text']}"


@tool(arguments={"message": fields.String(required=True)})
def test_elicitation(request: Request, message: str) -> Generator[ClientRequest, Any, str]:
    """Asks the user for two words."""
    form = {
        "username": fields.String(required=True, metadata={"description": "User's response"}),
        "email": fields.String(required=True, metadata={"description": "User's email address"}),
    }
    return _said((yield Elicit("who", message, form)))


@tool
def test_elicitation_sep1034_defaults(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks with a form that is filled in already."""
    form: Form = {
        "name": fields.String(load_default="John Doe"),
        "age": fields.Integer(load_default=30),
        "score": fields.Float(load_default=95.5),
        "status": fields.String(load_default="active", validate=OneOf(["active", "inactive", "pending"])),
        "verified": fields.Boolean(load_default=True),
    }
    return _said((yield Elicit("profile", "Please review and update the form fields.", form)))


@tool
def test_elicitation_sep1330_enums(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks with every style of choice that the protocol has."""
    plain = OneOf(["option1", "option2", "option3"])
    titled = OneOf(["value1", "value2", "value3"], labels=["First Option", "Second Option", "Third Option"])
    named = OneOf(["opt1", "opt2", "opt3"])
    names = ["Option One", "Option Two", "Option Three"]
    form: Form = {
        "untitledSingle": fields.String(validate=plain),
        "titledSingle": fields.String(validate=titled),
        "legacyEnum": fields.String(validate=named, metadata={"json_schema": {"enumNames": names}}),
        "untitledMulti": fields.List(fields.String(validate=plain)),
        "titledMulti": fields.List(fields.String(validate=titled)),
    }
    return _said((yield Elicit("choices", "Please choose.", form)))


@tool
def test_missing_capability(request: Request) -> Generator[ClientRequest, Any, str]:
    """Needs a client that can sample."""
    answer = yield sampling("anything", "Say anything.")
    return f"LLM response: {answer['content']['text']}"


@tool
def test_streaming_elicitation(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks a client that may take its answer as a stream."""
    return _said((yield Elicit("name", "What is your name?", NAME)))


@tool
def test_input_required_result_elicitation(request: Request) -> Generator[ClientRequest, Any, str]:
    """Greets whoever says their name."""
    answer = yield Elicit("user_name", "What is your name?", NAME)
    return f"Hello, {answer.content['name']}!" if answer.accepted else "Hello!"


@tool
def test_input_required_result_sampling(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks the client's model for a capital."""
    answer = yield sampling("capital_question", "What is the capital of France?")
    return f"LLM response: {answer['content']['text']}"


@tool
def test_input_required_result_list_roots(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks the client for its roots."""
    answer = yield roots("client_roots")
    return f"Client roots: {[root['uri'] for root in answer['roots']]}"


@tool
def test_input_required_result_request_state(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks, and is brought back its state."""
    answer = yield Elicit("confirm", "Please confirm.", OK)
    return f"state-ok, {answer.action}"


@tool
def test_input_required_result_tampered_state(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks, and takes back no state but its own."""
    answer = yield Elicit("confirm", "Please confirm.", OK)
    return f"state-ok, {answer.action}"


@tool
def test_input_required_result_multiple_inputs(request: Request) -> Generator[Any, Any, str]:
    """Asks three things at once."""
    name, greeting, found = yield (
        Elicit("user_name", "What is your name?", NAME),
        sampling("greeting", "Generate a greeting."),
        roots("client_roots"),
    )
    return f"{name.content.get('name')}: {greeting['content']['text']}; {len(found['roots'])} roots"


@tool
def test_input_required_result_multi_round(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks twice, the second time with what the first answer said."""
    first = yield Elicit("step1", "Step 1: what is your name?", NAME)
    name = first.content.get("name", "you")
    second = yield Elicit("step2", f"Step 2: {name}, what is your favourite colour?", {"color": fields.String()})
    return f"{name} likes {second.content.get('color', 'no colour')}."


@tool
def test_input_required_result_capabilities(request: Request) -> Generator[ClientRequest, Any, str]:
    """Asks what a client that can sample, and no more, can be asked."""
    answer = yield sampling("capital_question", "What is the capital of France?")
    return f"LLM response: {answer['content']['text']}"


TOOLS: list[Tool] = [
    test_sampling,
    test_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_missing_capability,
    test_streaming_elicitation,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
]
