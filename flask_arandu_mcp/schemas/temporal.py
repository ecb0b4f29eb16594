"""Read the fields of dates, times and spans. `format: date-time` is said where a zone is certain, and everything
else in words: a client that asserts formats refuses a date and time without a zone.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from typing import Any

from marshmallow import fields

from ..typing import JSONObject
from .shapes import Maker, Shape, Turn
from .values import Unsayable, loaded

_SAMPLE = dt.datetime(2024, 12, 31, 23, 59, 58)
_YEAR_10000 = 253_402_300_800
_RFC = "An RFC 822 date and time, such as Tue, 31 Dec 2024 23:59:58 +0100"
_AWARE = "An ISO 8601 date and time with its zone, such as 2024-12-31T23:59:58+01:00"
_NAIVE = "An ISO 8601 date and time without a zone, such as 2024-12-31T23:59:58"
_EITHER = "An ISO 8601 date and time, such as 2024-12-31T23:59:58, with or without a zone"
_DATE = "An ISO 8601 date, such as 2024-12-31"
_TIME = "An ISO 8601 time, such as 23:59:58"
_TEXT: JSONObject = {"type": "string"}


def _custom(field: Any, what: str) -> Shape:
    layout = str(field.format)
    if "%" not in layout:
        return Shape({}, "other", (f"A {what} in the application's own format {layout!r}",))
    return Shape(_TEXT, "other", (f"A {what} as {layout}, such as {_SAMPLE.strftime(layout)}",))


def _layout(field: Any) -> str:
    return str(field.format or field.DEFAULT_FORMAT)


def _stamp(field: fields.DateTime, per_second: int, turn: Turn) -> Shape:
    unit = "seconds" if per_second == 1 else "milliseconds"
    words = (f"A POSIX timestamp in {unit}",)
    if turn.view == "output":
        return Shape({"type": "number"}, "other", words)
    try:
        loaded(field, 0)
        lowest = "minimum"
    except Unsayable:  # marshmallow 3 takes 0 for nothing at all
        lowest = "exclusiveMinimum"
    bounds = {lowest: 0, "exclusiveMaximum": _YEAR_10000 * per_second}
    return Shape({"type": "number", **bounds}, "other", words)


def _zoned(field: fields.DateTime, turn: Turn) -> Shape:
    if isinstance(field, fields.AwareDateTime):
        # With a default zone a text without one is taken too, so that `format` would be stricter than the field.
        if turn.view == "output" or field.default_timezone is None:
            return Shape({"type": "string", "format": "date-time"}, "other", (_AWARE,))
        return Shape(_TEXT, "other", (_EITHER,))
    naive = isinstance(field, fields.NaiveDateTime) and (turn.view == "output" or field.timezone is None)
    return Shape(_TEXT, "other", (_NAIVE if naive else _EITHER,))


def _datetime(field: fields.DateTime, turn: Turn) -> Shape:
    layout = _layout(field)
    if layout in ("iso", "iso8601"):
        return _zoned(field, turn)
    if layout in ("rfc", "rfc822"):
        return Shape(_TEXT, "other", (_RFC,))
    if layout in ("timestamp", "timestamp_ms"):
        return _stamp(field, 1 if layout == "timestamp" else 1000, turn)
    return _custom(field, "date and time")


def _date(field: fields.Date, turn: Turn) -> Shape:
    if _layout(field) in ("iso", "iso8601"):
        return Shape({"type": "string", "format": "date"}, "other", (_DATE,))
    return _custom(field, "date")


def _time(field: fields.Time, turn: Turn) -> Shape:
    if _layout(field) in ("iso", "iso8601"):
        return Shape(_TEXT, "other", (_TIME,))
    return _custom(field, "time")


def _furthest(start: float, towards: float, takes: Callable[[float], bool]) -> float:
    """Find the last number on the way to `towards` that is taken, from a start near it."""
    while not takes(start):
        start = math.nextafter(start, -towards)
    while takes(further := math.nextafter(start, towards)):
        start = further
    return start


def _bounds(unit: str, whole: bool) -> JSONObject:
    one = dt.timedelta(**{unit: 1})
    if whole:
        return {"minimum": -(-dt.timedelta.min // one), "maximum": dt.timedelta.max // one}

    def takes(value: float) -> bool:
        try:
            dt.timedelta(**{unit: value})
        except OverflowError:
            return False
        return True

    low = _furthest(dt.timedelta.min / one, -math.inf, takes)
    return {"minimum": low, "maximum": _furthest(dt.timedelta.max / one, math.inf, takes)}


def _span(field: fields.TimeDelta, turn: Turn) -> Shape:
    # marshmallow 3 counts whole units unless it is told otherwise; 4 counts fractions always.
    whole = getattr(field, "serialization_type", float) is int
    bounds = _bounds(field.precision, whole) if turn.view == "input" else {}
    words = (f"A span of time in {field.precision}",)
    return Shape({"type": "integer" if whole else "number", **bounds}, "other", words)


TEMPORAL: dict[type[fields.Field[Any]], Maker] = {
    fields.DateTime: _datetime,
    fields.Date: _date,
    fields.Time: _time,
    fields.TimeDelta: _span,
}
