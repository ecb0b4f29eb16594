"""What a call costs without sockets: the WSGI apps are called directly, with an environ that is ready. So small
differences are seen, which a server's own work would hide."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, BinaryIO

from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.test import EnvironBuilder

from flask_arandu_mcp import guest

from . import jobs, work
from .growth import COUNTS
from .jobs import Job, WrongAnswer
from .messages import Era, answered, message
from .plans import BEARER, LISTS, SESSION, WITH_SESSIONS, named, plain_path
from .rounds import Call
from .servers import floor, ours, same_job
from .servers.users import session_cookie
from .setups import Setup

NO_USERS = "no users"


class View:
    """An app and the environ of one request, ready to be called again and again.

    :ivar body: of the request.
    :ivar stream: what the body is read from, for each call anew.
    :ivar status: of the last answer.
    """

    def __init__(self, app: Flask, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        self._app = app.wsgi_app
        self.body = body
        self.stream: Callable[[], BinaryIO] = lambda: BytesIO(body)
        self._environ = EnvironBuilder(
            path=path,
            method="POST",
            data=body,
            headers=Headers({**headers, "User-Agent": work.AGENT}),
            environ_base={"REMOTE_ADDR": "127.0.0.1"},
        ).get_environ()
        self.status = ""

    def __call__(self) -> bytes:
        """The body of an answer."""
        environ: dict[str, Any] = {**self._environ, "wsgi.input": self.stream()}
        chunks = self._app(environ, self._start)
        try:
            return b"".join(chunks)
        finally:
            close = getattr(chunks, "close", None)
            if close is not None:
                close()

    def _start(self, status: str, headers: Any, exc_info: Any = None) -> Any:
        self.status = status


class Variants(dict[str, Call]):
    """Calls by name, each judged before it is taken in."""

    def take(self, name: str, job: Job, view: View, status: str = "200 OK") -> None:
        """Take a view in that does a job.

        :raises WrongAnswer: where it does not.
        """
        body = view()
        if view.status != status:
            raise WrongAnswer(f"{name}: {view.status}, {body!r:.400}")
        if status == "200 OK":
            job.judge(answered(body))
        self[name] = view


def ours_view(app: Flask, job: Job, era: Era, headers: Mapping[str, str] | None = None) -> View:
    """A job asked of our server."""
    sent = message(job, era)
    return View(app, "/mcp", sent.body, {**sent.headers, **(headers or {})})


def plain_view(app: Flask, job: Job, headers: Mapping[str, str] | None = None, path: str | None = None) -> View:
    """A job asked of a plain view, in the same bytes."""
    sent = message(job, Era.HANDSHAKE)
    return View(app, path or plain_path(job), sent.body, {**sent.headers, **(headers or {})})


def variants() -> Variants:
    """Everything that is measured in process, by `WHAT: OF`.

    :raises WrongAnswer: where a variant does not do its job.
    """
    found = Variants()
    working = ours.create_app(Setup())
    _take_jobs(found, working)
    _take_identities(found)
    _take_lists(found)
    for count in COUNTS:
        app = ours.create_app(Setup(tools=count))
        for era in Era:
            found.take(f"of {count}: ours {era.value}", jobs.ADD, ours_view(app, jobs.ADD, era))
    return found


def _take_jobs(found: Variants, working: Flask) -> None:
    """All jobs as a guest: ours, the same job, and the floor, which answers what ours does."""
    plain = same_job.create_app()
    for job in jobs.JOBS:
        for era in Era:
            found.take(f"{job.name}: ours {era.value}", job, ours_view(working, job, era))
        status = "403 FORBIDDEN" if job is jobs.REFUSED else "200 OK"
        found.take(f"{job.name}: same job", job, plain_view(plain, job), status)
        _take_floor(found, working, job)


def _take_floor(found: Variants, app: Flask, job: Job) -> Setup:
    """The floor for a job, with the very answer that an app gives.

    :return: this answer, for views that send it prepared.
    """
    setup = Setup(answers={"it": json.loads(ours_view(app, job, Era.HANDSHAKE)())})
    found.take(f"{job.name}: floor", job, plain_view(floor.create_app(setup), job, path="/it"))
    return setup


def _take_identities(found: Variants) -> None:
    """One job with every credential, in an app that knows users by token alone, in one that has sessions, too, and in
    one that has no users."""
    _take_credential(found, BEARER, Setup(), {"Authorization": f"Bearer {work.TOKEN}"})
    with_sessions = Setup(sessions=True)
    _take_credential(found, SESSION, with_sessions, {"Cookie": session_cookie(ours.create_app(with_sessions))})
    for what, setup in ((WITH_SESSIONS, with_sessions), (NO_USERS, Setup(users=False))):
        found.take(f"add: same job, {what}", jobs.ADD, plain_view(same_job.create_app(setup), jobs.ADD))
        for era in Era:
            view = ours_view(ours.create_app(setup), jobs.ADD, era)
            found.take(f"add: {named('ours', era)}, {what}", jobs.ADD, view)
    rechecking = ours.create_app(Setup(recheck=True))
    for era in Era:
        view = ours_view(rechecking, jobs.ADD, era, {"Authorization": f"Bearer {work.TOKEN}"})
        found.take(f"add: {named('ours', era, BEARER)}, recheck", jobs.ADD, view)


def _take_credential(found: Variants, kind: str, setup: Setup, headers: Mapping[str, str]) -> None:
    plain, app = same_job.create_app(setup), ours.create_app(setup)
    # A guest may add, too, so that only what a guest may not shows that a credential is taken.
    for view in (plain_view(plain, jobs.CLOSE, headers), ours_view(app, jobs.CLOSE, Era.HANDSHAKE, headers)):
        jobs.CLOSE.judge(answered(view()))
    found.take(f"add: same job, {kind}", jobs.ADD, plain_view(plain, jobs.ADD, headers))
    for era in Era:
        found.take(f"add: {named('ours', era, kind)}", jobs.ADD, ours_view(app, jobs.ADD, era, headers))


def _take_lists(found: Variants) -> None:
    """Lists of tools: ours, and what plain Flask makes of the same list."""
    for setup, job in LISTS:
        app = ours.create_app(setup)
        for era in Era:
            found.take(f"{job.name}: ours {era.value}", job, ours_view(app, job, era))
        prepared = _take_floor(found, app, job)
        for of, views in (("fixed bytes", floor), ("fixed bytes, asked who", same_job)):
            found.take(f"{job.name}: {of}", job, plain_view(views.create_app(prepared), job, path="/it/bytes"))
    found["access: 100 callables"] = lambda: [ours.insiders(guest) for _ in range(100)]
