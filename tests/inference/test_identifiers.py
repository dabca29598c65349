"""Which columns tell people apart, and how many people are unique in a population."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.inference import singling_out as module


def schema(**roles: str) -> Schema:
    return Schema.of({"kind": "table", "columns": {name: {"role": role} for name, role in roles.items()}})


def brute(frame: pl.DataFrame, names: tuple[str, ...]) -> tuple[float, float, float]:
    rows = frame.select(names).rows()
    pairs = list(combinations(rows, 2))
    return (
        len(set(rows)) / len(rows),
        sum(one != other for one, other in pairs) / len(pairs),
        sum(rows.count(row) == 1 for row in rows) / len(rows),
    )


def test_every_set_is_counted_as_by_brute_force() -> None:
    people = sample_people(rows=40, seed=5)
    found = noren.identifiers(people, largest=3, most_per_size=1000)
    names = [c.name for c in people.schema.columns if c.role != "identifier"]
    sets = [one for size in (1, 2, 3) for one in combinations(names, size)]
    assert {one.columns for one in (*found.columns, *found.sets)} == set(sets)
    assert (found.searched, found.possible) == (len(sets), len(sets))
    for one in (*found.columns, *found.sets):
        assert (one.distinction, one.separation, one.alone) == pytest.approx(brute(people.frame, one.columns))
        assert one.low == one.high == one.separation
    alone = [one.alone for one in found.sets if len(one.columns) == 2]
    assert alone == sorted(alone, reverse=True)


def test_many_columns_are_searched_from_the_best_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SETS", 12)
    people = sample_people(rows=60, seed=5)
    every = noren.identifiers(people, largest=2, most_per_size=1)
    monkeypatch.setattr(module, "_MOST_SETS", 30)
    found = noren.identifiers(people, largest=3, most_per_size=1)
    assert every.searched < every.possible
    assert found.searched < found.possible
    assert [len(one.columns) for one in found.sets] == [2, 3]


def test_long_tables_are_judged_by_pairs_with_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    people = sample_people(rows=500, seed=5)
    exact = {one.columns: one for one in noren.identifiers(people, largest=1).columns}
    monkeypatch.setattr(module, "_MANY_ROWS", 100)
    drawn = noren.identifiers(people, largest=1, seed=3).columns
    inside = [one.low <= exact[one.columns].separation <= one.high for one in drawn]
    assert sum(inside) >= len(inside) - 2  # intervals of 95 %
    assert all(one.low < one.high and one.alone == exact[one.columns].alone for one in drawn)


def test_a_missing_value_is_a_value_of_its_own() -> None:
    found = noren.identifiers(pl.DataFrame({"town": ["a", None, None]}), schema=Schema.of(
        {"kind": "table", "columns": {"town": {"role": "quasi", "optional": True}}}))  # fmt: skip
    assert (found.columns[0].distinction, found.columns[0].alone) == pytest.approx((2 / 3, 1 / 3))


@pytest.mark.parametrize(
    ("rows", "roles", "options", "said"),
    [
        ({"a": ["x"]}, {"a": "quasi"}, {}, "the table has 1 rows; give a table of at least 2"),
        ({"a": ["x", "y"]}, {"a": "identifier"}, {}, "every column is an identifier; name"),
        ({"a": ["x", "y"]}, {"a": "quasi"}, {"largest": 9}, "largest = 9 is out of range; use 1 <= largest"),
        ({"a": ["x", "y"]}, {"a": "quasi"}, {"columns": ["b"]}, "b"),
    ],
)
def test_what_cannot_be_searched_says_why(
    rows: dict[str, list[str]], roles: dict[str, str], options: dict[str, Any], said: str
) -> None:
    with pytest.raises(noren.NorenError, match=said):
        noren.identifiers(rows, schema=schema(**roles), **options)


def test_purchases_are_refused() -> None:
    with pytest.raises(SchemaError, match="these are purchases"):
        noren.identifiers(noren.sample(customers=5, rows=30, items=5))


def test_the_rule_of_dankar_chooses() -> None:
    people = sample_people(rows=600, seed=2)
    little = noren.population(people, 600_000, columns=["age", "sex", "region"])
    assert little.chosen == "pitman"
    assert little.fraction == pytest.approx(0.001)
    assert 0 < little.share < 1
    much = noren.population(people, fraction=0.5, columns=["age", "sex", "region"])
    assert much.population == 1200
    assert much.uniques == min(much.estimates["snb"], much.estimates["zayatz"])
    rows = people.frame.select("age", "sex", "region")
    assert much.alone == rows.is_unique().sum()
    assert much.classes == rows.n_unique()


@pytest.mark.parametrize(
    ("size", "fraction", "said"),
    [
        (None, None, "give either population or fraction"),
        (100, 0.1, "give either population or fraction"),
        (None, 0.0, "fraction = 0.0 is out of range; use 0 < fraction <= 1"),
        (None, 1.5, "fraction = 1.5 is out of range"),
        (1, None, "a population of 1 is smaller than the table, which has 2 people; give"),
        (float("nan"), None, "is smaller than the table"),
    ],
)
def test_a_population_must_be_known_and_hold_the_table(size: float | None, fraction: float | None, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        noren.population({"a": ["x", "y"]}, size, fraction=fraction, schema=schema(a="quasi"))


def test_what_failed_is_named_with_its_reason() -> None:
    alone = noren.population({"a": ["x", "y", "z"]}, 30, schema=schema(a="quasi"))
    assert set(alone.failed) == {"pitman", "snb"}
    assert "every row is unique" in alone.failed["pitman"]
    threes = noren.population({"a": list("xxxyz")}, 10, schema=schema(a="quasi"))
    assert "there are no classes of two rows" in threes.failed["snb"]
    one = noren.population({"a": ["x"]}, 1, schema=schema(a="quasi"))
    assert one.share == 1.0
    with pytest.raises(ParameterError, match="no column has the role quasi; give columns role"):
        noren.population({"a": ["x"]}, 1, schema=schema(a="sensitive"))


def test_codes_are_those_of_values() -> None:
    codes, sizes = module.coded_columns(sample_people(rows=30, seed=1), ["sex", "age"])
    assert codes.shape == (2, 30)
    assert sizes[0] >= len(np.unique(codes[0]))
