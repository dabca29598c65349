"""The map keeps every run, and draws its frontier through those that no other beats."""

from typing import Any

from noren.drawing.risk_map import risk_map


def test_a_frontier_of_three_runs_and_one_that_has_no_place() -> None:
    points: list[dict[str, Any]] = [
        {"use": 0.9, "risk": 0.5, "k": 2},
        {"use": 0.4, "risk": 0.2, "k": 3},
        {"use": None, "risk": 0.1, "k": 9},
        {"use": 0.5, "risk": 0.0, "k": 5},
    ]
    found = risk_map(points)
    assert found["frontier"] == [3, 0]
    assert found["unplaced"] == [2]
    assert [point["on_frontier"] for point in found["points"]] == [True, False, False, True]
    assert found["points"][1]["k"] == 3
    assert risk_map([]) == {"points": [], "frontier": [], "unplaced": []}
