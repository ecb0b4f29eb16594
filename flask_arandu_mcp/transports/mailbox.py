"""Where the answers to questions of the handshake era meet the calls that wait for them. It is a directory, so that any
worker of this machine can take an answer in for any other."""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from ..jsonrpc import Reply

_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_POLL = 0.05


class Mailbox:
    """Answers that are waited for, each under the random id of its question and bound to one subject.

    :param folder: where they are kept; only this user may look into it.
    """

    __slots__ = ("_folder",)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @classmethod
    def of(cls, key: str | bytes, server: str) -> Mailbox:
        """The mailbox of a server, the same for all its workers on this machine and for nobody else."""
        secret = key if isinstance(key, bytes) else key.encode()
        name = hashlib.sha256(b"mailbox\0" + secret + b"\0" + server.encode()).hexdigest()[:32]
        return cls(Path(tempfile.gettempdir()) / f"flask_arandu_mcp-{name}")

    def open(self, ids: Iterable[str], subject_id: object) -> None:
        """Begin to wait for answers from a subject."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for id in ids:
            self._write(self._folder / f"{id}.open", json.dumps(str(subject_id)))

    def close(self, ids: Iterable[str]) -> None:
        """Wait no more."""
        for id in ids:
            for suffix in ("open", "answer"):
                (self._folder / f"{id}.{suffix}").unlink(missing_ok=True)

    def put(self, reply: Reply, subject_id: object) -> bool:
        """Take an answer in; False where nobody waits for it, or not from this subject."""
        if not isinstance(reply.id, str) or not _ID.fullmatch(reply.id):
            return False
        with suppress(OSError, ValueError):
            if json.loads((self._folder / f"{reply.id}.open").read_text()) == str(subject_id):
                answer = json.dumps({"result": reply.result, "error": reply.error})
                self._write(self._folder / f"{reply.id}.answer", answer)
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
            found[id] = Reply(id, None, {"message": "no answer came in time."})
        yield found

    def _read(self, id: str) -> Reply | None:
        try:
            answer = json.loads((self._folder / f"{id}.answer").read_text())
        except FileNotFoundError:
            return None
        return Reply(id, answer["result"], answer["error"])

    @staticmethod
    def _write(path: Path, text: str) -> None:
        # In one piece: whoever finds the file finds all of it.
        handle, name = tempfile.mkstemp(dir=path.parent)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        os.replace(name, path)
