"""Dump a value, asking only those fields that have something to change, and check it against the schema that was shown
in the same go. marshmallow would dump just the same at several times the price, and checks nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from marshmallow import Schema, fields, missing

from ..typing import JSONObject
from .conform import Check, Members, conforming, members_of
from .native import is_plain, native_kind
from .nesting import is_many, schema_of, sent_name, signature
from .plain import ResultFault

Dump: TypeAlias = Callable[[Any], Any]
"""Gives what the schema's `dump` would give, and raises what it would raise."""

_DumpObject: TypeAlias = Callable[[Any], dict[str, object]]

_Known: TypeAlias = dict[Hashable, "Dump | None"]
"""What dumps one object of each schema that was met; None where that is not known, and while it is compiled."""

_METHODS = ("dump", "_serialize", "get_attribute", "dict_class")
_HOOKS = frozenset({"pre_dump", "post_dump"})


class _Step(NamedTuple):
    key: str
    name: str
    serialize: Callable[..., Any]
    """The field's own, for a value that is missing and a field that is not known."""
    source: str
    kind: type | None
    """The type whose values go out as they are; None where there is none."""
    write: Dump | None
    """Gives what the field would for a value that it was handed; None for a field that is not known."""


def dumper(schema: Schema, shown: JSONObject) -> Dump:
    """Compile what dumps a value as a schema does, and raises `ResultFault` for what breaks what was shown."""
    members = members_of(shown) if is_plain(schema, _METHODS, _HOOKS) else None
    if members is None:
        check, unchecked = conforming(shown), native_dump(schema)
        return lambda value: check(_solid(schema, value, unchecked(value)))
    return _checking(schema, members)


def _checking(schema: Schema, members: Members) -> Dump:
    dump, required = _object(schema, {}, members), frozenset(members.required)

    def finish(value: Any, made: dict[str, object]) -> None:
        if not made:
            _refuse_empty(schema, value)
        members.check_names(made)

    def one(value: Any) -> dict[str, object]:
        made = dump(value)
        finish(value, made)
        return made

    def each(values: Any) -> list[object]:
        made: list[object] = []
        try:
            for value in values:
                row = dump(value)
                if not row or not required <= row.keys():
                    finish(value, row)
                made.append(row)
        except ResultFault as fault:
            raise fault.inside(str(len(made))) from None
        return made

    return each if schema.many else one


def _solid(schema: Schema, value: object, dumped: object) -> object:
    pairs = [(value, dumped)]
    if schema.many and isinstance(value, Sequence) and isinstance(dumped, list):
        pairs = list(zip(value, dumped, strict=False))
    for given, made in pairs:
        if made == {}:
            _refuse_empty(schema, given)
    return dumped


def _refuse_empty(schema: Schema, value: object) -> None:
    """Refuse an object that has nothing of what its schema names, which marshmallow dumps as an empty one."""
    if schema.dump_fields and not isinstance(value, Mapping):
        raise ResultFault(
            f"a {type(value).__name__} has none of the fields of {type(schema).__name__}; give back what has them"
        )


def native_dump(schema: Schema) -> Dump:
    """Compile what dumps a value as a schema does; of which nothing is known, that is the schema's own method."""
    dump = _of_schema(schema, {})
    if dump is None:
        return schema.dump
    return _objects(dump) if schema.many else dump


def _of_schema(schema: Schema, known: _Known) -> Dump | None:
    key = signature(schema, None, schema.unknown)
    if key not in known:
        known[key] = None
        if is_plain(schema, _METHODS, _HOOKS):
            known[key] = _object(schema, known)
    return known[key]


def _object(schema: Schema, known: _Known, members: Members | None = None) -> _DumpObject:
    """What dumps one object, and checks its members, which is seldom more than a look at the types of their values."""
    steps = [_step(name, field, known) for name, field in schema.dump_fields.items()]
    accessor = schema.get_attribute
    ways = [(s.key, s.name, s.serialize, s.source, s.kind, s.write, *_rule(s, members)) for s in steps]

    def dump(value: Any) -> dict[str, object]:
        get = value.get if type(value) is dict else _getter(value, accessor)
        result: dict[str, object] = {}
        for key, name, serialize, source, kind, write, fits, check in ways:
            made = missing if write is None else get(source, missing)
            if type(made) is not kind:
                if made is missing:
                    made = serialize(name, value, accessor=accessor)
                    if made is missing:
                        continue
                elif made is not None and write is not None:
                    made = write(made)
                made = _inside(key, check, made)
            elif not fits or (kind is str and not made.isascii()):  # type: ignore[attr-defined]  # then it is a str
                made = _inside(key, check, made)
            result[key] = made
        return result

    return dump


def _rule(step: _Step, members: Members | None) -> tuple[bool, Check]:
    """Whether values of a field's own type fit as they are, and what checks all others."""
    if members is None:
        return True, lambda value: value
    return step.kind in members.natives.get(step.key, ()), members.checks.get(step.key, members.rest)


def _getter(value: Any, accessor: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the values of an object by their names, as marshmallow finds them."""
    return partial(accessor if hasattr(value, "__getitem__") else getattr, value)


def _inside(key: str, check: Check, value: object) -> object:
    try:
        return check(value)
    except ResultFault as fault:
        raise fault.inside(key) from None


def _step(name: str, field: fields.Field[Any], known: _Known) -> _Step:
    source = name if field.attribute is None else field.attribute
    write = None if "." in source else _writer(field, known)
    return _Step(sent_name(name, field), name, field.serialize, source, native_kind(field), write)


def _writer(field: fields.Field[Any], known: _Known) -> Dump | None:
    if type(field) is fields.List:
        inner = _writer(field.inner, known)
        return None if inner is None else _items(native_kind(field.inner), inner)
    if type(field) is fields.Nested:
        inner = _of_schema(schema_of(field), known)
        return _objects(inner) if inner is not None and is_many(field) else inner
    if native_kind(field) is None or getattr(field, "as_string", False):
        return None
    # marshmallow's own fields, which look at neither the name nor the object.
    return partial(field._serialize, attr=None, obj=None)


def _objects(dump: Dump) -> Dump:
    return lambda values: [dump(value) for value in values]


def _items(kind: type | None, write: Dump) -> Dump:
    return lambda values: [value if type(value) is kind or value is None else write(value) for value in values]
