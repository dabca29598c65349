"""Linkage: one pseudonym each, rows that changed hands, pseudonyms that come back, habits."""

from pathlib import Path

import polars as pl
import pytest
from tests.attacks.period_releases import (
    best_simple,
    contest,
    history,
    noisy,
    nothing,
    regulars,
    right_share,
    score,
    shop,
    swapped,
)

from noren.api import attack, protect
from noren.attacks import attacks
from noren.attacks.linkage import Linkage
from noren.attacks.profile import Period, Scores, Solution, solve
from noren.data.frames import History
from noren.errors import ParameterError
from noren.methods.generalize_by_count import GeneralizeByCount


def named(pairs: pl.DataFrame) -> set[tuple[str, ...]]:
    return set(pairs.select("pseudonym", "customer", "period").rows())


def test_noise_is_beaten() -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "linkage")
    assert score(data, release, guess) > max(0.95, best_simple(data, release) + 0.3)
    assert guess.pairs["score"].mean() == pytest.approx(right_share(guess, release), abs=0.03)
    assert guess.pairs["score"].is_sorted(descending=True)
    assert guess.pairs.select("customer", "period").is_duplicated().sum() == 0
    assert guess.pairs.select("pseudonym", "period").is_duplicated().sum() == 0


def test_partial_knowledge_is_enough() -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "linkage", knowledge=0.25, item_prefix=2)
    alone = attack(data, release, "profile", knowledge=0.25, item_prefix=2)
    assert score(data, release, guess, "mm") > score(data, release, alone, "mm") + 0.03


def test_rows_that_changed_hands_are_seen_through() -> None:
    data, release = shop(), swapped()
    guess = attack(data, release, "linkage")
    misled = attack(data, release, "profile")
    assert guess.notes["own_rows"] < 0.7
    assert score(data, release, guess) > best_simple(data, release) + 0.1
    assert score(data, release, guess, "mm") > score(data, release, misled, "mm") + 0.3
    assert attack(data, noisy(), "linkage").notes["own_rows"] > 0.95


def test_a_pseudonym_that_comes_back_gathers_its_months() -> None:
    steps = [{"method": "thin", "share": 0.9}, {"method": "perturb", "days": 31, "price": 1.0, "packs": 5}]
    release = protect(shop(), steps, seed=1)
    together, apart = (
        attack(shop(), release, "linkage", rounds=rounds, knowledge=0.5, item_prefix=3) for rounds in (1, 0)
    )
    assert together.notes["pseudonyms_come_back"]
    assert not apart.notes["pseudonyms_come_back"]
    assert score(shop(), release, together, "mm") > score(shop(), release, apart, "mm") + 0.1


def test_pseudonyms_used_for_others_later_are_not_taken_for_the_same() -> None:
    data, shown = regulars(2)
    number = shown.frame["customer"].str.slice(2).cast(pl.Int64)
    later = shown.frame["date"].dt.month() == 2
    # in the second month everybody bears the name that another had in the first
    reused = ((number + later.cast(pl.Int64)) % 12).cast(pl.String)
    guess = Linkage().attack(data, History(shown.frame.with_columns(customer=reused), shown.schema), seed=1)
    assert not guess.notes["pseudonyms_come_back"]
    right = {(str((c + month - 1) % 12), f"c{c:02}", f"2011/{month}") for c in range(12) for month in (1, 2)}
    assert named(guess.pairs) == right


def test_habits_find_whom_nothing_is_known_of() -> None:
    data, shown = regulars(4)
    # of the last month, one customer in two is not known at all
    hidden = (data.frame["date"].dt.month() == 4) & data.frame["customer"].is_in(["c00", "c02", "c04", "c06", "c08"])
    known = data.take((~hidden).arg_true())
    right = {(f"{month}-{c:02}", f"c{c:02}", f"2011/{month}") for c in range(12) for month in range(1, 5)}
    linked, alone = (Linkage(rounds=rounds).attack(known, shown, seed=1) for rounds in (2, 0))
    assert named(linked.pairs) == right
    assert len(right - named(alone.pairs)) == 5


def test_nobody_is_named_where_all_is_known() -> None:
    data, shown = regulars(3)
    gone = (data.frame["date"].dt.month() == 2) & (data.frame["customer"] == "c03")
    missing = (shown.frame["date"].dt.month() == 2) & (shown.frame["customer"] == "2-03")
    guess = Linkage().attack(data.take((~gone).arg_true()), shown.take((~missing).arg_true()), seed=1)
    assert guess.pairs.filter(customer="c03")["period"].sort().to_list() == ["2011/1", "2011/3"]
    assert len(guess) == 35


def test_the_same_answer_every_time() -> None:
    data, release = shop(), noisy()
    one, again = (attack(data, release, "linkage", seed=seed) for seed in (1, 2))
    assert one.pairs.equals(again.pairs)
    assert one.notes == again.notes


def test_progress_rises_to_its_end() -> None:
    told: list[float] = []
    attack(shop(), noisy(), "linkage", progress=lambda done, words="", best=None: told.append(done))
    assert told == sorted(told)
    assert told[0] == 0
    assert 0.8 < told[-1] <= 1


def test_intervals_that_tell_no_month_are_solved_as_a_whole(small: History) -> None:
    release = GeneralizeByCount(k=2).protect(small, seed=1)
    guess = attack(small, release, "linkage")
    assert "period" not in guess.pairs.columns
    assert guess.pairs["customer"].n_unique() == len(guess)


def test_rows_that_say_nothing() -> None:
    known = history("ann 2010/12/1 tea 1 1", "bob 2011/1/1 egg 1 1")
    assert len(Linkage().attack(known, nothing(), seed=1)) == 0
    assert len(Linkage().attack(nothing(), history("7 2010/12/1 tea 1 1"), seed=1)) == 0
    # nothing in common: the one pseudonym of December is that of its one customer all the same
    other = Linkage().attack(known, history("7 2010/12/1 jam 1 1", "8 2011/2/1 tea 1 1"), seed=1)
    assert named(other.pairs) == {("7", "ann", "2010/12")}
    one = Linkage().attack(known.take(pl.Series([0])), history("7 2010/12/9 tea 1 1", "8 2010/12/1 egg 1 1"), seed=1)
    assert ("7", "ann", "2010/12") in named(one.pairs)


def test_parameters() -> None:
    with pytest.raises(ParameterError, match="rounds"):
        attacks.create("linkage", rounds=-1)
    assert isinstance(attacks.create("linkage", rounds=0, period="week"), Linkage)


def test_what_no_table_can_hold_is_solved_from_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    data, release = shop(), noisy()
    whole = attack(data, release, "linkage", rounds=0)
    monkeypatch.setattr("noren.attacks.profile._MOST_CELLS", 0)
    listed = attack(data, release, "linkage", rounds=0)
    assert right_share(listed, release) > 0.9
    assert len(listed) == pytest.approx(len(whole), abs=0.05 * len(whole))


def test_naming_pays_only_where_it_is_likelier_than_that_there_is_no_pseudonym() -> None:
    import numpy as np

    # one pseudonym, three customers, nothing speaks for any: one in three that it is the first, two that she has none
    solution = Solution.empty(1)
    period = Period(0, 1, np.array([0, 1, 2]), np.array([1]), np.array([1, 1, 1]))
    scores = Scores(np.array([0, 0]), np.zeros(0, np.int64), np.zeros(0), np.zeros(1))
    solve(solution, period, scores, np.zeros((1, 3)))
    assert solution.trust[0] == pytest.approx(1 / 3)
    assert not solution.pays[0]
    # e² to 1 to 1
    solve(solution, period, scores, np.array([[2.0, 0.0, 0.0]]))
    assert solution.person[0] == 0
    assert solution.trust[0] == pytest.approx(np.exp(2) / (np.exp(2) + 2))
    assert solution.pays[0]


@pytest.mark.slow
@pytest.mark.parametrize("vector", ["noise_light", "noise_strong"])
def test_the_contest_of_2017(shared: Path, vector: str) -> None:
    data, half, release = contest(shared, vector)
    assert score(data, release, attack(data, release, "linkage")) > max(0.99, best_simple(data, release))
    assert score(data, release, attack(data, release, "linkage", known=half)) > max(
        0.95, best_simple(data, release, half)
    )
