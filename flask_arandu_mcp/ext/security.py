"""A role or a permission of Flask-Security as access: `access=has_role("editor")`. The subject itself is asked, so that
it does not matter whose request is being served."""

from __future__ import annotations

from typing import Any

from ..policies import Access, signed_in


def has_role(role: str) -> Access:
    """Let in users who have a role."""
    return _asking("has_role", role)


def has_permission(permission: str) -> Access:
    """Let in users of whom one role or another has a permission."""
    return _asking("has_permission", permission)


def _asking(method: str, what: str) -> Access:
    def has(subject: Any) -> bool:
        # An anonymous user of Flask-Security has no permissions to ask for.
        return signed_in(subject) and getattr(subject, method)(what)

    has.__name__ = f"{method}({what!r})"
    return has
