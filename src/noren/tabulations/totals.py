"""Exact totals of the whole shop, to publish beside a release: sales by month and category, items by quarter, segments.

A table is made of rows that have a customer and what the table is about; a value that is missing adds nothing. Cells by
which single customers could be told are suppressed (:mod:`noren.tabulations.suppression`). Customers are segmented at
the public limits :data:`RECENCY`, :data:`FREQUENCY` and :data:`MONETARY`: limits read from the data would tell of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from noren.tables import Texts
from noren.tabulations.questions import customers, rows_to_ask
from noren.tabulations.suppression import THRESHOLD, MarginGrid
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
        amounts.
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
    ['item-quarter', 'month', 'rfm']
    """
    return [table for table, _grid in protected_totals(history_of(original, schema), k, p, tables, categories)]


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
) -> Iterator[tuple[Tabulation, MarginGrid]]:
    """Return each table, and the grid that tells why cells are suppressed; that is for the steward alone."""
    if k < 1 or not 0 <= p <= 100:
        name, value, allowed = ("k", k, "k ≥ 1") if k < 1 else ("p", p, "0 ≤ p ≤ 100")
        raise ParameterError.out_of_range(name, value, allowed)
    found = shop_tables(history, tables, categories)
    if not tables and any("category" in table.keys for table in found):
        found = [table for table in found if table.name != "item-quarter"]
    hidden_quarters: dict[str, bool] = {}
    # quarters first: months add up to them
    for table in sorted(found, key=lambda table: table.name != "item-quarter"):
        grid, labels = _grid(table, k, p, hidden_quarters)
        if table.name == "item-quarter":
            margins = grid.hidden.reshape(grid.shape[0] + 1, -1)[-1, :-1]
            hidden_quarters = dict(zip(labels["quarter"], margins, strict=True))
        yield _tabulated(table, grid, labels), grid


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
        if name not in (*TABLES, "month"):
            raise ParameterError(say("unknown_table", name=name, names=", ".join(TABLES)))
    wanted = set(tables or TABLES) | ({"month-category"} if "month" in (tables or ()) else set())
    frame, values = _purchases(history, categories, pl.lit(1, pl.Int64) if counted is None else counted)
    if "month" in (tables or ()):
        frame = frame.drop("category", strict=False)
    made = []
    if "month" in frame.columns and "month-category" in wanted:
        keys = ("month", "category")[: 1 + ("category" in frame.columns)]
        made.append(ShopTable("-".join(keys), keys, values, _added(frame, keys, values)))
    if {"item", "quarter"} <= set(frame.columns) and "item-quarter" in wanted:
        parts = _added(frame, ("item", "quarter"), ("rows",))
        made.append(ShopTable("item-quarter", ("item", "quarter"), ("rows",), parts))
    if "month" in frame.columns and "rfm" in wanted:
        made.append(_segments(frame, end))
    if not made:
        raise ParameterError(say("no_tables"))
    return made


def _added(frame: pl.DataFrame, keys: Sequence[str], values: Sequence[str]) -> pl.DataFrame:
    there = frame.filter(pl.all_horizontal(pl.col(keys).is_not_null()))
    return there.group_by(*keys, "customer").agg(pl.col(values).sum()).sort(*keys, "customer")


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


def _grid(
    table: ShopTable, k: int, p: float, hidden_quarters: Mapping[str, bool]
) -> tuple[MarginGrid, dict[str, list[str]]]:
    """Return a table as a protected grid, and the labels of its rows and columns by the keys.

    Periods are the columns. Items that too few customers bought are one row, and so are such categories of a large
    table. Months are hidden in quarters whose total is, and add up to those of the other quarters.
    """
    period = next((key for key in table.keys if key in ("month", "quarter")), "")
    lines = [key for key in table.keys if key != period] or [period]
    columns = period if len(table.keys) == 2 else ""
    parts = table.parts.with_columns(pl.concat_str(lines, separator="\0").alias("line"))
    while True:
        labels = [parts[key].unique().sort().to_list() if key else [] for key in ("line", columns)]
        row, column = (pl.col(key).rank("dense").cast(pl.Int64) - 1 if key else 0 for key in ("line", columns))
        placed = parts.select("customer", *table.values, row=row, column=column)
        months = (labels[1] if columns else labels[0]) if period == "month" else []
        shape = len(labels[0]), len(labels[1])
        quarters = np.array([quarter_of(month) for month in months], dtype=object)
        cells = np.arange(len(months)) + (shape[0] * (shape[1] + 1) if columns else 0)
        known = [cells[quarters == q] for q in dict.fromkeys(quarters) if not hidden_quarters.get(q, True)]
        grid = MarginGrid.of(placed, shape, table.values, k, p, known)
        wrong, people = (x.reshape(shape[0] + 1, -1)[:-1, -1] for x in (grid.hidden, grid.people))
        other = np.array(labels[0], dtype=object) == OTHER
        rare = wrong & ~other
        if not columns or not wrong.any() or rare.all() or not ("item" in table.keys or grid.is_large):
            break
        if not rare.any():  # those that are rare are too few even together
            rare[np.where(other, np.inf, people).argmin()] = True
        names = pl.Series(labels[0]).filter(pl.Series(rare)).implode()
        renamed = pl.when(pl.col("line").is_in(names)).then(pl.lit(OTHER)).otherwise("line")
        merged = parts.with_columns(line=renamed).group_by("line", columns, "customer")
        parts = merged.agg(pl.col(table.values).sum()).sort("line", columns, "customer")
    gone = cells[[hidden_quarters.get(quarter, False) for quarter in quarters]]
    grid.state[gone] = np.maximum(grid.state[gone], THRESHOLD)
    named = [name.split("\0") for name in labels[0]]
    by_key = {key: [name[at] for name in named] for at, key in enumerate(lines)}
    return grid.protect(), by_key | ({columns: labels[1]} if columns else {})


def quarter_of(month: str) -> str:
    """Return the quarter of a month.

    >>> quarter_of("2011-05")
    '2011-Q2'
    """
    return f"{month[:4]}-Q{(int(month[5:]) + 2) // 3}"


def _tabulated(table: ShopTable, grid: MarginGrid, labels: Mapping[str, list[str]]) -> Tabulation:
    """Return what is published of a grid: a row for each cell, those of the margins last."""
    columns = grid.shape[1]
    at = np.arange(len(grid.state))
    row, column = at // (columns + 1), at % (columns + 1)
    places = {key: column if columns and key in ("month", "quarter") else row for key in table.keys}
    frame = {key: np.array([*labels[key], ALL], dtype=object)[places[key]] for key in table.keys}
    made = pl.DataFrame({key: pl.Series(values, dtype=pl.String) for key, values in frame.items()})
    for value in table.values:
        numbers = pl.Series(value, grid.totals[value]).set(pl.Series(grid.hidden), None)
        whole = table.parts[value].dtype.is_integer()
        made = made.with_columns(numbers.round().cast(pl.Int64) if whole else numbers.round(2))
    last = [pl.col(key) == ALL for key in table.keys]
    ordered = made.sort(*(x for pair in zip(last, table.keys, strict=True) for x in pair))
    return Tabulation(table.name, table.keys, table.values, ordered, {"kind": "exact", "k": grid.k, "p": grid.p})
