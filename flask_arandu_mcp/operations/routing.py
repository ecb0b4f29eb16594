"""One endpoint with one method, as the app's URL map knows it: its rules, their variables and its view. Nothing is
called here, and nothing is known of a request."""

from __future__ import annotations

import inspect
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from werkzeug.routing import (
    AnyConverter,
    BaseConverter,
    FloatConverter,
    IntegerConverter,
    Map,
    PathConverter,
    Rule,
    UnicodeConverter,
    UUIDConverter,
)
from werkzeug.routing.converters import NumberConverter

from ..typing import JSONObject

_AUTOMATIC = frozenset({"HEAD", "OPTIONS"})
_PLAIN: tuple[type[BaseConverter], ...] = (
    UnicodeConverter,
    PathConverter,
    AnyConverter,
    IntegerConverter,
    FloatConverter,
    UUIDConverter,
)


class Route(NamedTuple):
    """An endpoint with a method.

    :ivar rules: those of its rules that take the method.
    :ivar view: the function that answers, decorators and all; of a class, the method's own.
    :ivar filled: functions of the app may fill in variables of the path.
    """

    endpoint: str
    method: str
    rules: tuple[Rule, ...]
    view: Callable[..., Any]
    filled: bool = False

    @property
    def variables(self) -> Mapping[str, BaseConverter]:
        """The variables of the path by their names, and what converts each."""
        return {name: converter for rule in self.rules for name, converter in _converters(rule).items()}

    @property
    def required(self) -> frozenset[str]:
        """The variables without which no address can be built."""
        if self.filled:
            return frozenset()
        needed = [set(_converters(rule)) - set(rule.defaults or ()) for rule in self.rules]
        return frozenset(set.intersection(*needed)) if needed else frozenset()


def methods_of(rules: Iterable[Rule]) -> list[str]:
    """The methods that rules take, without those that every rule takes by itself."""
    return sorted({method for rule in rules for method in rule.methods or ()} - _AUTOMATIC)


def rules_of(url_map: Map, endpoint: str) -> list[Rule]:
    """The rules of an endpoint that lead to its view."""
    found = url_map.iter_rules(endpoint) if endpoint in url_map._rules_by_endpoint else iter(())
    return [rule for rule in found if not (rule.build_only or rule.websocket or rule.redirect_to or rule.alias)]


def view_of(view: Callable[..., Any], method: str) -> Callable[..., Any]:
    """The function that answers a method: of a class-based view, its method of that name."""
    kind = getattr(view, "view_class", None)
    own = getattr(kind, method.lower(), None) or (getattr(kind, "get", None) if method == "HEAD" else None)
    return own if callable(own) else view


def chain_of(view: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """A function, and what it was wrapped around, from the outside in."""
    seen: set[int] = set()
    current: Any = view
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = getattr(current, "__wrapped__", None)


def words_of(view: Callable[..., Any]) -> str:
    """The docstring of a view, up to a line of dashes, below which some libraries keep YAML."""
    text = inspect.cleandoc(getattr(view, "__doc__", None) or "")
    return text.partition("\n---")[0].strip() if not text.startswith("---") else ""


def schema_of(converter: BaseConverter) -> JSONObject:
    """What a converter takes, as JSON Schema."""
    if isinstance(converter, NumberConverter):
        number: JSONObject = {"type": "integer" if isinstance(converter, IntegerConverter) else "number"}
        least = converter.min if converter.min is not None or converter.signed else 0
        bounds = {"minimum": least, "maximum": converter.max}
        return number | {word: bound for word, bound in bounds.items() if bound is not None}
    if isinstance(converter, UUIDConverter):
        return {"type": "string", "format": "uuid"}
    if isinstance(converter, AnyConverter):
        return {"type": "string", "enum": sorted(converter.items)}
    return {"type": "string", "minLength": 1}


def from_json(converter: BaseConverter, value: object) -> Any:
    """A value of the path, as its converter makes a URL of it.

    A converter of the app's own is given what stands in a URL, since nobody knows what else it takes.

    :raises ValueError: for what cannot stand in a path.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("must be text or a number")
    if type(converter) is UUIDConverter:
        return uuid.UUID(str(value))  # which is written in small letters, as the converter writes it
    if type(converter) in _PLAIN:
        return value
    return converter.to_python(str(value))


def _converters(rule: Rule) -> Mapping[str, BaseConverter]:
    # werkzeug has no public name for them.
    return rule._converters
