"""Who may reach a declaration. One function asks the policy, for lists and for calls alike, so that what is hidden
cannot be called and what can be called is not hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from werkzeug.exceptions import Forbidden, NotFound

from .errors import Failure, attempt, let_go

Access: TypeAlias = Callable[[Any], bool]
"""A policy: it is given the subject, and answers True or False, or raises Forbidden or NotFound."""


class Guest:
    """Somebody who has not signed in, where no app says otherwise."""

    is_authenticated: Final = False
    is_active: Final = False
    is_anonymous: Final = True

    def get_id(self) -> None:
        """A guest has no id."""

    def __repr__(self) -> str:
        return "guest"


guest = Guest()
"""The subject to act as when nobody is signed in; `@mcp.local_subject` may return it."""


def public(subject: object) -> bool:
    """Let everybody in, guests too. What they get to see is still the service's decision."""
    return True


def signed_in(subject: object) -> bool:
    """Let in whoever is authenticated and active, in Flask-Login's words."""
    return bool(getattr(subject, "is_authenticated", False) and getattr(subject, "is_active", False))


class Decision:
    """What a policy said.

    :ivar admitted: the subject may see and use the declaration.
    :ivar concealed: the subject must not learn that it exists.
    :ivar words: what a refused caller is told.
    :ivar error: what the policy broke with, when it gave no answer at all.
    """

    __slots__ = ("admitted", "concealed", "error", "words")

    def __init__(
        self, admitted: bool = False, concealed: bool = False, words: str = "", error: Exception | None = None
    ) -> None:
        self.admitted = admitted
        self.concealed = concealed
        self.words = words
        self.error = error


ADMITTED = Decision(admitted=True)
CONCEALED = Decision(concealed=True)
FORBIDDEN_WORDS = "403 Forbidden: you may not use this."
REFUSED = Decision(words=FORBIDDEN_WORDS)
NOT_SIGNED_IN = Decision(words="403 Forbidden: sign in to use this.")


def decide(access: Access, subject: object) -> Decision:
    """Ask a policy about a subject. Only True lets in; an answer that is no bool is an error, and so refused."""
    if access is public:
        return ADMITTED
    answer = attempt(access, subject)
    if answer is True:
        return ADMITTED
    if answer is False:
        return NOT_SIGNED_IN if access is signed_in else REFUSED
    if not isinstance(answer, Failure):
        error = TypeError(f"the policy {word(access)!r} answered {type(answer).__name__}; it must answer a bool")
        return Decision(words=FORBIDDEN_WORDS, error=error)
    if isinstance(answer.error, NotFound):
        let_go(answer.error)
        return CONCEALED
    if isinstance(answer.error, Forbidden):
        said = let_go(answer.error).description
        words = f"403 Forbidden: {said}" if said and said != Forbidden.description else FORBIDDEN_WORDS
        return Decision(words=words)
    return Decision(words=FORBIDDEN_WORDS, error=answer.error)


def word(access: Access) -> str:
    """The name that a policy is listed under."""
    return getattr(access, "__name__", None) or type(access).__name__
