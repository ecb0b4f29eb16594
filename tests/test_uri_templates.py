"""URIs and templates: matched encoded, decoded once, and never out of their place."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flask_arandu_mcp.uri_templates import UriTemplate, canonical

ITEMS = UriTemplate("shop://items/{name}")
FILES = UriTemplate("file:///docs/café/{+path}")


@pytest.mark.parametrize(
    ("encoded", "value"),
    [
        ("hello%20world", "hello world"),
        ("hello world", "hello world"),
        ("caf%C3%A9", "café"),
        ("caf%c3%a9", "café"),
        ("café", "café"),
        ("a+b", "a+b"),
        ("100%2525", "100%25"),
        ("%41", "A"),
        ("...", "..."),
        ("a..b", "a..b"),
    ],
)
def test_u01_a_variable_is_decoded_once(encoded: str, value: str) -> None:
    """A value is what its encoding says, decoded one time."""
    assert ITEMS.match(f"shop://items/{encoded}") == {"name": value}


@pytest.mark.parametrize(
    "encoded", ["", "a/b", "a%2Fb", "a%5Cb", "%zz", "%", "%4", "%FF", "..", ".", "%2e%2e", "%00", "a?b", "a#b"]
)
def test_u01_what_is_no_one_segment_does_not_match(encoded: str) -> None:
    """A value of one segment has no slash, no bad encoding, and does not climb."""
    assert ITEMS.match(f"shop://items/{encoded}") is None


@pytest.mark.parametrize(("uri", "path"), [("a/b", "a/b"), ("a", "a"), ("a%2Fb/c", "a/b/c")])
@pytest.mark.parametrize("literal", ["café", "caf%C3%A9", "caf%c3%a9"])
def test_u01_several_segments_and_both_spellings_of_a_literal(uri: str, path: str, literal: str) -> None:
    """A multi-segment variable takes slashes; a literal is the same however it is encoded."""
    assert FILES.match(f"file:///docs/{literal}/{uri}") == {"path": path}


@pytest.mark.parametrize("path", ["../secret", "a/../../x", "%2e%2e/x", "a/%2E%2E", "..%2fx", "..%5Cx", "./x", ".."])
def test_a_path_does_not_climb(path: str) -> None:
    """No segment of a value is `.` or `..`, whichever way it is written."""
    assert FILES.match(f"file:///docs/café/{path}") is None


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("x://{a}-{b}", "x://1-2-3", ["1-2", "3"]),
        ("x://{a}-{b}", "x://--", None),
        ("x://{a}-{b}", "x://---", ["-", "-"]),
        ("x://{a}-{b}", "x://1-2/", None),
        ("x://{a}{b}", "x://123", ["12", "3"]),
        ("x://{a}{b}", "x://1", None),
        ("x://{a}-{b}--{c}", "x://1-2---3", ["1", "2-", "3"]),
        ("x://{+a}/{b}", "x://1/2/3", ["1/2", "3"]),
        ("x://{a}/{+b}/c", "x://1/2/c/c", ["1", "2/c"]),
        ("x://{+a}{b}-", "x://1/2-", ["1/", "2"]),
        ("x://{+a}{b}-", "x://1/23-", ["1/2", "3"]),
        ("x://{a}?q={b}", "x://1?q=2", ["1", "2"]),
    ],
)
def test_variables_side_by_side(template: str, uri: str, values: list[str] | None) -> None:
    """Each variable takes something, and the first ones as much as the others leave."""
    found = UriTemplate(template).match(uri)
    assert (None if found is None else list(found.values())) == values


@pytest.mark.parametrize("template", ["x://{a}-{b}-{c}", "x://{+a}-{+b}-{+c}", "x://{a}{b}{c}{d}", "x://{a}-{b}-{c}/e"])
@pytest.mark.parametrize("uri", ["x://" + "-" * 8_000 + "/?", "x://" + "-" * 8_000, "x://" + "-/" * 4_000])
def test_no_uri_takes_long(template: str, uri: str) -> None:
    """The time goes with the length of a URI, not with the ways in which it could be cut."""
    began = time.monotonic()
    UriTemplate(template).match(uri)
    assert time.monotonic() - began < 20


def test_a_uri_beyond_all_measure_does_not_match() -> None:
    """Nobody's URI has more than 8192 characters."""
    assert ITEMS.match("shop://items/" + "x" * (8192 - 13)) is not None
    assert ITEMS.match("shop://items/" + "x" * (8192 - 12)) is None


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "%2Fetc/passwd", "%2fetc%2fpasswd", "//etc", "%5Cserver/share", "\\\\server"]
)
def test_a_path_does_not_begin_anew(path: str) -> None:
    """A value that a folder's slash stands before is no absolute path; after a scheme's slashes it may be one."""
    assert FILES.match(f"file:///docs/café/{path}") is None
    assert UriTemplate("file://{+path}").match("file:///etc/passwd") == {"path": "/etc/passwd"}


def test_a_fixed_uri_has_no_variables() -> None:
    """A URI without braces matches itself alone."""
    fixed = UriTemplate("blog://about")
    assert fixed.variables == ()
    assert fixed.match("blog://about") == {}
    assert fixed.match("blog://about/") is None


@given(st.text(min_size=1).filter(lambda text: not set(text) & set("/\\\x00") and text not in {".", ".."}))
def test_an_encoded_value_comes_back(value: str) -> None:
    """Whatever a client encodes into one segment is what the handler gets."""
    assert ITEMS.match(f"shop://items/{quote(value, safe='', errors='replace')}") == {
        "name": value.encode("utf-8", "replace").decode()
    }


@given(st.text())
def test_one_spelling_stays(uri: str) -> None:
    """The canonical spelling of a canonical spelling is itself."""
    assert canonical(canonical(uri)) == canonical(uri)
