"""The one door to what a server declares. Both transports, tests and plain Python come through it, so that nothing is
reached but as its policy says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from . import signals
from .answers import ToolAnswer
from .asking import Asked
from .audit import Record
from .caller import Caller
from .catalogue import Catalogue, Listing
from .declarations.base import Prepared
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .declarations.tools import PreparedTool
from .errors import HEADER_MISMATCH, ProtocolError
from .guarding import guarded_items, guarded_list, guarded_questions, guarded_tool, response_of
from .jsonrpc import encode
from .mirroring import disagreeing
from .playing import Flow
from .steps import FORBIDDEN, NOT_FOUND, Trouble, admit, as_error, handle, load, request_of, unknown
from .typing import JSONObject

Item = TypeVar("Item", bound=Prepared)


def list_(catalogue: Catalogue, listing: Listing[Item], caller: Caller, start: int = 0) -> tuple[str, int | None]:
    """The member of a result that lists what the caller may use, and where the next page starts, if there is one.

    :param start: the place, in the order of the declarations, of the first that may be on this page.
    :raises ProtocolError: -32603 where a policy gave no answer; 403 where the caller is gone meanwhile, or the guard
        refuses.
    """
    shown = shown_of(catalogue, listing, caller)
    size, next_start = caller.terms.page_size, None
    if size is not None:
        places = {id(item): place for place, item in enumerate(listing.items)}
        shown = [item for item in shown if places[id(item)] >= start]
        if len(shown) > size:
            next_start = places[id(shown[size])]
            shown = shown[:size]
    if catalogue.rules.guard is None:
        return listing.write(shown, caller.revision), next_start
    entries = [item.entry(caller.revision) for item in shown]
    try:
        guarded = guarded_list(catalogue.rules.guard, listing.key, caller, entries)
    except Trouble as trouble:
        raise as_error(trouble) from None
    return f'"{listing.key}":{encode(guarded)}', next_start


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
) -> Flow[ToolAnswer | Asked]:
    """Call a tool. What goes wrong in the call is in the answer, as the model is told.

    :param suspect: the arguments may hold a number that overflowed or half a surrogate pair.
    :raises ProtocolError: -32602 for a tool that does not exist, or must seem not to.
    """
    tool = catalogue.tool(name)
    record = Record((signals.tool_called, signals.tool_refused), catalogue.owner, caller, tool, arguments)
    try:
        if tool is None:
            record.outcome = "invalid"
            raise unknown("tool", name)
        _admit(tool, caller, record, lambda: unknown("tool", name))
        _check_mirrored(tool, caller, arguments, record)
        loaded = load(tool, caller, lambda: tool.arguments.load(arguments, suspect=suspect))
        request = request_of(caller, loaded, arguments)
        response = yield from handle(
            tool, caller, lambda: tool.invoke(request, loaded, caller.host.run), lambda value: response_of(tool, value)
        )
        if isinstance(response, Asked):
            record.outcome = "asked"
            return guarded_questions(tool, caller, request, response)
        answer = _capped(guarded_tool(tool, caller, request, response), caller)
        record.outcome = "error" if answer.is_error else "ok"
        return answer
    except Trouble as trouble:
        record.outcome = trouble.outcome
        envelope = trouble.envelope if tool is not None and tool.results.output_schema is None else None
        return ToolAnswer.error(trouble.words if trouble.envelope is None else encode(trouble.envelope), envelope)
    except GeneratorExit:
        record.outcome = "cancelled"
        raise
    finally:
        record.write()


def read(catalogue: Catalogue, caller: Caller, uri: str) -> Flow[list[JSONObject] | Asked]:
    """Read a resource, and return its contents.

    :raises ProtocolError: for a URI that leads nowhere, a refusal (403 and the like) or a failure.
    """
    found = catalogue.resource(uri)

    def nowhere() -> ProtocolError:
        return ProtocolError(caller.revision.unknown_resource, f"Resource not found: {uri}", {"uri": uri})

    resource, variables = found or (None, {})
    record = Record((signals.resource_read,), catalogue.owner, caller, resource, variables)
    if resource is None:
        raise _recorded(record, nowhere())
    return (
        yield from _plainly(
            record,
            resource,
            caller,
            variables,
            nowhere,
            lambda: variables,
            resource.invoke,
            lambda value: resource.contents(uri, value),
        )
    )


def get(
    catalogue: Catalogue, caller: Caller, name: object, arguments: Mapping[str, object], *, suspect: bool = True
) -> Flow[list[JSONObject] | Asked]:
    """Render a prompt, and return its messages.

    :raises ProtocolError: -32602 for a prompt that does not exist or arguments that do not fit; a refusal (403 and
        the like); a failure.
    """
    prompt = catalogue.prompt(name)
    record = Record((signals.prompt_rendered,), catalogue.owner, caller, prompt, arguments)
    if prompt is None:
        raise _recorded(record, unknown("prompt", name))
    return (
        yield from _plainly(
            record,
            prompt,
            caller,
            arguments,
            lambda: unknown("prompt", name),
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
    nowhere: Callable[[], ProtocolError],
    loading: Callable[[], Any],
    invoke: Callable[[Any, Any, Any], Any],
    convert: Callable[[Any], list[JSONObject]],
) -> Flow[list[JSONObject] | Asked]:
    """The way of a call whose troubles are errors of the protocol."""
    try:
        _admit(prepared, caller, record, nowhere)
        loaded = load(prepared, caller, loading)
        request = request_of(caller, loaded, arguments)
        items = yield from handle(prepared, caller, lambda: invoke(request, loaded, caller.host.run), convert)
        if isinstance(items, Asked):
            record.outcome = "asked"
            return guarded_questions(prepared, caller, request, items)
        items = guarded_items(prepared, caller, request, items)
        record.outcome = "ok"
        return items
    except Trouble as trouble:
        record.outcome = trouble.outcome
        raise (nowhere() if trouble.status == NOT_FOUND else as_error(trouble)) from None
    except GeneratorExit:
        record.outcome = "cancelled"
        raise
    finally:
        record.write()


def _admit(prepared: Prepared, caller: Caller, record: Record, nowhere: Callable[[], ProtocolError]) -> None:
    try:
        admit(prepared, caller)
    except Trouble as trouble:
        if trouble.status != NOT_FOUND:
            raise
        record.outcome = "refused"
        raise nowhere() from None
    except ProtocolError:
        record.outcome = "refused"
        raise


def _check_mirrored(tool: PreparedTool, caller: Caller, arguments: Mapping[str, object], record: Record) -> None:
    if not tool.mirrored or caller.header is None:
        return
    header = disagreeing(tool.mirrored, arguments, caller.header)
    if header:
        record.outcome = "invalid"
        words = f"The header {header} does not say the same as the body."
        raise ProtocolError(HEADER_MISMATCH, words, status=400)


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
