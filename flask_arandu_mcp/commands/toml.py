"""A table of TOML 1.0, written. The standard library reads TOML and does not write it, and no more of it is needed than
this."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def table(path: Sequence[str], values: Mapping[str, object]) -> str:
    """A table of texts and lists of texts."""
    head = ".".join(map(_key, path))
    return "\n".join([f"[{head}]", *(f"{_key(name)} = {_value(value)}" for name, value in values.items())])


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_text(each) for each in value)}]"
    return _text(value)


def _text(value: object) -> str:
    # A text of JSON is one of TOML, but for letters in two halves, and for DEL, which JSON leaves as it is.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
