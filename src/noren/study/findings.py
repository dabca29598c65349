"""What the scores of outcomes say, in sentences: the answer before the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from noren.attacks import attacks
from noren.data.frames import History, Records, Table
from noren.i18n import _, ngettext
from noren.study.numbers import count, decimal, percent, tenth
from noren.study.outcomes import Outcome
from noren.study.table_risk import cure_sentence, guessed_sentences, risk_of_table, table_sentence, told_sentences
from noren.study.verdicts import Verdict

__all__ = [
    "AttackLine",
    "Verdict",
    "attack_lines",
    "cautions_of",
    "count",
    "decimal",
    "error_of",
    "frontier",
    "frontier_sentence",
    "headline",
    "outcome_sentence",
    "people_in",
    "percent",
    "risk_of",
    "tenth",
    "verdict",
]


@dataclass(frozen=True)
class AttackLine:
    """What one attacker achieved.

    Attributes
    ----------
    named, right, needed
        How many people are named, how many rightly, and how many right ones make the attack effective; the last two are
        known to the steward alone.
    chance
        How many a person would name rightly in the mean who draws a customer at random for each pseudonym named.
    share
        The share of all customers that is named rightly.
    """

    attack: str
    summary: str
    named: int
    right: int | None
    needed: int | None
    chance: float
    share: float | None

    @property
    def effective(self) -> bool:
        """Whether so many are right that the release cannot be called safe."""
        return self.right is not None and self.needed is not None and self.right >= self.needed


# --- reading the scores ------------------------------------------------------------------------------------


def people_in(original: Records) -> int:
    """Return how many people the original is about."""
    return len(original.customers) if isinstance(original, History) else len(original)


def error_of(outcome: Outcome) -> float | None:
    """Return U, the mean error per cell; lower is more useful."""
    score = outcome.scores.get("cell-error")
    return None if score is None else score.value


def risk_of(outcome: Outcome) -> float | None:
    """Return the share of customers that the best attack names rightly; lower is safer."""
    score = outcome.scores.get("reid-rate")
    return None if score is None else score.value


def verdict(outcome: Outcome) -> Verdict:
    """Tell whether an attack was effective, none was, or none was judged; of a table, what its classes tell."""
    if isinstance(outcome.release.public, Table):
        return Verdict(risk_of_table(outcome)["verdict"])
    score = outcome.scores.get("effective")
    if score is None or not outcome.guesses:
        return Verdict.UNTRIED
    return Verdict.BROKEN if score.value > 0 else Verdict.WITHSTANDS


def attack_lines(outcome: Outcome, people: int) -> list[AttackLine]:
    """Return what each attacker achieved against a release of ``people`` customers, the strongest first."""
    judged = outcome.scores.get("effective")
    parts = {} if judged is None else judged.parts
    rates = outcome.scores.get("reid-rate")
    lines = []
    for name, guess in outcome.guesses.items():
        named = int(parts.get(f"{name}.named", len(guess)))
        right, needed = parts.get(f"{name}.right"), parts.get(f"{name}.needed")
        lines.append(
            AttackLine(
                attack=name,
                summary=_(attacks[name].summary) if name in attacks else "",
                named=named,
                right=None if right is None else int(right),
                needed=None if needed is None else int(needed),
                chance=named / max(people, 1),
                share=None if rates is None else rates.parts.get(name),
            )
        )
    return sorted(lines, key=lambda line: (line.effective, line.right or 0, line.named), reverse=True)


def frontier(places: Sequence[tuple[float, float]]) -> list[int]:
    """Return which of the places ``(use kept, risk)`` no other beats: none has more use at no more risk, or less risk.

    The answer is in the order of use, least first.

    >>> frontier([(0.9, 0.5), (0.5, 0.0), (0.4, 0.2)])
    [1, 0]
    """

    def beaten(use: float, risk: float) -> bool:
        return any(u >= use and r <= risk and (u > use or r < risk) for u, r in places)

    kept = [i for i, (use, risk) in enumerate(places) if not beaten(use, risk)]
    return sorted(kept, key=lambda i: places[i])


# --- sentences ---------------------------------------------------------------------------------------------


def headline(outcomes: Sequence[Outcome], people: int) -> str:
    """Return the finding of a whole report as one sentence."""
    if len(outcomes) == 1:
        return outcome_sentence(outcomes[0], people)
    tried = [o for o in outcomes if verdict(o) != Verdict.UNTRIED]
    safe = [o for o in tried if verdict(o) == Verdict.WITHSTANDS]
    if not tried:
        return _("No attack was judged, so nothing is known about the risk of these {count} releases.").format(
            count=count(len(outcomes))
        )
    if not safe:
        least = min(tried, key=lambda o: 1.0 if (risk := risk_of(o)) is None else risk)
        share = risk_of(least)
        if share is None:
            return _("None of the {count} releases withstands the attacks tried.").format(count=count(len(tried)))
        return _(
            "None of the {count} releases withstands the attacks tried; the least exposed is {label}, "
            "with {share} of the customers re-identified."
        ).format(count=count(len(tried)), label=least.label, share=percent(share))
    useful = [(u, o) for o in safe if (u := error_of(o)) is not None]
    if not useful:
        return ngettext(
            "Of {count} releases, {safe} withstands the attacks tried.",
            "Of {count} releases, {safe} withstand the attacks tried.",
            len(safe),
        ).format(count=count(len(outcomes)), safe=count(len(safe)))
    error, best = min(useful, key=lambda pair: pair[0])
    return ngettext(
        "Of {count} releases, {safe} withstands the attacks tried: {label}, with U {error}.",
        "Of {count} releases, {safe} withstand the attacks tried; the most useful of them is {label} with U {error}.",
        len(safe),
    ).format(count=count(len(outcomes)), safe=count(len(safe)), label=best.label, error=decimal(error))


def outcome_sentence(outcome: Outcome, people: int) -> str:
    """Return the finding about one release as one sentence."""
    if isinstance(outcome.release.public, Table):
        return _("{label}: {finding}").format(label=outcome.label, finding=table_sentence(risk_of_table(outcome)))
    found = verdict(outcome)
    if found == Verdict.UNTRIED:
        return _("{label}: no attack was judged, so nothing is known about its risk.").format(label=outcome.label)
    best = attack_lines(outcome, people)[0]
    if found == Verdict.WITHSTANDS and not best.named:
        return _("{label} withstands the attacks tried: none of them can name anybody.").format(label=outcome.label)
    said = (
        _("{label} withstands the attacks tried: the best names {named} people, {right} rightly ({needed} needed).")
        if found == Verdict.WITHSTANDS
        else _("{label} does not withstand {attack}: it names {named} people, {right} rightly ({needed} needed).")
    )
    return said.format(
        label=outcome.label,
        attack=best.attack,
        named=count(best.named),
        right=count(best.right or 0),
        needed=count(best.needed or 0),
    )


def cautions_of(outcome: Outcome) -> list[str]:
    """Return what a released table tells or lets guess of sensitive values, and the cure; nothing of a history."""
    if not isinstance(outcome.release.public, Table):
        return []
    risk = risk_of_table(outcome)
    said = [*told_sentences(risk), *guessed_sentences(risk), cure_sentence(risk)]
    return [sentence for sentence in said if sentence]


def frontier_sentence(labels: Sequence[str], of: int) -> str:
    """Return the finding of a risk–utility map: which releases are on its frontier."""
    if len(labels) == of:
        return _("Each release has its place: none is beaten by another in both safety and use.")
    return ngettext(
        "One release is at least as safe and as useful as every other: {labels}.",
        "{count} of {of} releases are worth a choice, for none is beaten in both safety and use: {labels}.",
        len(labels),
    ).format(count=count(len(labels)), of=count(of), labels=", ".join(labels))
