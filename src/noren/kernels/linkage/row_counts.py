"""What the number of a pseudonym's rows says of whose it is.

Rows are deleted at some rate and known at another, so a customer with n known rows is expected to show about κ·n public
ones, give or take √(κ·n); or exactly n, where nothing was deleted. The pair is at one of a few levels of deviation. How
often a true pair is at each is learnt, how often any pseudonym is beside that customer is counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.copied_rows import falling

__all__ = ["Counts", "first_counts", "kept_share"]

Amounts = NDArray[np.int64] | NDArray[np.float64]

_REACH = np.array([0.5, 1.0, 2.0, 4.0])
_LEVELS = len(_REACH) + 2
_FIRST = np.array([0.3, 0.4, 0.25, 0.045, 0.004, 0.001])
_KEPT = np.array([0.95, 0.01, 0.01, 0.01, 0.01, 0.01])
_NEARLY_ALL = 0.97
_MEAN_ROWS = 3.0


@dataclass(frozen=True)
class Counts:
    """What is believed of row counts: public rows per known row (κ), and the chance of each level of deviation."""

    rate: float
    chance: Real

    def levels(self, public: Amounts, known: Amounts) -> Whole:
        """Return the level of each pair: 0 for equal numbers, then by deviation.

        >>> Counts(1.0, _FIRST).levels(np.array([4.0, 5.0, 9.0]), np.array([4.0, 4.0, 4.0])).tolist()
        [0, 1, 4]
        """
        expected = self.rate * known
        away = np.abs(public - expected) / np.sqrt(np.maximum(expected, 1.0))
        return np.where(public == known, 0, 1 + np.searchsorted(_REACH, away))

    def evidence(self, public: Whole, known: Whole) -> tuple[Real, Whole, Real]:
        """Return, for each pseudonym (row) and customer (column) of a period, what their numbers of rows say.

        Returns
        -------
        evidence, levels, usual
            The log of the likelihood ratio, the level, and the share of pairs at each level.
        """
        level = self.levels(public[:, None], known[None, :])
        beside = np.stack([(level == one).sum(axis=0) for one in range(_LEVELS)], axis=1).astype(np.float64)
        usual = beside.sum(axis=0) / max(beside.sum(), 1.0)
        beside = (beside + _MEAN_ROWS * usual) / (len(public) + _MEAN_ROWS)
        ratio = np.maximum(self.chance, 1e-6) / np.maximum(beside, 1e-9)
        return np.log(ratio[np.arange(len(known))[None, :], level]), level, usual

    def learnt(self, public: Amounts, known: Amounts, level: Whole, trust: Real, usual: Real) -> Counts:
        """Return what pairs believed true, each with some trust, say of row counts."""
        weight = trust**2
        if weight.sum() <= 0:
            return self
        tally = np.bincount(level, weights=weight, minlength=_LEVELS) + self.chance
        return Counts(float((weight * public).sum() / max((weight * known).sum(), 1e-9)), falling(tally, usual))


def first_counts(public: Whole, known: Whole, kept: float) -> Counts:
    """Return what is believed at first, ``kept`` being the share of pseudonyms that may keep their number of rows."""
    rate = float(public.sum()) / max(float(known.sum()), 1.0)
    return Counts(rate, _KEPT if kept > _NEARLY_ALL else _FIRST)


def kept_share(public: Whole, known: Whole) -> float:
    """Return how many pseudonyms of a period, at most, have exactly as many rows as their customer.

    >>> kept_share(np.array([1, 2, 2]), np.array([1, 1, 2]))
    2.0
    """
    most = int(max(public.max(initial=0), known.max(initial=0))) + 1
    return float(np.minimum(np.bincount(public, minlength=most), np.bincount(known, minlength=most)).sum())
