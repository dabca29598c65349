"""Unicity: five customers by hand, brute force over all subsets, releases, blanks, and what cannot be asked."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.inference.unicity import numbers_of, unicity

CONTEST = Schema.preset("pwscup2018")


def history(bought: dict[str, str], days: dict[str, str] | None = None) -> History:
    """Each customer's items, one letter each; a day for all, or one for each letter."""
    rows = [(who, (days or {}).get(item, "2010/12/1"), item) for who, items in bought.items() for item in items]
    who, day, item = zip(*rows, strict=True)
    return History.of(
        {"customer": who, "date": day, "item": item, "price": [1.0] * len(rows), "quantity": [1] * len(rows)}, CONTEST
    )


def in_release(*given: Any, **words: Any) -> Any:
    """The steps of the release."""
    found = unicity(*given, **words).release
    assert found is not None
    return found.steps


FIVE = {"ann": "abc", "bob": "ab", "cid": "ab", "dan": "d", "eve": "abcaa"}


def by_all_subsets(bought: dict[str, str], p: int) -> float:
    """The expected unicity: over customers with p different items, over all subsets of p of them."""
    sets = [set(items) for items in bought.values()]
    shares = [
        np.mean([sum(set(some) <= other for other in sets) == 1 for some in combinations(sorted(own), p)])
        for own in sets
        if len(own) >= p
    ]
    return float(np.mean(shares))


def test_five_customers_by_hand() -> None:
    """Dan alone has d. Ann and Eve have the same three things, Eve one of them thrice: nobody tells them apart."""
    steps = {step.known: step for step in unicity(history(FIVE), known="1-3").original.steps}
    assert [(p, step.tried, step.unique) for p, step in steps.items()] == [(1, 5, 0.2), (2, 4, 0.0), (3, 2, 0.0)]
    assert (steps[3].candidates, steps[3].median) == (2.0, 2.0)
    # Clopper and Pearson of 1 in 5
    assert (steps[1].low, steps[1].high) == pytest.approx((0.00505, 0.71642), abs=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_the_mean_over_seeds_is_the_mean_over_all_subsets(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bought = {f"c{who}": "".join(rng.choice(list("abcdefg"), size=rng.integers(1, 7))) for who in range(14)}
    data = history(bought)
    runs = [unicity(data, known="1-4", sample=None, seed=s).original.steps for s in range(300)]
    for at, p in enumerate((1, 2, 3, 4)):
        found = [steps[at].unique for steps in runs]
        expected = by_all_subsets(bought, p)
        assert np.mean(found) == pytest.approx(expected, abs=4 * np.std(found) / 300**0.5 + 1e-9)


def test_a_sample_is_unbiased_and_its_interval_holds_the_truth() -> None:
    rng = np.random.default_rng(5)
    bought = {f"c{who}": "".join(rng.choice(list("abcdefgh"), size=6)) for who in range(40)}
    data, expected = history(bought), by_all_subsets(bought, 3)
    runs = [unicity(data, known=[3], sample=15, seed=s).original.steps[0] for s in range(200)]
    found = [step.unique for step in runs]
    assert np.mean(found) == pytest.approx(expected, abs=4 * np.std(found) / 200**0.5)
    assert np.mean([step.low <= expected <= step.high for step in runs]) >= 0.95


def test_more_knowledge_never_singles_out_fewer_of_the_same_customers() -> None:
    rng = np.random.default_rng(2)
    data = history({f"c{who}": "".join(rng.permutation(list("abcdefghijkl"))[:8]) for who in range(60)})
    steps = unicity(data, known="1-8").original.steps
    assert {step.tried for step in steps} == {60}
    assert [step.unique for step in steps] == sorted(step.unique for step in steps)
    assert [step.candidates for step in steps] == sorted((step.candidates for step in steps), reverse=True)
    assert steps[0].unique == 0 < steps[-1].unique


def test_the_same_seed_draws_the_same() -> None:
    data = noren.sample(customers=80, rows=900, items=60, seed=1, schema="pwscup2018")
    one, again, other = (unicity(data, sample=30, seed=seed).as_dict() for seed in (1, 1, 2))
    assert one == again
    assert one["curve"] != other["curve"]


def test_known_less_exactly() -> None:
    """Ann bought on Monday, Bob on Tuesday of one week; Cid a month later."""
    days = {"a": "2011/1/3", "b": "2011/1/4", "c": "2011/2/8"}
    data = history({"ann": "a", "bob": "b", "cid": "c"}, days)
    shares = [
        unicity(data, columns=["date"], known=[1], date=word).original.steps[0].unique
        for word in ("day", "week", "month", "year")
    ]
    assert shares == [1.0, 1 / 3, 1 / 3, 0.0]


def test_a_blank_is_a_value_and_a_row_of_blanks_is_nothing() -> None:
    schema = Schema.of(
        {"columns": {"c": {"role": "customer", "optional": True}, "item": {"role": "item", "optional": True},
                     "price": {"role": "price", "optional": True}}}
    )  # fmt: skip
    rows = {
        "c": ["ann", "ann", "bob", "bob", None, "cid"],
        "item": ["a", None, "a", None, "a", None],
        "price": [1.0, None, 1.0, 2.0, 1.0, None],
    }
    found = unicity(History.of(rows, schema), columns=["item", "price"], known="1-2")
    # cid has nothing that could be known; ann one point, bob that one and (blank, 2)
    assert (found.customers, found.most) == (2, 2)
    assert [(step.tried, step.unique) for step in found.original.steps] == [
        (2, found.original.steps[0].unique),
        (1, 1.0),
    ]


# --- releases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [{}, {"date": "month", "price": "round:5"}, {"columns": ["price", "quantity"]}])
def test_bare_pseudonyms_leave_everybody_as_unique_as_before(words: dict[str, Any]) -> None:
    data = noren.sample(customers=50, rows=600, items=40, seed=3, schema="pwscup2018")
    found = unicity(data, noren.protect(data, "pseudonymize", seed=1), known="1-5", **words)
    assert found.release is not None
    for before, after in zip(found.original.steps, found.release.steps, strict=True):
        assert (after.unique, after.right, after.none) == (before.unique, before.unique, 0.0)
        assert after.candidates == before.candidates


@pytest.mark.parametrize("method", ["generalize-by-count", "generalize"])
@pytest.mark.parametrize("words", [{}, {"date": "week", "item": "prefix:2"}])
def test_classes_of_two_leave_nobody_alone(method: str, words: dict[str, Any]) -> None:
    data = noren.sample(customers=30, rows=400, items=40, seed=3, schema="pwscup2018")
    found = unicity(data, noren.protect(data, method, k=2, seed=1), known="1-6", **words)
    assert found.release is not None
    assert any(step.unique > 0.9 for step in found.original.steps)
    assert all(step.unique == 0 and step.right == 0 for step in found.release.steps)


def released(rows: dict[str, Any], original: History) -> Release:
    return Release.of_aligned(original, History.of_release(rows, CONTEST), Statement("by hand"))


def test_a_release_by_hand() -> None:
    """Ann a cup and a lamp, Bob a cup. The lamp's row says {lamp, pan}, and one of Bob's is suppressed."""
    original = history({"ann": "cl", "bob": "c"})
    common = {"date": ["[2010/12/1;2010/12/5]"] * 3, "price": ["1"] * 3, "quantity": ["1"] * 3}
    sets = released({"customer": ["7", "7", "8"], "item": ["c", "{l;p}", "c"], **common}, original)
    first, second = in_release(original, sets, known="1-2", date="week")
    assert (second.tried, second.unique, second.right) == (1, 1.0, 1.0)
    blank = released({"customer": ["7", "7", "8"], "item": ["c", "{l;p}", "*"], **common}, original)
    (step,) = in_release(original, blank, known=[2])
    assert (step.unique, step.candidates, step.none) == (0.0, 2.0, 0.0)
    wrong = released({"customer": ["7", "7", "8"], "item": ["p", "p", "c"], **common}, original)
    (step,) = in_release(original, wrong, known=[2])
    assert (step.unique, step.none, step.right) == (0.0, 1.0, 0.0)
    assert first.tried == 2


def test_without_the_secret_nobody_says_who_is_right(tmp_path) -> None:
    data = history(FIVE)
    noren.protect(data, "pseudonymize", seed=1).publish(tmp_path / "public", override="a test")
    (step,) = in_release(data, tmp_path / "public", known=[1])
    assert (step.unique, step.right, step.right_low) == (0.2, None, None)


def test_a_release_in_categories_of_its_own() -> None:
    data = noren.sample(customers=30, rows=500, items=40, seed=3, schema="pwscup2018")
    groups: dict[str, list[str]] = {"even": [], "odd": []}
    for item in data["item"].unique():
        groups["even" if ord(item[-1]) % 2 else "odd"].append(item)
    column = pl.col("item").cast(pl.String)
    of_item = {item: group for group, items in groups.items() for item in items}
    bare = noren.protect(data, "pseudonymize", seed=1)
    said = History(bare.public.frame.with_columns(column.replace_strict(of_item)), CONTEST)
    release = Release(said, bare.secret, Statement("by hand", notes={"categories": groups}))
    assert [s.none for s in in_release(data, release, known="1-3")] == [0.0] * 3
    coarse = unicity(data, release, known="1-3", item="category").original
    assert [s.unique for s in in_release(data, release, known="1-3", item="category")] == [
        s.unique for s in coarse.steps
    ]
    with pytest.raises(ParameterError, match="its own categories"):
        unicity(data, release, item="prefix:2")


def test_pseudonyms_that_change_with_time_are_refused() -> None:
    data = noren.sample(customers=20, rows=300, items=40, seed=3, schema="pwscup2018")
    with pytest.raises(ParameterError, match="change over time"):
        unicity(data, noren.protect(data, "monthly-pseudonyms", seed=1))


def test_more_knowledge_never_harms_who_passes_over_what_does_not_fit() -> None:
    """Swapped rows contradict what is known, so that fewer and fewer are found by those who believe every row."""
    data = noren.sample(customers=40, rows=1_600, items=60, seed=3, schema="pwscup2018")
    steps = in_release(data, noren.protect(data, "swap", share=0.3, seed=1), known="1-8")
    assert steps[-1].right < steps[-1].forgiving
    assert all(step.right <= step.forgiving for step in steps)


# --- what cannot be asked --------------------------------------------------------------------------------------------


def test_numbers_nobody_has_are_left_out_and_said() -> None:
    found = unicity(history(FIVE), known="1-20")
    assert ([step.known for step in found.original.steps], found.most, found.beyond) == ([1, 2, 3], 3, 4)
    with pytest.raises(ParameterError, match="no customer has 7 different purchases; use at most 3"):
        unicity(history(FIVE), known=[7])


@pytest.mark.parametrize("known", ["", "0-3", "a", "3-", "5-2", [0], [1001], [], "1-9999999999"])
def test_what_is_no_number_of_purchases(known: object) -> None:
    with pytest.raises(ParameterError, match="is not a number of known purchases"):
        numbers_of(known)  # type: ignore[arg-type]


def test_one_customer_and_a_table_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least two customers with known purchases; there are 1"):
        unicity(history({"ann": "abc"}))
    with pytest.raises(SchemaError, match="unicity needs purchases"):
        unicity({"age": [31, 44], "city": ["Kyoto", "Nara"]})
    with pytest.raises(ParameterError, match="no categories are given"):
        unicity(history(FIVE), item="category")
    with pytest.raises(ParameterError, match="--item category"):
        unicity(history(FIVE), categories="nowhere.csv")


def test_columns_that_are_called_as_ours() -> None:
    schema = Schema.of({"columns": {"c": {"role": "customer"}, "who": {"role": "item"}, "point": {}}})
    rows = {"c": ["ann", "bob"], "who": ["x", "x"], "point": ["1", "2"]}
    found = unicity(History.of(rows, schema), columns=["who", "point"], known=[1])
    assert found.original.steps[0].unique == 1.0
