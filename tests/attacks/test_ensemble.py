"""Ensemble: who votes, what a vote weighs, and what is elected."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from tests.attacks.period_releases import best_simple, history, noisy, nothing, score, shop, swapped

from noren.api import attack, protect
from noren.attacks import attacks
from noren.attacks.ensemble import AGREEMENT, VOTE, Ballot, Ensemble, RehearsalResult, _some, rehearsal
from noren.data.compatibility import partial
from noren.data.frames import History
from noren.data.release import Secret, Statement
from noren.errors import ParameterError, UnknownNameError
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Guess

MEMBERS = ("linkage", "profile", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8")
NOBODY = pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String})


def test_the_skilled_are_found_without_the_truth() -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "ensemble", members=MEMBERS)
    skill = {name: about["skill"] for name, about in guess.notes["members"].items()}
    assert list(skill) == list(MEMBERS)
    assert {name for name, value in skill.items() if value > 0.6} == {"linkage", "profile"}
    truth = {name: score(data, release, attack(data, release, name), "mm") for name in MEMBERS}
    assert skill["s6"] == pytest.approx(truth["s6"], abs=0.15)
    linkage = score(data, release, attack(data, release, "linkage"))
    assert score(data, release, guess) > max(best_simple(data, release), linkage - 0.05)


def test_no_customer_and_no_pseudonym_is_named_twice() -> None:
    data, release = shop(), noisy()
    guess = attack(data, release, "ensemble", members=["s1", "s4", "s6", "s7", "s8", "jaccard"], rehearse=False)
    assert guess.pairs["score"].is_between(0.2, 1).all()
    assert guess.pairs["score"].is_sorted(descending=True)
    assert guess.pairs.select("customer", "period").is_duplicated().sum() == 0
    assert guess.pairs.select("pseudonym", "period").is_duplicated().sum() == 0


def test_all_that_fit_vote(small: History) -> None:
    release = GeneralizeByCount(k=2).protect(small, seed=1)
    guess = attack(small, release, "ensemble")
    everybody = set(guess.notes["members"]) | set(guess.notes["left_out"])
    assert everybody == set(attacks) - {"ensemble", "earlier-period", "recoded", "shifted"}
    assert "period" not in guess.pairs.columns
    # a date that is an interval matches none
    assert guess.notes["members"]["s1"] == {"skill": 0.0, "weight": 0.0, "answers": 0}


def test_who_refuses_is_left_out_and_who_was_asked_for_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.attacks.consistency._MOST_PAIRS", 0)
    known, shown = history("ann 2010/12/1 tea 1 1"), history("7 2010/12/1 tea 1 1")
    guess = Ensemble().attack(known, shown, seed=1)
    assert "too many" in guess.notes["left_out"]["consistency"]
    with pytest.raises(ParameterError, match="too many"):
        Ensemble(members=("consistency",)).attack(known, shown, seed=1)


def test_members_without_periods_speak_of_all_months_of_a_pseudonym() -> None:
    known = history("ann 2010/12/1 tea 1 1", "ann 2011/1/1 jam 1 1", "bob 2010/12/1 egg 1 1", "bob 2011/1/1 nut 1 1")
    names = {"ann": "7", "bob": "8"}
    shown = History(known.frame.with_columns(pl.col("customer").replace_strict(names)), known.schema)
    guess = Ensemble(members=("unique-rows", "consistency")).attack(known, shown, seed=1)
    found = sorted(guess.pairs.select("pseudonym", "customer", "period").rows())
    assert found == [(names[who], who, month) for who in ("ann", "bob") for month in ("2010/12", "2011/1")]


def test_a_pseudonym_of_another_month_does_not_count() -> None:
    # by item and price (s2) ann's december leads to a pseudonym of january
    known = history("ann 2010/12/1 tea 1 1", "bob 2010/12/1 egg 2 1")
    shown = history("7 2011/1/1 tea 1 1", "8 2010/12/1 egg 2 1")
    guess = Ensemble(members=("s2", "s1", "linkage")).attack(known, shown, seed=1)
    assert "7" not in guess.pairs["pseudonym"].to_list()
    assert guess.notes["members"]["s2"]["answers"] == 1


def test_periods_are_handed_on() -> None:
    known = history("ann 2010/12/1 tea 1 1", "bob 2010/12/8 tea 1 1")
    shown = history("7 2010/12/1 tea 1 1", "8 2010/12/8 tea 1 1")
    guess = Ensemble(members=("s1", "s8", "linkage"), period="week").attack(known, shown, seed=1)
    assert sorted(guess.pairs.select("pseudonym", "customer", "period").rows()) == [
        ("7", "ann", "2010/W48"),
        ("8", "bob", "2010/W49"),
    ]


@pytest.mark.parametrize(
    ("members", "words"),
    [(["ensemble"], "ensemble cannot be its own member; name other attacks"), (["s1", "s1"], "named twice")],
)
def test_wrong_members(members: list[str], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        attacks.create("ensemble", members=members)
    with pytest.raises(UnknownNameError, match="no 's9'"):
        attacks.create("ensemble", members=["s9"])


def test_nobody_to_vote_on() -> None:
    guess = Ensemble(members=("s1", "linkage")).attack(history("ann 2010/12/1 tea 1 1"), nothing(), seed=1)
    assert len(guess) == 0
    assert set(guess.notes["members"]) == {"s1", "linkage"}


def test_the_same_answer_every_time_and_progress() -> None:
    told: list[Any] = []
    options: dict[str, Any] = {
        "members": ["s6", "s8", "linkage"],
        "progress": lambda done, words="", best=None: told.append(done),
    }
    one, again = (attack(shop(), noisy(), "ensemble", seed=3, **options) for _run in range(2))
    assert one.pairs.equals(again.pairs)
    half = told[: len(told) // 2]
    assert half == sorted(half)


def test_what_others_found_is_heard_and_not_found_again(small: History, monkeypatch: pytest.MonkeyPatch) -> None:
    release = protect(small, "monthly-pseudonyms", seed=1)
    members = ("s1", "s6", "s8")
    alone = attack(small, release, "ensemble", members=members, rehearse=False)
    heard = {name: attack(small, release, name) for name in members}
    for name in members:
        monkeypatch.setattr(attacks[name], "attack", None)
    told = attack(small, release, "ensemble", members=members, other_guesses=heard, rehearse=False)
    assert told.pairs.equals(alone.pairs)
    assert told.notes == alone.notes


# --- rehearsals --------------------------------------------------------------------------------------------


def test_whoever_sees_through_swapped_rows_is_followed_and_not_outvoted() -> None:
    data, release = shop(), swapped()
    members = ["linkage", "profile", "jaccard", "s1", "s6"]
    guess = attack(data, release, "ensemble", members=members)
    voted = attack(data, release, "ensemble", members=members, rehearse=False)
    linkage = score(data, release, attack(data, release, "linkage"), "mm")
    assert score(data, release, guess, "mm") > linkage - 0.02
    assert score(data, release, voted, "mm") < linkage - 0.3
    assert voted.notes["follows"] == AGREEMENT
    # known is all there is to know, so the rehearsal is as good as the release
    assert guess.notes["rehearsed"]["linkage"] == pytest.approx(linkage, abs=0.1)


def test_the_truth_is_not_looked_at() -> None:
    data, release = shop(), swapped()
    hidden = replace(release, secret=Secret.empty())
    one, other = (attack(data, shown, "ensemble", members=["s6", "s8"], seed=4) for shown in (release, hidden))
    assert one.pairs.equals(other.pairs)
    assert one.notes == other.notes


def test_a_sole_voice_that_knows_is_heard_among_noise() -> None:
    truth = pl.DataFrame({"pseudonym": [f"p{n}" for n in range(40)], "customer": [f"c{n:02}" for n in range(40)]})
    shown = truth.select("pseudonym", period=pl.lit("2010/12"))
    whole = truth.with_columns(score=1.0, period=pl.lit("2010/12"))
    said = {"s1": whole[:20]}
    said |= {name: whole.with_columns(pl.col("pseudonym").shuffle(at)) for at, name in enumerate(("s7", "jaccard"))}
    ballot = Ballot.of({name: Guess(name, pairs) for name, pairs in said.items()}, shown)
    rehearsed = RehearsalResult.of(ballot, truth)
    assert rehearsed.hit_rates["s1"] == 0.5
    assert rehearsed.hit_rates[rehearsed.best] >= 0.5
    pairs, skill, _divided = rehearsed.followed(ballot, ballot.agreed())
    assert skill.argmax() == 0
    assert pairs.join(truth, on=["pseudonym", "customer"]).height >= 20


def test_of_many_customers_some_rehearse(monkeypatch: pytest.MonkeyPatch) -> None:
    data, release = shop(), noisy()
    assert isinstance(release.public, History)
    names = release.secret.pseudonyms.select(pl.col("pseudonym", "customer").cast(pl.String))
    assert _some(data, release.public, names, 1) == (data, release.public)
    monkeypatch.setattr("noren.attacks.ensemble._MOST_REHEARSED", 40)
    for known_names in (names, names.clear()):
        known, shown = _some(data, release.public, known_names, 1)
        assert known["customer"].n_unique() == 40
        pseudonyms = shown["customer"].cast(pl.String).unique()
        if len(known_names):
            whose = names.filter(pl.col("pseudonym").is_in(pseudonyms.implode()))["customer"].unique()
            assert set(whose) <= set(known["customer"].cast(pl.String))
        # whole histories, and about as large a share of them
        assert len(shown) == release.public["customer"].cast(pl.String).is_in(pseudonyms.implode()).sum()
        assert 0.15 < len(pseudonyms) / len(names) < 0.4
    guess = attack(data, release, "ensemble", members=["s1", "s7", "linkage"])
    assert guess.notes["rehearsed"]["linkage"] > guess.notes["rehearsed"]["s1"] + 0.3
    assert guess.notes["follows"] in ("linkage", VOTE)


def test_one_member_has_nothing_to_rehearse() -> None:
    guess = attack(shop(), noisy(), "ensemble", members=["s6"])
    assert guess.notes["rehearsed"] == {}
    assert guess.notes["follows"] == AGREEMENT


@pytest.mark.parametrize("people", [["ann"], ["ann", "bob"]])
def test_rehearsals_of_one_and_of_two_customers(people: list[str]) -> None:
    data = history(*(f"{who} 2010/12/{day} i{day} 1 1" for who in people for day in (1, 2, 3)))
    release = protect(data, "monthly-pseudonyms", seed=1)
    guess = attack(data, release, "ensemble", members=["s1", "s8", "linkage"])
    assert set(guess.pairs["customer"]) <= set(people)
    assert guess.notes["rehearsed"]


def test_nothing_is_rehearsed_where_nothing_is_known() -> None:
    data = history("ann 2010/12/1 tea 1 1")
    release = protect(data, "monthly-pseudonyms", seed=1)
    guess = attack(data, release, "ensemble", members=["s1", "linkage"], known=nothing())
    assert len(guess) == 0
    assert guess.notes["rehearsed"] == {}
    assert rehearsal(nothing(), data, release.statement, NOBODY, seed=1) is None


@pytest.mark.parametrize("method", ["magic", "generalize"])
def test_what_cannot_be_run_again_or_searches_for_long_is_not_rehearsed(method: str) -> None:
    assert rehearsal(shop(), shop(), Statement(method), NOBODY, seed=1) is None


def test_a_rehearsal_is_as_the_release_is() -> None:
    data, release = shop(), swapped()
    assert isinstance(release.public, History)
    quarter = partial(data, 0.25, seed=2)
    tried = rehearsal(quarter, release.public, release.statement, NOBODY, seed=1)
    assert tried is not None
    # as many rows as were released, a quarter of them known, under other names
    known, public, truth = tried
    assert len(public) == len(release.public)
    assert len(known) == pytest.approx(len(quarter), abs=1)
    assert set(truth["pseudonym"]) == set(public["customer"])
    again = rehearsal(quarter, release.public, release.statement, NOBODY, seed=1)
    assert again is not None
    assert again[1].frame.equals(public.frame)
    other = rehearsal(quarter, release.public, release.statement, NOBODY, seed=2)
    assert other is not None
    assert not other[1].frame.equals(public.frame)


def test_the_first_characters_of_items_are_known_in_a_rehearsal_where_no_more_is() -> None:
    release = noisy()
    assert isinstance(release.public, History)
    known = partial(shop(), 0.3, seed=2, item_prefix=2)
    tried = rehearsal(known, release.public, release.statement, NOBODY, seed=1)
    assert tried is not None
    assert tried[0]["item"].str.len_chars().max() == 2
