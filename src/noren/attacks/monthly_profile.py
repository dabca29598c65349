"""Customers recognised month by month by one number: the mean unit price (S7) or the number of rows (S8)."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import polars as pl

from noren.attacks.by_period import AttackByPeriod
from noren.data.arrays import exact_values
from noren.data.cells import is_interval
from noren.data.frames import History
from noren.data.periods import in_order
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.linkage.row_layout import likeness
from noren.progress import Progress, silent
from noren.protocols import NOISE, Guess, Recoding

_FINER = 1000
"""Prices are summed in so many parts of the grid's step, should a file hold prices between two steps."""


class MonthlyProfile(AttackByPeriod):
    """Name, for every customer and period, the pseudonym of that period whose one number is most alike.

    A month of purchases boils down to one number: a for a known customer, b for a pseudonym. The customer is given the
    pseudonym of largest min(a,b)/max(a,b); of several that are equally alike, the one whose text is smallest, so the
    order of rows says nothing. What is not alike at all (one number 0, or signs that differ) is not named, and one
    pseudonym may be given to many customers. Noise on single cells and dates that move inside the month hardly touch
    the number.

    A public row belongs to the period of its public date; one whose date is suppressed, or an interval that reaches
    over two periods, is left out. Of an interval of prices the middle counts. The score is the likeness, 1 at most.

    References
    ----------
    S3, equation (6). Which of several equals it takes, S3 does not say.
    """

    source = "S3"
    roles: ClassVar[tuple[Role, ...]] = (Role.DATE,)
    cost = 0.5
    sees_through = NOISE | {Recoding.RENAMED_ITEMS, Recoding.CHANGING_PSEUDONYMS}

    averaged: ClassVar[bool]
    """Whether the number is the mean of the rows' amounts, or their sum."""

    @abstractmethod
    def amount(self, history: History) -> pl.Expr:
        """Return what each row counts, in whole numbers, null where it does not: their sums need no order."""

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name a pseudonym for each customer and period of the known rows; nothing is drawn at random."""
        progress(0.0, _("preparing rows"))
        exact_values(original, original.schema.role(Role.DATE))
        known = self._profiles(original, "customer").sort("number")
        # of pseudonyms with the same number, the first by text stands for all
        seen = self._profiles(public, "pseudonym").sort("number", "pseudonym")
        first = seen.unique(["period", "number"], keep="first", maintain_order=True)
        progress(0.5, _("comparing rows"))
        # numbers are less alike the farther apart they are, so the best is the next one below or the next one above
        beside = [
            known.join_asof(first, on="number", by="period", strategy=side, coalesce=False, check_sortedness=False)
            for side in ("backward", "forward")
        ]
        both = pl.concat(beside).drop_nulls("pseudonym")
        alike = likeness(both["number"].to_numpy(), both["number_right"].to_numpy())
        time = pl.Enum(in_order(known["period"]))
        best = (
            both.select("pseudonym", "customer", pl.Series("score", alike), pl.col("period").cast(time))
            .filter(pl.col("score") > 0)
            .sort("score", "pseudonym", descending=[True, False])
            .unique(["customer", "period"], keep="first")
            .sort("score", "customer", "period", descending=[True, False, False])
        )
        return Guess(self.name, best.with_columns(pl.col("period").cast(pl.String)), {"profiles": len(known)})

    def _profiles(self, history: History, who: str) -> pl.DataFrame:
        """Return the number that the rows of every customer (or pseudonym) and period boil down to."""
        rows = history.frame.with_columns(self.shown_periods(history[Role.DATE]).alias("its period"))
        name = history.schema.role(Role.CUSTOMER).name
        amount = self.amount(history)
        number = (amount.mean() if self.averaged else amount.sum()).alias("its number")
        profiles = rows.drop_nulls([name, "its period"]).group_by(name, "its period").agg(number)
        return profiles.select(
            pl.col(name).cast(pl.String).alias(who), period="its period", number=pl.col("its number").cast(pl.Float64)
        ).drop_nulls()


class S7(MonthlyProfile):
    """Recognise customers by the mean unit price of a month's purchases.

    Examples
    --------
    Ann paid 2 in the mean, Bob 9. Of the pseudonyms 7 (mean 3) and 8 (mean 6), 7 is nearer to Ann, 2/3 against 2/6, and
    8 to Bob, 6/9 against 3/9.

    >>> from noren.data.schema import Schema
    >>> def history(customers, prices):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": "a", "price": prices, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob"], [1.0, 3.0, 9.0])
    >>> guess = S7().attack(known, history(["7", "7", "8"], [2.0, 4.0, 6.0]), seed=1)
    >>> guess.pairs.select("pseudonym", "customer", pl.col("score").round(3)).rows()
    [('7', 'ann', 0.667), ('8', 'bob', 0.667)]
    """

    name = "s7"
    summary = N_("Recognises customers by their mean unit price per month.")
    roles = (Role.DATE, Role.PRICE)

    averaged = True

    def amount(self, history: History) -> pl.Expr:
        """Return the unit price twice, the middle of intervals; rows without a price are left out."""
        column = history.schema.role(Role.PRICE)
        price, between = pl.col(column.name), is_interval(history.frame.schema[column.name])
        ends = [price.struct.field("lo"), price.struct.field("hi")] if between else [price] * 2
        # sums of whole steps do not depend on the order of rows, sums of floats do
        lo, hi = ((end / column.grid * _FINER).round().cast(pl.Int64) for end in ends)
        return lo + hi


class S8(MonthlyProfile):
    """Recognise customers by how many rows they have in a month.

    Examples
    --------
    Ann has two rows, Bob one; so have the pseudonyms 7 and 8.

    >>> from noren.data.schema import Schema
    >>> def history(customers):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": "a", "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> guess = S8().attack(history(["ann", "ann", "bob"]), history(["8", "7", "7"]), seed=1)
    >>> guess.pairs.select("pseudonym", "customer", "period").rows()
    [('7', 'ann', '2010/12'), ('8', 'bob', '2010/12')]
    """

    name = "s8"
    summary = N_("Recognises customers by their number of rows per month.")

    averaged = False

    def amount(self, history: History) -> pl.Expr:
        """Count each row once."""
        return pl.col(history.schema.role(Role.CUSTOMER).name).is_not_null().cast(pl.Int64)
