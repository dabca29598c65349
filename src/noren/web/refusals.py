"""What a server says no to, by what is the matter; each names the status it is answered with."""

from __future__ import annotations

from noren.errors import FileError, NorenError
from noren.i18n import _

__all__ = ["NotNowError", "NotThereError", "NotYoursError", "TooLargeError"]


class NotThereError(NorenError):
    """What was asked for is not there (any more)."""

    status = 404


class NotNowError(NorenError):
    """What was asked for cannot be done in the state things are in."""

    status = 409


class NotYoursError(NorenError):
    """What was asked for is another's to do."""

    status = 403


class TooLargeError(FileError):
    """A file that is larger than the server takes."""

    status = 413

    @classmethod
    def of(cls, largest: int, name: str | None = None) -> TooLargeError:
        """Say how large a file may be."""
        return cls(
            _("the file is larger than {largest} MB").format(largest=f"{largest / 1e6:,.0f}"),
            _("upload a part of it, or use Parquet"),
            file=name,
        )
