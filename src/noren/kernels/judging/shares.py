"""What a share, a mean or two shares beside each other can be, from what was counted: exact bounds, none too sure.

Clopper and Pearson 1934 for one share. For the *risk beyond control* of Giomi et al. 2023 (Anonymeter), ``(m - c)/(1 -
c)``, the two bounds stand against each other, each with half of the error: it rises with the share m and falls with c,
so both hold together with at least the confidence asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv, stdtrit

__all__ = ["beyond_control", "beyond_control_low", "mean_high", "mean_low", "share_high", "share_interval", "share_low"]


def share_low(right: int, asked: int, error: float) -> float:
    """Return what a share is at least, but for a chance of ``error``.

    >>> round(share_low(2, 10, 0.025), 4), share_low(0, 0, 0.025)
    (0.0252, 0.0)
    """
    return float(betaincinv(right, asked - right + 1, error)) if right else 0.0


def share_high(right: int, asked: int, error: float) -> float:
    """Return what a share is at most, but for a chance of ``error``.

    >>> round(share_high(2, 10, 0.025), 4), share_high(0, 0, 0.025)
    (0.5561, 1.0)
    """
    return float(betaincinv(right + 1, asked - right, 1 - error)) if right < asked else 1.0


def share_interval(right: int, asked: int, error: float = 0.05) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson about a share, of 95 % if not said otherwise.

    >>> [round(end, 4) for end in share_interval(2, 10)], share_interval(0, 0)
    ([0.0252, 0.5561], (0.0, 1.0))
    """
    return share_low(right, asked, error / 2), share_high(right, asked, error / 2)


def beyond_control(share: float, control: float) -> float:
    """Return how much of what control leaves open is known beyond it: 0 as for anybody, 1 everything.

    >>> beyond_control(0.75, 0.5), beyond_control(0.5, 0.75), beyond_control(1.0, 1.0)
    (0.5, -1.0, 0.0)
    """
    return (share - control) / (1 - control) if control < 1 else 0.0


def beyond_control_low(right: int, asked: int, right_of_control: int, asked_of_control: int, error: float) -> float:
    """Return what the risk beyond control is at least, but for a chance of ``error``.

    >>> round(beyond_control_low(90, 100, 10, 100, 0.025), 3), beyond_control_low(5, 5, 0, 0, 0.025)
    (0.769, 0.0)
    """
    return beyond_control(share_low(right, asked, error / 2), share_high(right_of_control, asked_of_control, error / 2))


def mean_low(values: Sequence[float], error: float) -> float:
    """Return what the mean of draws is at least (Student's t); of a single draw nothing can be said.

    >>> round(mean_low([1.0, 2.0, 3.0], 0.025), 3), mean_low([1.0], 0.025)
    (-0.484, -inf)
    """
    if len(values) < 2:
        return float("-inf")
    spread = float(np.std(values, ddof=1)) / float(np.sqrt(len(values)))
    return float(np.mean(values)) - float(stdtrit(len(values) - 1, 1 - error)) * spread


def mean_high(values: Sequence[float], error: float) -> float:
    """Return what the mean of draws is at most.

    >>> round(mean_high([1.0, 2.0, 3.0], 0.025), 3)
    4.484
    """
    return -mean_low([-value for value in values], error)
