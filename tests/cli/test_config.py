"""`flask mcp config`: the block is pure, it is the client's own format, it starts a server that the official client can
talk to, and no secret is in it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from flask_login import LoginManager
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, StdioServerParameters

from flask_arandu_mcp import ArandoMCP, Server, guest
from flask_arandu_mcp.commands.clients import CLIENTS, key_of
from flask_arandu_mcp.commands.toml import table

from ..environs import ROOT, environment
from .running import Done, flask, found, invoke

SOURCE = '''
import os
from pathlib import Path
from flask import Flask
from flask_arandu_mcp import ArandoMCP, Server, guest, public, tool

print("IMPORTED")

@tool(access=public)
def where(request):
    """Says where it is, and what it has of the environment."""
    names = ("FLASK_TITLE", "FLASK_SECRET_KEY", "FLASK_DB", "OTHER", "FROM_FILE", "FLASK_FROM_FILE")
    return {"folder": os.getcwd(), **{name: os.environ.get(name) for name in names}}

def create_app(name="desk"):
    app = Flask(__name__)
    Path("beside.txt").read_text()  # as many apps look for files: from where they are started
    ArandoMCP(app, Server(name, tools=[where])).local_subject(lambda: guest)
    ArandoMCP(app, Server("other"), name="other", url="/other").local_subject(lambda: guest)
    return app
'''
PROGRAM = """#!{python}
from flask.cli import FlaskGroup
FlaskGroup(create_app=lambda: __import__("desk").create_app())()
"""
ENV = {"FLASK_TITLE": 'a "title"', "FLASK_SECRET_KEY": "hunter2", "FLASK_DB": "pg://me:hunter3@db/x", "OTHER": "more"}
EVERY = pytest.mark.parametrize("client", CLIENTS)


class Started(NamedTuple):
    """What a client starts: what a block says of it, as the client reads it."""

    command: str
    args: list[str]
    env: dict[str, str]


def make_home(above: Path) -> Path:
    """The folder of an app."""
    folder = above / "a home"
    folder.mkdir()
    (folder / "desk.py").write_text(SOURCE)
    (folder / "beside.txt").write_text("")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return make_home(tmp_path)


class Printed(NamedTuple):
    """What was printed for one client, and of the app in which folder."""

    client: str
    home: Path
    done: Done


@pytest.fixture(scope="module", params=CLIENTS)
def printed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """What is printed for each of the clients."""
    home = make_home(tmp_path_factory.mktemp("printed"))
    return Printed(request.param, home, config(home, request.param, "--env", "FLASK_TITLE"))


def config(home: Path, *args: str, app: tuple[str, ...] = ("--app", "desk"), **env: str) -> Done:
    return flask(*app, "mcp", "config", *args, cwd=home, env={**ENV, **env})


def entry_of(client: str, block: str) -> tuple[str, Any]:
    """The one server of a block, as its client reads it."""
    whole = tomllib.loads(block) if client == "codex" else json.loads(block)
    ((key, entry),) = whole[{"codex": "mcp_servers", "vscode": "servers"}.get(client, "mcpServers")].items()
    return key, entry


_REFERENCES = {"claude-code": r"\$\{(\w+)\}", "cursor": r"\$\{env:(\w+)\}", "vscode": r"\$\{input:(\w+)\}"}


def read(client: str, block: str, env: Mapping[str, str]) -> Started:
    """What a client makes of a block in an environment, with the references that it knows put in."""
    _, entry = entry_of(client, block)
    known = _REFERENCES.get(client, "(?!)")
    given = {name: re.sub(known, lambda m: env[m[1]], value) for name, value in entry.get("env", {}).items()}
    given |= {name: env[name] for name in entry.get("env_vars", ())}
    return Started(entry["command"], entry["args"], given)


def talk(started: Started, folder: Path) -> Any:
    """What the tool answers to the official client, which starts the server in another folder."""

    async def run() -> Any:
        parameters = StdioServerParameters(command=started.command, args=started.args, env=started.env, cwd=folder)
        async with Client(parameters) as client:
            return (await client.call_tool("where", {})).structured_content

    return asyncio.run(run())


# ------------------------------------------------------------------------------------------------ it starts


def test_the_block_starts_a_server(printed: Printed, tmp_path: Path) -> None:
    """As it is printed, from another folder, with nothing of the environment but what it says."""
    client, home, done = printed
    assert done.code == 0, done.err
    answer = talk(read(client, done.out, ENV), tmp_path)
    assert answer["folder"] == str(home)
    assert answer["FLASK_TITLE"] == ENV["FLASK_TITLE"]
    assert answer["OTHER"] is None
    by_hand = client in ("claude-desktop", "inspector")  # which have no way to refer to a secret
    assert answer["FLASK_SECRET_KEY"] == (None if by_hand else "hunter2")


@pytest.mark.parametrize(
    "app",
    [
        ("--app", "desk:create_app"),
        ("--app", "desk:create_app('another')"),
        ("--app", "./desk.py:create_app"),
    ],
)
def test_the_app_is_found_however_it_was_named(home: Path, tmp_path: Path, app: tuple[str, ...]) -> None:
    """A module, a file or a factory, also with arguments: its place is absolute in the block."""
    done = config(home, "claude-desktop", app=app)
    started = read("claude-desktop", done.out, {})
    assert str(home / "desk") in started.args[started.args.index("--app") + 1]
    assert talk(started, tmp_path)["folder"] == str(home)
    key, _ = entry_of("claude-desktop", done.out)
    assert key == ("another" if "another" in app[1] else "desk")


@pytest.mark.parametrize(("name", "env"), [("wsgi.py", {}), ("desk.py", {"FLASK_APP": "desk"})])
def test_an_app_that_was_not_named_is_found(home: Path, tmp_path: Path, name: str, env: dict[str, str]) -> None:
    """Where Flask finds it by itself, or in FLASK_APP, the block names it."""
    (home / "desk.py").rename(home / name)
    done = config(home, "claude-desktop", app=(), **env)
    assert done.code == 0, done.err
    assert talk(read("claude-desktop", done.out, {}), tmp_path)["folder"] == str(home)


def test_a_package_is_found(home: Path, tmp_path: Path) -> None:
    """A dotted name is one of a package in this folder."""
    (home / "shop").mkdir()
    (home / "shop" / "__init__.py").write_text("")
    (home / "desk.py").rename(home / "shop" / "desk.py")
    done = config(home, "claude-desktop", app=("--app", "shop.desk"))
    assert talk(read("claude-desktop", done.out, {}), tmp_path)["folder"] == str(home)


@pytest.mark.parametrize("start", [["desk-program"], [sys.executable, "desk-program.py"]])
def test_a_program_of_the_apps_own_is_named(home: Path, tmp_path: Path, start: list[str]) -> None:
    """It knows its app, and is started as it is."""
    program = home / start[-1]
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    command = [*start[:-1], str(program), "mcp", "config", "cursor"]
    printed = subprocess.run(command, cwd=home, env=environment(), capture_output=True, text=True, check=True).stdout
    started = read("cursor", printed, {})
    assert [started.command, *started.args] == [*start[:-1], str(program), "mcp", "start", "--directory", str(home)]
    assert talk(started, tmp_path)["folder"] == str(home)


def test_a_program_that_is_a_module_is_named(home: Path) -> None:
    """As Python was told of it."""
    (home / "own.py").write_text(PROGRAM.format(python=""))
    command = [sys.executable, "-m", "own", "mcp", "config", "cursor"]
    printed = subprocess.run(command, cwd=home, env=environment(), capture_output=True, text=True, check=True).stdout
    started = read("cursor", printed, {})
    assert [started.command, *started.args[:4]] == [sys.executable, "-m", "own", "mcp", "start"]


def test_one_of_several_servers_is_named(home: Path) -> None:
    """The block starts the server that was asked for."""
    key, entry = entry_of("cursor", config(home, "cursor", "--server", "other").out)
    assert key == "other"
    assert entry["args"][-4:] == ["--server", "other", "--directory", str(home)]


# ------------------------------------------------------------------------------------------------ the environment


def test_no_secret_is_printed(printed: Printed) -> None:
    """Neither on stdout nor on stderr, whether its name or its value gives it away; and each is named."""
    done = printed.done
    assert "hunter" not in done.out + done.err
    for name in ("FLASK_SECRET_KEY", "FLASK_DB"):
        assert f"# {name} is not in the block, since it may be a secret: " in done.err


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FLASK_DB", "Server=db;Pwd=hunter6"),
        ("FLASK_DB", "host=db password=hunter6"),
        ("FLASK_MAIL", '{"password": "hunter6"}'),
        ("FLASK_REPO", "https://hunter6@github.com/x"),
        ("FLASK_GITHUB_PAT", "hunter6"),
        ("FLASK_STRIPE", "sk_live_hunter6"),
    ],
)
def test_what_is_the_apps_own_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str
) -> None:
    """Nothing tells whether it is a secret: it is named, and Flask's own settings are written out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    monkeypatch.setenv("FLASK_DEBUG", "1")
    result = invoke(app_of(), "config", "claude-desktop")
    assert result.exit_code == 0, result.stderr
    assert "hunter6" not in result.output
    assert entry_of("claude-desktop", result.stdout)[1]["env"].keys() - {"PYTHONPATH"} == {"FLASK_DEBUG"}
    assert f"# {name} is not in the block, since it may be a secret: " in result.stderr


def test_a_secret_in_a_url_is_not_printed_when_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is named in a URL may be a token."""
    monkeypatch.setenv("REPO", "https://hunter6@github.com/x")
    result = invoke(app_of(), "config", "claude-desktop", "--env", "REPO")
    assert "hunter6" not in result.output
    assert "# REPO is not in the block" in result.stderr


def test_more_of_the_environment_is_named(home: Path, tmp_path: Path) -> None:
    """What the app reads by names of its own is given by them, and a secret is none the less one."""
    done = config(home, "cursor", "--env", "OTHER", "--env", "MY_TOKEN", MY_TOKEN="hunter4")
    assert talk(read("cursor", done.out, {**ENV, "MY_TOKEN": "hunter4"}), tmp_path)["OTHER"] == "more"
    assert "hunter" not in done.out + done.err
    assert "# MY_TOKEN is not in the block" in done.err
    done = config(home, "cursor", "--env", "NOWHERE")
    assert (done.code, done.out) == (2, "")
    assert "--env NOWHERE: it is not set here: set it, or leave it out." in done.err


def test_what_is_in_files_stays_there(home: Path, tmp_path: Path) -> None:
    """What Flask reads from `.env` is read again by what is started, secrets included, and is in no block."""
    (home / ".env").write_text("FROM_FILE=kept\nFLASK_FROM_FILE=hunter5\n")
    done = config(home, "claude-desktop")
    assert "FROM_FILE" not in done.out + done.err
    answer = talk(read("claude-desktop", done.out, {}), tmp_path)
    assert (answer["FROM_FILE"], answer["FLASK_FROM_FILE"]) == ("kept", "hunter5")


def test_a_file_that_was_named_is_named(home: Path, tmp_path: Path) -> None:
    """FLASK_ENV_FILE becomes an argument, with an absolute path."""
    (home / "my.env").write_text("FROM_FILE=kept\n")
    done = config(home, "claude-desktop", FLASK_ENV_FILE="my.env")
    assert talk(read("claude-desktop", done.out, {}), tmp_path)["FROM_FILE"] == "kept"


def test_a_file_of_the_option_is_named(home: Path, tmp_path: Path) -> None:
    """The option is carried on, also by a program of the app's own; what is in the file stays there."""
    (home / "prod.env").write_text("FROM_FILE=kept\nFLASK_FROM_FILE=hunter7\n")
    (home / "own.py").write_text(PROGRAM.format(python=""))
    for start in (["flask", "--app", "desk"], ["own"]):
        command = [sys.executable, "-m", *start, "--env-file", "prod.env", "mcp", "config", "cursor"]
        done = subprocess.run(command, cwd=home, env=environment(), capture_output=True, text=True, check=True)
        assert "FROM_FILE" not in done.stdout + done.stderr
        started = read("cursor", done.stdout, {})
        assert started.args[started.args.index("--env-file") + 1] == str(home / "prod.env")
    started = read("cursor", config(home, "cursor", app=("-eprod.env", "--app", "desk")).out, ENV)
    answer = talk(started, tmp_path)
    assert (answer["FROM_FILE"], answer["FLASK_FROM_FILE"]) == ("kept", "hunter7")


def test_relative_paths_of_python_are_absolute(home: Path) -> None:
    """They would mean another folder where the client starts it."""
    done = config(home, "inspector", PYTHONPATH=f"{ROOT}{os.pathsep}lib")
    assert entry_of("inspector", done.out)[1]["env"]["PYTHONPATH"] == f"{ROOT}{os.pathsep}{home / 'lib'}"


# ------------------------------------------------------------------------------------------------ the block


def test_stdout_is_the_block_alone(printed: Printed) -> None:
    """It can be sent into a file; where that file is, stands on stderr."""
    assert entry_of(printed.client, printed.done.out)[0] == "desk"
    assert printed.done.err.startswith("IMPORTED\n# For ")
    assert CLIENTS[printed.client].file in printed.done.err


def test_json(home: Path) -> None:
    """The block, its place and what is to be known of it, for a program."""
    printed = json.loads(config(home, "codex", "--json").out)
    assert (printed["client"], printed["file"]) == ("codex", CLIENTS["codex"].file)
    assert tomllib.loads(printed["block"])["mcp_servers"]["desk"]["env_vars"] == [
        "FLASK_DB",
        "FLASK_SECRET_KEY",
        "FLASK_TITLE",
    ]
    assert any(note.startswith("FLASK_SECRET_KEY is not in the block") for note in printed["notes"])


def app_of(*, tokens: bool = True, name: str = "My desk!", local: bool = True, **settings: Any) -> Flask:
    app = Flask("desk")
    app.config.update(settings)
    manager = LoginManager(app)
    manager.user_loader(lambda id: None)
    if tokens:
        manager.request_loader(lambda request: None)
    mcp = ArandoMCP(app, Server(name))
    if local:
        mcp.local_subject(lambda: guest)
    return app


# What each client is documented to read, written out by hand.
TOKEN, URL = "MY_DESK_TOKEN", "https://desk.example/mcp"


def at_url(authorization: str) -> dict[str, Any]:
    return {"type": "http", "url": URL, "headers": {"Authorization": authorization}}


REMOTE: dict[str, Any] = {
    "claude-desktop": {
        "mcpServers": {
            "My-desk": {
                "command": "npx",
                "args": ["-y", "mcp-remote", URL, "--header", "Authorization:${AUTHORIZATION}"],
                "env": {"AUTHORIZATION": f"Bearer <{TOKEN}>"},
            }
        }
    },
    "claude-code": {"mcpServers": {"My-desk": at_url(f"Bearer ${{{TOKEN}}}")}},
    "vscode": {
        "inputs": [{"type": "promptString", "id": TOKEN, "description": TOKEN, "password": True}],
        "servers": {"My-desk": at_url(f"Bearer ${{input:{TOKEN}}}")},
    },
    "cursor": {"mcpServers": {"My-desk": {"url": URL, "headers": {"Authorization": f"Bearer ${{env:{TOKEN}}}"}}}},
    "codex": {"mcp_servers": {"My-desk": {"url": URL, "bearer_token_env_var": TOKEN}}},
    "inspector": {"mcpServers": {"My-desk": at_url(f"Bearer <{TOKEN}>")}},
}


@EVERY
def test_a_client_is_told_of_a_url(client: str) -> None:
    """With a token in its own way, which stands for one of the user's."""
    result = invoke(app_of(MCP_PUBLIC_URL="https://desk.example"), "config", client, "--http")
    assert result.exit_code == 0, result.stderr
    whole = tomllib.loads(result.stdout) if client == "codex" else json.loads(result.stdout)
    assert whole == REMOTE[client]
    assert f"# {TOKEN} stands for a token of the user's: " in result.stderr


@pytest.mark.parametrize(
    ("settings", "args", "url"),
    [
        ({"MCP_PUBLIC_URL": "https://desk.example/app"}, ["--http"], "https://desk.example/app/mcp"),
        ({"SERVER_NAME": "desk.example"}, ["--http"], "http://desk.example/mcp"),
        (
            {"SERVER_NAME": "desk.example:8443", "PREFERRED_URL_SCHEME": "https", "APPLICATION_ROOT": "/app"},
            ["--http"],
            "https://desk.example:8443/app/mcp",
        ),
        ({"MCP_PUBLIC_URL": URL}, ["--http"], f"{URL}/mcp"),
        ({}, ["--url", "HTTPS://desk.example"], "HTTPS://desk.example/mcp"),
        ({"MCP_PUBLIC_URL": "https://a.example"}, ["--http", "--url", "https://b.example/"], "https://b.example/mcp"),
        ({}, ["--url", "http://127.0.0.1:5000"], "http://127.0.0.1:5000/mcp"),
        ({}, ["--url", "http://127.0.0.1:5000/mcp"], "http://127.0.0.1:5000/mcp"),
    ],
)
def test_the_url_is_the_one_that_is_known(settings: dict[str, Any], args: list[str], url: str) -> None:
    """What is said here, else what the app's configuration says of its own address."""
    result = invoke(app_of(**settings), "config", "cursor", *args)
    assert entry_of("cursor", result.stdout)[1]["url"] == url


@pytest.mark.parametrize(
    ("app", "args", "code", "says"),
    [
        ({}, ["--http"], 2, "the app's address is not known: say it with --url, such as --url http://127.0.0.1:5000"),
        (
            {},
            ["--url", "desk.example"],
            2,
            "--url 'desk.example' is no URL of a server: write one without blanks and without a query, such as https://",
        ),
        ({}, ["--url", "https://desk.example/a b"], 2, "--url 'https://desk.example/a b' is no URL of a server"),
        ({}, ["--url", "https://desk.example?a=b"], 2, "--url 'https://desk.example?a=b' is no URL of a server"),
        (
            {},
            ["--key", "my desk"],
            2,
            "--key 'my desk': clients take letters, digits, - and _: write such as 'my-desk'.",
        ),
        ({"local": False}, [], 1, "nobody is declared for an assistant on this machine to act as: decorate a function"),
    ],
)
def test_what_cannot_be_told_is_said(app: Any, args: list[str], code: int, says: str) -> None:
    """A block that would not work is not printed."""
    result = invoke(app_of(**app), "config", "cursor", *args)
    assert (result.exit_code, result.stdout) == (code, "")
    assert says in " ".join(result.stderr.split())


def test_a_client_that_is_not_known_is_said() -> None:
    """With those that are."""
    result = invoke(app_of(), "config", "emacs")
    assert result.exit_code == 2
    assert all(f"'{name}'" in result.stderr for name in CLIENTS)


@pytest.mark.parametrize(
    ("app", "says"),
    [
        ({"tokens": False}, "The app reads no tokens, so the client is a guest"),
        ({"MCP_AUTHORIZATION_SERVERS": ["https://auth.example"]}, "Cursor gets a token itself"),
    ],
)
def test_no_token_is_put_in_where_none_helps(app: Any, says: str) -> None:
    """Where the app reads none, and where the client gets one by itself."""
    result = invoke(app_of(**app, MCP_PUBLIC_URL="https://desk.example"), "config", "cursor", "--http")
    assert entry_of("cursor", result.stdout)[1] == {"url": URL}
    assert says in result.stderr


def test_a_server_at_a_url_needs_no_local_subject() -> None:
    """Who acts is whoever the token is of."""
    assert invoke(app_of(local=False), "config", "cursor", "--url", "http://127.0.0.1:5000").exit_code == 0


def test_json_of_a_url() -> None:
    """The note on the bridge is among the others."""
    printed = found(invoke(app_of(), "config", "claude-desktop", "--url", "http://127.0.0.1:5000", "--json"))
    assert "Its file starts programs only, so this is mcp-remote, a bridge" in printed["notes"][-1]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("blog", "blog"),
        ("My desk!", "My-desk"),
        ("7 days", "mcp-7-days"),
        ("Ünï", "n"),
        ("!!!", "mcp"),
        ("a_b-c", "a_b-c"),
    ],
)
def test_a_key_is_one_that_every_client_takes(name: str, key: str) -> None:
    """Letters, digits, `-` and `_`, with a letter first."""
    assert key_of(name) == key_of(key) == key


@given(st.text(), st.lists(st.text()), st.dictionaries(st.text(), st.text()))
def test_a_table_is_read_as_it_was_written(text: str, texts: list[str], env: dict[str, str]) -> None:
    """Whatever is in the names and the values."""
    written = f"{table(['servers', text], {'a': text, 'b': texts})}\n\n{table(['servers', text, 'env'], env)}\n"
    assert tomllib.loads(written) == {"servers": {text: {"a": text, "b": texts, "env": env}}}
