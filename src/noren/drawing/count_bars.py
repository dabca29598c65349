"""How often small and large numbers occur: rows per customer, months active, sizes of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from noren.drawing.histograms import MOST_BARS
from noren.kernels.arrays import Whole

__all__ = ["bar_starts", "count_bars"]


def count_bars(values: Whole, most: int = MOST_BARS) -> dict[str, Any]:
    """Return a histogram of whole numbers from 1 on, at most ``most`` bars, with what is least, middle and largest.

    Small ranges have a bar for each number; larger ones bars that widen tenfold with the numbers, so that a long tail
    keeps its shape.

    >>> found = count_bars(np.array([1, 1, 3]))
    >>> found["labels"], found["counts"], found["median"]
    (['1', '2', '3'], [2, 0, 1], 1.0)
    """
    if not len(values):
        lists: dict[str, Any] = {name: [] for name in ("labels", "from", "to", "counts")}
        return lists | {"total": 0, "minimum": None, "median": None, "mean": None, "maximum": None}
    starts = bar_starts(int(values.min()), int(values.max()), most)
    ends = np.append(starts[1:] - 1, max(int(values.max()), int(starts[-1])))
    return {
        "labels": [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)],
        "from": starts.tolist(),
        "to": ends.tolist(),
        "counts": np.bincount(np.searchsorted(starts, values, side="right") - 1, minlength=len(starts)).tolist(),
        "total": len(values),
        "minimum": int(values.min()),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "maximum": int(values.max()),
    }


def bar_starts(low: int, high: int, most: int = MOST_BARS) -> Whole:
    """Return where bars begin that hold the numbers from ``low`` to ``high``.

    >>> bar_starts(1, 4).tolist(), bar_starts(8, 120).tolist()
    ([1, 2, 3, 4], [8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    """
    if high - low < most:
        return np.arange(low, high + 1)
    powers = 10 ** np.arange(len(str(high)))
    # by the first digit, or where that is too many, by 1, 2 and 5: of 18 digits, 54 at most
    for digits in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1,)):
        starts = np.sort(np.outer(powers, digits).ravel())
        kept = starts[(starts <= high) & (np.append(starts[1:], high + 1) > low)]
        if len(kept) <= most:
            break
    return kept.astype(np.int64)
