"""Exact totals of the whole shop, to publish beside a release: sales by month and category, items by quarter, segments.

A table is made of rows that have a customer and what the table is about; a value that is missing adds nothing. Cells by
which single customers could be told are suppressed (:mod:`noren.tabulations.suppression`). Customers are segmented at
the public limits :data:`RECENCY`, :data:`FREQUENCY` and :data:`MONETARY`: limits read from the data would tell of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from noren.data.categories import UNKNOWN, Categories, read_categories
from noren.data.frames import History
from noren.data.reading import SchemaLike, as_records
from noren.data.schema import Role
from noren.errors import ParameterError
from noren.kernels.arrays import Whole
from noren.tables import Texts
from noren.tabulations.questions import customers, rows_to_ask
from noren.tabulations.suppression import MarginGrid, cells_of
from noren.tabulations.tabulation import Tabulation

say = Texts(__name__)

TABLES: Final = ("month-category", "item-quarter", "rfm")
ALL: Final = "*"
OTHER: Final = "(other)"
"""The row of items or categories that are too rare for one of their own."""
RECENCY: Final = (30, 90, 180, 365)
"""Days from the last purchase to the end of the last month."""
FREQUENCY: Final = (1, 2, 5, 10, 20)
"""Invoices, or days with purchases where there are no invoices."""
MONETARY: Final = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


@dataclass(frozen=True)
class ShopTable:
    """A table before it is protected: what every customer has in every cell."""

    name: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    parts: pl.DataFrame
    """The keys, ``customer`` and the values."""


def totals(
    original: Any,
    k: int = 5,
    p: float = 10.0,
    tables: Sequence[str] | None = None,
    categories: Categories | str | Path | None = None,
    *,
    schema: SchemaLike | None = None,
) -> list[Tabulation]:
    """Return tables of totals of a purchase history that can be published beside a release.

    Parameters
    ----------
    original
        The purchase history.
    k
        How many customers each published cell has at least.
    p
        Within how many per cent the second largest customer of a cell must not be able to estimate the largest one's
        rows and amounts.
    tables
        Of ``month-category``, ``item-quarter`` and ``rfm``; by default all for which the data have columns, but not
        ``item-quarter`` beside categories: what a category has more than its published items is that of its rare ones.
    categories
        The categories of items, a file of them, or a column; by default the column ``category``, if there is one.

    Examples
    --------
    >>> import noren
    >>> shop = noren.sample(customers=60, rows=2000, items=20, seed=1)
    >>> [table.name for table in totals(shop, k=3)]
    ['month', 'item-quarter', 'rfm']
    """
    return [table for table, _reasons in protected_totals(history_of(original, schema), k, p, tables, categories)]


def history_of(original: Any, schema: SchemaLike | None = None) -> History:
    """Return exact purchases; other data are refused."""
    data = as_records(original, schema)
    if not isinstance(data, History):
        raise ParameterError(say("not_a_history"))
    if data.generalised:
        raise ParameterError(say("generalised"))
    return data


def protected_totals(
    history: History,
    k: int = 5,
    p: float = 10.0,
    tables: Sequence[str] | None = None,
    categories: Categories | str | Path | None = None,
) -> Iterator[tuple[Tabulation, Whole]]:
    """Return each table, and why each cell that somebody is in is suppressed; that is for the steward alone."""
    if k < 1 or not 0 <= p <= 100:
        name, value, allowed = ("k", k, "k ≥ 1") if k < 1 else ("p", p, "0 ≤ p ≤ 100")
        raise ParameterError.out_of_range(name, value, allowed)
    found = shop_tables(history, tables, categories)
    if not tables and any("category" in table.keys for table in found):
        found = [table for table in found if table.name != "item-quarter"]
    layouts = [_TableLayout.of(table, k) for table in found]
    # months add up to quarters, so they are protected together
    periods = [layout for layout in layouts if layout.period]
    for group in filter(None, (periods, *([layout] for layout in layouts if not layout.period))):
        shapes = [(layout.parts, layout.shape) for layout in group]
        grid = MarginGrid.of(shapes, k, p, _links(group)).protect()
        for layout, cells in zip(group, grid.tables, strict=True):
            yield layout.tabulated(grid, cells), grid.state[cells[grid.people[cells] > 0]]


def shop_tables(
    history: History,
    tables: Sequence[str] | None = None,
    categories: Categories | str | Path | None = None,
    *,
    end: date | None = None,
    counted: pl.Series | None = None,
) -> list[ShopTable]:
    """Return the tables for which a history has columns; recency ends with the last month, or ``end``.

    ``counted`` tells how often each row counts, where that is not once.
    """
    for name in tables or ():
        if name not in (known := ("month", *TABLES)):
            raise ParameterError(say("unknown_table", name=name, names=", ".join(known)))
    wanted = set(tables or TABLES) | ({"month-category"} if "month" in (tables or ()) else set())
    frame, values = _purchases(history, categories, pl.lit(1, pl.Int64) if counted is None else counted)
    if "month-category" not in (tables or TABLES) and "month" in (tables or ()):
        frame = frame.drop("category", strict=False)
    made = []
    months = ("month", "category") if "category" in frame.columns else ("month",)
    for name, keys, own in (("month-category", months, values), ("item-quarter", ("item", "quarter"), ("rows",))):
        if name in wanted and {*keys} <= {*frame.columns}:
            grouped = frame.drop_nulls(keys).group_by(*keys, "customer")
            parts = grouped.agg(pl.col(own).sum()).sort(*keys, "customer")
            made.append(ShopTable("-".join(keys), keys, own, parts))
    if "month" in frame.columns and "rfm" in wanted:
        made.append(_segments(frame, end))
    if not made:
        raise ParameterError(say("no_tables"))
    return made


def _purchases(
    history: History, categories: Categories | str | Path | None, counted: pl.Expr | pl.Series
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the rows that have a customer, by what the tables are about, and the values that they have."""
    rows = rows_to_ask(history).with_columns(pl.col("customer").cast(pl.String), rows=counted)
    values = tuple(name for name in ("rows", "quantity", "revenue") if name in rows.columns)
    blanks = {"item": pl.col("item").fill_null(UNKNOWN), "quantity": pl.col("quantity").fill_null(0),
              "revenue": pl.col("revenue").fill_null(0).round(2)}  # fmt: skip
    rows = rows.with_columns(filled for name, filled in blanks.items() if name in rows.columns)
    known = known_categories(history, categories)
    if not isinstance(known, Categories):
        if known in history.schema.names:
            rows = rows.with_columns(category=history.frame[known].cast(pl.String).fill_null(UNKNOWN))
    elif "item" in rows.columns:
        rows = rows.with_columns(category=pl.col("item").replace_strict(dict(known.of_item), default=UNKNOWN))
    else:
        raise ParameterError(say("no_items"))
    invoices = history.schema.with_role(Role.INVOICE)
    if "day" in rows.columns:
        rows = rows.with_columns(visit=history.frame[invoices[0].name] if invoices else pl.col("day"))
    return rows.drop_nulls("customer"), values


def known_categories(history: History, categories: Categories | str | Path | None) -> Categories | str:
    """Return categories, of a file as well, or the name of the column that may hold them."""
    if isinstance(categories, Categories):
        return categories
    name = str(categories or "category")
    return name if categories is None or name in history.schema.names else read_categories(categories)


def bands(limits: Sequence[int]) -> list[str]:
    """Return the names of the bands between limits, from the lowest.

    >>> bands((1, 2, 5))
    ['≤1', '2', '3–5', '>5']
    """
    inner = [str(b) if a + 1 == b else f"{a + 1}–{b}" for a, b in pairwise(limits)]
    return [f"≤{limits[0]}", *inner, f">{limits[-1]}"]


def _segments(rows: pl.DataFrame, end: date | None) -> ShopTable:
    """Count customers by recency, frequency and, where there are prices, monetary value."""
    rows = rows.drop_nulls("day")
    end = end or pl.Series([rows["day"].max()], dtype=pl.Date).dt.month_end()[0]
    people = customers(rows, "visit", "revenue" if "revenue" in rows.columns else "rows")
    paid = [(pl.col("money").floor(), MONETARY)] if "revenue" in rows.columns else []
    features = [((pl.lit(end) - pl.col("last")).dt.total_days(), RECENCY), (pl.col("visits"), FREQUENCY), *paid]
    keys = ("recency", "frequency", "monetary")[: len(features)]
    banded = {
        key: pl.sum_horizontal(value > limit for limit in limits).replace_strict(dict(enumerate(bands(limits))))
        for key, (value, limits) in zip(keys, features, strict=True)
    }
    parts = people.select("customer", customers=pl.lit(1, pl.Int64), **banded).sort("customer")
    return ShopTable("rfm", keys, ("customers",), parts)


@dataclass(frozen=True)
class _TableLayout:
    """A table as a grid: months or quarters are its columns, or its rows where it has no other key."""

    table: ShopTable
    rows: pl.DataFrame
    """The keys of each row."""
    columns: list[str]
    parts: pl.DataFrame
    """What every customer has in each cell, by ``row`` and ``column``."""

    @classmethod
    def of(cls, table: ShopTable, k: int) -> _TableLayout:
        """Lay a table out; items or categories that too few customers bought are one row."""
        period = next((key for key in table.keys if key in ("month", "quarter")), None) if len(table.keys) > 1 else None
        lines = [key for key in table.keys if key != period]
        parts = table.parts if period is None else _rare_together(table.parts, lines[0], k)
        rows = parts.select(lines).unique().sort(lines)
        column = pl.lit(0, pl.Int64) if period is None else pl.col(period).rank("dense").cast(pl.Int64) - 1
        placed = parts.join(rows.with_row_index("row"), on=lines).select(
            "customer", *table.values, row=pl.col("row").cast(pl.Int64), column=column
        )
        return cls(table, rows, [] if period is None else parts[period].unique().sort().to_list(), placed)

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns there are, without margins."""
        return len(self.rows), len(self.columns)

    @property
    def period(self) -> list[str]:
        """The months or quarters; none where the table is not about time."""
        return self.columns or (self.rows["month"].to_list() if self.table.keys == ("month",) else [])

    def tabulated(self, grid: MarginGrid, cells: Whole) -> Tabulation:
        """Return what is published: a row for each cell, those of the margins last."""
        row, column = np.indices(cells.shape).reshape(2, -1)
        labels = {key: self.rows[key].to_list() for key in self.rows.columns}
        frame = {
            key: pl.Series([*labels.get(key, self.columns), ALL]).gather(pl.Series(row if key in labels else column))
            for key in self.table.keys
        }
        for value in self.table.values:
            numbers = pl.Series(grid.totals[value][cells.ravel()]).set(pl.Series(grid.hidden[cells.ravel()]), None)
            whole = self.table.parts[value].dtype.is_integer()
            frame[value] = numbers.round().cast(pl.Int64) if whole else numbers.round(2)
        keys = self.table.keys
        ordered = pl.DataFrame(frame).sort(*(x for key in keys for x in (pl.col(key) == ALL, key)))
        return Tabulation(
            self.table.name, keys, self.table.values, ordered, {"kind": "exact", "k": grid.k, "p": grid.p}
        )


def _rare_together(parts: pl.DataFrame, line: str, k: int) -> pl.DataFrame:
    """Return parts with those items or categories in one row that fewer than k customers bought, or who are named *.

    Where these are too few even together, the next rarest are added.
    """
    people = parts.group_by(line).agg(people=pl.col("customer").n_unique())
    people = people.sort(pl.col(line) != ALL, "people", line)
    count = int(((people["people"] < k) | (people[line] == ALL)).sum())
    while (
        0 < count < len(people)
        and parts.filter(pl.col(line).is_in(people[line][:count].implode()))["customer"].n_unique() < k
    ):
        count += 1
    rare = pl.col(line).is_in(people[line][:count].implode())
    return parts.with_columns(pl.when(rare).then(pl.lit(OTHER)).otherwise(line).alias(line))


def _links(layouts: Sequence[_TableLayout]) -> list[tuple[Whole, int]]:
    """Return which months add up to which quarter of another table; the totals of both are the same."""
    if len(layouts) < 2:
        return []
    cells = cells_of([layout.shape for layout in layouts])
    (months, month_total), (quarters, quarter_total) = (
        (line[:-1], line[-1]) for line in (own[-1] if own.shape[1] > 1 else own[:, 0] for own in cells)
    )
    of = np.array([layouts[1].period.index(quarter_of(month)) for month in layouts[0].period])
    each = [(months[of == at], cell) for at, cell in enumerate(quarters)]
    return [*each, (months, quarter_total), (quarters, month_total)]


def quarter_of(month: str) -> str:
    """Return the quarter of a month.

    >>> quarter_of("2011-05")
    '2011-Q2'
    """
    return f"{month[:4]}-Q{(int(month[5:]) + 2) // 3}"
