"""A history recoded in every way that :class:`~noren.protocols.Recoding` names, and what attacks make of it."""

from __future__ import annotations

from collections.abc import Set
from string import ascii_lowercase

import numpy as np
import polars as pl

from noren.api import attack, sample
from noren.data.frames import History
from noren.protocols import Recoding

CODES = [first + second for first in ascii_lowercase for second in ascii_lowercase]
NUMBERS = ("item", "price", "quantity")


def sampled(customers: int, seed: int, rows: int = 60, items: int = 650) -> History:
    """Return a sample with items of two letters, so that those who know two know the item."""
    history = sample(customers=customers, rows=rows * customers, items=items, seed=seed, schema="pwscup2018")
    names = dict(zip(history["item"].unique().sort(), CODES, strict=False))
    return History(history.frame.with_columns(pl.col("item").replace_strict(names)), history.schema)


def recoded(original: History, ways: Set[Recoding], seed: int) -> tuple[History, History, dict[str, str]]:
    """Return what is known, what is released, and whose each pseudonym is."""
    draw = np.random.Generator(np.random.PCG64(seed))
    known, rows = original, original.frame

    def noise() -> pl.Series:
        return pl.Series(np.exp(draw.normal(0, 0.1, len(rows))))

    def days(low: int, high: int) -> pl.Expr:
        return pl.duration(days=pl.lit(pl.Series(draw.integers(low, high, len(rows)))))

    if Recoding.OTHER_PERIOD in ways:
        middle = rows["date"].median()
        early, late = rows.filter(pl.col("date") < middle), rows.filter(pl.col("date") >= middle)
        known = History(early.join(late, on="customer", how="semi"), original.schema)
        rows = late.join(early, on="customer", how="semi")
    people = rows["customer"].unique().sort()
    if Recoding.DELETED_ROWS in ways:
        rows = rows.filter(pl.Series(draw.random(len(rows)) >= 0.3))
    if Recoding.ADDED_ROWS in ways:
        more = rows.gather_every(5)
        drawn = rows.select(NUMBERS)[draw.integers(0, len(rows), len(more))]
        rows = pl.concat([rows, more.with_columns(drawn)])
    if Recoding.SWAPPED_ROWS in ways:
        partner = pl.col("customer").replace_strict(dict(zip(people, [*people[1:], people[0]], strict=True)))
        swapped = pl.when(pl.Series(draw.random(len(rows)) < 0.3)).then(partner).otherwise("customer")
        rows = rows.with_columns(customer=swapped)
    if Recoding.NOISED_NUMBERS in ways:
        count = (pl.col("quantity") * noise()).round().cast(pl.Int64).clip(1)
        rows = rows.with_columns(price=(pl.col("price") * noise()).round(2), quantity=count)
    if Recoding.NOISED_DATES in ways:
        rows = rows.with_columns(pl.col("date") + days(-3, 4))
    if Recoding.SHIFTED_DATES in ways:
        by = dict(zip(people, draw.integers(-365, 366, len(people)).tolist(), strict=True))
        rows = rows.with_columns(pl.col("date") + pl.duration(days=pl.col("customer").replace_strict(by)))
    if Recoding.RENAMED_ITEMS in ways:
        items = original["item"].unique().sort()
        codes = dict(zip(items, items.gather(draw.permutation(len(items))).str.to_uppercase(), strict=True))
        rows = rows.with_columns(pl.col("item").replace_strict(codes))
    names = dict(zip(people, [f"p{at}" for at in draw.permutation(len(people))], strict=True))
    rows = rows.with_columns(pl.col("customer").replace_strict(names), whose="customer")
    if Recoding.CHANGING_PSEUDONYMS in ways:
        rows = rows.with_columns(pl.col("customer") + pl.col("date").dt.strftime(" %Y %m"))
    truth = dict(rows.select("customer", "whose").unique(maintain_order=True).rows())
    if Recoding.GENERALISED_CELLS in ways:
        items = rows["item"].unique().sort()
        other = pl.Series(items.gather(draw.integers(0, len(items), len(rows))))
        less, more_of = (pl.Series(draw.integers(0, 3, len(rows))) for _side in range(2))
        rows = rows.with_columns(
            date=pl.struct(lo=pl.col("date") - days(0, 4), hi=pl.col("date") + days(0, 4)),
            price=pl.struct(lo=pl.col("price") * 0.9, hi=pl.col("price") * 1.2),
            quantity=pl.struct(lo=(pl.col("quantity") - less).clip(1), hi=pl.col("quantity") + more_of),
            item=pl.concat_list("item", other).list.unique().list.sort().cast(pl.List(pl.Enum(items))),
        )
    order = draw.permutation(len(rows))
    return known, History(rows.select(original.schema.names)[order], original.schema), truth


def share_named(name: str, known: History, public: History, truth: dict[str, str]) -> float:
    """Return the share of pseudonyms that an attack names rightly."""
    guess = attack(known, public, name, seed=1).answers.unique("pseudonym", keep="first", maintain_order=True)
    right = sum(truth.get(pseudonym) == who for pseudonym, who in guess.select("pseudonym", "customer").rows())
    return right / len(truth)
