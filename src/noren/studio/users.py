"""Users of a studio: accounts, roles, authentication, and what each role may do.

A studio without users is one person's, who does everything. From the first user on, only users are let in. Whoever is
revoked, or gets another role or password, is logged out everywhere at that moment; the open tab learns why.

Whoever is let in may look (``GET``); to change something one must be a steward, unless the route says which role is
enough (:func:`least`, or its action). So a route that says nothing is closed to those who might do harm by it. Readers
see the projects shared with them alone: the others are not there for them (:meth:`~noren.studio.service.Studio.sees`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from fastapi import Request
from starlette.concurrency import run_in_threadpool

from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.studio.audit_trail import OWNER, RESERVED, Trail, acting, acting_as
from noren.web.accounts import Account, Accounts, Tries, checked_login, folded, is_right
from noren.web.errors import ConflictError, ForbiddenError, NotFoundError
from noren.web.settings import ServerSettings
from noren.work.queue import now

limited_login: ContextVar[str] = ContextVar("limited", default="")
"""The login of who asks, where she sees nothing but the projects shared with her; else nothing."""
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_Route = TypeVar("_Route", bound=Callable[..., Any])


class UserRole(StrEnum):
    """What a user may do: each of the first three more than the one before, the last something else."""

    READER = N_("reader")
    """Looks at the projects shared with her, and changes nothing."""
    REVIEWER = N_("reviewer")
    """Looks at all projects, and approves or refuses what others made."""
    STEWARD = N_("steward")
    """Does everything with data; nothing with users."""
    ADMINISTRATOR = N_("administrator")
    """Adds users and sets their roles; sees no project, and approves nothing."""

    def covers(self, needed: UserRole) -> bool:
        """Tell whether this role is enough where another is needed."""
        if UserRole.ADMINISTRATOR in (self, needed):
            return needed in (self, UserRole.READER)
        return list(UserRole).index(self) >= list(UserRole).index(needed)

    @property
    def words(self) -> str:
        """The role in the language now spoken."""
        return _(self.value)


@dataclass(frozen=True)
class User(Account):
    """Somebody who may use a studio, or might until she was revoked; ``created_by`` is who added her."""

    role: UserRole
    created_by: str = ""


def get_role(word: str) -> UserRole:
    """Return a role, or say which there are."""
    try:
        return UserRole(word)
    except ValueError:
        raise ParameterError(
            _("there is no role {word!r}; choose one of {names}").format(word=word, names=", ".join(UserRole))
        ) from None


class Users(Accounts[User]):
    """Who may use a studio. What is changed here is on the trail; passwords are not."""

    kind = User

    def __init__(self, engine: sa.Engine, tables: sa.MetaData, trail: Trail) -> None:
        super().__init__(engine, tables)
        self._trail = trail

    def _account(self, row: Any) -> User:
        return User(row.id, row.login, row.name, UserRole(row.role), row.created, row.revoked, row.created_by)

    def changing(self) -> contextlib.AbstractContextManager[sa.Connection]:
        """Return a transaction of which the trail tells."""
        return self._trail.changing()

    def note(self, database: sa.Connection, kind: str, account: User, **body: Any) -> None:
        """Add an entry to the trail; a login is noted under the name of the user."""
        if kind == "entered":
            with acting_as(account.login):
                self._trail.note(database, kind)
        else:
            self._trail.note(database, kind, login=account.login, **body)

    def exist(self) -> bool:
        """Tell whether the studio has users, so that only they are let in."""
        with self.engine.connect() as database:
            return database.execute(sa.select(self.accounts.c.id).limit(1)).first() is not None

    def get(self, login: str) -> User:
        """Return a user, or say that there is none of that login."""
        user = self.by_login(login)
        if user is None:
            raise NotFoundError(_("there is no user {login}").format(login=folded(login)))
        return user

    def add(self, login: str, name: str, password: str, role: UserRole) -> User:
        """Add a user; the first must be an administrator, for nobody else could add others."""
        known = checked_login(login, RESERVED)
        if role != UserRole.ADMINISTRATOR and not self.exist():
            raise ParameterError(_("the first user must be an administrator; add an administrator first"))
        return self.add_account(known, name or known, password, role, created_by=acting.get())

    def set_role(self, login: str, role: UserRole) -> User:
        """Give a user another role; open sessions end."""
        user = self._active(login)
        if user.login == acting.get():
            raise ConflictError(_("another administrator must change your role"))
        if user.role != role:
            with self.changing() as database:
                self._keep_an_administrator(database, user)
                self.change(database, user, "role", role=str(role))
                self.note(database, "user-role", user, role=str(role), before=str(user.role))
        return self.get(login)

    def set_password(self, login: str, password: str) -> User:
        """Set a user's password; all open sessions of the user end."""
        user = self._active(login)
        self.change_password(user, password)
        return user

    def revoke(self, login: str) -> User:
        """Let a user in no more; what the trail says of her stays, and nobody else gets her login."""
        user = self._active(login)
        with self.changing() as database:
            self._keep_an_administrator(database, user)
            self.change(database, user, "revoked", revoked=now())
            self.note(database, "user-revoked", user)
        return self.get(login)

    def _active(self, login: str) -> User:
        user = self.get(login)
        if user.revoked is not None:
            raise ConflictError(_("{login} is revoked").format(login=user.login))
        return user

    def _keep_an_administrator(self, database: sa.Connection, user: User) -> None:
        at, role = self.accounts.c, UserRole.ADMINISTRATOR
        others = sa.select(at.id).where(at.role == str(role), at.revoked.is_(None), at.id != user.id)
        if user.role == role and database.execute(others.limit(1)).first() is None:
            raise ConflictError(_("{login} is the last administrator; appoint another first").format(login=user.login))


# --- the door --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StudioIdentity:
    """Who asks; without users it is the one person whose studio it is, a steward who may add the first user."""

    login: str = OWNER
    name: str = ""
    role: UserRole = UserRole.STEWARD

    @property
    def is_user(self) -> bool:
        """Whether it is one of several."""
        return self.login != OWNER

    def sees(self, place: str) -> bool:
        """Tell whether an entry of the rail is for somebody."""
        return {"protect": self.may(UserRole.STEWARD), "projects": self.role != UserRole.ADMINISTRATOR}.get(place, True)

    def may(self, role: UserRole) -> bool:
        """Tell whether somebody may do what needs a role."""
        return not self.is_user or self.role.covers(role)


class StudioAuthentication:
    """The door of a studio: its users where it has some, else its one password, else whoever is at this machine.

    The one password opens nothing any more once there are users; a session that it opened ends with it.
    """

    def __init__(self, settings: ServerSettings, users: Users) -> None:
        self._settings, self._users, self.tries = settings, users, Tries()

    @property
    def has_users(self) -> bool:
        """Whether people log in each with a password of her own."""
        return self._users.exist()

    @property
    def needed(self) -> bool:
        """Whether people must log in."""
        return self._settings.password_hash is not None or self.has_users

    def who(self, session: str) -> StudioIdentity | None:
        """Return who a browser's session belongs to; nobody where it must log in first."""
        user = self._users.of_session(session)
        if user is not None:
            return StudioIdentity(user.login, user.name, user.role)
        hashed = self._settings.password_hash
        is_owner = not self.has_users and (hashed is None or self._users.has_session(session, hashed))
        return StudioIdentity() if is_owner else None

    def is_in(self, session: str) -> bool:
        """Tell whether a session may see more than what is open to all."""
        return self.who(session) is not None

    def why_out(self, session: str) -> str:
        """Return in one line why a session that was let in is so no longer; nothing where it never was."""
        ended = self._users.why_ended(session)
        if ended == "revoked":
            return _("your access was revoked; contact an administrator")
        return _("your role or password was changed; log in again") if ended else ""

    def enter(self, login: str, password: str, address: str = "") -> str | None:
        """Return a new session for the right password."""
        if self.has_users:
            user = self._users.enter(login, password)
            return None if user is None else self.opened(user, address)
        hashed = self._settings.password_hash
        return self.opened(None, address, hashed) if hashed is not None and is_right(hashed, password) else None

    def opened(self, user: User | None, address: str, password_hash: str = "") -> str:
        """Return a new session for somebody who proved who she is."""
        self.tries.forget(address)
        return self._users.open_session(user, password_hash)

    def leave(self, session: str) -> None:
        """Log a session out."""
        for hashed in ("", self._settings.password_hash):
            if hashed is not None:
                self._users.end_session(session, hashed)


# --- what a role may do ----------------------------------------------------------------------------------------------


def least(role: UserRole) -> Callable[[_Route], _Route]:
    """Say which role is enough for a route."""

    def mark(route: _Route) -> _Route:
        route.role = role  # type: ignore[attr-defined]
        return route

    return mark


async def allowed(request: Request) -> None:
    """Find out who asks, and stop who may not; the others act under their own name from here on."""
    entrance: StudioAuthentication = request.app.state.login
    who = await run_in_threadpool(entrance.who, request.state.session)
    request.state.who = who
    if who is None:  # the guard let through what is open to all
        return
    needed = needed_role(request.scope["endpoint"], request.method)
    if not who.may(needed):
        raise ForbiddenError(role_missing(who, needed))
    acting.set(who.login)
    limited_login.set("" if who.may(UserRole.REVIEWER) else who.login)


def needed_role(endpoint: Callable[..., Any], method: str) -> UserRole:
    """Return the role that is enough for a route."""
    return UserRole(getattr(endpoint, "role", UserRole.READER if method in _SAFE else UserRole.STEWARD))


def role_missing(who: StudioIdentity, needed: UserRole) -> str:
    """Return the message that somebody's role is not enough."""
    return _("your role is {role}; this needs the role {needed}").format(role=who.role.words, needed=needed.words)
