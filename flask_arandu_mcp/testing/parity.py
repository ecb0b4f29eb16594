"""An app's endpoints held against the tools that were made of them: whoever asks, and whichever way, is refused the
same and given the same. It is for the app's own tests, and cannot pass where nothing was compared."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from flask import Flask

from ..operations.endpoint import EndpointOperation
from ..state import find
from .about import meant, shortened, words_of
from .client import MCPClient
from .outcomes import by_tool, disagreement, over_http
from .who import in_app, who

Arguments = Mapping[str, object]
Calls = Mapping[str, Sequence[Arguments]]

_READS = frozenset({"GET", "HEAD"})
_SHOWN = 300


def assert_policy_parity(
    app: Flask,
    calls: Calls,
    *,
    users: Mapping[str, Any] | Iterable[Any],
    server: str | None = None,
    token_of: Callable[[Any], str] | None = None,
    reset: Callable[[], object] | None = None,
    state: Callable[[], object] | None = None,
    stricter: Collection[str] = (),
    without: Collection[str] = (),
    ignoring: Collection[str] = (),
) -> int:
    """Each endpoint tool of a server and the endpoint behind it agree, for each call and each user: both refuse, in the
    same words where the endpoint was asked, or both answer with the same data.

    A call is made twice, as an HTTP request and as a call of the tool: give `reset` where it changes anything.

    :param calls: the arguments to try, for each tool by its name.
    :param users: who asks, for the sentences by names; None is a guest.
    :param server: the name of the server, where the app has several.
    :param token_of: gives a Bearer token of a user, where no session is to be used.
    :param reset: puts everything back; called in the app's context before each request and before each call.
    :param state: what is left behind, which must be the same; asked for in the app's context after each of them.
    :param stricter: tools that may refuse by themselves, by `access` or arguments, what their endpoints answer.
    :param without: tools that are not compared.
    :param ignoring: names of members of the data that differ each time, such as `created_at`.
    :return: how many calls were compared.
    :raises AssertionError: listing every disagreement; or what keeps the comparison from meaning anything: no tools, no
        calls, no users, a tool that nothing is said of, one that is refused to everybody.
    """
    __tracebackhide__ = True
    people = _named(app, users, token_of)
    client = MCPClient(app, server=server, token_of=token_of)
    compared = _Compared(app, client, token_of, reset, state, frozenset(stricter), frozenset(ignoring))
    tools = _endpoint_tools(app, server)
    wrong = list(_lacking(tools, calls, people, {*stricter, *without}, set(without)))
    chosen = [] if wrong else [name for name in tools if name not in without]
    for name in chosen:
        wrong += compared.faults(name, tools[name], calls[name], people)
    if wrong:
        lines = "\n".join(f"  - {each}" for each in dict.fromkeys(wrong))
        raise AssertionError(
            f"The tools of {app.name!r} and their endpoints do not agree, or were not compared:\n{lines}"
        )
    return len(people) * sum(len(calls[name]) for name in chosen)


class _Compared(NamedTuple):
    """How calls are made and compared."""

    app: Flask
    client: MCPClient
    token_of: Callable[[Any], str] | None
    reset: Callable[[], object] | None
    state: Callable[[], object] | None
    stricter: frozenset[str]
    ignoring: frozenset[str]

    def faults(
        self, name: str, operation: EndpointOperation, calls: Sequence[Arguments], people: Mapping[str, Any]
    ) -> Iterator[str]:
        """What is wrong with a tool, in all calls of all users."""
        differing = answered = False
        for person, user in people.items():
            for arguments in calls:
                fault, is_answered = self._tried(name, operation, arguments, user)
                answered = answered or is_answered
                if fault:
                    differing = True
                    yield f"{words_of(name, [], arguments)} as {person}: {fault}"
        if differing and self.reset is None and operation.route.method not in _READS:
            yield f"{name} may change something, and each call was made twice: give reset=."
        if not differing and not answered:
            yield f"{name} answers nobody, and its data was never compared: give it a call and a user that it answers."

    def _tried(self, name: str, operation: EndpointOperation, arguments: Arguments, user: Any) -> tuple[str, bool]:
        """How a call differs in its two ways, and whether both answered it."""
        app = self.app
        self._begin()
        sender = who(app, user, self.token_of)
        api, left = over_http(app, operation, arguments, sender), self._left()
        self._begin()
        tool, left_by_tool = by_tool(app, self.client.acting_as(user), name, operation, arguments), self._left()
        what = disagreement(api, tool, stricter=name in self.stricter, ignoring=self.ignoring)
        shown = api.told, tool.told
        if tool.told.startswith("HTTP 401") and sender.loader:
            what = f"the app's {sender.loader} does not find this user"
        elif not what and left != left_by_tool:
            what, shown = "something else is left behind", (repr(left), repr(left_by_tool))
        if what:
            what = "{}.\n      HTTP: {}\n      tool: {}".format(what, *(shortened(each, _SHOWN) for each in shown))
        return what, not (api.refused or tool.refused)

    def _begin(self) -> None:
        if self.reset is not None:
            in_app(self.app, self.reset)

    def _left(self) -> object:
        return None if self.state is None else in_app(self.app, self.state)


def _endpoint_tools(app: Flask, server: str | None) -> dict[str, EndpointOperation]:
    found = find(app, server)
    found.be_ready()
    declared = [tool.declaration for tool in found.catalogue.tools.items]
    return {tool.name: tool for tool in declared if isinstance(tool, EndpointOperation)}


def _named(
    app: Flask, users: Mapping[str, Any] | Iterable[Any], token_of: Callable[[Any], str] | None
) -> dict[str, Any]:
    if isinstance(users, Mapping):
        return dict(users)
    return {who(app, user, token_of).words: user for user in users}


def _lacking(
    tools: Mapping[str, EndpointOperation],
    calls: Calls,
    people: Mapping[str, Any],
    named: Collection[str],
    without: Collection[str],
) -> Iterator[str]:
    """Why nothing would be compared, or less than was meant to be."""
    if not people:
        yield "no users were given: give users=[None, ...], where None is a guest."
    if not tools.keys() - without:
        yield "there are no endpoint tools to compare: see endpoint_tool(), server= and without=."
    for name in tools:
        if name not in without and not calls.get(name):
            yield f"{name} has no calls: give it arguments to try, {{{name!r}: [{{...}}]}}, or name it in without=."
        if name in without and calls.get(name):
            yield f"{name} has calls, and is named in without=: take it out of one of them."
    for name in sorted({*calls, *named} - tools.keys()):
        yield f"{name!r} is no endpoint tool of this server: {meant(name, tools)}"
