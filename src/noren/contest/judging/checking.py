"""Format checks of submitted files, with the same result on the server, on a team's machine and in a replay.

Files of 2018 and 2017 are checked as by the official checkers (:mod:`noren.data.checks`), others by our own rules. The
result is always a report: what a reader rejects is one of its problems.

Our own rules are for formats without an official checker: 2016, any history, any table. A release has the rows of the
original in its order (deleted ones marked), then inserted ones if the rules allow them. Cells hold values of the
column's type, sets or intervals unless exact values are required, and only items (in a table categories) of the
original. A customer has one pseudonym, a pseudonym one customer, and no pseudonym is a customer's name.
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
from noren.contest.judging.submissions import pair_findings, read_texts, row_numbers
from noren.contest.rulebook import Rulebook
from noren.data import checks
from noren.data.checks.pwscup2018 import one_to_one
from noren.data.checks.report import Finding, Report, broken_rows, gather, read_lines
from noren.data.contest_files import DELETED, SUPPRESSED
from noren.data.formats.parse import column_rules, read_text, unreadable
from noren.data.formats.source import Source, limit_decoded_size
from noren.data.frames import History, Records
from noren.data.schema import Column, Role, Scale
from noren.errors import FormatError, InputError, Problem
from noren.i18n import LANGUAGES, retranslate, use_language
from noren.tables import Texts

say = Texts(__name__)
SHOWN = 20
"""Problems that a report lists; all are counted."""
_LONGEST = 200
"""Characters of a cell in the log."""


def check_release(
    rulebook: Rulebook, original: Path, submitted: Path, *, limit: int = SHOWN, master: Path | None = None
) -> Report:
    """Check a release against its original by the rules of a contest."""
    return checked_release(rulebook, original, submitted, limit=limit, master=master)[0]


def checked_release(
    rulebook: Rulebook, original: Path, submitted: Path, *, limit: int = SHOWN, master: Path | None = None
) -> tuple[Report, Prepared | None]:
    """Check a release and return it, ready to be judged, where it is valid."""
    data = original_of(rulebook, original, master)  # an error in the original is not the team's
    try:
        _reject_other_files(submitted, parquet=data.schema.official is None)
        if data.schema.official in checks.CHECKERS:
            report = checks.check_release(str(data.schema.official), original, submitted, limit=limit)
        else:
            report = gather(_Check(rulebook, data, *read_texts(submitted, data.schema)).findings(), limit=limit)
        # the cups' checkers accept some spellings that nobody could read as rows
        return report, prepare(rulebook, original, submitted, master) if report.valid else None
    except InputError as error:
        return failed_report(error), None


def check_guess(
    rulebook: Rulebook, original: Path, target: Path, guess: Path, *, limit: int = SHOWN, master: Path | None = None
) -> Report:
    """Check a guess against the file of its target."""
    data = original_of(rulebook, original, master)
    if data.schema.official is not None:
        names = read_lines(target).text.str.splitn(",", 2).struct.field("field_0").unique(maintain_order=True)
    else:
        cells = pl.read_csv(target, infer_schema=False)
        names = row_numbers(len(cells))
        if isinstance(data, History):
            names = cells[data.schema.role(Role.CUSTOMER).name].unique(maintain_order=True)
    return checked_guess(data, original, names, guess, limit=limit)


def checked_guess(data: Records, original: Path, names: pl.Series, guess: Path, *, limit: int = SHOWN) -> Report:
    """Check a guess about ``names``: the pseudonyms of a target, or the numbers of its rows."""
    try:
        _reject_other_files(guess)
        if data.schema.official not in checks.CHECKERS:
            people = data.customers.cast(pl.String) if isinstance(data, History) else row_numbers(len(data))
            return gather(pair_findings(guess, data, names, people), limit=limit)
        with TemporaryDirectory(prefix="noren-") as folder:
            published = Path(folder) / "pseudonyms.csv"
            published.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
            official = str(data.schema.official)
            return checks.check_guess(official, original, guess, published=published, limit=limit)
    except InputError as error:
        return failed_report(error)


def _reject_other_files(file: Path, *, parquet: bool = False) -> None:
    if Source.open(file).kind not in ("text", "parquet" if parquet else "text"):  # line checks would not help
        raise FormatError(say("no_text"))
    limit_decoded_size(file, LARGEST)


def failed_report(error: InputError) -> Report:
    """Return the report of a file that the reader rejected; the server's path is not included."""
    return Report(valid=False, problems=tuple(error.problems), total=len(error.problems), warnings=())


def translated_report(report: Report) -> dict[str, Any]:
    """Return a report as in the log: in each language, with long values cut.

    Its texts must remember their messages (:func:`noren.i18n.track_messages`), so that the log does not depend on
    the language that a judge's machine speaks.
    """
    translations = {}
    for language in LANGUAGES:
        with use_language(language):
            translated = replace(report, problems=_again(report.problems), warnings=_again(report.warnings))
            translations[language] = translated.as_dict()
    return translations


def _again(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Translate problems to the active language; cut long values and escape control characters."""
    made = []
    for problem in problems[:SHOWN]:
        value = problem.value
        if value is not None:
            cut = "".join(c if c.isprintable() else repr(c)[1:-1] for c in value[:_LONGEST])
            value = cut if len(value) <= _LONGEST else f"{cut}…"
        made.append(
            replace(problem, value=value, rule=str(retranslate(problem.rule)), cure=str(retranslate(problem.cure)))
        )
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

    def _problem_maker(self, column: str | None, rule: str, cure: str = "") -> Callable[..., Problem]:
        """Return a function that makes the problem of a column for a row."""

        def make_problem(row: int) -> Problem:
            value = None if column is None else str(self.cells[column][row - self.first_row])
            return Problem(row, column, value, rule, cure)

        return make_problem

    def _row_findings(self) -> Iterator[Finding]:
        """Find missing and surplus rows, and deleted rows that still have values."""
        submitted, expected, first = len(self.cells), len(self.original), self.first_row
        if submitted < expected:
            message = say("too_few", rows=submitted, expected=expected, row=self._deleted_row())
            yield Finding.once(message, submitted - 1 + first)
        if submitted > expected and not self.rulebook.inserted_rows:
            message = say("too_many", rows=submitted, expected=expected, last=expected - 1 + first)
            yield Finding.once(message, expected + first)
        rows = self.rows
        beyond = pl.col("\0deleted") & (pl.col("\0place") >= expected)
        yield Finding(broken_rows(rows, beyond), 0, self._problem_maker(None, say("deleted_beyond")))
        if isinstance(self.original, History):
            others = [name for name in self.cells.columns if name != self._customer]
            speaks = pl.any_horizontal(~pl.col(others).is_in([SUPPRESSED, ""]))
            problem_at = self._problem_maker(self._customer, say("deleted_row_with_values", row=self._deleted_row()))
            yield Finding(broken_rows(rows, pl.col("\0deleted") & speaks), 0, problem_at)

    def _deleted_row(self) -> str:
        names = self.cells.columns
        if self.original.schema.official:
            return DELETED + "," * (len(names) - 1)
        return ",".join([SUPPRESSED] * len(names))

    def _pseudonym_findings(self) -> Iterator[Finding]:
        """Find rows without a pseudonym, under a customer's own name, or under one that breaks the one-to-one map."""
        column, rank = self._customer, self.cells.columns.index(self._customer) + 1
        customers = self.original[Role.CUSTOMER].cast(pl.String)
        rows = self._live.select("row", "\0place", pseudonym=column)
        pseudonym = pl.col("pseudonym")
        empty, named = pseudonym == "", pseudonym.is_in(customers.drop_nulls().unique().implode())
        problem_at = self._problem_maker(column, say("no_pseudonym", row=self._deleted_row()))
        yield Finding(broken_rows(rows, empty), rank, problem_at)
        yield Finding(broken_rows(rows, named), rank, self._problem_maker(column, say("customers_name")))
        known = rows.filter(~empty & ~named)
        original_rows = known.filter(pl.col("\0place") < len(self.original))
        owners = original_rows.with_columns(customers.gather(original_rows["\0place"]).alias("customer"))
        yield from one_to_one(owners.drop_nulls("customer").select("row", "customer", "pseudonym"), column, rank)
        inserted = known.filter(pl.col("\0place") >= len(self.original))
        strange = ~pseudonym.is_in(original_rows["pseudonym"].unique().implode())
        yield Finding(broken_rows(inserted, strange), rank, self._problem_maker(column, say("inserted_stranger")))

    def _cell_findings(self, column: Column) -> Iterator[Finding]:
        """Find the cells of a column that are missing, unreadable, or not in the original."""
        cell = pl.col("cell")
        live = self._live.select("row", cell=column.name)
        rank = self.cells.columns.index(column.name) + 1
        if self.rulebook.exact_values and not column.optional:
            problem_at = self._problem_maker(column.name, say("missing"))
            yield Finding(broken_rows(live, cell.is_in([SUPPRESSED, ""])), rank, problem_at)
        filled = live.filter(~cell.is_in([SUPPRESSED, ""]))
        if filled.is_empty():
            return
        judge = self._categories if column.scale == Scale.NOMINAL else self._numbers
        for bad, rule, cure in judge(filled, column):
            rows = filled["row"].filter(bad).cast(pl.Int64).to_numpy()
            if len(rows):
                yield Finding(rows, rank, self._problem_maker(column.name, rule, cure))

    def _numbers(self, filled: pl.DataFrame, column: Column) -> Iterator[tuple[pl.Series, str, str]]:
        count, cell = len(filled), pl.col("cell")
        if self.rulebook.exact_values:
            ends = filled["cell"]
            cure = say("exact_value")
        else:
            low, high = (filled.select(cell.str.extract(_RANGE, end).fill_null(cell)).to_series() for end in (1, 2))
            ends = pl.concat([low, high])
            cure = say("value_or_range")

        def either(broken: pl.Series) -> pl.Series:
            return broken if len(ends) == count else broken[:count] | broken[count:]

        typed, lost = read_text(ends.to_frame(column.name), (column,))
        unread = either(lost.get(column.name, ends == "") | (ends == ""))
        yield unread, unreadable(column, filled["cell"].filter(unread))[0], cure
        values = typed[column.name]
        if len(ends) > count:
            is_reversed = (values[:count] > values[count:]).fill_null(value=False)
            yield is_reversed, say("reversed_range"), ""
        rules = column_rules(column.model_copy(update={"optional": True}), guessed=self.original.schema.guessed)
        judged = typed.select(bad.fill_null(value=False).alias(str(n)) for n, (bad, _rule, _cure) in enumerate(rules))
        for number, (_bad, rule, _cure) in enumerate(rules):
            yield either(judged[str(number)]) & ~unread, rule, cure

    def _categories(self, filled: pl.DataFrame, column: Column) -> Iterator[tuple[pl.Series, str, str]]:
        cell = pl.col("cell")
        braced = pl.lit(value=False) if self.rulebook.exact_values else cell.str.contains(_SET)
        split = cell.str.extract(_SET).str.split(";")
        members = filled.select(pl.when(braced).then(split).otherwise(pl.concat_list(cell)).alias("members"))
        lists = members["members"]
        bad_set = (lists.list.contains("") | (lists.list.n_unique() != lists.list.len())).fill_null(value=False)
        yield bad_set, say("bad_set"), ""
        if column.role in (Role.ITEM, Role.QUASI, Role.SENSITIVE):
            known = self.original.frame[column.name].cast(pl.String).drop_nulls().unique()
            if column.domain is not None:
                known = pl.concat([known, pl.Series(column.domain)]).unique()
            flat = pl.DataFrame({"at": np.arange(len(lists)), "value": lists}).explode("value")
            strange = flat.filter(~pl.col("value").is_in(known.implode()))["at"].unique()
            yield pl.Series(np.arange(len(lists))).is_in(strange.implode()) & ~bad_set, say("foreign_value"), ""
