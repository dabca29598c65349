"""The best attacker of a release made of classes: he knows who is in a class, and draws lots inside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.attacks.consistency import Consistency
from noren.data.fits import history_classes
from noren.data.frames import History
from noren.kernels.judging.survival import Plan

__all__ = ["FoundClasses", "draw_lots", "found_classes"]

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class FoundClasses:
    """Pseudonyms class by class, the smallest and surest classes first, with the customers found behind each class.

    Attributes
    ----------
    pseudonym, customer
        Row by row; inside a class nothing says which customer is which pseudonym.
    number, place
        Which class a row is of, counted among the classes of its size; and which member of it.
    start
        The first row of its class.
    """

    pseudonym: pl.Series
    customer: pl.Series
    size: Whole
    number: Whole
    place: Whole
    start: Whole


def found_classes(original: History, public: History) -> FoundClasses:
    """Find who is behind each class of equal public histories; a class with an unknown member is left out."""
    named = Consistency().attack(original, public, seed=0).pairs
    rows = (
        history_classes(public)
        .with_columns(size=pl.len().over("class"))
        .join(named, on="pseudonym", how="inner")
        .with_columns(sure=pl.col("score").min().over("class"), found=pl.len().over("class"))
        .filter(pl.col("found") == pl.col("size"))
        .sort("size", "sure", "class", "pseudonym", descending=[False, True, False, False])
    )
    size = rows["size"].cast(pl.Int64).to_numpy()
    first = np.flatnonzero(np.diff(rows["class"].cast(pl.Int64).to_numpy(), prepend=-1))
    start = np.repeat(first, size[first])
    of_size = np.searchsorted(size, size)  # the first row of this size
    return FoundClasses(
        rows["pseudonym"],
        rows["customer"],
        size,
        (start - of_size) // np.maximum(size, 1),
        np.arange(len(size)) - start,
        start,
    )


def draw_lots(found: FoundClasses, plan: Plan, draws: np.random.Generator) -> pl.DataFrame:
    """Return a guess by a plan: so many members of so many classes of each size, who is who drawn by lot.

    A sure plan gives every pseudonym of a class one customer of it.
    """
    order = np.lexsort((draws.random(len(found.size)), found.start))
    given = order[found.start] if plan.sure else order
    named = np.zeros(len(found.size), dtype=np.bool_)
    used: dict[int, int] = {}
    for size, members, classes in sorted(plan.depths, reverse=True):
        first = used.get(size, 0)
        turn = (found.number >= first) & (found.number < first + classes)
        named |= (found.size == size) & turn & (found.place < members)
        used[size] = first + classes
    rows = np.flatnonzero(named)
    return pl.DataFrame({"pseudonym": found.pseudonym.gather(rows), "customer": found.customer.gather(given[rows])})
