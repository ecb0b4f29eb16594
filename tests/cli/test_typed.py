"""Words of a command line, made the values that a schema says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flask_arandu_mcp.commands.typed import Mistyped, typed

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "share": {"type": "number"},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
        "window": {"$ref": "#/$defs/Row"},
        "maybe": {"type": ["integer", "null"]},
        "words": {"type": ["string", "null"]},
        "level": {"enum": [1, "two", None]},
        "any": {},
    },
    "$defs": {"Row": {"type": "object"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["text=3"], "3"),
        (["text=a=b"], "a=b"),
        (["text="], ""),
        (["count=3"], 3),
        (["count=-3"], -3),
        (["share=0.5"], 0.5),
        (["share=2"], 2),
        (["share=1e3"], 1000.0),
        (["sure=true"], True),
        (["sure=No"], False),
        (["sure=1"], True),
        (["tags=a"], ["a"]),
        (["tags=a", "tags=b,c"], ["a", "b,c"]),
        (['tags=["a", "b"]'], ["a", "b"]),
        (["tags=[a"], ["[a"]),
        (["numbers=1", "numbers=2"], [1, 2]),
        (["numbers=[]"], []),
        (['rows={"a": 1}', "rows={}"], [{"a": 1}, {}]),
        (['window={"first": 1}'], {"first": 1}),
        (["maybe=4"], 4),
        (["maybe=null"], None),
        (["words=null"], None),
        (["words=nil"], "nil"),
        (["level=1"], 1),
        (["level=two"], "two"),
        (["level=null"], None),
        (["level=3"], 3),
        (["any=3"], 3),
        (["any=[1]"], [1]),
        (["any=three"], "three"),
        (["any=NaN"], "NaN"),
    ],
)
def test_a_word_is_what_its_schema_says(words: list[str], value: object) -> None:
    """Text stays text, numbers are numbers, lists grow, and where the schema is open, JSON is JSON."""
    name = words[0].partition("=")[0]
    given_ = typed(words, SCHEMA)[name]
    assert given_ == value
    assert type(given_) is type(value)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["count"], "'count' is no argument: write name=value, or give all arguments as JSON, with --json FILE."),
        (["=3"], "'=3' is no argument"),
        (["cuont=3"], "the tool has no argument 'cuont': write one of text, count, share,"),
        (["count=x"], "count: 'x' does not fit: write a whole number."),
        (["count=3.0"], "count: '3.0' does not fit: write a whole number."),
        (["count=true"], "count: 'true' does not fit: write a whole number."),
        (["share=much"], "share: 'much' does not fit: write a number."),
        (["share=Infinity"], "share: 'Infinity' does not fit: write a number."),
        (["sure=maybe"], "sure: 'maybe' does not fit: write true or false."),
        (["maybe=x"], "maybe: 'x' does not fit: write null or a whole number."),
        (["numbers=x"], "numbers: 'x' does not fit: write a whole number."),
        (
            ["window=first"],
            "window: 'first' does not fit: write an object in JSON, or give all arguments as JSON, with",
        ),
        (["text=a", "text=b"], "'text' is given 2 times, and is no list: give it once."),
    ],
)
def test_a_word_that_does_not_fit_is_named(words: list[str], says: str) -> None:
    """The message names the argument, what it must be, and the way out."""
    with pytest.raises(Mistyped) as caught:
        typed(words, SCHEMA)
    assert str(caught.value).startswith(says)


def test_an_open_schema_takes_any_name() -> None:
    """Where anything may come, anything is sent on, as JSON where it is JSON."""
    schema: dict[str, Any] = {"type": "object", "properties": {}}
    assert typed(["x=1", "y=one"], schema) == {"x": 1, "y": "one"}


def test_a_tool_without_arguments_says_that_it_has_none() -> None:
    """There is nothing to choose from."""
    with pytest.raises(Mistyped, match="leave it out, as it has none"):
        typed(["x=1"], {"type": "object", "properties": {}, "additionalProperties": False})


@given(st.text(), st.integers(), st.booleans(), st.lists(st.text(), min_size=2))
def test_what_is_written_is_read(text: str, count: int, sure: bool, tags: list[str]) -> None:
    """Any value that is written as its type is written comes back as it was, whatever is in it."""
    words = [f"text={text}", f"count={count}", f"sure={str(sure).lower()}", *(f"tags={tag}" for tag in tags)]
    assert typed(words, SCHEMA) == {"text": text, "count": count, "sure": sure, "tags": tags}
