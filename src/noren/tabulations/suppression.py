"""Which cells of a table with margins are suppressed so that sums tell little of single customers.

A *primary* cell has fewer than k customers, or its largest customer could be estimated within p % by the second largest
(p % rule, of rows and of absolute amounts): total - largest - second < p/100 · largest. Margins are cells too. Zeros,
to which nobody contributes, are published and never help to hide another cell.

*Complementary* cells are suppressed so that no primary cell can be computed from the published ones:

1. What is suppressed in a line adds up to the line's published margin less its published cells, so that sum must keep
   both rules itself.
2. An attacker who knows that amounts are not negative and suppressed counts are at least 1 must leave each primary cell
   an interval: of a count at least k values, of rows and amounts p % of its largest customer above and below. The
   cheapest further cells that make room for it are found by a linear program (Fischetti and Salazar-González, 2000;
   here cell by cell, as Kelly, Golden and Assad, 1992). That it finds room at no cost is the audit of a cell.

Tables whose counts add up to one another, such as months to quarters, are protected together.

A large table has a *buffer*: a row of rare items whose cells are all suppressed and safe themselves. Room in another
row is then found in closed form, for the buffer takes up what a shift along that row does to its columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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


def cells_of(shapes: Sequence[tuple[int, int]]) -> list[Whole]:
    """Return the numbers of the cells of tables, margins included.

    >>> [cells.tolist() for cells in cells_of([(1, 2), (2, 0)])]
    [[[0, 1, 2], [3, 4, 5]], [[6], [7], [8]]]
    """
    sizes = [(rows + 1) * (columns + 1) for rows, columns in shapes]
    first = np.cumsum([0, *sizes])
    return [start + np.arange(size).reshape(-1, columns + 1)
            for start, size, (_rows, columns) in zip(first[:-1], sizes, shapes, strict=True)]  # fmt: skip


@dataclass
class MarginGrid:
    """Tables with margins: rows by columns, or rows alone, the last of each being the sum of the others.

    ``shares`` has one row for each cell and customer: ``cell``, ``customer`` and the customer's sum of each value.
    Cells are numbered row by row, those of the second table after those of the first.
    """

    shapes: Sequence[tuple[int, int]]
    values: tuple[str, ...]
    shares: pl.DataFrame
    k: int
    p: float
    links: Sequence[tuple[Whole, int]] = ()
    """Cells of one table whose counts add up to that of a cell of another."""

    def __post_init__(self) -> None:
        self.tables = cells_of(self.shapes)
        """The numbers of the cells of each table."""
        self.lines = [
            (line[:-1], line[-1])
            for cells in self.tables
            for line in [*(cells if cells.shape[1] > 1 else ()), *cells.T]
        ]
        """Cells and the margin that they add up to."""
        members = [inner for inner, _total in [*self.lines, *self.links]]
        lines = pl.DataFrame({"line": range(len(members)), "cell": [m.tolist() for m in members]})
        self._members = lines.with_columns(size=pl.col("cell").list.len()).explode("cell")
        judged = self._judged(self.shares, "cell")
        at, size = judged["cell"].to_numpy(), sum(cells.size for cells in self.tables)
        self.people, self.state = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self.movable = np.ones(size, bool)
        """Cells that help to hide those of another table; the buffer alone does for its table."""
        self.people[at] = judged["people"].to_numpy()
        self.state[at] = judged["state"].to_numpy()
        self.totals, self.lowest, self.up, self.down = ({v: np.zeros(size) for v in self.values} for _ in range(4))
        for value in self.values:
            total, largest, size_of = (judged[f"{name}_{value}"].to_numpy() for name in ("sum", "max", "abs"))
            self.totals[value][at] = total
            lowest = np.where(size_of > total + 1e-6, -size_of, 0)
            self.lowest[value][at] = 1 if value in COUNTS else lowest
            for inner, margin in self.lines:  # nothing is known of a margin but its cells
                self.lowest[value][margin] = self.lowest[value][inner].sum()
            room = total - self.lowest[value][at]
            level = self.p / 100 * largest if value != "customers" else np.zeros(len(at))
            if value in COUNTS:
                self.down[value][at] = down = np.minimum(room, np.maximum((self.k - 1) // 2, level))
                self.up[value][at] = np.maximum(self.k - 1 - down, level)
            else:
                level = np.maximum(level, np.where(largest > 0, 0.01, 0))
                self.up[value][at], self.down[value][at] = level, np.minimum(level, room)

    @classmethod
    def of(
        cls, tables: Sequence[tuple[pl.DataFrame, tuple[int, int]]], k: int, p: float,
        links: Sequence[tuple[Whole, int]] = (),
    ) -> MarginGrid:  # fmt: skip
        """Make the grid of parts with ``row``, ``column``, ``customer`` and values; margins are added to them."""
        shapes, shares = [shape for _parts, shape in tables], []
        for (parts, (rows, columns)), cells in zip(tables, cells_of(shapes), strict=True):
            over = [parts, parts.with_columns(row=pl.lit(rows, pl.Int64))]
            if columns:
                over += [part.with_columns(column=pl.lit(columns, pl.Int64)) for part in over]
            place = pl.col("row") * (columns + 1) + pl.col("column") + int(cells[0, 0])
            shares.append(pl.concat(over).with_columns(cell=place).drop("row", "column"))
        both = pl.concat(shares, how="diagonal").fill_null(0)
        values = tuple(name for name in both.columns if name not in ("customer", "cell"))
        return cls(shapes, values, both.group_by("cell", "customer").agg(pl.col(values).sum()).sort("cell", "customer"),
                   k, p, links)  # fmt: skip

    @property
    def hidden(self) -> Flags:
        """The suppressed cells."""
        return np.asarray(self.state != PUBLISHED)

    def _judged(self, shares: pl.DataFrame, by: str) -> pl.DataFrame:
        """Return for each group of shares its customers and sums, and the rule that it breaks."""
        sums = shares.group_by(by).agg(
            pl.len().alias("people"),
            *(pl.col(v).sum().alias(f"sum_{v}") for v in self.values),
            *(pl.col(v).abs().sum().alias(f"abs_{v}") for v in self.values),
            *(pl.col(v).abs().max().alias(f"max_{v}") for v in self.values),
            *(pl.col(v).abs().top_k(2).sum().alias(f"two_{v}") for v in self.values),
        )
        room = [(v, pl.col(f"abs_{v}") - pl.col(f"two_{v}")) for v in self.values if v != "customers"]
        dominated = pl.any_horizontal(pl.lit(value=False), *(
            (left < self.p / 100 * pl.col(f"max_{v}") - 1e-9) & (pl.col(f"max_{v}") > 0) for v, left in room
        ))  # fmt: skip
        rule = pl.when(pl.col("people") < self.k).then(THRESHOLD).when(dominated).then(DOMINANCE).otherwise(PUBLISHED)
        return sums.with_columns(rule.cast(pl.Int64).alias("state"))

    def protect(self) -> MarginGrid:
        """Suppress complementary cells until every primary cell is hidden."""
        primary = self.hidden
        large = [cells for cells in self.tables if cells.shape[1] > 1 and primary[cells].sum() * cells.size > _LARGE]
        self._hide_sums()
        for cells in large:
            primary[self._protect_by_buffer(cells)] = False
        todo = np.flatnonzero(primary)
        for value in self.values:
            for cell in todo[np.argsort(-self.up[value][todo], kind="stable")].tolist():
                possible = self._make_room(value, cell, -self.down[value][cell])
                # where the other table leaves a count no room below, all of it is above
                if possible or value in COUNTS:
                    possible = self._make_room(value, cell, max(self.up[value][cell], 0 if possible else self.k - 1))
                if not possible:  # there is room where all is suppressed, but the solver did not find it
                    self.state[(self.people > 0) & ~self.hidden] = COMPLEMENTARY
        self._hide_sums()
        return self

    def _hide_sums(self) -> None:
        """Suppress more of a line until the sum of what it suppresses keeps the rules."""
        totals = np.array([total for _inner, total in [*self.lines, *self.links]])
        is_link = pl.col("line") >= len(self.lines)
        while True:
            hidden = np.flatnonzero(self.hidden)
            members = self._members.filter(pl.col("line").is_in(np.flatnonzero(~self.hidden[totals])))
            there = members.filter(pl.col("cell").is_in(hidden)).join(self.shares, on="cell")
            nets = there.group_by("line", "customer").agg(pl.col(self.values).sum())
            # of a link the counts alone are known
            nets = nets.with_columns(pl.when(~is_link).then(v).otherwise(0) for v in self.values if v not in COUNTS)
            wrong = self._judged(nets, "line").filter(pl.col("state") != PUBLISHED)["line"]
            left = members.filter(
                pl.col("line").is_in(wrong.implode()) & ~pl.col("cell").is_in(hidden)
                & pl.col("cell").is_in(np.flatnonzero(self.people))
            )  # fmt: skip
            if left.is_empty():
                return
            # what the shortest lines need serves the longer ones too
            left = left.filter(pl.col("size") == pl.col("size").min())
            costs = left.with_columns(cost=pl.Series(self._costs()).gather(left["cell"]))
            more = costs.sort("line", "cost", "cell").unique("line", keep="first", maintain_order=True)["cell"]
            self.state[more.unique().to_numpy()] = COMPLEMENTARY

    def _costs(self) -> Real:
        """Return what suppressing each cell costs: more for what counts more people, much more for a margin."""
        cost = 1 + np.log1p(self.totals[self.values[0]])
        np.multiply.at(cost, [total for _inner, total in self.lines], _MARGIN_COST)
        return np.where(self.hidden, 0.0, cost)

    @cached_property
    def equations(self) -> csc_array:
        """Return the lines, then the links, as equations: the cells of each less their sum are 0."""
        ends = [*self.lines, *self.links]
        row = np.repeat(np.arange(len(ends)), [len(inner) + 1 for inner, _total in ends])
        sign = np.concatenate([[1.0] * len(inner) + [-1.0] for inner, _total in ends])
        column = np.concatenate([np.append(inner, total) for inner, total in ends])
        return csc_array((sign, (row, column)), shape=(len(ends), len(self.state)))

    def _make_room(self, value: str, cell: int, amount: float) -> bool:
        """Suppress the cheapest cells by which an attacker must think it possible that a cell is higher by an amount.

        The shift is counted in units of the amount, so that the solver's tolerance is the same for pence and millions.
        Returns whether any cells make it possible.
        """
        if amount == 0:
            return True
        own = next(np.isin(np.arange(len(self.state)), cells) for cells in self.tables if cell in cells)
        live = np.flatnonzero((self.people > 0) & (own | (self.movable & (value in COUNTS))))
        at = int(np.searchsorted(live, cell))
        size = len(live)
        room = np.maximum(self.totals[value][live] - self.lowest[value][live], 0) / abs(amount)
        upper = np.concatenate([np.full(size, np.inf), room])
        lower = np.zeros(2 * size)
        here, other = (at, size + at) if amount > 0 else (size + at, at)
        lower[here] = upper[here] = 1.0
        upper[other] = 0.0
        lines = self.equations[: None if value in COUNTS else len(self.lines), live]
        cost = np.tile(self._costs()[live], 2)
        found = linprog(cost, A_eq=hstack([lines, -lines]), b_eq=np.zeros(lines.shape[0]),
                        bounds=np.stack([lower, upper], axis=1), method="highs")  # fmt: skip
        if found.x is None:
            return False
        moved = live[(found.x[:size] > _MOVED) | (found.x[size:] > _MOVED)]
        self.state[moved[~self.hidden[moved]]] = COMPLEMENTARY
        return True

    def _protect_by_buffer(self, cells: Whole) -> Whole:
        """Protect every row of a table alone, by its own suppressed cells and the buffer; return the primary cells.

        There are none where no row can be the buffer. Margins are not protected by it.
        """
        inner, margin = cells[:-1, :-1], cells[:-1, -1]
        primary = np.isin(self.state[inner], (THRESHOLD, DOMINANCE))
        live = self.people[inner] > 0
        room = {v: (self.totals[v] - self.lowest[v])[inner] for v in self.values}
        fits = ~primary & live
        for value in self.values:
            fits &= room[value] >= np.where(primary, np.maximum(self.up[value], self.down[value])[inner], 0).max()
        buffers = np.flatnonzero(fits.all(axis=1))
        if not len(buffers):
            return inner[:0, 0]
        buffer = buffers[np.argmin(self.people[margin[buffers]])]
        self.state[inner[buffer]] = COMPLEMENTARY
        self.movable[np.delete(cells[:-1], buffer, axis=0)] = False
        cost = self._costs()[inner]
        while True:
            hidden = self.hidden[inner]
            lacking = primary.any(axis=1) & (hidden.sum(axis=1) < 2)
            for value in self.values:
                slack = np.where(hidden, room[value], 0)
                others = slack.sum(axis=1, keepdims=True) - slack
                lacking |= (primary & (others < self.up[value][inner])).any(axis=1)
            free = np.where(~hidden & live & lacking[:, None], cost, np.inf)
            at = np.flatnonzero(np.isfinite(free.min(axis=1)))
            if not len(at):
                break
            self.state[inner[at, free[at].argmin(axis=1)]] = COMPLEMENTARY
        if lacking.any():  # ones that add up to their number: only the buffer's margin can hide such a row's
            self.state[margin[np.append(np.flatnonzero(lacking), buffer)]] = COMPLEMENTARY
        return inner[primary]
