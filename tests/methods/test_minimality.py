"""What the choice of classes tells of sensitive values: brute force over every world that gives the same release."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import api
from noren.data.column_levels import column_levels
from noren.data.frames import Table
from noren.data.hierarchies import read_hierarchies
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.kernels.lattice.mondrian import classes_by_cuts
from noren.kernels.lattice.scores import DISTINCT, EACH, ENTROPY, RECURSIVE, ClassRule
from noren.kernels.lattice.search import LevelTable, suppressed
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.table_parts import SensitiveCodes
from noren.progress import silent

SCHEMA = Schema.of({"kind": "table", "columns": {"region": {"role": "quasi"}, "illness": {"role": "sensitive"}}})
SEVEN = {
    "region": ["north", "north", "south", "south", "south", "south", "south"],
    "illness": ["HIV", "HIV", "flu", "asthma", "gout", "cold", "none"],
}
ONE_COLUMN = np.zeros((0, 0), dtype=np.int64)

World = tuple[int, ...]
Classes = Sequence[int] | None
"""The class of each person, -1 of those who are not released; None where nothing is."""
Outcome = tuple[tuple[int, ...], tuple[tuple[int, int], ...]]
"""What a release shows: the classes, and of each that is shown the values."""


def worlds(values: Sequence[int]) -> list[World]:
    """Return every way to deal the values out."""
    if not values:
        return [()]
    left = {
        value: [*values[: values.index(value)], *values[values.index(value) + 1 :]] for value in sorted(set(values))
    }
    return [(value, *rest) for value, others in left.items() for rest in worlds(others)]


def by_release(every: list[World], classes_of: Callable[[World], Classes]) -> dict[Outcome, list[World]]:
    """Return the worlds that give the same release: the same classes, and in each shown one the same values."""
    same: dict[Outcome, list[World]] = defaultdict(list)
    for world in every:
        classes = classes_of(world)
        if classes is not None:
            shown = sorted((c, v) for c, v in zip(classes, world, strict=True) if c >= 0)
            same[tuple(classes), tuple(shown)].append(world)
    return same


def posterior_is_the_share(same: dict[Outcome, list[World]]) -> bool:
    """Tell whether every member of a shown class has each value with the class's share of it, exactly."""
    for (classes, shown), those in same.items():
        of_class = {c: [v for d, v in shown if d == c] for c, _value in shown}
        for person, c in enumerate(classes):
            if c < 0:
                continue
            found = Counter(world[person] for world in those)
            for value, rows in Counter(of_class[c]).items():
                if Fraction(found[value], len(those)) != Fraction(rows, len(of_class[c])):
                    return False
    return True


def levels_of(method: HierarchyMethod, table: Table) -> Callable[[World], Classes]:
    """Return the classes that a method makes of a table's quasi columns, given its sensitive values."""
    quasi, _sensitive = method.looked_at(table.schema)
    ones, there = np.ones(len(table), np.int64), pl.repeat(True, len(table), eager=True, dtype=pl.Boolean)
    assert method.hierarchies is not None
    rungs = column_levels(table, read_hierarchies(method.hierarchies, [c.name for c in quasi]), method.missing, ones)

    def classes_of(world: World) -> Classes:
        try:
            best, lost = method._best(rungs, SensitiveCodes(np.array(world), ONE_COLUMN), ones, there, silent)
        except ParameterError:
            return None
        cells = np.stack([r.ladder.maps()[level][r.codes] for r, level in zip(rungs, best.levels, strict=True)])
        numbers = np.unique(cells, axis=1, return_inverse=True)[1]
        # the levels are in the statement, so that worlds of different levels differ
        return [*np.where(lost, -1, numbers + 100 * sum(best.levels)).tolist()]

    return classes_of


@pytest.fixture
def regions(tmp_path: Path) -> Path:
    (tmp_path / "region.csv").write_text("north;*\nsouth;*\n", encoding="utf-8")
    return tmp_path


# --- the seven people of Wong et al.'s argument ----------------------------------------------------------------------


def seven_worlds() -> list[World]:
    every = worlds([0, 0, 1, 2, 3, 4, 5])
    assert len(every) == 2_520
    return every


@pytest.mark.slow
def test_the_best_levels_tell_who_has_hiv(regions: Path) -> None:
    method = HierarchyMethod(k=2, l=2, hierarchies=regions, search="arx")
    people = Table.of(SEVEN, SCHEMA)
    release = method.protect(people, seed=1)
    assert release.statement.notes["levels"] == {"region": 1}
    assert release.statement.notes["chosen_by_sensitive_values"] is True
    # one class of seven: two of them have HIV, says the page; but only these worlds give it
    same = by_release(seven_worlds(), levels_of(method, people))
    (those,) = [those for those in same.values() if (0, 0, 1, 2, 3, 4, 5) in those]
    assert len(those) == 120
    assert {world[:2] for world in those} == {(0, 0)}
    assert not posterior_is_the_share(same)


def test_levels_chosen_by_k_alone_tell_the_share(regions: Path) -> None:
    method = HierarchyMethod(k=2, l=2, hierarchies=regions, suppression=0.3)
    people = Table.of(SEVEN, SCHEMA)
    release = method.protect(people, seed=1)
    assert sorted(release.public.frame["illness"]) == ["asthma", "cold", "flu", "gout", "none"]
    assert release.statement.notes["suppressed_rows"] == 2
    assert release.statement.notes["score"] == pytest.approx(2 / 7)  # whatever is deleted is lost
    assert "chosen_by_sensitive_values" not in release.statement.notes
    same = by_release(seven_worlds(), levels_of(method, people))
    assert posterior_is_the_share(same)
    # the northerners are deleted if both have HIV (5! worlds); one and x (5 times 2 * 5!), x and y (10 times 2 * 5!/2)
    assert Counter(len(those) for those in same.values()) == {120: 1 + 10, 240: 5}


def test_cuts_tell_the_share_and_delete_nobody() -> None:
    people = Table.of(SEVEN, SCHEMA)
    release = api.protect(people, "mondrian", k=2, l=2, seed=1)
    assert release.public.lines().to_list().count("{north;south},HIV") == 2
    codes, rule = np.array([[0, 0, 1, 1, 1, 1, 1]]), ClassRule(2, 0, DISTINCT, 2)
    same = by_release(seven_worlds(), cuts_of(codes, rule))
    assert [len(those) for those in same.values()] == [2_520]
    assert posterior_is_the_share(same)


def test_too_many_failing_classes_are_an_error_that_says_what_to_do(regions: Path) -> None:
    people = Table.of(SEVEN, SCHEMA)
    with pytest.raises(
        ParameterError,
        match=r"classes with 28\.6% of the rows fail k, l or t, and only 20\.0% of the rows may be deleted;"
        " increase --suppression, k or t, or decrease l",
    ):
        api.protect(people, "hierarchy", k=2, l=2, hierarchies=regions, suppression=0.2, seed=1)
    illness = ["HIV"] * 10 + ["flu", "cold", "HIV"] * 10
    alike = Table.of({"region": ["north"] * 10 + ["south"] * 30, "illness": illness}, SCHEMA)
    problem = r"classes with 25\.0% of the rows .* only 10\.0% of the rows may be deleted"
    with pytest.raises(ParameterError, match=problem):
        api.protect(alike, "mondrian", k=10, l=2, seed=1)
    release = api.protect(alike, "mondrian", k=10, l=2, suppression=0.25, seed=1)
    assert release.deleted_rows == 10
    assert Counter(release.public.lines()) == {"south,HIV": 10, "south,cold": 10, "south,flu": 10}
    assert release.statement.notes["suppressed_rows"] == 10
    assert release.statement.notes["classes"] == 1


def test_the_search_makes_no_difference_without_l_and_t(regions: Path, tmp_path: Path) -> None:
    people = Table.of(SEVEN, SCHEMA)
    for search in ("safe", "arx"):
        api.protect(people, "hierarchy", k=2, hierarchies=regions, search=search, seed=5).save(tmp_path / search)
    for file in ("public.parquet", "statement.json"):
        assert (tmp_path / "safe" / file).read_bytes() == (tmp_path / "arx" / file).read_bytes()
    assert "search" not in Release.load(tmp_path / "safe").statement.parameters


# --- random tables ---------------------------------------------------------------------------------------------------

ASKED: list[dict[str, Any]] = [
    {"l": 2},
    {"l": 2, "diversity": "entropy"},
    {"l": 2, "diversity": "recursive", "c": 2.0},
    {"t": 0.3},
]


@pytest.mark.parametrize("asked", ASKED)
def test_levels_of_random_tables_tell_the_share(tmp_path: Path, asked: dict[str, Any]) -> None:
    schema = Schema.of(
        {"kind": "table", "columns": {"a": {"role": "quasi"}, "b": {"role": "quasi"}, "c": {"role": "sensitive"}}}
    )
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("0;low;*\n1;low;*\n2;high;*\n3;high;*\n", encoding="utf-8")
    random = np.random.Generator(np.random.PCG64(1))
    told = Counter[str]()
    for _table in range(3):
        quasi = {name: random.integers(0, 4, 7).astype(str).tolist() for name in "ab"}
        table = Table.of({**quasi, "c": ["x"] * 7}, schema)
        every = worlds([0, 0, 0, 0, 1, 1, 2])
        for search in ("safe", "arx"):
            method = HierarchyMethod(k=2, hierarchies=tmp_path, suppression=0.6, search=search, **asked)
            same = by_release(every, levels_of(method, table))
            told[search] += sum(map(len, same.values())) > 0
            told[f"{search}, share"] += posterior_is_the_share(same)
    assert (told["safe"], told["safe, share"]) == (3, 3)
    assert told["arx, share"] < 3  # the check can fail


def cuts_of(codes: np.ndarray[Any, Any], rule: ClassRule, *, relaxed: bool = False) -> Callable[[World], Classes]:
    """Return the classes that cuts leave, given the sensitive values."""
    places = [np.linspace(0, 1, int(its.max()) + 1) for its in codes]
    ones = np.ones(codes.shape[1], np.int64)

    def classes_of(world: World) -> Classes:
        values = np.array(world)
        found = classes_by_cuts(codes, places, rule, relaxed=relaxed, sensitive=values)
        if found is None:
            return None
        lost = suppressed(found[:, None], ones, [LevelTable(int(found.max()) + 1, ())], [0], rule, values)
        return [*np.where(lost, -1, found).tolist()]

    return classes_of


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize(
    ("rule", "values"),
    [
        (ClassRule(2, 0, DISTINCT, 2), [0] * 7 + [1] * 5),
        (ClassRule(2, 0, RECURSIVE, 2, 6.0), [0] * 7 + [1] * 5),
        (ClassRule(2, 0, t=0.3), [0] * 6 + [1] * 6),
    ],
)
def test_cuts_of_random_tables_tell_the_share(rule: ClassRule, values: list[int], relaxed: bool) -> None:
    random = np.random.Generator(np.random.PCG64(1))
    cut = deleted = 0
    for _table in range(3):
        codes = random.integers(0, 5, (2, len(values)))
        same = by_release(worlds(values), cuts_of(codes, rule, relaxed=relaxed))
        assert posterior_is_the_share(same)
        cut += len({classes for classes, _shown in same}) > 1
        deleted += any(-1 in classes for classes, _shown in same)
    assert min(cut, deleted) > 0  # and there was something to check


@given(
    seed=st.integers(0, 10_000),
    rule=st.sampled_from(
        [
            ClassRule(2, 0, DISTINCT, 2),
            ClassRule(3, 0, ENTROPY, 2),
            ClassRule(3, 0, RECURSIVE, 2, 2.0),
            ClassRule(2, 0, EACH, 2, parts=np.array([[0, 0, 1, 1], [0, 1, 1, 2]])),
            ClassRule(4, 0, t=0.3),
            ClassRule(4, 0, DISTINCT, 3, t=0.3, ordered=True),
        ]
    ),
    relaxed=st.booleans(),
)
def test_permuting_values_inside_classes_changes_no_cut(seed: int, rule: ClassRule, relaxed: bool) -> None:
    """What the share follows from, for tables too large to try all worlds."""
    random = np.random.Generator(np.random.PCG64(seed))
    codes, values = random.integers(0, 6, (2, 120)), random.integers(0, 4, 120)
    places = [np.linspace(0, 1, 6)] * 2
    first = classes_by_cuts(codes, places, rule, relaxed=relaxed, sensitive=values)
    assert first is not None
    assert first.max() > 0
    other = values.copy()
    for one in range(int(first.max()) + 1):
        other[first == one] = random.permutation(values[first == one])
    second = classes_by_cuts(codes, places, rule, relaxed=relaxed, sensitive=other)
    assert second is not None
    assert first.tolist() == second.tolist()
