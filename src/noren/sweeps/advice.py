"""Recommendation of a setting in sentences: the setting, the reasons, and the alternatives.

Sentences about safety are in :mod:`noren.judgement.sentences`. Reports of sweeps and the studio take all others from
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, Protocol

from noren.data.schema import Kind
from noren.i18n import _
from noren.judgement.frontier import Choice, RiskUtilityPoint
from noren.judgement.numbers import count, decimal, percent
from noren.judgement.rule import Rule
from noren.judgement.sentences import rule_sentence, verdict_name
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.kernels.judging.shares import mean_high, mean_low
from noren.measures import measures, place_of_measure
from noren.tables import Texts
from noren.tabulations.questions import Grade, grade_of, questions

say = Texts(__name__)
_MOST_NAMED: Final = 3
"""How many measures of utility a recommendation names."""
_TAIL: Final = 0.025
"""The chance of error on each side of an interval of 95 %."""


class Candidate(Protocol):
    """What can be recommended: a setting over its runs, or a single run."""

    @property
    def label(self) -> str:
        """The method and its parameters."""

    @property
    def method(self) -> str:
        """The name of its method; ``chain`` where it has several."""

    @property
    def strength(self) -> str:
        """How strong the protection is, as in labels: ``k = 5``; empty where the method has no strength."""

    @property
    def place(self) -> RiskUtilityPoint:
        """Its risk and utility."""

    @property
    def verdict(self) -> Verdict | None:
        """How safe it is; of several runs, the worst."""

    @property
    def scores(self) -> Mapping[str, float]:
        """The values of measures."""

    @property
    def uses(self) -> Sequence[float]:
        """The utility of each of its runs, where it is known."""


@dataclass(frozen=True)
class Advice:
    """The recommendation among settings whose utility is measured alike, in sentences."""

    reasons: Sequence[str]
    """The verdict, and the utility."""
    more_useful: str
    safer: str
    """``more_useful``, ``safer``: what the next more useful and the next safer setting give and cost, if any."""
    sureness: str
    """How sure the numbers are: over how many seeds, with which interval."""

    @property
    def sentences(self) -> list[str]:
        """All sentences, in reading order."""
        return [*self.reasons, *(sentence for sentence in (self.more_useful, self.safer, self.sureness) if sentence)]


def answer(
    candidates: Sequence[Candidate],
    choices: Sequence[Choice],
    answers: Sequence[Mapping[str, float]] = (),
    *,
    needed: bool = False,
) -> list[str]:
    """Return the recommendation in sentences: the setting, the reasons, the alternatives, and how sure it is.

    ``answers`` are how far off each candidate's answers to an analyst's questions are; ``needed`` tells whether they
    decided.
    """
    sentences = [line for item in advice(candidates, choices) for line in item.sentences]
    first = headline(candidates, choices, answers if needed else ())
    taken = [answers[choice.chosen] for choice in choices if choice.chosen is not None] if answers else []
    return [first, *map(grades_sentence, filter(None, taken)), *sentences]


def grades_sentence(answers: Mapping[str, float]) -> str:
    """Return which questions have a usable answer, which one to use with care, and which none."""
    titles = {
        grade: [_(questions()[n].title) for n, ratio in answers.items() if grade_of(ratio) == grade] for grade in Grade
    }
    parts = [f"{_(grade)}: {', '.join(named)}" for grade, named in titles.items() if named]
    return say("answers", grades="; ".join(parts))


def advice(candidates: Sequence[Candidate], choices: Sequence[Choice]) -> list[Advice]:
    """Return the advice for each measure of utility; about the safest setting where none meets the rule."""
    advised = []
    for choice in choices:
        chosen = choice.chosen if choice.chosen is not None else choice.safest
        if chosen is None:
            continue
        candidate = candidates[chosen]
        use = candidate.place.use or 0.0
        first: list[str] = []
        if len(choices) > 1 and choice.chosen is not None:
            first = [say("chosen_by", label=candidate.label, measure=candidate.place.use_of, use=percent(use))]
        more_useful = safer = ""
        if choice.chosen is not None and choice.more_useful is not None:
            other = candidates[choice.more_useful]
            more_useful = say(
                "more_useful",
                label=other.label,
                more=decimal((other.place.use or 0.0) - use),
                verdict="" if other.verdict is None else other.verdict.sentence,
            )
        place = candidate.place if choice.safer is None else candidates[choice.safer].place
        if choice.chosen is not None and (place.use or 0.0) < use:  # chosen for a purpose, it may have less utility
            safer = say(
                "safer",
                label=place.label,
                word=verdict_name(place.status),
                after=percent(place.risk or 0.0),
                before=percent(candidate.place.risk or 0.0),
                less=decimal(use - (place.use or 0.0)),
            )
        advised.append(Advice([*first, *reasons(candidate)], more_useful, safer, sureness(candidate)))
    return advised


def headline(
    candidates: Sequence[Candidate], choices: Sequence[Choice], answers: Sequence[Mapping[str, float]] = ()
) -> str:
    """Return which setting is recommended, and why; with ``answers``, by those that were needed."""
    places = [candidate.place for candidate in candidates]
    judged = [place for place in places if place.use is not None or place.status != VerdictStatus.UNTRIED]
    safe = [place for place in judged if place.status.is_safe]
    taken = [candidates[choice.chosen] for choice in choices if choice.chosen is not None]
    least = [candidates[choice.safest] for choice in choices if choice.safest is not None]
    values = {"count": count(len(judged)), "safe": count(len(safe))}
    if len(taken) == 1 and answers and len(safe) > 1:
        known = answers[candidates.index(taken[0])]
        usable = sum(grade_of(ratio) == Grade.USABLE for ratio in known.values())
        return say("headline.purpose", label=taken[0].place.label, usable=usable, asked=len(known), **values)
    if len(taken) > 1:
        return say("headline.several", labels=", ".join(candidate.label for candidate in taken), **values)
    if taken:
        place = taken[0].place
        values |= {"label": place.label, "use": percent(place.use or 0.0)}
        return say("headline.only" if len(safe) == 1 else "headline.best", **values)
    if not least:
        return say("headline.none")
    return say(
        "headline.unsafe",
        label=", ".join(candidate.label for candidate in least),
        risk=", ".join(percent(candidate.place.risk or 0.0) for candidate in least),
        **values,
    )


def reasons(candidate: Candidate) -> list[str]:
    """Return the reasons for or against a setting: its verdict and its utility."""
    place, verdict = candidate.place, candidate.verdict
    first = [] if verdict is None else [verdict.sentence]
    if place.use is None:
        return first
    axis = place_of_measure(place.use_of)
    if axis is not None and axis.sentence:
        parts = [_(axis.sentence).format(lost=decimal(1 - place.use), use=percent(place.use))]
    else:
        parts = [say("use.kept", use=decimal(place.use))]
    data_kind = Kind.HISTORY if verdict is None else verdict.facts.kind
    perturbed = verdict is not None and verdict.facts.perturbed
    every = [measures[name] for name in measures if data_kind in measures[name].accepts]
    preserving = [(kind.keeps.rank, kind.name, kind.keeps.words) for kind in every if kind.keeps is not None]
    for _rank, name, label in sorted(preserving):
        measure, value = measures[name], candidate.scores.get(name)
        if perturbed and not measure.of_perturbed:
            continue  # no cell of perturbed values is sure, whatever their table preserves
        # only a share or an error, which starts from 0, says how much is preserved
        if value is not None and measure.bounds[0] == 0.0 and len(parts) <= _MOST_NAMED:
            share = max(0.0, 1 - value) if measure.goal == "lower" else value
            parts.append(say("use.also", label=_(label), share=decimal(share)))
    return [*first, _("{sentence}.").format(sentence="; ".join(parts))]


def sureness(candidate: Candidate) -> str:
    """Return how sure the numbers of a setting are, in a sentence: its seeds, and the interval of its utility."""
    uses = candidate.uses
    if not uses:
        return ""
    if len(uses) == 1:
        return say("one_run", label=candidate.label)
    low, high = mean_low(uses, _TAIL), min(mean_high(uses, _TAIL), 1.0)
    return say(
        "several_runs",
        runs=count(len(uses)),
        label=candidate.label,
        mean=percent(fmean(uses)),
        low=percent(low),
        high=percent(high),
    )


def failure_text(name: str, why: Mapping[str, str]) -> str:
    """Return that something could not be computed, with the kind of the error, as a part of a sentence."""
    return say("failed", name=name, kind=why["kind"])


def rule_text(rule: Rule, choices: Sequence[Choice], purpose: Sequence[str] = ()) -> list[str]:
    """Return the rule of the recommendation, in sentences."""
    names = ", ".join(_(questions()[name].title) for name in purpose)
    how = say("rule.purpose", names=names) if purpose else say("rule.recommended")
    return [rule_sentence(rule), how, *([say("rule.several")] if len(choices) > 1 else [])]
