"""Count where a converter's schema and the loader disagree, and hold ours to the two lists of what is allowed."""

from __future__ import annotations

import random
import re
import warnings
import zlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

from marshmallow import Schema, fields

from flask_arandu_mcp.arguments import ArgumentFaults, Arguments
from flask_arandu_mcp.results import ResultFault, Results
from flask_arandu_mcp.schemas.hooks import hooks_of
from flask_arandu_mcp.schemas.values import Unsayable, dumped, loaded

from .catalogue import Entry
from .converters import CONVERTERS, Document
from .instances import by_fields, by_schema, mutated
from .judge import NO_SCHEMA, complaints, judge
from .lists import COERCED, LOOSE, coercion

SEED = 20260728
_FAILURES = (ArithmeticError, AttributeError, LookupError, NotImplementedError, RecursionError, TypeError, ValueError)


class Tally:
    """What was counted for one converter."""

    def __init__(self) -> None:
        self.refused = 0
        self.too_strict = 0
        self.unfit: list[str] = []
        self.raised: list[str] = []
        self.listed: Counter[str] = Counter()
        self.unlisted: list[str] = []
        self.astray = {"a": 0, "b": 0}


class Measurement:
    """All that is counted over the catalogue."""

    def __init__(self) -> None:
        self.tallies = {name: Tally() for name in CONVERTERS}
        self.instances = 0
        self.schemas = 0
        self.dumps: list[tuple[str, Document, object]] = []

    def broken(self) -> list[str]:
        """Say where ours breaks what must hold."""
        ours = self.tallies["ours"]
        return [
            *ours.unlisted,
            *(f"unfit: {each}" for each in ours.unfit),
            *(f"raised: {each}" for each in ours.raised),
        ]


def _loaded(arguments: Arguments, value: dict[str, object]) -> tuple[bool, object]:
    try:
        return True, arguments.load(value)
    except ArgumentFaults as refusal:
        return False, refusal.faults
    except TypeError as error:  # a validator that is handed what it was not made for
        return False, (f"{type(error).__name__}: {error}",)


def _path(fault: str) -> tuple[str, str]:
    found = re.match(r"([\w.\-]+): ", fault)
    return (found.group(1), fault[found.end() :]) if found else ("", fault)


def _loose(entry: Entry, fault: str) -> str | None:
    path, message = _path(fault)
    for allowed, reason in entry.loose.items():
        inside = path == allowed or path.startswith(f"{allowed}.") or not allowed
        if inside and re.search(LOOSE[reason].says, message):
            return reason
    return None


def _fields_on(schema: Schema, path: Iterable[object]) -> list[Any]:
    found: list[Any] = []
    guide: Any = schema
    for key in path:
        if isinstance(guide, fields.Nested) and not isinstance(guide, fields.Pluck):
            guide = guide.schema
        if isinstance(guide, Schema) and isinstance(key, str):
            named = {name if each.data_key is None else each.data_key: each for name, each in guide.load_fields.items()}
            guide = named.get(key)
        elif isinstance(guide, fields.Pluck):
            guide = guide.schema.fields[guide.field_name]
        elif isinstance(guide, fields.List):
            guide = guide.inner
        elif isinstance(guide, fields.Tuple) and isinstance(key, int):
            guide = guide.tuple_fields[key]
        elif isinstance(guide, fields.Mapping):
            guide = guide.value_field
        if isinstance(guide, fields.Field):
            found.append(guide)
    return found


def _is_spelling(field: Any, error: Any) -> bool:
    """Tell whether what the field makes of a value is valid where the value itself was not."""
    if isinstance(field, fields.Mapping | fields.Constant):
        return True
    fits = judge(error.schema, True).is_valid
    if isinstance(error.instance, str) and (number := _number(error.instance)) is not None and fits(number):
        return True
    try:
        usual = dumped(field, loaded(field, error.instance))
    except Unsayable:
        return False
    return bool(fits(usual)) or isinstance(usual, str)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _coerced(entry: Entry, error: Any) -> str | None:
    if any(hook.tag == "pre_load" for hook in hooks_of(entry.schema)):
        return "prepared"
    on = _fields_on(entry.schema, error.absolute_path)
    if not on or error.validator in ("additionalProperties", "required"):
        return None
    last = on[-1].schema.fields[on[-1].field_name] if isinstance(on[-1], fields.Pluck) else on[-1]
    reason = coercion(last, error.instance)
    return reason if reason is not None and _is_spelling(last, error) else None


class _Round:
    """Measure one entry of the catalogue."""

    def __init__(self, entry: Entry, whole: Measurement) -> None:
        self.entry = entry
        self.whole = whole
        self.dumped = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.arguments = Arguments(entry.schema, name=entry.name)
        self.documents = dict(self._documents())
        self.judges = {name: (judge(each, False), judge(each, True)) for name, each in self.documents.items()}
        try:
            self.results: Results | None = Results(entry.schema, name=entry.name)
        except ValueError:
            self.results = None

    def _documents(self) -> Iterable[tuple[str, Document]]:
        for name, convert in CONVERTERS.items():
            try:
                document = convert(self.entry.schema)
            except _FAILURES as error:
                self.whole.tallies[name].raised.append(f"{self.entry.name}: {type(error).__name__}")
                continue
            found = complaints(document)
            self.whole.tallies[name].unfit += [f"{self.entry.name}: {each}" for each in found[:1]]
            if not any(each.startswith(NO_SCHEMA) for each in found):
                yield name, document

    def look(self, value: dict[str, object]) -> None:
        self.whole.instances += 1
        accepted, found = _loaded(self.arguments, value)
        for name, (plain, asserting) in self.judges.items():
            try:
                if accepted and not asserting.is_valid(value):
                    self._too_strict(name, value)
                elif not accepted and plain.is_valid(value):
                    self._refused(name, value, found)
            except (re.error, LookupError, RecursionError):
                continue  # a schema that no client can use; it is counted as unfit
        if accepted:
            self._dump(found)

    def _refused(self, name: str, value: object, faults: Any) -> None:
        tally = self.whole.tallies[name]
        tally.refused += 1
        reasons = [_loose(self.entry, fault) for fault in faults]
        tally.listed.update(f"a: {reason}" for reason in dict.fromkeys(reasons) if reason)
        if None in reasons:
            tally.astray["a"] += 1
            tally.unlisted.append(f"a {self.entry.name}: {value!r} is valid by schema, but: {faults}")

    def _too_strict(self, name: str, value: object) -> None:
        tally = self.whole.tallies[name]
        tally.too_strict += 1
        errors = [(error, _coerced(self.entry, error)) for error in self.judges[name][1].iter_errors(value)]
        tally.listed.update(f"b: {reason}" for _, reason in errors if reason)
        for error, reason in errors:
            if reason is None:
                tally.astray["b"] += 1
                tally.unlisted.append(f"b {self.entry.name}: {value!r} is accepted, but by schema {error.message}")
                break

    def _dump(self, value: object) -> None:
        if self.results is None or self.results.output_schema is None:
            return
        try:
            dumped = self.results.dump(value)
        except (ResultFault, *_FAILURES):
            return  # what was loaded is not what this schema dumps, as with a NaN or a mapping's odd names
        self.dumped += 1
        if self.dumped <= 200:
            self.whole.dumps.append((self.entry.name, self.results.output_schema, dumped))


def measure(entries: list[Entry], per_schema: int) -> Measurement:
    """Measure every entry with so many values, a third each from our schema, from the fields, and mutated."""
    whole = Measurement()
    for entry in entries:
        whole.schemas += 1
        rng = random.Random(SEED + zlib.crc32(entry.name.encode()))
        turn = _Round(entry, whole)
        third = per_schema // 3
        drawn = by_schema(turn.documents["ours"], third, SEED) if "ours" in turn.documents else []
        made = list(by_fields(entry.schema, third, rng))
        seeds = [*drawn, *made] or [{}]
        changed = [mutated(rng.choice(seeds), rng) for _ in range(per_schema - len(drawn) - len(made))]
        for value in (*drawn, *made, *changed):
            turn.look(value)
    return whole


def table(whole: Measurement) -> str:
    """Write what was counted as the table of the docs."""
    lines = [
        f"{whole.schemas} schemas, {whole.instances} values, seed {SEED}",
        "",
        "| | valid by schema, refused by load | of these outside the list | accepted by load, invalid by schema "
        "| of these outside the list | unfit for a client | raises |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, tally in whole.tallies.items():
        disagreed = (tally.refused, tally.astray["a"], tally.too_strict, tally.astray["b"])
        lines.append(f"| {name} | {' | '.join(map(str, (*disagreed, len(tally.unfit), len(tally.raised))))} |")
    ours = whole.tallies["ours"]
    lines.append("")
    for letter, reasons in (("a", LOOSE), ("b", COERCED)):
        lines += [f"({letter})", ""]
        lines += [f"- {key}, {ours.listed[f'{letter}: {key}']} times: {reason.why}." for key, reason in reasons.items()]
        lines.append("")
    return "\n".join(lines)
