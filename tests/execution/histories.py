"""Histories that a cluster is tried on: blanks in every column, somebody with a tenth of all rows, odd columns."""

from __future__ import annotations

import polars as pl

import noren
from noren.data.frames import History
from noren.data.schema import Schema

_EVERY = {
    "customer": {"role": "customer", "optional": True},
    "invoice": {"role": "invoice", "optional": True},
    "date": {"role": "date", "optional": True},
    "time": {"role": "time", "optional": True},
    "item": {"role": "item", "optional": True},
    "price": {"role": "price", "optional": True},
    "quantity": {"role": "quantity", "optional": True},
    "country": {"role": "other", "optional": True},
}


def blank(history: History, every: dict[str, int]) -> History:
    """Return the history with every n-th cell of some columns blank."""
    at = pl.int_range(pl.len())
    holes = [pl.when(at % n != n - 1).then(pl.col(name)).alias(name) for name, n in every.items()]
    return History(history.frame.with_columns(holes), history.schema)


def uneven(rows: int = 700, seed: int = 3) -> History:
    """Return a history with blanks, ties and a customer with a tenth of the rows."""
    history = noren.sample(customers=40, rows=rows, items=60, seed=seed)
    at = pl.int_range(pl.len())
    heavy = pl.when(at % 10 == 3).then(pl.lit("heavy")).otherwise(pl.col("customer")).alias("customer")
    skewed = History(history.frame.with_columns(heavy), history.schema)
    optional = Schema.of(
        {"columns": {name: _EVERY[name] for name in ("customer", "date", "item", "price", "quantity")}}
    )
    return blank(History(skewed.frame, optional), {"customer": 97, "date": 61, "item": 53, "price": 47, "quantity": 43})


def wide() -> History:
    """Return the same with invoices, clock times and countries."""
    frame = uneven().frame
    at = pl.int_range(pl.len())
    more = frame.with_columns(
        invoice=pl.format("i{}", at // 3),
        time=pl.time(hour=8 + at % 12, minute=at % 60),
        country=pl.when(at % 31 != 0).then(pl.format("land {}", pl.col("item").hash(seed=1) % 3)),
    )
    return History(more.select(list(_EVERY)), Schema.of({"columns": _EVERY}))


def bare() -> History:
    """Return a history of customers and items alone."""
    schema = Schema.of({"columns": {name: _EVERY[name] for name in ("customer", "item")}})
    return History(uneven().frame.select("customer", "item"), schema)
