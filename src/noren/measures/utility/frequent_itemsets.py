"""Which items are bought together: the itemsets a basket analysis loses (S0 §6.1.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pydantic import Field

from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.items.item_similarity import basket_matrix, frequent_sets, support
from noren.measures.utility.purchases import SPREAD, Compare, OnDraws, Purchases
from noren.protocols import Headline, KeptShare

LEAST = 2
"""In how many baskets an itemset is at least, whatever the support."""


class FrequentItemsets(OnDraws):
    """Tell which share of the original's frequent itemsets a basket analysis of the release would not find.

    A basket is what one customer bought on one day, or, where there are no dates, all that one bought. T0 are the
    itemsets in at least ``support`` of the original's baskets, T1 those that are in as many baskets of a data set drawn
    from the release; lost is 1 - |T0∩T1| / |T0|. The number of baskets asked for is the original's in both: drawing
    dates scatters a basket over days, and a share of the more baskets there are then would find nothing.

    References
    ----------
    S0 §6.1.1. The text gives |T0∩T1| / |T0|, Table 6 its complement (an error, growing with U); the support, which S0
    leaves out, is chosen to give Table 6's value for the one release that is published.

    Examples
    --------
    Of {a}, {b}, {a, b}, each in two baskets, a release that moves one b to another day keeps {a} and {b}.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> from noren.measures.utility.purchases import purchases
    >>> rows = {"customer": ["1", "1", "2", "2"], "date": "2010/12/1", "item": ["a", "b", "a", "b"],
    ...         "price": 1.0, "quantity": 1}
    >>> moved = rows | {"date": ["2010/12/1"] * 3 + ["2010/12/5"]}
    >>> one, other = (purchases(History.of(r, Schema.preset("pwscup2018"))) for r in (rows, moved))
    >>> FrequentItemsets(support=1).against(one)(other)["kept"].__round__(3)
    0.667
    """

    name = "frequent-itemsets"
    summary = N_("The share of frequent itemsets that a basket analysis of the release misses.")
    roles = (Role.ITEM,)
    compared_roles = (Role.ITEM, Role.DATE)
    bounds = (0.0, 1.0)
    unit = N_("share of frequent itemsets that are lost")
    headlines = (
        Headline(
            N_("frequent itemsets kept"),
            N_("The share of frequent itemsets that a basket analysis of the release still finds."),
            part="kept",
            goal="higher",
            percent=True,
            rank=1,
        ),
    )
    part_names = SPREAD | {"kept": N_("frequent itemsets kept"), "frequent": N_("frequent itemsets")}
    keeps = KeptShare(N_("frequent itemsets"), rank=1)

    support: float = Field(
        default=0.0275, gt=0, le=1, description=N_("share of baskets from which an itemset counts as frequent")
    )
    largest: int = Field(default=3, ge=1, le=10, description=N_("maximum number of items in an itemset"))

    def against(self, original: Purchases) -> Compare:
        """Find the original's frequent itemsets; compare by counting them in a drawn data set."""
        baskets = basket_matrix(original.basket, original.item, len(original.items))
        # one basket makes no habit: without the 2 every subset of every basket of a small shop would be frequent
        least = max(LEAST, math.ceil(self.support * baskets.shape[0] - 1e-9))
        frequent = frequent_sets(baskets, least, self.largest)
        count = sum(len(sets) for sets in frequent)
        if not count:
            message = _("no itemset is in {least:,} baskets; use a lower --support, or another measure")
            raise ParameterError(message.format(least=least))

        def compare(drawn: Purchases) -> Mapping[str, float]:
            others = basket_matrix(drawn.basket, drawn.item, len(drawn.items))
            still_frequent = sum(int((support(others, sets) >= least).sum()) for sets in frequent)
            return {"kept": still_frequent / count, "frequent": float(count)}

        return compare

    def value_of(self, parts: Mapping[str, float]) -> float:
        """Return the share that is lost."""
        return 1 - parts["kept"]
