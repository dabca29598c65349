"""Data, releases and guesses of any make, as the files that the contests' checkers read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from noren.data.checks import check_guess, check_release
from noren.data.checks.report import Report
from noren.data.contest_files import published, write_guess, write_rows
from noren.data.frames import History, Records
from noren.data.given import as_public, as_records, as_release
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["ContestFiles", "contest_files"]


@dataclass(frozen=True)
class ContestFiles:
    """An original and a release in its order (or, for a guess, what is published), and perhaps a guess."""

    original: Path
    release: Path | None
    guess: Path | None

    def check(self, schema: str, limit: int) -> Report:
        """Check the guess where there is one, else the release."""
        if self.guess is not None:
            return check_guess(schema, self.original, self.guess, published=self.release, limit=limit)
        if self.release is None:
            raise ParameterError(_("there is nothing to check"), _("name a release, or a guess with --guess"))
        return check_release(schema, self.original, self.release, limit=limit)


@contextmanager
def contest_files(
    original: Any, release: Any, guess: str | PathLike[str] | pl.DataFrame | None, schema: str
) -> Iterator[ContestFiles]:
    """Yield the files: paths as they are, the rest written to a folder that goes away with the check."""
    every = (original, release, guess)
    if all(one is None or isinstance(one, str | PathLike) for one in every):
        yield ContestFiles(*(None if one is None else Path(one) for one in every))  # type: ignore[arg-type]
        return
    rows = as_records(original, schema)
    if not isinstance(rows, History):
        raise ParameterError(_("a table has no official text format"), _("give a purchase history"))
    with TemporaryDirectory(prefix="noren-") as place:
        folder = Path(place)
        yield ContestFiles(
            _file(original) or _written(rows, folder / "T.csv"),
            _release_file(release, rows, folder, for_guess=guess is not None),
            _guess_file(guess, rows, release, folder),
        )


def _release_file(release: Any, original: History, folder: Path, *, for_guess: bool) -> Path | None:
    if release is None or _file(release):
        return _file(release)
    if for_guess:
        public = as_public(release, original)
        return _written(published(public) if isinstance(public, History) else public, folder / "public.csv")
    return _written(as_release(release, original).aligned(), folder / "A.csv")


def _guess_file(guess: Any, original: History, release: Any, folder: Path) -> Path | None:
    if guess is None or _file(guess):
        return _file(guess)
    public = original if release is None else as_public(release, original)
    return write_guess(guess, folder / "guess.csv", original, public)


def _file(given: Any) -> Path | None:
    return Path(given) if isinstance(given, str | PathLike) else None


def _written(rows: Records, path: Path) -> Path:
    if not isinstance(rows, History):
        raise ParameterError(_("a table has no official text format"), _("give a purchase history"))
    write_rows(rows, path)
    return path
