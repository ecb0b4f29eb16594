"""The MCP Inspector's command line as the client, in both eras, over gunicorn with three workers and over a real pipe.
It is what people try a server with first; its exit codes are what their scripts go by."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from .conftest import Shed

_LAUNCHER = "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
_AUTH_REQUIRED, _TOOL_ERROR = 3, 5
"""What it exits with, as its manual has it."""

Inspect = Callable[..., tuple[int, Any]]
over_http = pytest.mark.parametrize("inspect", ["http"], indirect=True)


@pytest.fixture(params=["legacy", "modern"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=["http", "pipe"])
def inspect(request: pytest.FixtureRequest, shed: Shed, era: str) -> Inspect:
    """Runs the command with a method, and returns its exit code and what it printed."""

    def run(method: str, *options: str, token: str = "token-bob") -> tuple[int, Any]:
        command = ["node", str(shed.modules / _LAUNCHER), "--cli", "--protocol-era", era, "--format", "json"]
        command += ["--quiet", "--stored-auth-only", "--connect-timeout", "60000", "--method", method, *options]
        if request.param == "http":
            command += ["--transport", "http", "--server-url", shed.url, "--header", f"Authorization: Bearer {token}"]
        else:
            command += ["-e", f"CLIENTS_JOURNAL={shed.environment['CLIENTS_JOURNAL']}", "--", *shed.command]
        done = subprocess.run(command, capture_output=True, text=True, env=shed.environment, timeout=120)
        printed = done.stdout or done.stderr
        assert printed.startswith("{"), printed
        return done.returncode, json.loads(printed)

    return run


def found(answer: tuple[int, Any]) -> Any:
    """The result of a command that went well."""
    code, printed = answer
    assert code == 0, printed
    return printed["result"]


def test_it_lists(inspect: Inspect) -> None:
    """The tools are listed, all pages of them."""
    tools = found(inspect("tools/list"))["tools"]
    assert [tool["name"] for tool in tools[:4]] == ["add", "items", "locate", "whoami"]
    assert len(tools) == 11


def test_it_calls(inspect: Inspect) -> None:
    """A call is answered, and its structured result passes the Inspector's own check."""
    answered = found(inspect("tools/call", "--tool-name", "add", "--tool-args-json", '{"a": 2, "b": 3}'))
    assert answered["structuredContent"] == {"sum": 5}


@over_http
def test_it_reads_and_gets(inspect: Inspect) -> None:
    """Templates are listed, resources read and prompts had."""
    (template,) = found(inspect("resources/templates/list"))["resourceTemplates"]
    assert template["uriTemplate"] == "shed://tools/{name}"
    (content,) = found(inspect("resources/read", "--uri", "shed://tools/hoe"))["contents"]
    assert content["text"] == "A hoe."
    messages = found(inspect("prompts/get", "--prompt-name", "advise", "--prompt-args", "name=hoe"))["messages"]
    assert messages[0]["content"]["text"] == "How do I use a hoe?"


@over_http
def test_it_exits_with_the_error(inspect: Inspect) -> None:
    """A tool that fails is what the Inspector takes for a failure."""
    code, printed = inspect("tools/call", "--tool-name", "fail")
    assert code == _TOOL_ERROR
    assert "The shed is locked." in json.dumps(printed)


@over_http
def test_it_sees_that_its_token_is_not_good(inspect: Inspect) -> None:
    """A token that nobody has is a 401 that the Inspector knows."""
    code, printed = inspect("tools/list", token="nobody's")
    assert (code, printed["error"]["code"]) == (_AUTH_REQUIRED, "auth_required")
