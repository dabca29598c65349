"""What judges tell the organiser."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contest.cups import Cup, three_teams

from noren.contest import arena as arena_module
from noren.contest.arena import ScoringOrder
from noren.contest.state import fold

RESULT: dict[str, Any] = {"valid": True, "sketch": {"rows": 1}}


def flagged(cup: Cup, result: dict[str, Any] = RESULT) -> list[list[str]]:
    """Return the files that are told of beside what another scorer found of one."""
    cup.say("rescored", "organiser:o", scorer="another", reason="r")
    contest = fold(cup.entries)
    order = ScoringOrder(contest, contest.rounds["final"], "", contest.submissions["rb"])
    judged, *flags = arena_module._scored(order, result, contest, "")
    assert judged.body == {"submission": "rb", "scorer": "another", **result}
    return [one.body["submissions"] for one in flags]


def test_two_teams_are_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often teams with one method hand in: the log grows with the pairs of teams, not with the tries."""
    monkeypatch.setattr(arena_module, "similarity", lambda _one, _other: 1.0)
    cup = three_teams()
    assert flagged(cup) == [["ra", "rb"], ["rc", "rb"], ["rd", "rb"]]
    cup.say("flagged", "judge", submissions=["rb0", "ra"], share=1.0)  # of an earlier release of b
    assert flagged(cup) == [["rc", "rb"], ["rd", "rb"]]
    assert flagged(cup, {**RESULT, "valid": False}) == []


def test_what_differs_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_module, "similarity", lambda _one, _other: 0.94)
    assert flagged(three_teams()) == []
