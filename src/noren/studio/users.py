"""The users of a studio: each with a password and a role of her own.

A studio without users is one person's, who does everything. From the first user on, only users are let in. Whoever is
revoked, or gets another role or password, is logged out everywhere at that moment; the open tab learns why.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from noren.errors import DuplicateNameError, ParameterError
from noren.i18n import N_, _
from noren.studio.tables import user_sessions, users
from noren.studio.trail import RESERVED, Trail, acting_as
from noren.web.logins import checked_login, checked_name, folded
from noren.web.passwords import hashed, is_right
from noren.web.refusals import NotNowError, NotThereError
from noren.work.ids import new_id
from noren.work.queue import now

__all__ = ["User", "UserRole", "Users", "role_named"]


class UserRole(StrEnum):
    """What a user may do, each more than the one before."""

    READER = "reader"
    """Looks, and changes nothing."""
    REVIEWER = "reviewer"
    """Besides, approves or refuses what others made."""
    STEWARD = "steward"
    """Does everything, also with users."""

    @property
    def rank(self) -> int:
        """How much it allows."""
        return list(UserRole).index(self)

    @property
    def words(self) -> str:
        """The role in the language now spoken."""
        return _(_WORDS[self])


_WORDS = {UserRole.READER: N_("reader"), UserRole.REVIEWER: N_("reviewer"), UserRole.STEWARD: N_("steward")}
_ENDED = {
    "revoked": N_("your access to this studio was revoked; ask a steward of it"),
    "role": N_("a steward changed your role; log in again"),
    "password": N_("your password was changed; log in again with the new one"),
}


@dataclass(frozen=True)
class User:
    """Somebody who may use a studio, or might until she was revoked."""

    id: str
    login: str
    name: str
    role: UserRole
    created: str
    revoked: str | None


def role_named(word: str) -> UserRole:
    """Return a role, or say which there are."""
    try:
        return UserRole(word)
    except ValueError:
        raise ParameterError(
            _("there is no role {word!r}").format(word=word),
            _("choose one of {names}").format(names=", ".join(UserRole)),
        ) from None


class Users:
    """Who may use a studio. What is changed here is on the trail; passwords are not."""

    def __init__(self, engine: sa.Engine, trail: Trail) -> None:
        self._engine, self._trail = engine, trail

    def exist(self) -> bool:
        """Tell whether the studio has users, so that only they are let in."""
        with self._engine.connect() as database:
            return database.execute(sa.select(users.c.id).limit(1)).first() is not None

    def all(self) -> list[User]:
        """Return everybody, the oldest first."""
        with self._engine.connect() as database:
            return [_user(row) for row in database.execute(users.select().order_by(users.c.created, users.c.login))]

    def one(self, login: str) -> User:
        """Return a user, or say that there is none of that login."""
        with self._engine.connect() as database:
            row = database.execute(users.select().where(users.c.login == folded(login))).first()
        if row is None:
            raise NotThereError(_("there is no user {login}").format(login=folded(login)))
        return _user(row)

    def enter(self, login: str, password: str) -> User | None:
        """Return whose login and password these are; to say no takes as long for unknown logins."""
        with self._engine.connect() as database:
            row = database.execute(users.select().where(users.c.login == folded(login))).first()
        right = is_right(None if row is None else row.password_hash, password)
        return _user(row) if row is not None and right and row.revoked is None else None

    # --- changes ---------------------------------------------------------------------------------------------

    def add(self, login: str, name: str, password: str, role: UserRole) -> User:
        """Add a user; the first must be a steward, for nobody else could add others."""
        known = checked_login(login)
        if known in RESERVED:
            raise ParameterError(_("{login!r} is no login").format(login=login), _("choose another"))
        if role != UserRole.STEWARD and not self.exist():
            raise ParameterError(_("the first user must be a steward"), _("add a steward first"))
        user = User(new_id(), known, checked_name(name or known), role, now(), None)
        kept = hashed(password)
        try:
            with self._trail.changing() as database:
                database.execute(users.insert().values(**user.__dict__ | {"role": str(role)}, password_hash=kept))
                self._trail.note(database, "user-added", login=known, role=str(role))
        except IntegrityError:
            raise DuplicateNameError(_("the login {login} is taken; choose another").format(login=known)) from None
        return user

    def set_role(self, login: str, role: UserRole) -> User:
        """Give a user another role; open sessions end."""
        user = self._active(login)
        if user.role != role:
            with self._trail.changing() as database:
                self._keep_a_steward(database, user, role)
                database.execute(users.update().where(users.c.id == user.id).values(role=str(role)))
                _end(database, user, "role")
                self._trail.note(database, "user-role", login=user.login, role=str(role), before=str(user.role))
        return self.one(login)

    def set_password(self, login: str, password: str) -> User:
        """Give a user another password; whoever was logged in by the old one is so no longer."""
        user, kept = self._active(login), hashed(password)
        with self._trail.changing() as database:
            database.execute(users.update().where(users.c.id == user.id).values(password_hash=kept))
            _end(database, user, "password")
            self._trail.note(database, "user-password", login=user.login)
        return user

    def revoke(self, login: str) -> User:
        """Let a user in no more; what the trail says of her stays, and nobody else gets her login."""
        user = self._active(login)
        with self._trail.changing() as database:
            self._keep_a_steward(database, user, None)
            database.execute(users.update().where(users.c.id == user.id).values(revoked=now()))
            _end(database, user, "revoked")
            self._trail.note(database, "user-revoked", login=user.login)
        return self.one(login)

    def _active(self, login: str) -> User:
        user = self.one(login)
        if user.revoked is not None:
            raise NotNowError(_("{login} was revoked").format(login=user.login))
        return user

    def _keep_a_steward(self, database: sa.Connection, user: User, role: UserRole | None) -> None:
        at = users.c
        others = sa.select(at.id).where(at.role == str(UserRole.STEWARD), at.revoked.is_(None), at.id != user.id)
        if role != UserRole.STEWARD and database.execute(others.limit(1)).first() is None:
            raise NotNowError(_("{login} is the last steward; make somebody else one first").format(login=user.login))

    # --- sessions --------------------------------------------------------------------------------------------

    def open_session(self, digest: str, user: User, until: str) -> None:
        """Remember that a user logged in, until a time; what is over is forgotten."""
        with acting_as(user.login), self._trail.changing() as database:
            database.execute(user_sessions.delete().where(user_sessions.c.until < now()))
            database.execute(user_sessions.insert().values(digest=digest, user=user.id, until=until))
            self._trail.note(database, "entered")

    def of_session(self, digest: str) -> User | None:
        """Return who is logged in."""
        at = user_sessions.c
        asked = sa.select(users).join(user_sessions, at.user == users.c.id)
        asked = asked.where(at.digest == digest, at.until >= now(), at.ended.is_(None), users.c.revoked.is_(None))
        with self._engine.connect() as database:
            row = database.execute(asked).first()
        return None if row is None else _user(row)

    def why_ended(self, digest: str) -> str:
        """Return in one line why a session was ended by somebody else; nothing where it was not."""
        with self._engine.connect() as database:
            asked = sa.select(user_sessions.c.ended).where(user_sessions.c.digest == digest)
            ended = database.execute(asked).scalar()
        return _(_ENDED[ended]) if ended else ""

    def end_session(self, digest: str) -> None:
        """Log a browser out."""
        with self._engine.begin() as database:
            database.execute(user_sessions.delete().where(user_sessions.c.digest == digest))


def _end(database: sa.Connection, user: User, why: str) -> None:
    """End the sessions of a user, and keep why, so that open tabs can be told."""
    at = user_sessions.c
    database.execute(user_sessions.update().where(at.user == user.id, at.ended.is_(None)).values(ended=why))


def _user(row: Any) -> User:
    return User(row.id, row.login, row.name, UserRole(row.role), row.created, row.revoked)
