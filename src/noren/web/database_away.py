"""A database that does not answer: one sentence for it, however a library says so."""

from __future__ import annotations

from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from noren.i18n import N_

__all__ = ["DATABASE_AWAY", "is_database_away"]

DATABASE_AWAY: Final = N_("the database does not answer; nothing was changed. Try again in a minute")


def is_database_away(error: BaseException) -> bool:
    """Tell whether a database did not answer, or went away in between; what was begun is undone then.

    >>> is_database_away(OperationalError("SELECT 1", None, OSError("gone"))), is_database_away(ValueError())
    (True, False)
    """
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
    return isinstance(error, NoConnectionError)
