"""Scores over time: what a board displayed at each moment, and nothing that it keeps back."""

from __future__ import annotations

from tests.contest.cups import DAYS, Cup, board_at, finished, three_teams

from noren.contest.rulebook import preset
from noren.contest.standings import Board


def scores(board: Board, team: str) -> list[tuple[str, float]]:
    """Return the minutes and scores of a team, but the last, which is that of the board itself."""
    steps = [(at, score) for name, at, score in board.history if name == team]
    standing = next(standing for standing in board.standings if standing.team == team)
    if steps:
        assert steps.pop() == (board.at, standing.score)
    return [(at[11:16], score) for at, score in steps]


def test_each_release_counts_from_its_submission_on() -> None:
    board = board_at(three_teams().entries, "final", DAYS["evaluation"])
    assert [score for _at, score in scores(board, "b")] == [0.9, 0.3]
    assert [score for _at, score in scores(board, "a")] == [0.2]
    assert scores(board, "e") == scores(board, "f") == [], "invalid, or nothing"
    assert [name for name, *_more in board.history][:2] == [board.standings[0].team] * 2, "in the order of ranks"


def test_a_frozen_board_has_no_later_steps() -> None:
    cup = Cup(frozen_from=DAYS["attack"][:14] + "30:00.000000+00:00")
    cup.team("a")
    cup.on("protect").release("a", "early", {"cell-error": 0.5})
    cup.on("attack").release("a", "just", {"cell-error": 0.4})
    cup._minute = 40
    cup.release("a", "late", {"cell-error": 0.1})
    frozen = board_at(cup.entries, "final", DAYS["evaluation"])
    assert frozen.kind == "frozen"
    assert [score for _at, score in scores(frozen, "a")] == [0.5, 0.4]
    organisers = board_at(cup.entries, "final", DAYS["evaluation"], everything=True)
    assert [score for _at, score in scores(organisers, "a")] == [0.5, 0.4, 0.1]


def test_what_a_team_chose_counts_from_its_choice_on() -> None:
    cup = Cup(settings={"counting": "chosen"})
    cup.team("a")
    cup.on("protect")
    for number, value in enumerate((0.5, 0.4, 0.3)):
        cup.release("a", f"r{number}", {"cell-error": value})
        if number == 1:
            cup.say("release-chosen", "team:a", team="a", round="final", submission="r0")
    board = board_at(cup.entries, "final", DAYS["attack"])
    assert [score for _at, score in scores(board, "a")] == [0.5, 0.4, 0.5], "the third was never on the board"
    assert board.standings[0].score == 0.5


def test_attacks_are_in_the_last_score_alone_and_only_where_the_board_has_them() -> None:
    """The custom rules: half the error, half the rate of the best attack."""
    cup = Cup(preset("custom", outcome="counts"), people=10)
    for team in "ab":
        cup.team(team)
    cup.on("protect").release("a", "ra", {"cell-error": 0.2})
    cup.on("attack").targets(t01="ra")
    cup.guess("b", "g", "01", named=range(10), right=range(4), values={"reid-rate": 0.4})
    live = board_at(cup.entries, "final", DAYS["attack"][:11] + "12:00:00.000000+00:00")
    assert [score for name, _at, score in live.history if name == "a"] == [0.1, 0.1], "targets have no names yet"
    final = board_at(finished(cup).entries, "final", DAYS["results"])
    assert [score for name, _at, score in final.history if name == "a"] == [0.1, 0.3]
