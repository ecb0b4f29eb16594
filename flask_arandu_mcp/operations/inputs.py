"""What an endpoint takes, put together: the variables of its path, the schemas found on its view or declared in their
place, and where each argument goes. What the app will check anyway is shown here and not checked twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from marshmallow import Schema

from ..arguments import ArgumentFaults, Arguments, ArgumentsDeclaration
from ..declarations.base import Rules
from ..schemas.shown import Shown
from ..typing import JSONObject
from .found import Input
from .placement import PLACES, Field, Placement
from .routing import Route, schema_of

Places: TypeAlias = "Mapping[str, str | Sequence[str]]"
"""Where arguments go that must not go where they would."""

_WITHOUT_BODY = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})
_BODIES = ("json", "form")
_UPLOAD = "it takes an upload, and a tool's arguments are JSON: make no tool of it, or a view that takes text."


class Taken(NamedTuple):
    """What an endpoint takes.

    :ivar faults: what is wrong with it: the rule, and the way out.
    :ivar has_schema: something says what the body or the query may hold.
    """

    shown: Shown
    placement: Placement
    faults: Sequence[str]
    has_schema: bool


class _Section(NamedTuple):
    """What one place of the request may hold."""

    place: str
    properties: JSONObject
    required: frozenset[str]
    delimiters: Mapping[str, str]
    open: bool
    definitions: JSONObject


class _Merged:
    """Sections, made the arguments of one tool."""

    def __init__(self, chosen: Mapping[str, tuple[str, ...]]) -> None:
        self._chosen = chosen
        self._properties: JSONObject = {}
        self._required: dict[str, None] = {}
        self._definitions: JSONObject = {}
        self.fields: dict[str, Field] = {}
        self.open_place = ""
        self.faults: list[str] = []

    def add(self, section: _Section) -> None:
        """Take in a section."""
        for name, said in section.properties.items():
            places = self._chosen.get(name)
            if name not in self.fields:
                self.fields[name] = Field(places or (section.place,), section.delimiters.get(name))
                self._properties[name] = said
                self._required |= dict.fromkeys(section.required & {name})
            elif places is None:
                both = [self.fields[name].places[0], section.place]
                self.faults.append(
                    f"{name!r} is in its {both[0]} and in its {both[1]}, and a tool has one argument of a name: say "
                    f"where it goes, place={{{name!r}: {both[0]!r}}}, or {both} for both."
                )
        if section.open:
            self.open_place = section.place
        for name, body in section.definitions.items():
            if self._definitions.setdefault(name, body) != body:
                self.faults.append(f"two of its schemas define {name!r} differently: say arguments= in their place.")

    def schema(self) -> JSONObject:
        """The object that holds all of it."""
        schema: JSONObject = {"type": "object", "properties": self._properties}
        if self._required:
            schema["required"] = list(self._required)
        if self._definitions:
            schema["$defs"] = self._definitions
        return {**schema, "additionalProperties": bool(self.open_place)}

    def placement(self, usual: str) -> Placement:
        """Where each argument goes."""
        used = {place for field in self.fields.values() for place in field.places} | {self.open_place}
        sends = next((place for place in _BODIES if place in used), "")
        return Placement(self.fields, rest=self.open_place or usual, sends=sends)


def inputs_of(
    route: Route, found: Sequence[Input], declared: ArgumentsDeclaration, places: Places, rules: Rules
) -> Taken:
    """Put together what an endpoint takes.

    :param declared: in the place of what was found.
    :raises ConversionError: for a schema that no client can be shown.
    """
    name = f"endpoint {route.endpoint!r}"
    chosen = {key: (place,) if isinstance(place, str) else tuple(place) for key, place in places.items()}
    usual = next((each.place for each in found if each.place in _BODIES), "json")
    usual = "query" if route.method in _WITHOUT_BODY and usual == "json" else usual
    merged = _Merged(chosen)
    checked = None
    if declared is not None:
        checked = Arguments(declared, name=name, table=rules.fields)
        sections = list(_declared(route, checked, usual))
    else:
        if any(each.place == "files" for each in found):
            merged.faults.append(_UPLOAD)
        ours = [each for each in found if each.place != "files"]
        converted = [(each, Arguments(each.schema, name=name, table=rules.fields)) for each in ours]
        sections = list(_found(route, converted))
        merged.faults += _impossible(converted)
    for section in sections:
        merged.add(section)
    merged.faults += _misplaced(merged.fields, chosen, route)
    merged.faults += _two_bodies(merged.fields)
    has_schema = checked is not None or any(each.place != "path" for each in found)
    shown = _shown(merged.schema(), checked, route)
    return Taken(shown, merged.placement(usual), merged.faults, has_schema)


def _declared(route: Route, checked: Arguments, usual: str) -> Iterator[_Section]:
    """The path, as the author describes it where they do, and what else they declared."""
    schema = _section(usual, checked)
    path = {name: schema.properties.get(name, schema_of(each)) for name, each in route.variables.items()}
    yield _path(path, route.required | (schema.required & path.keys()))
    rest = {name: said for name, said in schema.properties.items() if name not in path}
    yield schema._replace(properties=rest)


def _found(route: Route, converted: Iterable[tuple[Input, Arguments]]) -> Iterator[_Section]:
    path: JSONObject = {name: schema_of(each) for name, each in route.variables.items()}
    sections = [_section(each.place, arguments) for each, arguments in converted]
    for section in sections:
        if section.place == "path":
            path |= {name: said for name, said in section.properties.items() if name in path}
    yield _path(path, route.required)
    yield from (section for section in sections if section.place in PLACES and section.place != "path")


def _path(variables: JSONObject, required: frozenset[str]) -> _Section:
    return _Section("path", variables, required, {}, False, {})


def _section(place: str, arguments: Arguments) -> _Section:
    properties, definitions = (arguments.input_schema.get(word) for word in ("properties", "$defs"))
    required = frozenset(field.key for field in arguments.fields if field.required)
    return _Section(
        place,
        properties if isinstance(properties, dict) else {},
        required,
        _delimiters(arguments.schema),
        arguments.include,
        definitions if isinstance(definitions, dict) else {},
    )


def _delimiters(schema: Schema | None) -> dict[str, str]:
    """What webargs' DelimitedList joins its values with."""
    fields: Mapping[str, Any] = schema.load_fields if schema is not None else {}
    found = {field.data_key or name: getattr(field, "delimiter", None) for name, field in fields.items()}
    return {name: delimiter for name, delimiter in found.items() if isinstance(delimiter, str)}


def _impossible(converted: Iterable[tuple[Input, Arguments]]) -> Iterator[str]:
    """What a view wants that no tool can send."""
    for each, arguments in converted:
        for field in arguments.fields if each.place not in PLACES else ():
            if field.required:
                yield (
                    f"it needs {field.key!r} in its {each.place}, where a tool sends nothing of the model's: make it "
                    "optional there."
                )


def _misplaced(fields: Mapping[str, Field], chosen: Mapping[str, tuple[str, ...]], route: Route) -> Iterator[str]:
    for name, places in chosen.items():
        wrong = [place for place in places if place not in PLACES]
        if wrong:
            yield f"place sends {name!r} to {wrong[0]!r}: write one of {', '.join(PLACES)}."
        elif name not in fields:
            yield f"place names {name!r}, which is none of its arguments: mend the name, or drop it."
        elif "path" in places and name not in route.variables:
            yield f"place sends {name!r} to the path, which has no such variable: mend the name, or drop it."
        elif name in route.required and "path" not in places:
            yield f"place takes {name!r} out of the path, which needs it: write 'path', or a list with it."


def _two_bodies(fields: Mapping[str, Field]) -> Iterator[str]:
    sent = {place: name for name, field in fields.items() for place in field.places if place in _BODIES}
    if len(sent) > 1:
        names = " and ".join(f"{name!r} in {place}" for place, name in sorted(sent.items()))
        yield f"it would send {names}, and a request has one body: say place= of one of them."


def _shown(schema: JSONObject, checked: Arguments | None, route: Route) -> Shown:
    """What is shown, and checks what the app cannot: that there is an address, and what the author declared."""
    required, path = route.required, route.variables.keys()

    def faults(value: object) -> tuple[str, ...]:
        assert isinstance(value, dict)
        own = {field.key for field in checked.fields} if checked is not None else set()
        missing = tuple(f"{name}: Missing data for required field." for name in sorted(required - value.keys() - own))
        if checked is None:
            return missing
        try:
            checked.load({name: each for name, each in value.items() if name in own or name not in path})
        except ArgumentFaults as error:
            return (*missing, *error.faults)
        return missing

    return Shown(schema, faults)
