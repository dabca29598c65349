"""How surely two measures move together: Pearson's correlation and where chance ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["pearson", "rejection_limit"]


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
