"""The page where a signed-in user sees what an assistant can do as them, makes and revokes its tokens, and copies
what connects it. Nothing here decides anything: the server lists what its policies let this user have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from flask import Blueprint, Response, flash, redirect, render_template, request, url_for
from flask_login import current_user, login_fresh
from werkzeug.wrappers import Response as BaseResponse

from . import accounts
from .ai import mcp, server
from .clients import blocks
from .models import LARGEST_ID, LONGEST_TOKEN_NAME
from .pages import refuse_cross_site
from .policies import require_user

assistant = Blueprint("assistant", __name__)
assistant.before_request(refuse_cross_site)


@assistant.before_request
def require_sign_in() -> BaseResponse | None:
    """Only who has signed in here comes in. A token does not, else one that leaked could make itself another."""
    if current_user.is_authenticated and login_fresh():
        return None
    flash("Please sign in first.")
    return redirect(url_for("pages.sign_in", next=url_for("assistant.page")))


@assistant.after_request
def keep_private(response: Response) -> Response:
    """What shows a token is kept by no cache, runs no script but ours, and stands in no other site's frame."""
    response.cache_control.no_store = True
    response.content_security_policy.default_src = "'self'"
    response.content_security_policy.frame_ancestors = "'none'"
    return response


@assistant.get("/assistant")
def page() -> str:
    """What an assistant can do as the reader, and how to connect it."""
    return show()


@assistant.post("/assistant")
def make_token() -> str | tuple[str, int]:
    """Makes an API token and shows it this once."""
    name = request.form.get("name", "").strip()
    if not 0 < len(name) <= LONGEST_TOKEN_NAME:
        flash(f"Give the token a name of at most {LONGEST_TOKEN_NAME} characters.")
        return show(), 422
    return show(accounts.issue_token(require_user(current_user, "have a token"), name))


@assistant.post(f"/assistant/tokens/<int(max={LARGEST_ID}):token_id>/revoke")
def revoke_token(token_id: int) -> BaseResponse:
    """Makes one of the reader's tokens useless."""
    name = accounts.revoke_token(require_user(current_user, "revoke a token"), token_id)
    flash(f"“{name}” is revoked.")
    return redirect(url_for("assistant.page"))


def show(token: str | None = None) -> str:
    """The page, with a token that has just been made or without."""
    user = require_user(current_user, "have an assistant")
    return render_template(
        "assistant.html",
        tools=server.list_tools(user),
        resources=[*server.list_resources(user), *server.list_templates(user)],
        prompts=server.list_prompts(user),
        tokens=accounts.tokens_of(user),
        token=token,
        longest_name=LONGEST_TOKEN_NAME,
        blocks=blocks(server.name, request.url_root.rstrip("/") + mcp.url, token or "YOUR-TOKEN"),
        arguments_of=arguments_of,
    )


def arguments_of(item: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """What a tool or a prompt takes: a tool lists it as a JSON Schema, a prompt as it is shown."""
    schema = item.get("inputSchema")
    if schema is None:
        arguments: Sequence[Mapping[str, Any]] = item.get("arguments", [])
        return arguments
    required = schema.get("required", [])
    return [{**field, "name": name, "required": name in required} for name, field in schema["properties"].items()]
