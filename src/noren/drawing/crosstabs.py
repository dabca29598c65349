"""Cross tabulations of any two columns, before and after (S4, figure 3): the numbers behind the shaded tables.

Each row counts 1 in all. A generalised cell is spread over the bars as in a histogram, and a row over the cells of a
table by the product of its two spreads. With X the matrix of every row's shares of every column's bars, the tables of
all pairs of columns are the blocks of XᵀX; so one pass over the rows, in blocks, gives them all.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from noren.data.frames import Records
from noren.data.release import Release
from noren.drawing.histograms import Bars, ColumnComparison, bars_of, perturbed_by, shares, side_by_side
from noren.judgement.page_text import printable
from noren.kernels.arrays import Real, Whole
from noren.retention.perturbation import Perturbation
from noren.retention.reconstruction import Model, estimated, stated_model

Pair = tuple[int, int]

MOST_CELLS_DOWN = 20
"""Bars of a column in a cross tabulation."""
_ROWS_AT_A_TIME = 1 << 15
_DIGITS = 6
_JOINT_CELLS = 50_000
_PAIR_CELLS = 200_000
_SECONDS = 20.0
_QUICK_MODEL: Model = "loglinear"


_BarShares = tuple[Whole, Real]
"""A column on its bars: for each row the number of its cell (-1 says nothing), and each cell's shares."""


def crosstabs(original: Records, release: Release, *, seconds: float = _SECONDS) -> dict[str, Any]:
    """Return the joint counts of all pairs of columns, in the original and in the release, as plain data.

    Of a table perturbed by retention what was reconstructed stands beside: all attributes at once where their table is
    small, else pair by pair with the model that the release states, as many pairs as fit into ``seconds``; the
    others by a log-linear model, which takes no time and is told beside them.

    >>> from noren.data.frames import Table
    >>> from noren.data.schema import Schema
    >>> from noren.data.statement import Statement
    >>> about = {"age": {"role": "quasi", "type": "integer"}, "sex": {"role": "quasi"}}
    >>> schema = Schema.of({"kind": "table", "columns": about})
    >>> people = Table.of({"age": [20, 21, 21], "sex": ["f", "f", "m"]}, schema)
    >>> ages = pl.Series([{"lo": 20, "hi": 21}] * 3)
    >>> aligned = Table(people.frame.with_columns(age=ages), people.schema)
    >>> pair = crosstabs(people, Release.of_aligned(people, aligned, Statement("hand")))["pairs"][0]
    >>> pair["original"], pair["released"]
    ([[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.5], [1.0, 0.5]])
    """
    every = [(c, bars_of(c.original, c.column, MOST_CELLS_DOWN, c.attribute)) for c in side_by_side(original, release)]
    columns, bars = [column for column, its in every if its is not None], [its for _c, its in every if its is not None]
    before = [_bar_shares(column.original, its) for column, its in zip(columns, bars, strict=True)]
    after = [_bar_shares(column.released, its) for column, its in zip(columns, bars, strict=True)]
    tables = {"original": _all_pairs(before, len(original)), "released": _all_pairs(after, len(release.public))}
    others = [
        its.axis.nominal and any(float(of_bars[:, -1].sum()) > 0 for _number, of_bars in (old, new))
        for its, old, new in zip(bars, before, after, strict=True)
    ]
    estimates, how = _reconstructed(release, columns, bars, seconds)
    facts = [its.facts(others=more) for its, more in zip(bars, others, strict=True)]
    pairs = []
    for a, b in combinations(range(len(columns)), 2):
        # without the bars for other values that nobody needs
        down, across = bars[a].displayed + others[a], bars[b].displayed + others[b]
        cells = {side: by_pair[a, b][:down, :across] for side, by_pair in tables.items()}
        unsaid = {side: round(max(0.0, len(original) - float(table.sum())), _DIGITS) for side, table in cells.items()}
        estimate, model = estimates.get((a, b), (None, None))
        if estimate is not None:
            cells["reconstructed"] = estimate[:down, :across]
        listed = {side: np.round(table, _DIGITS).tolist() for side, table in cells.items()}
        axes = {"a": facts[a], "b": facts[b]}
        about: dict[str, Any] = {name: axis["column"] for name, axis in axes.items()}
        about |= {f"labels_{name}": axis["labels"] for name, axis in axes.items()}
        about |= {f"axis_{name}": axis for name, axis in axes.items()}
        about |= {side: listed.get(side) for side in ("original", "released", "reconstructed")}
        pairs.append(about | {"model": model, "unsaid": unsaid})
    return {
        "rows": len(original),
        "columns": [printable(column.column.name) for column in columns],
        "pairs": pairs,
        "reconstruction": how,
    }


def _bar_shares(cells: pl.Series, bars: Bars) -> _BarShares:
    number, of_bars = shares(cells, replace(bars.axis, labels=bars.axis.labels[: bars.displayed]))
    # cells with the same shares get the same number: fewer numbers, smaller tables
    alike, of = np.unique(np.round(of_bars, 12), axis=0, return_inverse=True) if len(of_bars) else (of_bars, number)
    return np.where(number < 0, -1, of.ravel()[number]) if len(of_bars) else number, alike


def _all_pairs(columns: Sequence[_BarShares], rows: int) -> dict[Pair, Real]:
    """Return the joint shares of every pair of columns, added up over the rows."""
    widths = [of_bars.shape[1] for _number, of_bars in columns]
    starts = np.concatenate(([0], np.cumsum(widths))).astype(int)
    total = np.zeros((starts[-1], starts[-1]))
    # one line more for cells that say nothing: number -1 finds it at the end
    padded = [(number, np.vstack([of_bars, np.zeros((1, of_bars.shape[1]))])) for number, of_bars in columns]
    for low in range(0, rows, _ROWS_AT_A_TIME):
        some = [of_bars[number[low : low + _ROWS_AT_A_TIME]] for number, of_bars in padded]
        if some:
            x = np.concatenate(some, axis=1)
            total += x.T @ x
    return {
        (a, b): total[starts[a] : starts[a + 1], starts[b] : starts[b + 1]]
        for a, b in combinations(range(len(columns)), 2)
    }


# --- what was reconstructed ----------------------------------------------------------------------------------


class _OutOfTimeError(Exception):
    """The estimate takes longer than somebody waits."""


def _reconstructed(
    release: Release, columns: Sequence[ColumnComparison], bars: Sequence[Bars], seconds: float
) -> tuple[dict[Pair, tuple[Real, Model]], dict[str, Any] | None]:
    """Return the estimated tables by pair, on their bars, each with its model; and how they were made."""
    whole = perturbed_by(release)
    if whole is None:
        return {}, None
    model = stated_model(release.statement)
    every = list(combinations(range(len(columns)), 2))
    if model == "none":
        return {}, {"model": model, "how": "none", "skipped": len(every)}
    made = whole.only([whole.names.index(column.column.name) for column in columns])
    bar_shares = (_bar_shares(a.values(np.arange(a.size)), its) for a, its in zip(made.attributes, bars, strict=True))
    weights = [of_bars[number] for number, of_bars in bar_shares]
    codes = made.places(release.public.frame)
    estimates: dict[Pair, tuple[Real, Model]] = {}
    stop = time.monotonic() + seconds
    if made.cells <= _JOINT_CELLS and len(columns) > 2:
        table = _estimate(made, codes, model, stop)
        if table is not None:
            joint = {pair: table.sum(axis=tuple({*range(table.ndim)}.difference(pair))) for pair in every}
            estimates = {(a, b): (weights[a].T @ cells @ weights[b], model) for (a, b), cells in joint.items()}
            return estimates, {"model": model, "how": "joint", "skipped": 0}
    # small tables first, so that as many pairs as can be are estimated as stated
    for a, b in sorted(every, key=lambda pair: made.only(pair).cells):
        pair = made.only([a, b])
        if pair.cells > _PAIR_CELLS:
            continue
        by: Model = model
        table = _estimate(pair, [codes[a], codes[b]], by, stop) if time.monotonic() < stop else None
        if table is None:
            by = _QUICK_MODEL
            table = _estimate(pair, [codes[a], codes[b]], by, math.inf)
        if table is not None:
            estimates[a, b] = weights[a].T @ table @ weights[b], by
    return estimates, {"model": model, "how": "pairs" if estimates else "none", "skipped": len(every) - len(estimates)}


def _estimate(made: Perturbation, codes: Sequence[Whole], model: Model, stop: float) -> Real | None:
    """Return a model's estimate, the same as ``reconstruct`` with seed 0; none where time is up."""

    def report(_done: float) -> None:
        if time.monotonic() > stop:
            raise _OutOfTimeError

    generator = np.random.Generator(np.random.Philox(key=[0, 0]))
    try:
        return estimated(made.table(codes), made.channels, model, generator, report=report)[0]
    except _OutOfTimeError:
        return None
