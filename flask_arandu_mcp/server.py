"""A server: what an app declares for AI clients, and the door to it for plain Python. Transports go through the same
door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from . import door, faults
from .answers import ToolAnswer
from .asking import Answers
from .caller import Caller
from .catalogue import Catalogue, Item, Listing
from .completing import complete
from .declarations.base import Guard, Rules, Text
from .declarations.prompts import PreparedPrompt, Prompt
from .declarations.resources import PreparedResource, Resource
from .declarations.tools import PreparedTool, Tool, ToolSource
from .errors import DeclarationError
from .grants import unwatched
from .host import Host
from .playing import drain
from .policies import Access
from .revisions import R_2026_07_28
from .schemas.convert import Table
from .typing import JSONObject
from .writing import encode

T = TypeVar("T")


class Server:
    """What an app offers to AI clients: three lists, and the one door to them.

    :param name: what clients know the server by.
    :param version: of what is offered, for clients to show.
    :param title: what people call it.
    :param instructions: what a model should know before it uses any of it.
    :param tools: what a model may do.
    :param resources: what a model may read.
    :param prompts: what a user may start a conversation with.
    :param access: the policy of every declaration that has none of its own.
    :param recheck: resolve the subject and ask the policy again after a handler, before anything goes out.
    :param guard: sees every successful answer last: `guard(request, response)` returns another `Response`, or None to
        let it be, or raises to refuse it. It needs `recheck`.
    :param fields: JSON Schema for field classes of your own: `{MyField: {"type": "string"}}`, or what makes it of one.
    :param logging: offer the protocol's own logging, for a handler that yields `notifications/message`.
    :param limits: how often one subject may use each declaration that has no limit of its own, such as `30/minute`.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str = "0",
        title: Text = "",
        instructions: Text = "",
        tools: Sequence[Tool | ToolSource] = (),
        resources: Sequence[Resource] = (),
        prompts: Sequence[Prompt] = (),
        access: Access | None = None,
        recheck: bool = False,
        guard: Guard | None = None,
        limits: str = "",
        logging: bool = False,
        fields: Table | None = None,
    ) -> None:
        self.name = name
        self.version = version
        self.title = title
        self.instructions = instructions
        self.tools = _listed(tools)
        self.resources = _listed(resources)
        self.prompts = _listed(prompts)
        self.access = access
        self.recheck = recheck
        self.guard = guard
        self.limits = limits
        self.logging = logging
        self.fields = fields

    def info(self, *, titled: bool = True) -> JSONObject:
        """What the server says of itself (2026-07-28, schema, Implementation).

        :param titled: the client knows titles.
        """
        info: JSONObject = {"name": self.name, "version": self.version}
        if titled and str(self.title):
            info["title"] = str(self.title)
        return info

    @property
    def written_info(self) -> str:
        """The same as JSON; it is written once, unless its title is another one for every language."""
        return self._fixed_info if isinstance(self.title, str) else encode(self.info())

    @cached_property
    def _fixed_info(self) -> str:
        return encode(self.info())

    def validate(self) -> None:
        """Convert and check everything that is declared, once.

        :raises DeclarationError: listing every mistake.
        """
        self.own  # noqa: B018 - making it is the check

    @property
    def catalogue(self) -> Catalogue:
        """The three lists, converted and ready; in an app's context with what only that app shows.

        :raises DeclarationError: listing every mistake.
        """
        if self._source is None:
            return self.own
        here: Catalogue | None = self._source.here(self)
        return here or self.own

    @cached_property
    def _source(self) -> ToolSource | None:
        return next((tool for tool in self.tools if isinstance(tool, ToolSource)), None)

    @cached_property
    def own(self) -> Catalogue:
        """What is offered whatever the app.

        :raises DeclarationError: listing every mistake.
        """
        return self.offering(self.tools)

    @property
    def rules(self) -> Rules:
        """What is said of all declarations."""
        return Rules(self.access, self.recheck, self.guard, self.limits, self.logging, self.fields)

    def offering(self, tools: Sequence[Tool | ToolSource], mistakes: Sequence[str] = ()) -> Catalogue:
        """The three lists with other tools in them.

        :param mistakes: what is known to be wrong already.
        :raises DeclarationError: listing every mistake.
        """
        rules = self.rules
        found = [*faults.find(self.name, tools, self.resources, self.prompts, rules), *mistakes]
        if found:
            raise DeclarationError(str(self.name), found)
        return Catalogue(
            self,
            rules,
            [PreparedTool(tool, rules) for tool in tools if isinstance(tool, Tool)],
            [PreparedResource(resource, rules) for resource in self.resources],
            [PreparedPrompt(prompt, rules) for prompt in self.prompts],
        )

    def call(
        self,
        subject: Any,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        answers: Mapping[str, object] | None = None,
        host: Host | None = None,
    ) -> ToolAnswer:
        """Call a tool as a subject. What goes wrong in the call is in the answer, as the model would be told.

        :param answers: the client's results to what the handler asks, by their keys, such as
            `{"sure": {"action": "accept", "content": {"yes": True}}}`.
        :raises LookupError: for a question that `answers` has no answer to.
        :raises ProtocolError: -32602 for a tool that does not exist, or must seem not to.
        """
        caller = _asking(subject, host, answers)
        return drain(lambda: door.call(self.catalogue, caller, name, arguments or {}))

    def read(
        self,
        subject: Any,
        uri: str,
        *,
        answers: Mapping[str, object] | None = None,
        host: Host | None = None,
    ) -> list[dict[str, Any]]:
        """Read a resource as a subject, and return its contents.

        :raises ProtocolError: for a URI that leads nowhere, a refusal (403 and the like) or a failure.
        """
        caller = _asking(subject, host, answers)
        return drain(lambda: door.read(self.catalogue, caller, uri))

    def get(
        self,
        subject: Any,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        answers: Mapping[str, object] | None = None,
        host: Host | None = None,
    ) -> list[dict[str, Any]]:
        """Render a prompt as a subject, and return its messages.

        :raises ProtocolError: -32602 for a prompt that does not exist or arguments that do not fit; a refusal
            (403 and the like); a failure.
        """
        caller = _asking(subject, host, answers)
        return drain(lambda: door.get(self.catalogue, caller, name, arguments or {}))

    def complete(self, subject: Any, of: str, argument: str, value: str = "", *, host: Host | None = None) -> list[str]:
        """Complete an argument of a prompt, or a variable of a resource's template, as a subject.

        :param of: the name of the prompt, or the template as it was declared.
        :raises ProtocolError: -32602 for what does not exist; a refusal (403 and the like); a failure.
        """
        return unwatched(complete, self.catalogue, Caller(subject, host), of, argument, value).values

    def list_tools(self, subject: Any) -> list[dict[str, Any]]:
        """The tools that a subject may use, as they are listed."""
        return self._list(self.catalogue.tools, subject)

    def list_resources(self, subject: Any) -> list[dict[str, Any]]:
        """The resources that a subject may read, as they are listed."""
        return self._list(self.catalogue.resources, subject)

    def list_templates(self, subject: Any) -> list[dict[str, Any]]:
        """The templates of resources that a subject may read, as they are listed."""
        return self._list(self.catalogue.templates, subject)

    def list_prompts(self, subject: Any) -> list[dict[str, Any]]:
        """The prompts that a subject may use, as they are listed."""
        return self._list(self.catalogue.prompts, subject)

    def _list(self, listing: Listing[Item], subject: Any) -> list[dict[str, Any]]:
        shown = unwatched(door.shown_of, self.catalogue, listing, Caller(subject))
        return [item.entry(R_2026_07_28) for item in shown]

    def describe(self) -> JSONObject:
        """All that is declared, with the word for who may use it, whoever asks: for the operator, not for clients."""
        return {"name": self.name, "version": self.version, **self.catalogue.describe()}


def _asking(subject: Any, host: Host | None, answers: Mapping[str, object] | None) -> Caller:
    return Caller(subject, host, answers=Answers(loose=answers, trusted=True))


def _listed(given: Sequence[T]) -> Sequence[T]:
    # What is no list is kept as it is, for the check to name it among all the other mistakes.
    return tuple(given) if isinstance(given, (list, tuple)) else given
