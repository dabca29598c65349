"""Narrow down each customer's pseudonym by the items they bought (PWS Cup 2018, ``re-item``)."""

from __future__ import annotations

import numpy as np
import polars as pl

from noren.attacks.assignment import pairs_of, uniform
from noren.data.arrays import exact_values, people
from noren.data.cells import is_set
from noren.data.frames import History
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.items.item_walk import NOBODY, Walk, walk
from noren.progress import Progress, silent
from noren.protocols import NOISE, Attack, Guess, Recoding


class ItemCandidates(Attack):
    """Give each customer a pseudonym that shows what they bought.

    Customers come one after another. A release only ever loses rows, so a customer's pseudonym has at most as many rows
    as they have; and it shows, alone or in a set, the items they bought, as long as these were not suppressed or
    deleted. Purchases are asked in the original's order until one pseudonym is left, or none: then the customer is
    passed over. Of several that are left one is drawn. A pseudonym is given away once.

    Fewer pseudonyms to draw from, surer answer: the score is one over their number. The official attack walks in an
    order that nothing decides and draws without a seed; here the seed decides both.

    References
    ----------
    PWS Cup 2018, sample attack ``re-item``; the report is S0.

    Examples
    --------
    Ann bought a lamp and a cup, Bob two cups; pseudonym 8 shows no lamp.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": items, "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> original = history(["ann", "ann", "bob", "bob"], ["lamp", "cup", "cup", "cup"])
    >>> guess = ItemCandidates().attack(original, history(["7", "7", "8", "8"], ["cup", "lamp", "cup", "cup"]), seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer").rows())
    [('7', 'ann'), ('8', 'bob')]
    """

    name = "item-candidates"
    summary = N_("Assigns each customer a pseudonym whose items are consistent with what they bought.")
    source = "S0 (PWS Cup 2018, re-item)"
    roles = (Role.ITEM,)
    sees_through = NOISE | {Recoding.GENERALISED_CELLS, Recoding.SHIFTED_DATES}

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Walk through the customers in a drawn order; of several candidates one is drawn."""
        progress(0.0, _("preparing rows"))
        about, customers, pseudonyms = item_walk(original, public)
        progress(0.5, _("assigning pseudonyms"))
        drawn = uniform(2 * len(customers), seed=seed)
        order = np.argsort(drawn[: len(customers)], kind="stable")
        chosen, among = walk(about, order, drawn[len(customers) :])
        named = chosen != NOBODY
        pairs = pairs_of(pseudonyms.gather(chosen[named]), customers.gather(order[named]), 1.0 / among[named])
        passed = int((~named).sum())
        return Guess(self.name, pairs.sort("score", descending=True, maintain_order=True), {"passed_over": passed})


def item_walk(original: History, public: History) -> tuple[Walk, pl.Series, pl.Series]:
    """Return what the attack looks at, and the customers and pseudonyms that its numbers stand for."""
    who, customers = people(original[Role.CUSTOMER])
    whose, pseudonyms = people(public[Role.CUSTOMER])
    bought = pl.DataFrame({"who": who, "item": exact_values(original, original.schema.role(Role.ITEM)).cast(pl.String)})
    cells = public[Role.ITEM]
    listed = pl.DataFrame({"whose": whose, "item": cells})
    listed = (listed.explode("item") if is_set(cells.dtype) else listed).with_columns(pl.col("item").cast(pl.String))
    items = pl.concat([bought["item"], listed["item"]]).drop_nulls().unique(maintain_order=True)
    code = pl.DataFrame({"item": items}).with_row_index("code")
    # in the original's order inside each customer
    bought = bought.filter(pl.col("who") >= 0).join(code, on="item", how="inner", maintain_order="left")
    bought = bought.sort("who", maintain_order=True)
    listed = listed.filter(pl.col("whose") >= 0).join(code, on="item", how="inner").unique().sort("code", "whose")
    of_customer, of_item = (
        np.concatenate([[0], np.cumsum(np.bincount(codes.to_numpy(), minlength=count))]).astype(np.int64)
        for codes, count in ((bought["who"], len(customers)), (listed["code"], len(items)))
    )
    about = Walk(
        bought["code"].cast(pl.Int64).to_numpy(),
        of_customer,
        listed["whose"].to_numpy(),
        of_item,
        np.bincount(whose[whose >= 0], minlength=len(pseudonyms)),
        np.bincount(who[who >= 0], minlength=len(customers)),
    )
    return about, customers, pseudonyms
