"""How well two people's days of purchase agree at the best shift in time.

Every pair of a known and a public day votes for the one shift that makes them the same day. That is the correlation
over all shifts at once; as most days have no purchase it costs less than a Fourier transform of the calendar.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel

__all__ = ["Days", "best_shifts"]

Days = tuple[Whole, Whole, Real, Real, Real]
"""Where each person's days begin and the last one's end; the days from 0 on; what a match of each counts; what it is
compared by, a column each; and what a squared difference costs, of public days alone."""


@kernel()
def best_shifts(known: Days, public: Days, rows: Whole, listed: Whole) -> Real:
    """Return for some public people and the known ones listed for each the sum of matches at the best shift.

    Days 0 and 7 match 10 and 17 at one shift; of 10 and 19 one of them at most.

    >>> days = lambda *said: (np.array([0, 2]), np.array(said), np.ones(2), np.zeros((2, 1)), np.ones((2, 1)))
    >>> [best_shifts(days(0, 7), days(10, to), np.array([0]), np.array([[0]])).item() for to in (17, 19)]
    [4.0, 2.0]
    """
    first, day, gain, value, _unused = known
    start, shown, more, said, cost = public
    latest = day.max()
    found, votes = np.zeros(listed.shape), np.zeros(latest + shown.max() + 1)
    for r in range(len(rows)):
        for c in range(listed.shape[1]):
            who, best = listed[r, c], 0.0
            for b in range(start[rows[r]], start[rows[r] + 1]):
                for a in range(first[who], first[who + 1]):
                    match = gain[a] + more[b]
                    for k in range(value.shape[1]):
                        match -= cost[b, k] * (said[b, k] - value[a, k]) ** 2
                    votes[shown[b] - day[a] + latest] += max(match, 0.0)
            for b in range(start[rows[r]], start[rows[r] + 1]):
                for a in range(first[who], first[who + 1]):
                    shift = shown[b] - day[a] + latest
                    best = max(best, votes[shift])
                    votes[shift] = 0.0
            found[r, c] = best
    return found
