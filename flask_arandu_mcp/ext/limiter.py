"""Rate limits of declarations, counted by the app's own Flask-Limiter, in its storage and by its strategy. The private
names of Flask-Limiter that are needed live here: how it names a caller, whom it exempts, and what it does while its
storage is down."""

from __future__ import annotations

import importlib.util
import time
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from flask import Flask, has_request_context, request

from ..errors import Failure, attempt
from ..identity import LOCAL

if TYPE_CHECKING:
    from flask_limiter import Limiter
    from limits import RateLimitItem
    from limits.strategies import RateLimiter

_EXTENSION = "limiter"


class NoLimiter(Exception):
    """Limits are declared, and nothing counts them."""


class Use(NamedTuple):
    """A use of a declaration.

    :ivar name: the declaration's kind and name, such as `tool/add`.
    :ivar limits: how often one subject may use it.
    :ivar round_: names a later round of one use, which is no other use the first time that it is seen.
    """

    name: str
    limits: str
    subject: Any
    round_: str = ""


def count(app: Flask, server: str, use: Use) -> str:
    """Count a use of a declaration; empty, or words that say when to come back, where it was one too many.

    :param server: what tells the server from the app's others.
    :raises Exception: where the storage is down, unless the app's limiter is told to do without.
    """
    limiter = _limiter(app)
    if limiter is None:
        fault = lacking(app)
        if fault:
            raise NoLimiter(fault)
        return ""
    if not limiter.enabled or (has_request_context() and any(exempts() for exempts in limiter._request_filters)):
        return ""
    seconds = _counted(limiter, server, use)
    if not seconds:
        return ""
    limits = " and ".join(map(str, _parsed(use.limits)))
    kind = use.name.partition("/")[0]
    return f"429 Too Many Requests: the limit of this {kind} is {limits}, try again in {in_seconds(seconds)}."


def lacking(app: Flask) -> str:
    """What an app lacks for limits to be counted; empty where it lacks nothing, or has switched limits off."""
    # A Limiter that is switched off leaves no more than this behind.
    if _limiter(app) is not None or not app.config.get("RATELIMIT_ENABLED", True):
        return ""
    install = "" if importlib.util.find_spec("flask_limiter") else "pip install 'flask-arandu-mcp[limiter]', and "
    return f"no Flask-Limiter of the app counts them: {install}give the app one, Limiter(get_remote_address, app=app)."


def retry_after(app: Flask) -> int:
    """In how many seconds the limit that the current request has broken lets it pass; 0 where it broke none."""
    limiter = _limiter(app)
    broken = limiter and limiter.current_limit
    return _until(broken.window[0]) if broken and broken.breached else 0


def in_seconds(seconds: int) -> str:
    """A number of seconds in words."""
    return f"{seconds} second{'' if seconds == 1 else 's'}"


def _limiter(app: Flask) -> Limiter | None:
    """The app's limiter; of several the one that was initialised first, so that all processes take the same."""
    limiters: set[Limiter] = app.extensions.get(_EXTENSION) or set()
    hooks = [getattr(hook, "__self__", None) for hook in app.before_request_funcs.get(None, ())]
    return min(limiters, key=lambda each: hooks.index(each) if each in hooks else len(hooks), default=None)


@lru_cache
def _parsed(limits: str) -> tuple[RateLimitItem, ...]:
    from limits import parse_many  # needed by those alone who declare limits

    return tuple(sorted(parse_many(limits)))


def _counted(limiter: Limiter, server: str, use: Use) -> int:
    """The seconds to wait, or 0; what a storage that is down means is said by the limiter's configuration."""
    seconds = attempt(lambda: _hit(limiter.limiter, use, _key(limiter, server, use)))
    if not isinstance(seconds, Failure):
        return seconds
    if limiter._in_memory_fallback_enabled and not limiter._storage_dead:
        limiter.logger.warning("Rate limit storage unreachable - falling back to in-memory storage")
        # Flask-Limiter looks from time to time, before a request, whether it is back.
        limiter._storage_dead = True
        return _counted(limiter, server, use)
    if limiter._swallow_errors:
        limiter.logger.error("Failed to rate limit. Swallowing error", exc_info=seconds.error)
        return 0
    raise seconds.error


def _hit(strategy: RateLimiter, use: Use, key: tuple[str, ...]) -> int:
    # Whoever sends the answers of one round again runs its handler again, which is another use.
    if use.round_ and all(strategy.hit(once, *key, use.round_) for once in _parsed("1/day")):
        return 0
    items = _parsed(use.limits)
    if all(strategy.hit(item, *key) for item in items):
        return 0
    # A longer limit may be used up too, and whoever came back at the end of the shorter would be told to go again.
    used_up = [item for item in items if not strategy.test(item, *key)]
    return max((_until(strategy.get_window_stats(item, *key)[0]) for item in used_up), default=1)


def _until(moment: float) -> int:
    return max(1, ceil(moment - time.time()))


def _key(limiter: Limiter, server: str, use: Use) -> tuple[str, ...]:
    """What a use is counted under. Quoted, as a name may hold what divides it, or what a storage does not take."""
    parts = (server, *use.name.split("/", 1), *_who(limiter, use.subject))
    prefix = (limiter._key_prefix,) if limiter._key_prefix else ()
    return (*prefix, *(quote(part, safe="@:") for part in parts))


def _who(limiter: Limiter, subject: Any) -> tuple[str, ...]:
    by_request = has_request_context()
    if by_request and LOCAL in request.environ:
        return ("local",)
    if getattr(subject, "is_authenticated", False):
        return ("user", str(subject.get_id()))
    if by_request:
        return ("guest", str(limiter._key_func() or request.remote_addr or "127.0.0.1"))
    return ("local",)
