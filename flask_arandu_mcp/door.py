"""The one door to what a server declares. Both transports, tests and plain Python come through it, so that nothing is
reached but as its policy says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from . import signals
from .answers import ToolAnswer
from .audit import Record
from .caller import Caller
from .catalogue import Catalogue, Listing
from .declarations.base import Completer, Prepared
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .errors import INTERNAL_ERROR, INVALID_PARAMS, ProtocolError
from .guarding import guarded_items, guarded_list, guarded_tool, response_of
from .jsonrpc import encode
from .limits import MAX_COMPLETIONS
from .steps import FORBIDDEN, NOT_FOUND, Flow, Trouble, admit, handle, load, request_of
from .typing import JSONObject

T = TypeVar("T")
Item = TypeVar("Item", bound=Prepared)


def list_(catalogue: Catalogue, listing: Listing[Item], caller: Caller) -> str:
    """The member of a result that lists the declarations that the caller may use.

    :raises ProtocolError: -32603 where a policy gave no answer; 403 where the caller is gone meanwhile, or the guard
        refuses.
    """
    shown = shown_of(catalogue, listing, caller)
    if catalogue.rules.guard is None:
        return listing.write(shown, caller.revision)
    entries = [item.entry(caller.revision) for item in shown]
    try:
        return f'"{listing.key}":{encode(guarded_list(catalogue.rules.guard, listing.key, caller, entries))}'
    except Trouble as trouble:
        raise _as_error(trouble) from None


def shown_of(catalogue: Catalogue, listing: Listing[Item], caller: Caller) -> Sequence[Item]:
    """The declarations that the caller may use, asked twice where the server rechecks."""
    shown = listing.admitted(caller)
    if not catalogue.rules.recheck:
        return shown
    still = caller.host.again(caller.subject, lambda subject: listing.still_admitted(shown, subject, caller))
    if still is None:
        raise ProtocolError(FORBIDDEN, "403 Forbidden: you are not signed in any more.")
    return still


def call(
    catalogue: Catalogue, caller: Caller, name: object, arguments: Mapping[str, object], *, suspect: bool = True
) -> Flow[ToolAnswer]:
    """Call a tool. What goes wrong in the call is in the answer, as the model is told.

    :param suspect: the arguments may hold a number that overflowed or half a surrogate pair.
    :raises ProtocolError: -32602 for a tool that does not exist, or must seem not to.
    """
    tool = catalogue.tool(name)
    record = Record((signals.tool_called, signals.tool_refused), catalogue.owner, caller, tool, arguments)
    try:
        if tool is None:
            record.outcome = "invalid"
            raise _unknown("tool", name)
        _admit(tool, caller, record, lambda: _unknown("tool", name))
        loaded = load(tool, caller, lambda: tool.arguments.load(arguments, suspect=suspect))
        request = request_of(caller, loaded, arguments)
        response = yield from handle(
            tool, caller, lambda: tool.invoke(request, loaded, caller.host.run), lambda value: response_of(tool, value)
        )
        answer = _capped(guarded_tool(tool, caller, request, response), caller)
        record.outcome = "error" if answer.is_error else "ok"
        return answer
    except Trouble as trouble:
        record.outcome = trouble.outcome
        envelope = trouble.envelope if tool is not None and tool.results.output_schema is None else None
        return ToolAnswer.error(trouble.words if trouble.envelope is None else encode(trouble.envelope), envelope)
    finally:
        record.write()


def read(catalogue: Catalogue, caller: Caller, uri: str) -> Flow[list[JSONObject]]:
    """Read a resource, and return its contents.

    :raises ProtocolError: for a URI that leads nowhere, a refusal (403 and the like) or a failure.
    """
    found = catalogue.resource(uri)

    def unknown() -> ProtocolError:
        return ProtocolError(caller.revision.unknown_resource, f"Resource not found: {uri}", {"uri": uri})

    resource, variables = found or (None, {})
    record = Record((signals.resource_read,), catalogue.owner, caller, resource, variables)
    if resource is None:
        raise _recorded(record, unknown())
    return (
        yield from _plainly(
            record,
            resource,
            caller,
            variables,
            unknown,
            lambda: variables,
            resource.invoke,
            lambda value: resource.contents(uri, value),
        )
    )


def get(
    catalogue: Catalogue, caller: Caller, name: object, arguments: Mapping[str, object], *, suspect: bool = True
) -> Flow[list[JSONObject]]:
    """Render a prompt, and return its messages.

    :raises ProtocolError: -32602 for a prompt that does not exist or arguments that do not fit; a refusal (403 and
        the like); a failure.
    """
    prompt = catalogue.prompt(name)
    record = Record((signals.prompt_rendered,), catalogue.owner, caller, prompt, arguments)
    if prompt is None:
        raise _recorded(record, _unknown("prompt", name))
    return (
        yield from _plainly(
            record,
            prompt,
            caller,
            arguments,
            lambda: _unknown("prompt", name),
            lambda: prompt.arguments.load(arguments, suspect=suspect),
            prompt.invoke,
            prompt.messages,
        )
    )


def _plainly(
    record: Record,
    prepared: PreparedResource | PreparedPrompt,
    caller: Caller,
    arguments: Mapping[str, object],
    unknown: Callable[[], ProtocolError],
    loading: Callable[[], Any],
    invoke: Callable[[Any, Any, Any], Any],
    convert: Callable[[Any], list[JSONObject]],
) -> Flow[list[JSONObject]]:
    """The way of a call whose troubles are errors of the protocol."""
    try:
        _admit(prepared, caller, record, unknown)
        loaded = load(prepared, caller, loading)
        request = request_of(caller, loaded, arguments)
        items = yield from handle(prepared, caller, lambda: invoke(request, loaded, caller.host.run), convert)
        items = guarded_items(prepared, caller, request, items)
        record.outcome = "ok"
        return items
    except Trouble as trouble:
        record.outcome = trouble.outcome
        raise (unknown() if trouble.status == NOT_FOUND else _as_error(trouble)) from None
    finally:
        record.write()


class Completion(NamedTuple):
    """Values that an argument may be completed to.

    :ivar values: 100 at most.
    :ivar more: there are others.
    """

    values: list[str]
    more: bool = False


def complete(catalogue: Catalogue, caller: Caller, of: object, argument: str, value: str) -> Flow[Completion]:
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
        completion = yield from _completed(declared, caller, completer, value)
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise _unknown("prompt or resource template", of) from None
        raise _as_error(trouble) from None
    return completion


def _completed(
    declared: PreparedPrompt | PreparedResource, caller: Caller, completer: Completer, value: str
) -> Flow[Completion]:
    request = request_of(caller, {}, {})

    def convert(found: object) -> Completion:
        if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
            raise TypeError(f"a completion of {declared.name!r} gave a {type(found).__name__}: return a list of text")
        values = [str(one) for one in found]
        return Completion(values[:MAX_COMPLETIONS], len(values) > MAX_COMPLETIONS)

    return (yield from handle(declared, caller, lambda: completer(request, value), convert))


def _admit(prepared: Prepared, caller: Caller, record: Record, unknown: Callable[[], ProtocolError]) -> None:
    try:
        admit(prepared, caller)
    except Trouble as trouble:
        if trouble.status != NOT_FOUND:
            raise
        record.outcome = "refused"
        raise unknown() from None
    except ProtocolError:
        record.outcome = "refused"
        raise


def _recorded(record: Record, error: ProtocolError) -> ProtocolError:
    record.outcome = "invalid"
    record.write()
    return error


def _capped(answer: ToolAnswer, caller: Caller) -> ToolAnswer:
    answer.write(caller.revision)
    limit = caller.terms.max_result
    if answer.size > limit:
        over = answer.size - limit
        raise Trouble(f"The result is {over} bytes over the limit of {limit}: ask for less, by narrowing the query.")
    return answer


def _unknown(kind: str, name: object) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, f"Unknown {kind}: {name!r}. The list has those that there are.")


def _as_error(trouble: Trouble) -> ProtocolError:
    if trouble.faults:
        return ProtocolError(INVALID_PARAMS, trouble.words)
    data: JSONObject = {"ref": trouble.ref} if trouble.ref else dict(trouble.envelope or {})
    return ProtocolError(trouble.status or INTERNAL_ERROR, trouble.words, data or None)
