"""Whose row of a table it is: by hand, by brute force, and as often as chance allows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from noren import api
from noren.attacks.row_linkage import RowLinkage
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, interval_hierarchy, write_hierarchy
from noren.data.release import Release, Secret, Statement
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.judgement.judging import verdict
from noren.measures.safety.hits import hits
from noren.protocols import Guess


def table(rows: dict[str, list[Any]], **columns: dict[str, Any]) -> Table:
    return Table.of(rows, Schema.of({"kind": "table", "columns": columns}))


QUASI = {"role": "quasi"}
WHOLE = {"role": "quasi", "type": "integer"}


def named(guess: Guess) -> set[tuple[int, int]]:
    return set(guess.pairs.select("row", "person").rows())


def copied(original: Table, seed: int = 1) -> Release:
    """Release a table as it is, its rows shuffled."""
    order = pl.Series(np.random.default_rng(seed).permutation(len(original)), dtype=pl.UInt32)
    secret = Secret(pl.DataFrame(schema={"pseudonym": pl.String, "customer": pl.String}), order, len(original))
    return Release(original.take(order), secret, Statement(method="copy", parameters={}))


def test_names_are_told_by_what_cells_say() -> None:
    original = table({"age": [23, 34, 41, 48], "town": ["Bern", "Bern", "Basel", "Genf"]}, age=WHOLE, town=QUASI)
    public = Table(
        pl.DataFrame(
            {
                "age": pl.Series([{"lo": 30, "hi": 50}, {"lo": 20, "hi": 50}, None, {"lo": 48, "hi": 48}]),
                "town": pl.Series([["Basel", "Bern"], ["Bern"], ["Basel"], ["Genf"]]),
            }
        ),
        original.schema,
    )
    # the last row is Genf's, the third Basel's; the first then is not, and the second is the Berner who is left
    guess = RowLinkage().attack(original, public, seed=1)
    assert {(4, 4), (3, 3)} <= named(guess)
    assert len({person for _row, person in named(guess)}) == len(guess)


def test_a_label_is_read_or_looked_up(tmp_path: Path) -> None:
    original = table(
        {"school": ["Bachelors", "Masters", "10th"], "zip": ["8053", "8037", "3011"]}, school=QUASI, zip=QUASI
    )
    public = table({"school": ["Higher", "Higher", "School"], "zip": ["803*", "80**", "****"]}, school=QUASI, zip=QUASI)
    assert named(RowLinkage(columns=("zip",)).attack(original, public, seed=1)) == {(1, 2), (2, 1)}
    rows = [("Bachelors", "Higher", "*"), ("Masters", "Higher", "*"), ("10th", "School", "*")]
    write_hierarchy(Hierarchy.of("school", rows), tmp_path / "school.csv")
    told = RowLinkage(columns=("school", "zip"), hierarchies=tmp_path).attack(original, public, seed=1)
    assert named(told) == {(1, 2), (2, 1), (3, 3)}


def test_everybody_who_is_unique_is_named_in_a_table_that_hides_names_alone() -> None:
    original = sample_people(rows=400, seed=3)
    release = copied(original)
    quasi = [column.name for column in original.schema.with_role("quasi")]
    unique = original.frame.select(pl.struct(quasi).is_unique().sum()).item()
    guess = api.attack(original, release, "row-linkage", seed=1)
    sure = Guess("sure", guess.pairs.filter(pl.col("score") == 1))
    assert (hits(sure, release.secret).right, len(sure)) == (unique, unique)
    assert str(verdict(original, release).status) == "broken"


def mean_and_error(method: str, seeds: range, rows: int = 300, **parameters: Any) -> tuple[float, float, int]:
    """Return the mean share of people who are named rightly over seeds, its standard error, and the classes."""
    original = sample_people(rows=rows, seed=3)
    rates = []
    for seed in seeds:
        release = api.protect(original, method, seed=seed, **parameters)
        found = hits(api.attack(original, release, "row-linkage", seed=seed), release.secret)
        rates.append(found.customers / rows)
    classes = release.statement.notes.get("classes", 0)
    return float(np.mean(rates)), float(np.std(rates, ddof=1) / np.sqrt(len(rates))), classes


def test_in_classes_one_of_each_is_named_rightly() -> None:
    mean, error, classes = mean_and_error("mondrian", range(1, 31), k=5)
    assert classes <= 60
    # one right name for each class in the mean; the classes are the same whatever the seed
    assert abs(mean - classes / 300) < norm.ppf(0.9999) * error
    assert mean < 0.2 + norm.ppf(0.9999) * error


def test_in_levels_one_of_each_class_is_named_rightly(tmp_path: Path) -> None:
    write_hierarchy(interval_hierarchy("age", range(130), [10, 30]), tmp_path / "age.csv")
    mean, error, classes = mean_and_error(
        "hierarchy", range(1, 21), k=5, quasi=("age", "sex"), hierarchies=tmp_path, suppression=0.1
    )
    assert abs(mean - classes / 300) < norm.ppf(0.9999) * error


def test_noise_is_undone_as_far_as_it_lets() -> None:
    names = ("age", "sex", "region", "education", "marital-status", "occupation", "weekly-hours")
    little, _error, _classes = mean_and_error("retention", range(1, 3), rho=0.9999, attributes=names, domains="data")
    assert little > 0.95
    nothing, error, _classes = mean_and_error("retention", range(1, 31), rho=0.0, attributes=names, domains="data")
    assert nothing < 1 / 300 + norm.ppf(0.9999) * max(error, 1e-3)


def test_the_likelihood_is_that_of_brute_force() -> None:
    """The surest name of a perturbed row has the posterior that all people, weighed one by one, give it."""
    sexes, towns = ["f", "m", "f", "f", "m", "m"], ["a", "a", "b", "c", "c", "b"]
    spec = {"sex": QUASI | {"domain": ["f", "m"]}, "town": QUASI | {"domain": ["a", "b", "c"]}}
    original = Table.of({"sex": sexes, "town": towns}, Schema.of({"kind": "table", "columns": spec}))
    release = api.protect(original, "retention", rho=0.6, seed=4)
    likely = np.ones((6, 6))
    for name, known, size in (("sex", sexes, 2), ("town", towns, 3)):
        shown = release.public.frame[name].to_numpy()
        likely *= np.where(shown[:, None] == np.array(known)[None], 0.6 + 0.4 / size, 0.4 / size)
    chance = likely / likely.sum(axis=1, keepdims=True)
    guess = api.attack(original, release, "row-linkage", seed=1)
    top = guess.pairs.row(0, named=True)
    assert top["score"] == pytest.approx(chance.max(), rel=0.005)
    for row, person, score in guess.pairs.rows():
        assert score == pytest.approx(chance[row - 1, person - 1], rel=0.005)


@pytest.mark.parametrize("people", [1, 2, 4])
def test_few_people_are_no_trouble(people: int) -> None:
    original = table({"age": list(range(20, 20 + people))}, age=WHOLE)
    release = copied(original)
    assert hits(api.attack(original, release, "row-linkage"), release.secret).right == people


def test_rows_that_say_nothing_are_left_out_and_missing_values_are_no_values() -> None:
    original = table(
        {"age": [20, None, 40], "town": ["x", None, "y"]},
        age=WHOLE | {"optional": True},
        town=QUASI | {"optional": True},
    )
    guess = RowLinkage().attack(original, original, seed=1)
    assert named(guess) == {(1, 1), (3, 3)}
    assert guess.notes["silent_rows"] == 1


def test_changed_values_go_to_who_is_nearest() -> None:
    original = table({"age": [20, 40, 60, 80], "town": ["a", "b", "c", "d"]}, age=WHOLE, town=QUASI)
    public = table({"age": [79, 21], "town": ["d", "a"]}, age=WHOLE, town=QUASI)
    assert named(RowLinkage().attack(original, public, seed=1)) == {(1, 4), (2, 1)}


def test_an_attacker_may_know_less() -> None:
    original = sample_people(rows=60, seed=3)
    release = copied(original)
    half = api.attack(original, release, "row-linkage", knowledge=0.5)
    assert len(half) == 30
    with pytest.raises(ParameterError, match=r"^salary is not a column of both .*; use one of "):
        api.attack(original, release, "row-linkage", columns=("salary",))
    with pytest.raises(ParameterError, match=r"^the knowledge has 59 rows, but the original has 60; give one row per"):
        api.attack(original, release, "row-linkage", known=original.take(pl.Series(range(59))))


def test_columns_of_role_other_are_known_unless_declared_unknown() -> None:
    rows: dict[str, list[Any]] = {
        "sex": ["f", "f", "f"],
        "town": ["a", "b", "c"],
        "shoe": [36, 37, 38],
        "illness": ["x", "y", "z"],
    }
    roles: dict[str, dict[str, Any]] = {"sex": QUASI, "town": {"role": "other", "known": False}}
    roles |= {"shoe": {"role": "other", "type": "integer"}, "illness": {"role": "sensitive"}}
    for unknown, columns, score in ((False, ["sex", "shoe"], 1.0), (True, ["sex"], 1 / 3)):
        original = table(rows, **roles | {"shoe": roles["shoe"] | {"known": not unknown}})
        guess = RowLinkage().attack(original, original, seed=1)
        assert guess.notes["columns"] == columns
        assert guess.pairs["score"].to_list() == pytest.approx([score] * 3)
