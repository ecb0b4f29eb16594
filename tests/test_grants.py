"""A Grant proves that a policy said yes: it is made by asking, and cannot be made, changed, copied or stored."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.exceptions import Forbidden, NotFound

from flask_arandu_mcp import Grant, authorize, granting, public, system_grant

from .app import User, broken, forbidden, hidden, is_admin

ALICE, ROOT = User("alice"), User("root", admin=True)


class Post:
    """A post that somebody wrote."""

    def __init__(self, author: User) -> None:
        self.author = author


def may_edit(subject: User, post: Post, *, quickly: bool = False) -> bool:
    """Authors edit their own."""
    return post.author is subject and not quickly


# ------------------------------------------------------------------------------------------------ the proof


def test_a_grant_says_what_was_decided() -> None:
    """It holds the subject, the action and the resource that the policy was asked about."""
    post = Post(ALICE)
    grant = authorize(may_edit, ALICE, "edit this post", post)
    assert (grant.subject, grant.action, grant.resource, grant.reason) == (ALICE, "edit this post", post, "")
    assert repr(grant) == "<Grant 'edit this post'>"
    assert authorize(public, ALICE, "list posts").resource is None


@pytest.mark.parametrize("given", [(), (ALICE, "edit"), (object(), ALICE, "edit", None, "")])
def test_nobody_else_makes_one(given: tuple[Any, ...]) -> None:
    """The class refuses to be called, and to be subclassed by one that would not."""
    with pytest.raises(TypeError, match=r"call authorize\("):
        Grant(*given)
    with pytest.raises(TypeError, match="cannot be subclassed"):
        type("Forged", (Grant,), {"__new__": object.__new__})


def test_a_grant_stays_as_it_is() -> None:
    """What a policy was asked about cannot be replaced afterwards, or added to."""
    grant = authorize(public, ALICE, "list posts")
    for name in ("action", "subject", "more"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(grant, name, "delete posts")
    with pytest.raises(AttributeError, match="cannot be changed"):
        del grant.action
    assert grant.action == "list posts"


@pytest.mark.parametrize("do", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_grant_is_not_carried_away(do: Callable[[Any], object]) -> None:
    """It holds for the call that it was made in, so it is neither copied nor stored for another."""
    with pytest.raises(TypeError, match="cannot be copied or stored"):
        do(authorize(public, ALICE, "list posts"))


# ------------------------------------------------------------------------------------------------ asking


def test_a_no_is_forbidden_in_words_of_the_action() -> None:
    """What the model reads is made of the action, so an action is what "You may not" is followed by."""
    with pytest.raises(Forbidden) as refused:
        authorize(is_admin, ALICE, "list users")
    assert refused.value.description == "You may not list users."
    assert authorize(is_admin, ROOT, "list users").subject is ROOT


@pytest.mark.parametrize(("policy", "error"), [(hidden, NotFound), (forbidden, Forbidden), (broken, RuntimeError)])
def test_what_a_policy_raises_is_raised(policy: Callable[[Any], bool], error: type[Exception]) -> None:
    """A policy refuses in its own words where it has any, and its faults are not taken for an answer."""
    with pytest.raises(error) as raised:
        authorize(policy, ALICE, "list users")
    assert "You may not" not in str(raised.value)


@pytest.mark.parametrize("answer", [None, 1, "yes", [True], authorize(public, ALICE, "list users")])
def test_only_true_grants(answer: object, caplog: pytest.LogCaptureFixture) -> None:
    """Another answer is no yes, however true it looks, another Grant included; the log names the policy."""

    def vague(subject: object) -> Any:
        return answer

    with pytest.raises(Forbidden, match="You may not list users"):
        authorize(vague, ALICE, "list users")
    assert f"the policy 'vague' answered a {type(answer).__name__}; it must answer a bool" in caplog.text


def test_a_resource_is_passed_on_even_where_it_is_none() -> None:
    """A policy that is asked about a post which was not found gets to say so itself."""

    def may_see(subject: User, post: Post | None) -> bool:
        if post is None:
            raise NotFound("There is no such post.")
        return True

    with pytest.raises(NotFound, match="There is no such post"):
        authorize(may_see, ALICE, "read this post", None)


# ------------------------------------------------------------------------------------------------ the decorator


def test_a_decorated_policy_gives_grants() -> None:
    """It is called as before, by position or by name, and gives a Grant or raises Forbidden."""
    edit = granting("edit this post")(may_edit)
    post = Post(ALICE)
    assert edit(ALICE, post).resource is edit(ALICE, post=post).resource is post
    assert edit(ALICE, post).action == "edit this post"
    refused: list[Callable[[], Grant]] = [lambda: edit(ROOT, post), lambda: edit(ALICE, post, quickly=True)]
    for refuse in refused:
        with pytest.raises(Forbidden, match="You may not edit this post"):
            refuse()


def test_a_decorated_policy_keeps_its_name_and_signature() -> None:
    """Documentation, editors and the log see the policy that it was, and the policy itself is still at hand."""
    edit = granting("edit this post")(may_edit)
    assert (edit.__name__, edit.__doc__) == ("may_edit", "Authors edit their own.")
    assert inspect.signature(edit) == inspect.signature(may_edit)
    assert inspect.unwrap(edit) is may_edit


# ------------------------------------------------------------------------------------------------ the escape


def test_a_system_grant_is_named_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Where no policy is asked, the log says what was granted and why."""
    grant = system_grant("count visits", "nobody is asked for the public counter")
    assert (grant.subject, grant.reason) == (None, "nobody is asked for the public counter")
    assert "system grant: count visits (nobody is asked for the public counter)" in caplog.text
    assert repr(grant) == "<Grant 'count visits' (system: nobody is asked for the public counter)>"


@pytest.mark.parametrize("reason", ["", " \n"])
def test_a_system_grant_without_a_reason_is_none(reason: str) -> None:
    """An escape that nobody can account for is refused."""
    with pytest.raises(ValueError, match="needs a reason"):
        system_grant("count visits", reason)
