"""Recognise customers by the gaps between purchases although dates were shifted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from scipy.spatial import KDTree

from noren.attacks.assignment import NO_PAIRS, assigned, guess_of, middles
from noren.data.arrays import require_exact
from noren.data.frames import History
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.arrays import Real
from noren.kernels.linkage.row_layout import Days, best_shifts
from noren.progress import Progress, silent
from noren.protocols import OTHER_ROWS, Attack, Guess, Recoding

_ODD = 0.02
"""How often a public day is nobody's, and a known one of many rows vanishes."""
_SPREAD = 0.02
"""What else moves the mean of a day, in variances of single rows."""
_MOST_DAYS = 64
_MOST_VOTES = 10**9
_FEWEST, _MOST = 32, 512


class Shifted(Attack):
    """Recognise customers by the gaps between their purchases, by whatever number of days a release moved them.

    Anyone who bought on days 0, 3 and 40 still does after a secret shift. For each pseudonym and customer all shifts
    are tried at once, and the best counts. There, a public day that meets a known one speaks for the pair, the more the
    fewer days the customer has and the more alike the number of rows, the mean quantity and the mean price are; a
    public day that meets none, and a known one whose rows cannot all have been deleted, speak against it. Then all
    pseudonyms are assigned at once. Items are not looked at.

    The busiest 64 days of each person count. Where comparing all would take long, each pseudonym is compared with the
    customers most alike in days, span, rows, quantities and prices. Of intervals the middle counts. The score is the
    log-likelihood by which the named customer beats the next.

    Examples
    --------
    7 buys twice, a week apart, as Ann does; 8 two days apart, as Bob does. Both were moved by months.

    >>> from noren.data.schema import Schema
    >>> def history(customers, dates):
    ...     rows = {"customer": customers, "date": dates, "item": "a", "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob", "bob"], ["2010/12/1", "2010/12/8", "2010/12/1", "2010/12/3"])
    >>> shown = history(["8", "8", "7", "7"], ["2011/5/1", "2011/5/3", "2011/2/2", "2011/2/9"])
    >>> sorted(Shifted().attack(known, shown, seed=1).pairs.select("pseudonym", "customer").rows())
    [('7', 'ann'), ('8', 'bob')]
    """

    name = "shifted"
    summary = N_("Compares the days of purchase at every shift in time, and assigns all at once.")
    source = "cross-correlation"
    roles = (Role.DATE,)
    cost = 10.0
    sees_through = OTHER_ROWS | {Recoding.NOISED_NUMBERS, Recoding.SHIFTED_DATES, Recoding.RENAMED_ITEMS}

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name one customer for each pseudonym that has a date; the seed decides between equals."""
        progress(0.0, _("preparing rows"))
        require_exact(original, original.measured())
        spread = {}  # of the logarithms of what both sides say
        for role in (Role.QUANTITY, Role.PRICE):
            if original.schema.with_role(role) and public.schema.with_role(role):
                levels = (np.log1p(np.abs(middles(side[role]))) for side in (original, public))
                mine, theirs = (side[np.isfinite(side)] for side in levels)
                if len(mine) and len(theirs) and mine.var() > 0:
                    spread[role] = float(mine.var())
        roles = list(spread)
        held, seen = _days(original, roles), _days(public, roles)
        customers, pseudonyms = (side["who"].unique(maintain_order=True) for side in (held, seen))
        shape = len(pseudonyms), len(customers)
        if not min(shape):
            return guess_of(self.name, NO_PAIRS, pseudonyms, customers)
        near = None
        if (likely := _MOST_VOTES * shape[1] // (len(held) * len(seen))) < shape[1]:
            likely = min(max(likely, _FEWEST), _MOST, shape[1])
            near = KDTree(_outlines(held)).query(_outlines(seen), range(1, likely + 1))[1]
        known, released, vanished = _weighed(held, seen, [1.0, *(spread[role] for role in roles)])

        def scores(rows: slice) -> Real:
            which = np.arange(rows.start, rows.stop)
            listed = np.tile(np.arange(shape[1]), (len(which), 1)) if near is None else near[rows]
            return np.asarray(best_shifts(known, released, which, listed) - vanished[listed])

        progress(0.1, _("comparing rows"))
        pairs = assigned(self.name, shape, scores, seed, listed=near, rows=256)
        return guess_of(self.name, pairs, pseudonyms, customers)


def _days(history: History, roles: Sequence[Role]) -> pl.DataFrame:
    """Return the busiest days of each person: how many rows, and the means of some columns, by logarithms."""
    values = {"day": np.floor(middles(history[Role.DATE]))}
    values |= {str(role): np.log1p(np.abs(middles(history[role]))) for role in roles}
    rows = pl.DataFrame({"who": history[Role.CUSTOMER].cast(pl.String), **values}, nan_to_null=True)
    means, rows = pl.col(list(map(str, roles))), rows.drop_nulls(["who", "day"])
    days = rows.group_by("who", "day").agg(pl.len().log().alias("rows"), means.mean()).sort("who", "day")
    days = days.with_columns(pl.col("day").cast(pl.Int64), means.fill_null(strategy="mean").fill_null(0.0))
    busy = pl.struct(-pl.col("rows"), "day").rank("ordinal").over("who") <= _MOST_DAYS
    return days.filter(busy)


def _outlines(days: pl.DataFrame) -> Real:
    """Return what a shift leaves of each person in a few numbers: how many days, their span, and means."""
    span = (pl.col("day").max() - pl.col("day").min()).log1p()
    means, many = pl.all().exclude("who", "day").mean(), pl.len().log().alias("days")
    return days.group_by("who", maintain_order=True).agg(span, means, many).drop("who").to_numpy()


def _weighed(held: pl.DataFrame, seen: pl.DataFrame, spread: Sequence[float]) -> tuple[Days, Days, Real]:
    """Return what days count when they meet, and what is lost where none of a customer's days meets one.

    A mean of n rows strays by 1/n. A day that meets counts the log-ratio of being this day to being any, what the date
    says by chance included, and takes back what a day counts against the pair that meets none.
    """
    first, begin = (np.flatnonzero(side["who"].is_first_distinct().to_numpy()) for side in (held, seen))
    # copies, as kernels are compiled again for arrays that are laid out in another way
    day, seen_day = (np.array(side["day"] - side["day"].min()) for side in (held, seen))
    value, seen_value = (np.array(side.drop("who", "day").to_numpy(), order="C") for side in (held, seen))
    rows = np.exp(value[:, 0])
    kept_share = np.clip(np.exp(seen_value[:, 0]).sum() / len(begin) / (rows.sum() / len(first)), 0.05, 0.99)
    noise = np.array(spread) * (_SPREAD + np.exp(-seen_value[:, :1]))
    seen_value = seen_value - np.log(kept_share) * (np.arange(len(spread)) == 0)
    usual = noise + value.var(axis=0)
    likelier = (np.log(usual / noise) + (seen_value - value.mean(axis=0)) ** 2 / usual).sum(axis=1) / 2
    lost = np.minimum(-np.log(1 - kept_share) * rows, -np.log(_ODD))
    ends = [np.append(side, len(days)) for side, days in ((first, held), (begin, seen))]
    rare = np.log((day.max() + 1) / np.diff(ends[0]))
    known = ends[0], day, lost + np.repeat(rare, np.diff(ends[0])), value, value
    released = ends[1], seen_day, likelier - np.log(_ODD), seen_value, 0.5 / noise
    return known, released, np.add.reduceat(lost, first)
