"""Does a file follow the rules of a contest? The same answer on the server, at home and in a replay.

Files of 2018 and 2017 are judged as the cups' own checkers judged them (:mod:`noren.data.checks`), others by
:mod:`~noren.contest.judging.own_rules`. Whatever a file holds, the answer is a report: what a reader cannot take is one
of its problems.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from noren.contest.judging.guess_files import pair_findings
from noren.contest.judging.own_rules import release_findings
from noren.contest.judging.prepared import LARGEST, Prepared, has_official_checker, original_of, prepare
from noren.contest.judging.texts import read_texts
from noren.contest.rulebook import Rulebook
from noren.data import checks
from noren.data.checks.lines import read_lines
from noren.data.checks.report import Report, gather
from noren.data.formats.sizes import stop_at_large
from noren.data.formats.source import Source
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.errors import FormatError, InputError, Problem
from noren.i18n import LANGUAGES, _, said_again, speaking

__all__ = [
    "SHOWN",
    "check_guess",
    "check_release",
    "checked_guess",
    "checked_release",
    "in_every_language",
    "numbered",
    "refused",
]

SHOWN = 20
"""Problems that a report tells; all are counted."""
_LONGEST = 200
"""Characters of a cell that the log keeps."""


def check_release(
    rulebook: Rulebook, original: Path, submitted: Path, *, limit: int = SHOWN, master: Path | None = None
) -> Report:
    """Check a release against its original by the rules of a contest."""
    return checked_release(rulebook, original, submitted, limit=limit, master=master)[0]


def checked_release(
    rulebook: Rulebook, original: Path, submitted: Path, *, limit: int = SHOWN, master: Path | None = None
) -> tuple[Report, Prepared | None]:
    """Check a release and return it, ready to be judged, where it is valid."""
    data = original_of(rulebook, original, master)  # a fault of the original is not the team's

    def rules() -> Report:
        _stop_at_binary(submitted)
        stop_at_large(submitted, LARGEST)
        if has_official_checker(data):
            return checks.check_release(str(data.schema.official), original, submitted, limit=limit)
        return gather(release_findings(rulebook, data, read_texts(submitted, data.schema)), limit=limit)

    report = _answered(rules)
    if not report.valid:
        return report, None
    try:
        return report, prepare(rulebook, original, submitted, master)
    except InputError as error:  # the cups' checkers accept some spellings that nobody could read as rows
        return refused(error), None


def check_guess(
    rulebook: Rulebook,
    original: Path,
    target: Path,
    guess: Path,
    *,
    limit: int = SHOWN,
    master: Path | None = None,
) -> Report:
    """Check a guess against the target that it is about, the file that attackers are given."""
    data = original_of(rulebook, original, master)
    names = _names_of(target, data)
    return checked_guess(data, original, names, guess, limit=limit)


def _names_of(target: Path, data: Records) -> pl.Series:
    """Return the pseudonyms of a target, or the numbers of its rows."""
    if data.schema.official is not None:
        return read_lines(target).text.str.splitn(",", 2).struct.field("field_0").unique(maintain_order=True)
    cells = pl.read_csv(target, infer_schema=False)
    if isinstance(data, History):
        return cells[data.schema.role(Role.CUSTOMER).name].unique(maintain_order=True)
    return numbered(len(cells))


def _stop_at_binary(path: Path) -> None:
    """Stop at Parquet files and workbooks: what a checker of lines says of them helps nobody."""
    if Source.open(path).kind != "text":
        raise FormatError(_("this is no text file"), _("write it as CSV, such as with noren convert"))


def numbered(count: int) -> pl.Series:
    """Return the numbers of rows as texts, from 1."""
    return pl.int_range(1, count + 1, eager=True).cast(pl.String)


def checked_guess(data: Records, original: Path, names: pl.Series, guess: Path, *, limit: int = SHOWN) -> Report:
    """Check a guess about ``names``: the pseudonyms of a target, or the numbers of its rows."""

    def rules() -> Report:
        _stop_at_binary(guess)
        stop_at_large(guess, LARGEST)
        if not has_official_checker(data):
            return gather(pair_findings(guess, data, names, _people(data)), limit=limit)
        with TemporaryDirectory(prefix="noren-") as folder:
            published = Path(folder) / "pseudonyms.csv"
            published.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            official = str(data.schema.official)
            return checks.check_guess(official, original, guess, published=published, limit=limit)

    return _answered(rules)


def _people(data: Records) -> pl.Series:
    if isinstance(data, History):
        return data.customers.cast(pl.String)
    return numbered(len(data))


def _answered(rules: Callable[[], Report]) -> Report:
    try:
        return rules()
    except InputError as error:
        return refused(error)


def refused(error: InputError) -> Report:
    """Return the report on a file that its reader could not take; ``file`` is ours and is not told."""
    return Report(valid=False, problems=tuple(error.problems), total=len(error.problems), warnings=())


def in_every_language(report: Report) -> dict[str, Any]:
    """Return a report as the log keeps it: in each language, long values cut.

    Its texts must remember their messages (:func:`noren.i18n.remember_messages`), so that the log does not depend on
    the language that a judge's machine speaks.
    """
    told = {}
    for language in LANGUAGES:
        with speaking(language):
            kept = replace(report, problems=_again(report.problems), warnings=_again(report.warnings))
            told[language] = kept.as_dict()
    return told


def _again(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    return tuple(
        replace(one, value=_short(one.value), rule=str(said_again(one.rule)), cure=str(said_again(one.cure)))
        for one in problems[:SHOWN]
    )


def _short(value: str | None) -> str | None:
    """Cut a long value, and escape what no log should hold: controls and halves of characters."""
    if value is None:
        return None
    cut = "".join(c if c.isprintable() else repr(c)[1:-1] for c in value[:_LONGEST])
    return cut if len(value) <= _LONGEST else f"{cut}…"
