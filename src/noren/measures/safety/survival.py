"""The probability that a release survives optimal attackers."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import numpy as np
from pydantic import Field

from noren.data.compatibility import class_sizes
from noren.i18n import N_, _
from noren.kernels.judging.survival import Naming, best_plan, satisfies_h0
from noren.kernels.judging.threshold import Bound
from noren.measures.evidence import public_history
from noren.measures.safety.effective import Chance
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score


class Survival(Measure):
    """Tell the chance that no attacker is effective, if each does the best that anybody could do.

    Pseudonyms with equal public histories are a class. The attackers are supposed to know which customers are behind
    which class, so a class of k leaves them 1/k for each member, and a customer whose history nobody shares is lost.
    What is left to them is how many people to name, and of which classes; they choose what reaches r(n) with the
    highest chance (see :class:`Effective`). Attackers are taken to draw lots independently of each other for who in a
    class gets which name; in league they may do better (``in_league``), as copies of each other they do no better than
    one. Their plan is the best of a large family, the best there is on every case small enough to try all; for large
    mixed classes that is not proven.

    A value near 1 says that outliving the contest is not chance; a release that no attack has broken yet may be far
    from it.

    References
    ----------
    S0 §4–5, which names whole classes alone (``naming = whole``) and leaves the general case open.

    Examples
    --------
    Eight customers, four with a history of their own: seven of seven needs one of the two pairs, and half of another.

    >>> from noren.data.frames import History
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Schema
    >>> who, item = list("12345678"), list("abcdeeff")
    >>> rows = {"customer": who, "date": ["2010/12/1"] * 8, "item": item, "price": [1.0] * 8, "quantity": [1] * 8}
    >>> public = History.of(rows, Schema.preset("pwscup2018"))
    >>> score = Survival(attackers=2).measure(Evidence(public, Release.of_aligned(public, public, Statement("hand"))))
    >>> score.parts["one_attacker"], score.value
    (0.25, 0.5625)
    """

    name = "survival"
    summary = N_("The probability that a release survives independent attackers who each attack optimally.")
    source = "S0"
    goal = "higher"
    bounds = (0.0, 1.0)
    unit = N_("probability")
    side = "safety"
    part_names: ClassVar[Mapping[str, str]] = {
        "one_attacker": N_("one attacker succeeds"),
        "any_attacker": N_("any attacker succeeds"),
        "in_league": N_("colluding attackers succeed, at most"),
        "named": N_("Named"),
        "needed": N_("Needed"),
        "smallest_class": N_("smallest class"),
    }
    needs = frozenset({"public"})

    attackers: int = Field(default=13, ge=1, title=N_("Number of independent attackers"))
    bound: Bound = Field(
        default="paper",
        title=N_("Rule for an effective attack: that of the paper, or the sharp one, which needs fewer hits"),
    )
    naming: Naming = Field(
        default="any",
        description=N_("any: attackers may also name part of a class; whole: only whole classes, as in the paper"),
    )
    p: Chance = Field(default="1/3", description=N_("re-identification probability of a safe release, such as 1/3"))
    alpha: Chance = Field(
        default="1/2000", description=N_("accepted probability of calling a safe release unsafe, such as 1/2000")
    )

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the chance of survival; parts are the best plan's numbers, notes the classes and the plan in full."""
        public = public_history(evidence.release)
        progress(0.0, _("comparing histories"))
        sizes = class_sizes(public)
        progress(0.3, _("searching"))
        return self.score_of(sizes)

    def score_of(self, sizes: list[int]) -> Score:
        """Return the score, given the size of each class of pseudonyms with equal histories."""
        plan = best_plan(sizes, self.bound, Fraction(self.p), Fraction(self.alpha), self.naming)
        alive = (1 - plan.chance) ** self.attackers
        parts = {
            "one_attacker": plan.chance,
            "any_attacker": 1 - alive,
            "in_league": min(1.0, self.attackers * plan.chance),
            "named": float(plan.named),
            "needed": float(plan.needed),
            "smallest_class": float(min(sizes, default=0)),
        }
        kinds, counts = np.unique(np.array(sizes, dtype=np.int64), return_counts=True)
        notes = {
            "classes": {str(size): count for size, count in zip(kinds.tolist(), counts.tolist(), strict=True)},
            "plan": [  # how many members are named in how many classes of which size
                {"class_size": size, "members": members, "classes": classes, "one_customer_for_all": plan.sure}
                for size, members, classes in plan.depths
            ],
            "satisfies_h0": satisfies_h0(sizes, Fraction(self.p)),
        }
        if plan.at_most > plan.chance:  # plans that name very many people were not all looked at
            notes["one_attacker_at_most"] = plan.at_most
        return Score(alive, parts, notes)
