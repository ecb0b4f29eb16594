"""An app that prints, forks, exits and leaves things lying about: what a pipe must bear. Configuration comes from the
environment, as `RESTLESS_...`."""

from __future__ import annotations

import asyncio
import atexit
import ctypes
import logging
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import click
from flask import Flask, abort, current_app, g, redirect, request, request_started
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask.typing import ResponseReturnValue
from flask_login import LoginManager, current_user
from marshmallow import fields
from werkzeug.exceptions import HTTPException

from flask_arandu_mcp import ArandoMCP, Request, Server, guest, public, tool

print("BANNER")
logging.basicConfig(stream=sys.stdout, level=logging.INFO, force=True)
logging.info("LOGGED")
warnings.warn("OUTDATED", DeprecationWarning, stacklevel=1)
atexit.register(print, "LAST WORDS")


class User:
    """A user."""

    is_authenticated = True
    is_anonymous = False

    def __init__(self, id: str, *, active: bool = True) -> None:
        self.id = id
        self.is_active = active

    def get_id(self) -> str:
        return self.id


class Refused(Exception):
    """An error that the app has a handler for."""


mood: ContextVar[str] = ContextVar("mood", default="none")
ran: list[str] = []
"""The marks of the calls that ran."""


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os.write(1, b"NOISE\n")
        os._exit(0)
    os.waitpid(child, 0)


def _leave_a_child() -> None:
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(30,), daemon=True)
    child.start()
    ran.append(f"child {child.pid}")


NOISES: dict[str, Callable[[], object]] = {
    "print": lambda: print("NOISE"),
    "click": lambda: click.echo("NOISE"),
    "sys": lambda: sys.__stdout__ and sys.__stdout__.write("NOISE\n"),
    "os": lambda: os.write(1, b"NOISE\n"),
    "c": lambda: ctypes.CDLL(None).puts(b"NOISE"),
    "log": lambda: logging.warning("NOISE"),
    "warn": lambda: warnings.warn("NOISE", stacklevel=1),
    "child": lambda: subprocess.run(["echo", "NOISE"], check=True),
    "fork": _fork,
    "daemon": _leave_a_child,
    "cat": lambda: ran.append(f"cat {subprocess.run(['cat'], capture_output=True).stdout!r}"),
    "read": lambda: ran.append(f"read {sys.stdin.readline()!r}"),
    "input": input,
}


@tool(access=public, arguments={"how": fields.String(required=True)})
def noise(request: Request, how: str) -> str:
    """Makes a noise."""
    NOISES[how]()
    return "made"


@tool(access=public, arguments={"seconds": fields.Float(required=True), "mark": fields.String(load_default="")})
def wait(request: Request, seconds: float, mark: str) -> str:
    """Waits."""
    ran.append(mark)
    time.sleep(seconds)
    return "waited"


@tool(access=public)
def marks(request: Request) -> list[str]:
    """What ran so far."""
    return ran


@tool(access=public, arguments={"letter": fields.String(required=True)})
def big(request: Request, letter: str) -> str:
    """A large answer."""
    return letter * 200_000


def _notes() -> ModuleType:
    from . import notes

    return notes


@tool(access=public)
def litter(request: Request) -> str:
    """Leaves things lying about, and fails."""
    g.who = "litter"
    mood.set("bad")
    current_user.nick = "litter"
    _notes().fail()
    return "never"


@tool(access=public)
def look(request: Request) -> dict[str, Any]:
    """What lies about."""
    user: Any = current_user
    keeps_notes = "SQLALCHEMY_DATABASE_URI" in current_app.config
    return {
        "who": g.get("who"),
        "mood": mood.get(),
        "nick": getattr(user, "nick", None),
        "notes": _notes().bodies() if keeps_notes else [],
        "user": user.get_id(),
        "same": user == request.subject,
        "before": g.before,
        "started": g.started,
    }


@tool(access=public, arguments={"how": fields.String(required=True)})
def leave(request: Request, how: str) -> str:
    """Leaves in a way that no handler should."""
    errors: dict[str, BaseException] = {
        "exit": SystemExit(3),
        "interrupt": KeyboardInterrupt(),
        "cancelled": asyncio.CancelledError(),
        "generator": GeneratorExit(),
    }
    raise errors[how]


def _user(app: Flask, asked: list[None]) -> Any:
    kind = app.config.get("LOCAL", "alice")
    asked.append(None)
    if kind == "raising" or (kind == "raising later" and len(asked) > 1):
        raise RuntimeError("the database's secret")
    if kind == "nobody" or (kind == "nobody later" and len(asked) > 1):
        return None
    if kind == "current_user":
        return current_user
    return guest if kind == "guest" else User("alice", active=kind != "inactive")


def _answers(app: Flask) -> ResponseReturnValue | None:
    g.before = request.method + " " + request.path
    how = app.config.get("BEFORE")
    if how == "abort":
        abort(429)
    if how == "redirect":
        return redirect("/sign-in")
    if how == "raise":
        raise RuntimeError("the hook's secret")
    if how == "refuse":
        raise Refused
    if how == "answer":
        return "<html>hello</html>"
    return None


class Sessions(SecureCookieSessionInterface):
    """Cannot open the session of a message, as where its store is down."""

    def open_session(self, app: Flask, request: Any) -> SecureCookieSession | None:
        """Open the first one alone, which is the check's at the start."""
        ran.append("session")
        if len(ran) > 1:
            raise RuntimeError("the store's secret")
        return super().open_session(app, request)


def _hook(app: Flask) -> None:
    if app.config.get("SESSIONS"):
        app.session_interface = Sessions()
    app.before_request(lambda: _answers(app))

    @app.errorhandler(Refused)
    def refused(error: Refused) -> ResponseReturnValue:
        return "<html>refused</html>", 403

    @app.errorhandler(HTTPException)
    def styled(error: HTTPException) -> ResponseReturnValue:
        return f"<html>{error.code}</html>", error.code or 500

    @app.teardown_appcontext
    def down(error: BaseException | None) -> None:
        logging.info("DOWN %s", type(error).__name__)
        if app.config.get("TEARDOWN") and "before" in g:
            raise RuntimeError("the teardown's secret")

    if app.config.get("FILTER"):
        # Outside of a request, the path cannot be read.
        app.logger.addFilter(lambda record: bool(request.path))

    @request_started.connect_via(app)
    def started(sender: Flask, **_: object) -> None:
        g.started = True

    app.extensions["keep"] = started


def create_app() -> Flask:
    """The app, with one server."""
    print("BANNER of the factory")
    app = Flask(__name__)
    app.config.from_prefixed_env("RESTLESS")
    if "SQLALCHEMY_DATABASE_URI" in app.config:
        _notes().prepare(app)
    login = LoginManager(app)
    login.user_loader(lambda id: User(id))
    _hook(app)
    server = Server("restless", tools=[noise, wait, marks, big, litter, look, leave])
    mcp = ArandoMCP(app, server)
    asked: list[None] = []
    if app.config.get("LOCAL") == "async":

        @mcp.local_subject
        async def awaited() -> Any:
            return User("awaited")

    elif app.config.get("LOCAL") != "undeclared":
        mcp.local_subject(lambda: _user(app, asked))
    if app.config.get("THREAD"):
        threading.Thread(target=time.sleep, args=(60,)).start()
    if app.config.get("ATEXIT"):
        atexit.register(time.sleep, 60)
    if app.config.get("FORK"):
        _leave_a_child()
    return app
