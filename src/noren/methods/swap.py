"""Exchange rows between similar customers."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.arrays import exact_values, numbers, people
from noren.data.compatibility import missing_columns, rows_without_customer, with_item_column
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Column, Role, Scale, Schema
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.random_draws import uniforms, uniforms_at
from noren.kernels.sharing.rows import NO_PARTNER, like_partners, matched_rows
from noren.methods.by_period import MethodByPeriod
from noren.methods.pseudonymize import edited, pseudonymous
from noren.progress import Progress, silent
from noren.protocols import HARDER, Strength, in_form

# draw 0 chooses the pseudonyms
_DRAW, _ITEMS, _ROWS = 1, 0, 1
_ROUNDS = 8
"""How often histories look for a partner by one of their items, before they take one of like length."""

WITH_OWNER = (Role.INVOICE, Role.OTHER)
"""An invoice, or the customer's country, goes with the customer."""


class Swap(MethodByPeriod):
    """Exchange rows between similar customers of the same period, and hide names.

    In each period two customers with like items are partners. Their rows go in pairs, one of each: of the same item
    where both bought it, else of like price; a share of these pairs changes hands. Everything about the purchases
    themselves stays: what was sold in a period, of each item, at which price and how often, is exactly the same, and
    so is how many rows each customer has. Anyone who finds a purchase is led to the partner, unless it stayed. Those
    that stayed lead to the customer as before, so a small share protects little. Without items partners have like
    numbers of rows, without dates all rows are of one period; rows whose date is blank stay where they are, rows
    without a customer are left out.

    References
    ----------
    Dalenius and Reiss, "Data-swapping: a technique for disclosure control", 1982; partners by MinHash (Broder 1997).
    S3 for the periods.

    Examples
    --------
    Ann and Bob both bought a and b in December; all of it is exchanged. The secret part still knows who is who.

    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["ann", "ann", "bob", "bob"], "date": ["2010/12/1", "2010/12/2", "2010/12/3", "2010/12/4"],
    ...         "item": ["a", "b", "a", "b"], "price": 1.0, "quantity": [1, 2, 3, 4]}
    >>> release = Swap(share=1).protect(History.of(rows, Schema.preset("pwscup2018")), seed=1)
    >>> release.secret.pseudonyms.rows()
    [('10', 'ann'), ('11', 'bob')]
    >>> print(*release.public.lines(), sep="\\n")
    10,2010/12/3,a,1,3
    10,2010/12/4,b,1,4
    11,2010/12/1,a,1,1
    11,2010/12/2,b,1,2
    """

    name = "swap"
    summary = N_("Exchanges rows between similar customers of a period; totals stay exact; hides names.")
    source = "Dalenius and Reiss 1982"
    strength = Strength("share", "0.1, 0.3, 0.5")
    promises = HARDER
    promise = N_(
        "names are hidden, and some rows stand under a similar customer's name; what was sold in each period stays"
        " exact, and rows that did not change hands lead to their customer"
    )
    prominence = 3
    good_for = N_("What was sold, when and at what price must stay exact.")
    wrong_for = N_("An attacker may follow the majority of rows, most of which stay with their customer.")

    share: float = Field(
        default=0.1,
        ge=0,
        le=1,
        title=N_("Share of rows to exchange, from 0 to 1"),
        json_schema_extra=in_form(main=True),
    )

    def protect(self, original: History, *, seed: int, progress: Progress = silent) -> Release:
        """Exchange rows of ``original``; the same seed exchanges the same ones."""
        progress(0.0, _("finding similar customers"))
        first, other = self._pairs_of_rows(original, seed)
        picked = np.argsort(self.draws(np.arange(len(first)), seed), kind="stable")[: self.pairs_wanted(len(original))]
        owner = np.arange(len(original))
        owner[first[picked]], owner[other[picked]] = other[picked], first[picked]

        progress(0.5, _("swapping rows"))
        customer = original[Role.CUSTOMER]
        names = pseudonymous(customer, seed)
        with_owner = [original.frame[c.name] for c in original.schema.with_role(*WITH_OWNER)]
        changed = [column.gather(owner) for column in (names, *with_owner)]
        behind = pl.DataFrame({"pseudonym": names, "customer": customer}).drop_nulls().unique(maintain_order=True)
        notes: dict[str, Any] = {"changed_hands": 2 * len(picked) / max(len(original), 1)}
        notes |= missing_columns(original, (Role.ITEM, Role.DATE)) | rows_without_customer(original)
        progress(0.6, _("sorting rows"))
        return Release.of_aligned(
            original, edited(original, changed), self.statement(notes), seed=seed, pseudonyms=behind
        )

    def pairs_wanted(self, rows: int) -> int:
        """Return how many pairs of rows of so many change hands, where there are enough."""
        return int(np.floor(self.share * rows / 2 + 1e-9))

    def draws(self, places: Whole, seed: int) -> Real:
        """Return the numbers that decide which pairs of rows change hands first, for pairs at ``places``."""
        return uniforms_at(places, seed=seed, draw=_DRAW, stream=_ROWS)

    def orders_of_items(self, items: int, seed: int) -> Real:
        """Return a random order of so many items for each round of looking for partners."""
        return uniforms(_ROUNDS * items, seed=seed, draw=_DRAW, stream=_ITEMS).reshape(_ROUNDS, items)

    def _pairs_of_rows(self, original: History, seed: int) -> tuple[Whole, Whole]:
        """Return rows of one partner and rows of the other that may be exchanged, as many of each."""
        (original,) = with_item_column(original)
        item = exact_values(original, original.schema.role(Role.ITEM)).rank("dense").cast(pl.Int64).fill_null(0)
        codes, _customers = people(original[Role.CUSTOMER])
        ordered = enumerate(numbers(exact_values(original, column)) for column in ordered_by(original.schema))
        ordering = [pl.Series(str(at), values) for at, values in ordered]
        period = pl.Series("period", np.zeros(len(original), dtype=np.int64))
        if original.schema.with_role(Role.DATE):
            period = self.periods(original).rank("dense").cast(pl.Int64).alias("period")
        who = pl.Series("who", codes).replace(-1, None)
        rows = pl.DataFrame([who, period, item.alias("item"), *ordering]).with_row_index("row")
        rows = rows.drop_nulls(["who", "period"]).sort("period", "who", maintain_order=True)
        if rows.is_empty():
            nothing = np.empty(0, dtype=np.int64)
            return nothing, nothing
        unit = rows.select(pl.struct("period", "who").rle_id().cast(pl.Int64)).to_series().to_numpy()
        start = np.concatenate([[0], np.cumsum(np.bincount(unit))])
        items = int(rows["item"].max()) + 1  # type: ignore[arg-type]
        pool = rows["period"].to_numpy()[start[:-1]]
        partner = like_partners(start, rows["item"].to_numpy(), pool, self.orders_of_items(items, seed))[unit]
        rows = rows.with_columns(unit=pl.Series(unit), partner=pl.Series(partner))
        rows = rows.filter(pl.col("partner") != NO_PARTNER)
        rows = rows.sort([keys.name for keys in ordering], maintain_order=True) if ordering else rows
        pair = rows.select(pl.min_horizontal("unit", "partner")).to_series().to_numpy()
        side = (rows["unit"].to_numpy() != pair).astype(np.int64)
        place, item_code = rows["row"].cast(pl.Int64).to_numpy(), rows["item"].to_numpy()
        same_item, same_item_partner = matched_rows(pair * items + item_code, side)
        left = np.ones(len(rows), dtype=np.bool_)
        left[same_item] = left[same_item_partner] = False
        rest = np.flatnonzero(left)
        first, second = matched_rows(pair[rest], side[rest])
        return place[np.concatenate([same_item, rest[first]])], place[np.concatenate([same_item_partner, rest[second]])]


def ordered_by(schema: Schema) -> list[Column]:
    """Return what rows of a customer are ordered by: price, then quantity, then date, as far as there are any."""
    roles = (Role.PRICE, Role.QUANTITY, Role.DATE)
    return [c for role in roles for c in schema.with_role(role) if c.scale != Scale.NOMINAL]
