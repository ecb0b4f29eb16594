"""Test what becomes of Python's regular expressions."""

from __future__ import annotations

import re

import pytest
from marshmallow import Schema, fields, validate

from flask_arandu_mcp.schemas.convert import input_schema
from flask_arandu_mcp.schemas.patterns import compiled, translated

PORTABLE = {
    r"abc": r"^(?:abc)",
    r"a|b": r"^(?:a|b)",
    r"^a$": r"^a$",
    r"^a|b$": r"^(?:^a|b$)",
    r"\d{4}-\d\d": r"^(?:[0-9]{4}-[0-9][0-9])",
    r"[a-z\d_-]+": r"^(?:[a-z0-9_\-]+)",
    r"[]a]": r"^(?:[\]a])",
    r"[^/\]]": r"^(?:[^\/\]])",
    r"a.b": r"^(?:a[^\n]b)",
    r"a{,3}b{2,}c{1}": r"^(?:a{0,3}b{2,}c{1})",
    r"a{x}": r"^(?:a\{x\})",
    r"\@\-\ \.": r"^(?:@- \.)",
    r"(?=a)(?!b)(?:c)(d)*?": r"^(?:(?=a)(?!b)(?:c)(d)*?)",
    r"\x41\u00e9\t": r"^(?:Aé\t)",
    "": "^(?:)",
}
FOREIGN = [
    r"(?P<y>\d{4})\Z", r"(?i)x", r"\A\w+", r"\w", r"\b", r"\D", r"\S", r"[^\d]", r"(a)\1", r"(?<=a)b", r"(?>a)", r"a++",
    r"(?#c)a", r"(?!\d)", r"(?!a$)", r"(?=a)*b", r"\N{BULLET}", r"\0", r"[\b]", "\U0001f600",
]  # fmt: skip


@pytest.mark.parametrize(("python", "ecma"), PORTABLE.items())
def test_m10_portable_patterns_are_anchored(python: str, ecma: str) -> None:
    """What both languages read alike is anchored at the start, its branches grouped."""
    assert translated(re.compile(python)) == ecma


@pytest.mark.parametrize("python", FOREIGN)
def test_m10_foreign_patterns_are_left_out(python: str) -> None:
    """What ECMA-262 reads otherwise, or not at all, gives no pattern."""
    assert translated(re.compile(python)) is None


@pytest.mark.parametrize("flags", [re.IGNORECASE, re.MULTILINE, re.DOTALL, re.VERBOSE])
def test_m10_flags_give_no_pattern(flags: re.RegexFlag) -> None:
    """A pattern travels without its flags, so that one with flags does not travel."""
    assert translated(re.compile("^a$", flags)) is None


def test_m10_ascii_makes_classes_portable() -> None:
    """With re.ASCII a word is the same word in both languages."""
    assert translated(re.compile(r"\w+\b", re.ASCII)) == r"^(?:[A-Za-z0-9_]+\b)"


def test_m10_bytes_give_no_pattern() -> None:
    """A pattern of bytes matches no text."""
    assert translated(re.compile(rb"x")) is None


def test_m10_both_authorities_agree() -> None:
    """'xabc' is refused and 'abcdef' accepted by the schema as by the loader."""
    pattern = translated(re.compile("abc"))
    assert pattern is not None
    assert re.search(pattern, "abcdef")
    assert not re.search(pattern, "xabc")


def test_m10_two_patterns_both_hold() -> None:
    """Two patterns are both said, and one that cannot be is said in words."""
    two = fields.String(validate=[validate.Regexp("a"), validate.Regexp("b")])
    one = fields.String(validate=[validate.Regexp("a"), validate.Regexp("(?i)b")])
    found = input_schema(Schema.from_dict({"two": two, "one": one})())["properties"]
    assert isinstance(found, dict)
    assert found["two"] == {"type": "string", "pattern": "^(?:a)", "allOf": [{"pattern": "^(?:b)"}]}
    assert found["one"]["pattern"] == "^(?:a)"
    assert "(?i)b" in found["one"]["description"]


def test_a_pattern_is_compiled_as_clients_read_it() -> None:
    """`$` is the very end and no final newline, and what Python cannot compile is nothing."""
    end, literal = compiled("^a$"), compiled(r"[$]\$")
    assert end is not None
    assert not end.search("a\n")
    assert literal is not None
    assert literal.search("$$")
    assert compiled("(?<name>a") is None
