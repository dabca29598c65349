"""The one password of a server, and the sessions that it opens."""

from __future__ import annotations

import datetime as dt
import hashlib
import secrets
from typing import Protocol

from noren.web.cookies import DAYS
from noren.web.passwords import is_right
from noren.web.settings import Settings
from noren.web.tries import Tries

__all__ = ["Login", "Sessions"]


class Sessions(Protocol):
    """Where sessions are kept, by their digests: the server's store."""

    def has_session(self, digest: str) -> bool:
        """Tell whether a session is open."""

    def add_session(self, digest: str, until: str) -> None:
        """Keep a session until a moment."""

    def remove_session(self, digest: str) -> None:
        """End a session."""


class Login:
    """The one password of a server that other machines can reach; a session ends with the password it was opened by."""

    def __init__(self, settings: Settings, store: Sessions) -> None:
        self._settings, self._store = settings, store
        self.tries = Tries()

    @property
    def needed(self) -> bool:
        """Whether people must log in: a password was set."""
        return self._settings.password_hash is not None

    def is_in(self, session: str) -> bool:
        """Tell whether a session is logged in."""
        kept = self._settings.password_hash
        return kept is None or self._store.has_session(_digest(session, kept))

    def enter(self, password: str, address: str = "") -> str | None:
        """Return a new session for the right password."""
        kept = self._settings.password_hash
        if kept is None or not is_right(kept, password):
            return None
        self.tries.forget(address)
        session = secrets.token_urlsafe(32)
        until = dt.datetime.now(dt.UTC) + dt.timedelta(days=DAYS)
        self._store.add_session(_digest(session, kept), until.isoformat(timespec="microseconds"))
        return session

    def leave(self, session: str) -> None:
        """Log a session out."""
        kept = self._settings.password_hash
        if kept is not None:
            self._store.remove_session(_digest(session, kept))


def _digest(session: str, password_hash: str) -> str:
    """Return what is kept of a session; another password, or the same one set again, makes it another."""
    return hashlib.sha256(f"{password_hash}\0{session}".encode()).hexdigest()
