"""Position of releases on the risk–utility map, the Pareto frontier, and which release to recommend.

*Of the settings that are proved or withstand, the one that keeps the most utility; of equals proved before withstands,
then the one with less risk.* Utilities by different measures are not compared: there is then one answer for each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from noren.inference.findings import Frozen
from noren.judgement.numbers import count, percent
from noren.judgement.rule import Rule
from noren.judgement.sentences import allowed, verdict_name
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.measures import placing
from noren.protocols import Score
from noren.tables import Texts

say = Texts(__name__)

_FAR: Final = 2
"""A risk of more than this many times the tolerance is not drawn."""


class RiskUtilityPoint(Frozen):
    """A release on the map.

    Attributes
    ----------
    use, use_of
        The share of the use that is kept, 0 to 1, and the measure that tells it.
    risk, risk_of
        The highest probability of being re-identified, and what tells it: the guarantee, where it is within the
        tolerance, else the classes of a table or the best attack.
    """

    label: str
    status: VerdictStatus = VerdictStatus.UNTRIED
    k: float | None = None
    use: float | None = None
    use_of: str | None = None
    risk: float | None = None
    risk_of: str | None = None

    @property
    def is_placed(self) -> bool:
        """Whether both use and risk are known."""
        return self.use is not None and self.risk is not None


def risk_utility_point(label: str, verdict: Verdict, scores: Mapping[str, Score]) -> RiskUtilityPoint:
    """Return where a release stands.

    Measures state how they give the utility (``utility_axis``): 1 - U for histories; for tables the share of records in
    the right cell (``l1-precision``) if values were perturbed, else 1 - ``table-loss``.
    """
    facts = verdict.facts
    use, use_of = None, None
    for measure in placing(facts.kind):
        score = scores.get(measure.name)
        if score is not None and measure.utility_axis is not None and (measure.of_perturbed or not facts.perturbed):
            use, use_of = measure.utility_axis.share(score.value), measure.name
            break
    return RiskUtilityPoint(
        label=label,
        status=verdict.status,
        k=facts.claimed.get("k"),
        use=use,
        use_of=use_of,
        risk=verdict.risk,
        risk_of=verdict.risk_of,
    )


def combined_point(points: Sequence[RiskUtilityPoint]) -> RiskUtilityPoint:
    """Return where a setting stands that ran several times: the worst verdict, the mean use, the highest risk.

    >>> runs = [RiskUtilityPoint(label="a", status="proved", use=0.5, risk=0.2),
    ...         RiskUtilityPoint(label="a", status="broken", use=0.7, risk=0.9)]
    >>> found = combined_point(runs)
    >>> str(found.status), found.use, found.risk
    ('broken', 0.6, 0.9)
    """
    worst = min(points, key=lambda point: point.status.order)
    uses = [point.use for point in points if point.use is not None]
    risky = max(points, key=lambda point: -1.0 if point.risk is None else point.risk)
    measured = next((point for point in points if point.use is not None), worst)
    return RiskUtilityPoint(
        label=worst.label,
        status=worst.status,
        k=measured.k,
        use=fmean(uses) if uses else None,
        use_of=measured.use_of,
        risk=risky.risk,
        risk_of=risky.risk_of,
    )


def frontier(points: Sequence[RiskUtilityPoint]) -> list[int]:
    """Return the places on the Pareto frontier, by measure of use and by growing use.

    >>> frontier([RiskUtilityPoint(label="a", use=0.8, risk=0.0, status="broken"),
    ...           RiskUtilityPoint(label="b", use=0.7, risk=0.0, status="proved"),
    ...           RiskUtilityPoint(label="c", use=0.6, risk=0.0, status="proved")])
    [1, 0]
    """
    placed = [i for i, point in enumerate(points) if point.is_placed]
    unbeaten = [i for i in placed if not any(beats(points[j], points[i]) for j in placed)]
    order = list(dict.fromkeys(points[i].use_of for i in placed))
    return sorted(unbeaten, key=lambda i: (order.index(points[i].use_of), points[i].use or 0.0, points[i].risk or 0.0))


def releasable_points(points: Sequence[RiskUtilityPoint]) -> list[int]:
    """Return the places of the frontier that meet the rule.

    >>> releasable_points([RiskUtilityPoint(label="raw", use=1.0, risk=0.99, status="broken"),
    ...                 RiskUtilityPoint(label="k = 5", use=0.7, risk=0.2, status="proved")])
    [1]
    """
    return [i for i in frontier(points) if points[i].status.is_safe]


def far_beyond(point: RiskUtilityPoint, rule: Rule) -> bool:
    """Tell whether a release is broken at more than twice the allowed risk, so that maps leave it out.

    >>> from noren.judgement.rule import get_rule
    >>> near, far = (RiskUtilityPoint(label="a", use=0.5, risk=risk, status="broken") for risk in (0.4, 0.41))
    >>> far_beyond(near, get_rule("partner")), far_beyond(far, get_rule("partner"))
    (False, True)
    """
    return point.status == VerdictStatus.BROKEN and (point.risk or 0.0) > _FAR * float(rule.tolerance)


def beats(first: RiskUtilityPoint, second: RiskUtilityPoint) -> bool:
    """Tell whether one place is as useful and as safe as another or more, and better in one of both.

    Utilities by different measures are not compared. A release that does not meet the rule never beats one that does.
    """
    if not first.is_placed or not second.is_placed or first.use_of != second.use_of:
        return False
    if second.status.is_safe and not first.status.is_safe:
        return False
    use, risk = (first.use or 0.0) - (second.use or 0.0), (first.risk or 0.0) - (second.risk or 0.0)
    return use >= 0 and risk <= 0 and (use > 0 or risk < 0)


# --- which to take ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """The recommended release and its alternatives, as positions in the list of points.

    Attributes
    ----------
    use_of
        The measure that tells the use of these places.
    chosen
        The answer; None if nothing meets the rule.
    more_useful
        The next one that keeps more; it does not meet the rule.
    safer
        The most useful of those that are safer still.
    safest
        If nothing meets the rule, the one with the least risk.
    """

    use_of: str | None
    chosen: int | None = None
    more_useful: int | None = None
    safer: int | None = None
    safest: int | None = None


def recommend(points: Sequence[RiskUtilityPoint], needs: Sequence[tuple[int, float]] = ()) -> list[Choice]:
    """Return which place to take; one answer for each measure of use, nothing where no place is known.

    With ``needs`` (of each point how many needed answers are not usable, and how far off they are) the one with the
    fewest such answers is taken, then the nearest; the use decides between equals.

    >>> recommend([RiskUtilityPoint(label="k = 2", status="broken", use=0.8, risk=0.5),
    ...            RiskUtilityPoint(label="k = 5", status="proved", use=0.7, risk=0.2),
    ...            RiskUtilityPoint(label="k = 6", status="proved", use=0.6, risk=0.17)])
    [Choice(use_of=None, chosen=1, more_useful=0, safer=2, safest=None)]
    """
    groups: dict[str | None, list[int]] = {}
    for i, point in enumerate(points):
        if point.is_placed:
            groups.setdefault(point.use_of, []).append(i)
    best = frontier(points)
    use, risk = ([getattr(p, name) or 0.0 for p in points] for name in ("use", "risk"))
    order = [p.status.order for p in points]
    choices = []
    for use_of, members in groups.items():
        safe = [i for i in members if points[i].status.is_safe]
        if not safe:
            broken = [i for i in members if points[i].status == VerdictStatus.BROKEN]
            choices.append(Choice(use_of, safest=min(broken, key=lambda i: (risk[i], -use[i]), default=None)))
            continue
        chosen = min(safe, key=lambda i: (*(needs[i] if needs else ()), -use[i], -order[i], risk[i]))
        beyond = [i for i in best if i in members and use[i] > use[chosen]]
        safer = [
            i
            for i in safe
            if (order[i] > order[chosen] and risk[i] <= risk[chosen])
            or (order[i] == order[chosen] and risk[i] < risk[chosen])
        ]
        more_useful = min(beyond, key=lambda i: (use[i], risk[i]), default=None)
        next_safer = min(safer, key=lambda i: (-use[i], risk[i]), default=None)
        choices.append(Choice(use_of, chosen, more_useful, next_safer))
    return choices


# --- in words ---------------------------------------------------------------------------------------------------------


def finding(points: Sequence[RiskUtilityPoint]) -> str:
    """Summarise several releases in a sentence without its full stop.

    >>> finding([RiskUtilityPoint(label="k = 2", status="broken", use=0.8, risk=0.5),
    ...          RiskUtilityPoint(label="k = 5", status="proved", use=0.7)])
    '1 of 2 releases meets the rule: k = 5 (proved) keeps 70.0% of the utility'
    """
    if not points:
        return say("finding.none")
    safe = [point for point in points if point.status.is_safe]
    known = [point for point in safe if point.use is not None]
    values = {"count": count(len(points)), "safe": count(len(safe))}
    if known:
        best = max(known, key=lambda point: point.use or 0.0)
        values |= {"label": best.label, "word": verdict_name(best.status), "use": percent(best.use or 0.0)}
        return say("finding.best", len(safe), **values)
    if safe:
        return say("finding.safe", len(safe), **values)
    tried = [point for point in points if point.status == VerdictStatus.BROKEN and point.risk is not None]
    if not tried:
        return say("finding.unjudged", len(points), **values)
    least = min(tried, key=lambda point: point.risk or 0.0)
    return say("finding.broken", len(points), label=least.label, risk=percent(least.risk or 0.0), **values)


def frontier_sentence(points: Sequence[RiskUtilityPoint]) -> str:
    """Return a sentence: which releases that meet the rule are on the Pareto frontier."""
    safe = [point for point in points if point.status.is_safe]
    if not safe:
        return say("frontier.none")
    best = [points[i] for i in releasable_points(points)]
    if len(best) == len(points):
        return say("frontier.all")
    labels = ", ".join(point.label for point in best)
    return say("frontier.safe", len(best), safe=count(len(safe)), count=count(len(best)), labels=labels)


def far_sentence(points: Sequence[RiskUtilityPoint], rule: Rule) -> str:
    """Return a sentence about the releases that a map leaves out; empty if there are none."""
    if not points:
        return ""
    low, high = (percent(end(point.risk or 0.0 for point in points)) for end in (min, max))
    values = {"labels": "; ".join(point.label for point in points), "allowed": allowed(rule)}
    risk = low if low == high else f"{low} – {high}"
    return say("far.far", len(points), count=count(len(points)), risk=risk, **values)
