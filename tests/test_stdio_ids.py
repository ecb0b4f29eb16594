"""The ids of calls on the pipe: one belongs to a single call at a time, and is free again once it is answered."""

from __future__ import annotations

from .wire import Pipe, call


def test_an_id_is_free_as_soon_as_its_answer_is_out(pipe: Pipe) -> None:
    """A client that uses an id again right after its answer is served, however fast it is."""
    request = call("tools/list", id="again")
    assert all("result" in pipe.ask(request) for _ in range(500))


def test_an_id_belongs_to_one_call_at_a_time(pipe: Pipe) -> None:
    """Of two calls of one id that are under way at once only the first is carried out."""
    slow = call("tools/call", {"name": "wait", "arguments": {"seconds": 1}}, id="same")
    pipe.send(slow, slow)
    refused, served = pipe.receive(), pipe.receive()
    words = "The id 'same' belongs to a call that is under way: send another one."
    assert refused["error"] == {"code": -32600, "message": words}
    assert (refused["id"], served["id"]) == ("same", "same")
    assert "result" in served
