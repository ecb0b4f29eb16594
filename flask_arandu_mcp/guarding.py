"""What a guard sees and may change: an answer, just before it goes out. Here the values of handlers become answers, and
answers that a guard replaced become them again."""

from __future__ import annotations

from collections.abc import Sequence

from .answers import ToolAnswer
from .asking import Asked
from .caller import Caller
from .content import Content, Text
from .declarations.base import Guard, Prepared
from .declarations.tools import PreparedTool
from .errors import Failure, attempt
from .request import Request
from .response import Response
from .results import ResultFault, plain
from .troubles import FORBIDDEN, Trouble, trouble
from .typing import JSONObject


def response_of(tool: PreparedTool, value: object) -> Response:
    """What a handler gave, as a response: its data is dumped through the result's schema, or made plain."""
    if type(value) is dict:  # as most are, and data whatever else is declared
        return Response.json(tool.results.dump(value))
    if isinstance(value, Response):
        if value.has_data:
            return Response.json(tool.results.dump(value.data), meta=value.meta)
        return value if value.is_error else _undeclared(tool, value)
    blocks = _blocks(value)
    if blocks:
        return _undeclared(tool, Response(*blocks))
    if tool.results.output_schema is None:
        if value is None:
            return Response.text("Done.")
        if isinstance(value, str):
            return Response.text(value)
    return Response.json(tool.results.dump(value))


def _blocks(value: object) -> list[Content]:
    """A block, or a list of blocks and pieces of text with one block at least; empty for what is data."""
    given = [value] if isinstance(value, Content) else value
    if not isinstance(given, (list, tuple)) or not isinstance(next(iter(given), None), (Content, str)):
        return []  # without a look at each of the rows that most lists are of
    if not any(isinstance(one, Content) for one in given):
        return []
    blocks = [Text(one) if isinstance(one, str) else one for one in given]
    return blocks if all(isinstance(block, Content) for block in blocks) else []


def _undeclared(tool: PreparedTool, response: Response) -> Response:
    """An answer without data, which is none where data was declared: a client refuses it whole."""
    if tool.results.output_schema is not None:
        raise ResultFault("a result was declared, and only content was given back: give data, or declare no result")
    return response


def guarded_tool(tool: PreparedTool, caller: Caller, request: Request, response: Response) -> ToolAnswer:
    """The answer of a tool, after its guard has seen it. An error that the tool gave is not shown to it.

    :raises Trouble: where the guard refuses, or fails.
    """
    if tool.guard is not None and not response.is_error:
        response = _seen(tool.guard, tool.name, caller, request, response)
    if response.has_data:
        return ToolAnswer(data=response.data, meta=response.meta)
    return ToolAnswer([block.wire() for block in response.content], is_error=response.is_error, meta=response.meta)


def guarded_items(prepared: Prepared, caller: Caller, request: Request, items: list[JSONObject]) -> list[JSONObject]:
    """The contents of a resource, or the messages of a prompt, after their guard has seen them.

    :raises Trouble: where the guard refuses, or fails.
    """
    if prepared.guard is None:
        return items
    return _items(_seen(prepared.guard, prepared.name, caller, request, Response.json(items)), prepared.name, caller)


def guarded_questions(prepared: Prepared, caller: Caller, request: Request, asked: Asked) -> Asked:
    """The questions of a handler, after their guard has seen what they say.

    :raises Trouble: where the guard refuses, or fails.
    """
    if prepared.guard is None:
        return asked
    params = [question.params for question in asked.questions]
    seen = _items(_seen(prepared.guard, prepared.name, caller, request, Response.json(params)), prepared.name, caller)
    if seen != params:
        words = "403 Forbidden: a question of this may not be asked."
        raise Trouble(words, status=FORBIDDEN)
    return asked


def guarded_list(guard: Guard, key: str, caller: Caller, entries: Sequence[JSONObject]) -> list[JSONObject]:
    """The entries of a list, after the server's guard has seen them.

    :raises Trouble: where the guard refuses, or fails.
    """
    request = Request(caller.subject, client=caller.peer.client, revision=caller.revision.name, meta=caller.meta)
    return _items(_seen(guard, key, caller, request, Response.json(list(entries))), key, caller)


def _seen(guard: Guard, name: str, caller: Caller, request: Request, response: Response) -> Response:
    answer = attempt(guard, request, response)
    if isinstance(answer, Failure):
        raise trouble(answer.error, f"the guard of {name}", caller)
    if answer is None:
        return response
    if not isinstance(answer, Response):
        error = TypeError(f"the guard of {name!r} gave a {type(answer).__name__}: return a Response, or None")
        raise trouble(error, f"the guard of {name}", caller)
    if not answer.has_data:
        return answer
    data = attempt(plain, answer.data)
    if isinstance(data, Failure):
        raise trouble(data.error, f"the guard of {name}", caller)
    return Response.json(data, meta=answer.meta)


def _items(response: Response, name: str, caller: Caller) -> list[JSONObject]:
    if response.is_error:
        raise Trouble("\n".join(block.text for block in response.content if isinstance(block, Text)), status=FORBIDDEN)
    if isinstance(response.data, list):
        return response.data
    error = TypeError(f"the guard of {name!r} must give back a list of what it was given: Response.json([...])")
    raise trouble(error, f"the guard of {name}", caller)
