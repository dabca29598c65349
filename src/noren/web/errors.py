"""What a server says no to: its own refusals, a full disk, a database that is away; how its REST interface says so."""

from __future__ import annotations

import errno
from typing import Any, Final

from pydantic import BaseModel
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from noren.errors import FileError, NorenError, OutputError
from noren.i18n import N_, _
from noren.tables import table_of


class NotFoundError(NorenError):
    """What was asked for is not there (any more)."""

    status = 404


class ConflictError(NorenError):
    """What was asked for cannot be done in the state things are in."""

    status = 409


class ForbiddenError(NorenError):
    """What was asked for is another's to do."""

    status = 403


class TooLargeError(FileError):
    """A file that is larger than the server takes."""

    status = 413

    @classmethod
    def of(cls, largest: int, name: str | None = None) -> TooLargeError:
        """Say how large a file may be."""
        message = _("the file is larger than {largest}; upload a part of it, or use Parquet")
        return cls(message.format(largest=f"{largest / 1e6:,.0f} MB"), file=name)


class ErrorText(BaseModel):
    """What is wrong and the cure; where it is, as far as that is known."""

    message: str
    row: int | None = None
    column: str | None = None
    value: str | None = None
    rule: str | None = None
    cure: str | None = None


class ErrorOut(BaseModel):
    """An answer that says why there is no other."""

    error: ErrorText


_TEXTS = table_of(__name__)


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return how answers of these statuses are described.

    >>> errors(404)[404]["description"]
    'there is no such thing'
    """
    return {status: {"model": ErrorOut, "description": _TEXTS[str(status)]} for status in statuses}


def status_of(error: NorenError) -> int:
    """Return the status of a page that says what cannot be."""
    return int(getattr(error, "status", 422))


UNEXPECTED: Final = N_("unexpected error; see the server log, or the error log of the job in the data folder")
DISK_FULL: Final = N_("the disk that holds the server's data is full; free some space there and try again")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FULL_TEXTS = ("no space left on device", "disk is full", "disk quota exceeded", "file too large (os error")


class DiskFullError(OutputError):
    """The disk is full; nothing was written."""

    def __init__(self) -> None:
        super().__init__(_(DISK_FULL))


def is_disk_full(error: BaseException | None) -> bool:
    """Tell whether a full disk (or quota) is behind an error, whichever library met it.

    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(OSError(2, "No such file"))
    (True, False)
    """
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, DiskFullError) or (isinstance(error, OSError) and error.errno in _FULL):
            return True
        # of a database's error without the statement, which holds what people wrote
        message = str(getattr(error, "orig", None) or error).lower()
        if not isinstance(error, NorenError) and any(text in message for text in _FULL_TEXTS):
            return True
        error = error.__cause__ or error.__context__
    return False


DATABASE_AWAY: Final = N_("the database does not answer; nothing was changed. Try again in a minute")


def is_database_away(error: BaseException) -> bool:
    """Tell whether a database did not answer, or went away in between; what was begun is undone then.

    >>> is_database_away(OperationalError("SELECT 1", None, OSError("gone"))), is_database_away(ValueError())
    (True, False)
    """
    if isinstance(error, DBAPIError):
        return error.connection_invalidated or isinstance(error, OperationalError | InterfaceError)
    return isinstance(error, NoConnectionError)
