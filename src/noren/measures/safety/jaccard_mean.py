"""How much of a customer's set of items is still to be seen (S2, Table 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from noren.data.arrays import item_set_arrays
from noren.data.categories import as_released
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.linkage.jaccard import similarities
from noren.measures.evidence import original_history, public_history, secret_of
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score


class JaccardMean(Measure):
    """Tell how similar a customer's items are to what their pseudonym shows, in the mean.

    For every pair of a pseudonym and its true customer: the items that both have over the items that either has, 1
    where the release shows just what was bought, 0 where nothing of it. The attack ``jaccard`` finds a customer whose
    own similarity is higher than anybody else's, so lower is safer. Items of set cells count as they do there.

    S2 prints it beside the added records, as what stays of the items: a pseudonym that shows the union of its cluster x
    has |I(u)| / |I(x)|. A union is no larger than the sum of its parts, so for n customers in c clusters the mean is
    c/n at least. Customers whose rows were all deleted have no pseudonym and do not count; the notes say how many.

    References
    ----------
    S2 §4.2, Table 2.

    Examples
    --------
    Ann's a, b are shown with a third item: 2/3. Of Bob's two items one is left: 1/2.

    >>> from noren.data.frames import History
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": items, "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> original = history(["ann", "ann", "ann", "bob", "bob"], ["a", "b", "b", "c", "d"])
    >>> public = history(["7", "7", "7", "8", "8"], ["a", "b", "c", "d", "d"])
    >>> score = JaccardMean().measure(Evidence(original, Release.of_aligned(original, public, Statement("hand"))))
    >>> round(score.value, 4), score.parts["least"]
    (0.5833, 0.5)
    """

    name = "jaccard-mean"
    summary = N_("Mean similarity of the items of a pseudonym and those that its customer bought.")
    source = "S2"
    roles = (Role.ITEM,)
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("similarity of sets of items, 1 if equal")
    side = "safety"
    part_names: ClassVar[Mapping[str, str]] = {
        "least": N_("smallest"),
        "median": N_("median"),
        "greatest": N_("largest"),
        "sd": N_("standard deviation"),
    }
    needs = frozenset({"original", "public", "secret"})

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the mean; parts are the spread, notes how many pairs and how many customers without one."""
        secret, public = secret_of(evidence), public_history(evidence.release)
        progress(0.0, _("preparing rows"))
        sides = item_set_arrays(as_released(original_history(evidence), evidence.release.statement), public)
        numbered = secret.pseudonyms.select(pl.col("pseudonym", "customer").cast(pl.String)).unique(maintain_order=True)
        for names, name, side in ((sides.pseudonyms, "pseudonym", "left"), (sides.customers, "customer", "right")):
            numbers = names.cast(pl.String).to_frame(name).with_row_index(side)
            numbered = numbered.join(numbers, on=name, how="inner", maintain_order="left")
        left, right = (numbered[side].cast(pl.Int64).to_numpy() for side in ("left", "right"))
        progress(0.5, _("comparing rows"))
        similarity = similarities(sides.known, sides.released, right, left)
        unpublished = len(sides.customers) - numbered["customer"].n_unique()
        some = similarity if len(similarity) else np.zeros(1)
        figures = some.mean(), some.min(), np.median(some), some.max(), some.std()
        return score_of(len(numbered), unpublished, figures)


def score_of(pairs: int, unpublished: int, figures: Sequence[float]) -> Score:
    """Return the score, given mean, least, median, greatest and spread of the pairs' similarities."""
    notes = {"pairs": pairs, "unpublished": unpublished}
    if not pairs:
        return Score(0.0, {}, notes)
    mean, *others = map(float, figures)
    return Score(mean, dict(zip(("least", "median", "greatest", "sd"), others, strict=True)), notes)
