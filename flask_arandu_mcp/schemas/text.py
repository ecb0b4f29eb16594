"""Join descriptions, some of which are translated only when somebody reads them. It is the one place that knows
how a lazily translated text is kept in a schema and how it becomes a str.
"""

from __future__ import annotations

from ..typing import JSONObject

_ENDS = (".", "!", "?", ":", ";", "…")


class Text:
    """Hold several texts that become one description when they are read.

    Its parts are strings, or objects whose `str()` depends on the language of whoever asks.
    """

    __slots__ = ("parts",)

    def __init__(self, *parts: object) -> None:
        self.parts = parts

    def __str__(self) -> str:
        *first, last = [str(part).strip() for part in self.parts]
        return " ".join([*(part if part.endswith(_ENDS) else f"{part}." for part in first), last])


def joined(*parts: object) -> str | Text | None:
    """Join what there is to say, as a str at once where no part is lazy.

    Gives None where no part says anything.
    """
    said = [part for part in parts if part is not None and part != ""]
    if not said:
        return None
    text = Text(*said)
    return str(text) if all(isinstance(part, str | int | float) for part in said) else text


def _is_lazy(value: object) -> bool:
    return not (value is None or isinstance(value, str | int | float | dict | list))


def has_lazy(schema: object) -> bool:
    """Tell whether a converted schema holds a text that depends on the language."""
    if isinstance(schema, dict):
        return any(has_lazy(value) for value in schema.values())
    if isinstance(schema, list):
        return any(has_lazy(value) for value in schema)
    return _is_lazy(schema)


def _resolved(value: object) -> object:
    if isinstance(value, dict):
        return {key: _resolved(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_resolved(item) for item in value]
    return str(value) if _is_lazy(value) else value


def resolve(schema: JSONObject) -> JSONObject:
    """Copy a converted schema with every lazily translated text in the language of now."""
    return {key: _resolved(value) for key, value in schema.items()}
