"""The verdict on a release under a rule: one of four statuses, the evidence, and one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from noren.data.frames import Card, PreviewGrid
from noren.i18n import _
from noren.judgement.evidence import AttackEvidence, AttackResult, Facts, Flaw, Guarantee, Reason, VerdictStatus
from noren.judgement.numbers import count, percent
from noren.judgement.rule import Rule
from noren.judgement.sentences import flaw_sentence, headline_sentence, joined, remarks, verdict_label

__all__ = ["AttackEvidence", "AttackResult", "Guarantee", "Reason", "Verdict", "VerdictStatus"]


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
    Reason.EPSILON_UNKNOWN,
    Reason.EPSILON_TOO_HIGH,
)


class Verdict(BaseModel):
    """How safe a release is, by a rule.

    Attributes
    ----------
    evidence
        What each attack got, the most damaging first.
    guarantee
        What is guaranteed, within the tolerance or not; None where nothing is.
    facts
        What the verdict was made of.
    flaws
        Of a file from elsewhere, all that is wrong with it by the rule.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    status: VerdictStatus
    reason: Reason
    rule: Rule
    evidence: tuple[AttackEvidence, ...]
    guarantee: Guarantee | None
    facts: Facts
    flaws: tuple[Flaw, ...] = ()

    @property
    def sentence(self) -> str:
        """The verdict in sentences, with remarks, in the active language."""
        return joined(headline_sentence(self), *remarks(self))

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
        return max(attempt.customers for attempt in self.evidence)

    @property
    def risk_of(self) -> Literal["guarantee", "classes", "attacks", "columns"] | None:
        """The source of the risk: the guarantee, the classes or an attack."""
        if self.reason in (Reason.IDENTIFIED, Reason.SINGLED_OUT):
            return "columns"
        if self.reason == Reason.CLASS_TOO_SMALL:
            return "classes"
        if self.evidence and self.reason in _BY_ATTACKS:
            return "attacks"
        # what is inferred beside it leaves a guarantee as it is
        beside = self.reason in _OF_INFERENCES
        if self.guarantee is not None and (
            self.status == VerdictStatus.PROVED
            or self.guarantee.by == "noise"
            or (beside and self.guarantee.k >= self.rule.least_k)
        ):
            return "guarantee"
        if self.facts.table is not None:
            return "classes"
        return "attacks" if self.evidence else None

    def evidence_table(self) -> list[tuple[str, ...]]:
        """Return the headings and what each attack got that named somebody, as texts.

        >>> from noren.judgement.judging import judge
        >>> tried = AttackResult(attack="jaccard", named=60, right=27, customers=27, right_at=tuple(range(1, 28)))
        >>> judge(Facts(kind="history", people=60, tried=[tried]), "partner").evidence_table()[1]
        ('jaccard', '60', '27', '45.0%', '32–58', '45.0%', '26/26 (16)', '✗')
        """
        people = _("People") if self.facts.kind == "table" else _("Customers")
        rows: list[tuple[str, ...]] = [
            (_("Attack"), _("Named"), _("Right"), _("Rate"), "95 %", people, _("Best n"), "")
        ]
        for entry in self.evidence:
            best = f"{count(entry.best_right)}/{count(entry.best_named)} ({count(entry.needed)})"
            rates = (percent(entry.rate), f"{100 * entry.low:.0f}–{100 * entry.high:.0f}", percent(entry.customers))
            numbers = (count(entry.named), count(entry.right), *rates, best, "✗" if entry.exceeds else "")
            rows += [(entry.attack, *numbers)] if entry.named else []
        return rows

    def __repr__(self) -> str:
        return f"Verdict({headline_sentence(self)})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Return how a notebook shows the verdict: its sentences, the risk, what each attack got."""
        facts = [(_("Verdict"), headline_sentence(self)), *((_("Note"), remark) for remark in remarks(self))]
        facts += [(_("Risk"), percent(self.risk))] if self.risk is not None else []
        headings, *rows = self.evidence_table()
        grid = PreviewGrid([(name, "") for name in headings], rows, [False, *[True] * 6, False], len(rows), 8)
        name = f"{verdict_label(self.status)} ({self.rule.name or self.rule.tolerance})"
        return Card(_("Verdict"), name, facts, grid if rows else None).html()

    def as_dict(self) -> dict[str, Any]:
        """Return what ``noren judge --json`` prints."""
        guarantee: Mapping[str, Any] | None = None
        if self.guarantee is not None:
            k = self.guarantee.k
            guarantee = {"k": int(k) if k.is_integer() else k, "bound": self.guarantee.bound, "by": self.guarantee.by}
        foreign = self.facts.foreign
        flaws = [
            {"code": str(f.code), "columns": list(f.columns), "sentence": flaw_sentence(f, self)} for f in self.flaws
        ]
        more: dict[str, Any] = {} if foreign is None else {"flaws": flaws, "found": foreign.model_dump(mode="json")}
        return more | {
            "verdict": str(self.status),
            "reason": str(self.reason),
            "sentence": self.sentence,
            "remarks": remarks(self),
            "assumed_unknown": list(self.facts.unknown),
            "kept_identifiers": list(self.facts.kept_identifiers),
            "left_out": dict.fromkeys(self.facts.left_out, "out of time"),
            "rule": self.rule.as_dict(),
            "evidence": [entry.model_dump() for entry in self.evidence],
            "guarantee": guarantee,
            "privacy": None if self.facts.privacy is None else self.facts.privacy.model_dump(),
            "inferred": [entry.model_dump(mode="json") | {"excess": entry.excess} for entry in self.facts.inferred],
        }
