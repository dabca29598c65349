"""The shape of a purchase history in five numbers, those by which the contests' data are described.

n customers, m rows, b distinct items per customer on average, µ the mean Jaccard similarity of two customers' item
sets and h the mean number of items two customers have in common (S2, section on the data). µ and h are means over all
n(n-1)/2 pairs of customers.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from noren.kernels.arrays import Whole

EXACT_CUSTOMERS: Final = 5_000
"""Up to this many customers µ is the mean over all pairs, above over a sample of them."""

SAMPLED_PAIRS: Final = 100_000
_ITEMS_AT_A_TIME: Final = 2_048
_CUSTOMERS_AT_A_TIME: Final = 512
_LOOKUPS_AT_A_TIME: Final = 2_000_000


@dataclass(frozen=True)
class HistoryShape:
    """n customers, m rows, b items per customer, mean similarity µ and mean overlap h of two customers.

    With fewer than two customers there are no pairs; ``mu`` and ``h`` are then 0. ``mu_pairs`` says over how many pairs
    µ was taken and ``mu_error`` is its standard error, 0 where it is exact.
    """

    n: int
    m: int
    b: float
    mu: float
    h: float
    mu_is_exact: bool = True
    mu_error: float = 0.0
    mu_pairs: int = 0


def shape(frame: pl.DataFrame, customer: str = "customer", item: str = "item", seed: int = 0) -> HistoryShape:
    """Return the shape of a history; ``seed`` matters only where µ is estimated (see :data:`EXACT_CUSTOMERS`).

    >>> rows = {"customer": ["a", "a", "a", "b", "b", "c"], "item": ["x", "y", "y", "x", "z", "w"]}
    >>> it = shape(pl.DataFrame(rows))  # {x, y}, {x, z}, {w}: one pair of three shares one item of three
    >>> it.n, it.m, round(it.b, 4), round(it.mu, 4), round(it.h, 4)
    (3, 6, 1.6667, 0.1111, 0.3333)
    """
    counter = ShapeCounter(customer, item)
    counter.add(frame)
    return counter.shape(seed)


class ShapeCounter:
    """The shape of a history that comes in blocks: :meth:`add` each block, then ask for the :meth:`shape`.

    Keeps the distinct pairs of customer and item (eight bytes each), not the rows.
    """

    def __init__(self, customer: str = "customer", item: str = "item") -> None:
        self._columns = (customer, item)
        self._numbers: tuple[dict[object, int], dict[object, int]] = ({}, {})
        self.rows = 0
        self._pairs: list[Whole] = []

    def add(self, block: pl.DataFrame) -> None:
        """Take in one block."""
        self.rows += block.height
        codes = []
        for column, known in zip(self._columns, self._numbers, strict=True):
            # values are 0, 1, 2 … in the order they are first seen, and stay so between blocks
            distinct = block[column].unique(maintain_order=True)
            numbers = pl.Series([known.setdefault(value, len(known)) for value in distinct.to_list()], dtype=pl.Int64)
            numbered = block[column].replace_strict(distinct, numbers, return_dtype=pl.Int64)
            codes.append(np.asarray(numbered.to_numpy(), dtype=np.int64))
        self._pairs.append(_distinct(codes[0] << 32 | codes[1]))

    def shape(self, seed: int = 0) -> HistoryShape:
        """Return the shape of all blocks so far."""
        pairs = _distinct(np.concatenate([np.empty(0, dtype=np.int64), *self._pairs]))
        self._pairs = [pairs]
        n, items = (len(known) for known in self._numbers)
        customer, item = pairs >> 32, pairs & 0xFFFFFFFF
        buyers = np.bincount(item, minlength=items)
        every_pair = n * (n - 1) // 2
        # each pair of an item's buyers adds one to the overlaps, so their sum needs no look at the pairs of customers
        overlap = int((buyers * (buyers - 1) // 2).sum())
        mean_items = pairs.size / n if n else 0.0
        if every_pair == 0:
            return HistoryShape(n, self.rows, mean_items, 0.0, 0.0)
        about, h = (n, self.rows, mean_items), overlap / every_pair
        if n <= EXACT_CUSTOMERS:
            return HistoryShape(*about, _mean_jaccard(customer, item, n, buyers), h, mu_pairs=every_pair)
        mu, error = _sampled_jaccard(pairs, n, np.random.Generator(np.random.PCG64(seed)))
        return HistoryShape(*about, mu, h, mu_is_exact=False, mu_error=error, mu_pairs=SAMPLED_PAIRS)


def _distinct(keys: Whole) -> Whole:
    """Return the distinct keys in order; NumPy's own ``unique`` hashes first, which takes ten times as long here."""
    ordered = np.sort(keys)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))[: keys.size]]


def _mean_jaccard(customer: Whole, item: Whole, n: int, buyers: Whole) -> float:
    """Return the mean over all pairs, by products of 0/1 matrices, some items at a time."""
    sizes = np.bincount(customer, minlength=n).astype(np.float64)
    shared = np.flatnonzero(buyers > 1)  # an item of one buyer is in no overlap
    column = np.full(buyers.size, -1, dtype=np.int64)
    column[shared] = np.arange(shared.size)
    overlap = np.zeros((n, n), dtype=np.float32)
    for low in range(0, shared.size, _ITEMS_AT_A_TIME):
        here = (column[item] >= low) & (column[item] < low + _ITEMS_AT_A_TIME)
        has = np.zeros((n, min(_ITEMS_AT_A_TIME, shared.size - low)), dtype=np.float32)
        has[customer[here], column[item[here]] - low] = 1
        overlap += has @ has.T
    np.fill_diagonal(overlap, 0)  # nobody is a pair with themself
    total = 0.0
    for low in range(0, n, _CUSTOMERS_AT_A_TIME):
        some = overlap[low : low + _CUSTOMERS_AT_A_TIME].astype(np.float64)
        total += (some / (sizes[low : low + _CUSTOMERS_AT_A_TIME, None] + sizes[None, :] - some)).sum()
    return float(total / (n * (n - 1)))


def _sampled_jaccard(pairs: Whole, n: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the mean over pairs drawn uniformly, with its standard error; ``pairs`` are sorted keys."""
    left = rng.integers(0, n, SAMPLED_PAIRS)
    right = rng.integers(0, n - 1, SAMPLED_PAIRS)
    right += right >= left
    sizes = np.bincount(pairs >> 32, minlength=n)
    first = np.cumsum(sizes) - sizes
    # look the smaller set's items up in the larger set
    swap = sizes[left] > sizes[right]
    small, large = np.where(swap, right, left), np.where(swap, left, right)
    lookups = np.cumsum(sizes[small])
    similarity = np.empty(SAMPLED_PAIRS)
    low = 0
    while low < SAMPLED_PAIRS:
        done = lookups[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(lookups, done + _LOOKUPS_AT_A_TIME)))
        size = sizes[small[low:high]]
        pair = np.repeat(np.arange(high - low), size)
        place = np.arange(pair.size) - np.repeat(np.cumsum(size) - size, size) + first[small[low:high]][pair]
        wanted = (large[low:high][pair] << 32) | (pairs[place] & 0xFFFFFFFF)
        shared = pairs[np.searchsorted(pairs, wanted).clip(max=pairs.size - 1)] == wanted
        overlap = np.bincount(pair, shared, minlength=high - low)
        similarity[low:high] = overlap / (size + sizes[large[low:high]] - overlap)
        low = high
    return float(similarity.mean()), float(similarity.std(ddof=1) / np.sqrt(SAMPLED_PAIRS))
