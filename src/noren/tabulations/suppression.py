"""Which cells of a table with margins are suppressed so that sums tell little of single customers.

A *primary* cell has fewer than k customers, or its largest customer could be estimated within p % by the second largest
(p % rule, of absolute amounts): total - largest - second < p/100 · largest. Margins are cells too. Zeros, to which
nobody contributes, are published and never help to hide another cell.

*Complementary* cells are suppressed so that no primary cell can be computed from the published ones:

1. What is suppressed in a line adds up to the line's published margin less its published cells, so that sum must keep
   both rules itself.
2. An attacker who knows that amounts are not negative and suppressed counts are at least 1 must leave each primary cell
   an interval: of a count at least k values, of an amount p % of its largest customer above and below. The cheapest
   further cells that make room for it are found by a linear program (Fischetti and Salazar-González, 2000; here cell by
   cell, as Kelly, Golden and Assad, 1992). That it finds room at no cost is the audit of a cell.

A large table has a *buffer*: a row of rare items whose cells are all suppressed and safe themselves. Room in another
row is then found in closed form, for the buffer takes up what a shift along that row does to its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack

from noren.kernels.arrays import Flags, Real, Whole

COUNTS: Final = ("rows", "customers")
PUBLISHED, THRESHOLD, DOMINANCE, COMPLEMENTARY = range(4)
_LARGE: Final = 100_000
"""Primary cells times cells beyond which a table is protected by its buffer."""
_MARGIN_COST: Final = 100.0
_MOVED: Final = 1e-6


@dataclass
class MarginGrid:
    """A table with margins: rows by columns, or rows alone, the last of each being the sum of the others.

    ``shares`` has one row for each cell and customer: ``cell``, ``customer`` and the customer's sum of each value.
    """

    shape: tuple[int, int]
    values: tuple[str, ...]
    shares: pl.DataFrame
    k: int
    p: float
    known: list[Whole] = field(default_factory=list)
    """Sets of cells whose sum is published elsewhere."""

    def __post_init__(self) -> None:
        rows, columns = self.shape
        cells = np.arange((rows + 1) * (columns + 1)).reshape(rows + 1, columns + 1)
        across = [(line[:-1], line[-1]) for line in cells] if columns else []
        self.lines = [*across, *((line[:-1], line[-1]) for line in cells.T)]
        """Cells and the margin that they add up to."""
        members = [*(inner for inner, _total in self.lines), *self.known]
        self._members = pl.DataFrame({"line": np.repeat(np.arange(len(members)), [len(m) for m in members]),
                                      "cell": np.concatenate(members)})  # fmt: skip
        judged = self._judged(self.shares, "cell")
        at, size = judged["cell"].to_numpy(), cells.size
        self.people, self.state = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.people[at] = judged["people"].to_numpy()
        self.state[at] = judged["state"].to_numpy()
        self.totals, self.lowest, self.up, self.down = ({v: np.zeros(size) for v in self.values} for _ in range(4))
        for value in self.values:
            total, largest, size_of = (judged[f"{name}_{value}"].to_numpy() for name in ("sum", "max", "abs"))
            self.totals[value][at] = total
            if value in COUNTS:
                self.lowest[value][at] = 1
                down = np.minimum(total - 1, (self.k - 1) // 2)
                self.up[value][at], self.down[value][at] = self.k - 1 - down, down
            else:
                self.lowest[value][at] = np.where(size_of > total + 1e-6, -size_of, 0)
                level = np.maximum(self.p / 100 * largest, np.where(largest > 0, 0.01, 0))
                self.up[value][at], self.down[value][at] = level, np.minimum(level, total - self.lowest[value][at])

    @classmethod
    def of(
        cls, parts: pl.DataFrame, shape: tuple[int, int], values: Sequence[str], k: int, p: float,
        known: Sequence[Whole] = (),
    ) -> MarginGrid:  # fmt: skip
        """Make the grid of parts with ``row``, ``column``, ``customer`` and values; margins are added to them."""
        rows, columns = shape
        over = [parts, parts.with_columns(row=pl.lit(rows, pl.Int64))]
        if columns:
            over += [part.with_columns(column=pl.lit(columns, pl.Int64)) for part in over]
        place = (pl.col("row") * (columns + 1) + pl.col("column")).alias("cell")
        shares = pl.concat(over).group_by(place, "customer").agg(pl.col(values).sum()).sort("cell", "customer")
        return cls(shape, tuple(values), shares, k, p, list(known))

    @property
    def hidden(self) -> Flags:
        """The suppressed cells."""
        return np.asarray(self.state != PUBLISHED)

    @property
    def is_large(self) -> bool:
        """Whether there is too much to hide for a linear program each."""
        return int(self.hidden.sum()) * len(self.state) > _LARGE

    def _judged(self, shares: pl.DataFrame, by: str) -> pl.DataFrame:
        """Return for each group of shares its customers and sums, and the rule that it breaks."""
        sums = shares.group_by(by).agg(
            pl.len().alias("people"),
            *(pl.col(v).sum().alias(f"sum_{v}") for v in self.values),
            *(pl.col(v).abs().sum().alias(f"abs_{v}") for v in self.values),
            *(pl.col(v).abs().max().alias(f"max_{v}") for v in self.values),
            *(pl.col(v).abs().top_k(2).sum().alias(f"two_{v}") for v in self.values),
        )
        amounts = [v for v in self.values if v not in COUNTS]
        room = [(v, pl.col(f"abs_{v}") - pl.col(f"two_{v}")) for v in amounts]
        dominated = pl.any_horizontal(pl.lit(value=False), *(
            (left < self.p / 100 * pl.col(f"max_{v}") - 1e-9) & (pl.col(f"max_{v}") > 0) for v, left in room
        ))  # fmt: skip
        rule = pl.when(pl.col("people") < self.k).then(THRESHOLD).when(dominated).then(DOMINANCE).otherwise(PUBLISHED)
        return sums.with_columns(rule.cast(pl.Int64).alias("state"))

    def protect(self) -> MarginGrid:
        """Suppress complementary cells until every primary cell is hidden."""
        primary, large = np.flatnonzero(self.hidden), self.is_large
        self._hide_sums()
        if not (large and self._protect_by_buffer()):
            for value in self.values:
                for cell in primary[np.argsort(-self.up[value][primary], kind="stable")].tolist():
                    self._make_room(value, cell, self.up[value][cell])
                    self._make_room(value, cell, -self.down[value][cell])
        self._hide_sums()
        return self

    def _hide_sums(self) -> None:
        """Suppress more of a line until the sum of what it suppresses keeps the rules."""
        totals = np.array([total for _inner, total in self.lines] + [-1] * len(self.known))
        while True:
            hidden = np.flatnonzero(self.hidden)
            open_ = np.flatnonzero([total < 0 or not self.hidden[total] for total in totals])
            members = self._members.filter(pl.col("line").is_in(open_))
            there = members.filter(pl.col("cell").is_in(hidden)).join(self.shares, on="cell")
            nets = there.group_by("line", "customer").agg(pl.col(self.values).sum())
            wrong = self._judged(nets, "line").filter(pl.col("state") != PUBLISHED)["line"]
            left = members.filter(
                pl.col("line").is_in(wrong.implode()) & ~pl.col("cell").is_in(hidden)
                & pl.col("cell").is_in(np.flatnonzero(self.people))
            )  # fmt: skip
            if left.is_empty():
                return
            narrow = left.filter(pl.col("line") >= len(self.lines))  # what these need serves the longer lines too
            left = left if narrow.is_empty() else narrow
            costs = left.with_columns(cost=pl.Series(self._costs()).gather(left["cell"]))
            more = costs.sort("line", "cost", "cell").unique("line", keep="first", maintain_order=True)["cell"]
            self.state[more.unique().to_numpy()] = COMPLEMENTARY

    def _costs(self) -> Real:
        """Return what suppressing each cell costs: more for what counts more people, much more for a margin."""
        rows, columns = self.shape
        cost = (1 + np.log1p(self.totals[self.values[0]])).reshape(rows + 1, columns + 1)
        cost[rows] *= _MARGIN_COST
        if columns:
            cost[:, columns] *= _MARGIN_COST
        return np.where(self.hidden, 0.0, cost.ravel())

    @cached_property
    def equations(self) -> csc_array:
        """Return the lines as equations: the cells of each less its margin are 0, and known sums stay what they are."""
        ends = [*((inner, [total]) for inner, total in self.lines), *((cells, []) for cells in self.known)]
        row = np.repeat(np.arange(len(ends)), [len(plus) + len(minus) for plus, minus in ends])
        sign = np.concatenate([[1.0] * len(plus) + [-1.0] * len(minus) for plus, minus in ends])
        column = np.concatenate([np.concatenate([plus, minus]).astype(int) for plus, minus in ends])
        return csc_array((sign, (row, column)), shape=(len(ends), len(self.state)))

    def _make_room(self, value: str, cell: int, amount: float) -> None:
        """Suppress the cheapest cells by which an attacker must think it possible that a cell is higher by an amount.

        The shift is counted in units of the amount, so that the solver's tolerance is the same for pence and millions.
        """
        if amount == 0:
            return
        live = np.flatnonzero(self.people)
        at = int(np.searchsorted(live, cell))
        size = len(live)
        room = np.maximum(self.totals[value][live] - self.lowest[value][live], 0) / abs(amount)
        upper = np.concatenate([np.full(size, np.inf), room])
        lower = np.zeros(2 * size)
        here, other = (at, size + at) if amount > 0 else (size + at, at)
        lower[here] = upper[here] = 1.0
        upper[other] = 0.0
        lines = self.equations[:, live]
        cost = np.tile(self._costs()[live], 2)
        found = linprog(cost, A_eq=hstack([lines, -lines]), b_eq=np.zeros(lines.shape[0]),
                        bounds=np.stack([lower, upper], axis=1), method="highs")  # fmt: skip
        # where known sums leave no room, nothing of the table is published
        moved = live if found.x is None else live[(found.x[:size] > _MOVED) | (found.x[size:] > _MOVED)]
        self.state[moved[~self.hidden[moved]]] = COMPLEMENTARY

    def _protect_by_buffer(self) -> bool:
        """Protect every row alone, by its own suppressed cells and the buffer; tell whether there is a buffer."""
        rows, columns = self.shape
        state, live = (x.reshape(rows + 1, columns + 1) for x in (self.state, self.people > 0))
        primary = (state == THRESHOLD) | (state == DOMINANCE)
        by = {v: [x[v].reshape(rows + 1, columns + 1) for x in (self.totals, self.lowest, self.up, self.down)]
              for v in self.values}  # fmt: skip
        needed = {v: np.where(primary, np.maximum(up, down), 0).max() for v, (_t, _l, up, down) in by.items()}
        fits = ~primary[:rows, :columns] & live[:rows, :columns]
        for value, (total, lowest, _up, _down) in by.items():
            fits &= (total - lowest)[:rows, :columns] >= needed[value]
        buffers = np.flatnonzero(fits.all(axis=1))
        if not columns or primary[:, columns].any() or (self.known and primary[rows].any()) or not len(buffers):
            return False
        buffer = buffers[np.argmin(self.people.reshape(rows + 1, -1)[buffers, columns])]
        state[buffer, :columns] = COMPLEMENTARY
        cost = self._costs().reshape(rows + 1, -1)[:, :columns]
        while True:
            hidden = state[:, :columns] != PUBLISHED
            lacking = primary[:, :columns].any(axis=1) & (hidden.sum(axis=1) < 2)
            for total, lowest, up, _down in by.values():
                slack = np.where(hidden, (total - lowest)[:, :columns], 0)
                others = slack.sum(axis=1, keepdims=True) - slack
                lacking |= (primary[:, :columns] & (others < up[:, :columns])).any(axis=1)
            free = np.where(~hidden & live[:, :columns] & lacking[:, None], cost, np.inf)
            at = np.flatnonzero(np.isfinite(free.min(axis=1)))
            if not len(at):
                break
            state[at, free[at].argmin(axis=1)] = COMPLEMENTARY
        if lacking.any():  # ones that add up to their number: only the buffer's margin can hide such a row's
            state[np.append(np.flatnonzero(lacking), buffer), columns] = COMPLEMENTARY
        return not lacking[rows]
