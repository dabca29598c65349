"""Runs on the risk–utility map: which of them no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.explore.findings import frontier

__all__ = ["risk_map"]


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
