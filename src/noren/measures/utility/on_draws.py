"""What measures of usefulness have in common: they judge data sets drawn from the release (S0 §6.3)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from pydantic import Field

from noren.data.categories import release_categories
from noren.data.draws import Draws
from noren.data.fits import columns_not_there
from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.measures.evidence import original_history, public_history
from noren.measures.utility.purchases import MEASURED, Purchases, purchases
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score

Compare = Callable[[Purchases], Mapping[str, float]]
"""What a data set drawn from the release loses against the original, part by part; ``value`` alone if it has none."""


SPREAD = {"spread": N_("spread between draws")}
"""What the part is called that every measure on draws has."""


class OnDraws(Measure):
    """A measure that is the mean over data sets drawn from the public part of the release.

    Every part of the score is a mean over the draws; ``spread`` is the standard deviation of the value between draws,
    and ``notes["spread"]`` that of every part. The secret part is not looked at.
    """

    source = "S0"
    goal = "lower"
    needs = frozenset({"original", "public"})
    side = "utility"
    part_names = SPREAD
    asked: ClassVar[tuple[Role, ...]] = MEASURED
    """The columns that it looks at, as far as there are; rows that miss a value of them do not count."""

    main_part: ClassVar[str] = "value"
    """The part that stands for all, unless :meth:`value_of` puts them together."""

    draws: int = Field(
        default=20, ge=1, le=100_000, description=N_("how many data sets are drawn from the release; S0 draws 100")
    )
    seed: int = Field(default=1, ge=0, description=N_("same seed, same draws; it is no secret"))

    @abstractmethod
    def against(self, original: Purchases) -> Compare:
        """Prepare the original once; return what compares a drawn data set with it."""

    def value_of(self, parts: Mapping[str, float]) -> float:
        """Return the one number that stands for the parts."""
        return parts[self.main_part]

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the mean over the draws, and its parts."""
        original, public = original_history(evidence), public_history(evidence.release)
        bought = purchases(original, asked=self.asked)
        if not len(bought.customer):
            raise self.nothing_to_compare(original.schema)
        compare, items = self.against(bought), bought.items
        del bought
        categories = release_categories(evidence.release.statement)
        sets = Draws(original, public, seed=self.seed, categories=categories, only=(Role.ITEM, *self.asked))
        found = []
        for i, drawn in enumerate(sets.first(self.draws)):
            progress(i / self.draws, _("draw {number} of {count}").format(number=i + 1, count=self.draws))
            found.append(compare(purchases(drawn, items, self.asked)))
        score = self.score_of(found)
        return replace(score, notes={**score.notes, **columns_not_there(original, self.asked)})

    def nothing_to_compare(self, schema: Schema) -> ParameterError:
        """Return what is said of an original no row of which says all that is asked."""
        there = ", ".join(role for role in self.asked if schema.with_role(role))
        return ParameterError(
            _("no row of the original says all of {roles}, so there is nothing to compare").format(roles=there),
            _("fill in the blank cells, or use cell-error"),
        )

    def score_of(self, found: list[Mapping[str, float]]) -> Score:
        """Return the score of drawn data sets that were compared one by one."""
        table = {part: np.array([one[part] for one in found]) for part in found[0]}
        values = np.array([self.value_of(one) for one in found])
        means = {part: float(column.mean()) for part, column in table.items() if part != "value"}
        spread = {part: float(column.std()) for part, column in table.items() if part != "value"}
        return Score(
            float(values.mean()), means | {"spread": float(values.std())}, {"draws": len(found), "spread": spread}
        )
