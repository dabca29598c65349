"""UM equals the judges' of 2017 for every attack and knowledge; MM and EMM by hand and by their identities."""

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pwscup2017
from tests.pwscup2017 import VECTORS, history, released

import noren
from noren.data.contest_files import read_guess
from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.release import Release, Statement
from noren.errors import ParameterError
from noren.measures import measures
from noren.measures.safety.matching import UNLISTED, matched
from noren.protocols import Evidence, Guess, Score

NAMES = ("um", "mm", "emm")


def guess(*cells: str, name: str = "hand") -> Guess:
    """Return a guess written as ``pseudonym customer period``."""
    columns = ["pseudonym", "customer", "period"]
    return Guess(name, pl.DataFrame([c.split() for c in cells], schema=dict.fromkeys(columns, pl.String), orient="row"))


def judged(original: History, release: Release, *guesses: Guess) -> dict[str, Score]:
    return {name: noren.measure(original, release, name, guesses=guesses) for name in NAMES}


def values(original: History, release: Release, *guesses: Guess) -> tuple[float, ...]:
    return tuple(score.value for score in judged(original, release, *guesses).values())


# --- the judges' values ------------------------------------------------------------------------------------


def official_guess(shared: Path, name: str, file: str, label: str) -> Guess:
    found = read_guess(shared / "oracles" / file, pwscup2017.rows(shared, name, "T"))
    return Guess(label, found.pairs, {UNLISTED: found.unlisted})


@pytest.mark.parametrize("name", VECTORS)
def test_um_is_the_judges(name: str, shared: Path) -> None:
    expected = pwscup2017.expected(shared, name)
    files = {
        f"{attack}.{knowledge}": (answer["Fh"], answer["UM"])
        for attack, answers in expected["UM"].items()
        for knowledge, answer in answers.items()
    } | {case["id"]: (case["file"], case["UM"]) for case in expected.get("UM_cases", {}).get("cases", [])}
    assert len(files) == {"noise_light": 30, "micro": 6}.get(name, 24)
    # their program cuts a character off a file without a last line end; this one reads it
    cut = files.pop("no_final_newline", None)
    guesses = [official_guess(shared, name, file, label) for label, (file, _um) in files.items()]
    original, release = pwscup2017.rows(shared, name, "T"), pwscup2017.release(shared, name)
    um = noren.measure(original, release, "um", guesses=guesses)
    assert um.parts == {label: value for label, (_file, value) in files.items()}
    assert um.value == max(um.parts.values())
    assert um.notes["customers"] == 500
    assert um.notes.get("refused", {}) == ({"customer_missing": 1} if name == "noise_light" else {})
    if cut is not None:
        whole = official_guess(shared, name, cut[0], "whole")
        customer, *_months, last = pwscup2017.official(shared, cut[0]).decode().splitlines()[-1].split(",")
        assert last == "DEL"
        rest = pl.DataFrame({"pseudonym": ["DE"], "customer": [customer], "period": ["2011/11"], "score": [1.0]})
        as_they_read = Guess("cut", pl.concat([whole.pairs, rest]))
        assert noren.measure(original, release, "um", guesses=[whole]).value == 1.0
        assert noren.measure(original, release, "um", guesses=[as_they_read]).value == cut[1]


@pytest.mark.parametrize("name", VECTORS)
def test_the_table_f_is_the_judges(name: str, shared: Path) -> None:
    """F itself as a guess gets everything right, and what it leaves empty is all that is empty."""
    file = pwscup2017.index(shared)[name]["files"]["F"]
    original, release = pwscup2017.rows(shared, name, "T"), pwscup2017.release(shared, name)
    truth = official_guess(shared, name, file, "F")
    assert values(original, release, truth) == (1.0, 1.0, 1.0)
    tables = matched(Evidence(original, release, {"F": truth}))
    assert tables.live.sum() == len(truth.pairs)
    all_empty = sum(not row.any() for row in tables.live)
    assert all_empty == pwscup2017.expected(shared, name)["F_rows_all_DEL"]


# --- by hand -----------------------------------------------------------------------------------------------

ORIGINAL = history("ann 1/5 a 1 1", "bob 1/6 a 1 1", "cem 1/7 a 1 1", "ann 2/5 a 1 1", "bob 2/6 a 1 1", "ann 3/5 a 1 1")
RELEASE = released(
    ORIGINAL, "p1 1/5 a 1 1", "q1 1/6 a 1 1", "r1 1/7 a 1 1", "p2 2/5 a 1 1", "q2 2/6 a 1 1", "p3 3/5 a 1 1"
)
"""Six pseudonyms: ann has three, bob two, cem one."""


def test_the_worked_example() -> None:
    one = guess("p1 ann 2011/1", "q1 bob 2011/1", "p2 ann 2011/2", "p3 ann 2011/3", "r1 cem 2011/2")
    scores = judged(ORIGINAL, RELEASE, one)
    # ann has everything right; bob lacks February, cem January, and cem has none in February
    assert scores["um"].value == 1 / 3
    # match 6 of 9 (four live, bob's and cem's March), del 3: (6 - 3)/(9 - 3)
    assert scores["mm"].value == 3 / 6
    # after January 2/3; after February (3 - 1)/5; at the end 3/6
    assert scores["emm"].notes["curve"]["hand"] == pytest.approx([2 / 3, 2 / 5, 3 / 6])
    assert (scores["emm"].value, scores["emm"].notes["at"]) == (pytest.approx(2 / 3), "2011/1")  # type: ignore[comparison-overlap]
    assert scores["mm"].notes["by_period"]["hand"] == pytest.approx([2 / 3, 0.0, 1.0])
    assert scores["mm"].notes["pseudonyms"] == 6
    windows = scores["emm"].notes["windows"]["hand"]
    assert [(w["from"], w["to"]) for w in windows] == [
        ("2011/3", "2011/3"), ("2011/1", "2011/2"), ("2011/1", "2011/3"),
    ]  # fmt: skip
    assert [w["value"] for w in windows] == pytest.approx([1.0, 2 / 5, 3 / 6])
    assert scores["emm"].notes["worst_window"]["hand"] == {"from": "2011/3", "to": "2011/3", "value": 1.0}


def test_the_best_attack_counts_and_each_is_a_part() -> None:
    good = guess("p1 ann 2011/1", "p2 ann 2011/2", "p3 ann 2011/3", name="good")
    wrong = guess("p1 bob 2011/1", "p2 bob 2011/2", name="wrong")
    scores = judged(ORIGINAL, RELEASE, wrong, good)
    assert scores["um"].parts == {"good": 1 / 3, "wrong": 0.0}
    assert scores["mm"].parts == {"good": 3 / 6, "wrong": 0.0}
    assert {score.notes["best"] for score in scores.values()} == {"good"}


def test_chance_draws_from_the_pseudonyms_of_each_period() -> None:
    scores = judged(ORIGINAL, RELEASE, guess("p1 ann 2011/1"))
    # January 3 of 3 cells each 1/3, February 2 of 2 each 1/2, March surely: 3 hits of 6 in the mean
    assert scores["mm"].notes["chance"] == pytest.approx(3 / 6)
    # after one release 1/3, after two 2/5, after three 3/6
    assert scores["emm"].notes["chance"] == pytest.approx(3 / 6)
    # ann 1/3·1/2·1, bob 1/3·1/2, cem 1/3
    assert scores["um"].notes["chance"] == pytest.approx((1 / 6 + 1 / 6 + 1 / 3) / 3)


def test_a_customer_without_a_row_counts_where_nobody_takes_her_for_somebody() -> None:
    listed = replace(ORIGINAL, master=pl.DataFrame({"customer": ["ann", "bob", "cem", "dee"]}))
    nothing, wrong = guess(name="nothing"), guess("r1 dee 2011/1", name="wrong")
    assert judged(listed, RELEASE, nothing)["um"].value == 1 / 4
    assert judged(listed, RELEASE, nothing, wrong)["um"].parts == {"nothing": 1 / 4, "wrong": 0.0}
    # dee is in no cell of MM: what is not live is not counted, but naming her costs a hit
    both = guess("p1 ann 2011/1", "q1 bob 2011/1", "r1 dee 2011/1")
    assert judged(listed, RELEASE, both)["mm"].value == 1 / 6


def test_the_pseudonym_that_was_new_last_counts() -> None:
    original = history("ann 1/1 a 1 1", "ann 1/2 a 1 1", "ann 1/3 a 1 1")
    release = released(original, "A 1/1 a 1 1", "B 1/2 a 1 1", "A 1/3 a 1 1")
    assert values(original, release, guess("B ann 2011/1")) == (1.0, 1.0, 1.0)
    assert values(original, release, guess("A ann 2011/1")) == (0.0, 0.0, 0.0)


def test_the_first_and_surest_word_counts() -> None:
    assert values(ORIGINAL, RELEASE, guess("p3 ann 2011/3", "q2 ann 2011/3"))[1] == 1 / 6
    assert values(ORIGINAL, RELEASE, guess("q2 ann 2011/3", "p3 ann 2011/3"))[1] == 0


def test_one_pseudonym_for_two_customers_of_a_month() -> None:
    """Against the contest's rules, and in the judges' small vector: both are found under it."""
    original = history("ann 1/1 a 1 1", "bob 1/2 a 1 1")
    release = released(original, "P 1/1 a 1 1", "P 1/2 a 1 1")
    assert values(original, release, guess("P ann 2011/1", "P bob 2011/1")) == (1.0, 1.0, 1.0)
    assert values(original, release, guess("P ann 2011/1")) == (0.5, 0.5, 0.5)


# --- releases of other kinds -------------------------------------------------------------------------------


def test_pseudonyms_that_stay_are_judged_month_by_month() -> None:
    renamed = ORIGINAL.frame.with_columns(pl.col("customer").replace_strict(["ann", "bob", "cem"], ["p", "q", "r"]))
    release = Release.of_aligned(ORIGINAL, History(renamed, ORIGINAL.schema), Statement("hand"))
    pairs = Guess("pairs", pl.DataFrame({"pseudonym": ["p", "q"], "customer": ["ann", "cem"]}))
    scores = judged(ORIGINAL, release, pairs)
    # ann in three months of six cells; q stands in January and February, where cem has another and none
    assert scores["um"].value == 1 / 3
    assert scores["mm"].value == 2 / 6
    assert scores["emm"].notes["curve"]["pairs"] == pytest.approx([1 / 3, 1 / 5, 2 / 6])
    # one draw of three pseudonyms decides all months of a customer
    assert scores["um"].notes["chance"] == pytest.approx(1 / 3)
    monthly = guess("p ann 2011/1", "p ann 2011/2", "p ann 2011/3")
    assert values(ORIGINAL, release, monthly) == (1 / 3, 3 / 6, 3 / 6)


def test_weeks_and_a_guess_about_months() -> None:
    original = history("ann 1/3 a 1 1", "ann 1/10 a 2 2", "bob 1/3 a 1 3")
    aligned = history("p 1/3 a 1 1", "q 1/10 a 2 2", "r 1/3 a 1 3")
    release = Release.of_aligned(original, aligned, Statement("hand"), periods=periods_of(original["date"], "week"))
    weekly = noren.attack(original, release, "s1", period="week")
    assert values(original, release, weekly) == (1.0, 1.0, 1.0)
    assert judged(original, release, weekly)["emm"].notes["periods"] == ["2011/W1", "2011/W2"]
    # months name one of ann's two pseudonyms: it is known whose it is, and in which week it stands
    monthly = noren.attack(original, release, "s1")
    assert monthly.pairs["period"].unique().to_list() == ["2011/1"]
    assert values(original, release, monthly) == (1 / 2, 2 / 3, 2 / 3)


@pytest.mark.parametrize(
    "parameters", [{"period": "week"}, {"period": "custom", "starts": ["2010-12-01", "2011-03-01"]}], ids=str
)
def test_an_attack_knows_the_periods_that_the_release_tells(small: History, parameters: dict) -> None:
    release = noren.protect(small, "monthly-pseudonyms", seed=1, **parameters)
    found = noren.attack(small, release, "s6")
    assert noren.measure(small, release, "mm", guesses=[found]).value > 0.9
    chained = noren.protect(
        small, [{"method": "thin", "share": 0.1}, {"method": "monthly-pseudonyms"} | parameters], seed=1
    )
    assert noren.measure(small, chained, "mm", guesses=[noren.attack(small, chained, "s6")]).value > 0.8
    told = noren.attack(small, release, "s6", period="quarter")
    assert set(told.pairs["period"].str.contains("Q")) == {True}


# --- identities --------------------------------------------------------------------------------------------

CELLS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 4), st.sampled_from(["none", "right", "wrong"])), max_size=12
)


@given(CELLS, CELLS)
def test_identities(held: list, named: list) -> None:
    rows = sorted({(month, who) for who, month, _word in held} | {(1, "a")})
    original = history(*(f"{who} {month}/1 x 1 1" for month, who in rows))
    release = released(original, *(f"{who}{month} {month}/1 x 1 1" for month, who in rows))
    cells = [f"{who}{month}" if word == "right" else "z" for who, month, word in named]
    people = set(original.customers)
    given_cells = [
        f"{cell} {who} 2011/{month}"
        for cell, (who, month, word) in zip(cells, named, strict=True)
        if word != "none" and who in people
    ]
    um, mm, emm = judged(original, release, guess(*given_cells)).values()
    assert 0 <= mm.value <= emm.value <= 1
    assert um.value <= 1
    curve = emm.notes["curve"]["hand"]
    assert curve[-1] == mm.value
    assert max(curve) == emm.value
    assert emm.notes["worst_window"]["hand"]["value"] >= emm.value
    assert emm.notes["worst_window"]["hand"]["value"] == pytest.approx(max(mm.notes["by_period"]["hand"]), rel=1e-12)
    # the truth is worth 1, silence 0
    assert values(original, release, Guess("truth", release.secret.pseudonyms)) == (1.0, 1.0, 1.0)
    assert values(original, release, guess())[1:] == (0.0, 0.0)


# --- bad input ---------------------------------------------------------------------------------------------


def test_an_empty_release() -> None:
    release = released(ORIGINAL, *["-"] * 6)
    # nobody is live: who names nobody has every empty cell right, and nothing to find
    assert values(ORIGINAL, release, guess()) == (1.0, 0.0, 0.0)
    assert values(ORIGINAL, release, guess("p1 ann 2011/1")) == (2 / 3, 0.0, 0.0)


def test_a_month_whose_rows_are_all_deleted_is_a_period_too() -> None:
    release = released(ORIGINAL, "p1 1/5 a 1 1", "q1 1/6 a 1 1", "r1 1/7 a 1 1", "-", "-", "p3 3/5 a 1 1")
    scores = judged(ORIGINAL, release, guess("p1 ann 2011/1", "p3 ann 2011/3"))
    assert scores["emm"].notes["periods"] == ["2011/1", "2011/2", "2011/3"]
    assert scores["emm"].notes["curve"]["hand"] == pytest.approx([1 / 3, 1 / 3, 2 / 4])
    assert scores["um"].value == 1 / 3
    # naming somebody there is a false alarm
    alarm = judged(ORIGINAL, release, guess("p1 ann 2011/1", "p2 ann 2011/2", "p3 ann 2011/3"))
    assert (alarm["um"].value, alarm["mm"].value) == (0.0, 1 / 4)


def test_a_file_that_leaves_customers_out_is_refused_by_um_alone() -> None:
    cells = "p1 ann 2011/1", "p2 ann 2011/2", "p3 ann 2011/3"
    short = replace(guess(*cells, name="short"), notes={UNLISTED: ("bob", "cem")})
    scores = judged(ORIGINAL, RELEASE, short)
    assert (scores["um"].value, scores["um"].notes["refused"]) == (0.0, {"short": 2})
    assert scores["mm"].value == 3 / 6


def test_a_customer_whom_nobody_knows() -> None:
    with pytest.raises(ParameterError, match="the guess hand names the customer zoe, who is not in the original"):
        judged(ORIGINAL, RELEASE, guess("p1 zoe 2011/1"))


def test_a_customer_who_is_not_in_the_master() -> None:
    listed = replace(ORIGINAL, master=pl.DataFrame({"customer": ["ann", "cem"]}))
    with pytest.raises(ParameterError, match="are missing from the master, the first is bob"):
        judged(listed, RELEASE, guess("p1 ann 2011/1"))


def test_what_they_need() -> None:
    for name in NAMES:
        measure = measures[name]
        assert measure.needs == {"original", "secret", "guess"}
        assert (measure.goal, measure.bounds) == ("lower", (0.0, 1.0))
        with pytest.raises(ParameterError, match="there is no guess"):
            noren.measure(ORIGINAL, RELEASE, name)
