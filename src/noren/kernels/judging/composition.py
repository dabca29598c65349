"""What classes of equal histories leave to any attacker who holds several periods (docs/theory/repeated-releases.md).

``sizes`` has a row for each customer and a column for each period: the number of customers who share the customer's
public history in the period, or 0 where the customer has no pseudonym in it. Pseudonyms are drawn uniformly, anew in
every period, and without a look at the histories. Then a pseudonym of a class of c customers is each of them with the
chance 1/c, whatever is known and however many periods are at hand, and classes and periods are independent.

**How much of a table of pseudonyms, one per customer and period, a guess gets right (S3).**
``match`` says for each customer (row) and period (column) whether the guess agrees with the truth, "has none" agreeing
with "has none"; ``live`` says where the truth has a pseudonym. In place of yes and no ``match`` may hold the chance of
a match, columns being independent: then all rates are means.

S3 counts ``(match - del) / (d·n - del)``, del being the cells where the truth has none. The number below the line is
that of the live cells. Above it stand the live cells named rightly, less the pseudonyms given to somebody who has none:
of the del cells, match counts those left empty. So a rate is (right - false alarms)/live, and sums over periods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, expm1, floor, log, log1p

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Flags, Real, Whole

_TRIED = np.geomspace(1e-3, 60.0, 600)
"""Any s > 0 gives a bound that holds; the best of these is told."""


def _chances(sizes: Whole) -> Real:
    return np.divide(1.0, sizes, out=np.zeros(sizes.shape), where=sizes > 0)


def pseudonyms_found(sizes: Whole) -> Real:
    """Return how many pseudonyms of each period the best attacker names rightly in the mean: one in every class.

    >>> pseudonyms_found(np.array([[2, 3], [2, 3], [0, 3]])).tolist()
    [1.0, 1.0]
    """
    chances: Real = _chances(sizes).sum(axis=0)
    return chances


def customers_found(sizes: Whole) -> float:
    """Return how many customers the best attacker names rightly in all of their periods, in the mean.

    Who has no pseudonym at all counts as found, as UM has it.

    >>> customers_found(np.array([[2, 2], [2, 2], [0, 4]]))
    0.75
    """
    return float(np.where(sizes > 0, _chances(sizes), 1.0).prod(axis=1).sum())


def found_once(sizes: Whole) -> float:
    """Return how many customers the best attacker names rightly in at least one period, in the mean.

    >>> found_once(np.array([[2, 2], [2, 0]]))
    1.25
    """
    return float((1 - (1 - _chances(sizes)).prod(axis=1)).sum())


def pseudonyms_log_mgf(sizes: Whole) -> Callable[[float], float]:
    """Return a bound of ln E[e^(s·hits)] over all pseudonyms: that of a Poisson variable, whose mean is the classes'.

    In a class of c the j-th factorial moment of the hits is at most 1, and 0 beyond c, for at most C(c, j) sets of j
    answers may be right together, each with the chance (c-j)!/c!. So E[e^(s·hits)] <= sum of (e^s - 1)^j/j!.
    """
    mean = float(pseudonyms_found(sizes).sum())
    return lambda s: mean * float(np.expm1(s))


def customers_log_mgf(sizes: Whole) -> Callable[[float], float]:
    """Return a bound of ln E[e^(s·customers found in all their periods)].

    Periods are taken off one by one, the last first. With weights w in a class of c, E[e^(sum of w over hits)] is at
    most exp(sum of (e^w - 1)/c): by Maclaurin's inequality j weights chosen from c are worth most when all are equal.
    What is left is a weight for each customer still found by the periods before.
    """

    def log_mgf(s: float) -> float:
        weight = np.full(len(sizes), s)
        with np.errstate(over="ignore"):
            for size in sizes.T[::-1]:
                weight = np.where(size > 0, np.expm1(weight) / np.maximum(size, 1), weight)
        return float(weight.sum())

    return log_mgf


def most_hits(log_mgf: Callable[[float], float], chance: float, there: int) -> int:
    """Return a number that is exceeded with a probability of at most ``chance``, by Chernoff's inequality.

    ``there`` is how many hits there can be at all.

    >>> most_hits(lambda s: 5 * float(np.expm1(s)), 0.001, 100)
    15
    """
    with np.errstate(over="ignore"):
        least = min((log_mgf(float(s)) + log(1 / chance)) / float(s) for s in _TRIED)
    return there if least > there else max(ceil(least - 1e-9) - 1, 0)


def class_tail(named: int, hits: int, k: float) -> float:
    """Return what the chance of at least so many hits stays at or below, where classes have k people or more.

    Let n of the people of a class of m >= k be named, and X be right. Any j of those names are all right with the
    chance (m-j)!/m!, so E[C(X,j)] = C(n,j)(m-j)!/m! <= (n/m)^j/j!, the moments of a Poisson variable of mean n/m; with
    E[e^(sX)] = sum of (e^s - 1)^j E[C(X,j)] it has the larger moment-generating function. Classes are independent, so
    all hits are dominated by a Poisson variable of mean named/k, whose tail Chernoff bounds.

    >>> round(class_tail(60, 28, 5), 6), class_tail(2000, 800, 5) < 1e-67
    (0.000442, True)
    """
    mean = named / max(k, 1.0)
    return 1.0 if hits <= mean else exp(hits - mean - hits * log(hits / mean))


# --- one person over several periods ---------------------------------------------------------------------------------


def once_per_person(k: float, periods: int) -> float:
    """Return the chance that one person is named rightly at least once, at most: a draw of one in k each period.

    >>> round(once_per_person(5, 12), 3), round(once_per_person(11, 12), 3)
    (0.931, 0.681)
    """
    return 1 - (1 - 1 / max(k, 1.0)) ** periods


def k_per_person(tolerance: float, periods: int) -> int:
    """Return the least k that keeps a person's chance over so many periods within the tolerance.

    >>> k_per_person(1 / 5, 12)
    55
    """
    k = max(floor(-1 / expm1(log1p(-tolerance) / periods)), 1)
    return k if once_per_person(k, periods) <= tolerance + 1e-12 else k + 1


def periods_per_person(tolerance: float, k: float) -> int:
    """Return how many periods keep a person's chance within the tolerance.

    >>> periods_per_person(1 / 5, 5), periods_per_person(1 / 5, 55)
    (1, 12)
    """
    return floor(log1p(-tolerance) / log1p(-1 / k) + 1e-9) if k > 1 else 0


# --- How much of a table of pseudonyms, one per customer and period, a guess gets right (S3) -------------------------


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
    matchings = np.tensordot(weights, match.prod(axis=-1, dtype=np.float64), axes=1)
    many = np.maximum(weights.sum(axis=1), 1.0)
    return np.asarray(matchings / many.reshape(-1, *[1] * (matchings.ndim - 1)))


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
    gain, cells = (np.concatenate([[0.0], np.cumsum(values)]) for values in (gain, cells))
    worst = []
    for length in range(1, len(gain)):
        rates = _rate(gain[length:] - gain[:-length], cells[length:] - cells[:-length])
        first = int(np.argmax(rates))
        worst.append(Window(first, first + length - 1, float(rates[first])))
    return worst


def _rate(gain: Real, cells: Real) -> Real:
    return np.maximum(np.divide(gain, cells, out=np.zeros_like(gain), where=cells > 0), 0.0)
