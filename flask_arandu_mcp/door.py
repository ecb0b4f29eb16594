"""The one door to what a server declares: find, admit, load, handle, answer. Both transports, tests and plain Python
come through it, so that nothing is reached but as its policy says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .answers import ToolAnswer
from .caller import Caller
from .catalogue import Catalogue
from .content import Content
from .declarations.base import Completer
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .declarations.tools import PreparedTool
from .errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError
from .limits import MAX_COMPLETIONS
from .response import Response
from .steps import NOT_FOUND, Trouble, admit, handle, load, request_of
from .typing import JSONObject


def call(
    catalogue: Catalogue,
    caller: Caller,
    name: object,
    arguments: Mapping[str, object],
    *,
    suspect: bool = True,
) -> ToolAnswer:
    """Call a tool. What goes wrong in the call is in the answer, as the model is told.

    :param suspect: the arguments may hold a number that overflowed or half a surrogate pair.
    :raises ProtocolError: -32602 for a tool that does not exist, or must seem not to.
    """
    tool = catalogue.tool(name)
    if tool is None:
        raise _unknown("tool", name)
    try:
        admit(tool, caller)
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise _unknown("tool", name) from None
        return ToolAnswer.error(trouble.words)
    try:
        loaded = load(tool, caller, lambda: tool.arguments.load(arguments, suspect=suspect))
        request = request_of(caller, loaded, arguments)
        answer = handle(
            tool,
            caller,
            lambda: tool.invoke(request, loaded, caller.host.run),
            lambda value: _written(_answered(tool, value), caller),
        )
    except Trouble as trouble:
        return ToolAnswer.error(trouble.words)
    return answer


def read(catalogue: Catalogue, caller: Caller, uri: str) -> list[JSONObject]:
    """Read a resource, and return its contents.

    :raises ProtocolError: for a URI that leads nowhere, a refusal (403 and the like) or a failure.
    """
    found = catalogue.resource(uri)
    if found is None:
        raise _unknown_resource(caller, uri)
    resource, variables = found
    try:
        admit(resource, caller)
        request = request_of(caller, variables, variables)
        return handle(
            resource,
            caller,
            lambda: resource.invoke(request, variables, caller.host.run),
            lambda value: resource.contents(uri, value),
        )
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise _unknown_resource(caller, uri) from None
        raise _as_error(trouble) from None


def get(
    catalogue: Catalogue,
    caller: Caller,
    name: object,
    arguments: Mapping[str, object],
    *,
    suspect: bool = True,
) -> tuple[PreparedPrompt, list[JSONObject]]:
    """Render a prompt, and return it with its messages.

    :raises ProtocolError: -32602 for a prompt that does not exist or arguments that do not fit; a refusal (403 and
        the like); a failure.
    """
    prompt = catalogue.prompt(name)
    if prompt is None:
        raise _unknown("prompt", name)
    try:
        admit(prompt, caller)
        loaded = load(prompt, caller, lambda: prompt.arguments.load(arguments, suspect=suspect))
        request = request_of(caller, loaded, arguments)
        messages = handle(prompt, caller, lambda: prompt.invoke(request, loaded, caller.host.run), prompt.messages)
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise _unknown("prompt", name) from None
        raise _as_error(trouble) from None
    return prompt, messages


class Completion(NamedTuple):
    """Values that an argument may be completed to.

    :ivar values: 100 at most.
    :ivar more: there are others.
    """

    values: list[str]
    more: bool = False


def complete(catalogue: Catalogue, caller: Caller, of: object, argument: str, value: str) -> Completion:
    """Complete an argument of a prompt, or a variable of a template.

    :param of: the name of the prompt, or the template as it was declared.
    :raises ProtocolError: -32602 for what does not exist; a refusal (403 and the like); a failure.
    """
    declared = catalogue.prompt(of) or catalogue.template(of)
    if declared is None:
        raise _unknown("prompt or resource template", of)
    try:
        admit(declared, caller)
        completer = declared.completers.get(argument)
        if completer is None:
            return Completion([])
        return _completed(declared, caller, completer, value)
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise _unknown("prompt or resource template", of) from None
        raise _as_error(trouble) from None


def _completed(
    declared: PreparedPrompt | PreparedResource, caller: Caller, completer: Completer, value: str
) -> Completion:
    request = request_of(caller, {}, {})

    def convert(found: object) -> Completion:
        if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
            raise TypeError(f"a completion of {declared.name!r} gave a {type(found).__name__}: return a list of text")
        values = [str(one) for one in found]
        return Completion(values[:MAX_COMPLETIONS], len(values) > MAX_COMPLETIONS)

    return handle(declared, caller, lambda: completer(request, value), convert)


def _answered(tool: PreparedTool, value: object) -> ToolAnswer:
    if isinstance(value, Response):
        if value.has_data:
            return ToolAnswer(data=tool.results.dump(value.data))
        return ToolAnswer([block.wire() for block in value.content], is_error=value.is_error)
    blocks = [value] if isinstance(value, Content) else value
    if isinstance(blocks, (list, tuple)) and blocks and all(isinstance(block, Content) for block in blocks):
        return ToolAnswer([block.wire() for block in blocks])
    if tool.results.output_schema is None:
        if value is None:
            return ToolAnswer([{"type": "text", "text": "Done."}])
        if isinstance(value, str):
            return ToolAnswer([{"type": "text", "text": value}])
    return ToolAnswer(data=tool.results.dump(value))


def _written(answer: ToolAnswer, caller: Caller) -> ToolAnswer:
    answer.write(caller.revision)
    limit = caller.terms.max_result
    if answer.size > limit:
        over = answer.size - limit
        raise Trouble(f"The result is {over} bytes over the limit of {limit}: ask for less, by narrowing the query.")
    return answer


def _unknown(kind: str, name: object) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"Unknown {kind}: {name!r}. The list has those that there are.")


def _unknown_resource(caller: Caller, uri: str) -> ProtocolError:
    return ProtocolError(caller.revision.unknown_resource, f"Resource not found: {uri}", {"uri": uri})


def _as_error(trouble: Trouble) -> ProtocolError:
    if trouble.faults:
        return ProtocolError(INVALID_PARAMS, trouble.words)
    data: JSONObject | None = {"ref": trouble.ref} if trouble.ref else None
    return ProtocolError(trouble.status or INTERNAL_ERROR, trouble.words, data)
