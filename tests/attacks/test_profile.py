"""Profile: noise, partial knowledge, and how sure it is."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.attacks.period_releases import best_simple, contest, history, noisy, nothing, right_share, score, shop

from noren.api import attack
from noren.attacks import attacks
from noren.attacks.profile import Profile
from noren.data.frames import History
from noren.errors import ParameterError, SchemaError
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize

COLUMNS = {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}


def named(guess_pairs: pl.DataFrame) -> set[tuple[str, ...]]:
    return set(guess_pairs.select("pseudonym", "customer", "period").rows())


def test_each_month_is_judged_by_itself() -> None:
    known = history(
        *("ann 2010/12/1 tea 1 1", "ann 2010/12/2 jam 2 3", "bob 2010/12/1 tea 1 1", "bob 2010/12/8 egg 3 1"),
        *("ann 2011/1/1 rice 1 1", "bob 2011/1/1 nuts 1 1"),
    )
    shown = history(
        *("7 2010/12/3 jam 2.1 3", "7 2010/12/2 tea 1 1", "8 2010/12/9 egg 3.2 1", "8 2010/12/2 tea 1.1 1"),
        *("5 2011/1/3 nuts 1 1", "6 2011/1/3 rice 1 1"),
    )
    guess = Profile().attack(known, shown, seed=1)
    assert named(guess.pairs) == {
        ("7", "ann", "2010/12"),
        ("8", "bob", "2010/12"),
        ("5", "bob", "2011/1"),
        ("6", "ann", "2011/1"),
    }
    assert guess.pairs["score"].is_sorted(descending=True)
    assert guess.pairs["score"].is_between(0.5, 1).all()


def test_noise_is_no_hiding_place_and_the_score_is_a_chance() -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "profile")
    assert score(data, release, guess) > max(0.9, best_simple(data, release) + 0.3)
    assert guess.pairs["score"].mean() == pytest.approx(right_share(guess, release), abs=0.03)
    assert guess.notes["copied_share"] > 0.9
    assert guess.notes["rows_per_known_row"] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize(("share", "prefix", "least"), [(0.5, None, 0.8), (0.5, 2, 0.35), (0.25, 2, 0.2)])
def test_partial_knowledge(share: float, prefix: int | None, least: float) -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "profile", knowledge=share, item_prefix=prefix)
    assert score(data, release, guess, "mm") > least
    assert guess.pairs["score"].mean() == pytest.approx(right_share(guess, release), abs=0.12)


def test_the_surest_are_right_most_often() -> None:
    guess = attack(shop(), noisy(), "profile", knowledge=0.25, item_prefix=2)
    half = len(guess) // 2
    surest, others = (replace(guess, pairs=guess.pairs[rows]) for rows in (slice(half), slice(half, None)))
    assert right_share(surest, noisy()) > right_share(others, noisy()) + 0.2


def test_how_rows_were_changed_is_told() -> None:
    data, release = shop(), noisy()
    told = attack(data, release, "profile").notes["exact_share"]
    aligned = release.aligned()
    kept = aligned.frame.with_columns(original=data.frame["price"]).drop_nulls("price")
    assert told["price"] == pytest.approx((kept["price"] == kept["original"]).mean(), abs=0.1)
    exact = attack(data, Pseudonymize().protect(data, seed=1), "profile").notes["exact_share"]
    assert min(exact.values()) > 0.95


def test_the_same_answer_every_time() -> None:
    data, release = shop(), noisy()
    one, again = (attack(data, release, "profile", seed=seed) for seed in (1, 2))
    assert one.pairs.equals(again.pairs)
    order = pl.Series(range(len(release.public) - 1, -1, -1))
    assert isinstance(release.public, History)
    shuffled = Profile().attack(data, release.public.take(order), seed=1)
    assert named(shuffled.pairs) == named(one.pairs)


def test_intervals_that_tell_no_month_are_judged_as_a_whole(small: History) -> None:
    release = GeneralizeByCount(k=2).protect(small, seed=1)
    guess = attack(small, release, "profile")
    assert "period" not in guess.pairs.columns
    assert guess.pairs["pseudonym"].n_unique() == len(guess)
    # of two customers with one history each is as likely
    assert 0.3 < right_share(guess, release) < 0.9


def test_rows_that_say_nothing() -> None:
    known = history("ann 2010/12/1 tea 1 1", "bob 2011/1/1 egg 1 1")
    none = Profile().attack(known, nothing(), seed=1)
    assert len(none) == 0
    assert none.pairs.drop("period", strict=False).schema == COLUMNS
    assert len(Profile().attack(nothing(), history("7 2010/12/1 tea 1 1"), seed=1)) == 0
    # no item in common; a month without customers
    assert len(Profile().attack(known, history("7 2010/12/1 jam 1 1", "8 2011/2/1 tea 1 1"), seed=1)) == 0
    blank = history("7 2010/12/1 tea 1 1", "8 2010/12/1 tea 1 1")
    frame = blank.frame.with_columns(
        date=pl.Series([blank.frame["date"][0], None], dtype=blank.frame.schema["date"]),
        price=pl.lit(None, dtype=pl.Float64),
    )
    # one customer, one row that tells its month; of two rows most must
    assert len(Profile().attack(known, replace(blank, frame=frame), seed=1)) == 2
    assert named(Profile().attack(known, replace(blank, frame=frame[:1]), seed=1).pairs) == {("7", "ann", "2010/12")}


def test_bad_input() -> None:
    known = history("ann 2010/12/1 tea 1 1")
    frame = known.frame.drop("date")
    schema = known.schema.model_copy(update={"columns": tuple(c for c in known.schema.columns if c.name != "date")})
    with pytest.raises(SchemaError, match="no column 'date'; give a release of this original"):
        Profile().attack(known, History(frame, schema), seed=1)
    with pytest.raises(ParameterError, match="shortlist"):
        attacks.create("profile", shortlist=0)


def test_a_shortlist_of_one_is_enough_where_rows_are_exact() -> None:
    data = shop()
    release = Pseudonymize().protect(data, seed=1)
    assert score(data, release, attack(data, release, "profile", shortlist=1), "mm") == 1.0


def test_weeks_and_periods_of_ones_own() -> None:
    known = history("ann 2010/12/1 tea 1 1", "ann 2010/12/9 egg 1 1", "bob 2010/12/1 egg 1 1")
    shown = history("7 2010/12/2 tea 1 1", "8 2010/12/2 egg 1 1", "9 2010/12/8 egg 1 1")
    weeks = attacks.create("profile", period="week").attack(known, shown, seed=1)
    assert named(weeks.pairs) >= {("7", "ann", "2010/W48"), ("9", "ann", "2010/W49")}
    own = attacks.create("profile", period="custom", starts=["2010-12-01", "2010-12-06"])
    assert ("9", "ann", "2010/12/6") in named(own.attack(known, shown, seed=1).pairs)


def test_the_contest_of_2017(shared: Path) -> None:
    data, half, release = contest(shared, "noise_strong")
    guess = attack(data, release, "profile")
    assert score(data, release, guess) > 0.99
    assert score(data, release, attack(data, release, "profile", known=half)) > 0.95


def test_among_likely_customers_as_many_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data, release = shop(), noisy()
    whole = right_share(attack(data, release, "profile"), release)
    assert whole > 0.9
    monkeypatch.setattr("noren.attacks.profile._MOST_CELLS", 0)
    for longest in (1_024, 8):  # the second cuts most of the lists
        monkeypatch.setattr("noren.attacks.profile._LONGEST", longest)
        assert right_share(attack(data, release, "profile"), release) > whole - 0.02
