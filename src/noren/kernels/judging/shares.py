"""Shares and rates with intervals: Clopper and Pearson, ROC curves, what is known beyond a control group.

**What a share, a mean or two shares beside each other can be, from what was counted: exact bounds, none too sure.**
Clopper and Pearson 1934 for one share. For the *risk beyond control* of Giomi et al. 2023 (Anonymeter), ``(m - c)/(1 -
c)``, the two bounds stand against each other, each with half of the error: it rises with the share m and falls with c,
so both hold together with at least the confidence asked for.

**How well a score tells members from controls: the ROC curve by ranks, and what is sure of it.**
**Ties.** Whoever must raise an alarm for a share a of the controls and meets a tie draws lots inside it. So the curve
goes straight through a tie, and a score that says nothing has TPR = FPR and AUC = 1/2 exactly.

**What is sure of TPR at FPR a.** Raise an alarm above the (j+1)-th highest score of n controls. Its true rate of false
alarms is at most a draw of Beta(j+1, n-j), whatever the scores are distributed like (with ties it is less). Take the
largest j whose ``1 - error/2`` quantile is within a: the TPR of that alarm is at most the one at a, and since members
are drawn apart from controls, their count above it is binomial (Clopper and Pearson, the other half of the error).
The upper end takes the alarm at or above the j-th score, and the smallest j whose lower quantile reaches a.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import betaincinv, ndtri, stdtrit

from noren.kernels.arrays import Real


def share_low(right: int, trials: int, error: float) -> float:
    """Return what a share is at least, but for a chance of ``error``.

    >>> round(share_low(2, 10, 0.025), 4), share_low(0, 0, 0.025)
    (0.0252, 0.0)
    """
    return float(betaincinv(right, trials - right + 1, error)) if right else 0.0


def share_high(right: int, trials: int, error: float) -> float:
    """Return what a share is at most, but for a chance of ``error``.

    >>> round(share_high(2, 10, 0.025), 4), share_high(0, 0, 0.025)
    (0.5561, 1.0)
    """
    return float(betaincinv(right + 1, trials - right, 1 - error)) if right < trials else 1.0


def share_interval(right: int, trials: int, error: float = 0.05) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson about a share, of 95 % if not said otherwise.

    >>> [round(end, 4) for end in share_interval(2, 10)], share_interval(0, 0)
    ([0.0252, 0.5561], (0.0, 1.0))
    """
    return share_low(right, trials, error / 2), share_high(right, trials, error / 2)


def beyond_control(share: float, control: float) -> float:
    """Return how much of what control leaves open is known beyond it: 0 as for anybody, 1 everything.

    >>> beyond_control(0.75, 0.5), beyond_control(0.5, 0.75), beyond_control(1.0, 1.0)
    (0.5, -1.0, 0.0)
    """
    return (share - control) / (1 - control) if control < 1 else 0.0


def beyond_control_low(right: int, trials: int, right_of_control: int, control_trials: int, error: float) -> float:
    """Return what the risk beyond control is at least, but for a chance of ``error``.

    >>> round(beyond_control_low(90, 100, 10, 100, 0.025), 3), beyond_control_low(5, 5, 0, 0, 0.025)
    (0.769, 0.0)
    """
    return beyond_control(share_low(right, trials, error / 2), share_high(right_of_control, control_trials, error / 2))


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


# --- How well a score tells members from controls: the ROC curve by ranks, and what is sure of it ---------------------


_ROUNDING = 1e-9


def auc(members: Real, controls: Real) -> float:
    """Return the chance that a member scores above a control, ties counting half (Mann and Whitney).

    >>> auc(np.array([3.0, 2.0]), np.array([2.0, 1.0]))
    0.875
    """
    from scipy.stats import rankdata  # loads for half a second, and most who judge need none of it

    m, n = len(members), len(controls)
    ranks = rankdata(np.concatenate([members, controls]))
    return float((ranks[:m].sum() - m * (m + 1) / 2) / (m * n))


def auc_interval(area: float, members: int, controls: int, sure: float = 0.95) -> tuple[float, float]:
    """Return the interval about an AUC (Newcombe 2006, method 5), which also holds at 0 and 1.

    Its ends θ lie z standard errors from the area, each with the error it would have if θ were true (Hanley and McNeil
    1982); ties make the true error less.

    >>> [round(end, 3) for end in auc_interval(0.5, 50, 50)], [round(end, 3) for end in auc_interval(1.0, 50, 50)]
    ([0.39, 0.61], [0.96, 1.0])
    """
    from scipy.optimize import brentq

    z, others = float(ndtri(0.5 + sure / 2)), (members + controls) / 2 - 1

    def error(true: float) -> float:
        inner = 1 + others * (1 - true) / (2 - true) + others * true / (1 + true)
        return z * math.sqrt(true * (1 - true) * inner / (members * controls))

    low = 0.0 if area <= 0 else brentq(lambda true: area - true - error(true), 0.0, area * (1 - _ROUNDING))
    high = 1.0 if area >= 1 else brentq(lambda true: true - area - error(true), 1 - (1 - area) * (1 - _ROUNDING), 1.0)
    return float(low), float(high)


def tpr_at(members: Real, controls: Real, fpr: float) -> float:
    """Return which share of members an alarm finds that is raised for a share ``fpr`` of controls.

    Of the scores 3, 2 of members and 2, 1 of controls: at no false alarm the 3 is found, at a quarter half of the tie.

    >>> [tpr_at(np.array([3.0, 2.0]), np.array([2.0, 1.0]), share) for share in (0.0, 0.25, 0.5, 1.0)]
    [0.5, 0.75, 1.0, 1.0]
    """
    levels = np.unique(np.concatenate([members, controls]))[::-1]
    false, true = (
        np.concatenate([[0], len(scores) - np.searchsorted(np.sort(scores), levels, side="left")])
        for scores in (controls, members)
    )
    wanted = fpr * len(controls) + _ROUNDING
    at = int(np.searchsorted(false, wanted, side="right")) - 1
    hits = float(true[at])
    if at + 1 < len(false):
        hits += float(true[at + 1] - true[at]) * max(wanted - _ROUNDING - false[at], 0.0) / (false[at + 1] - false[at])
    return float(hits / len(members))


def hits_above(members: Real, controls: Real, fpr: float) -> tuple[int, ...]:
    """Return how many members score above the highest, the second, … of controls, as far as ``fpr`` of them go.

    >>> hits_above(np.array([3.0, 2.0, 0.0]), np.array([2.0, 1.0, 1.0, 0.0]), 0.5)
    (1, 2, 2)
    """
    highest = np.sort(controls)[::-1][: int(fpr * len(controls) + _ROUNDING) + 1]
    above = len(members) - np.searchsorted(np.sort(members), highest, side="right")
    return tuple(int(count) for count in above)


def tpr_low(above: tuple[int, ...], members: int, controls: int, fpr: float, error: float) -> float:
    """Return what TPR at ``fpr`` is at least but for a chance of ``error``; see the text above.

    ``above`` is what :func:`hits_above` counted.

    With 20 controls not even an alarm above all of them is surely rare enough; with 100 it is.

    >>> tpr_low((30,) * 3, 30, 20, 0.1, 0.025), round(tpr_low((30,) * 11, 30, 100, 0.1, 0.025), 3)
    (0.0, 0.864)
    """
    place = np.arange(len(above))
    fits = np.flatnonzero(betaincinv(place + 1, controls - place, 1 - error / 2) <= fpr)
    return share_low(above[int(fits[-1])], members, error / 2) if len(fits) else 0.0


def tpr_high(members: Real, controls: Real, fpr: float, error: float) -> float:
    """Return what TPR at ``fpr`` is at most but for a chance of ``error``.

    >>> round(tpr_high(np.zeros(30), np.ones(200), 0.1, 0.025), 3), tpr_high(np.zeros(30), np.ones(1), 0.1, 0.025)
    (0.136, 1.0)
    """
    n = len(controls)
    place = np.arange(1, n + 1)
    reaches = np.flatnonzero(betaincinv(place, n - place + 1, error / 2) >= fpr)
    if not len(reaches):
        return 1.0
    level = np.sort(controls)[::-1][reaches[0]]
    return share_high(int((members >= level).sum()), len(members), error / 2)
