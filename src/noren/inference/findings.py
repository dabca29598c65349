"""Results of inferences: shares with their intervals, and the counts that a rule is tested with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict

from noren.kernels.arrays import Flags, Real
from noren.kernels.judging.shares import (
    auc,
    auc_interval,
    beyond_control,
    beyond_control_low,
    hits_above,
    mean_high,
    mean_low,
    share_high,
    share_low,
    tpr_at,
    tpr_high,
    tpr_low,
)

Threat = Literal["membership", "attribute"]
THREATS: Final[tuple[Threat, ...]] = get_args(Threat)
JUDGED_FPR: Final = 0.1
"""The rate of false alarms at which membership is judged."""
_FPRS: Final = (0.01, JUDGED_FPR)
_ERROR: Final = 0.025
_FEWEST_RARE: Final = 10


class Frozen(BaseModel):
    """A finding, whose fields are known and do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Estimate(Frozen):
    """A number with its interval of 95 %."""

    value: float
    low: float
    high: float


class Inferred(Frozen):
    """The result of one inference about members and controls."""

    threat: Threat
    by: str
    about: str = ""
    """``threat``, ``by``, ``about``: what is inferred, how, and of which column (``item``: an unseen purchase)."""
    members: int
    controls: int
    """``members``, ``controls``: of how many people it was asked."""
    numbers: Mapping[str, Estimate]
    """Of membership ``auc``, ``tpr at 0.1`` and ``tpr at 0.01``; of attributes ``success`` among members, ``control``
    among controls, and ``risk``, what is known beyond control. ``rare …`` speaks of the rarest tenth of people.
    """
    above: tuple[int, ...] = ()
    """Of membership: how many members score above the highest, the second, … control."""
    right: int = 0
    right_of_control: int = 0
    """``right``, ``right_of_control``: of attributes: how many were guessed rightly."""
    draws: tuple[float, ...] = ()
    """The excess of each seed, where the numbers are means over several; the counts are then those of the first."""

    @property
    def excess(self) -> float:
        """How much is told beyond what is told of somebody outside: TPR at FPR 0.1 less 0.1, or the risk."""
        if self.threat == "membership":
            return self.numbers[f"tpr at {JUDGED_FPR}"].value - JUDGED_FPR
        return self.numbers["risk"].value

    def surely(self, error: float) -> float:
        """Return what the excess is at least, but for a chance of ``error``."""
        if self.threat == "membership":
            least = tpr_low(self.above, self.members, self.controls, JUDGED_FPR, error) - JUDGED_FPR
        else:
            least = beyond_control_low(self.right, self.members, self.right_of_control, self.controls, error)
        # a few draws may be alike by chance, and one may be an outlier: both must say so
        return min(least, mean_low(self.draws, error)) if self.draws else least


def membership_result(by: str, scores: Real, member: Flags, rare: Flags) -> Inferred:
    """Return how well scores tell who is a member.

    >>> scores, member = np.array([3.0, 2.0, 2.0, 1.0]), np.array([True, True, False, False])
    >>> found = membership_result("hand", scores, member, np.zeros(4, dtype=bool))
    >>> found.numbers["auc"].value, found.above
    (0.875, (1,))
    """
    members, controls = scores[member], scores[~member]
    numbers = _of_scores(members, controls)
    if min((rare & member).sum(), (rare & ~member).sum()) >= _FEWEST_RARE:
        of_rare = _of_scores(scores[rare & member], scores[rare & ~member])
        numbers |= {f"rare {name}": estimate for name, estimate in of_rare.items()}
    return Inferred(
        threat="membership",
        by=by,
        members=len(members),
        controls=len(controls),
        numbers=numbers,
        above=hits_above(members, controls, JUDGED_FPR),
    )


def _of_scores(members: Real, controls: Real) -> dict[str, Estimate]:
    m, n = len(members), len(controls)
    area = auc(members, controls)
    low, high = auc_interval(area, m, n)
    estimates = {"auc": Estimate(value=area, low=low, high=high)}
    for fpr in _FPRS:
        rate = tpr_at(members, controls, fpr)
        least = tpr_low(hits_above(members, controls, fpr), m, n, fpr, _ERROR)
        most = tpr_high(members, controls, fpr, _ERROR)
        estimates[f"tpr at {fpr:g}"] = Estimate(value=rate, low=min(least, rate), high=max(most, rate))
    return estimates


def attribute_result(by: str, about: str, right: Flags, has_secret: Flags, member: Flags, rare: Flags) -> Inferred:
    """Return how much more rightly a secret is guessed of members than of controls.

    ``right`` tells of whom the guess was right, ``has_secret`` who has something to guess at all.

    >>> right, member = np.array([True, True, True, False]), np.array([True, True, False, False])
    >>> everybody, nobody = np.ones(4, dtype=bool), np.zeros(4, dtype=bool)
    >>> attribute_result("hand", "illness", right, everybody, member, nobody).numbers["risk"].value
    1.0
    """
    ours, theirs = right[has_secret & member], right[has_secret & ~member]
    numbers = _of_answers(ours, theirs)
    of_rare = right[has_secret & member & rare], right[has_secret & ~member & rare]
    if min(map(len, of_rare)) >= _FEWEST_RARE:
        numbers |= {f"rare {name}": of for name, of in _of_answers(*of_rare).items()}
    return Inferred(
        threat="attribute",
        by=by,
        about=about,
        members=len(ours),
        controls=len(theirs),
        numbers=numbers,
        right=int(ours.sum()),
        right_of_control=int(theirs.sum()),
    )


def _of_answers(ours: Flags, theirs: Flags) -> dict[str, Estimate]:
    a, m, b, n = int(ours.sum()), len(ours), int(theirs.sum()), len(theirs)
    high = beyond_control(share_high(a, m, _ERROR / 2), share_low(b, n, _ERROR / 2))
    risk = beyond_control(a / max(m, 1), b / max(n, 1))
    return {
        "success": Estimate(value=a / max(m, 1), low=share_low(a, m, _ERROR), high=share_high(a, m, _ERROR)),
        "control": Estimate(value=b / max(n, 1), low=share_low(b, n, _ERROR), high=share_high(b, n, _ERROR)),
        "risk": Estimate(value=risk, low=min(beyond_control_low(a, m, b, n, _ERROR), risk), high=max(high, risk)),
    }


def mean_of(results: Sequence[Inferred]) -> Inferred:
    """Return what the same inference got over several seeds: the mean of each number, and its interval of 95 %.

    A few seeds may agree by chance: the interval is no narrower than independent people in each of them would make it.
    The counts are those of the first seed.
    """
    if len(results) == 1:
        return results[0]
    numbers = {}
    for name in results[0].numbers:
        each = [result.numbers[name] for result in results if name in result.numbers]
        if len(each) > 1:
            values, mean = [result.value for result in each], float(np.mean([result.value for result in each]))
            below = float(np.mean([result.value - result.low for result in each])) / len(each) ** 0.5
            above = float(np.mean([result.high - result.value for result in each])) / len(each) ** 0.5
            low, high = min(mean_low(values, _ERROR), mean - below), max(mean_high(values, _ERROR), mean + above)
            least = float("-inf") if "risk" in name else 0.0
            numbers[name] = Estimate(value=mean, low=max(low, least), high=min(high, 1.0))
    return results[0].model_copy(update={"numbers": numbers, "draws": tuple(result.excess for result in results)})
