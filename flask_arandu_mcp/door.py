"""The one door to what a server declares. Both transports, tests and plain Python come through it, so that nothing is
reached but as its policy says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from . import signals
from .answers import ToolAnswer
from .asking import Asked
from .audit import Record, Unheard, record_of
from .caller import Caller
from .catalogue import Catalogue, Listing
from .declarations.base import Prepared
from .errors import ProtocolError
from .guarding import guarded_list
from .passages import PromptPassage, ResourcePassage, ToolPassage, no_resource
from .playing import Flow
from .schemas.convert import resolve
from .troubles import FORBIDDEN, Trouble, as_error, unknown
from .typing import JSONObject
from .writing import encode

Item = TypeVar("Item", bound=Prepared)


def list_(
    catalogue: Catalogue, listing: Listing[Item], caller: Caller, start: int = 0
) -> tuple[str | bytes, int | None]:
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
    entries = [resolve(item.entry(caller.revision)) for item in shown]
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
) -> ToolAnswer | Flow[ToolAnswer | Asked]:
    """Call a tool. What goes wrong in the call is in the answer, as the model is told.

    :param suspect: the arguments may hold a number that overflowed or half a surrogate pair.
    :return: the answer; of a handler that talks while it works, the flow that ends with it.
    :raises ProtocolError: -32602 for a tool that does not exist, or must seem not to.
    """
    tool = catalogue.tool(name)
    record = record_of((signals.tool_called, signals.tool_refused), catalogue.owner, caller, tool, arguments)
    if tool is None:
        raise _recorded(record, unknown("tool", name))
    return ToolPassage(tool, caller, arguments, record, suspect=suspect).take()


def read(catalogue: Catalogue, caller: Caller, uri: str) -> list[JSONObject] | Flow[list[JSONObject] | Asked]:
    """Read a resource.

    :return: its contents, as :func:`call` returns an answer.
    :raises ProtocolError: for a URI that leads nowhere, a refusal (403 and the like) or a failure.
    """
    resource, variables = catalogue.resource(uri) or (None, {})
    record = record_of((signals.resource_read,), catalogue.owner, caller, resource, variables)
    if resource is None:
        raise _recorded(record, no_resource(uri, caller))
    return ResourcePassage(resource, caller, variables, record, uri).take()


def get(
    catalogue: Catalogue, caller: Caller, name: object, arguments: Mapping[str, object], *, suspect: bool = True
) -> list[JSONObject] | Flow[list[JSONObject] | Asked]:
    """Render a prompt.

    :return: its messages, as :func:`call` returns an answer.
    :raises ProtocolError: -32602 for a prompt that does not exist or arguments that do not fit; a refusal (403 and
        the like); a failure.
    """
    prompt = catalogue.prompt(name)
    record = record_of((signals.prompt_rendered,), catalogue.owner, caller, prompt, arguments)
    if prompt is None:
        raise _recorded(record, unknown("prompt", name))
    return PromptPassage(prompt, caller, arguments, record, suspect=suspect).take()


def _recorded(record: Record | Unheard, error: ProtocolError) -> ProtocolError:
    record.outcome = "invalid"
    record.write()
    return error
