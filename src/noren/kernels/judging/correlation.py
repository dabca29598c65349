"""How surely two measures move together: correlations, their intervals, and where chance ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["correlation_interval", "pearson", "rejection_limit", "spearman"]


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return Pearson's correlation, or None where one side is constant and there is none.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> pearson(x, 2 * x), pearson(x, np.ones(3))
    (1.0, None)
    """
    if x.min() == x.max() or y.min() == y.max():
        return None
    dx, dy = x - x.mean(), y - y.mean()
    r = float((dx @ dy) / np.sqrt((dx @ dx) * (dy @ dy)))
    return max(-1.0, min(1.0, r))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return Spearman's correlation: Pearson's of the ranks, equals sharing the mean of theirs.

    >>> spearman(np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 5.0]))
    1.0
    >>> round(spearman(np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])), 4)
    0.9487
    """
    return pearson(_mean_ranks(x), _mean_ranks(y))


def _mean_ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _found, place, many = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(many)
    return (last - (many - 1) / 2)[place]


def correlation_interval(r: float, samples: int, error: float = 0.05) -> tuple[float, float]:
    """Return the interval of a rank correlation, of 95 % if not said otherwise; of fewer than 4 samples all there is.

    Fisher's z with the variance of Bonett and Wright (2000) for Spearman's correlation: (1 + r²/2)/(n - 3).

    >>> [round(end, 3) for end in correlation_interval(0.31, 21)], correlation_interval(1.0, 3)
    ([-0.151, 0.66], (-1.0, 1.0))
    """
    if samples < 4:
        return -1.0, 1.0
    if abs(r) == 1:
        return r, r
    reach = float(ndtri(1 - error / 2)) * float(np.sqrt((1 + r * r / 2) / (samples - 3)))
    z = float(np.arctanh(r))
    return float(np.tanh(z - reach)), float(np.tanh(z + reach))


def rejection_limit(samples: int, alpha: float = 0.05) -> float:
    """Return how large a correlation of so many samples must be, either way, to be no accident at level ``alpha``.

    Without correlation ``t = r·√((n-2)/(1-r²))`` follows Student's t with n - 2 degrees of freedom; solved for r at the
    two-sided limit that is ``t/√(n - 2 + t²)``. S0 gives 0.552… for 13 samples.

    >>> round(rejection_limit(13), 4)
    0.5529
    """
    if samples < 3:
        raise ParameterError(
            _("{count} releases cannot show a correlation").format(count=samples), _("compare at least 3")
        )
    if not 0 < alpha < 1:
        raise ParameterError(
            _("alpha = {alpha} is not a chance between 0 and 1").format(alpha=alpha), _("use one like 0.05")
        )
    t = float(stdtrit(samples - 2, 1 - alpha / 2))
    return float(t / np.sqrt(samples - 2 + t * t))
