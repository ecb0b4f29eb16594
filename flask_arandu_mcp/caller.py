"""Who calls, and what is known of the way the call came. Transports and eras fill it in, and the door asks it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from .asking import Answers, WhyNot, never
from .grants import Ledger
from .host import Host, PlainHost
from .limits import ASK_TIMEOUT, MAX_RESULT
from .revisions import R_2026_07_28, Revision
from .typing import JSONObject


class Peer(NamedTuple):
    """What a client said of itself: the three facts that a handshake leaves behind.

    :ivar revision: what it speaks.
    :ivar client: its `name` and `version`; for display only, since nobody vouches for them.
    :ivar capabilities: what it can be asked for.
    """

    revision: Revision
    client: Mapping[str, Any] = {}
    capabilities: Mapping[str, Any] = {}


class Terms(NamedTuple):
    """On which terms a server is reached, as its operator set them.

    :ivar max_result: bytes of one result, at most.
    :ivar ask_timeout: seconds that a question stays open.
    :ivar page_size: declarations on one page of a list; None for a list in one page.
    :ivar open: whoever reaches the server may be a guest, so that what is the same for all may be shared.
    """

    max_result: int = MAX_RESULT
    open: bool = True
    ask_timeout: int = ASK_TIMEOUT
    page_size: int | None = None


NEWEST = Peer(R_2026_07_28)
DEFAULT_TERMS = Terms()


_MAKING = Lock()


class Caller:
    """Who calls, and what is known of the way the call came.

    :ivar subject: the app's own user, or a guest.
    :ivar host: the application around the server.
    :ivar revision: what the client speaks.
    :ivar meta: the message's `_meta`.
    :ivar ledger: what was granted in this call.
    :ivar scopes: what the caller's token was given; None where nothing limits them.
    :param answers: what was answered to the questions of this call so far.
    :ivar why_not: why a question cannot be asked.
    :ivar header: gives a header that repeats part of the message; None where there is none to agree with.
    :ivar log_level: the least serious log message that the client wants to be sent; None for none.
    """

    __slots__ = (
        "_answers",
        "header",
        "host",
        "ledger",
        "log_level",
        "meta",
        "peer",
        "revision",
        "scopes",
        "subject",
        "terms",
        "why_not",
    )

    def __init__(
        self,
        subject: Any,
        host: Host | None = None,
        peer: Peer = NEWEST,
        *,
        meta: JSONObject | None = None,
        terms: Terms = DEFAULT_TERMS,
        scopes: frozenset[str] | None = None,
        answers: Answers | None = None,
        why_not: WhyNot = never,
        log_level: str | None = None,
        header: Callable[[str], str | None] | None = None,
    ) -> None:
        self.subject = subject
        self.host: Host = host or PlainHost()
        self.peer = peer
        self.revision = peer.revision
        self.meta = meta or {}
        self.terms = terms
        self.ledger = Ledger()
        self.scopes = scopes
        self._answers = answers
        self.why_not = why_not
        self.log_level = log_level
        self.header = header

    @property
    def answers(self) -> Answers:
        """What was answered to the questions of this call so far."""
        with _MAKING:  # a handler's threads may ask at the same time
            if self._answers is None:
                self._answers = Answers()
            return self._answers

    def bring(self, answers: Answers) -> None:
        """Take in the answers that a call brought with it."""
        self._answers = answers

    def attempt(self) -> str:
        """The id that is the same in all rounds of this call."""
        return self.answers.attempt()
