"""Make the values that are measured: drawn from our schema, made by the fields, and mutated from both. The same
seed gives the same values.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import hypothesis
from marshmallow import Schema, fields, validate

from .strategies import Drawer

JUNK: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 3, 7, 3.0, 3.7, -0.5, 0.004, 1e6, 99999999999, 10**20, 1e300, "", "a", "b", "x", "ab",
    "aa", "abc", "abcd", "red", "RED", "green", "3", " 3 ", "3.5", "1_000", "-1", "yes", "off", "ja", "null", "abc\n",
    "é", "٣", "2024-01-01", "20240101", "2024-01-01T10:00:00", "2024-01-01T10:00:00Z", "2024-01-01 10:00:00+01:00",
    "10:00:00", "01/02/2024", "31.12.2024", "2024/12/31 10:00", "Tue, 31 Dec 2024 23:59:58 +0100", "me@example.org",
    "me@localhost", "http://example.org/a?b", "https://localhost", "/a/b", "ftp://é.org", "1.2.3.4", "::1",
    "1.2.3.4/24", "00000000-0000-0000-0000-000000000001", "00000000000000000000000000000001",
    "S", "1999", "a-b", "A!", "aB1",
    [], [1], [1, 2], ["a"], ["z"], [None], [1.5, 2.0], [[True]], [{}], {}, {"a": 1},
    {"city": "x"}, {"city": "x", "zip": 1},
    {"1": "a"}, {" 2 ": "b"}, {"red": 1}, {"name": "n"}, {"name": "n", "kids": []}, {"title": "t"},
)  # fmt: skip

_POOLS: tuple[tuple[type[object], tuple[object, ...]], ...] = (
    (fields.Integer, (0, 1, 2, 3, 5, 9, 10, 3.0, -4, "3", 2**60)),
    (fields.Number, (0, 1, 0.5, 0.25, 1.5, "2.5", 0.01, 0.006, 12.345, 1e20)),
    (fields.Boolean, (True, False, "yes", "ja", "nein", 0)),
    (fields.Date, ("2024-01-01", "2024-12-31", "31.12.2024", "31/12/2024", "2023-02-29")),
    (fields.Time, ("10:00:00", "23:59:58.5")),
    (fields.DateTime, ("2024-01-01T10:00:00", "2024-01-01T10:00:00+02:00", 0, 1.5, 1e9, -1,
                       253402300800, "2024/12/31 10:00")),
    (fields.TimeDelta, (0, 1, 1.5, -3, 86399999999999, 10**14, 999999999, 1e9)),
    (fields.UUID, ("00000000-0000-0000-0000-000000000001",)),
    (fields.IPv4, ("1.2.3.4",)),
    (fields.IP, ("::1", "1.2.3.4")),
    (fields.IPInterface, ("::1/64", "1.2.3.4/24")),
    (fields.Email, ("me@example.org",)),
    (fields.Url, ("http://example.org", "/a")),
    (fields.Enum, ("red", "green", 1, 2, "S", "L", "2024-01-01")),
    (fields.Constant, (3, "post")),
    (fields.Mapping, ({}, {"a": 1}, {" 2 ": "x"}, {"1": "x", "2": "y"}, {"abcd": 1.5})),
    (fields.String, ("", "a", "b", "x", "abc", "aab", "red", "Green", "a-b1", "A1", "bb", "1999", "12é", "https://example.org")),
    (fields.Field, ("x", 1, [1, 2], ["a", "b"], {"a": 1}, "1234", True)),
)  # fmt: skip


def _choices(field: Any) -> list[object]:
    found: list[object] = []
    for validator in field.validators:
        if isinstance(validator, validate.OneOf):
            found += [value for value in validator.choices if isinstance(value, str | int | float)]
        if isinstance(validator, validate.Range):
            found += [value for value in (validator.min, validator.max) if isinstance(value, int | float)]
        if isinstance(validator, validate.Length):
            found += ["a" * size for size in (validator.min, validator.max, validator.equal) if size is not None]
    return found


def _of(field: Any, rng: random.Random, depth: int) -> object:
    if field.allow_none and rng.random() < 0.2:
        return None
    if isinstance(field, fields.Pluck):
        return _of(field.schema.fields[field.field_name], rng, depth)
    if isinstance(field, fields.Nested):
        several = field.many or field.schema.many
        made = [_object(field.schema, rng, depth - 1) for _ in range(rng.randint(0, 2) if several else 1)]
        return made if several else made[0]
    if isinstance(field, fields.List):
        return [_of(field.inner, rng, depth - 1) for _ in range(rng.choice((0, 1, 2, 3)) if depth > 0 else 0)]
    if isinstance(field, fields.Tuple):
        return [_of(inner, rng, depth - 1) for inner in field.tuple_fields]
    if isinstance(field, fields.Mapping) and field.value_field is not None:
        return {
            rng.choice(("1", "a", "red", "-2", "+3", "abcd")): _of(field.value_field, rng, depth - 1) for _ in range(2)
        }
    pool = next(values for kind, values in _POOLS if isinstance(field, kind))
    return copy.deepcopy(rng.choice([*pool, *_choices(field)]))


def _object(schema: Schema, rng: random.Random, depth: int = 4) -> dict[str, object]:
    made = {}
    for name, field in schema.load_fields.items():
        if field.required or (rng.random() < 0.7 and depth > 0):
            made[name if field.data_key is None else field.data_key] = _of(field, rng, depth)
    return made


def by_fields(schema: Schema, count: int, rng: random.Random) -> Iterator[dict[str, object]]:
    """Make values as the fields of a schema suggest, right and nearly right."""
    return (_object(schema, rng) for _ in range(count))


def by_schema(document: dict[str, Any], count: int, seed: int) -> list[dict[str, object]]:
    """Draw values that are valid by a JSON Schema."""
    found: list[dict[str, object]] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck.__members__.values()),
    )
    @hypothesis.given(Drawer(document).of(document))
    def draw(value: dict[str, object]) -> None:
        found.append(copy.deepcopy(value))

    draw()
    return found


def _places(value: object) -> list[tuple[Any, Any]]:
    """List each place inside a value, as the container that it is in and its key there."""
    found: list[tuple[Any, Any]] = []
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        found += [(value, key), *_places(below)]
    return found


def _nudged(value: object, rng: random.Random) -> object:
    if isinstance(value, str):
        return rng.choice((value + "\n", value[:-1], value + "a", value.upper(), f" {value}", f"x{value}", value * 2))
    if isinstance(value, int | float) and not isinstance(value, bool):
        return rng.choice(
            (value + 1, value - 1, -value, str(value), value + 0.5 if abs(value) < 1e15 else value, bool(value))
        )
    return rng.choice(JUNK)


def mutated(value: dict[str, object], rng: random.Random) -> dict[str, object]:
    """Change one thing in a copy of a value."""
    made = copy.deepcopy(value)
    kind = rng.random()
    if kind < 0.1:
        made[rng.choice(("zzz", "name", "id"))] = rng.choice(JUNK)
    elif kind < 0.2 and made:
        del made[rng.choice(list(made))]
    elif places := _places(made):
        container, key = rng.choice(places)
        container[key] = copy.deepcopy(rng.choice(JUNK)) if kind < 0.7 else _nudged(container[key], rng)
    return made
