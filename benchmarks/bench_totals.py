"""Totals of four shops: how many cells exact tables suppress, and how far differentially private ones are off.

The rules of exact tables are k = 5 and p = 10. Differentially private tables are month × category (month where there
are no items) with ε for this table alone; rows are limited to some per customer, revenue to an amount. About three
minutes::

    python benchmarks/bench_totals.py

It needs the published data beside the checkout.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import polars as pl
from machine import facts, report, table
from scipy.stats import t as student

import noren
from noren.data.categories import Categories, derive_categories, item_names
from noren.data.frames import History
from noren.data.schema import Role, ValueType
from noren.tabulations.dp_counts import dp_counts
from noren.tabulations.suppression import COMPLEMENTARY, DOMINANCE, THRESHOLD
from noren.tabulations.totals import ALL, protected_totals, shop_tables

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
REPEATS = 5
ROWS = (20, 100)
REVENUE = (500, 5_000)
K, P = 5, 10.0


def shops() -> Iterator[tuple[str, History, Categories | None, tuple[date, date]]]:
    """Yield each shop with its categories and its declared first and last day."""
    retail = pl.read_parquet(SHARED / "online_retail.parquet")
    bought = pl.col("CustomerID").is_not_null() & (pl.col("Quantity") > 0) & (pl.col("UnitPrice") > 0)
    history = noren.read(retail.filter(bought))
    assert isinstance(history, History)
    yield "Online Retail", history, derive_categories(item_names(history)), (date(2010, 12, 1), date(2011, 12, 31))
    cdnow = noren.read(pl.read_parquet(SHARED / "cdnow.parquet"))
    assert isinstance(cdnow, History)
    # what was paid is the price of a row already
    plain = cdnow.without([c.name for c in cdnow.schema.with_role(Role.QUANTITY)])
    yield "CDNOW", plain, None, (date(1997, 1, 1), date(1998, 6, 30))
    groceries = noren.read(pl.read_parquet(SHARED / "groceries_members.parquet"))
    assert isinstance(groceries, History)
    yield "Groceries", groceries, derive_categories(item_names(groceries)), (date(2014, 1, 1), date(2015, 12, 31))
    sample = noren.sample(customers=2000, rows=60_000, items=500, seed=1)
    items = sorted(sample[Role.ITEM].unique().to_list())
    groups = Categories({item: f"c{place % 12:02}" for place, item in enumerate(items)})
    yield "generated", sample, groups, (date(2010, 12, 1), date(2011, 12, 31))


def declared(history: History, days: tuple[date, date]) -> History:
    """Return the shop with its first and last day declared."""
    columns = tuple(
        c.model_copy(update={"type": ValueType.DATE, "minimum": days[0], "maximum": days[1]})
        if c.role == Role.DATE else c for c in history.schema.columns
    )  # fmt: skip
    name = history.schema.role(Role.DATE).name
    schema = history.schema.model_copy(update={"guessed": False, "columns": columns})
    return replace(history, frame=history.frame.with_columns(pl.col(name).cast(pl.Date)), schema=schema)


def exact(name: str, history: History, categories: Categories | None) -> Iterator[list[str]]:
    """Yield for each table its cells, the share suppressed for each reason, and the time it took."""
    begin = time.process_time()
    wanted = ("month-category", "item-quarter", "rfm")
    for made, reasons in protected_totals(history, K, P, wanted, categories):
        spent = time.process_time() - begin
        shares = [f"{np.mean(reasons == why):.1%}" for why in (THRESHOLD, DOMINANCE, COMPLEMENTARY)]
        value = made.values[-1]
        inner = pl.all_horizontal(pl.col(made.keys) != ALL)
        total = made.frame[value][-1]
        left = made.frame.filter(inner)[value].sum() / total if total else 0.0
        yield [name, made.name, f"{len(reasons):,}", *shares, f"{left:.1%} of {value}", f"{spent:.1f} s"]
        begin = time.process_time()


def interval(values: list[float]) -> str:
    half = student.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.fmean(values):.1%} ± {100 * half:.1f}"


def private(name: str, history: History, categories: Categories | None, rows: int, revenue: int) -> Iterator[list[str]]:
    """Yield for each ε the relative L1 error of cells and of months."""
    wanted = ["month" if categories is None else "month-category"]
    limits: dict[str, float] = {"rows": rows}
    if history.schema.with_role(Role.PRICE):
        limits["revenue"] = revenue
    ((true, _reasons),) = protected_totals(history, 1, 0, wanted, categories)
    (clipped,) = dp_counts(history, 1e6, tables=wanted, contributions=limits, categories=categories)
    for epsilon in EPSILONS:
        errors: dict[str, list[float]] = {}
        for _ in range(REPEATS):
            (made,) = dp_counts(history, epsilon, tables=wanted, contributions=limits, categories=categories)
            both = made.frame.join(true.frame, on=list(made.keys), how="left", suffix="_true").fill_null(0)
            month = pl.col("month") != ALL
            for value in limits:
                off = (pl.col(value) - pl.col(f"{value}_true")).abs().sum() / pl.col(f"{value}_true").sum()
                cells = pl.all_horizontal(pl.col(made.keys) != ALL)
                months = month & pl.all_horizontal(pl.lit(value=True), *(pl.col(k) == ALL for k in made.keys[1:]))
                for kind, which in (("cells", cells), ("months", months)):
                    errors.setdefault(f"{kind} {value}", []).append(float(both.filter(which).select(off).item()))
        kept = [
            f"{1 - clipped.frame[v][-1] / true.frame[v][-1]:.1%}" if v in limits else "" for v in ("rows", "revenue")
        ]
        yield [
            name, f"{rows} / {revenue:,}" if "revenue" in limits else str(rows), f"{epsilon:g}", *kept,
            *(interval(errors[name]) if name in errors else ""
              for name in ("cells rows", "months rows", "cells revenue", "months revenue")),
        ]  # fmt: skip


def heaviest(name: str, history: History) -> list[str]:
    """Return what share of everything the customer with most of it has."""
    (months,) = shop_tables(history, ["month"], None)
    per = months.parts.group_by("customer").agg(pl.col(months.values).sum())
    shares = [
        f"{per[v].max() / per[v].sum():.2%} ({per[v].max():,.0f})" if v in per.columns else ""
        for v in ("rows", "revenue")
    ]
    return [name, f"{len(per):,}", *shares]


def main() -> None:
    if not SHARED.exists():
        sys.exit("the published data are not beside this checkout")
    suppressed, errors, heavy = [], [], []
    for name, history, categories, days in shops():
        suppressed += list(exact(name, history, categories))
        ready = declared(history, days)
        heavy.append(heaviest(name, ready))
        for rows, revenue in zip(ROWS, REVENUE, strict=True):
            errors += list(private(name, ready, categories, rows, revenue))
        print(name, file=sys.stderr)
    report(
        "totals",
        "Totals beside a release",
        f"Exact tables with k = {K} and p = {P:g}: cells that somebody contributes to, margins included; the share"
        " suppressed because fewer than k customers contribute, because of the p % rule, and so that these cannot be"
        " computed; what the published inner cells hold of the total; processor seconds. Rare items are one row.",
        table(["shop", "table", "cells", "threshold", "p %", "complementary", "published", "time"], suppressed),
        "The customer with most rows, and the one with most revenue: their share of all.",
        table(["shop", "customers", "most rows", "most revenue"], heavy),
        f"Differentially private tables: relative L1 error of the cells of month × category and of monthly totals,"
        f" clipping included, mean of {REPEATS} repeats with its 95 % interval; and what clipping alone loses. Limits:"
        " rows / revenue of a customer. ε is that of this table, shared equally by its values.",
        table(["shop", "limits", "ε", "rows lost", "revenue lost", "cells: rows", "months: rows", "cells: revenue",
               "months: revenue"], errors),
        facts("polars", "scipy", "opendp"),
    )  # fmt: skip


if __name__ == "__main__":
    main()
