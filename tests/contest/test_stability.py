"""Ranks under resampling: against brute force, and what is known without any."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.contest.cups import Cup, finished, three_teams
from tests.contest.judging_cases import made
from tests.contest.test_scoring import guessed, pairs_of

from noren.contest import stability
from noren.contest.rulebook import preset
from noren.contest.stability import ByCustomer, drawn_weights, resampled_values, stability_of
from noren.contest.state import fold
from noren.kernels.arrays import Real
from noren.kernels.judging.composition import matching_curve, user_matching
from noren.measures.safety.effective import Effective
from noren.measures.safety.extended_month_matching import ExtendedMonthMatching
from noren.measures.safety.month_matching import MonthMatching
from noren.measures.safety.user_matching import UserMatching


def _small() -> Cup:
    """Return a cup of three customers: score = U/2 + reid-rate/2; a is at 0.3 with customer 0 named, b at 0.5."""
    cup = Cup(preset("custom").model_copy(update={"conditions": ()}), people=3)
    for team in "abc":
        cup.team(team)
    cup.on("protect")
    cup.release("a", "ra", {"cell-error": 0.3})
    cup.release("b", "rb", {"cell-error": 0.5})
    cup.release("c", "rc", {"cell-error": 0.1})
    cup.on("attack")
    cup.targets(t01="ra", t02="rb", t03="rc")
    cup.guess("b", "g1", "01", named=[0, 1, 2], right=[0], values={"reid-rate": 1 / 3})
    cup.guess("c", "g2", "01", named=[1], right=[1], values={"reid-rate": 1 / 3})
    cup.guess("a", "g3", "03", named=[0, 1, 2], right=[0, 1], values={"reid-rate": 2 / 3})
    return finished(cup)


def _brute_force() -> dict[str, Fraction]:
    """Return in which share of all 27 ways to draw three of three customers each team keeps its rank."""
    kept = dict.fromkeys("abc", 0)
    for drawn in product(range(3), repeat=3):
        worst_a = max(drawn.count(0), drawn.count(1))  # b names customer 0 rightly, c customer 1
        score = {"a": 0.15 + worst_a / 6, "b": 0.25, "c": 0.05 + (drawn.count(0) + drawn.count(1)) / 6}
        for team, rank in {"a": 2, "b": 1, "c": 3}.items():
            kept[team] += sum(score[other] < score[team] - 1e-9 for other in score) + 1 == rank
    return {team: Fraction(many, 27) for team, many in kept.items()}


def test_shares_are_those_of_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    def every_draw(_key: int, people: int, _draws: int) -> Iterator[Real]:
        yield np.array([np.bincount(one, minlength=people) for one in product(range(3), repeat=3)], float)

    monkeypatch.setattr(stability, "drawn_weights", every_draw)
    found = stability_of(fold(_small().entries), "final", draws=27)
    assert found is not None
    exact = _brute_force()
    assert {one.team: one.same_rank for one in found.teams} == {team: float(share) for team, share in exact.items()}
    assert 0 < min(exact.values()) < max(exact.values()) < 1  # or the test would tell nothing


def test_draws_come_near_brute_force_and_replay() -> None:
    state = fold(_small().entries)
    found = stability_of(state, "final")
    assert found is not None
    assert found == stability_of(state, "final")
    assert (found.draws, found.people, found.fixed) == (1000, 3, ())
    for one in found.teams:
        share = float(_brute_force()[one.team])
        assert abs(one.same_rank - share) < 4 * (share * (1 - share) / 1000) ** 0.5
        assert one.low < one.same_rank < one.high
        assert one.mean is not None
        assert one.mean_low is not None
        assert one.mean_high is not None
        assert one.mean_low < one.mean < one.mean_high
        assert (one.best, one.worst) != (one.rank, one.rank)


def test_what_nobody_attacks_rightly_never_moves() -> None:
    """By the rules of 2018 with a never broken: ranks are those of U alone, in every draw."""
    cup = three_teams()
    cup.say("refunded", "judge", submission="g1", reason="our fault")
    cup.say("refunded", "judge", submission="g2", reason="our fault")
    found = stability_of(fold(finished(cup).entries), "final")
    assert found is not None
    assert [(one.team, one.rank, one.same_rank, one.best, one.worst) for one in found.teams] == [
        ("a", 1, 1.0, 1, 1),
        ("b", 2, 1.0, 2, 2),
        ("c", 2, 1.0, 2, 2),
    ]


def test_effective_by_another_draw_of_customers() -> None:
    """Eight of eight of 20 customers are effective (r(8) = 8), and any 7 or more of them; six of six are not."""
    said = ByCustomer(np.repeat([1, 0], [8, 12]), np.repeat([1, 0], [8, 12]))
    weights = np.array([np.repeat([1.0, 0.0], [many, 20 - many]) for many in (8, 7, 6, 0)])
    fewer = ByCustomer(said.named, np.zeros(20, np.int64))
    assert resampled_values(Effective(), [said, fewer], weights, 20).tolist() == [[1, 0], [1, 0], [0, 0], [0, 0]]
    twice = np.array([[2.0] * 4 + [0.0] * 16])
    assert resampled_values(Effective(), [said], twice, 20).tolist() == [[1.0]]


def test_monthly_measures_by_another_draw_of_customers() -> None:
    generator = np.random.default_rng(1)
    match, live = generator.random((7, 4)) < 0.6, generator.random((7, 4)) < 0.8
    said = ByCustomer(np.ones(7, np.int64), np.ones(7, np.int64), match, live)
    weights = np.concatenate(list(drawn_weights(5, 7, 30)))
    drawn = [np.repeat(np.arange(7), row.astype(int)) for row in weights]
    curves = [matching_curve(match[rows], live[rows]) for rows in drawn]
    short = ByCustomer(said.named, said.right, match[:, :2], live[:, :2])  # of fewer periods
    none = ByCustomer(said.named, said.right, match, live, refused=True)
    expected = {
        UserMatching(): [[user_matching(match[rows]), user_matching(match[rows, :2]), 0.0] for rows in drawn],
        MonthMatching(): [[one[-1], one[1], one[-1]] for one in curves],
        ExtendedMonthMatching(): [[one.max(), one[:2].max(), one.max()] for one in curves],
    }
    for measure, values in expected.items():
        found = resampled_values(measure, [said, short, none], weights, 7)
        assert found == pytest.approx(np.array(values))


def test_what_cannot_be_counted_again_is_held_fixed_and_said() -> None:
    book = preset("pwscup2018")
    ordered = {**book.conditions[0].parameters, "best_prefix": True}
    changed = book.conditions[0].model_copy(update={"parameters": ordered})
    found = stability_of(
        fold(finished(three_teams(book=book.model_copy(update={"conditions": (changed,)}))).entries), "final"
    )
    assert found is not None
    assert found.fixed == ("effective",)
    assert "Not resampled: effective." in found.sentence
    assert {one.same_rank for one in found.teams} == {1.0}


def test_before_the_salt_is_revealed_nothing_is_drawn() -> None:
    assert stability_of(fold(three_teams().entries), "final") is None


def test_everybody_is_as_likely_as_another_to_be_drawn() -> None:
    """10 customers, 2,000 draws: each 2,000 times in all, give or take four standard deviations (170)."""
    drawn = np.concatenate(list(drawn_weights(3, 10, 2000)))
    assert drawn.shape == (2000, 10)
    assert np.all(drawn.sum(axis=1) == 10)
    assert np.all(np.abs(drawn.sum(axis=0) - 2000) < 170)


@pytest.mark.parametrize("name", ["pwscup2018", "pwscup2017", "pwscup2016", "custom"])
def test_everybody_drawn_once_gives_what_the_judge_gave(name: str, tmp_path: Path) -> None:
    """Half of the customers are named rightly, the others one for another: the log's own values come back."""
    case = made(name, tmp_path)
    pairs = pairs_of(case)
    customers = sorted({pair[1] for pair in pairs})
    wrong = dict(zip(customers[::2], [*customers[2::2], customers[0]], strict=True))
    judged = guessed(case, [(pair[0], wrong.get(pair[1], pair[1]), *pair[2:]) for pair in pairs])
    said = ByCustomer.of(judged["by_customer"])
    assert said.named.sum() == judged["tried"]["named"]
    assert said.right.sum() == judged["tried"]["right"] > 0
    assert (said.right > 0).sum() == judged["tried"]["customers"]
    for key, (measure, _part) in case.rulebook.of_guess().items():
        once = resampled_values(measure, [said], np.ones((1, len(said.named))), 12)
        assert once[0, 0] == pytest.approx(judged["values"][key])
