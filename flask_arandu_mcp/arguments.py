"""Load what a client sends as the arguments of a tool, a prompt or a question. What it declares is converted once;
a call costs little more than marshmallow's own load.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, missing
from marshmallow.fields import Field

from .schemas.convert import ConversionError, Table, input_schema
from .schemas.declared import schema_of_declared
from .schemas.faults import faults_of, may_hide, printable, suspects
from .schemas.integers import Plan, raw_plan
from .schemas.loading import Load, loader
from .schemas.nesting import is_optional, sent_name
from .schemas.raw import RawSchema, is_raw
from .schemas.shown import Shown
from .typing import JSONObject

__all__ = ["Argument", "ArgumentFaults", "Arguments", "ArgumentsDeclaration", "ConversionError", "faults_of"]

ArgumentsDeclaration: TypeAlias = (
    "Mapping[str, Field[Any]] | Mapping[str, object] | type[Schema] | Schema | Shown | None"
)
"""Fields by their names, a Schema class or instance, a JSON Schema of the author's own or made already, or nothing."""

_TOO_DEEP = "the arguments are nested too deeply, send flatter ones"


class ArgumentFaults(Exception):
    """Refuse arguments, with every fault at once, each as `path: message`."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


class Argument(NamedTuple):
    """One argument that can be sent: the handler's name for it, the client's, and what is said about it."""

    name: str
    key: str
    required: bool
    default: bool
    """Whether the handler gets a value when nobody sent one."""
    description: object
    title: object


class Arguments:
    """What a declaration takes, as JSON Schema and as what loads it.

    `name` says whose arguments they are in a message, as in "tool 'list_posts'"; `table` is what the server says of
    its own field classes. Raises `ConversionError` for what cannot be shown to a client.
    """

    __slots__ = ("_hiding", "_known", "_load", "_plan", "_raw", "fields", "include", "input_schema", "schema")

    def __init__(self, declared: ArgumentsDeclaration, *, name: str, table: Table | None = None) -> None:
        self._hiding = False
        self._plan: Plan | None = None
        self._known: frozenset[str] | None = None
        self._load: Load = dict
        self._raw = _ready_made(declared, name)
        self.schema: Schema | None = None
        if self._raw is not None:
            self._take_raw(self._raw, name)
            return
        try:
            self.schema = schema_of_declared({} if declared is None else declared)
            self.input_schema: JSONObject = input_schema(self.schema, table)
        except ConversionError as error:
            raise ConversionError(f"{name}: {error}") from error
        self.include = self.schema.unknown == INCLUDE
        self._load = loader(self.schema)
        self._hiding = may_hide(self.schema)
        keys = {name: sent_name(name, field) for name, field in self.schema.load_fields.items()}
        self._known = frozenset(keys.values()) if self.schema.unknown == EXCLUDE else None
        self.fields: tuple[Argument, ...] = tuple(
            self._argument(attribute, keys[attribute], field) for attribute, field in self.schema.load_fields.items()
        )

    def _take_raw(self, raw: RawSchema | Shown, name: str) -> None:
        if raw.schema["type"] != "object":
            raise ConversionError(f"{name}: arguments are an object, so its JSON Schema must say type: object")
        properties = raw.schema.setdefault("properties", {})
        assert isinstance(properties, dict)
        required = raw.schema.get("required")
        self.input_schema = raw.schema
        self._plan = raw_plan(raw.schema)
        self.include = raw.schema.get("additionalProperties", False) is not False
        self._known = None if self.include else frozenset(properties)
        self.fields = tuple(
            Argument(
                key,
                key,
                isinstance(required, list) and key in required,
                False,
                _said(each, "description"),
                _said(each, "title"),
            )
            for key, each in properties.items()
        )

    def _argument(self, attribute: str, key: str, field: Field[Any]) -> Argument:
        assert self.schema is not None
        properties = self.input_schema["properties"]
        shown = properties.get(key) if isinstance(properties, dict) else None
        optional = is_optional(self.schema.partial, attribute)
        required = self.input_schema.get("required")
        return Argument(
            name=(field.attribute or attribute).partition(".")[0],
            key=key,
            required=isinstance(required, list) and key in required,
            default=field.load_default is not missing and not optional,
            description=_said(shown, "description"),
            title=_said(shown, "title"),
        )

    def load(self, raw: Mapping[str, object], *, suspect: bool = True) -> object:
        """Load what was sent, or raise `ArgumentFaults` with all that is wrong with it.

        `suspect` is False where the message is known to hold neither a non-finite number nor a lone surrogate.
        What a validator raises besides marshmallow's ValidationError is not caught.
        """
        try:
            faults = suspects(raw) if suspect else ()
            if self._known is not None and not raw.keys() <= self._known:
                faults += tuple(printable(f"{key}: Unknown field.") for key in raw if key not in self._known)
            if self.schema is None:
                return self._checked(raw, faults)
            return self._loaded(self.schema, raw, faults)
        except RecursionError:
            raise ArgumentFaults((_TOO_DEEP,)) from None

    def _loaded(self, schema: Schema, raw: Mapping[str, object], faults: tuple[str, ...]) -> object:
        value: object = None
        try:
            value = self._load(raw)
        except ValidationError as error:
            found = faults_of(error, schema, raw, hiding=self._hiding)
            faults = tuple(dict.fromkeys((*faults, *found)))
        if faults:
            raise ArgumentFaults(faults)
        return value

    def _checked(self, raw: Mapping[str, object], faults: tuple[str, ...]) -> object:
        assert self._raw is not None
        faults += self._raw.faults(raw)
        if faults:
            raise ArgumentFaults(tuple(dict.fromkeys(faults)))
        return dict(raw) if self._plan is None else self._plan(dict(raw))


def _ready_made(declared: object, name: str) -> RawSchema | Shown | None:
    if isinstance(declared, Shown):
        return declared
    return RawSchema(declared, name) if is_raw(declared) and isinstance(declared, Mapping) else None


def _said(schema: object, keyword: str) -> object:
    return schema.get(keyword) if isinstance(schema, dict) else None
