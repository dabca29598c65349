"""Retention and replacement (S4), bounded noise on a grid, and what both guarantee.

A *channel* says how one attribute is perturbed: a number ρ (a value is kept with probability ρ, else drawn anew from
its whole domain), or a matrix whose row v is the distribution of what v becomes.

**What it guarantees.** Pk-anonymity: whoever knows everything about a table of R rows but which row is whose, and sees
the perturbed rows, can say of no row with a probability above 1/k that it is a given person's. Take a row i and two
people, p with the value v and q with w. In every way to give people rows, let p and q change places: if p had i and q
had j, the likelihood of all that is seen changes by the factor ``A[w,i]·A[v,j] / (A[v,i]·A[w,j])``, a *cross ratio*,
in each attribute. With c the least cross ratio of a channel, each of the R - 1 others is at least ``Π c_a`` times as
likely the owner of i as p, so p's probability is at most ``1 / (1 + (R-1)·Π c_a) = 1/k``.

- Retention: the ratio of a kept value to a drawn one is ``b = ((1-ρ)/M) / (ρ + (1-ρ)/M) = (1-ρ) / (1 + (M-1)ρ)`` and
  c = b²: S4's ``k = 1 + (|R|-1)·Π [(1-ρ_a)/(1+(M_a-1)ρ_a)]²``.
- Bounded Laplace noise on a grid of M points, ``A[v,r] = q^|v-r| / Z_v``: every Z stands once above and once below and
  cancels, and ``|w-i| - |v-i| + |v-j| - |w-j| ≤ 2|v-w| ≤ 2(M-1)``, so c = b² with ``b = q^(M-1)``; attained by v = i at
  one end and w = j at the other. (On an unbounded grid c would be 0: no noise of this kind protects there.)

**The operator.** Along an axis the expected perturbed table is ``ρ·x + (1-ρ)/M·sum(x)``: no matrix, one pass over the
cells for each attribute. It is symmetric, so it is its own transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole, library_of
from noren.tables import Texts

say = Texts(__name__)

Channel = float | Real


def least_ratio(rho: float, domain: int) -> float:
    """Return how little likelier a perturbed value can make another true value: b in the text above.

    >>> least_ratio(0.0, 5), least_ratio(1.0, 5)
    (1.0, 0.0)
    """
    return (1 - rho) / (1 + (domain - 1) * rho)


def k_of_ratios(ratios: Sequence[float], rows: int) -> float:
    """Return k, given b of every attribute.

    >>> k_of_ratios([0.5, 1.0], 5)
    2.0
    """
    return 1 + (rows - 1) * float(np.prod([b * b for b in ratios]))


def k_of(rhos: Sequence[float], domains: Sequence[int], rows: int) -> float:
    """Return the k of Pk-anonymity (S4).

    >>> round(k_of([0.35] * 3, [5, 2, 42], 32561), 1)
    2.0
    """
    return k_of_ratios([least_ratio(r, m) for r, m in zip(rhos, domains, strict=True)], rows)


def room_for(k: float, rows: int) -> float:
    """Return what ``Σ -log b_a`` may come to if k is to hold.

    >>> round(room_for(2, 5), 4) == round(float(np.log(4) / 2), 4)
    True
    """
    if not 1 <= k <= rows:
        raise ParameterError.out_of_range("k", f"{k:g}", f"1 <= k <= {rows:,}")
    return float("inf") if k == 1 else float(np.log((rows - 1) / (k - 1)) / 2)


def keep_probabilities(
    k: float, domains: Sequence[int], rows: int, weights: Sequence[float] | None = None
) -> list[float]:
    """Return the largest ρ of each attribute that keeps k; the same for all, or spread by weights.

    With ``weights``, ``-log b_a`` is in proportion to them.

    The paper's .350 for race, sex and country, k = 2.

    >>> [round(rho, 3) for rho in keep_probabilities(2, [5, 2, 42], 32561)]
    [0.35, 0.35, 0.35]
    """
    room = room_for(k, rows)
    if np.isinf(room):
        return [1.0] * len(domains)
    if weights is None:
        low, high = 0.0, 1.0
        for _step in range(200):
            rho = (low + high) / 2
            used = -sum(float(np.log(max(least_ratio(rho, m), 1e-300))) for m in domains)
            low, high = (rho, high) if used <= room else (low, rho)
        return [low] * len(domains)
    if len(weights) != len(domains) or min(weights) < 0 or not 0 < sum(weights) < np.inf:
        raise ParameterError(say("no_weights"))
    shares = [float(np.exp(-room * w / sum(weights))) for w in weights]
    return [(1 - b) / (1 + (m - 1) * b) for b, m in zip(shares, domains, strict=True)]


def rows_needed(k: float, rho: float, domains: Sequence[int]) -> int:
    """Return how many rows a table must have for a common ρ to give k.

    >>> rows_needed(2, 0.34, [5, 2, 42]) <= 32561 < rows_needed(2, 0.36, [5, 2, 42])
    True
    """
    product = float(np.prod([least_ratio(rho, m) ** 2 for m in domains]))
    if product == 0:
        raise ParameterError(say("no_change"))
    return int(np.ceil((k - 1) / product * (1 - 1e-12))) + 1


# --- noise on a grid ---------------------------------------------------------------------------------------


def decay_of(ratio: float, points: int) -> float:
    """Return q of the bounded Laplace noise whose b is ``ratio``: how much rarer each further step of the grid is.

    >>> decay_of(0.25, 3)
    0.5
    """
    return float(ratio ** (1 / (points - 1)))


def laplace(points: int, decay: float) -> Real:
    """Return bounded Laplace noise on a grid as a channel: row v falls by ``decay`` for each step away from v.

    >>> laplace(3, 0.5).round(3).tolist()
    [[0.571, 0.286, 0.143], [0.25, 0.5, 0.25], [0.143, 0.286, 0.571]]
    """
    at = np.arange(points, dtype=np.float64)
    # 0 to the power of 0 is 1: without noise every value stays
    weight = np.power(decay, np.abs(at[:, None] - at[None, :]))
    answer: Real = weight / weight.sum(axis=1, keepdims=True)
    return answer


def moved(codes: Whole, points: int, decay: float, uniform: Real) -> Whole:
    """Return places on a grid, each moved by bounded Laplace noise that a uniform number in [0, 1) draws.

    The distribution function of a geometric sum has a closed form, so no table is needed however long the grid is:
    left of v lie ``v`` points with the weights q^v … q, right of it ``points - 1 - v``.

    >>> moved(np.array([1, 1, 1, 1]), 3, 0.5, np.array([0.0, 0.25, 0.74, 0.75])).tolist()
    [0, 1, 1, 2]
    """
    if decay <= 0:
        return codes
    if decay >= 1:
        return np.minimum(np.floor(uniform * points).astype(np.int64), points - 1)
    left, right = codes.astype(np.float64), points - 1 - codes.astype(np.float64)
    before = decay * (1 - decay**left) / (1 - decay)
    after = decay * (1 - decay**right) / (1 - decay)
    place = uniform * (before + 1 + after) - before  # below 0: to the left; from 1 on: to the right
    lost = np.where(place < 0, -place, np.maximum(place - 1, 0.0))
    # s steps away lies what exceeds the sum of the first s - 1 weights, q(1 - q^(s-1))/(1 - q)
    steps = np.log1p(-np.minimum(lost * (1 - decay) / decay, 1.0 - 1e-16)) / np.log(decay)
    to_left = np.minimum(np.ceil(steps), left)
    to_right = np.minimum(np.floor(steps) + 1, right)
    shift = np.where(place < 0, -to_left, np.where(place >= 1, to_right, 0.0))
    answer: Whole = codes + shift.astype(np.int64)
    return answer


# --- operators ---------------------------------------------------------------------------------------------


def mixed(table: Any, channels: Sequence[Channel], *, transposed: bool = False) -> Any:
    """Return the expected perturbed table of a table: the operator along every axis, on arrays of any library.

    Axes before those of the attributes stand for several tables.

    >>> mixed(np.array([4.0, 0.0]), [0.5]).tolist()
    [3.0, 1.0]
    """
    for axis, channel in enumerate(channels, start=-len(channels)):
        if not isinstance(channel, float | int):
            matrix = channel.T if transposed else channel
            library = library_of(table)
            table = library.moveaxis(library.moveaxis(table, axis, -1) @ matrix, -1, axis)
        elif channel < 1:
            table = channel * table + (1 - channel) / table.shape[axis] * table.sum(axis, keepdims=True)
    return table


def back(table: Any, channels: Sequence[Channel]) -> Any:
    """Return the transposed operator's answer: what weighs each perturbed cell, as seen from every true one."""
    return mixed(table, channels, transposed=True)


def replaced(codes: Whole, domain: int, rho: float, keep: Real, value: Real) -> Whole:
    """Return codes 0 … domain - 1, each kept where ``keep`` is below ρ, else the one that ``value`` draws.

    ``keep`` and ``value`` are uniform numbers in [0, 1), one pair for each row.

    >>> replaced(np.array([2, 2]), 3, 0.5, np.array([0.4, 0.6]), np.array([0.9, 0.1])).tolist()
    [2, 0]
    """
    return np.where(keep < rho, codes, np.floor(value * domain).astype(np.int64))


# --- Noise that keeps within bounds: days inside a period, prices within a factor, quantities by whole packs ----------


def day_shifts(day: Whole, first: Whole, last: Whole, most: int, uniform: Real) -> Whole:
    """Return by how many days each day moves: every move of at most ``most`` days that stays within ``first … last``
    is equally likely.

    A day near the end of its period has fewer days to go to; none of them draws more than the others, so days do not
    pile up at the ends.

    >>> every = np.linspace(0, 0.99, 100)
    >>> same = np.ones(100, dtype=np.int64)
    >>> np.unique(day_shifts(30 * same, 1 * same, 31 * same, 3, every)).tolist()
    [-3, -2, -1, 0, 1]
    """
    back: Whole = np.clip(day - first, 0, most)
    ahead = np.clip(last - day, 0, most)
    drawn: Whole = np.floor(uniform * (back + ahead + 1)).astype(np.int64)
    return drawn - back


def scaled_prices(price: Real, share: float, width: float, least: float, most: float, uniform: Real) -> Real:
    """Return each price times a factor between 1/(1 + share) and 1 + share, on a grid and within bounds.

    The logarithm of the factor is uniform, so a price is as likely to rise by a factor as to fall by it, and before
    rounding the smaller of old and new price is at least 1/(1 + share) of the larger. A price of 0 stays; a negative
    one keeps its sign.

    >>> scaled_prices(np.array([2.0, 2.0, 0.01, 0.0]), 0.1, 0.01, 0.01, np.inf, np.array([0.0, 0.5, 0.0, 0.9])).tolist()
    [1.82, 2.0, 0.01, 0.0]
    """
    size = np.abs(price) * (1 + share) ** (2 * uniform - 1)
    steps = np.round(size / width)
    parts = round(1 / width)
    # 182/100 is the number a file's 1.82 is read as; 182·0.01 need not be
    on_grid = steps / parts if parts >= 1 and abs(parts * width - 1) < 1e-9 else steps * width
    bounded = np.clip(on_grid, max(least, 0.0), most)
    return np.where(price == 0, price, np.sign(price) * bounded)


def moved_by_packs(quantity: Real, pack: Real, packs: int, least: float, uniform: Real) -> Real:
    """Return each quantity moved by whole packs, up to ``packs`` either way, the mean staying where it was.

    A quantity that could fall by a packs without going below ``least`` moves by one of -a … a, all equally likely, with
    a at most ``packs``; a quantity of one pack or less therefore stays. A negative one keeps its sign.

    >>> every = np.array([0.0, 0.5, 0.99])
    >>> moved_by_packs(np.full(3, 24.0), np.full(3, 12.0), 1, 1, every).tolist()
    [12.0, 24.0, 36.0]
    >>> moved_by_packs(np.full(3, 12.0), np.full(3, 12.0), 1, 1, every).tolist()
    [12.0, 12.0, 12.0]
    """
    size = np.abs(quantity)
    reach = np.clip(np.floor((size - least) / pack), 0, packs)
    shift: Real = (np.floor(uniform * (2 * reach + 1)) - reach) * pack
    return np.sign(quantity) * (size + shift)
