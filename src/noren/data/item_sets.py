"""What each customer bought and what each pseudonym shows, as sets of items that can be compared.

An exact cell says that an item is there. A cell that is a set of s items says that one of them is: each counts 1/s, by
the row that says most where there are several, so an item that any row says exactly counts 1. A suppressed cell says
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import exact_values, people
from noren.data.cells import is_set
from noren.data.frames import History
from noren.data.schema import Role
from noren.kernels.items.packed_sets import ItemSets, item_sets, weight_of_one_in

__all__ = ["SetSides", "set_sides"]


@dataclass(frozen=True)
class SetSides:
    """The two sides: sets of customers and of pseudonyms, and whom their numbers stand for.

    ``items`` is how many items the original has; an item of the release that the original lacks has no code, and counts
    in the weight of its set alone.
    """

    known: ItemSets
    released: ItemSets
    customers: pl.Series
    pseudonyms: pl.Series
    items: int


def set_sides(original: History, public: History) -> SetSides:
    """Return both sides' sets; the original must hold exact items, the release may hold sets of them.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": ["2010/12/1"] * 3, "item": items, "price": [1.0] * 3,
    ...             "quantity": [1] * 3}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> sides = set_sides(history(["ann", "bob", "ann"], ["a", "b", "a"]), history(["7", "7", "8"], ["b", "z", "a"]))
    >>> sides.known.item.tolist(), sides.released.item.tolist(), sides.released.total.tolist()
    ([0, 1], [1, 0], [2, 1])
    """
    who, customers = people(original[Role.CUSTOMER])
    bought = exact_values(original, original.schema.role(Role.ITEM)).cast(pl.String)
    items = bought.drop_nulls().unique(maintain_order=True)
    known = item_sets(who, _codes(bought, items), len(customers), len(items))

    whose, pseudonyms = people(public[Role.CUSTOMER])
    cells = public[Role.ITEM]
    weight = None
    if is_set(cells.dtype):
        listed = pl.DataFrame({"whose": whose, "item": cells.list.drop_nulls().list.unique()})
        listed = listed.with_columns(size=pl.col("item").list.len()).filter(pl.col("size") > 0).explode("item")
        whose, cells = listed["whose"].to_numpy(), listed["item"]
        weight = weight_of_one_in(listed["size"].cast(pl.Int64).to_numpy())
    shown = cells.cast(pl.String)
    both = pl.concat([items, shown.drop_nulls()]).unique(maintain_order=True)
    released = item_sets(whose, _codes(shown, both), len(pseudonyms), len(items), weight)
    return SetSides(known, released, customers, pseudonyms, len(items))


def _codes(values: pl.Series, domain: pl.Series) -> NDArray[np.int64]:
    """Return each value's place in the domain, -1 for none."""
    return values.cast(pl.Enum(domain)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
