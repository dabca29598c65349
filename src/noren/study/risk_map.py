"""Runs on the risk–utility map: which of them no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.i18n import _
from noren.study.findings import frontier

__all__ = ["risk_map", "risk_title", "use_title"]


def risk_map(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return points (``use`` and ``risk``, None where unknown) with whether each is on the frontier.

    >>> found = risk_map([{"use": 0.9, "risk": 0.5}, {"use": 0.5, "risk": 0.6}, {"use": None, "risk": 0.0}])
    >>> found["frontier"], found["unplaced"], [point["on_frontier"] for point in found["points"]]
    ([0], [2], [True, False, False])
    """
    placed = [i for i, point in enumerate(points) if point.get("use") is not None and point.get("risk") is not None]
    best = [placed[i] for i in frontier([(points[i]["use"], points[i]["risk"]) for i in placed])]
    return {
        "points": [{**point, "on_frontier": i in best} for i, point in enumerate(points)],
        "frontier": best,
        "unplaced": [i for i in range(len(points)) if i not in placed],
    }


def risk_title(points: Sequence[Mapping[str, Any]]) -> str:
    """Return what the risk of points is, in words; the measures are told by ``risk_of``.

    >>> risk_title([{"risk_of": "reid-rate"}]), risk_title([{"risk_of": "proof"}, {"risk_of": "prosecutor"}])
    ('customers re-identified', 'people who are found')
    """
    known = {
        "reid-rate": _("customers re-identified"),
        "prosecutor": _("chance to find the most exposed person"),
        "proof": _("chance to find a person, at most"),
    }
    kinds = {str(p.get("risk_of")) for p in points} & known.keys()
    return known[kinds.pop()] if len(kinds) == 1 else _("people who are found")


def use_title(points: Sequence[Mapping[str, Any]]) -> str:
    """Return what the use of points is, in words; the measures are told by ``use_of``.

    >>> use_title([{"use_of": "cell-error"}]), use_title([])
    ('use kept, 1 − U', 'use kept')
    """
    known = {
        "cell-error": _("use kept, 1 − U"),
        "table-loss": _("use kept, 1 − loss of the table"),
        "l1-precision": _("use kept, records in the right cell"),
    }
    kinds = {str(p.get("use_of")) for p in points} & known.keys()
    return known[kinds.pop()] if len(kinds) == 1 else _("use kept")
