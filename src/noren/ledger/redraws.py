"""The same periods released again with other seeds: what a release is judged by that has no certificate.

Whether a period is released must not depend on what this draw gives away: among those accepted, attackers would know
that the usual answers are wrong more often than not. So the budget is held against the mean over draws that nobody will
see. Their seeds are the same for everybody, so the answer depends on the data alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noren.api import protect
from noren.data.frames import History
from noren.data.periods import Calendar, period_key
from noren.data.release import Release
from noren.ledger.certificate import why_uncertified
from noren.ledger.joined import of_period, pseudonyms_of
from noren.ledger.settings import chain_of

__all__ = ["REDRAWS", "redrawn"]

REDRAWS = 4
"""How many other draws the mean is taken of."""
_STREAM = tuple(b"draws that nobody sees")


def redrawn(
    originals: Sequence[History], releases: Sequence[Release], periods: Sequence[str], by: Calendar, number: int
) -> list[Release]:
    """Return the releases of single periods as another draw would have made them, ``number`` telling which.

    Of a release in classes the pseudonyms alone are drawn anew; any other is protected again, by the steps that its
    statement tells.
    """
    taken: set[str] = set()
    drawn = []
    for rows, release, period in zip(originals, releases, periods, strict=True):
        state = np.random.SeedSequence([*_STREAM, number, *period_key(period)]).generate_state(1, np.uint64)
        seed = int(state[0]) >> 1
        made = protect(rows, chain_of(_steps(release), by), seed=seed) if why_uncertified(release, period) else release
        drawn.append(of_period(made, period, taken, seed))
        taken |= pseudonyms_of(drawn[-1])
    return drawn


def _steps(release: Release) -> list[dict[str, object]]:
    steps = release.statement.steps
    return [{"method": s.method} | {n: v for n, v in s.parameters.items() if v not in (None, [])} for s in steps]
