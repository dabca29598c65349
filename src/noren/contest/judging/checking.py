"""Does a file follow the rules of a contest? The same answer on the server, at home and in a replay.

Files of 2018 and 2017 are judged as the cups' own checkers judged them (:mod:`noren.data.checks`), others by our
own rules. Whatever a file holds, the answer is a report: what a reader cannot take is one of its problems.

Our own rules are for releases of formats that no contest has a checker for: 2016, any history, any table. A release has
the rows of the original in its order (deleted ones marked), then inserted ones where the rules allow them. Cells hold
values of the column's type, sets or intervals of them unless exact values are asked for, and items (in a table any
category) that the original has. A customer has one pseudonym, a pseudonym one customer, and no pseudonym is a
customer's name: it would pass for the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from noren.contest.judging.prepared import LARGEST, Prepared, original_of, prepare
from noren.contest.judging.submissions import DELETED, SUPPRESSED, numbered, pair_findings, read_texts
from noren.contest.rulebook import Rulebook
from noren.data import checks
from noren.data.checks.pwscup2018 import one_to_one
from noren.data.checks.report import Finding, Report, broken_rows, gather, read_lines
from noren.data.formats.parse import column_rules, read_text, unreadable
from noren.data.formats.source import Source, limit_decoded_size
from noren.data.frames import History, Records
from noren.data.schema import Column, Role, Scale
from noren.errors import FormatError, InputError, Problem
from noren.i18n import LANGUAGES, _, retranslate, use_language
from noren.tables import Texts

say = Texts(__name__)
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
    try:
        _reject_other_files(submitted)
        if data.schema.official in checks.CHECKERS:
            report = checks.check_release(str(data.schema.official), original, submitted, limit=limit)
        else:
            report = gather(_Check(rulebook, data, *read_texts(submitted, data.schema)).findings(), limit=limit)
        # the cups' checkers accept some spellings that nobody could read as rows
        return report, prepare(rulebook, original, submitted, master) if report.valid else None
    except InputError as error:
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
    if data.schema.official is not None:
        names = read_lines(target).text.str.splitn(",", 2).struct.field("field_0").unique(maintain_order=True)
    else:
        cells = pl.read_csv(target, infer_schema=False)
        names = numbered(len(cells))
        if isinstance(data, History):
            names = cells[data.schema.role(Role.CUSTOMER).name].unique(maintain_order=True)
    return checked_guess(data, original, names, guess, limit=limit)


def checked_guess(data: Records, original: Path, names: pl.Series, guess: Path, *, limit: int = SHOWN) -> Report:
    """Check a guess about ``names``: the pseudonyms of a target, or the numbers of its rows."""
    try:
        _reject_other_files(guess)
        if data.schema.official not in checks.CHECKERS:
            people = data.customers.cast(pl.String) if isinstance(data, History) else numbered(len(data))
            return gather(pair_findings(guess, data, names, people), limit=limit)
        with TemporaryDirectory(prefix="noren-") as folder:
            published = Path(folder) / "pseudonyms.csv"
            published.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            official = str(data.schema.official)
            return checks.check_guess(official, original, guess, published=published, limit=limit)
    except InputError as error:
        return refused(error)


def _reject_other_files(file: Path) -> None:
    if Source.open(file).kind != "text":  # what a checker of lines says of a workbook helps nobody
        raise FormatError(say("no_text"))
    limit_decoded_size(file, LARGEST)


def refused(error: InputError) -> Report:
    """Return the report on a file that its reader could not take; ``file`` is ours and is not told."""
    return Report(valid=False, problems=tuple(error.problems), total=len(error.problems), warnings=())


def in_every_language(report: Report) -> dict[str, Any]:
    """Return a report as the log keeps it: in each language, long values cut.

    Its texts must remember their messages (:func:`noren.i18n.track_messages`), so that the log does not depend on
    the language that a judge's machine speaks.
    """
    told = {}
    for language in LANGUAGES:
        with use_language(language):
            kept = replace(report, problems=_again(report.problems), warnings=_again(report.warnings))
            told[language] = kept.as_dict()
    return told


def _again(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Say problems in the language now spoken; long values are cut, what no log should hold is escaped."""
    made = []
    for one in problems[:SHOWN]:
        value = one.value
        if value is not None:
            cut = "".join(c if c.isprintable() else repr(c)[1:-1] for c in value[:_LONGEST])
            value = cut if len(value) <= _LONGEST else f"{cut}…"
        made.append(replace(one, value=value, rule=str(retranslate(one.rule)), cure=str(retranslate(one.cure))))
    return tuple(made)


_RANGE = r"^\[([^;]*);([^;]*)\]$"
_SET = r"^\{(.*)\}$"


@dataclass(frozen=True)
class _Check:
    rulebook: Rulebook
    original: Records
    cells: pl.DataFrame
    first_row: int

    def findings(self) -> Iterator[Finding]:
        """Find every broken rule of a release."""
        yield from self._row_findings()
        if isinstance(self.original, History):
            yield from self._pseudonym_findings()
        for column in self.original.schema.columns:
            if column.role != Role.CUSTOMER and column.name in self.cells.columns:
                yield from self._cell_findings(column)

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The cells, the line of each row, its place, and whether it is deleted.

        A row is marked as deleted by the pseudonym of a history, in a table by every cell.
        """
        deleted = pl.all_horizontal(pl.all().is_in([SUPPRESSED, ""]))
        if isinstance(self.original, History):
            deleted = pl.col(self._customer) == (DELETED if self.original.schema.official else SUPPRESSED)
        return self.cells.with_columns(
            pl.int_range(pl.len()).alias("\0place"),
            (pl.int_range(pl.len()) + self.first_row).alias("row"),
            deleted.alias("\0deleted"),
        )

    @cached_property
    def _live(self) -> pl.DataFrame:
        return self.rows.filter(~pl.col("\0deleted"))

    @property
    def _customer(self) -> str:
        return self.original.schema.role(Role.CUSTOMER).name

    def _told(
        self, column: str | None, rule: str, cure: str = "", cells: pl.Series | None = None
    ) -> Callable[..., Problem]:
        """Return how one broken rule of a column is told of any row."""

        def tell(row: int) -> Problem:
            given = cells if cells is not None or column is None else self.cells[column]
            value = None if given is None else str(given[row - self.first_row])
            return Problem(row, column, value, rule, cure)

        return tell

    # --- rows --------------------------------------------------------------------------------------------------

    def _row_findings(self) -> Iterator[Finding]:
        """Find rows that are missing or too many, and deleted rows that still say something."""
        found, expected, first = len(self.cells), len(self.original), self.first_row
        count = _("the file has {found:,} rows, the original has {expected:,}").format(found=found, expected=expected)
        if found < expected:
            cure = say("too_few", row=self._deleted_row())
            yield Finding.once(Problem(found - 1 + first, None, None, count, cure))
        if found > expected and not self.rulebook.inserted_rows:
            cure = say("too_many", expected=expected - 1 + first)
            yield Finding.once(Problem(expected + first, None, None, count, cure))
        rows = self.rows
        beyond = pl.col("\0deleted") & (pl.col("\0place") >= expected)
        yield Finding(broken_rows(rows, beyond), 0, self._told(None, say("deleted_beyond")))
        if isinstance(self.original, History):
            others = [name for name in self.cells.columns if name != self._customer]
            speaks = pl.any_horizontal(~pl.col(others).is_in([SUPPRESSED, ""]))
            told = self._told(self._customer, say("deleted_speaks", row=self._deleted_row()))
            yield Finding(broken_rows(rows, pl.col("\0deleted") & speaks), 0, told)

    def _deleted_row(self) -> str:
        names = self.cells.columns
        if self.original.schema.official:
            return DELETED + "," * (len(names) - 1)
        return ",".join([SUPPRESSED] * len(names))

    # --- pseudonyms --------------------------------------------------------------------------------------------

    def _pseudonym_findings(self) -> Iterator[Finding]:
        """Find rows without a pseudonym, under a customer's own name, or under one that breaks the one-to-one map."""
        column, rank = self._customer, self.cells.columns.index(self._customer) + 1
        customers = self.original[Role.CUSTOMER].cast(pl.String)
        rows = self._live.select("row", "\0place", pseudonym=column)
        pseudonym = pl.col("pseudonym")
        empty, named = pseudonym == "", pseudonym.is_in(customers.drop_nulls().unique().implode())
        told = self._told(column, say("no_pseudonym", row=self._deleted_row()))
        yield Finding(broken_rows(rows, empty), rank, told)
        yield Finding(broken_rows(rows, named), rank, self._told(column, say("customers_name")))
        known = rows.filter(~empty & ~named)
        kept = known.filter(pl.col("\0place") < len(self.original))
        whose = kept.with_columns(customers.gather(kept["\0place"]).alias("customer"))
        yield from one_to_one(whose.drop_nulls("customer").select("row", "customer", "pseudonym"), column, rank)
        inserted = known.filter(pl.col("\0place") >= len(self.original))
        strange = ~pseudonym.is_in(kept["pseudonym"].unique().implode())
        yield Finding(broken_rows(inserted, strange), rank, self._told(column, say("inserted_stranger")))

    # --- cells -------------------------------------------------------------------------------------------------

    def _cell_findings(self, column: Column) -> Iterator[Finding]:
        """Find the cells of a column that are missing, cannot be read, or say what the original has not."""
        cell = pl.col("cell")
        live = self._live.select("row", cell=column.name)
        rank = self.cells.columns.index(column.name) + 1
        if self.rulebook.exact_values and not column.optional:
            told = self._told(column.name, say("missing"))
            yield Finding(broken_rows(live, cell.is_in([SUPPRESSED, ""])), rank, told)
        said = live.filter(~cell.is_in([SUPPRESSED, ""]))
        if said.is_empty():
            return
        judge = self._categories if column.scale == Scale.NOMINAL else self._numbers
        for bad, rule, cure in judge(said, column):
            rows = said["row"].filter(bad).cast(pl.Int64).to_numpy()
            if len(rows):
                yield Finding(rows, rank, self._told(column.name, rule, cure))

    def _numbers(self, said: pl.DataFrame, column: Column) -> Iterator[tuple[pl.Series, str, str]]:
        count, cell = len(said), pl.col("cell")
        if self.rulebook.exact_values:
            ends = said["cell"]
            cure = _("write a value like those of the original")
        else:
            low, high = (said.select(cell.str.extract(_RANGE, end).fill_null(cell)).to_series() for end in (1, 2))
            ends = pl.concat([low, high])
            cure = _("write a value like those of the original, a range like [a;b] of two, or * for none")

        def either(broken: pl.Series) -> pl.Series:
            return broken if len(ends) == count else broken[:count] | broken[count:]

        typed, lost = read_text(ends.to_frame(column.name), (column,))
        unread = either(lost.get(column.name, ends == "") | (ends == ""))
        yield unread, unreadable(column, said["cell"].filter(unread))[0], cure
        values = typed[column.name]
        if len(ends) > count:
            turned = (values[:count] > values[count:]).fill_null(value=False)
            yield turned, say("turned_range"), ""
        rules = column_rules(column.model_copy(update={"optional": True}), guessed=self.original.schema.guessed)
        judged = typed.select(bad.fill_null(value=False).alias(str(n)) for n, (bad, _rule, _cure) in enumerate(rules))
        for number, (_bad, rule, _cure) in enumerate(rules):
            yield either(judged[str(number)]) & ~unread, rule, cure

    def _categories(self, said: pl.DataFrame, column: Column) -> Iterator[tuple[pl.Series, str, str]]:
        cell = pl.col("cell")
        braced = pl.lit(value=False) if self.rulebook.exact_values else cell.str.contains(_SET)
        split = cell.str.extract(_SET).str.split(";")
        members = said.select(pl.when(braced).then(split).otherwise(pl.concat_list(cell)).alias("members"))
        lists = members["members"]
        bad_set = (lists.list.contains("") | (lists.list.n_unique() != lists.list.len())).fill_null(value=False)
        yield bad_set, say("bad_set"), ""
        if column.role in (Role.ITEM, Role.QUASI, Role.SENSITIVE):
            words = say("foreign_item" if column.role == Role.ITEM else "foreign_value")
            known = self.original.frame[column.name].cast(pl.String).drop_nulls().unique()
            if column.domain is not None:
                known = pl.concat([known, pl.Series(column.domain)]).unique()
            flat = pl.DataFrame({"at": np.arange(len(lists)), "value": lists}).explode("value")
            strange = flat.filter(~pl.col("value").is_in(known.implode()))["at"].unique()
            yield pl.Series(np.arange(len(lists))).is_in(strange.implode()) & ~bad_set, words, ""
