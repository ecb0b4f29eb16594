"""The blog as people see it in a browser: reading, and signing in and out. Writing is left to the JSON API and to
assistants, which keeps the forms few."""

from __future__ import annotations

import re

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask_login import current_user, login_user, logout_user
from werkzeug.wrappers import Response

from . import accounts
from .first_start import DEMO_PASSWORDS
from .services import PostService

pages = Blueprint("pages", __name__)
posts = PostService()


@pages.before_request
def refuse_cross_site() -> None:
    """Other sites may not submit our forms, not even the sign-in form that works without a cookie."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if site is None and origin is not None:  # older browsers, and all of them over http to another machine
        site = "same-origin" if origin.partition("://")[2] == request.host else "cross-site"
    if request.method == "POST" and site in {"cross-site", "same-site"}:
        abort(403, "This form was sent from another site.")


@pages.get("/")
def index() -> str:
    """Published posts, and the drafts that the reader may see."""
    return render_template("index.html", posts=posts.list(current_user, limit=100))


@pages.get("/posts/<slug>")
def post(slug: str) -> str:
    """One post."""
    return render_template("post.html", post=posts.get(current_user, slug))


@pages.get("/sign-in")
def sign_in() -> str:
    """The sign-in form, with the demo's users and passwords beside it."""
    return render_template("sign_in.html", demo=DEMO_PASSWORDS)


@pages.post("/sign-in")
def start_session() -> Response | tuple[str, int]:
    """Signs in whoever knows a name and its password."""
    user = accounts.user_by_password(request.form.get("name", ""), request.form.get("password", ""))
    if user is None:
        flash("This name and password do not fit together.")
        return render_template("sign_in.html", demo=DEMO_PASSWORDS), 401
    login_user(user)
    return redirect(local_path(request.args.get("next", "")) or url_for("pages.index"))


@pages.post("/sign-out")
def end_session() -> Response:
    """Signs out; a POST, so that no link or image can do it."""
    logout_user()
    return redirect(url_for("pages.index"))


def local_path(target: str) -> str | None:
    """The target if it is a path on this site; `//host` and its spellings would lead elsewhere."""
    return target if re.fullmatch(r"/(?![/\\])\S*", target, re.ASCII) or target == "/" else None
