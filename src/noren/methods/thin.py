"""Delete a share of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from noren.data.arrays import NOBODY, people
from noren.data.compatibility import rows_without_customer
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import uniforms_at
from noren.methods.pseudonymize import HistoryMethod, edited, pseudonymous
from noren.progress import Progress, silent
from noren.protocols import HARDER, Strength, in_form

# draw 0 chooses the pseudonyms
_DRAW, _ORDER = 1, 0


class Thin(HistoryMethod):
    """Delete a share of the rows, at random or the most identifying first; hide names.

    An attacker who knows a purchase that is no longer there looks in vain, or finds another's. Rows are deleted until
    the share is met; every customer keeps at least one row, unless ``allow_vanish`` says otherwise. With ``rarest`` the
    rows go first that lead to their customer most surely: by the chance that somebody who knows two facts of the row
    (its date and item, its item and price, …) and picks one of the customers with such a row picks the right one. What
    is left is exact, so this protects the rows that are gone and no others. Facts are date, item, price and quantity,
    as many of them as there are; a blank one is a fact, too. Rows without a customer are left out, and no share counts
    them.

    References
    ----------
    S3 (PWS Cup 2017 lets rows be deleted and counts them, E6; its attacks S1 to S6 look rows up by two or three facts).

    Examples
    --------
    Half of four rows are deleted, and both customers stay.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "ann", "bob"], "date": "2010/12/1", "item": ["a", "b", "c", "a"],
    ...         "price": 1.0, "quantity": 1}
    >>> release = Thin(share=0.5, rarest=True).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> release.deleted_rows, release.public.frame["item"].to_list()
    (2, ['a', 'a'])
    """

    name = "thin"
    summary = N_("Deletes a share of the rows, at random or the most identifying first; hides names.")
    source = "S3"
    strength = Strength("share", "0.1, 0.3, 0.5")
    promises = HARDER
    promise = N_(
        "names are hidden and some rows are deleted, but the others are exact: an attacker who knows one of "
        "them finds the customer"
    )
    prominence = 2
    good_for = N_("Removing identifying rows before another method is applied.")
    wrong_for = N_("Used alone: the remaining rows are exact, and one of them may be enough to identify a customer.")

    share: float = Field(
        default=0.1, ge=0, le=1, title=N_("Share of rows to delete, from 0 to 1"), json_schema_extra=in_form(main=True)
    )
    rarest: bool = Field(
        default=False, title=N_("Delete the most identifying rows first"), json_schema_extra=in_form(main=True)
    )
    allow_vanish: bool = Field(default=False, title=N_("Allow a customer to lose all rows"))

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Delete rows of ``original``; the same seed deletes the same ones."""
        progress(0.0, _("choosing rows to delete"))
        uniform = self.draws(np.arange(len(original)), seed)
        first = -identification_risk(original) if self.rarest else np.zeros(len(original))
        order = np.lexsort((uniform, first))
        codes = people(original[Role.CUSTOMER])[0]
        order = order[codes[order] != NOBODY]
        wanted = self.rows_to_delete(len(order))
        if not self.allow_vanish:
            order = order[~pl.Series(codes[order]).is_last_distinct().to_numpy()]
        gone = np.zeros(len(original), dtype=np.bool_)
        gone[order[:wanted]] = True
        kept_rows = max(wanted - len(order), 0)
        statement = self.statement(rows_without_customer(original) | rows_kept(kept_rows))
        progress(0.5, _("sorting rows"))
        named = edited(original, [pseudonymous(original[Role.CUSTOMER], seed)])
        if_kept = pl.when(pl.lit(pl.Series(~gone)))
        frame = named.frame.select(if_kept.then(pl.col(name)).alias(name) for name in named.frame.columns)
        return Release.of_aligned(original, replace(named, frame=frame), statement, seed=seed)

    def rows_to_delete(self, rows: int) -> int:
        """Return how many of so many rows are to go."""
        return int(np.floor(self.share * rows + 1e-9))

    def draws(self, places: Whole, seed: int) -> Real:
        """Return the numbers that decide which rows go first, for rows at ``places`` of the original."""
        return uniforms_at(places, seed=seed, draw=_DRAW, stream=_ORDER)


def rows_kept(count: int) -> dict[str, Any]:
    """Return the statement's note about rows that were kept so that no customer vanishes."""
    return {"rows_kept_so_that_nobody_vanishes": count} if count else {}


def identification_risk(history: History) -> NDArray[np.float64]:
    """Return how surely each row leads to its customer: the mean, over all pairs of date, item, price and quantity, of
    1 over the number of customers who have a row with the same two values; where there is one column, by that alone.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/1", "2010/12/2"], "item": "a",
    ...         "price": 1.0, "quantity": 1}
    >>> identification_risk(History.of(rows, Schema.preset("pwscup2018"))).tolist()
    [0.5, 0.5, 0.75]
    """
    texts = history.texts().select(column.name for column in history.measured())
    ranks = [text.rank("dense").alias(str(at)) for at, text in enumerate(texts)]
    rows = pl.DataFrame([*ranks, pl.Series("who", people(history[Role.CUSTOMER])[0])])
    chance = np.zeros(len(rows))
    facts = pairs_of_facts([rank.name for rank in ranks])
    for fact in facts:
        shared = rows.unique([*fact, "who"]).group_by(fact).len()
        count = rows.select(fact).join(shared, on=fact, how="left", maintain_order="left")["len"]
        chance += 1 / count.to_numpy()
    return chance / len(facts)


def pairs_of_facts(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return all pairs of columns; the one alone where there is one."""
    return list(combinations(names, min(2, len(names))))
