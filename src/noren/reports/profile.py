"""Profiles of data before protection: the values of each column, and how much customers buy."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noren.data.categories import Categories
from noren.data.cells import is_generalised
from noren.data.formats.files import writing_file
from noren.data.formats.render import value_text
from noren.data.frames import History, Records
from noren.data.samples.shape import shape
from noren.data.schema import Column, Role, Scale
from noren.drawing.base import render_page
from noren.drawing.histograms import MOST_VALUES, Axis, Bars, axis_of, count_bars, spread
from noren.i18n import _
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.reports.unicity import unicity_facts

_EXAMPLES = 5
_EXAMPLE_ROWS = 200
_DIGITS = 6


def profile(records: Records) -> dict[str, Any]:
    """Return facts about every column of exact data, and about the customers of a history, as plain data.

    >>> from noren.data.frames import Table
    >>> from noren.data.schema import Schema
    >>> schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    >>> about = profile(Table(pl.DataFrame({"age": [20, 21, 21, None]}), schema))["columns"][0]
    >>> about["missing"], about["distinct"], about["bars"]["labels"], about["bars"]["weights"]
    (1, 2, ['20', '21'], [1.0, 2.0])
    """
    return {
        "rows": len(records),
        "kind": str(records.schema.kind),
        "schema": printable(records.schema.name),
        "columns": [_column(records.frame[column.name], column) for column in records.schema.columns],
        "history": _history(records) if isinstance(records, History) else None,
    }


def _column(values: pl.Series, column: Column) -> dict[str, Any]:
    present = values.drop_nulls()
    about: dict[str, Any] = {
        "name": printable(column.name),
        "role": str(column.role),
        "type": str(column.type),
        "scale": str(column.scale),
        "optional": column.optional,
        "domain": None if column.domain is None else len(column.domain),
        "missing": values.null_count(),
    }
    about |= dict.fromkeys(("minimum", "maximum", "distinct", "bars")) | {"examples": []}
    if is_generalised(values.dtype):
        return about
    if column.scale != Scale.NOMINAL:
        ends = pl.Series("x", [values.min(), values.max()], dtype=values.dtype)
        about["minimum"], about["maximum"] = _texts(ends, column)
        about["distinct"], axis = present.n_unique(), axis_of(values, column)
        if axis is not None:
            heights = spread(values, axis, len(values))
            weights = [round(float(w), _DIGITS) for w in heights.weights]
            facts = Bars(axis, len(axis.labels)).facts(others=False)
            about["bars"] = facts | {"weights": weights, "unsaid": round(heights.unsaid, _DIGITS)}
    else:
        # an axis lists every value there is, and an identifier has as many as rows: here the commonest are enough
        counted = present.cast(pl.String).alias("value").value_counts(name="rows")
        about["distinct"], others = len(counted), len(counted) > MOST_VALUES
        if len(counted):
            bars = MOST_VALUES - 1 if others else len(counted)
            least = counted["rows"].top_k(bars).min()
            common = counted.filter(pl.col("rows") >= least).sort(["rows", "value"], descending=[True, False])
            common = common.head(bars)
            weights = [float(rows) for rows in common["rows"]]
            if others:
                weights.append(float(len(present) - sum(weights)))
            facts = Bars(Axis(column, tuple(common["value"]), np.empty(0)), len(common)).facts(others=others)
            more = {"values": len(counted), "weights": weights, "unsaid": float(values.null_count())}
            about["bars"] = facts | more
    first = present.head(_EXAMPLE_ROWS).unique(maintain_order=True).head(_EXAMPLES)
    return about | {"examples": _texts(first, column)}


def _texts(values: pl.Series, column: Column) -> list[str | None]:
    texts = values.to_frame("x").select(value_text(pl.col("x"), column))["x"].to_list()
    return [None if text is None else printable(text) for text in texts]


def _history(history: History) -> dict[str, Any]:
    """Return how much customers buy; days and items are None without their columns."""
    customer = history.schema.role(Role.CUSTOMER).name
    by_customer = history.frame.select(who=pl.col(customer)).drop_nulls().group_by("who").len("rows")
    when: dict[str, Any] = {"first": None, "last": None, "months_active": None}
    for date in history.schema.with_role(Role.DATE)[:1]:
        days = history.frame[date.name]
        first, last = _texts(pl.Series("x", [days.min(), days.max()], dtype=days.dtype), date)
        month = pl.col("day").dt.year().cast(pl.Int32) * 12 + pl.col("day").dt.month()
        rows = history.frame.select(who=pl.col(customer), day=pl.col(date.name)).drop_nulls("who")
        months = rows.group_by("who").agg(months=month.drop_nulls().n_unique())["months"]
        when = {"first": first, "last": last, "months_active": count_bars(months.cast(pl.Int64).to_numpy())}
    what: dict[str, Any] = {"items": None, "shape": None}
    for item in (column.name for column in history.schema.with_role(Role.ITEM)[:1]):
        purchases = shape(history.frame.select(customer, item).drop_nulls(), customer, item)
        facts = ("n", "m", "b", "mu", "h", "mu_is_exact", "mu_error")
        what = {
            "items": history.frame[item].drop_nulls().n_unique(),
            "shape": {name: getattr(purchases, name) for name in facts},
        }
    return {
        "customers": len(by_customer),
        "rows_per_customer": count_bars(by_customer["rows"].cast(pl.Int64).to_numpy()),
        **when,
        **what,
        "unicity": unicity_facts(history),
    }


# --- a page to review categories before they are used; names of items come from data and are escaped ------------------


EXAMPLES = 24
_LONGEST = 80


def write_category_page(categories: Categories, names: Mapping[str, str], path: str | Path) -> Path:
    """Write the page to ``path``, whole or not at all."""
    page = category_page(categories, names)
    with writing_file(path) as aside:
        aside.write_text(page, encoding="utf-8", newline="\n")
    return Path(path)


def category_page(categories: Categories, names: Mapping[str, str]) -> str:
    """Return the page as text, largest category first; ``names`` has the names of items, as far as known."""
    groups = sorted(categories.groups().items(), key=lambda group: (-len(group[1]), group[0]))
    total = sum(len(items) for _category, items in groups)
    headline = _("{items} items in {categories} categories; the largest has {share}")
    share = percent(len(groups[0][1]) / total if groups else 0)
    return render_page(
        "noren.reports",
        "categories.html.jinja",
        headline=headline.format(items=count(total), categories=count(len(groups)), share=share),
        groups=[(category, categories.name(category), items) for category, items in groups],
        names=names,
        total=total,
        most=EXAMPLES,
        shown=partial(printable, longest=_LONGEST),
    )
