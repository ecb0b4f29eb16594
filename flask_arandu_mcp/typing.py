"""Types that several rooms share. It names JSON's object once, so that no room needs `Any` for it."""

from __future__ import annotations

from typing import TypeAlias

JSONObject: TypeAlias = dict[str, object]
"""A JSON object as Python holds it: names to values that JSON can carry."""
