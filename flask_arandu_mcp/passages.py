"""The way of one call through the door: admitted, loaded, handled, guarded, and put into the audit trail. The three
kinds of declarations take the same way; what each of them does differently is said here, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from .answers import ToolAnswer
from .asking import Asked
from .audit import Record, Unheard
from .caller import Caller
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .declarations.tools import PreparedTool
from .errors import HEADER_MISMATCH, ProtocolError
from .guarding import guarded_items, guarded_questions, guarded_tool, response_of
from .mirroring import disagreeing
from .playing import Flow
from .request import Request
from .response import Response
from .steps import admit, load, no_response, play_out, request_of, run
from .troubles import NOT_FOUND, Trouble, as_error, unknown
from .typing import JSONObject
from .writing import encode

Kind = TypeVar("Kind", PreparedTool, PreparedResource, PreparedPrompt)
Made = TypeVar("Made")
Given = TypeVar("Given")


class Passage(Generic[Kind, Made, Given]):
    """One call on its way through the door: a kind of declaration, what is made of its handler's value, and what is
    given back in the end.

    :param arguments: what was sent.
    :param suspect: it may hold a number that overflowed or half a surrogate pair.
    """

    __slots__ = ("_arguments", "_caller", "_declared", "_record", "_suspect")

    def __init__(
        self,
        declared: Kind,
        caller: Caller,
        arguments: Mapping[str, object],
        record: Record | Unheard,
        *,
        suspect: bool = True,
    ) -> None:
        self._declared: Kind = declared
        self._caller = caller
        self._arguments = arguments
        self._record = record
        self._suspect = suspect

    def take(self) -> Given | Flow[Given | Asked]:
        """The answer; of a handler that talks while it works, the flow that ends with it.

        :raises ProtocolError: for what is no answer of this kind; from the flow, where there is one.
        """
        return self._in_steps() if self._declared.streams else self._at_once()

    def _at_once(self) -> Given:
        declared, caller = self._declared, self._caller
        try:
            loaded = self._enter()
            request = request_of(caller, loaded, self._arguments)
            return self._leave(request, run(declared, caller, self._handle, request, loaded))
        except Trouble as trouble:
            return self._end_in(trouble)
        finally:
            self._record.write()

    def _in_steps(self) -> Flow[Given | Asked]:
        declared, caller = self._declared, self._caller
        try:
            loaded = self._enter()
            request = request_of(caller, loaded, self._arguments)
            made = yield from play_out(
                declared, caller, lambda: declared.invoke(request, loaded, caller.host.run), self._make
            )
            if isinstance(made, Asked):
                self._record.outcome = "asked"
                return guarded_questions(declared, caller, request, made)
            return self._leave(request, made)
        except Trouble as trouble:
            return self._end_in(trouble)
        except GeneratorExit:
            self._record.outcome = "cancelled"
            raise
        finally:
            self._record.write()

    def _enter(self) -> Any:
        """Ask who may come in, and load what was sent."""
        try:
            admit(self._declared, self._caller)
        except Trouble as trouble:
            if trouble.status != NOT_FOUND:
                raise
            self._record.outcome = "refused"
            raise self._nowhere() from None
        except ProtocolError:
            self._record.outcome = "refused"
            raise
        self._check()
        return load(self._declared, self._caller, self._load)

    def _handle(self, request: Request, loaded: Any) -> Made:
        return self._make(self._declared.invoke(request, loaded, self._caller.host.run))

    def _make(self, value: Any) -> Made:
        return self._convert(no_response(value))

    def _check(self) -> None:
        """Check what is neither the policy's business nor the arguments'.

        :raises ProtocolError: where it is wrong.
        """

    def _load(self) -> Any:
        """Load the arguments."""
        raise NotImplementedError

    def _convert(self, value: Any) -> Made:
        """Make of a handler's value what a guard can see."""
        raise NotImplementedError

    def _leave(self, request: Request, made: Made) -> Given:
        """Show the guard what goes out, and say how the call ended."""
        raise NotImplementedError

    def _end_in(self, trouble: Trouble) -> Given:
        """Answer for a call that came to nothing.

        :raises ProtocolError: where this kind has no answer for that.
        """
        self._record.outcome = trouble.outcome
        raise (self._nowhere() if trouble.status == NOT_FOUND else as_error(trouble)) from None

    def _nowhere(self) -> ProtocolError:
        """The error of what does not exist, or must seem not to."""
        raise NotImplementedError


class ToolPassage(Passage[PreparedTool, Response, ToolAnswer]):
    """The call of a tool. What goes wrong in it is in the answer, as the model is told."""

    __slots__ = ()

    def _check(self) -> None:
        header = self._caller.header
        if header is None or not self._declared.mirrored:
            return
        wrong = disagreeing(self._declared.mirrored, self._arguments, header)
        if wrong:
            self._record.outcome = "invalid"
            words = f"The header {wrong} does not say the same as the body: send the same in both."
            raise ProtocolError(HEADER_MISMATCH, words, status=400)

    def _load(self) -> Any:
        return self._declared.arguments.load(self._arguments, suspect=self._suspect)

    def _convert(self, value: Any) -> Response:
        return response_of(self._declared, value)

    def _leave(self, request: Request, made: Response) -> ToolAnswer:
        answer = guarded_tool(self._declared, self._caller, request, made)
        answer.write(self._caller.revision)
        limit = self._caller.terms.max_result
        if answer.size > limit:
            over = answer.size - limit
            words = f"The result is {over} bytes over the limit of {limit}: ask for less, by narrowing the query."
            raise Trouble(words)
        self._record.outcome = "error" if answer.is_error else "ok"
        return answer

    def _end_in(self, trouble: Trouble) -> ToolAnswer:
        self._record.outcome = trouble.outcome
        envelope = trouble.envelope if self._declared.results.output_schema is None else None
        return ToolAnswer.error(trouble.words if trouble.envelope is None else encode(trouble.envelope), envelope)

    def _nowhere(self) -> ProtocolError:
        return unknown("tool", self._declared.name)


class ResourcePassage(Passage[PreparedResource, list[JSONObject], list[JSONObject]]):
    """The reading of a resource; its arguments are the variables of its template."""

    __slots__ = ("_uri",)

    def __init__(
        self,
        declared: PreparedResource,
        caller: Caller,
        variables: Mapping[str, str],
        record: Record | Unheard,
        uri: str,
    ) -> None:
        super().__init__(declared, caller, variables, record)
        self._uri = uri

    def _load(self) -> Mapping[str, object]:
        return self._arguments

    def _convert(self, value: Any) -> list[JSONObject]:
        return self._declared.contents(self._uri, value)

    def _leave(self, request: Request, made: list[JSONObject]) -> list[JSONObject]:
        items = guarded_items(self._declared, self._caller, request, made)
        self._record.outcome = "ok"
        return items

    def _nowhere(self) -> ProtocolError:
        return no_resource(self._uri, self._caller)


class PromptPassage(Passage[PreparedPrompt, list[JSONObject], list[JSONObject]]):
    """The rendering of a prompt."""

    __slots__ = ()

    def _load(self) -> Any:
        return self._declared.arguments.load(self._arguments, suspect=self._suspect)

    def _convert(self, value: Any) -> list[JSONObject]:
        return self._declared.messages(value)

    def _leave(self, request: Request, made: list[JSONObject]) -> list[JSONObject]:
        items = guarded_items(self._declared, self._caller, request, made)
        self._record.outcome = "ok"
        return items

    def _nowhere(self) -> ProtocolError:
        return unknown("prompt", self._declared.name)


def no_resource(uri: str, caller: Caller) -> ProtocolError:
    """The error of a URI that leads nowhere, and of one that must seem to."""
    words = f"Resource not found: {uri!r}. The lists have those that there are."
    return ProtocolError(caller.revision.unknown_resource, words, {"uri": uri})
