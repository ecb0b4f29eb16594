"""Where the answers to questions of the handshake era meet the calls that wait for them. It is a directory, so that any
worker of this machine can take an answer in for any other."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from ..jsonrpc import Reply

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_POLL = 0.05
_STALE = 24 * 60 * 60
"""Seconds after which a file is left over: of a process that was killed, or an answer that came just too late."""


class Mailbox:
    """Answers that are waited for, each under the random id of its question and bound to one subject.

    :param folders: where they are kept. Questions are opened in the first; an answer is looked for in all of them.
    """

    __slots__ = ("_folder", "_folders")

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folder = folders[0]
        self._folders = folders

    @classmethod
    def of(cls, keys: Iterable[str | bytes], server: str) -> Mailbox:
        """The mailbox of a server, the same for all its workers on this machine and for nobody else.

        :param keys: the app's secret keys, the newest first: a worker that has the old one only may still wait.
        """
        root = Path(tempfile.gettempdir())
        secrets = [key if isinstance(key, bytes) else key.encode() for key in keys]
        names = [hashlib.sha256(b"mailbox\0" + secret + b"\0" + server.encode()).hexdigest() for secret in secrets]
        return cls([root / f"flask_arandu_mcp-{name[:32]}" for name in names])

    def lacking(self) -> str:
        """Make the folder, and say why it cannot be used; empty where it can."""
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            found = self._folder.lstat()
        except OSError as error:
            return f"the folder for answers, {self._folder}, cannot be made ({error.strerror}): set another TMPDIR."
        own = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        if not stat.S_ISDIR(found.st_mode) or not own:
            return f"the folder for answers, {self._folder}, belongs to another user of this machine: remove it."
        if os.name == "posix" and found.st_mode & 0o077:
            return f"the folder for answers, {self._folder}, is open to others: chmod 700 it."
        return ""

    def open(self, ids: Iterable[str], subject_id: object) -> None:
        """Begin to wait for answers from a subject, in a folder that lacks nothing."""
        self._sweep()
        for id in ids:
            self._write(self._folder / f"{id}.open", _bound(subject_id))

    def close(self, ids: Iterable[str]) -> None:
        """Wait no more."""
        for id in ids:
            for suffix in ("open", "answer"):
                with suppress(OSError):
                    (self._folder / f"{id}.{suffix}").unlink()

    def put(self, reply: Reply, subject_id: object) -> bool:
        """Take an answer in; False where nobody waits for it, or not from this subject."""
        if not isinstance(reply.id, str) or not _ID.fullmatch(reply.id):
            return False
        for folder in self._folders:
            with suppress(OSError):
                asked = folder / f"{reply.id}.open"
                if asked.read_text() != _bound(subject_id):
                    return False
                # Whoever takes it away has answered: a second answer finds no question.
                asked.unlink()
                self._write(folder / f"{reply.id}.answer", json.dumps({"result": reply.result, "error": reply.error}))
                return True
        return False

    def wait(self, ids: Iterable[str], seconds: float) -> Iterator[dict[str, Reply]]:
        """The answers that have come so far, again and again, until there is one for each id or the time is over."""
        missing, found = list(ids), dict[str, Reply]()
        deadline = time.monotonic() + seconds
        while missing and time.monotonic() < deadline:
            for id in missing:
                reply = self._read(id)
                if reply is not None:
                    found[id] = reply
            missing = [id for id in missing if id not in found]
            yield found
            if missing:
                time.sleep(_POLL)
        for id in missing:
            found[id] = Reply(id, None, {"message": "no answer came in time: call again."})
        yield found

    def has(self, id: str) -> bool:
        """Whether an answer has come."""
        return (self._folder / f"{id}.answer").exists()

    def _read(self, id: str) -> Reply | None:
        try:
            answer = json.loads((self._folder / f"{id}.answer").read_text())
        except OSError:
            return None
        return Reply(id, answer["result"], answer["error"])

    def _sweep(self) -> None:
        oldest = time.time() - _STALE
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < oldest:
                        os.unlink(entry.path)

    @staticmethod
    def _write(path: Path, text: str) -> None:
        # In one piece: whoever finds the file finds all of it.
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(name, path)


def _bound(subject_id: object) -> str:
    return json.dumps(None if subject_id is None else str(subject_id))
