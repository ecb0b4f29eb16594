"""How this very app is started from anywhere: the program and its arguments, with absolute paths, and what of the
environment it needs. What may be a secret is named and not told."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import click
from click.core import ParameterSource
from flask.cli import ScriptInfo

from ..errors import Failure, attempt

_ALWAYS = ("PYTHONPATH",)
_NEVER = frozenset({"FLASK_APP", "FLASK_ENV_FILE", "FLASK_RUN_FROM_CLI"})
"""What the arguments say already, and what Flask's command sets by itself."""
_OF_FLASK = re.compile(r"FLASK_(DEBUG|ENV|RUN_\w+)")
"""Flask's own settings. Any other FLASK_... is the app's, and nothing tells whether it is a secret."""
_SECRET = re.compile(r"SECRET|TOKEN|PASS|PWD|KEY|CREDENTIAL|AUTH|PRIVATE|SALT|DSN|COOKIE|SIGN", re.IGNORECASE)
_PATH_AND_NAME = re.compile(r":(?![\\/])")
_SINGLE = ("wsgi.py", "app.py")
"""Where Flask looks for an app that it was not told of."""


class Program(NamedTuple):
    """What starts `flask mcp` for this app, from any folder."""

    command: str
    args: tuple[str, ...]


def program(ctx: click.Context) -> Program:
    """The program that runs now, told where its app is."""
    info = ctx.ensure_object(ScriptInfo)
    env_file = env_file_of(ctx)
    files = ("--env-file", os.path.abspath(env_file)) if env_file else ()
    names = _names(ctx)
    if info.create_app is not None:
        return _own([*files, *names])
    # With -P, as the folder that a client starts it in may hold modules of its own.
    return Program(sys.executable, ("-P", "-m", "flask", *files, "--app", _app(info.app_import_path), *names))


def env_file_of(ctx: click.Context) -> str | None:
    """The file of variables that Flask's command was told to read; it keeps no value of that option."""
    root = ctx.find_root()
    source = root.get_parameter_source("env_file")
    if source is ParameterSource.ENVIRONMENT:
        return os.environ.get("FLASK_ENV_FILE")
    if source is not ParameterSource.COMMANDLINE:
        return None
    options, _, _ = root.command.make_parser(root).parse_args(sys.argv[1:])
    return str(options["env_file"])


def _own(names: Sequence[str]) -> Program:
    """A program of the app's own, which knows its app."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    if spec is not None:
        return Program(sys.executable, ("-m", spec.name.removesuffix(".__main__"), *names))
    script = os.path.abspath(sys.argv[0])
    if script.endswith(".py"):
        return Program(sys.executable, (script, *names))
    return Program(script, tuple(names))


def _names(ctx: click.Context) -> list[str]:
    """The words from the program to the command above this one, such as `mcp`."""
    names: list[str] = []
    above = ctx.parent
    while above is not None and above.parent is not None:
        names.insert(0, str(above.info_name))
        above = above.parent
    return names


def _app(given: str | None) -> str:
    """The app as Flask is told of it, with an absolute path, from which it finds the module again."""
    if given is None:
        path = next((name for name in _SINGLE if Path(name).exists()), _SINGLE[-1])
        return os.path.abspath(path)
    path, *name = _PATH_AND_NAME.split(given, maxsplit=1)
    return ":".join([os.path.abspath(path.strip()), *name])


class Environment(NamedTuple):
    """What an app needs of the environment.

    :ivar shown: variables that can be written down.
    :ivar secrets: the names of those that cannot.
    """

    shown: Mapping[str, str]
    secrets: tuple[str, ...]


def environment(more: Iterable[str], env_file: str | None) -> Environment:
    """The variables that Flask's own configuration is read from, and others.

    Shown are Flask's own settings, and what is asked for by its name, unless it looks like a secret.

    :param more: the names of the others, and of those to be shown.
    :param env_file: the file that Flask was told to read, and will be told again.
    :raises KeyError: for one that is not set.
    """
    from_files, asked = _in_files(env_file), set(more)
    names = [name for name in os.environ if name.startswith("FLASK_") and name not in _NEVER and name not in from_files]
    names += [name for name in _ALWAYS if os.environ.get(name)]
    found = {name: os.environ[name] for name in dict.fromkeys([*sorted(names), *sorted(asked)])}
    can_be_shown = {name for name in found if name in asked or name in _ALWAYS or _OF_FLASK.fullmatch(name)}
    secrets = tuple(name for name, value in found.items() if name not in can_be_shown or _is_secret(name, value))
    return Environment({name: _absolute(name, found[name]) for name in found if name not in secrets}, secrets)


def _is_secret(name: str, value: str) -> bool:
    if name in _ALWAYS:
        return False
    parts = attempt(lambda: urlsplit(value))
    in_url = isinstance(parts, Failure) or "@" in parts.netloc
    return bool(_SECRET.search(name)) or "-----BEGIN" in value or in_url


def _absolute(name: str, value: str) -> str:
    if name not in _ALWAYS:
        return value
    return os.pathsep.join(os.path.abspath(each) for each in value.split(os.pathsep) if each)


def _in_files(env_file: str | None) -> set[str]:
    """The names of variables that Flask reads from its files, and will read there again."""
    try:
        from dotenv import dotenv_values, find_dotenv
    except ImportError:
        return set()
    files = [env_file, *(find_dotenv(name, usecwd=True) for name in (".env", ".flaskenv"))]
    values = [pair for file in files if file for pair in dotenv_values(file).items()]
    return {name for name, value in values if os.environ.get(name) == value}
