"""What judges tell the organiser."""

from __future__ import annotations

from typing import Any

import pytest
from tests.contest.cups import three_teams

from noren.contest import arena as arena_module
from noren.contest.arena import JudgesDesk, JudgesOrder
from noren.contest.state import fold

ORDER = JudgesOrder("release", "cup", "s", "", "", "final", submission="rb")
RESULT: dict[str, Any] = {"valid": True, "sketch": {"rows": 1}}


def test_two_teams_are_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often teams with one method hand in: the log grows with the pairs of teams, not with the tries."""
    monkeypatch.setattr(arena_module, "similar", lambda _one, _other: 1.0)
    cup, desk = three_teams(), JudgesDesk(None)  # type: ignore[arg-type]
    flags = desk._flags(fold(cup.entries), ORDER, RESULT)
    assert [one.body["submissions"] for one in flags] == [["ra", "rb"], ["rc", "rb"], ["rd", "rb"]]
    cup.say("flagged", "judge", submissions=["rb0", "ra"], share=1.0)  # of an earlier release of b
    again = desk._flags(fold(cup.entries), ORDER, RESULT)
    assert [one.body["submissions"] for one in again] == [["rc", "rb"], ["rd", "rb"]]
    assert desk._flags(fold(cup.entries), ORDER, {**RESULT, "valid": False}) == []


def test_what_differs_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena_module, "similar", lambda _one, _other: 0.94)
    desk = JudgesDesk(None)  # type: ignore[arg-type]
    assert desk._flags(fold(three_teams().entries), ORDER, RESULT) == []
