"""Completions: the values that an argument of a prompt, or a variable of a template, may have. They are asked for
through the same policy as what they complete."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from .caller import Caller
from .catalogue import Catalogue
from .declarations.base import Completer
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .limits import MAX_COMPLETIONS
from .steps import admit, no_response, request_of, run
from .troubles import NOT_FOUND, Trouble, as_error, unknown

_KINDS = "prompt or resource template"


class Completion(NamedTuple):
    """Values that an argument may be completed to.

    :ivar values: 100 at most.
    :ivar more: there are others.
    """

    values: list[str]
    more: bool = False


def complete(
    catalogue: Catalogue,
    caller: Caller,
    of: object,
    argument: str,
    value: str,
    context: Mapping[str, object] | None = None,
) -> Completion:
    """Complete an argument of a prompt, or a variable of a template.

    :param of: the name of the prompt, or the template as it was declared.
    :param context: the arguments that have their values already; the completer finds them in `request.arguments`.
    :raises ProtocolError: -32602 for what does not exist; a refusal (403 and the like); a failure.
    """
    declared = catalogue.prompt(of) or catalogue.template(of)
    if declared is None:
        raise unknown(_KINDS, of)
    try:
        admit(declared, caller)
        completer = declared.completers.get(argument)
        if completer is None:
            return Completion([])
        return _completed(declared, caller, completer, value, dict(context or {}))
    except Trouble as trouble:
        if trouble.status == NOT_FOUND:
            raise unknown(_KINDS, of) from None
        raise as_error(trouble) from None


def _completed(
    declared: PreparedPrompt | PreparedResource,
    caller: Caller,
    completer: Completer,
    value: str,
    context: dict[str, object],
) -> Completion:
    request = request_of(caller, context, context)

    def ask() -> Completion:
        found = no_response(completer(request, value))
        if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
            raise TypeError(f"a completion of {declared.name!r} gave a {type(found).__name__}: return a list of text")
        values = [str(one) for one in found]
        return Completion(values[:MAX_COMPLETIONS], len(values) > MAX_COMPLETIONS)

    return run(declared, caller, ask)
