"""Choosing a row like another: one of the same kind, or one of the same owner at the nearest moment."""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["near_in_time", "one_of_each"]


def one_of_each(kind: Whole, wanted: Whole, uniform: Real) -> Whole:
    """Return for each kind that is wanted the position of a row of it, all its rows equally likely.

    Parameters
    ----------
    kind
        The kind of each row, coded from 0; rows below 0 are never chosen. Every kind that is wanted must have a row.
    uniform
        A number in [0, 1) for each wanted kind: which of its rows.

    >>> one_of_each(np.array([1, 0, 1, -1]), np.array([1, 1, 0]), np.array([0.4, 0.6, 0.9])).tolist()
    [0, 2, 1]
    """
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], wanted, side="left")
    stop = np.searchsorted(kind[order], wanted, side="right")
    return order[_between(start, stop, uniform)]


def near_in_time(owner: Whole, moment: Real, whose: Whole, when: Real, uniform: Real) -> Whole:
    """Return for each owner and moment that are wanted the position of that owner's row of the nearest moment.

    Of two moments equally near it is the earlier; of several rows of one moment all are equally likely.

    Parameters
    ----------
    owner, moment
        Of each row; rows whose owner is below 0 are never chosen. Every owner that is wanted must have a row.
    whose, when, uniform
        What is wanted, and a number in [0, 1) for each.

    >>> owner, moment = np.array([0, 1, 1, 1]), np.array([5.0, 1.0, 9.0, 9.0])
    >>> near_in_time(owner, moment, np.array([1, 1, 0]), np.array([4.0, 8.0, 0.0]), np.array([0.0, 0.6, 0.0])).tolist()
    [1, 3, 0]
    """
    values = np.unique(np.concatenate([moment, when]))
    width = len(values)
    key = owner * width + np.searchsorted(values, moment)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.searchsorted(ordered, whose * width, side="left")
    last = np.searchsorted(ordered, (whose + 1) * width, side="left") - 1
    # the nearest later row and the nearest before it, of the same owner
    later = np.searchsorted(ordered, whose * width + np.searchsorted(values, when), side="left")
    after, before = np.minimum(later, last), np.maximum(later - 1, first)
    gap_after, gap_before = (np.abs(moment[order[at]] - when) for at in (after, before))
    nearest = ordered[np.where(gap_after < gap_before, after, before)]
    start = np.searchsorted(ordered, nearest, side="left")
    stop = np.searchsorted(ordered, nearest, side="right")
    return order[_between(start, stop, uniform)]


def _between(start: Whole, stop: Whole, uniform: Real) -> Whole:
    place: Whole = start + np.minimum(np.floor(uniform * (stop - start)).astype(np.int64), stop - start - 1)
    return place
