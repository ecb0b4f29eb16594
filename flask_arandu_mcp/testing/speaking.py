"""How a client speaks in each era: one message to a request in the stateless one, which is sent again with the answers
to what is asked; in the handshake an introduction first, and answers on the side while the stream is open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import NamedTuple, Protocol

from ..eras.stateless import CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROTOCOL_VERSION
from ..headers import METHOD, NAME, SESSION, VERSION, encode
from ..revisions import Revision
from ..rounds import ASKING
from ..transports.sse import MEDIA_TYPE
from ..transports.streaming import ASKED
from ..typing import JSONObject
from .browser import Browser, Reply
from .exchange import Exchange
from .questions import Answering, Question

_CLIENT: JSONObject = {"name": "flask_arandu_mcp.testing", "version": "1"}
_PROGRESS = "progress"


class Line(NamedTuple):
    """Whom a client speaks to, and as what.

    :ivar capabilities: what it says that it can be asked.
    """

    browser: Browser
    url: str
    revision: Revision
    capabilities: JSONObject


class Call(NamedTuple):
    """A request.

    :ivar headers: those that it has beside its era's.
    """

    method: str
    params: JSONObject
    headers: Mapping[str, str] = {}


class Speaker(Protocol):
    """Sends requests in one revision."""

    def send(self, call: Call, exchange: Exchange, answering: Answering) -> None:
        """Send a request, answer what is asked meanwhile, and note all that comes back.

        :raises AssertionError: for a question that nobody answers.
        """
        ...


def speaker(line: Line) -> Speaker:
    """Who speaks a revision."""
    return Stateless(line) if line.revision.stateless else Handshake(line)


class Stateless:
    """Every message stands alone."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._id = 0

    def send(self, call: Call, exchange: Exchange, answering: Answering) -> None:
        """Send a request, and send it again with the answers for as long as something is asked."""
        line = self._line
        meta: JSONObject = {
            PROTOCOL_VERSION: line.revision.name,
            CLIENT_INFO: _CLIENT,
            CLIENT_CAPABILITIES: line.capabilities,
            LOG_LEVEL: "debug",
            "progressToken": _PROGRESS,
        }
        headers = {VERSION: line.revision.name, METHOD: call.method, **call.headers}
        named = call.params.get(ASKING.get(call.method, ""))
        if isinstance(named, str):
            headers[NAME] = encode(named)
        brought: JSONObject = {}
        while True:
            self._id += 1
            with closing(_post(line, _request(self._id, call, {**brought, "_meta": meta}), headers)) as reply:
                _note(reply, exchange)
            requests = _asked(exchange)
            if not requests:
                return
            answers: JSONObject = {}
            for question in requests:
                exchange.questions.append(question)
                answers[question.key] = answering.result(question)
            brought = {"inputResponses": answers, "requestState": _result(exchange).get("requestState")}


class Handshake:
    """A client introduces itself, and answers requests of the server's."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._id = 0
        self._headers: dict[str, str] | None = None

    def send(self, call: Call, exchange: Exchange, answering: Answering) -> None:
        """Send a request, and answer each question as another request while the response goes on."""
        if self._headers is None:
            self._headers = self._introduced(exchange)
        if self._headers is None:
            return
        self._id += 1
        keys: dict[str, str] = {}
        request = _request(self._id, call, {"_meta": {"progressToken": _PROGRESS}})
        with closing(_post(self._line, request, {**self._headers, **call.headers}, keys)) as reply:
            answered = False
            try:
                for message in _messages(reply, exchange):
                    self._answer(message, keys, exchange, answering)
                answered = True
            finally:
                if not answered:
                    # Without this, the call would wait for its answer.
                    self._tell("notifications/cancelled", {"requestId": self._id})

    def _introduced(self, exchange: Exchange) -> dict[str, str] | None:
        """The headers of all further requests; None where the server does not take the client in."""
        line = self._line
        params: JSONObject = {
            "protocolVersion": line.revision.name,
            "capabilities": line.capabilities,
            "clientInfo": _CLIENT,
        }
        hello = Exchange()
        with closing(_post(line, _request(0, Call("initialize", params), {}), {})) as reply:
            _note(reply, hello)
            if "result" not in hello.last:
                exchange.take(hello)
                return None
            memo = reply.response.headers.get(SESSION)
        self._headers = {VERSION: line.revision.name, **({SESSION: memo} if memo else {})}
        self._tell("notifications/initialized", {})
        return self._headers

    def _answer(self, message: JSONObject, keys: Mapping[str, str], exchange: Exchange, answering: Answering) -> None:
        id, method, params = message.get("id"), message.get("method"), message.get("params")
        if not isinstance(id, str) or not isinstance(method, str):
            return
        question = Question(keys[id], method, params if isinstance(params, dict) else {})
        exchange.questions.append(question)
        self._send({"id": id, "result": answering.result(question)})

    def _tell(self, method: str, params: JSONObject) -> None:
        self._send({"method": method, "params": params})

    def _send(self, message: JSONObject) -> None:
        _post(self._line, {"jsonrpc": "2.0", **message}, self._headers or {}).close()


def _request(id: int, call: Call, more: JSONObject) -> JSONObject:
    return {"jsonrpc": "2.0", "id": id, "method": call.method, "params": {**call.params, **more}}


def _post(line: Line, message: JSONObject, headers: Mapping[str, str], keys: dict[str, str] | None = None) -> Reply:
    # The answer to a question comes in while this request is open, whatever the test client says of threads.
    environ = {"wsgi.multithread": True, ASKED: {} if keys is None else keys}
    sent = {"Content-Type": "application/json", "Accept": f"application/json, {MEDIA_TYPE}", **headers}
    return line.browser.open(
        line.url, headers=sent, method="POST", data=json.dumps(message).encode(), environ_overrides=environ
    )


def _note(reply: Reply, exchange: Exchange) -> None:
    for _ in _messages(reply, exchange):
        pass


def _messages(reply: Reply, exchange: Exchange) -> Iterator[JSONObject]:
    """The messages of a response, as they come and are noted."""
    response = reply.response
    exchange.status = response.status_code
    exchange.headers += list(response.headers)
    if response.mimetype != MEDIA_TYPE:
        body = b"".join(reply.chunks())
        message = _object(body)
        if message is None:
            exchange.body = body.decode("utf-8", "replace")
        else:
            exchange.messages.append(message)
            yield message
        return
    for chunk in reply.chunks():
        for event in chunk.splitlines():
            message = _object(event.removeprefix(b"data: ")) if event.startswith(b"data: ") else None
            if message is not None:
                exchange.messages.append(message)
                yield message


def _object(body: bytes) -> JSONObject | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _result(exchange: Exchange) -> JSONObject:
    result = exchange.last.get("result")
    return result if isinstance(result, dict) else {}


def _asked(exchange: Exchange) -> list[Question]:
    """The questions that an answer of the stateless era stands at."""
    result = _result(exchange)
    requests = result.get("inputRequests") if result.get("resultType") == "input_required" else None
    if not isinstance(requests, dict):
        return []
    return [Question(key, one["method"], one["params"]) for key, one in requests.items()]
