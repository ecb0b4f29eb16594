"""Values that leave and come back, signed: nobody else can make one, and keys can be rotated."""

from __future__ import annotations

import string

import pytest
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


@given(value=st.integers(), place=st.integers(0, 200), put=st.text(max_size=2), over=st.integers(0, 2))
def test_a_seal_is_one_text(value: int, place: int, put: str, over: int) -> None:
    """A text that was changed anywhere does not open, though Base64 would read the same signature from it."""
    sealed = Sealer(["key"]).seal("session", value)
    place %= len(sealed) + 1
    changed = sealed[:place] + put + sealed[place + over :]
    assert Sealer(["key"]).open("session", changed) == (value if changed == sealed else None)


@pytest.mark.parametrize("ending", "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=!é")
def test_the_unused_bits_of_a_signature_are_none(ending: str) -> None:
    """A signature that ends in `A` is not also one that ends in `B`, whose bits differ where none are read."""
    sealed = next(text for text in (Sealer(["key"]).seal("session", n) for n in range(10_000)) if text[-1] == "A")
    assert Sealer(["key"]).open("session", sealed) is not None
    assert Sealer(["key"]).open("session", sealed[:-1] + ending) is None
    assert Sealer(["key"]).open("session", sealed + ending) is None


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
