"""Who broke whom, by hand."""

from __future__ import annotations

from collections.abc import Sequence

from tests.contest.cups import Cup, finished, three_teams

from noren.contest.standings import MatrixCell, below_chance, matrix_of
from noren.contest.state import fold
from noren.kernels.judging.shares import share_interval
from noren.work.hash_chain import LogEntry


def cells(entries: Sequence[LogEntry]) -> dict[tuple[str, str], MatrixCell]:
    """Return the cells of the final by attacker and target."""
    return {(one.attacker, one.target): one for one in matrix_of(fold(entries), "final").cells}


def test_cells_of_a_small_cup() -> None:
    found = matrix_of(fold(finished(three_teams()).entries), "final")
    assert found.teams == ("a", "b", "c", "d")  # e's release is invalid, f did nothing
    by_teams = cells(finished(three_teams()).entries)
    assert list(by_teams) == [("a", "b"), ("b", "a"), ("c", "a")]
    broken = by_teams["b", "a"]
    # r(8) = 8 by the paper's bound at 1/2000
    assert (broken.evidence.named, broken.evidence.right, broken.evidence.needed) == (8, 8, 8)
    assert (broken.evidence.rate, broken.evidence.chance, broken.breaks) == (1.0, 0.05, True)
    assert (broken.evidence.low, broken.evidence.high) == share_interval(8, 8)
    kept = by_teams["c", "a"]
    assert (kept.evidence.right, kept.breaks) == (7, False)


def test_the_most_damaging_of_a_teams_guesses_counts() -> None:
    """a guessed three times against b: one right, invalid, two right."""
    cell = cells(finished(three_teams()).entries)["a", "b"]
    assert (cell.submission, cell.guesses, cell.evidence.right) == ("g5", 2, 2)


def test_a_disqualified_attackers_findings_stay_true() -> None:
    cup = three_teams()
    cup.say("disqualified", "organiser:o", team="b", reason="late")
    assert ("b", "a") in cells(cup.entries)


def _side(named: int, right: int, attackers: int) -> str:
    """Return on which side of chance a cell is, in a table of so many cells; customers are 4, so chance is 1/4."""
    cup = Cup(people=4)
    for team in ("a", *(f"b{at}" for at in range(attackers))):
        cup.team(team)
    cup.on("protect")
    cup.release("a", "ra", {"cell-error": 0.1})
    cup.on("attack")
    cup.targets(t01="ra")
    for at in range(attackers):
        got = (named, right) if at == 0 else (4, 1)
        cup.guess(f"b{at}", f"g{at}", "01", named=[0] * got[0], right=[0] * got[1])
        tried = {"attack": "g", "named": got[0], "right": got[1], "customers": 0, "right_at": range(1, got[1] + 1)}
        cup.entries[-1].body["tried"].update(tried)
    return cells(cup.entries)["b0", "a"].side


def test_far_below_chance_is_told_only_where_chance_cannot_explain_it() -> None:
    """None of 13 right at chance 1/4: 0.75^13 = 0.024 < 0.025, so alone it tells; among 20 cells it does not."""
    assert 0.75**13 < 0.025 < 0.75**12
    assert _side(12, 0, 1) == "open"
    assert _side(13, 0, 1) == "below"
    assert _side(13, 0, 20) == "open"
    # 0.75^n < 0.025/20 from n = 24 on
    assert 0.75**24 < 0.025 / 20 < 0.75**23
    assert _side(23, 0, 20) == "open"
    assert _side(24, 0, 20) == "below"
    assert _side(13, 13, 20) == "above"
    assert "reversing such a guess discloses something" in below_chance()
