"""Boards of small cups, worked out by hand."""

from __future__ import annotations

import pytest
from tests.contest.cups import DAYS, Cup, board_at, finished, three_teams, tried

from noren.contest.rulebook import preset
from noren.contest.standings import Status, board, ranks
from noren.contest.state import fold

_END = "2026-04-09T00:00:00.000000+00:00"
NAMED = {"names_hidden": False}
_ATTACKING = "2026-04-03T12:00:00.000000+00:00"


def test_ranks_of_a_finished_cup() -> None:
    """b and c share the first place at 0.3; a, broken, comes after both though its U is less; three have no rank."""
    found = board_at(finished(three_teams()).entries, "final", _END)
    assert found.kind == "final"
    assert [(one.team, one.rank) for one in found.standings] == [
        ("b", 1),
        ("c", 1),
        ("a", 3),
        ("d", None),
        ("e", None),
        ("f", None),
    ]
    of = {one.team: one for one in found.standings}
    assert of["a"].broken == ("effective",)
    assert (of["a"].attackers, of["a"].effective) == (2, 1)
    assert (of["b"].attackers, of["b"].effective) == (1, 0)
    assert (of["d"].status, of["d"].reason, of["d"].score) == (Status.DISQUALIFIED, "two accounts", 0.1)
    assert [of[team].status for team in "ef"] == [Status.INVALID, Status.NOTHING]
    assert of["d"].why == "disqualified: two accounts"
    assert of["b"].score == 0.3


def test_verdicts_are_the_judgements() -> None:
    found = {one.team: one for one in board_at(finished(three_teams()).entries, "final", _END).standings}
    a, b, c = (found[team].verdict for team in "abc")
    assert a is not None
    assert b is not None
    assert c is not None
    # 8 of 20 customers are more than a third
    assert (str(a.status), str(a.reason)) == ("broken", "too-many-named")
    assert a.sentence == "Broken: Team b re-identifies 40.0% of the 20 people; 33.3% is allowed."
    assert str(b.status) == "withstands"
    assert [(one.attack, one.named, one.right) for one in b.evidence] == [("Team a (2)", 20, 2), ("Team a", 20, 1)]
    assert str(c.status) == "untried"


def test_of_rules_without_a_place_for_the_broken_they_have_no_rank() -> None:
    book = preset("pwscup2018")
    assert book.otherwise == "none"
    found = board_at(finished(three_teams(book=book)).entries, "final", _END)
    a = next(one for one in found.standings if one.team == "a")
    assert (a.rank, a.status, a.why) == (None, Status.CONDITION, "breaks a condition: effective")


def test_what_teams_found_is_kept_back_until_attacks_are_over() -> None:
    """By the rules of 2018 an attacker learns only that a guess is valid: the board must not tell more."""
    cup = three_teams()
    live = board_at(cup.entries, "final", _ATTACKING)
    assert (live.kind, live.attacks_over, live.withheld) == ("live", False, True)
    assert [(one.team, one.rank) for one in live.standings][:3] == [("a", 1), ("b", 2), ("c", 2)]
    a = live.standings[0]
    assert a.verdict is not None
    assert (a.broken, a.effective, str(a.verdict.status)) == ((), 0, "untried")
    assert "withheld" in live.note
    organiser = board_at(cup.entries, "final", _ATTACKING, everything=True)
    assert [(one.team, one.rank) for one in organiser.standings][:3] == [("b", 1), ("c", 1), ("a", 3)]
    over = board_at(cup.entries, "final", DAYS["evaluation"])
    assert over.attacks_over
    assert over.standings[2].effective == 1


def test_effects_alone_are_told_where_the_rules_say_so() -> None:
    cup = three_teams(book=preset("pwscup2018", otherwise="after", outcome="effect"), settings=NAMED)
    a = next(one for one in board_at(cup.entries, "final", _ATTACKING).standings if one.team == "a")
    assert a.verdict is not None
    assert (a.rank, a.broken, a.effective) == (3, ("effective",), 1)
    assert a.verdict.evidence == ()  # how many were right is not told
    assert a.values == {"cell-error": 0.2}


def test_a_board_does_not_tell_whose_release_a_target_is() -> None:
    """Whatever the rules tell an attacker of a guess: while names are hidden, no row moves by it."""
    for outcome in ("effect", "counts"):
        cup = three_teams(book=preset("pwscup2018", outcome=outcome))
        before = board_at([one for one in cup.entries if "guess" not in one.kind], "final", _ATTACKING)
        assert board_at(cup.entries, "final", _ATTACKING).standings == before.standings


def test_attackers_have_no_names_before_the_end() -> None:
    cup = three_teams(book=preset("pwscup2018", otherwise="after", outcome="counts"), settings=NAMED)
    a = next(one for one in board_at(cup.entries, "final", _ATTACKING).standings if one.team == "a")
    assert a.verdict is not None
    assert [one.attack for one in a.verdict.evidence] == ["attacker 1", "attacker 2"]


def test_a_frozen_board_does_not_move() -> None:
    """Frozen before c's release was attacked: whatever comes later, it shows the same."""
    frozen_from = "2026-04-03T00:02:30.000000+00:00"
    book = preset("pwscup2018", otherwise="after", outcome="counts")
    cup = three_teams(frozen_from=frozen_from, book=book, settings=NAMED)
    before = board_at(cup.entries, "final", _ATTACKING)
    assert (before.kind, before.at) == ("frozen", frozen_from)
    assert [(one.team, one.rank) for one in before.standings][:4] == [("d", 1), ("b", 2), ("c", 2), ("a", 4)]
    cup.say("disqualified", "organiser:o", team="b", reason="late")
    cup.say("rescored", "organiser:o", scorer="2", reason="a mistake")
    assert board_at(cup.entries, "final", _ATTACKING).as_dict() == before.as_dict()
    assert board_at(cup.entries, "final", _ATTACKING, everything=True).kind == "live"


def test_the_worst_of_all_guesses_and_of_the_baseline_counts() -> None:
    """Custom rules: 0.5·U + 0.5·reid-rate, the baseline counting; at most 0.5 may be named."""
    book = preset("custom")
    cup = Cup(book)
    cup.team("a")
    cup.team("b")
    cup.on("protect")
    of_baseline = {"nearest": {"values": {"reid-rate": 0.2}}}
    cup.release("a", "ra", {"cell-error": 0.4}, baseline=of_baseline, tried=[tried(range(20), range(4))])
    cup.release("b", "rb", {"cell-error": 0.1}, baseline={"nearest": {"values": {"reid-rate": 0.6}}})
    cup.on("attack")
    cup.targets(t01="ra", t02="rb")
    cup.guess("b", "g1", "01", named=range(20), right=range(6), values={"reid-rate": 0.3})
    cup.guess("b", "g2", "01", named=range(20), right=range(2), values={"reid-rate": 0.1})
    found = {one.team: one for one in board_at(finished(cup).entries, "final", _END).standings}
    assert found["a"].score == pytest.approx(0.5 * 0.4 + 0.5 * 0.3)
    assert found["b"].score == pytest.approx(0.5 * 0.1 + 0.5 * 0.6)
    assert (found["a"].rank, found["b"].rank) == (1, 2)
    assert found["b"].broken == ("reid-rate",)
    silent = book.model_copy(update={"baseline": book.baseline.model_copy(update={"counts": False})})
    cup.book = silent
    state = fold(cup.entries)
    state.rulebook = silent
    without = {one.team: one for one in board(state, "final", _END, kind="final").standings}
    assert without["b"].score == pytest.approx(0.05)
    assert without["b"].rank == 1


def test_a_refunded_guess_counts_for_nothing() -> None:
    cup = three_teams()
    cup.say("refunded", "judge", submission="g1", reason="our fault")
    a = next(one for one in board_at(finished(cup).entries, "final", _END).standings if one.team == "a")
    assert (a.rank, a.broken, a.attackers) == (1, (), 1)


def test_the_release_that_was_attacked_counts_to_the_end() -> None:
    """A later release that came in while targets were made cannot take its place."""
    cup = three_teams()
    cup.release("c", "rc2", {"cell-error": 0.01})
    found = {one.team: one for one in board_at(finished(cup).entries, "final", _END).standings}
    assert (found["c"].submission, found["c"].score) == ("rc", 0.3)


def test_places_of_equals() -> None:
    assert ranks([None, (False, 1.0), (False, 1.0), (True, 0.0), (False, 2.0)]) == [None, 1, 1, 4, 3]
    assert ranks([]) == []


def test_a_release_that_nobody_judged_yet_waits() -> None:
    cup = Cup()
    cup.team("a")
    cup.on("protect")
    body = {"phase": "final-protect", "round": "final", "digest": "0" * 64, "bytes": 1, "account": "x"}
    cup.say("release-received", "team:a", submission="ra", team="a", **body)
    found = board_at(cup.entries, "final", _ATTACKING).standings[0]
    assert (found.status, found.rank, found.why) == (Status.WAITING, None, "not scored yet")


def test_what_the_baseline_found_is_kept_back_where_the_rules_say_so() -> None:
    book = preset("custom")
    book = book.model_copy(update={"baseline": book.baseline.model_copy(update={"visible": False})})
    cup = Cup(book)
    cup.team("a")
    cup.on("protect")
    of_baseline = {"nearest": {"values": {"reid-rate": 0.2}}}
    cup.release("a", "ra", {"cell-error": 0.4}, baseline=of_baseline, tried=[tried(range(20), range(4))])
    live = board_at(cup.entries, "final", _ATTACKING).standings[0]
    assert live.verdict is not None
    assert (live.score, live.verdict.evidence) == (0.2, ())
    final = board_at(finished(cup).entries, "final", _END).standings[0]
    assert final.verdict is not None
    assert final.score == pytest.approx(0.5 * 0.4 + 0.5 * 0.2)
    assert len(final.verdict.evidence) == 1
