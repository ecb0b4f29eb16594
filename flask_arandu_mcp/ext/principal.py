"""A Flask-Principal permission as access: `access=permitted(Permission(RoleNeed("editor")))`. What it is held against
is provided by the app's own `identity_loaded` functions, for the subject that is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import current_app, has_request_context
from flask_login import current_user
from flask_principal import AnonymousIdentity, Identity, Permission, identity_loaded

from ..identity import act_as
from ..policies import Access, signed_in


def permitted(permission: Permission, *, identity: Callable[[Any], Identity] | None = None) -> Access:
    """Let in whoever the permission allows.

    :param identity: makes a subject's Identity, where the app knows it by another id than Flask-Login does.
    """
    make = identity or (lambda subject: Identity(subject.get_id()))

    def permits(subject: Any) -> bool:
        if not signed_in(subject):
            return bool(permission.allows(AnonymousIdentity()))
        made = make(subject)
        with _as_current_user(subject):
            identity_loaded.send(current_app._get_current_object(), identity=made)  # type: ignore[attr-defined]
        return bool(permission.allows(made))

    needs = [*permission.needs, *(("not", *need) for need in permission.excludes)]
    permits.__name__ = f"permitted({', '.join(sorted(' '.join(map(str, need)) for need in needs))})"
    return permits


@contextmanager
def _as_current_user(subject: Any) -> Iterator[None]:
    # The app's functions read `current_user`, which is somebody else where one user's call asks for another's.
    before = current_user._get_current_object() if has_request_context() else subject
    if before is subject:
        yield
        return
    act_as(subject)
    try:
        yield
    finally:
        act_as(before)
