"""Whether an attack names more people correctly than chance explains (S0 §4)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field

from noren.i18n import N_, _
from noren.kernels.judging.survival import prefix_thresholds
from noren.kernels.judging.threshold import Bound, threshold
from noren.measures.evidence import guesses_of, secret_of
from noren.measures.safety.hits import hits, hits_by_rank
from noren.progress import Progress, silent
from noren.protocols import Evidence, Measure, Score

_FINEST = 10**9


def exact_chance(value: Any, finest: int = _FINEST) -> Fraction:
    """Read a chance, ``1/11`` or ``0.2``, as an exact fraction; the float 1/11 is the eleventh that it is meant to be.

    >>> exact_chance("1/11"), exact_chance(1 / 11), exact_chance("0.09"), exact_chance(0.2)
    (Fraction(1, 11), Fraction(1, 11), Fraction(9, 100), Fraction(1, 5))
    """
    try:
        exact = Fraction(value).limit_denominator(finest) if isinstance(value, float) else Fraction(value)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError):
        exact = Fraction(0)
    if not 0 < exact < 1:
        raise ValueError(_("{value} is not a probability between 0 and 1; write it like 1/3").format(value=value))
    return exact


Chance = Annotated[str, BeforeValidator(lambda value: str(exact_chance(value)))]


class Effective(Measure):
    """Tell whether any attack was effective: named so many people rightly that the release cannot be called safe.

    A release counts as safe while it may satisfy H0: whatever the attacker does, the chance that a given set of m
    people is named rightly is at most p^m. An attack that names n people, s of them rightly, refutes H0 when s reaches
    r(n), the least number that H0 lets happen with a chance below alpha. The paper bounds that chance by a sum that
    counts events several times over; the sharp bound is the true maximum, if eight people or more are left to be wrong
    about, so its r(n) is then the smallest that is fair.

    References
    ----------
    S0 §4, Table 4; for the sharp bound see ``noren.kernels.judging.threshold``, which has the proof.

    Examples
    --------
    Six of six is never effective (1/729 is above 1/2000), seven of seven is (1/2187).

    >>> import polars as pl
    >>> from noren.protocols import Guess
    >>> from noren.data.release import Release, Secret, Statement
    >>> for n in (6, 7):
    ...     pairs = pl.DataFrame({"pseudonym": [str(i) for i in range(n)], "customer": [f"c{i}" for i in range(n)]})
    ...     release = Release(None, Secret(pairs, pl.Series([0]), 1), Statement("hand"))
    ...     print(Effective().measure(Evidence(None, release, {"all": Guess("all", pairs)})).value)
    0.0
    1.0
    """

    name = "effective"
    summary = N_("Whether an attack has more correct guesses than a safe release allows.")
    source = "S0"
    goal = "lower"
    bounds = (0.0, 1.0)
    unit = N_("1 if an attack was effective, otherwise 0")
    side = "safety"
    part_names: ClassVar[Mapping[str, str]] = {"named": N_("Named"), "right": N_("Right"), "needed": N_("Needed")}
    needs = frozenset({"secret", "guess"})

    bound: Bound = Field(
        default="paper",
        title=N_("Rule for an effective attack: that of the paper, or the sharp one, which needs fewer hits"),
    )
    p: Chance = Field(default="1/3", description=N_("re-identification probability of a safe release, such as 1/3"))
    alpha: Chance = Field(
        default="1/2000", description=N_("accepted probability of calling a safe release unsafe, such as 1/2000")
    )

    best_prefix: bool = Field(
        default=False,
        description=N_("judge by the most confident guesses only, as many as count most against the release"),
    )

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return 1 if any guess is effective; the parts are each attack's named, right and needed numbers."""
        guesses, secret = guesses_of(evidence), secret_of(evidence)
        judged: dict[str, tuple[int, int, int]] = {}
        for done, (attack, guess) in enumerate(guesses.items()):
            progress(done / len(guesses), attack)
            if self.best_prefix:  # its first n answers for the n that serves it best, which takes more hits
                right = hits_by_rank(guess, secret)
                needed = prefix_thresholds(len(right), self.bound, Fraction(self.p), Fraction(self.alpha))
                judged[attack] = best_try(right, needed)
            else:
                hit = hits(guess, secret)
                judged[attack] = hit.named, hit.right, self.needed(hit.named)
        return self.score_of(judged)

    def score_of(self, judged: Mapping[str, tuple[int, int, int]]) -> Score:
        """Return the score, given how many people each attack names, how many rightly, and how many are needed."""
        parts: dict[str, float] = {}
        for attack, (named, right, needed) in judged.items():
            parts |= {f"{attack}.named": named, f"{attack}.right": right, f"{attack}.needed": needed}
        effective = [attack for attack, (_named, right, needed) in judged.items() if right >= needed]
        return Score(1.0 if effective else 0.0, parts, {"effective": effective})

    def needed(self, named: int) -> int:
        """Return how many of so many names must be right."""
        return threshold(named, self.bound, Fraction(self.p), Fraction(self.alpha))

    def best_of(self, named: int, right_at: Sequence[int]) -> tuple[int, int, int]:
        """Return the answers that count against a release: how many, how many of them right, and how many are needed.

        ``right_at`` are the places of the right answers, from 1.

        >>> Effective(bound="sharp").best_of(40, range(1, 27)), Effective(bound="paper").best_of(40, range(1, 27))
        ((40, 26, 26), (40, 26, 28))
        """
        if not self.best_prefix:
            return named, len(right_at), self.needed(named)
        right = [bisect_right(right_at, place) for place in range(1, named + 1)]
        return best_try(right, prefix_thresholds(named, self.bound, Fraction(self.p), Fraction(self.alpha)))


def best_try(right: list[int], needed: list[int]) -> tuple[int, int, int]:
    """Return the number of surest answers that comes nearest to r(n) hits, or farthest beyond, the least of equals.

    Beside it how many of them are right, and how many were needed.

    The number is chosen with the truth at hand: an attacker could have been so lucky, not have known it. So ``needed``
    must allow for the choice, as :func:`~noren.kernels.judging.survival.prefix_thresholds` does.

    >>> best_try([1, 2, 2], [1, 2, 2, 3])
    (2, 2, 2)
    """
    hits = [0, *right]
    named = max(range(len(hits)), key=lambda n: (Fraction(hits[n], needed[n]), -n))
    return named, hits[named], needed[named]
