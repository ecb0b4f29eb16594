"""The commands of `flask mcp`, as they are typed: what they print, where, and the code that they exit with."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from flask import Flask, current_app, has_app_context
from flask.cli import FlaskGroup
from flask_login import LoginManager

from flask_arandu_mcp import ArandoMCP, Server, guest, public, tool
from flask_arandu_mcp.cli import mcp as commands

from ..app import create_app
from .running import flask, invoke

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs `flask` in a process, with an app of this source."""

    def run(source: str, *args: str, stdin: str = "", **env: str) -> tuple[int, str, str]:
        (tmp_path / "app.py").write_text(source)
        return flask(*args, cwd=tmp_path, stdin=stdin, env={"PYTHONUNBUFFERED": "", **env})

    return run


PLAIN = "from flask import Flask\napp = Flask(__name__)\n"
OWN = (
    PLAIN
    + """
import click
print("IMPORTED")

@app.cli.group("mcp")
@click.option("--loud", is_flag=True)
@click.pass_context
def own(ctx, loud):
    ctx.obj.data["loud"] = loud

@own.command("start")
@click.option("--port", type=int, default=1)
@click.argument("what", required=False)
@click.pass_context
def start(ctx, port, what):
    "Starts their own."
    print("own start", port, what, ctx.obj.data["loud"], input())

@own.command("list")
def list_():
    print("own list")

@own.command("migrate")
@click.option("--to")
def migrate(to):
    print("own migrate", to)
"""
)
SERVED = "from flask_arandu_mcp import ArandoMCP, Server, guest\n"
DECLARED = SERVED + "mcp = ArandoMCP(app)\nmcp.local_subject(lambda: guest)\n"
TWO = SERVED + "\n".join(
    f"mcp = ArandoMCP(app, Server({name!r}), name={name!r}, url='/{name}')\nmcp.local_subject(lambda: guest)"
    for name in ("one", "two")
)
PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
PONG = '{"jsonrpc":"2.0","id":1,"result":{}}\n'


# ------------------------------------------------------------------------------------------------ what it costs


def imported_by(module: str) -> set[str]:
    script = f"import sys; before = set(sys.modules); import {module}; print('\\n'.join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()} - set(sys.stdlib_module_names)


def test_the_entry_point_costs_click_alone() -> None:
    """Every `flask` command imports it, so it imports none of what only its own commands need."""
    # What click itself brings on some platforms is click's.
    assert imported_by("flask_arandu_mcp.cli") - imported_by("click") == {"flask_arandu_mcp"}
    assert imported_by("flask_arandu_mcp") == {"flask_arandu_mcp"}


def test_another_command_imports_nothing_of_the_server(run: Run) -> None:
    """`flask routes` in an app without a server pays for no more than the group's own module."""
    source = PLAIN + "import atexit, sys\natexit.register(lambda: print(sorted(sys.modules)))\n"
    code, out, _ = run(source, "routes")
    assert code == 0
    ours = {module for module in out.split("'") if module.startswith("flask_arandu_mcp")}
    # What those bring is for the test before this one: other extensions have commands of their own, with imports.
    assert ours == {"flask_arandu_mcp", "flask_arandu_mcp.cli"}


# ------------------------------------------------------------------------------------------- apps without a server


@pytest.mark.parametrize("command", ["start", "list"])
def test_an_app_without_a_server_is_told_the_way_out(run: Run, command: str) -> None:
    """The code is 2, as for any command that is used wrongly, and the message says what to write."""
    code, out, err = run(PLAIN, "mcp", command, stdin=PING)
    assert (code, out) == (2, "")
    assert f"Usage: flask mcp {command}" in err or f"Usage: python -m flask mcp {command}" in err
    assert "the app 'app' serves no MCP server: create one in its factory, ArandoMCP(app, server)." in err


@pytest.mark.parametrize("command", ["start", "list"])
def test_a_missing_app_is_flasks_to_tell(run: Run, command: str) -> None:
    """What Flask says of an app that it cannot find is said, and nothing is printed to the client."""
    code, out, err = run("", "mcp", command, stdin=PING)
    assert (code, out) == (2, "")
    assert "Failed to find Flask application" in err


@pytest.mark.parametrize("args", [[], ["--help"], ["start", "--help"], ["list", "--help"]])
@pytest.mark.parametrize("source", ["", "print('IMPORTED')\nraise RuntimeError('broken')", PLAIN, PLAIN + DECLARED])
def test_help_needs_no_app(run: Run, source: str, args: list[str]) -> None:
    """Help is given where the app cannot be loaded, and names the commands."""
    code, out, err = run(source, "mcp", *args)
    # A group without a command shows its help; click 8.2 began to call that an error.
    assert code == 0 if args else code in (0, 2)
    assert "Usage: " in out + err
    if len(args) < 2:
        assert "Serve a client on this machine" in out + err


def test_an_app_that_fails_is_told_on_stderr(run: Run) -> None:
    """The traceback is the developer's, and the client is sent nothing."""
    code, out, err = run("print('BANNER')\nraise RuntimeError('broken')", "mcp", "start", stdin=PING)
    assert (code, out) == (1, "")
    assert "RuntimeError: broken" in err
    assert "BANNER" in err


# ---------------------------------------------------------------------------------------- an app's own mcp command


@pytest.mark.parametrize(
    ("args", "out"),
    [
        (["start"], "own start 1 None False typed\n"),
        (["start", "--port", "5", "x"], "own start 5 x False typed\n"),
        (["--loud", "start"], "own start 1 None True typed\n"),
        (["list"], "own list\n"),
        (["migrate", "--to", "2"], "own migrate 2\n"),
    ],
)
def test_an_apps_own_commands_are_run(run: Run, args: list[str], out: str) -> None:
    """An app that serves no MCP server keeps its own `mcp` group, with its options, its stdin and its stdout."""
    code, found, err = run(OWN, "mcp", *args, stdin="typed\n")
    assert code == 0, err
    assert found.removeprefix("IMPORTED\n") == out


def test_an_apps_own_help_is_shown(run: Run) -> None:
    """Help is that of the commands that would run."""
    assert "--loud" in run(OWN, "mcp", "--help")[1]
    assert "Starts their own." in run(OWN, "mcp", "start", "--help")[1]


def test_a_single_command_of_an_app_is_run(run: Run) -> None:
    """An app's `mcp` may be one command, without any under it."""
    source = PLAIN + "import click\n@app.cli.command('mcp')\n@click.argument('x')\ndef own(x):\n    print('own', x)\n"
    code, out, err = run(source, "mcp", "start")
    assert (code, out) == (0, "own start\n"), err


def test_a_server_comes_before_an_apps_own_commands(run: Run) -> None:
    """Where the app serves one, `start` and `list` are the server's, and the app's other commands are found too."""
    source = OWN + DECLARED
    assert run(source, "mcp", "start", stdin=PING)[:2] == (0, PONG)
    assert "served at /mcp" in run(source, "mcp", "list")[1]
    assert run(source, "mcp", "migrate", "--to", "3")[:2] == (0, "IMPORTED\nown migrate 3\n")
    shown = run(source, "mcp", "--help")[1]
    assert all(f"\n  {name} " in shown or f"\n  {name}\n" in shown for name in ("list", "migrate", "start"))
    code, _, err = run(source, "mcp", "nothing")
    assert code == 2
    assert "No such command 'nothing'" in err


def test_the_group_may_be_an_apps_own(app: Flask) -> None:
    """An app may add the group to its own commands, where Flask's test runner finds it."""
    app.cli.add_command(commands)
    result = app.test_cli_runner().invoke(args=["mcp", "list"])
    assert result.output.startswith("shop 1.2.3, served at /mcp")
    assert invoke(app, "nothing").exit_code == 2


def test_completion_needs_no_app() -> None:
    """A shell that completes a command neither runs it nor imports the app for it."""
    group = FlaskGroup(create_app=lambda: pytest.fail("it was imported"))
    found = ShellComplete(group, {}, "flask", "_FLASK_COMPLETE").get_completions(["mcp", "list"], "--j")
    assert [item.value for item in found] == ["--json"]


# ------------------------------------------------------------------------------------------------ --server


@pytest.mark.parametrize(
    ("source", "args", "out"),
    [
        (PLAIN + DECLARED, [], "app 0, served at /mcp"),
        (PLAIN + DECLARED, ["--server", "default"], "app 0, served at /mcp"),
        (PLAIN + DECLARED, ["--server", "app"], "app 0, served at /mcp"),
        (PLAIN + TWO, ["--server", "one"], "one 0, served at /one"),
        (PLAIN + TWO, ["--server", "two"], "two 0, served at /two"),
        (PLAIN + DECLARED + TWO, [], "app 0, served at /mcp"),
        (PLAIN + TWO.replace("'two'", "'one'"), ["--server", "one"], None),
    ],
)
def test_a_server_is_chosen_by_its_name(run: Run, source: str, args: list[str], out: str | None) -> None:
    """Without a name it is the default one."""
    code, found, err = run(source, "mcp", "list", *args)
    if out is None:
        assert code == 1
        assert "the name 'one' is taken" in err
    else:
        assert (code, found.splitlines()[0]) == (0, out)
        assert run(source, "mcp", "start", *args, stdin=PING)[:2] == (0, PONG)


def test_an_only_server_needs_no_name(run: Run) -> None:
    """Where there is one, whatever it is called, it is meant."""
    source = PLAIN + SERVED + "ArandoMCP(app, Server('x'), name='admin').local_subject(lambda: guest)\n"
    assert run(source, "mcp", "start", stdin=PING)[:2] == (0, PONG)


@pytest.mark.parametrize("args", [[], ["--server", "thre\u00e9"]])
@pytest.mark.parametrize("command", ["start", "list"])
def test_a_server_that_is_not_there_is_told(run: Run, args: list[str], command: str) -> None:
    """The message names those that there are, and the code is 2."""
    code, out, err = run(PLAIN + TWO, "mcp", command, *args, stdin=PING)
    assert (code, out) == (2, "")
    assert "this app has 'one', 'two'; say which with --server." in err


@pytest.mark.parametrize("args", [["--serve"], ["--server"], ["x"]])
def test_start_is_used_rightly(run: Run, args: list[str]) -> None:
    """What `start` does not know is told on stderr with code 2."""
    code, out, err = run(PLAIN + DECLARED, "mcp", "start", *args, stdin=PING)
    assert (code, out) == (2, "")
    assert "Error: " in err


def test_an_app_that_is_not_ready_is_not_listed() -> None:
    """What only the finished app shows is listed by each command."""
    app = create_app(login=False)
    LoginManager(app)
    for args in (["list"], ["list", "--json"]):
        result = invoke(app, *args)
        assert result.exit_code == 1
        assert "the app's LoginManager can load nobody" in result.output


def test_a_pipe_of_an_app_that_is_not_ready_does_not_start(run: Run) -> None:
    """Nothing is served that could answer nobody."""
    source = PLAIN + DECLARED + "from flask_login import LoginManager\nLoginManager(app)\n"
    code, out, err = run(source, "mcp", "start", stdin=PING)
    assert (code, out) == (1, "")
    assert "the app's LoginManager can load nobody" in err


# ------------------------------------------------------------------------------------------------ --directory


NAMED = DECLARED.replace("app)", "app, Server(os.environ.get('NAMED', '-')))")
FILES = f"{PLAIN}import os\nopen('beside.txt').close()\n{NAMED}"


def test_an_app_is_served_as_if_started_in_its_folder(run: Run, tmp_path: Path) -> None:
    """The app finds its files from where it is imported on, and its `.env`."""
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "beside.txt").write_text("")
    (folder / ".env").write_text("NAMED=home")
    assert run(FILES, "mcp", "start", stdin=PING)[0] == 1
    asked = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n'
    code, out, err = run(FILES, "mcp", "start", "--directory", str(folder), stdin=asked)
    assert code == 0, err
    assert json.loads(out)["result"]["serverInfo"]["name"] == "home"
    code, out, err = run(FILES, "mcp", "start", f"--directory={folder}", stdin=PING, FLASK_SKIP_DOTENV="1")
    assert (code, out) == (0, PONG), err


def test_a_folder_that_is_not_there_is_told(run: Run) -> None:
    """Nothing is served from another one."""
    code, out, err = run(PLAIN + DECLARED, "mcp", "start", "--directory", "nowhere", stdin=PING)
    assert (code, out) == (2, "")
    assert "Invalid value for --directory: [Errno 2] No such file or directory: 'nowhere': name a folder" in err


def test_an_apps_own_start_may_have_a_directory(run: Run, tmp_path: Path) -> None:
    """What it means there is the app's to say, and it is run from where it was started."""
    own = OWN.replace('"--port", type=int, default=1', '"--directory", "port"') + "import os\n"
    (tmp_path / "home").mkdir()
    code, out, err = run(own, "mcp", "start", "--directory", "home", stdin="typed\n")
    assert code == 0, err
    assert out.endswith("own start home None False typed\n")


# ------------------------------------------------------------------------------------------------ list


def test_list_prints_json(run: Run) -> None:
    """The JSON is all that is on stdout, whatever the app prints while it is imported."""
    code, out, _ = run("print('BANNER')\nfrom tests.app import create_app\n", "mcp", "list", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["name"], found["version"], found["url"]) == ("shop", "1.2.3", "/mcp")
    assert {"tools", "resources", "resourceTemplates", "prompts"} <= set(found)
    shown = {item["name"]: item["access"] for item in found["tools"]}
    assert shown["add"] == "public"
    assert shown["admin_false"] == "is_admin"
    assert out.isascii()


def test_list_prints_an_empty_server() -> None:
    """A server that offers nothing says what to write next, and is JSON all the same."""
    app = Flask("new")
    ArandoMCP(app)
    result = invoke(app, "list")
    assert result.exit_code == 0
    assert "It offers nothing yet." in result.output
    found = json.loads(invoke(app, "list", "--json").output)
    assert (found["name"], found["tools"], found["prompts"]) == ("new", [], [])


class Lazy:
    """Words that are translated when they are needed, which takes an app."""

    def __init__(self, words: str) -> None:
        self.words = words

    def __str__(self) -> str:
        return f"{self.words} in {current_app.config['LANGUAGE']}" if has_app_context() else self.words


@pytest.mark.parametrize("args", [["list"], ["list", "--json"]])
def test_list_translates_lazy_words(args: list[str]) -> None:
    """Descriptions that are translated late are shown in the app's language."""

    @tool(access=public, title=Lazy("titled"), description=Lazy("described"))
    def one(request: object) -> str:
        return ""

    app = Flask("lazy")
    app.config["LANGUAGE"] = "Guarani"
    ArandoMCP(app, Server("s", tools=[one])).local_subject(lambda: guest)
    result = invoke(app, *args)
    assert result.exit_code == 0, result.output
    assert "described in Guarani" in result.output


def test_list_needs_no_local_subject() -> None:
    """Who an assistant acts as matters to `start` alone."""
    app = Flask("x")
    ArandoMCP(app)
    assert invoke(app, "list").exit_code == 0


def test_the_commands_are_clicks() -> None:
    """The group is one that any click program can hold."""
    assert isinstance(commands, click.Group)
    ctx = click.Context(commands)
    names = commands.list_commands(ctx)
    assert names == ["call", "check", "config", "list", "new", "routes", "start"]
    assert [command.name for name in names if (command := commands.get_command(ctx, name))] == names
