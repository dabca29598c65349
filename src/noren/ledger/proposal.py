"""A proposed release, and the verdict on everything released with it.

The results of attacks are stored with each entry, and judged by the current rule. The facts reveal which of an attack's
answers are right, so they are in the secret part, under its seal. The verdict is stored with them and reused while the
rule and the program are the same; it is never used for another rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from pydantic import ValidationError

from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Kind
from noren.errors import CheckFailedError
from noren.judgement.evidence import Facts, attack_result, facts_from
from noren.judgement.judging import judge
from noren.judgement.outcome import people_in
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict
from noren.ledger.certificate import Certificate
from noren.ledger.joined import joined
from noren.ledger.risk import Risk
from noren.protocols import Guess
from noren.tables import Texts
from noren.version import __version__

say = Texts(__name__)


@dataclass(frozen=True)
class Proposal:
    """A release that is ready, and what it would add to the risk; nothing is written yet."""

    period: str
    rows: History = field(repr=False)
    release: Release = field(repr=False)
    """``period``, ``rows``, ``release``: the period, its original rows and their release."""
    before: Risk | None
    after: Risk
    """``before``, ``after``: what attacks find of everything released so far, without and with this release, in the
    mean over draws of the pseudonyms; no ``before`` at the first one. Of this release alone, without a ``before``,
    where the ledger attacks nothing that is out.
    """
    verdict: Verdict = field(repr=False)
    """How safe everything released would be with it, by the rule of the ledger."""
    budget: Mapping[str, float]
    exposed: pl.DataFrame = field(repr=False)
    """The customers whom some attack finds, most exposed first; for the steward alone."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Attacks that failed, with the reason: the risk is at least ``after``, but not known."""
    certificate: Certificate | None = None
    uncertified: str = ""
    """``certificate``, ``uncertified``: the certified risk of everything released with it; or why there is none."""
    certified_before: Certificate | None = None
    """The certificate of everything released so far, where there is one."""
    least: Mapping[str, float] = field(default_factory=dict)
    """The least that could be certified whatever is done with this period; nothing without a certificate."""

    @property
    def broken(self) -> dict[str, float]:
        """The measures that would be above their budget, with their values; none of it depends on this draw."""
        return (self.certificate or self.after).beyond(self.budget)

    @property
    def enough(self) -> int | None:
        """The size of this period's classes that would keep MM and EMM within the budget; None where none is known."""
        now, then = self.certificate, self.certified_before
        limits = [limit for name, limit in self.budget.items() if name in ("mm", "emm")]
        if now is None or not limits or any(self.least[name] > limit + 1e-12 for name, limit in self.budget.items()):
            return None
        live, before = (now.live - then.live, then.classes) if then else (now.live, 0)
        left = int(min(limits) * now.live + 1e-9) - before  # classes that this period may have
        return live // (left + 1) + 1 if left > 0 else None


class BudgetError(CheckFailedError):
    """A release that would break the budget; ``proposal`` says what it would have added."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        broken, limits, k = proposal.broken, proposal.budget, proposal.enough
        over = ", ".join(say("over", measure=n.upper(), value=value, limit=limits[n]) for n, value in broken.items())
        beyond = [least for n, least in proposal.least.items() if n in broken and least > limits[n] + 1e-12]
        if beyond:
            cure = say("raise_budget", least=beyond[0])
        elif k is not None and set(broken) <= {"mm", "emm"}:
            cure = say("larger_classes", k=k)
        else:
            cure = say("more_strongly")
        super().__init__(say("over_budget", period=proposal.period, over=over, cure=cure))


class UnknownRiskError(CheckFailedError):
    """A release whose risk is not known, for an attack broke down; ``proposal`` says what the others found."""

    def __init__(self, proposal: Proposal) -> None:
        self.proposal = proposal
        why = "; ".join(say("failed", name=name, reason=reason) for name, reason in proposal.failed.items())
        super().__init__(say("unknown_risk", period=proposal.period, why=why))


# --- verdicts --------------------------------------------------------------------------------------------------------


def facts_together(
    original: History,
    releases: Sequence[Release],
    guesses: Mapping[str, Guess],
    failed: Iterable[str] = (),
    certificate: Certificate | None = None,
) -> Facts:
    """Return what was found of everything released, ``original`` being the rows of all periods.

    What a release claims by itself it claims of one period. Of several together classes are claimed where a certificate
    says so: by the composition theorem the smallest of all periods bounds the chance of naming a pseudonym rightly.
    """
    together = joined(releases)
    claiming = releases[0] if len(releases) == 1 else together
    tried = tuple(attack_result(name, guess, together.secret) for name, guess in sorted(guesses.items()))
    facts = facts_from(
        Kind.HISTORY,
        people_in(original),
        claiming.statement,
        {},
        tried,
        release_facts(claiming, original if len(releases) == 1 else None),
        failed=tuple(sorted(failed)),
    )
    if len(releases) == 1:
        return facts
    each = [release_facts(release) for release in releases]
    update: dict[str, Any] = {
        "registered": all(period_facts.registered for period_facts in each),
        "names_random": all(period_facts.names_random is not False for period_facts in each),
        "chosen_seed": any(period_facts.chosen_seed for period_facts in each),
    }
    if certificate is not None:
        update |= {
            "claimed": {"k": certificate.claimed},
            "smallest_class": certificate.k,
            "periods": certificate.periods,
            "once": certificate.once,
        }
    return facts.model_copy(update=update)


def stored_form(verdict: Verdict) -> dict[str, Any]:
    """Return what is kept of a verdict: its facts, and what was said of them by which rule and program."""
    fields = verdict.model_dump(mode="json", exclude={"facts"})
    return {"facts": verdict.facts.model_dump(mode="json"), "noren": __version__, "verdict": fields}


def stored_verdict(stored: Mapping[str, Any], rule: Rule) -> Verdict:
    """Return the verdict on facts that were kept, by the rule in force."""
    facts = Facts.model_validate(stored["facts"])
    if stored["noren"] == __version__:
        try:
            verdict = Verdict.model_validate({**stored["verdict"], "facts": facts})
        except ValidationError:
            return judge(facts, rule)
        if verdict.rule == rule:
            return verdict
    return judge(facts, rule)
