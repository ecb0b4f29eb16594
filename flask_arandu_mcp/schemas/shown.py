"""A JSON Schema that is made already. What checks a value against it comes along, or is the app's own code, which will
see the value next.
"""

from __future__ import annotations

from collections.abc import Callable

from ..typing import JSONObject


class Shown:
    """A JSON Schema to show, and what lists the faults of a value, as `path: message`."""

    __slots__ = ("faults", "schema")

    def __init__(self, schema: JSONObject, faults: Callable[[object], tuple[str, ...]]) -> None:
        self.schema = schema
        self.faults = faults
