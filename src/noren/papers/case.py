"""What papers are made of: a release, the verdict on it, and what is known of how it came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.cells import is_interval, is_set, kind_counts, median_extent
from noren.data.frames import Records
from noren.data.release import Release
from noren.data.schema import Column, Role, ValueType
from noren.data.statement import Statement
from noren.errors import ParameterError
from noren.i18n import _
from noren.inference.study import inferred_from
from noren.judgement.judging import deciding_measures, judge
from noren.judgement.numbers import count, number, percent
from noren.judgement.outcome import Outcome, examine
from noren.judgement.page_text import printable
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.ledger import Ledger
from noren.methods import methods
from noren.papers.wording import Wording
from noren.progress import Progress, part_of, silent
from noren.protocols import MONTHS, NAMES
from noren.reports.unicity import unicity_facts


@dataclass(frozen=True)
class Case:
    """A release as papers see it.

    Attributes
    ----------
    verdict
        How safe the release is, by one rule.
    public
        The public part, counted: every paper speaks of it by this description alone.
    unicity
        How many people a few known purchases single out, in the original and in the release, as plain data; None where
        nobody asked.
    period
        Of a release in a ledger, its period: the verdict is then about everything released until then.
    """

    release: Release
    verdict: Verdict
    public: PublicDescription
    unicity: Mapping[str, Any] | None = None
    period: str = ""

    @property
    def least(self) -> int | None:
        """The fewest people who share everything released of them; None where nobody counted."""
        facts = self.verdict.facts
        return facts.smallest_class if facts.table is None else facts.table.least


def is_pseudonymised_only(release: Release) -> bool:
    """Tell whether a method does no more than replace names."""
    steps = release.statement.steps
    return all(step.method in methods and methods[step.method].promises in (NAMES, MONTHS) for step in steps)


def case_of(
    release: Release,
    original: Records | None = None,
    *,
    rule: Rule | str | None = None,
    control: Records | None = None,
    progress: Progress = silent,
) -> Case:
    """Return a release as papers see it; with its original it is attacked and measured, else nothing is tried.

    What the release proves by itself, its classes, is counted in either case.
    """
    if original is None:
        return judged_case(release, judge(Outcome("", release), rule))
    has_all = set(release.public.schema.names) <= set(original.schema.names)
    if not has_all or release.secret.digest not in (None, original.digest()):
        raise ParameterError(_("the release was not made from this original; give the original file and its schema"))
    half = part_of(progress, 0.0, 0.8)
    outcome = examine(original, release, measures=deciding_measures(original.schema), progress=half)
    if control is not None:
        study = inferred_from(original, control, release.public, release.statement, seed=0, progress=progress)
        outcome = replace(outcome, inferred=study.inferred)
    return judged_case(release, judge(outcome, rule), original)


def judged_case(release: Release, verdict: Verdict, original: Records | None = None) -> Case:
    """Return a release on which there is a verdict already."""
    # of a release whose pseudonyms change no curve can be drawn; that of the original is known all the same
    unicity = None if original is None else unicity_facts(original, release) or unicity_facts(original)
    return Case(release, verdict, described(release.public, release.statement, original), unicity)


def case_in_ledger(folder: Path, rule: Rule | str | None = None) -> Case | None:
    """Return a release that lies in a ledger, with the evidence kept there; None where it lies in none.

    It is judged by the rule of the ledger, or by another one.
    """
    ledger = folder.resolve().parent.parent
    if not (folder / "entry.json").is_file() or not (ledger / "ledger.toml").is_file():
        return None
    book = Ledger.open(ledger)
    period = next((e.period for e in book.entries if book.release_folder(e.period).name == folder.resolve().name), None)
    if period is None:
        return None
    verdict = book.verdicts()[period]
    by = verdict if rule is None else judge(verdict.facts, rule)
    return replace(judged_case(Release.load(folder), by), period=period)


# --- what the public part says -------------------------------------------------------------------------


@dataclass(frozen=True)
class ReleasedColumn:
    """What became of one column; ``exact`` to ``suppressed`` count its cells of each kind (:func:`kind_counts`)."""

    name: str
    role: Role
    type: ValueType
    form: str
    """How cells lie in the file: ``value``, ``range`` or ``set``."""
    pseudonyms: str
    """Whether its values stand in place of names: ``drawn`` at random, of ``unknown`` making, or empty where not."""
    extent: float | None
    """See :func:`median_extent`."""
    exact: int
    interval: int
    set: int
    suppressed: int

    @property
    def has_values(self) -> bool:
        """Whether any cell says something."""
        return bool(self.exact or self.interval or self.set)


@dataclass(frozen=True)
class PublicDescription:
    """A public part, counted once on its rows."""

    rows: int
    pseudonyms: int | None
    """How many different pseudonyms stand in it; None where no column holds any."""
    columns: tuple[ReleasedColumn, ...]
    """What became of each column of the file, also of those in which every cell is empty."""
    dropped: tuple[Column, ...] | None = None
    """Columns of the original that the file does not have; None without an original."""

    @property
    def contained(self) -> tuple[ReleasedColumn, ...]:
        """The columns that say something: what the public part contains."""
        return tuple(column for column in self.columns if column.has_values)

    @property
    def emptied(self) -> tuple[ReleasedColumn, ...]:
        """The columns in which every cell is empty."""
        return tuple(column for column in self.columns if not column.has_values)

    def counts(self, wording: Wording) -> str:
        """Return how much there is, in words."""
        numbers = {"rows": self.rows, "columns": len(self.contained), "emptied": len(self.emptied)}
        numbers["cells"] = sum(column.suppressed for column in self.columns)
        pseudonyms = wording.word("common.none") if self.pseudonyms is None else count(self.pseudonyms)
        texts = {name: count(value) for name, value in numbers.items()}
        return wording.word("common.public_counts", pseudonyms=pseudonyms, **texts)


def described(public: Records, statement: Statement, original: Records | None = None) -> PublicDescription:
    """Count a public part; the original tells which columns are not in it."""
    columns = []
    naming = {Role.CUSTOMER}  # methods for tables drop identifiers, or put pseudonyms there
    if any(step.parameters.get("identifiers") == "pseudonyms" for step in statement.steps):
        naming.add(Role.IDENTIFIER)
    drawn = "drawn" if all(step.method in methods for step in statement.steps) else "unknown"
    for column in public.schema.columns:
        cells = public.frame[column.name]
        form = "range" if is_interval(cells.dtype) else "set" if is_set(cells.dtype) else "value"
        about = column.name, column.role, column.type, form, drawn if column.role in naming else ""
        columns.append(ReleasedColumn(*about, median_extent(cells), *kind_counts(cells).values()))
    names = [public.frame[column.name].cast(pl.String) for column in columns if column.pseudonyms]
    pseudonyms = pl.concat(names).drop_nulls().n_unique() if names else None
    known = () if original is None else original.schema.columns
    dropped = tuple(column for column in known if column.name not in public.schema.names)
    return PublicDescription(len(public), pseudonyms, tuple(columns), None if original is None else dropped)


def column_text(name: str) -> str:
    """Return a column's name as a page may show it."""
    return printable(name, 200)


def treatment(column: ReleasedColumn, wording: Wording) -> str:
    """Return in words what the cells of a column say."""
    counts = {name: getattr(column, name) for name in ("interval", "set", "suppressed", "exact")}
    cells = sum(counts.values())
    if not column.has_values:
        return wording.word("common.done_emptied" if cells else "common.done_nothing")
    if column.pseudonyms:
        return wording.word(f"common.done_pseudonym_{column.pseudonyms}")
    size = width = number(column.extent or 0)
    if column.type in (ValueType.DATE, ValueType.DATETIME):
        width = wording.word("common.days", days=width)
    elif column.type == ValueType.TIME:
        width = wording.word("common.minutes", minutes=width)
    texts = [
        wording.word(f"common.done_{name}", count=count(some), share=percent(some / cells), width=width, size=size)
        for name, some in counts.items()
        if some
    ]
    return ("、" if wording.language == "ja" else "; ").join(texts)
