"""A message to the server from within this process, answered as one that comes over the pipe. It is sent again with the
answers to what it is asked, until it has its response."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol

from ..asking import Answers, Question
from ..caller import Peer
from ..connection import Connection
from ..dispatch import Outgoing
from ..jsonrpc import Call, parse
from ..revisions import R_2026_07_28
from ..rounds import Waiting
from ..state import State
from ..transports.contexts import in_own_context
from ..transports.local import Application
from ..typing import JSONObject

_PEER = Peer(
    R_2026_07_28,
    {"name": "flask mcp", "version": "1"},
    {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}},
)
"""What a terminal says of itself: it can be asked anything, though it may have no answer."""


class Listener(Protocol):
    """Who hears what comes before a response."""

    def told(self, method: str, params: JSONObject) -> None:
        """Take note of a notification."""
        ...

    def asked(self, questions: Sequence[Question]) -> Mapping[str, object]:
        """The client's result to each question, by its key; `{REFUSED: words}` for one that is not answered."""
        ...


class Talk:
    """Messages to one server, as one subject."""

    def __init__(self, state: State, application: Application) -> None:
        self._application = application
        self._connection = Connection(state.host, peer=_PEER, terms=state.settings.terms)

    def send(self, method: str, params: JSONObject, listener: Listener | None = None) -> JSONObject:
        """The response to a request: an object with `result` or `error`.

        :raises Malformed: for params that no client could send.
        """
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        # Written as loosely as clients may, and read as strictly as from them.
        call = parse(json.dumps(message).encode())
        assert isinstance(call, Call)
        answers: Answers | None = None
        while True:
            waiting, response = self._round(call, answers, listener)
            if waiting is None:
                return response
            assert listener is not None  # nothing else asks
            given = listener.asked(list(waiting.questions.values()))
            answers = waiting.answers.extended(list(waiting.questions.values()), given)

    def _round(
        self, call: Call, answers: Answers | None, listener: Listener | None
    ) -> tuple[Waiting | None, JSONObject]:
        waiting: Waiting | None = None
        with closing(in_own_context(self._application.answer(call, self._connection, answers))) as steps:
            for sent in steps:
                if isinstance(sent, Waiting):
                    waiting = sent
                elif isinstance(sent, Outgoing) and sent.final:
                    return None, json.loads(sent.body)
                elif isinstance(sent, Outgoing) and waiting is None and listener is not None:
                    message = json.loads(sent.body)
                    listener.told(message["method"], message["params"])
        return waiting, {}

    def listed(self, method: str, key: str) -> Iterator[Mapping[str, Any]]:
        """The entries of a list, of all its pages.

        :raises Refused: where there is none for this subject.
        """
        cursor: JSONObject = {}
        while True:
            response: Any = self.send(method, cursor)
            if "error" in response:
                raise Refused(response["error"]["message"])
            result = response["result"]
            yield from result[key]
            if "nextCursor" not in result:
                return
            cursor = {"cursor": result["nextCursor"]}


class Refused(Exception):
    """What the server answered in the place of a list."""
