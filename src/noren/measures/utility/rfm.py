"""Error of an RFM analysis of the release (S0 §6.1.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from noren.data.schema import Role
from noren.i18n import N_
from noren.kernels.judging.statistics import rank_table, table_error
from noren.measures.utility.purchases import Compare, OnDraws, Purchases
from noren.protocols import Headline, KeptShare


def rfm_table(bought: Purchases, ranks: int) -> NDArray[np.int64]:
    """Return how many customers have each combination of ranks in recency, frequency and money.

    Recency is the day of the last purchase, frequency the number of invoices, money the sum of price times quantity, of
    those of the two that there are; without both, the number of rows.
    """
    last = np.full(bought.customers, -np.inf)
    np.maximum.at(last, bought.customer, bought.day)
    _invoices, first = np.unique(bought.basket, return_index=True)
    often = np.bincount(bought.customer[first], minlength=bought.customers).astype(np.float64)
    spent = np.zeros(bought.customers)
    np.add.at(spent, bought.customer, bought.price * bought.quantity)
    return rank_table([last, often, spent], ranks)


class Rfm(OnDraws):
    """Tell how far the customer segments of an RFM analysis are from the true ones.

    Customers are ranked by their last purchase, by their number of invoices (days on which they bought) and by what
    they spent, in ten equal parts each; the table counts the customers of each of the 1,000 combinations. The error is
    the root mean square difference between the original's table and that of a data set drawn from the release, over
    the range of the original's counts. What was spent is price times quantity, of those of the two that there are;
    without both it is the number of rows.

    References
    ----------
    S0 §6.1.2. It leaves out how ties are ranked and how the error is normalised; ours give Table 6's value for the one
    release that is published.

    Examples
    --------
    Two customers in two ranks; the release makes the rarer buyer the more frequent one and leaves the rest.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> from noren.measures.utility.purchases import purchases
    >>> rows = {"customer": ["1", "1", "2", "2"], "date": ["2010/12/1", "2010/12/2", "2010/12/3", "2010/12/3"],
    ...         "item": "a", "price": [1.0, 1.0, 5.0, 5.0], "quantity": 1}
    >>> moved = rows | {"date": ["2010/12/1", "2010/12/1", "2010/12/2", "2010/12/3"]}
    >>> one, other = (purchases(History.of(r, Schema.preset("pwscup2018"))) for r in (rows, moved))
    >>> rfm_table(one, 2).tolist(), rfm_table(other, 2).tolist()
    ([[[0, 0], [1, 0]], [[0, 1], [0, 0]]], [[[1, 0], [0, 0]], [[0, 0], [0, 1]]])
    >>> Rfm(ranks=2).against(one)(other)["value"].__round__(4)
    0.7071
    """

    name = "rfm"
    roles = (Role.DATE,)
    compared_roles = (Role.DATE, Role.PRICE, Role.QUANTITY)
    summary = N_("How far an RFM table (recency, frequency, money) is from the original's; 0 is exact.")
    unit = N_("root mean square error of the counts, divided by their range")
    headlines = (Headline(N_("RFM error"), summary, rank=2),)
    keeps = KeptShare(N_("RFM table"), rank=0)

    ranks: int = Field(default=10, ge=2, le=100, description=N_("number of parts into which customers are ranked"))

    def against(self, original: Purchases) -> Compare:
        """Count the original's table once."""
        table = rfm_table(original, self.ranks)
        return lambda drawn: {"value": table_error(table, rfm_table(drawn, self.ranks))}
