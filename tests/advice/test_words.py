"""Advice on what a model chooses by."""

from __future__ import annotations

from typing import Any

import pytest

from flask_arandu_mcp.advice import Advice, advise
from flask_arandu_mcp.advice.tokens import tokens

EMPTY = {"type": "object", "properties": {}}


def entry(name: str, description: str) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": EMPTY}


def advised(*tools: dict[str, Any], max_tokens: int = 10_000, **others: Any) -> list[Advice]:
    described = {"tools": tools, "resources": [], "resourceTemplates": [], "prompts": [], **others}
    return list(advise(described, key="desk", max_tokens=max_tokens))


def rules(*tools: dict[str, Any]) -> list[str]:
    return [advice.rule for advice in advised(*tools)]


@pytest.mark.parametrize(
    ("description", "rule"),
    [
        ("", "short-description"),
        ("Waits.", "short-description"),
        ("Gives data.", "short-description"),
        ("...  -- !", "short-description"),
        ("Adds two numbers.", None),
        ("投稿を一覧表示します。", None),
        ("แสดงรายการ", None),
        ("The user's posts.", None),
    ],
)
def test_a_description_has_three_words(description: str, rule: str | None) -> None:
    """What says less cannot be chosen by, in any script."""
    assert rules(entry("one", description)) == ([rule] if rule else [])


@pytest.mark.parametrize(
    ("name", "description", "is_so"),
    [
        ("delete_user", "Deletes a user.", True),
        ("getUserProfile", "Get the user profiles", True),
        ("get_user_profile", "Gets a profile of the user.", True),
        ("delete_user", "Deletes a user for good.", False),
        ("list_posts", "Lists all posts, newest first.", False),
    ],
)
def test_a_description_says_more_than_the_name(name: str, description: str, is_so: bool) -> None:
    """The name is there already."""
    assert rules(entry(name, description)) == (["says-its-name"] if is_so else [])


def test_other_declarations_want_words_too() -> None:
    """Resources and prompts are chosen by their descriptions; theirs may say what the name does."""
    short = [{"name": "page", "description": "A page."}]
    found = advised(resources=short, resourceTemplates=[{"name": "post_text", "description": "The text of a post."}])
    assert [(advice.culprit, advice.rule) for advice in found] == [("resource 'page'", "short-description")]


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        (("get_post", "Reads one."), ("getPosts", "Reads several of them."), "similar-names"),
        (("list_posts", "Lists what is there."), ("posts.list", "Names every post."), "similar-names"),
        (
            ("find_posts", "Finds posts by their text."),
            ("look_up", "Find the post by its texts"),
            "similar-descriptions",
        ),
        (("a", "Only admins may use it."), ("b", "Only admins may use it."), "similar-descriptions"),
        (("a", "Deletes it for good."), ("b", "Publishes it for everyone."), None),
    ],
)
def test_tools_are_told_apart(one: tuple[str, str], other: tuple[str, str], rule: str | None) -> None:
    """Names of the same words, and descriptions of nearly the same, are mistaken for one another."""
    found = [advice for advice in advised(entry(*one), entry(*other)) if advice.rule.startswith("similar")]
    assert [(advice.rule, advice.culprit) for advice in found] == (
        [(rule, f"tools {one[0]!r} and {other[0]!r}")] if rule else []
    )


def test_what_the_names_tell_apart_is_told_apart() -> None:
    """Where a sentence is the same but for the very thing that the name names, nobody mistakes it."""
    words = "Deletes the {} with this id. Only editors may do so, and it cannot be undone."
    assert rules(*(entry(f"delete_{what}", words.format(what)) for what in ("post", "comment", "picture"))) == []
    same = [entry(f"delete_{what}", words.format("thing")) for what in ("post", "comment", "picture")]
    (advice,) = advised(*same)
    assert advice.culprit == "tools 'delete_post', 'delete_comment' and 'delete_picture'"


def test_a_list_that_is_too_long_is_named_with_its_largest() -> None:
    """The estimate, how it was made, and where to begin."""
    tools = [entry(f"tool_{n}", f"Does the work number {n}, " + "at length " * n) for n in range(1, 5)]
    (advice,) = [advice for advice in advised(*tools, max_tokens=50) if advice.rule == "long-list"]
    assert advice.culprit == "the list of tools"
    assert f"about {tokens(tools)} tokens" in advice.words
    assert "estimated: a quarter of its characters" in advice.words
    assert advice.words.index("'tool_4'") < advice.words.index("'tool_3'") < advice.words.index("'tool_2'")
    assert "'tool_1'" not in advice.words


def test_a_token_is_four_characters_of_what_a_model_reads() -> None:
    """The name, the description and what it takes count; what clients keep to themselves does not."""
    tool = entry("add", "Adds two numbers.")
    text = '[{"name":"add","description":"Adds two numbers.","inputSchema":{"type":"object","properties":{}}}]'
    assert tokens([tool]) == tokens([{**tool, "icons": ["x" * 100], "access": "public"}]) == -(-len(text) // 4)
