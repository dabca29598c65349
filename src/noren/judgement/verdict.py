"""How safe a release is by a rule: one of four words, the evidence, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from noren.judgement.evidence import Facts
from noren.judgement.rule import Rule

__all__ = ["Exhibit", "Guarantee", "Reason", "Verdict", "Word"]


class Word(StrEnum):
    """The four answers there are to: may this release be handed out?"""

    PROVED = "proved"
    """A guarantee within the tolerance holds, whatever an attacker does."""
    WITHSTANDS = "withstands"
    """Nothing is proved within the tolerance, but no attack that was tried exceeds it."""
    BROKEN = "broken"
    "Somebody is re-identified, or something disclosed, beyond the tolerance."
    UNTRIED = "untried"
    """Nothing was tried, or nothing that decides."""

    @property
    def is_safe(self) -> bool:
        """Whether a release may be handed out by the rule."""
        return self in (Word.PROVED, Word.WITHSTANDS)

    @property
    def order(self) -> int:
        """The words from worst to best; of several runs the worst counts."""
        return (Word.BROKEN, Word.UNTRIED, Word.WITHSTANDS, Word.PROVED).index(self)


class Reason(StrEnum):
    """Why a verdict is what it is, in a word that programs can read."""

    GUARANTEE = "guarantee"
    NOTHING_SAID = "nothing-said"
    ATTACKS_FAILED = "attacks-failed"
    NOBODY_NAMED = "nobody-named"
    CLASSES_LARGE_ENOUGH = "classes-large-enough"
    TOO_MANY_NAMED = "too-many-named"
    BEYOND_CHANCE = "beyond-chance"
    CLAIM_REFUTED = "claim-refuted"
    CLAIM_NOT_KEPT = "claim-not-kept"
    CLASS_TOO_SMALL = "class-too-small"
    SENSITIVE_TOLD = "sensitive-told"
    NOT_TRIED = "not-tried"
    NOT_COUNTED = "not-counted"
    NOT_AUDITED = "not-audited"
    PROOF_TOO_WEAK = "proof-too-weak"
    TOO_MUCH_INFERRED = "too-much-inferred"
    NOT_INFERRED = "not-inferred"
    INFERENCE_UNSURE = "inference-unsure"
    NOT_INFERRED_BEYOND = "not-inferred-beyond"
    IDENTIFIED = "identified"
    SINGLED_OUT = "singled-out"
    NAMED_ONCE = "named-once"
    UNKNOWN_METHOD = "unknown-method"
    NAMES_NOT_RANDOM = "names-not-random"


_BY_ATTACKS = (
    Reason.TOO_MANY_NAMED,
    Reason.BEYOND_CHANCE,
    Reason.CLAIM_REFUTED,
    Reason.ATTACKS_FAILED,
    Reason.NOBODY_NAMED,
)
"""The reasons that attacks give."""
_OF_INFERENCES = (
    Reason.TOO_MUCH_INFERRED,
    Reason.NOT_INFERRED,
    Reason.INFERENCE_UNSURE,
    Reason.NOT_INFERRED_BEYOND,
)


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Guarantee(_Frozen):
    """What holds whatever an attacker does: nobody is re-identified with a probability above 1/k.

    Attributes
    ----------
    k
        The fewest people among whom nothing tells one from another, counted; or the k that follows from the noise.
    by
        ``classes``: released histories or rows that are alike, counted. ``noise``: the proof of retention.
    """

    k: float
    by: Literal["classes", "noise"]

    @property
    def bound(self) -> float:
        "The highest probability of re-identifying a person."
        return 1 / max(self.k, 1.0)


class Exhibit(_Frozen):
    """What one attack got, and what that means by the rule.

    Attributes
    ----------
    named, right, rate
        How many pseudonyms it names, how many rightly, and the share of them that is right.
    low, high
        The interval of 95 % about the rate (Clopper and Pearson), as if answers were independent of each other.
    chance
        The rate of somebody who draws a customer at random for each name.
    customers
        The share of all customers that is named rightly at least once.
    best_named, best_right, needed
        The number of surest answers that tells most against the release; and how many right ones among so many refute
        by the rule that the tolerance is kept.
    beyond_chance
        Whether they are reached.
    exceeds
        Whether this attack breaks the release.
    """

    attack: str
    named: int
    right: int
    rate: float
    low: float
    high: float
    chance: float
    customers: float
    best_named: int
    best_right: int
    needed: int
    beyond_chance: bool
    exceeds: bool


class Verdict(_Frozen):
    """How safe a release is, by a rule.

    Attributes
    ----------
    evidence
        What each attack got, the most damaging first.
    guarantee
        What is guaranteed, within the tolerance or not; None where nothing is.
    facts
        What the verdict was made of.
    """

    word: Word
    reason: Reason
    rule: Rule
    evidence: tuple[Exhibit, ...]
    guarantee: Guarantee | None
    facts: Facts

    @property
    def sentence(self) -> str:
        """The verdict as one sentence, in the language now spoken."""
        from noren.judgement.sentences import verdict_sentence

        return verdict_sentence(self)

    @property
    def risk(self) -> float | None:
        """The highest probability of being re-identified: what is proved, else what counting or the best attack shows.

        Where the guarantee is within the tolerance it is the answer; that the luckiest of several attacks hit more says
        nothing about chances.
        """
        if self.risk_of is None:
            return None
        if self.risk_of == "guarantee" and self.guarantee is not None:
            return self.guarantee.bound
        if self.risk_of == "classes":
            return 1 / self.facts.least if self.facts.least else 0.0
        if self.risk_of == "columns":
            return 1.0 if self.facts.identifying else max(self.facts.alone.values())
        return max(one.customers for one in self.evidence)

    @property
    def risk_of(self) -> Literal["guarantee", "classes", "attacks", "columns"] | None:
        """What tells the risk."""
        if self.reason in (Reason.IDENTIFIED, Reason.SINGLED_OUT):
            return "columns"
        if self.reason == Reason.CLASS_TOO_SMALL:
            return "classes"
        if self.evidence and self.reason in _BY_ATTACKS:
            return "attacks"
        # what is inferred beside it leaves a guarantee as it is
        beside = self.reason in _OF_INFERENCES
        if self.guarantee is not None and (
            self.word == Word.PROVED
            or self.guarantee.by == "noise"
            or (beside and self.guarantee.k >= self.rule.least_k)
        ):
            return "guarantee"
        if self.facts.table is not None:
            return "classes"
        return "attacks" if self.evidence else None

    def as_dict(self) -> dict[str, Any]:
        """Return what ``noren judge --json`` prints."""
        guarantee: Mapping[str, Any] | None = None
        if self.guarantee is not None:
            k = self.guarantee.k
            guarantee = {"k": int(k) if k.is_integer() else k, "bound": self.guarantee.bound, "by": self.guarantee.by}
        from noren.judgement.sentences import besides

        return {
            "verdict": str(self.word),
            "reason": str(self.reason),
            "sentence": self.sentence,
            "besides": besides(self),
            "assumed_unknown": list(self.facts.unknown),
            "kept": list(self.facts.kept),
            "rule": self.rule.as_dict(),
            "evidence": [one.model_dump() for one in self.evidence],
            "guarantee": guarantee,
            "inferred": [one.model_dump(mode="json") | {"excess": one.excess} for one in self.facts.inferred],
        }
