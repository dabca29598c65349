"""The door of a studio: its users where it has some, else its one password, else whoever is at this machine."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from dataclasses import dataclass

from noren.studio.store import Store
from noren.studio.trail import OWNER
from noren.studio.users import User, UserRole
from noren.web.cookies import DAYS
from noren.web.login import Login
from noren.web.settings import Settings

__all__ = ["Entrance", "Who"]


@dataclass(frozen=True)
class Who:
    """Who asks; without users it is the one person whose studio it is, a steward."""

    login: str = OWNER
    name: str = ""
    role: UserRole = UserRole.STEWARD

    @property
    def is_user(self) -> bool:
        """Whether it is one of several."""
        return self.login != OWNER

    def may(self, role: UserRole) -> bool:
        """Tell whether somebody may do what needs a role."""
        return self.role.rank >= role.rank


class Entrance:
    """Who comes in at one studio. The one password opens nothing any more once there are users."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._one_password, self._users = Login(settings, store), store.users
        self.tries = self._one_password.tries

    @property
    def has_users(self) -> bool:
        """Whether people log in each with a password of her own."""
        return self._users.exist()

    @property
    def needed(self) -> bool:
        """Whether people must log in."""
        return self._one_password.needed or self.has_users

    def who(self, session: str) -> Who | None:
        """Return who a browser's session belongs to; nobody where it must log in first."""
        user = self._users.of_session(_digest(session))
        if user is not None:
            return Who(user.login, user.name, user.role)
        return Who() if not self.has_users and self._one_password.is_in(session) else None

    def is_in(self, session: str) -> bool:
        """Tell whether a session may see more than what is open to all."""
        return self.who(session) is not None

    def why_out(self, session: str) -> str:
        """Return in one line why a session that was let in is so no longer; nothing where it never was."""
        return self._users.why_ended(_digest(session))

    def enter(self, login: str, password: str, address: str = "") -> str | None:
        """Return a new session for the right password."""
        if not self.has_users:
            return self._one_password.enter(password, address)
        user = self._users.enter(login, password)
        return None if user is None else self._opened(user, address)

    def renew(self, who: Who, address: str = "") -> str:
        """Return a new session for somebody who proved who she is."""
        return self._opened(self._users.one(who.login), address)

    def _opened(self, user: User, address: str) -> str:
        self.tries.forget(address)
        session = secrets.token_urlsafe(32)
        until = dt.datetime.now(dt.UTC) + dt.timedelta(days=DAYS)
        self._users.open_session(_digest(session), user, until.isoformat(timespec="microseconds"))
        return session

    def leave(self, session: str) -> None:
        """Log a session out."""
        self._users.end_session(_digest(session))
        self._one_password.leave(session)


def _digest(session: str) -> str:
    return hashlib.sha256(session.encode()).hexdigest()
