"""Which of many settings to take: a rule that fits in a sentence, and what else there would be.

*Of the settings that withstand, the one that keeps the most use; of equals the one with less risk.* Whether one
withstands is found before (see :mod:`noren.study.sweep`). Uses that different measures tell are not held against each
other: there is then one answer for each of them.

Points are plain: ``label``, ``use``, ``risk``, ``withstands`` and, as far as known, ``use_of`` and ``survival``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noren.i18n import _, ngettext
from noren.study.findings import Verdict, count, percent

__all__ = ["Choice", "finding", "frontier_of", "recommend"]

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Choice:
    """What to take, and what lies beside it; all are places in the list of points.

    Attributes
    ----------
    use_of
        The measure that tells the use of these points.
    chosen
        The answer; none where nothing withstands.
    more_useful
        The next one that keeps more; it does not withstand.
    safer
        The most useful of those that withstand and are safer still.
    safest
        Where nothing withstands, the one with the least risk.
    """

    use_of: str | None
    chosen: int | None = None
    more_useful: int | None = None
    safer: int | None = None
    safest: int | None = None


def recommend(points: Sequence[Point]) -> list[Choice]:
    """Apply the rule to points; one answer for each measure of use, nothing where no point was judged.

    >>> two = {"label": "k = 2", "use": 0.8, "risk": 0.1, "withstands": False, "survival": 0.0}
    >>> three = {"label": "k = 3", "use": 0.7, "risk": 0.0, "withstands": True, "survival": 0.94}
    >>> four = {"label": "k = 4", "use": 0.6, "risk": 0.0, "withstands": True, "survival": 0.99}
    >>> recommend([two, three, four])
    [Choice(use_of=None, chosen=1, more_useful=0, safer=2, safest=None)]
    """
    groups: dict[str | None, list[int]] = {}
    for i, point in enumerate(points):
        if _placed(point):
            groups.setdefault(point.get("use_of"), []).append(i)
    best = frontier_of(points)
    return [_choice(use_of, members, points, best) for use_of, members in groups.items()]


def _choice(use_of: str | None, members: Sequence[int], points: Sequence[Point], best: Sequence[int]) -> Choice:
    safe = [i for i in members if points[i]["withstands"]]
    if not safe:
        judged = [i for i in members if points[i].get("verdict") != Verdict.UNTRIED]
        least = min(judged, key=lambda i: (points[i]["risk"], -_survival(points[i]), -points[i]["use"]), default=None)
        return Choice(use_of, safest=least)
    chosen = min(safe, key=lambda i: (-points[i]["use"], points[i]["risk"], -_survival(points[i])))
    own = points[chosen]
    beyond = [i for i in best if i in members and points[i]["use"] > own["use"]]
    safer = [i for i in safe if _is_safer(points[i], own)]
    return Choice(
        use_of,
        chosen,
        more_useful=min(beyond, key=lambda i: (points[i]["use"], points[i]["risk"]), default=None),
        safer=min(safer, key=lambda i: (-points[i]["use"], points[i]["risk"]), default=None),
    )


def frontier_of(points: Sequence[Point]) -> list[int]:
    """Return the points that no other beats, by measure of use and by growing use.

    One beats another that is as useful and as safe or more, and better in one of both; but none that does not withstand
    beats one that does, however little the attacks tried have found.

    >>> frontier_of([{"use": 0.8, "risk": 0.0, "withstands": False}, {"use": 0.7, "risk": 0.0, "withstands": True},
    ...              {"use": 0.6, "risk": 0.0, "withstands": True}])
    [1, 0]
    """
    placed = [i for i, point in enumerate(points) if _placed(point)]
    kept = [i for i in placed if not any(_beats(points[j], points[i]) for j in placed)]
    order = list(dict.fromkeys(points[i].get("use_of") for i in placed))
    return sorted(kept, key=lambda i: (order.index(points[i].get("use_of")), points[i]["use"], points[i]["risk"]))


def _beats(one: Point, other: Point) -> bool:
    if one.get("use_of") != other.get("use_of") or (other["withstands"] and not one["withstands"]):
        return False
    no_worse = one["use"] >= other["use"] and one["risk"] <= other["risk"]
    return bool(no_worse and (one["use"] > other["use"] or one["risk"] < other["risk"]))


def _is_safer(one: Point, other: Point) -> bool:
    no_worse = one["risk"] <= other["risk"] and _survival(one) >= _survival(other)
    return bool(no_worse and (one["risk"] < other["risk"] or _survival(one) > _survival(other)))


def _placed(point: Point) -> bool:
    return point.get("use") is not None and point.get("risk") is not None


def _survival(point: Point) -> float:
    known = point.get("survival")
    return 0.0 if known is None else float(known)


def finding(points: Sequence[Point]) -> str:
    """Return what a map of releases comes to, in a sentence without its full stop.

    >>> finding([{"label": "k = 2", "use": 0.8, "risk": 0.1, "verdict": "broken"},
    ...          {"label": "k = 3", "use": 0.7, "risk": 0.0, "verdict": "withstands"}])
    'Of 2 releases, 1 withstands the attacks tried: k = 3 keeps 70.0% of the use'
    """
    if not points:
        return _("There is nothing to compare yet")
    if len(points) == 1:
        return _("One release so far; a sweep shows what else is possible")
    known = [point for point in points if point["use"] is not None]
    safe = [point for point in known if point.get("withstands", point["verdict"] == Verdict.WITHSTANDS)]
    if safe:
        best = max(safe, key=lambda point: float(point["use"]))
        return ngettext(
            "Of {count} releases, {safe} withstands the attacks tried: {label} keeps {use} of the use",
            "Of {count} releases, {safe} withstand the attacks tried; {label} keeps the most use of them, {use}",
            len(safe),
        ).format(count=count(len(points)), safe=count(len(safe)), label=best["label"], use=percent(best["use"]))
    tried = [point for point in known if point["verdict"] == Verdict.BROKEN and point["risk"] is not None]
    if not tried:
        return _("None of the {count} releases was attacked and measured yet").format(count=count(len(points)))
    least = min(tried, key=lambda point: float(point["risk"]))
    return _("None of the {count} releases withstands the attacks tried; {label} gives least away, {risk}").format(
        count=count(len(points)), label=least["label"], risk=percent(least["risk"])
    )
