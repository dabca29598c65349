"""What recommendations lose in a release of exact values: E1, E2 and E3 of PWS Cup 2017."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.items import item_similarity as kernel
from noren.measures.evidence import original_history, public_history
from noren.measures.utility.item_similarity import nothing_alike, pieces_bought
from noren.measures.utility.purchases import purchases_alike
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score


class Recommendations(Measure):
    """Tell how much of "who bought this also bought that" a release of exact values loses.

    What item-similarity tells of data drawn from a release, without the draws: the release itself is compared, every
    pseudonym being a user. A customer who has another pseudonym each month becomes twelve users who bought little, and
    that is most of what these errors see.
    """

    source = "S3 (PWS Cup 2017)"
    goal = "lower"
    bounds = (0.0, 1.0)
    needs = frozenset({"original", "public", "exact"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {"items": N_("Items"), "similarity": N_("similarity")}

    roles: ClassVar[tuple[Role, ...]] = (Role.ITEM, Role.QUANTITY)

    score: ClassVar[kernel.Score]
    """What a user's pieces of an item count for."""

    def errors(self, original: kernel.Matrix, released: kernel.Matrix) -> dict[str, float]:
        """Return the parts of the error, given how many pieces each user bought of each item."""
        expected, actual = (kernel.scored(pieces, self.score) for pieces in (original, released))
        if not kernel.any_alike(expected):
            raise nothing_alike()
        return {"similarity": kernel.similarity_error(expected, actual)}

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the largest part of the error."""
        original, public = original_history(evidence), public_history(evidence.release)
        progress(0.0, _("comparing rows"))
        # one coding of all items, in the order of their text, so that ties of the top items are broken alike
        bought = [pieces_bought(side) for side in purchases_alike((original, public), (Role.ITEM, Role.QUANTITY))]
        parts = self.errors(*bought)
        return Score(max(parts.values()), {} if parts.keys() == {"similarity"} else parts)


class E1(Recommendations):
    """Tell what wholesale recommendations lose: users score whole dozens of an item, six at most.

    References
    ----------
    PWS Cup 2017, ``E1-ItemCF-s``, whose values it gives.

    Examples
    --------
    Two customers bought a dozen of a and of b: the items are alike, cosine 1. Under new pseudonyms for the second rows
    nobody bought both, and all is lost.

    >>> from noren.data.frames import History
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> rows = {"customer": ["1", "1", "2", "2"], "date": ["2010/12/1", "2011/1/1"] * 2, "item": ["a", "b"] * 2,
    ...         "price": 1.0, "quantity": 12}
    >>> original = History.of(rows, Schema.preset("pwscup2018"))
    >>> renamed = History.of(rows | {"customer": ["p", "q", "r", "s"]}, Schema.preset("pwscup2018"))
    >>> E1().measure(Evidence(original, Release.of_aligned(original, renamed, Statement("hand")))).value
    1.0
    """

    name = "e1"
    summary = N_("How much of the item–item similarities of wholesale is lost (E1 of PWS Cup 2017).")
    unit = N_("distance of the similarities, as a share of the original's sum")
    score = "wholesale"


class E2(Recommendations):
    """Tell what retail recommendations lose: users score their pieces of an item, where they are eleven at most.

    References
    ----------
    PWS Cup 2017, ``E2-ItemCF-r``, whose values it gives.
    """

    name = "e2"
    summary = N_("How much of the item–item similarities of retail is lost (E2 of PWS Cup 2017).")
    unit = N_("distance of the similarities, as a share of the original's sum")
    score = "retail"


class E3(Recommendations):
    """Tell what is lost of the items that most users bought: which they are, and how alike.

    ``items`` is the share of the original's top items that are not the release's, ``similarity`` the distance of the
    similarities among the original's top items, a user scoring 1 for what she bought. The judges print both; the value
    is the larger. Ties for the last place go to the item whose text is larger. Where no customer bought two of the top
    items there is no similarity to lose, and ``items`` alone counts.

    References
    ----------
    PWS Cup 2017, ``E3-topk``, whose two values are the parts.
    """

    name = "e3"
    score = "presence"
    roles = (Role.ITEM,)
    summary = N_("How much of the top items and of their similarity is lost (E3 of PWS Cup 2017).")
    unit = N_("share of top items lost, or distance of similarities, whichever is larger")

    top: int = Field(default=100, ge=2, le=100_000, description=N_("number of top items"))

    def errors(self, original: kernel.Matrix, released: kernel.Matrix) -> dict[str, float]:
        """Return the share of the top items that are lost and the distance of their similarities."""
        best = np.sort(kernel.most_bought(original, self.top))
        lost = np.setdiff1d(best, kernel.most_bought(released, self.top))
        # a shop with fewer items than the top has still its share counted of the top, as the judges do
        parts = {"items": len(lost) / self.top}
        expected, actual = (kernel.scored(pieces[:, best], self.score) for pieces in (original, released))
        if kernel.any_alike(expected):
            parts["similarity"] = kernel.similarity_error(expected, actual)
        return parts
