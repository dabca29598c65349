"""How much of a table of pseudonyms, one per customer and period, a guess gets right (S3).

``match`` says for each customer (row) and period (column) whether the guess agrees with the truth, "has none" agreeing
with "has none"; ``live`` says where the truth has a pseudonym. In place of yes and no ``match`` may hold the chance of
a match, columns being independent: then all rates are means.

S3 counts ``(match - del) / (d·n - del)``, del being the cells where the truth has none. The number below the line is
that of the live cells. Above it stand the live cells named rightly, less the pseudonyms given to somebody who has none:
of the del cells, match counts those left empty. So a rate is (right - false alarms)/live, and sums over periods.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Flags, Real

Cells = NDArray[np.bool_] | Real


@dataclass(frozen=True)
class Window:
    """Consecutive periods, from ``first`` to ``last`` (counted from 0), and the matching rate of a guess over them."""

    first: int
    last: int
    value: float


def user_matching(match: Cells) -> float:
    """Return the share of customers whose every cell is right: S3's UM.

    >>> user_matching(np.array([[True, True], [True, False]]))
    0.5
    """
    return float(match.prod(axis=1, dtype=np.float64).mean()) if len(match) else 0.0


def user_matchings(match: Cells, weights: Real) -> Real:
    """Return UM for other numbers of the same customers, a row for each row of ``weights``.

    ``match`` may have several guesses between customers and periods; then there is a column for each.

    >>> user_matchings(np.array([[True, True], [True, False]]), np.array([[1.0, 1.0], [2.0, 0.0]])).tolist()
    [0.5, 1.0]
    """
    found = np.tensordot(weights, match.prod(axis=-1, dtype=np.float64), axes=1)
    many = np.maximum(weights.sum(axis=1), 1.0)
    return np.asarray(found / many.reshape(-1, *[1] * (found.ndim - 1)))


def matching_curve(match: Cells, live: Flags) -> Real:
    """Return MM^(l), the rate over the first l periods, for l = 1, 2, …; the last is S3's MM. 0 where nobody is live.

    Over both, two of three live cells are right, and the one cell that is not live was left empty: (3 - 1)/(4 - 1).

    >>> live = np.array([[True, True], [True, False]])
    >>> matching_curve(np.array([[True, False], [True, True]]), live).round(3).tolist()
    [1.0, 0.667]
    """
    gain = match.sum(axis=0, dtype=np.float64) - (~live).sum(axis=0, dtype=np.float64)
    return curve_of(gain, live.sum(axis=0, dtype=np.float64))


def curve_of(gain: Real, cells: Real) -> Real:
    """Return MM^(l) of what single periods come to: match - del, and the number of live cells.

    >>> curve_of(np.array([2.0, 0.0]), np.array([2.0, 1.0])).round(3).tolist()
    [1.0, 0.667]
    """
    return _rate(np.cumsum(gain), np.cumsum(cells))


def matching_curves(match: Cells, live: Flags, weights: Real) -> Real:
    """Return MM^(1), MM^(2), … for other numbers of the same customers, a row for each row of ``weights``.

    ``match`` and ``live`` may have several guesses between customers and periods, and so has what is returned.

    >>> live = np.array([[True, True], [True, False]])
    >>> match = np.array([[True, False], [True, True]])
    >>> matching_curves(match, live, np.array([[1.0, 1.0], [0.0, 1.0]])).round(3).tolist()
    [[1.0, 0.667], [1.0, 1.0]]
    """
    gain = np.tensordot(weights, match.astype(np.float64) - ~live, axes=1)
    cells = np.tensordot(weights, live.astype(np.float64), axes=1)
    return _rate(np.cumsum(gain, axis=-1), np.cumsum(cells, axis=-1))


def windows_of(gain: Real, cells: Real) -> list[Window]:
    """Return, for every number of consecutive periods 1, 2, …, the run of so many with the highest rate.

    ``gain`` is match - del of each period and ``cells`` its live cells. Of runs with equal rates the first is told. A
    run's rate is a mean of its periods' rates, weighted by live cells, so no run is worse than its worst period, and
    none of length a + b is worse than the worst of length a or b.

    >>> windows_of(np.array([1.0, 0.0, 2.0]), np.array([2.0, 2.0, 2.0]))
    [Window(first=2, last=2, value=1.0), Window(first=1, last=2, value=0.5), Window(first=0, last=2, value=0.5)]
    """
    gain, cells = (np.concatenate([[0.0], np.cumsum(one)]) for one in (gain, cells))
    worst = []
    for length in range(1, len(gain)):
        rates = _rate(gain[length:] - gain[:-length], cells[length:] - cells[:-length])
        first = int(np.argmax(rates))
        worst.append(Window(first, first + length - 1, float(rates[first])))
    return worst


def _rate(gain: Real, cells: Real) -> Real:
    return np.maximum(np.divide(gain, cells, out=np.zeros_like(gain), where=cells > 0), 0.0)
