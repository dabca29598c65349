"""Typed columns as the plain arrays that kernels work on.

What each customer bought and what each pseudonym shows are sets of items that can be compared. An exact cell says that
an item is there. A cell that is a set of s items says that one of them is: each counts 1/s, by the row that says most
where there are several, so an item that any row says exactly counts 1. A suppressed cell says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.cells import different, is_generalised, is_set
from noren.data.frames import History, Records
from noren.data.schema import Column, Role
from noren.errors import SchemaError
from noren.i18n import _
from noren.kernels.items.packed_sets import ItemSets, item_sets, weight_of_one_in
from noren.kernels.linkage import last_match

NOBODY = -1
MICROSECONDS_PER_DAY = 86_400_000_000
NANOSECONDS_PER_MINUTE = 60_000_000_000


def numbers(values: pl.Series) -> NDArray[np.float64]:
    """Return ordered values as numbers, NaN where missing: dates and times of day in days, clock times in minutes.

    >>> import datetime as dt
    >>> numbers(pl.Series([dt.datetime(1970, 1, 2, 12), None])).tolist()
    [1.5, nan]
    """
    if isinstance(values.dtype, pl.Datetime):
        counted = values.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / MICROSECONDS_PER_DAY
    elif values.dtype == pl.Time:
        counted = values.to_physical().cast(pl.Float64) / NANOSECONDS_PER_MINUTE
    else:
        counted = physical(values).cast(pl.Float64)
    return (counted.fill_null(float("nan")) if counted.null_count() else counted).to_numpy()


def physical(values: pl.Series) -> pl.Series:
    """Return values as the numbers they are kept as; a cast costs far less than an expression."""
    if values.dtype == pl.Date:
        return values.cast(pl.Int32)
    return values if values.dtype.is_numeric() else values.to_physical()


def people(customer: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """Return each row's customer as a code, and the customers the codes stand for, in order of first appearance.

    A row without a customer has the code :data:`NOBODY`.

    >>> codes, customers = people(pl.Series(["b", "a", None, "b"]))
    >>> codes.tolist(), customers.to_list()
    ([0, 1, -1, 0], ['b', 'a'])
    """
    rows, which = different(customer)
    pseudonyms = customer.gather(rows)
    known = pseudonyms.is_not_null()
    code = pl.Series(np.where(known.to_numpy(), known.cum_sum().cast(pl.Int64).to_numpy() - 1, NOBODY))
    return code.gather(which).to_numpy(), pseudonyms.filter(known)


def numbered(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return texts as numbers 0, 1, … in order of first appearance, and the row in which each number comes first.

    >>> [found.tolist() for found in numbered(pl.Series(["b", "a", "b"]))]
    [[0, 1, 0], [0, 1]]
    """
    if not texts.null_count():
        low, high = text_views(texts)
        if (low & 0xFFFFFFFF).max(initial=0) <= 7:  # texts of up to seven bytes are whole numbers, equal where they are
            keys = ((low << 56) | (low >> 32) | (high << 32)).astype("<u8")
            return last_match.numbered_keys(keys.view(np.int64))
    return last_match.numbered(*text_bytes(texts))


def text_views(texts: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return texts where they lie, as two numbers each: length and first four bytes; the next eight, if there are.

    So Arrow lays out texts of up to twelve bytes, filled up with zeros; of longer ones the second number is no text.
    """
    arrow = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    if not len(arrow):
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    low, high = np.frombuffer(arrow.buffers()[1], "<u8").reshape(-1, 2)[arrow.offset : arrow.offset + len(arrow)].T
    return low, high


def text_bytes(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return texts as UTF-8, one behind another, and where each starts and the last one ends."""
    arrow = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _valid, starts, content = arrow.buffers()
    if not len(arrow):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    places = np.frombuffer(starts, np.int64)[arrow.offset : arrow.offset + len(arrow) + 1]
    return places, np.frombuffer(content or b"", np.uint8)


def exact_values(records: Records, column: Column) -> pl.Series:
    """Return a column of an original, which must hold exact values."""
    values = records.frame[column.name]
    if is_generalised(values.dtype):
        rule = _("the original is already generalised; give the data as it was before protection")
        raise SchemaError(rule, column=column.name)
    return values


def require_exact(records: Records, columns: Iterable[Column]) -> None:
    """Stop where one of the columns holds generalised cells, whether there are rows or not."""
    for column in columns:
        exact_values(records, column)


@dataclass(frozen=True)
class ItemSetArrays:
    """Item sets of customers and of pseudonyms, with the names of their numbers.

    ``items`` is how many items the original has; an item of the release that the original lacks has no code, and counts
    in the weight of its set alone.
    """

    known: ItemSets
    released: ItemSets
    customers: pl.Series
    pseudonyms: pl.Series
    items: int


def item_set_arrays(original: History, public: History) -> ItemSetArrays:
    """Return both sides' sets; the original must hold exact items, the release may hold sets of them.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": ["2010/12/1"] * 3, "item": items, "price": [1.0] * 3,
    ...             "quantity": [1] * 3}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> public = history(["7", "7", "8"], ["b", "z", "a"])
    >>> arrays = item_set_arrays(history(["ann", "bob", "ann"], ["a", "b", "a"]), public)
    >>> arrays.known.item.tolist(), arrays.released.item.tolist(), arrays.released.total.tolist()
    ([0, 1], [1, 0], [2, 1])
    """
    who, customers = people(original[Role.CUSTOMER])
    bought = exact_values(original, original.schema.role(Role.ITEM)).cast(pl.String)
    items = bought.drop_nulls().unique(maintain_order=True)
    known = item_sets(who, _codes(bought, items), len(customers), len(items))

    owner, pseudonyms = people(public[Role.CUSTOMER])
    cells = public[Role.ITEM]
    weight = None
    if is_set(cells.dtype):
        listed = pl.DataFrame({"owner": owner, "item": cells.list.drop_nulls().list.unique()})
        listed = listed.with_columns(size=pl.col("item").list.len()).filter(pl.col("size") > 0).explode("item")
        owner, cells = listed["owner"].to_numpy(), listed["item"]
        weight = weight_of_one_in(listed["size"].cast(pl.Int64).to_numpy())
    cell_texts = cells.cast(pl.String)
    both = pl.concat([items, cell_texts.drop_nulls()]).unique(maintain_order=True)
    released = item_sets(owner, _codes(cell_texts, both), len(pseudonyms), len(items), weight)
    return ItemSetArrays(known, released, customers, pseudonyms, len(items))


def _codes(values: pl.Series, domain: pl.Series) -> NDArray[np.int64]:
    """Return each value's place in the domain, -1 for none."""
    return values.cast(pl.Enum(domain)).to_physical().cast(pl.Int64).fill_null(-1).to_numpy()
