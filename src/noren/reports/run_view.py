"""The data behind the page of one run: what was done, its risk and its utility.

It has only numbers and facts, so that a page can show them in any language and judge them by any rule. They are the
same as ``noren measure`` and ``noren attack`` print for the run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from pydantic import BaseModel, ConfigDict

from noren.data.arrays import numbers
from noren.data.categories import as_released
from noren.data.cells import is_set, kind, median_extent
from noren.data.compatibility import class_sizes
from noren.data.formats.render import Spelling, cell_text
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.data.schema import Kind, Role, Scale, ValueType
from noren.drawing.histograms import (
    BarCounts,
    bars_of,
    count_bars,
    net_shift,
    perturbed_by,
    shares,
    side_by_side,
    spread,
)
from noren.judgement.evidence import Facts, facts_of
from noren.judgement.frontier import RiskUtilityPoint, risk_utility_point
from noren.judgement.numbers import count, decimal
from noren.judgement.outcome import Outcome, people_in
from noren.judgement.page_text import plain, printable, printable_texts
from noren.judgement.release_facts import ReleaseFacts
from noren.judgement.verdict import Verdict
from noren.measures import measures
from noren.measures.safety.table_classes import table_classes
from noren.protocols import Measure, Score
from noren.retention.reconstruction import reconstruct

_DIGITS = 6


class _View(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class RowCounts(_View):
    """Numbers of rows; only the steward knows those deleted and inserted."""

    original: int
    public: int
    deleted: int | None
    added: int | None


class StepView(_View):
    """One method of a chain, and what it noted."""

    method: str
    parameters: dict[str, Any]
    promise: str
    notes: dict[str, Any]


class StatementView(_View):
    """The statement of a release, step by step."""

    method: str
    noren: str
    steps: tuple[StepView, ...]


class MeasureView(_View):
    """A score with the description of its measure; unit and summary are messages to be translated."""

    name: str
    group: Literal["safety", "utility"]
    value: float | None
    parts: dict[str, float | None]
    notes: dict[str, Any]
    unit: str
    summary: str
    goal: str | None
    bounds: tuple[float | None, ...] | None

    def part_name(self, part: str) -> str:
        """Return what a part of the score is called, in the language now spoken."""
        known = measures[self.name] if self.name in measures else Measure  # noqa: SIM401 - a register has no get
        return known.part_name(part)

    @property
    def sentences(self) -> list[str]:
        """What the notes say in sentences, in the language now spoken; of most measures nothing."""
        return measures[self.name].in_words(self.notes) if self.name in measures else []


class ColumnCells(_View):
    """What became of a column's cells, as shares of the original rows.

    ``width`` is the median width of ranges (days of dates), ``span`` its share of the column's whole range, ``size``
    the median number of values in a set.
    """

    column: str
    role: str
    is_date: bool
    exact: float
    changed: float
    range: float
    set: float
    empty: float
    width: float | None = None
    span: float | None = None
    size: float | None = None


class RunView(_View):
    """The content of the page of a run.

    Attributes
    ----------
    facts
        All that a verdict is made of; pages judge it when they are shown, by the rule in force.
    histograms, class_sizes
        Bars for charts, see :func:`column_bars` and :func:`class_size_bars`.
    cells
        What became of the cells of each column, see :func:`column_cells`.
    """

    label: str
    kind: Kind
    people: int
    facts: Facts
    statement: StatementView
    rows: RowCounts
    measures: tuple[MeasureView, ...]
    histograms: list[dict[str, Any]]
    class_sizes: dict[str, Any] | None
    cells: tuple[ColumnCells, ...] = ()

    def measure(self, name: str) -> MeasureView | None:
        """Return the view of a measure; None without a score."""
        return next((view for view in self.measures if view.name == name), None)

    def place(self, verdict: Verdict) -> RiskUtilityPoint:
        """Return the position of the run on the risk-utility map, by a verdict on its facts."""
        known = {view.name: Score(view.value) for view in self.measures if view.value is not None}
        return risk_utility_point(self.label, verdict, known)


def run_view(original: Records, outcome: Outcome, counted: ReleaseFacts | None = None) -> RunView:
    """Return what the page of a run shows; see the parts for what each holds. ``counted`` is as in ``facts_of``.

    >>> from noren import api
    >>> from noren.judgement.judging import judge
    >>> from noren.judgement.outcome import run_outcome
    >>> history = api.sample(customers=20, rows=300, items=50, seed=1)
    >>> view = run_view(history, run_outcome(history, "generalize-by-count", k=5, seed=1, attacks=["unique-rows"]))
    >>> verdict = judge(view.facts)
    >>> str(verdict.status), view.place(verdict).risk, view.class_sizes["minimum"]
    ('proved', 0.2, 5)
    """
    release, people = outcome.release, people_in(original)
    deleted, added = (release.deleted_rows, release.inserted_rows) if release.has_secret else (None, None)
    notes = [{n: note for n, note in step.notes.items() if n != "categories"} for step in release.statement.steps]
    steps = [step.as_dict() | {"notes": own} for step, own in zip(release.statement.steps, notes, strict=True)]
    return RunView(
        label=printable(outcome.label),
        kind=original.schema.kind,
        people=people,
        facts=facts_of(replace(outcome, people=people), counted),
        statement=StatementView(
            method=printable(release.statement.method),
            noren=printable(release.statement.noren),
            steps=tuple(StepView.model_validate(plain(step)) for step in steps),
        ),
        rows=RowCounts(original=len(original), public=len(release.public), deleted=deleted, added=added),
        measures=measure_views(outcome.scores),
        histograms=column_bars(original, release),
        class_sizes=class_size_bars(release),
    )


def measure_views(scores: Mapping[str, Score]) -> tuple[MeasureView, ...]:
    """Return every score with the description of its measure."""
    views = []
    for name, score in scores.items():
        known = measures[name] if name in measures else None  # noqa: SIM401 - a register has no get
        about: dict[str, Any] = {"group": "utility", "unit": "", "summary": "", "goal": None, "bounds": None}
        if known is not None:
            about = {"group": known.side, "unit": known.unit, "summary": known.summary, "goal": known.goal}
            about["bounds"] = tuple(known.bounds)
        parts = {printable(part): plain(float(value)) for part, value in score.parts.items()}
        value, notes = plain(float(score.value)), plain(score.notes)
        views.append(MeasureView(name=printable(name), value=value, parts=parts, notes=notes, **about))
    return tuple(views)


def written(value: float | None) -> str:
    """Write a score as reports and studies do: whole numbers from 2 on whole, others with three decimals.

    >>> written(12.0), written(1.0), written(0.25)
    ('12', '1.000', '0.250')
    """
    if value is None:
        return "–"
    return count(int(value)) if value.is_integer() and abs(value) >= 2 else decimal(value)


def column_bars(original: Records, release: Release) -> list[dict[str, Any]]:
    """Return the bars of every column worth a look, before and after; of retention also what was reconstructed."""
    bars_of_columns, rows = [], len(original)
    for beside in side_by_side(original, release):
        bars = bars_of(beside.original, beside.column, attribute=beside.attribute)
        if bars is None:
            continue
        before, after = (spread(cells, bars.axis, rows) for cells in (beside.original, beside.released))
        rebuilt, of = None, beside.attribute
        if of is not None:  # perturbed by retention
            # what was estimated of the attribute, as ``noren chart`` does, on the bars of its column
            estimate = reconstruct(release.public, release.statement, attributes=[of.name])
            if estimate.model != "none":
                number, of_bars = shares(of.values(np.arange(of.size)), bars.axis)
                weights = estimate.table @ of_bars[number]
                elsewhere = float(weights[-1]) if bars.axis.nominal else 0.0
                heights_kept = weights[: len(bars.axis.labels)]
                rebuilt = BarCounts(heights_kept, elsewhere, max(0.0, rows - float(heights_kept.sum()) - elsewhere))
        sides = {"original": before, "released": after} | ({} if rebuilt is None else {"reconstructed": rebuilt})
        rest = {
            side: float(counts.weights[bars.displayed :].sum()) + counts.elsewhere for side, counts in sides.items()
        }
        others = bars.axis.nominal and any(weight > 10**-_DIGITS for weight in rest.values())
        heights = {
            side: [
                round(float(height), _DIGITS) for height in (*counts.weights[: bars.displayed], *[rest[side]] * others)
            ]
            for side, counts in sides.items()
        }
        about: dict[str, Any] = {side: heights.get(side) for side in ("original", "released", "reconstructed")}
        about |= {"shift": net_shift(before, after, rows)}
        about |= {"shift_reconstructed": None if rebuilt is None else net_shift(before, rebuilt, rows)}
        bars_of_columns.append(bars.facts(others=others) | about | {"unsaid": after.unsaid / max(rows, 1)})
    return bars_of_columns


def class_size_bars(release: Release) -> dict[str, Any] | None:
    """Return how large the classes are: pseudonyms of one public history, or rows alike in every quasi column."""
    public = release.public
    if isinstance(public, History):
        of, sizes = "pseudonyms", np.asarray(class_sizes(public), dtype=np.int64)
    elif isinstance(public, Table) and public.schema.with_role(Role.QUASI):
        of, sizes = "rows", table_classes(public).sizes.to_numpy().astype(np.int64)
    else:
        return None
    bars = count_bars(sizes)
    bar = np.searchsorted(bars["from"], sizes, side="right") - 1
    members = np.bincount(bar, weights=sizes, minlength=len(bars["from"])) if len(sizes) else np.zeros(0)
    return bars | {"of": of, "members": members.astype(int).tolist(), "alone": int((sizes == 1).sum())}


# --- original rows beside what the release says of each, for the steward's eyes: page by page, or a few ---------------


CHANGES = pl.Enum(["same", "generalised", "suppressed", "changed", "pseudonym", "dropped"])
STATES = pl.Enum(["kept", "deleted", "inserted"])
_SHOWN = 100_000
_EXAMPLES, _MOST_COLUMNS = 8, 9
_LENGTHS = 60, 400
"""The longest text of an example, and the longest whole."""


@dataclass(frozen=True)
class CellView:
    """A text, cut to what fits, the whole of it, and what became of it: one of :data:`CHANGES`, empty for the same."""

    text: str
    whole: str = ""
    change: str = ""


@dataclass(frozen=True)
class RowPair:
    """An original row (``number`` counts from 1) and the released one; none where it was deleted."""

    number: int
    original: Sequence[CellView]
    released: Sequence[CellView] | None


def example_columns(original: Records, most: int | None = _MOST_COLUMNS) -> list[str]:
    """Return the columns to show: who, what a release generalises, then the rest, as far as they fit."""
    names = list(original.schema.names)
    if isinstance(original, History):
        first = [original.schema.role(Role.CUSTOMER).name, *(c.name for c in original.measured())]
        names = first + [n for n in names if n not in first]
    return names[:most]


def example_rows(original: Records, release: Release, *, pseudonyms: bool = True) -> list[RowPair]:
    """Return a few pairs, evenly chosen over the original, the same for every release; none without its secret.

    Customers' own names are replaced by a dash, because a report may be shared; pseudonyms too, without
    ``pseudonyms``.
    """
    names = [n for n in example_columns(original) if n in release.public.frame.columns]
    naming = {column.name for column in original.schema.with_role(Role.CUSTOMER, Role.IDENTIFIER)}

    def cell(row: dict[str, str | None], name: str, side: str) -> CellView:
        change = row[f"change:{name}"] or "" if side == "released" else ""
        hidden = name in naming and (side == "original" or not pseudonyms)
        short, whole = (printable("–" if hidden else row[f"{side}:{name}"] or "", most) for most in _LENGTHS)
        return CellView(short, whole if whole != short else "", "" if change == "same" else change)

    pairs = row_pairs(original, release, _EXAMPLES, inserted=False)
    return [
        RowPair(
            row["row"],
            [cell(row, name, "original") for name in names],
            [cell(row, name, "released") for name in names] if row["state"] == "kept" else None,
        )
        for row in pairs.iter_rows(named=True)  # a handful, never the whole
    ]


def row_pairs(original: Records, release: Release, most: int = _SHOWN, *, inserted: bool = True) -> pl.DataFrame:
    """Return a row for each original row, evenly chosen where there are more than ``most``, inserted rows at the end.

    ``row`` counts from 1, ``state`` tells whether the row was kept, deleted or inserted, and of each column there are
    ``original:NAME`` and ``released:NAME`` as text and ``change:NAME``: same, generalised, suppressed, changed (to
    another value), pseudonym, or dropped (the whole column). No rows without the secret part.

    >>> from noren.data.frames import Table
    >>> from noren.data.release import Statement
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> people = Table.of({"age": [20, 21, 22, 23]}, schema)
    >>> aligned = Table(pl.DataFrame({"age": [20, None, 25, 23]}), schema)
    >>> row_pairs(people, Release.of_aligned(people, aligned, Statement("hand"))).rows()[:3]
    [(1, 'kept', '20', '20', 'same'), (2, 'deleted', '21', None, None), (3, 'kept', '22', '25', 'changed')]
    """
    own_columns = example_columns(original, most=None)
    names = [*own_columns, *(n for n in release.public.schema.names if n not in own_columns)]
    if not release.has_secret or release.secret.original_rows != len(original):
        parts = {"original": pl.String(), "released": pl.String(), "change": CHANGES}
        empty = {f"{part}:{name}": dtype for name in names for part, dtype in parts.items()}
        return pl.DataFrame(schema={"row": pl.UInt32(), "state": STATES} | empty)
    chosen, places = _places(release, len(original), most, inserted=inserted)
    own = chosen.filter(chosen < len(original))
    public = release.public
    rows = public.frame.select(pl.col(public.schema.names).gather(places))  # rows of nulls where there is none
    after = replace(public, frame=rows, spelling=public.spelling.take(places.fill_null(len(public))))
    before = original.take(own)
    original_texts, released_texts = before.texts(""), after.texts()
    plain_original, plain_released = (replace(part, spelling=Spelling()).texts("") for part in (before, after))
    # original rows in the words of the release, where these are public: categories, and classes of numbers
    words, made = pl.DataFrame(), perturbed_by(release)
    if made is not None:
        classed = [a for a in made.attributes if not a.numeric and a.name in before.frame.columns]
        words = pl.DataFrame([a.values(a.codes(before.frame[a.name])) for a in classed])
    elif isinstance(before, History):
        words = as_released(before, release.statement).texts("")
    inserted_row, deleted = pl.col("row") >= len(original), pl.col("public").is_null()
    state = pl.when(inserted_row).then(pl.lit("inserted")).when(deleted).then(pl.lit("deleted"))
    frame = pl.DataFrame({"row": chosen, "public": places}).select(
        row=pl.when(~inserted_row).then(pl.col("row") + 1), state=state.otherwise(pl.lit("kept")).cast(STATES)
    )
    blank = pl.repeat(None, len(chosen), dtype=pl.String, eager=True)

    def side(texts: pl.DataFrame, name: str) -> pl.Series:
        """Return a column of texts, as long as there are rows chosen; nothing but nulls where there is none."""
        return texts[name].extend_constant(None, len(chosen) - len(texts)) if name in texts.columns else blank

    columns = [frame["row"], frame["state"]]
    for name in names:
        cells = pl.DataFrame(
            {
                "original_text": side(original_texts, name),
                "was": side(plain_original, name),
                "released_text": side(released_texts, name),
                "now": side(plain_released, name),
                "words": side(words, name),
                "kind": kind(after.frame[name]) if name in released_texts.columns else blank,
                "state": frame["state"],
            }
        )
        columns += _row_pair_columns(name, cells, original, release)
    return pl.DataFrame(columns)


def _places(release: Release, rows: int, most: int, *, inserted: bool) -> tuple[pl.Series, pl.Series]:
    """Return the places chosen, those from ``rows`` on being inserted rows, and the public row of each, if any."""
    public = pl.DataFrame({"row": release.secret.origin.cast(pl.UInt32)}).with_row_index("public")
    new = public.filter(pl.col("row").is_null() & inserted)["public"]
    every = rows + len(new)
    picked = np.unique(np.linspace(0, max(every - 1, 0), min(most, every)).round().astype(np.int64))
    chosen = pl.Series("row", picked, dtype=pl.UInt32)
    known = public.drop_nulls("row").unique("row", keep="first")
    more = pl.DataFrame({"public": new}).with_columns(row=pl.int_range(rows, every, dtype=pl.UInt32, eager=True))
    both = pl.concat([known.select("row", "public"), more.select("row", "public")])
    public_rows = chosen.to_frame().join(both, on="row", how="left", maintain_order="left")["public"]
    return chosen, public_rows


# --- what became of a cell -----------------------------------------------------------------------------------


def _row_pair_columns(name: str, cells: pl.DataFrame, original: Records, release: Release) -> list[pl.Series]:
    """Return one column of the chosen rows: the original text, the released text, and the change of each cell.

    Of ``cells``, ``original_text`` and ``released_text`` are as files spell them, ``was`` and ``now`` are for
    comparison, and ``words`` are the original's values in the words of the release.
    """
    if name not in release.public.frame.columns:
        became = pl.lit("dropped")
    elif name not in original.schema.names:
        became = pl.lit("changed")
    elif original.schema[name].role in (Role.CUSTOMER, Role.IDENTIFIER):
        became = pl.lit("pseudonym")
    else:
        label = pl.lit(value=False)
        perturbed = any(step.method == "retention" for step in release.statement.steps)
        if not perturbed and release.public.frame[name].dtype == pl.String:
            # a text that no original cell says is a label of a hierarchy
            values = original.frame[name]
            text = values.to_frame("x").select(cell_text(pl.col("x"), original.schema[name], values.dtype))["x"]
            label = ~pl.col("now").is_in(text.drop_nulls().unique().implode())
        in_words = (pl.col("now") == pl.col("words")).fill_null(value=False)
        became = (
            pl.when(pl.col("now") == pl.col("was"))
            .then(pl.lit("same"))
            .when(pl.col("kind") == "suppressed")
            .then(pl.lit("suppressed"))
            .when((pl.col("kind") != "exact") | in_words | label)
            .then(pl.lit("generalised"))
            .otherwise(pl.lit("changed"))
        )
    change = pl.when(pl.col("state") == "kept").then(became).cast(CHANGES)
    # a cell that was empty and is: not a star, for nothing was taken from it
    star = pl.when((pl.col("change") == "same") & (pl.col("kind") == "suppressed")).then(pl.lit(""))
    released = pl.when(pl.col("state") != "deleted").then(star.otherwise(pl.col("released_text")))
    columns = cells.with_columns(change=change).select(
        printable_texts(pl.col("original_text")).alias(f"original:{name}"),
        printable_texts(released).alias(f"released:{name}"),
        pl.col("change").alias(f"change:{name}"),
    )
    return columns.get_columns()


def column_cells(pairs: pl.DataFrame, original: Records, release: Release) -> list[ColumnCells]:
    """Return what became of the cells of each column that names nobody, by original rows beside released ones."""
    rows, cells = pairs.filter(pl.col("row").is_not_null()), []
    for column in original.schema.columns if len(rows) else ():
        name = column.name
        if column.role in (Role.CUSTOMER, Role.IDENTIFIER):
            continue
        changes = {change: count / len(rows) for change, count in rows[f"change:{name}"].value_counts().iter_rows()}
        same, changed, wider = (changes.get(change, 0.0) for change in ("same", "changed", "generalised"))
        about: dict[str, Any] = {"set" if column.scale == Scale.NOMINAL else "range": wider}
        public = release.public.frame[name] if name in release.public.frame.columns else pl.Series()
        extent = median_extent(public)
        if is_set(public.dtype):
            about["size"] = extent
        elif extent is not None:
            known = numbers(original.frame[name].drop_nulls())
            about |= {"width": extent, "span": extent / max(float(known.max() - known.min()), 1e-12)}
        about = {"range": 0.0, "set": 0.0, "empty": round(max(0.0, 1.0 - same - changed - wider), 9)} | about
        is_date = column.type in (ValueType.DATE, ValueType.DATETIME)
        about |= {"role": column.role, "is_date": is_date, "exact": same, "changed": changed}
        cells.append(ColumnCells(column=printable(name), **about))
    return cells
