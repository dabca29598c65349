"""Columns of a table with the levels of their hierarchies as arrays, for the search of the best levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import exact_values
from noren.data.cells import different
from noren.data.formats.render import has_negative_zero
from noren.data.frames import Table
from noren.data.hierarchies.levels import MISSING_MARK, SAYS_NOTHING, Hierarchy, canonical, texts, texts_of
from noren.data.schema import Column
from noren.errors import ParameterError
from noren.kernels.arrays import Whole
from noren.kernels.lattice.scores import CellCosts
from noren.kernels.lattice.search import LevelTable
from noren.tables import Texts

say = Texts(__name__)

Missing = Literal["category", "drop", "error"]

_MOST_LISTED = 10


@dataclass(frozen=True)
class ColumnLevels:
    """A column on its hierarchy."""

    column: Column
    codes: NDArray[np.unsignedinteger]
    """The code of each row's value."""
    ladder: LevelTable
    """What codes become, level by level."""
    labels: tuple[pl.Series, ...]
    """For each level the label of each code; null where it says nothing."""
    leaves: tuple[Whole, ...]
    domain: int
    """``leaves``, ``domain``: how many of the hierarchy's values each code covers, by level; how many it has."""
    counts: Whole | None = None
    """Where rows are combinations that stand for several rows each: for how many. Left out, each is one row."""

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes) if self.counts is None else int(self.counts.sum())

    def rows_by_code(self, level: int) -> Whole:
        """Return how many rows have each code on ``level``."""
        own = np.bincount(self.codes, self.counts, minlength=self.ladder.values)
        return np.bincount(self.ladder.maps()[level], weights=own).astype(np.int64)

    def cells(self, level: int) -> pl.Series:
        """Return each row's label on ``level`` as the number of a text: a byte in place of sixteen."""
        labels = self.labels[level]
        numbered = labels.cast(pl.Enum(labels.drop_nulls()))
        return numbered.gather(self.ladder.maps()[level][self.codes]).alias(self.column.name)


def complete_rows(table: Table, hierarchies: Mapping[str, Hierarchy]) -> pl.Series:
    """Tell which rows have a value in every column that has a hierarchy."""
    there = pl.repeat(True, len(table), eager=True, dtype=pl.Boolean)
    for name, hierarchy in hierarchies.items():
        texts = texts_of(table, table.schema[name])
        missing = texts.is_null()
        if MISSING_MARK not in hierarchy.values:
            missing |= (texts == MISSING_MARK).fill_null(value=True)
        there &= ~missing
    return there


def column_levels(
    table: Table, hierarchies: Mapping[str, Hierarchy], missing: Missing, counts: Whole | None = None
) -> list[ColumnLevels]:
    """Return the levels of each column with a hierarchy; a value that a hierarchy does not list is an error.

    Missing cells (empty, or :data:`MISSING_MARK`) are a category of their own below the top, or an error. ``counts``
    tells how many rows each row of ``table`` stands for.
    """
    levels = []
    unlisted: list[str] = []
    for name, declared in hierarchies.items():
        column = table.schema[name]
        values, hierarchy = exact_values(table, column), canonical(declared, column)
        if has_negative_zero(values):
            values = texts(values, column)
        rows, which = different(values)
        value_texts = values.gather(rows)
        value_texts = value_texts if value_texts.dtype == pl.String else texts(value_texts, column)
        if missing == "category":
            value_texts, labels = value_texts.fill_null(MISSING_MARK), hierarchy.labels
            if MISSING_MARK in value_texts and MISSING_MARK not in hierarchy.values:
                # missing cells have a row of their own, alone below the top
                top = labels.to_series(labels.width - 1).unique()
                own = [*[MISSING_MARK] * (labels.width - 1), top[0] if len(top) == 1 else MISSING_MARK]
                row = pl.DataFrame([own], schema=labels.schema, orient="row")
                hierarchy = Hierarchy(hierarchy.name, pl.concat([labels, row]))
        listed = value_texts.is_in(hierarchy.values.implode())
        other = value_texts.filter(value_texts.is_null() | ~listed).unique().sort()
        unlisted += [f"{name} = {value or ''!r}" for value in other]
        if not unlisted:
            levels.append(_levels_of(column, hierarchy, value_texts, which, counts))
    if unlisted:
        several = ", ".join(unlisted[:_MOST_LISTED]) + (", …" if len(unlisted) > _MOST_LISTED else "")
        raise ParameterError(say("not_listed", count=len(unlisted), values=several))
    return levels


def _levels_of(
    column: Column, hierarchy: Hierarchy, value_texts: pl.Series, which: pl.Series, counts: Whole | None
) -> ColumnLevels:
    """Return a column of which the different values are ``value_texts``; ``which`` of them each row has."""
    labels, depth = hierarchy.labels, hierarchy.depth
    occurring = value_texts.unique().to_frame("0")
    # values by their labels from the top down: codes of a label stand together, and the order says nothing of the rows
    present = labels.join(occurring, on="0", how="semi").sort([str(level) for level in reversed(range(depth))])
    codes = value_texts.replace_strict(present["0"], pl.int_range(len(present), eager=True))
    small = np.min_scalar_type(len(present))  # of many rows codes are what takes memory
    steps: list[Whole] = []
    level_names, leaves = [present["0"]], [np.ones(len(present), dtype=np.int64)]
    below = np.arange(len(present), dtype=np.int64)
    for level in range(1, depth):
        names = present[str(level)].unique(maintain_order=True)
        rank = pl.int_range(len(names), eager=True)
        here = present[str(level)].replace_strict(names, rank).cast(pl.Int64).to_numpy()
        step = np.zeros(int(below.max(initial=-1)) + 1, dtype=np.int64)
        step[below] = here
        steps.append(step)
        covered = labels.group_by(label=str(level)).len("leaves")
        leaves.append(names.replace_strict(*covered).cast(pl.Int64).to_numpy())
        level_names.append(names)
        below = here
    level_labels = tuple(names.set(names == SAYS_NOTHING, None) for names in level_names)
    row_codes, ladder = codes.to_numpy().astype(small)[which.to_numpy()], LevelTable(len(present), tuple(steps))
    return ColumnLevels(column, row_codes, ladder, level_labels, tuple(leaves), len(labels), counts)


# --- what cells cost -------------------------------------------------------------------------------------------------


def loss_costs(columns: Sequence[ColumnLevels]) -> CellCosts:
    """Return ARX's loss: a cell costs the share of the hierarchy's values that its label covers, a suppressed one 1."""
    rows = columns[0].rows
    costs, extra = [], []
    for column in columns:
        shares = [leaves / column.domain for leaves in column.leaves]
        costs.append([float((column.rows_by_code(level) * share).sum()) for level, share in enumerate(shares)])
        extra.append([1.0 - share for share in shares])
    least = np.array([rows / column.domain for column in columns])
    scale = np.array([1.0 / (rows - low) if rows > low else 0.0 for low in least])
    return _cell_costs(costs, extra, least, scale)


def entropy_costs(columns: Sequence[ColumnLevels]) -> CellCosts:
    """Return the bits that cells lose of their values, as a share of all: a label tells a value apart from its others.

    A cell costs log2(f(g) / f(v)), of its value's rows f(v) and its label's f(g); a suppressed one log2(n / f(v)).
    """
    rows = columns[0].rows
    costs, extra, most = [], [], 0.0
    for column in columns:
        own = column.rows_by_code(0)
        counts = [column.rows_by_code(level) for level in range(column.ladder.levels)]
        on_levels = zip(counts, column.ladder.maps(), strict=True)
        costs.append([float((own * np.log2(f[to] / own)).sum()) for f, to in on_levels])
        extra.append([np.log2(rows / f) for f in counts])
        most += float((own * np.log2(rows / own)).sum())
    scale = np.full(len(columns), 1.0 / most if most > 0 else 0.0)
    return _cell_costs(costs, extra, np.zeros(len(columns)), scale)


def _cell_costs(
    costs_by_level: Sequence[Sequence[float]],
    extra: Sequence[Sequence[NDArray[np.float64]]],
    least: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> CellCosts:
    levels = max(len(its) for its in costs_by_level)
    costs, place = np.zeros((len(costs_by_level), levels)), np.zeros((len(costs_by_level), levels), dtype=np.int64)
    start = 0
    for column, (its, more) in enumerate(zip(costs_by_level, extra, strict=True)):
        costs[column, : len(its)] = its
        for level, codes in enumerate(more):
            place[column, level] = start
            start += len(codes)
    flat = np.concatenate([codes for more in extra for codes in more])
    return CellCosts(costs, flat.astype(np.float64), place, least, scale)
