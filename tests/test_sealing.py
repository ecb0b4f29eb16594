"""Values that leave and come back, signed: nobody else can make one, and keys can be rotated."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from flask_arandu_mcp.sealing import Sealer

VISIBLE = set(string.ascii_letters + string.digits + "-_.")


def test_a_value_comes_back() -> None:
    """What was sealed for a purpose opens for that purpose, with visible ASCII in between."""
    sealed = Sealer(["key"]).seal("session", ["é", {"a": 1}])
    assert set(sealed) <= VISIBLE
    assert Sealer(["key"]).open("session", sealed) == ["é", {"a": 1}]


def test_a_seal_is_for_one_purpose_and_one_key() -> None:
    """A value of another purpose, key or letter does not open."""
    sealed = Sealer(["key"]).seal("session", 1)
    assert Sealer(["key"]).open("state", sealed) is None
    assert Sealer(["other"]).open("session", sealed) is None
    assert Sealer(["key"]).open("session", sealed[:-1]) is None


def test_keys_are_rotated() -> None:
    """The newest key signs, and what an older one signed still opens."""
    old = Sealer([b"old"]).seal("session", 1)
    rotated = Sealer(["new", "old"])
    assert rotated.open("session", old) == 1
    assert Sealer(["new"]).open("session", rotated.seal("session", 2)) == 2


@given(st.text() | st.text(alphabet=string.ascii_letters + ".-_"))
def test_anything_else_is_nothing(text: str) -> None:
    """Text that nobody sealed opens to nothing, and never fails."""
    assert Sealer(["key"]).open("session", text) is None
