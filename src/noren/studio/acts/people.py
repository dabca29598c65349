"""What stewards do with the users of a studio."""

from __future__ import annotations

from typing import Annotated

from noren.studio.acts import asked
from noren.studio.service import Studio
from noren.studio.users import User, UserRole
from noren.web.actions import action

Login = Annotated[str, asked(min_length=2, max_length=64)]
_PASSWORD = asked(min_length=10, max_length=1000)


@action(
    UserRole.STEWARD, "POST /users", status=201, body="UserIn", body_text="A new user; the first must be a steward."
)
def add_user(
    studio: Studio,
    *,
    login: Login,
    name: Annotated[str, asked(max_length=80)] = "",
    password: Annotated[str, _PASSWORD],
    role: Annotated[UserRole, asked()],
) -> User:
    """Add a user; from the first on, everybody logs in with a password of her own."""
    return studio.store.users.add(login, name, password, role)


@action(
    UserRole.STEWARD,
    "PATCH /users/{login}",
    body="UserChange",
    body_text="Another role, another password, or both; the user logs in again.",
)
def change_user(
    studio: Studio,
    *,
    login: Login,
    role: Annotated[UserRole | None, asked()] = None,
    password: Annotated[str | None, _PASSWORD] = None,
) -> User:
    """Give a user another role or password."""
    if role is not None:
        studio.store.users.set_role(login, role)
    if password is not None:
        studio.store.users.set_password(login, password)
    return studio.store.users.one(login)


@action(UserRole.STEWARD, "DELETE /users/{login}", status=204)
def revoke_user(studio: Studio, *, login: Login) -> None:
    """Revoke a user; open pages are told with their next request."""
    studio.store.users.revoke(login)
