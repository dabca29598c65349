"""What happens to recommendations: the item–item similarities (S0 §6.1.3, PWS Cup 2017's E1 to E3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from pydantic import Field

from noren.data.schema import Role
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.items.item_similarity import (
    Matrix,
    any_alike,
    most_bought,
    purchase_matrix,
    scored,
    similarity_error,
)
from noren.measures.utility.purchases import SPREAD, Compare, OnDraws, Purchases
from noren.protocols import KeptShare


def pieces_bought(bought: Purchases) -> Matrix:
    """Return how many pieces each customer bought of each item."""
    shape = (bought.customers, len(bought.items))
    return purchase_matrix(bought.customer, bought.item, bought.quantity, shape)


def nothing_alike() -> ParameterError:
    """Return the error for an original in which no two items are similar."""
    return ParameterError(
        _(
            "no two items of the original are similar, so no similarity can be lost; use another measure, "
            "such as cell-error"
        )
    )


class ItemSimilarity(OnDraws):
    """Tell how much of "who bought this also bought that" is lost.

    Two items are as alike as the cosine of what customers bought of them, scored three ways: whole dozens, six at most
    (``wholesale``); pieces, where a customer bought 11 or fewer (``retail``); whether a customer bought it at all,
    among the 100 items that most customers bought (``top``). The error is the sum of absolute differences over the
    pairs that are alike at all in the original, divided by the sum of the original's similarities, 1 at most. The
    value is the mean of the three, or of those of them in which any two items of the original are alike: where none
    are, as in a shop that sells nothing by the dozen, there is nothing to lose, and no part. Without quantities every
    row is one piece.

    References
    ----------
    S0 §6.1.3, with the definitions of PWS Cup 2017's judges (E1, E2, second part of E3), whose values it gives.

    Examples
    --------
    Items a and b were bought by the same two customers, c by one of them; of a release that gives one b to the other
    customer's c, ``retail`` keeps little.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> from noren.measures.utility.purchases import purchases
    >>> rows = {"customer": ["1", "1", "2", "2"], "date": "2010/12/1", "item": ["a", "b", "a", "b"],
    ...         "price": 1.0, "quantity": [3, 4, 4, 3]}
    >>> moved = rows | {"item": ["a", "b", "a", "c"]}
    >>> one = purchases(History.of(rows, Schema.preset("pwscup2018")))
    >>> other = purchases(History.of(moved, Schema.preset("pwscup2018")), one.items)
    >>> {part: round(error, 3) for part, error in ItemSimilarity().against(one)(other).items()}
    {'retail': 0.375, 'top': 0.293}
    """

    name = "item-similarity"
    summary = N_("How much of the item–item similarities behind recommendations is lost.")
    source = "S0, PWS Cup 2017"
    roles = (Role.ITEM,)
    compared_roles = (Role.ITEM, Role.QUANTITY)
    bounds = (0.0, 1.0)
    unit = N_("distance of the similarities, as a share of the original's sum")
    part_names = SPREAD | {"wholesale": N_("wholesale"), "retail": N_("retail"), "top": N_("top items")}
    keeps = KeptShare(N_("item similarities"), rank=2)

    top: int = Field(default=100, ge=2, le=100_000, description=N_("number of top items"))

    def against(self, original: Purchases) -> Compare:
        """Score what the original's customers bought three ways, once."""
        known = np.arange(len(original.items))
        pieces = pieces_bought(original)
        best = np.sort(most_bought(pieces, self.top))
        every = (("wholesale", "wholesale", known), ("retail", "retail", known), ("top", "presence", best))
        scores = {part: scored(pieces[:, among], score) for part, score, among in every}  # type: ignore[arg-type]
        ways = [way for way in every if any_alike(scores[way[0]])]
        if not ways:
            raise nothing_alike()

        def compare(drawn: Purchases) -> Mapping[str, float]:
            others = pieces_bought(drawn)
            return {
                part: similarity_error(scores[part], scored(others[:, among], score))  # type: ignore[arg-type]
                for part, score, among in ways
            }

        return compare

    def value_of(self, parts: Mapping[str, float]) -> float:
        """Return the mean of the three errors."""
        return sum(parts.values()) / len(parts)
