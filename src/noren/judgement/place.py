"Where a release stands on the map of risk and utility, and which of several no other beats."

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from pydantic import BaseModel, ConfigDict

from noren.judgement.rule import Rule
from noren.judgement.verdict import Verdict, Word
from noren.measures import placing
from noren.protocols import Score

__all__ = ["Place", "beats", "far_beyond", "frontier", "over_runs", "place_of", "worth_a_choice"]

_FAR: Final = 2
"""How many times what is allowed puts a release out of the question."""


class Place(BaseModel):
    """A release on the map.

    Attributes
    ----------
    use, use_of
        The share of the use that is kept, 0 to 1, and the measure that tells it.
    risk, risk_of
        The highest probability of being re-identified, and what tells it: the guarantee, where it is within the
        tolerance, else the classes of a table or the best attack.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    word: Word = Word.UNTRIED
    k: float | None = None
    use: float | None = None
    use_of: str | None = None
    risk: float | None = None
    risk_of: str | None = None

    @property
    def is_placed(self) -> bool:
        """Whether both use and risk are known."""
        return self.use is not None and self.risk is not None


def place_of(label: str, verdict: Verdict, scores: Mapping[str, Score]) -> Place:
    """Return where a release stands.

    Which measure tells the use, and how, the measures say (``places``): 1 - U for histories; for tables the share of
    records in the right cell (``l1-precision``) where values were perturbed, else 1 - ``table-loss``.
    """
    facts = verdict.facts
    use, use_of = None, None
    for measure in placing(facts.kind):
        told = scores.get(measure.name)
        if told is not None and measure.places is not None and (measure.of_perturbed or not facts.perturbed):
            use, use_of = measure.places.share(told.value), measure.name
            break
    return Place(
        label=label,
        word=verdict.word,
        k=facts.claimed.get("k"),
        use=use,
        use_of=use_of,
        risk=verdict.risk,
        risk_of=verdict.risk_of,
    )


def over_runs(places: Sequence[Place]) -> Place:
    """Return where a setting stands that ran several times: the worst verdict, the mean use, the highest risk.

    >>> runs = [Place(label="a", word="proved", use=0.5, risk=0.2), Place(label="a", word="broken", use=0.7, risk=0.9)]
    >>> found = over_runs(runs)
    >>> str(found.word), found.use, found.risk
    ('broken', 0.6, 0.9)
    """
    worst = min(places, key=lambda one: one.word.order)
    uses = [one.use for one in places if one.use is not None]
    risky = max(places, key=lambda one: -1.0 if one.risk is None else one.risk)
    told = next((one for one in places if one.use is not None), worst)
    return Place(
        label=worst.label,
        word=worst.word,
        k=told.k,
        use=fmean(uses) if uses else None,
        use_of=told.use_of,
        risk=risky.risk,
        risk_of=risky.risk_of,
    )


def frontier(places: Sequence[Place]) -> list[int]:
    """Return the places on the Pareto frontier, by measure of use and by growing use.

    >>> frontier([Place(label="a", use=0.8, risk=0.0, word="broken"),
    ...           Place(label="b", use=0.7, risk=0.0, word="proved"),
    ...           Place(label="c", use=0.6, risk=0.0, word="proved")])
    [1, 0]
    """
    placed = [i for i, one in enumerate(places) if one.is_placed]
    kept = [i for i in placed if not any(beats(places[j], places[i]) for j in placed)]
    order = list(dict.fromkeys(places[i].use_of for i in placed))
    return sorted(kept, key=lambda i: (order.index(places[i].use_of), places[i].use or 0.0, places[i].risk or 0.0))


def worth_a_choice(places: Sequence[Place]) -> list[int]:
    """Return the places of the frontier that may be handed out; what may not is no choice, however useful.

    >>> worth_a_choice([Place(label="raw", use=1.0, risk=0.99, word="broken"),
    ...                 Place(label="k = 5", use=0.7, risk=0.2, word="proved")])
    [1]
    """
    return [i for i in frontier(places) if places[i].word.is_safe]


def far_beyond(place: Place, rule: Rule) -> bool:
    """Tell whether a release is broken at more than twice the risk that is allowed: no map need show where.

    >>> from noren.judgement.rule import rule_named
    >>> near, far = (Place(label="a", use=0.5, risk=risk, word="broken") for risk in (0.4, 0.41))
    >>> far_beyond(near, rule_named("partner")), far_beyond(far, rule_named("partner"))
    (False, True)
    """
    return place.word == Word.BROKEN and (place.risk or 0.0) > _FAR * float(rule.tolerance)


def beats(one: Place, other: Place) -> bool:
    """Tell whether one place is as useful and as safe as another or more, and better in one of both.

    Uses that different measures tell are not held against each other. What may not be handed out never beats what may,
    however little the attacks tried have found.
    """
    if not one.is_placed or not other.is_placed or one.use_of != other.use_of:
        return False
    if other.word.is_safe and not one.word.is_safe:
        return False
    use, risk = (one.use or 0.0) - (other.use or 0.0), (one.risk or 0.0) - (other.risk or 0.0)
    return use >= 0 and risk <= 0 and (use > 0 or risk < 0)
