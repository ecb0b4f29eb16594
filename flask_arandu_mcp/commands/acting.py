"""Who a command acts as: the user of an id, loaded as for a session of theirs, a guest, or whoever the app declares for
an assistant on this machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ..errors import Failure
from ..identity import NoUserLoader, user_by_id
from ..policies import guest
from ..state import State
from ..transports.local import Application, NoLocalSubject

F = TypeVar("F", bound=Callable[..., Any])


def acting_options(function: F) -> F:
    """Add the options that say who acts: `user` and `as_guest`."""
    of_guest = click.option("--guest", "as_guest", is_flag=True, help="Act as somebody who has not signed in.")
    of_user = click.option(
        "--as", "user", metavar="USER", help="Act as this user, by the id that the app's user_loader takes."
    )
    return of_user(of_guest(function))


def application(ctx: click.Context, state: State, user: str | None, as_guest: bool) -> Application:
    """The application around calls of whoever acts.

    :raises click.ClickException: where they cannot be found.
    """
    if user is not None and as_guest:
        raise click.UsageError("`--as` and `--guest` name two who act: give one of them.", ctx)
    if as_guest:
        return Application(state, lambda: guest)
    if user is None:
        return _local(state)
    application = Application(state, lambda: user_by_id(user))
    active = application.see(lambda found: None if found is None else bool(getattr(found, "is_active", False)))
    if isinstance(active, Failure):
        raise click.UsageError(f"--as {user!r}: {_why_not(active.error)}", ctx)
    if active is None:
        words = "the app's user_loader finds nobody by this id: give what the user's get_id() returns."
        raise click.UsageError(f"--as {user!r}: {words}", ctx)
    if not active:
        click.secho(f"The user {user!r} is switched off, and so acts as a guest.", err=True, fg="yellow")
    return application


def _why_not(error: Exception) -> str:
    if isinstance(error, NoUserLoader):
        return "the app has no user_loader to load a user by: give its LoginManager one, or use --guest."
    said = f"{type(error).__name__}: {error}"
    return f"the app's user_loader failed with {said}: give an id as the user's get_id() returns it."


def _local(state: State) -> Application:
    application = Application(state)
    try:
        application.check_local_subject()
    except NoLocalSubject as error:
        raise click.ClickException(f"{error} Or say who acts, with --as USER or --guest.") from None
    return application
