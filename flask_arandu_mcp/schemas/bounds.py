"""Turn marshmallow's Range into the bounds that a client can check. A bound that JSON cannot hold exactly is given
up, for a bound that is nearly right refuses what the app would take.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import Any, NamedTuple

from marshmallow import fields, validate

from ..typing import JSONObject
from .errors import UNLUCKY
from .values import Unsayable, as_json, canonical


class _Side(NamedTuple):
    """One end of a range: the keyword that includes it, the one that does not, and which way is outwards."""

    inclusive: str
    exclusive: str
    rounding: str
    step: int


_LOW = _Side("minimum", "exclusiveMinimum", decimal.ROUND_CEILING, 1)
_HIGH = _Side("maximum", "exclusiveMaximum", decimal.ROUND_FLOOR, -1)


def _number(field: fields.Field[Any], bound: object) -> int | float:
    if isinstance(bound, bool) or not isinstance(bound, int | float | Decimal):
        bound = canonical(field, bound)
    found = as_json(bound)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise Unsayable
    return found


def _snapped(places: Decimal, bound: int | float | Decimal, inclusive: bool, side: _Side) -> object:
    """Give the last value inside the bound that is left after rounding to the field's places."""
    exact = Decimal(str(bound))
    nearest = exact.quantize(places, rounding=side.rounding)
    if not inclusive and nearest == exact:
        nearest += side.step * places
    return as_json(nearest)


def _end(field: fields.Field[Any], bound: Any, inclusive: bool, side: _Side) -> JSONObject:
    if bound is None:
        return {}
    places = getattr(field, "places", None)
    if isinstance(places, Decimal):
        return {side.inclusive: _snapped(places, bound, inclusive, side)}
    return {side.inclusive if inclusive else side.exclusive: _number(field, bound)}


def bounds(validator: validate.Range, field: fields.Field[Any]) -> JSONObject:
    """Give the keywords that say the same as a Range on a field that travels as a number.

    Raises `Unsayable` where JSON has no number for a bound.
    """
    try:
        return {
            **_end(field, validator.min, validator.min_inclusive, _LOW),
            **_end(field, validator.max, validator.max_inclusive, _HIGH),
        }
    except UNLUCKY as error:
        raise Unsayable from error
