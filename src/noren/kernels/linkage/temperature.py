"""Split-half calibration of evidence: the temperature by which log-likelihoods are to be divided.

Evidence that counts the same fact many times (a basket's rows share their day) is too sure of itself; divided by a
temperature above 1 it is not. Cut the rows of every pseudonym into two halves: both speak of the same customer. Whoever
is too sure finds halves that contradict each other, whoever is not sure enough gives away that they agree. The
temperature is the one at which it is likeliest that the halves belong together:

    Σ_pseudonyms log Σ_i p_A(i) p_B(i) / π(i)

is largest, p_A and p_B being what the halves say of customer i and π what was believed before. No truth is needed.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["TEMPERATURES", "agreement", "posterior", "temperature"]


TEMPERATURES = np.array([0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0])


def posterior(first: Whole, value: Real, prior: Real, rest: Real) -> Real:
    """Return the chance of each listed customer, ``prior`` times e^value against all others of the same pseudonym.

    Parameters
    ----------
    first
        Where the customers of each pseudonym start, and where the last one's end.
    value, prior
        The log of what speaks for each listed customer, and what was believed before.
    rest
        For each pseudonym, what was believed of all who are not listed, for whom nothing speaks.

    Examples
    --------
    Two of four customers are listed; the first fits three times as well as any customer would.

    >>> posterior(np.array([0, 2]), np.log([3.0, 1.0]), np.array([0.25, 0.25]), np.array([0.5])).round(2).tolist()
    [0.5, 0.17]
    """
    unit = np.repeat(np.arange(len(rest)), np.diff(first))
    most = np.zeros(len(rest))
    np.maximum.at(most, unit, value)
    weight = prior * np.exp(value - most[unit])
    whole = np.bincount(unit, weights=weight, minlength=len(rest)) + rest * np.exp(-most)
    return np.asarray(weight / np.maximum(whole[unit], 1e-300))


def agreement(first: Whole, halves: Real, prior: Real, rest: Real, heat: float) -> float:
    """Return how likely it is, by logarithm, that the halves of each pseudonym belong together."""
    one, other = (posterior(first, halves[:, side] / heat, prior, rest) for side in (0, 1))
    unit = np.repeat(np.arange(len(rest)), np.diff(first))
    size = len(rest)
    same = np.bincount(unit, weights=one * other / np.maximum(prior, 1e-300), minlength=size)
    left = [np.maximum(1 - np.bincount(unit, weights=side, minlength=size), 0.0) for side in (one, other)]
    same = same + np.divide(left[0] * left[1], rest, out=np.zeros(size), where=rest > 1e-9)
    return float(np.log(np.maximum(same, 1e-300)).sum())


def temperature(first: Whole, halves: Real, prior: Real, rest: Real) -> float:
    """Return the temperature at which the halves agree best; 1 where nothing tells.

    The halves agree on the first of two customers, each with certainty: the colder the better.

    >>> halves = np.array([[3.0, 3.0], [0.0, 0.0]])
    >>> temperature(np.array([0, 2]), halves, np.array([0.5, 0.5]), np.array([0.0]))
    0.7
    """
    found = np.array([agreement(first, halves, prior, rest, heat) for heat in TEMPERATURES])
    if not len(halves) or np.ptp(found) < 1e-9:
        return 1.0
    return float(TEMPERATURES[int(np.argmax(found))])
