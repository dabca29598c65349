"""Where to cut an order after so many rows, without putting the rows in that order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["FEW_KEYS", "key_of_row", "up_to"]

FEW_KEYS = 20_000
"""So many keys at most come to the driver."""
_CUTS = 1_000


def key_of_row(frame: DataFrame, keys: Sequence[str], number: int, *, few: int = FEW_KEYS) -> tuple[Any, ...]:
    """Return the keys of the row that is ``number``-th, from 1, in the order of ``keys``.

    All rows are counted between a thousand cuts, then those between the two cuts where the row must be, and so on until
    they are few. Where all of them are equal in one key the next one goes on; no two rows may be equal in all.
    """
    from pyspark.sql import functions as f

    shares = [i / _CUTS for i in range(1, _CUTS)]
    left = list(keys)
    while True:
        at = f.col(left[0])
        count, low, high, cuts = frame.agg(
            f.count(at), f.min(at), f.max(at), f.percentile_approx(at, shares, 10 * _CUTS)
        ).first() or (0, None, None, ())
        if count <= few:
            found = sorted(tuple(row) for row in frame.select(*keys).collect())
            return found[number - 1]
        if low == high:
            left.pop(0)
            continue
        between = _cuts_below(at, sorted({low, *cuts}))
        sizes = {row[0]: row[1] for row in frame.groupBy(between.alias("part")).count().collect()}
        for part in sorted(sizes):
            if number <= sizes[part]:
                frame = frame.filter(between == part)
                break
            number -= sizes[part]


def _cuts_below(value: Expression, cuts: Sequence[Any]) -> Expression:
    from pyspark.sql import functions as f

    return f.size(f.filter(f.array(*map(f.lit, cuts)), lambda cut: cut < value))


def up_to(keys: Sequence[str], last: tuple[Any, ...]) -> Expression:
    """Tell whether a row stands at or before the one with the keys ``last``."""
    from pyspark.sql import functions as f

    here = f.lit(True)
    for name, bound in reversed(list(zip(keys, last, strict=True))):
        here = (f.col(name) < f.lit(bound)) | ((f.col(name) == f.lit(bound)) & here)
    return here
