"""The three lists of a server, prepared: where a declaration is found, and which of them a caller is shown. What a
list says of a declaration is written once for each revision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from .caller import Caller
from .declarations.base import Prepared, Rules
from .declarations.prompts import PreparedPrompt
from .declarations.resources import PreparedResource
from .declarations.tools import PreparedTool
from .errors import INTERNAL_ERROR, ProtocolError
from .policies import Decision, decide, public, word
from .revisions import R_2026_07_28, Revision
from .schemas.convert import has_lazy, resolve
from .typing import JSONObject
from .uri_templates import canonical
from .writing import encode

Item = TypeVar("Item", bound=Prepared)


class Listing(Generic[Item]):
    """One list of declarations, in the order in which they were declared.

    :ivar key: the member that holds it in the protocol's result.
    :ivar public: every declaration is for everybody.
    """

    __slots__ = ("_entries", "_whole", "items", "key", "public")

    def __init__(self, key: str, items: Sequence[Item]) -> None:
        self.key = key
        self.items = tuple(items)
        self.public = all(item.access is public for item in items)
        self._entries: dict[str, dict[int, str | JSONObject]] = {}
        self._whole: dict[str, bytes] = {}

    def admitted(self, caller: Caller) -> Sequence[Item]:
        """The declarations that a caller is shown.

        :raises ProtocolError: -32603 with a ref, where a policy gave no answer: half a list would look whole.
        """
        if self.public:
            return self.items
        return self.still_admitted(self.items, caller.subject, caller)

    def still_admitted(self, items: Sequence[Item], subject: Any, caller: Caller) -> Sequence[Item]:
        """Those of the declarations that a subject may use, as of now. A policy of several is asked once."""
        answers: dict[int, bool] = {}
        shown = []
        for item in items:
            policy = id(item.access)
            if policy not in answers:
                answers[policy] = self._shows(item, subject, caller)
            if answers[policy]:
                shown.append(item)
        return shown

    def _shows(self, item: Item, subject: Any, caller: Caller) -> bool:
        decision = decide(item.access, subject)
        if decision.error is not None:
            ref = report_policy(decision, item, caller)
            raise ProtocolError(INTERNAL_ERROR, f"Internal error (ref {ref}).", {"ref": ref})
        return decision.admitted

    def write(self, shown: Sequence[Item], revision: Revision) -> str | bytes:
        """The member of the result that lists declarations, given in the order in which they were declared.

        All of them are kept as bytes, unless they are other ones for every language.
        """
        if len(shown) == len(self.items) and revision.name in self._whole:
            return self._whole[revision.name]
        return self._join(shown, self._prepared(revision))

    def _join(self, shown: Sequence[Item], entries: Mapping[int, str | JSONObject]) -> str:
        written = [entries[id(item)] for item in shown]
        # A translated description is another one for every language, so it is written for every caller.
        texts = [entry if isinstance(entry, str) else encode(resolve(entry)) for entry in written]
        return f'"{self.key}":[{",".join(texts)}]'

    def describe(self) -> list[JSONObject]:
        """What the operator is told of each declaration, whoever asks."""
        return [{**item.entry(R_2026_07_28), "access": word(item.access), **item.notes()} for item in self.items]

    def _prepared(self, revision: Revision) -> Mapping[int, str | JSONObject]:
        entries = self._entries.get(revision.name)
        if entries is None:
            entries = {}
            for item in self.items:
                entry = item.entry(revision)
                entries[id(item)] = entry if has_lazy(entry) else encode(entry)
            self._entries[revision.name] = entries
            if all(isinstance(entry, str) for entry in entries.values()):
                self._whole[revision.name] = self._join(self.items, entries).encode("ascii")
        return entries


def report_policy(decision: Decision, item: Prepared, caller: Caller) -> str:
    """Log a policy that gave no answer, and return the ref it can be found by."""
    assert decision.error is not None
    return caller.host.report(decision.error, f"the policy of {item.name!r}")


class Catalogue:
    """All that a server offers.

    :ivar owner: the server, which sends the signals.
    :ivar rules: what it says of all its declarations.
    :ivar listings: the four lists of the protocol, in which templates have one of their own.
    :ivar public: everything is for everybody.
    :ivar capabilities: what it can be asked for: only what it has (2026-07-28, schema, ServerCapabilities).
    """

    __slots__ = (
        "_prompts",
        "_resources",
        "_tools",
        "capabilities",
        "listings",
        "owner",
        "prompts",
        "public",
        "resources",
        "rules",
        "templates",
        "tools",
    )

    def __init__(
        self,
        owner: object,
        rules: Rules,
        tools: Sequence[PreparedTool],
        resources: Sequence[PreparedResource],
        prompts: Sequence[PreparedPrompt],
    ) -> None:
        self.owner = owner
        self.rules = rules
        self.tools = Listing("tools", tools)
        self.resources = Listing("resources", [r for r in resources if not r.template.variables])
        self.templates = Listing("resourceTemplates", [r for r in resources if r.template.variables])
        self.prompts = Listing("prompts", prompts)
        self.listings = (self.tools, self.resources, self.templates, self.prompts)
        self._tools = {tool.name: tool for tool in tools}
        self._prompts = {prompt.name: prompt for prompt in prompts}
        self._resources = {canonical(r.template.text): r for r in self.resources.items}
        # What a guard might take out for one caller cannot be shared with another.
        self.public = all(listing.public for listing in self.listings) and rules.guard is None
        self.capabilities = self._capabilities()

    def _capabilities(self) -> JSONObject:
        has_resources = self.resources.items or self.templates.items
        completing = any(p.completers for p in self.prompts.items) or any(t.completers for t in self.templates.items)
        kinds = {
            "tools": self.tools.items,
            "resources": has_resources,
            "prompts": self.prompts.items,
            "completions": completing,
            "logging": self.rules.logging,
        }
        return {kind: {} for kind, declared in kinds.items() if declared}

    @property
    def declarations(self) -> Iterator[Prepared]:
        """All that is declared, list by list."""
        for listing in self.listings:
            yield from listing.items

    @property
    def limited(self) -> list[str]:
        """What has a rate limit, by kind and name."""
        return [f"{item.kind} {item.name!r}" for item in self.declarations if item.limits]

    def describe(self) -> JSONObject:
        """The lists with the word for who may use each declaration: for the operator, not for clients."""
        return {listing.key: listing.describe() for listing in self.listings}

    def tool(self, name: object) -> PreparedTool | None:
        """The tool of a name."""
        return self._tools.get(name) if isinstance(name, str) else None

    def prompt(self, name: object) -> PreparedPrompt | None:
        """The prompt of a name."""
        return self._prompts.get(name) if isinstance(name, str) else None

    def template(self, text: object) -> PreparedResource | None:
        """The template that was declared with this very text."""
        return next((t for t in self.templates.items if t.template.text == text), None)

    def resource(self, uri: str) -> tuple[PreparedResource, Mapping[str, str]] | None:
        """The resource at a URI, and the variables that the URI gives to its template.

        A fixed URI comes before a template that would match it too; of several templates, the one declared first.
        """
        fixed = self._resources.get(uri) or self._resources.get(canonical(uri))
        if fixed is not None:
            return fixed, {}
        for resource in self.templates.items:
            variables = resource.template.match(uri)
            if variables is not None:
                return resource, variables
        return None
