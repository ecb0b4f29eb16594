"""Read each of marshmallow's validators as JSON Schema, or as words where JSON Schema has none. A schema may be
looser than the app that stands behind it, and must never be stricter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from marshmallow import fields, validate

from ..typing import JSONObject
from .bounds import bounds
from .merge import choice
from .patterns import translated
from .shapes import Kind
from .text import Text
from .values import Unsayable, canonical


class Subject(NamedTuple):
    """What a validator is asked of: the field, the schema that it has so far, and the kind of value it loads."""

    field: fields.Field[Any]
    schema: JSONObject
    kind: Kind


class Said(NamedTuple):
    """What a validator means: keywords to hold beside the others, and what only words can say."""

    schema: JSONObject
    words: tuple[object, ...] = ()


Reader: TypeAlias = Callable[[Any, Subject], Said]
"""Reads one class of validators; raises `Unsayable` where JSON Schema has no words for it."""

_SIZES = {
    "text": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def _range(validator: validate.Range, subject: Subject) -> Said:
    if subject.kind == "any":
        return Said({"type": "number", **bounds(validator, subject.field)})
    if subject.schema.get("type") not in ("integer", "number"):
        raise Unsayable
    return Said(bounds(validator, subject.field))


def _length(validator: validate.Length, subject: Subject) -> Said:
    low = validator.min if validator.equal is None else validator.equal
    high = validator.max if validator.equal is None else validator.equal
    if subject.kind == "any":
        names = list(_SIZES.values())
    elif subject.kind in _SIZES:
        names = [_SIZES[subject.kind]]
    else:
        raise Unsayable
    said: JSONObject = {} if subject.kind != "any" else {"type": ["string", "array", "object"], "items": {}}
    for least, most in names:
        said |= {least: low} if low is not None else {}
        said |= {most: high} if high is not None else {}
    return Said(said)


def _listed(values: object, field: fields.Field[Any]) -> list[object]:
    # `in` on a str finds parts of it, which no list of values says.
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise Unsayable
    found = []
    for value in values:
        try:
            found.append(canonical(field, value))
        except Unsayable:
            continue  # the field never loads it, so it is no choice
    return found


def _labels(validator: validate.OneOf) -> tuple[object, ...]:
    named = zip(validator.choices, validator.labels, strict=False)
    said = [(value, label) for value, label in named if value != label]
    pairs = _Pairs(*said)
    return (str(pairs) if all(isinstance(label, str) for _, label in said) else pairs,) if said else ()


class _Pairs(Text):
    """Say what each choice is called, in the language of whoever asks."""

    def __str__(self) -> str:
        return "; ".join(f"{pair[0]}: {pair[1]}" for pair in self.parts if isinstance(pair, tuple))


def _one_of(validator: validate.OneOf, subject: Subject) -> Said:
    return Said(choice(_listed(validator.choices, subject.field)), _labels(validator))


def _equal(validator: validate.Equal, subject: Subject) -> Said:
    return Said({"const": canonical(subject.field, validator.comparable)})


def _none_of(validator: validate.NoneOf, subject: Subject) -> Said:
    barred = [value for value in _listed(validator.iterable, subject.field) if value is not None]
    words = _barred(validator) if subject.kind == "other" else ()
    return Said({"not": {"enum": barred}} if barred else {}, words)


def _barred(validator: validate.NoneOf) -> tuple[object, ...]:
    return (f"None of: {validator.values_text}",) if validator.values_text else ()


def _element(subject: Subject) -> fields.Field[Any]:
    if not isinstance(subject.field, fields.List):
        raise Unsayable
    inner: fields.Field[Any] = subject.field.inner
    return inner


def _contains_only(validator: validate.ContainsOnly, subject: Subject) -> Said:
    allowed = _listed(validator.choices, _element(subject))
    if not allowed:
        return Said({"maxItems": 0})
    return Said({"items": {"enum": allowed}}, _labels(validator))


def _contains_none_of(validator: validate.ContainsNoneOf, subject: Subject) -> Said:
    inner = _element(subject)
    barred = [value for value in _listed(validator.iterable, inner) if value is not None]
    words = () if isinstance(inner, fields.String | fields.Number) else _barred(validator)
    return Said({"items": {"not": {"enum": barred}}} if barred else {}, words)


def _regexp(validator: validate.Regexp, subject: Subject) -> Said:
    pattern = translated(validator.regex) if subject.kind in ("text", "any") else None
    if pattern is None:
        raise Unsayable
    return Said({"type": "string", "pattern": pattern})


def _email(validator: validate.Email, subject: Subject) -> Said:
    return Said({"format": "email"}, ("An email address",))


def _url(validator: validate.URL, subject: Subject) -> Said:
    schemes = sorted(validator.schemes)
    named = ", ".join(schemes[:-1]) + f" or {schemes[-1]}" if len(schemes) > 1 else schemes[0]
    if getattr(validator, "absolute", True) and not validator.relative:
        return Said({"format": "uri"}, (f"A URL that begins with {named}://",))
    words = "A URL, which may be relative" if getattr(validator, "absolute", True) else "A relative URL"
    return Said({"format": "uri-reference"}, (words,))


VALIDATORS: MappingProxyType[type[object], Reader] = MappingProxyType(
    {
        validate.Range: _range,
        validate.Length: _length,
        validate.OneOf: _one_of,
        validate.Equal: _equal,
        validate.NoneOf: _none_of,
        validate.ContainsOnly: _contains_only,
        validate.ContainsNoneOf: _contains_none_of,
        validate.Regexp: _regexp,
        validate.Email: _email,
        validate.URL: _url,
    }
)
"""What reads each class of validators."""


def unfolded(validators: Iterable[object]) -> list[object]:
    """List validators with each And opened into those that it joins."""
    found: list[object] = []
    for validator in validators:
        inner = unfolded(validator.validators) if type(validator) is validate.And else [validator]
        found += inner
    return found


def _reader(validator: object) -> Reader | None:
    # A subclass that checks in its own way means something else than what it inherits from.
    for kind in type(validator).__mro__:
        if kind in VALIDATORS:
            return VALIDATORS[kind]
        if "__call__" in vars(kind):
            return None
    return None


def constrain(validator: object, subject: Subject) -> Said:
    """Say what a validator means for a field, in keywords, in words, or in both."""
    reader = _reader(validator)
    if reader is None:
        return Said({}, (spoken(validator),))
    try:
        return reader(validator, subject)
    except Unsayable:
        return Said({}, (_worded(validator),))


def _worded(validator: object) -> object:
    error = getattr(validator, "error", None)
    if error and error != getattr(validator, "default_message", None) and "{" not in str(error):
        return error
    if isinstance(validator, validate.Range):
        ends = [
            ("at least", validator.min, validator.min_inclusive),
            ("at most", validator.max, validator.max_inclusive),
        ]
        said = [f"{word if whole else word + ' but not'} {end}" for word, end, whole in ends if end is not None]
        return f"Must be {' and '.join(said)}"
    if isinstance(validator, validate.Length):
        low, high = (validator.min, validator.max) if validator.equal is None else (validator.equal, validator.equal)
        return f"Its length must be {low or 0} to {'any' if high is None else high}"
    if isinstance(validator, validate.Regexp):
        return f"Must match Python's regular expression {validator.regex.pattern!r}"
    if isinstance(validator, validate.OneOf):
        return f"Must be one of: {validator.choices_text}"
    if isinstance(validator, validate.NoneOf):
        return f"None of: {validator.values_text}"
    if isinstance(validator, validate.Equal):
        return f"Must equal {validator.comparable}"
    return spoken(validator)


def spoken(checker: object) -> str:
    """Say in words that the app's own code looks at a value: what it says of itself, or what it is called."""
    own = checker if hasattr(checker, "__name__") else type(checker)
    doc = getattr(own, "__doc__", None)
    if doc and not str(getattr(own, "__module__", "")).startswith("marshmallow"):
        return f"Checked further: {str(doc).strip().splitlines()[0]}"
    name = str(getattr(own, "__name__", "")).strip("_")
    return "Checked further by the application" + (f" ({name})" if name and "<" not in name else "")
