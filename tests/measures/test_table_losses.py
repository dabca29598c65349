"""What released tables lost, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from noren import api
from noren.data.cells import set_dtype
from noren.data.frames import Table
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError

NUMBERS = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
TEXTS = Schema.of({"kind": "table", "columns": {"city": {"role": "quasi"}, "note": {"role": "other"}}})

CITIES = Table.of({"city": ["a", "a", "b", "c", "d"], "note": ["1", "2", "3", "4", "5"]}, TEXTS)


def of_cities(cells: pl.Series, notes: list[str | None]) -> Release:
    aligned = Table(pl.DataFrame({"city": cells, "note": pl.Series(notes, dtype=pl.String)}), TEXTS)
    return Release.of_aligned(CITIES, aligned, Statement("hand"))


def test_sets_stand_on_no_level_and_count_by_values(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n", encoding="utf-8")
    cells = pl.Series([["a", "b"]] * 3 + [["c", "d"]] * 2, dtype=set_dtype("abcd"))
    release = of_cities(cells, ["1", "2", "3", "4", "5"])
    # each cell may mean two of four values: 5/2, between 5/4 where all are exact and 5
    for hierarchies in (None, tmp_path):
        score = api.measure(CITIES, release, "table-loss", hierarchies=hierarchies)
        assert score.value == pytest.approx((2.5 - 1.25) / 3.75)


def test_a_blank_that_stays_blank_is_not_lost() -> None:
    original = Table(pl.DataFrame({"city": ["a", "a", None, "b"], "note": list("1234")}), TEXTS)
    copy = Release.of_aligned(original, original, Statement("hand"))
    assert api.measure(original, copy, "table-loss").value == 0
    assert api.measure(original, copy, "entropy-loss").value == 0


def test_where_all_rows_are_alike_there_is_nothing_to_lose() -> None:
    alike = Table(pl.DataFrame({"city": ["a"] * 3, "note": list("123")}), TEXTS)
    for measure in ("table-loss", "entropy-loss"):
        with pytest.raises(ParameterError, match="so nothing can be lost; give the original"):
            api.measure(alike, Release.of_aligned(alike, alike, Statement("hand")), measure)


def test_labels_mean_the_values_seen_under_them() -> None:
    """Of four values ab means two, c itself; the last row is deleted."""
    release = of_cities(pl.Series(["ab", "ab", "ab", "c", None]), ["1", "2", "3", "4", None])
    # shares 2/4 three times, 1/4, 1; between 5/4 where all are exact and 5
    assert api.measure(CITIES, release, "table-loss").value == pytest.approx((1.5 + 0.25 + 1 - 1.25) / 3.75)
    lost = 2 * math.log2(3 / 2) + math.log2(3 / 1) + 0 + math.log2(5)
    there = 2 * math.log2(5 / 2) + 3 * math.log2(5)
    assert api.measure(CITIES, release, "entropy-loss").value == pytest.approx(lost / there)
    assert api.measure(CITIES, release, "discernibility").value == 9 + 1 + 5
    assert api.measure(CITIES, release, "class-size").value == 5 / 3


def test_sets_mean_their_members() -> None:
    cells = pl.Series([["a", "b"]] * 3 + [["c", "d"]] * 2, dtype=set_dtype("abcd"))
    release = of_cities(cells, ["1", "2", "3", "4", "5"])
    assert api.measure(CITIES, release, "table-loss").value == pytest.approx((5 * 0.5 - 1.25) / 3.75)
    lost = 2 * math.log2(3 / 2) + math.log2(3) + 2 * math.log2(2)
    there = 2 * math.log2(5 / 2) + 3 * math.log2(5)
    assert api.measure(CITIES, release, "entropy-loss").value == pytest.approx(lost / there)


def test_intervals_mean_the_values_between_their_ends() -> None:
    people = Table.of({"age": [10, 10, 20, 30]}, NUMBERS)
    cells = pl.Series([{"lo": 10, "hi": 20}] * 3 + [{"lo": 30, "hi": 30}])
    release = Release.of_aligned(people, Table(pl.DataFrame({"age": cells}), NUMBERS), Statement("hand"))
    # shares 2/3 three times and 1/3, between 4/3 and 4
    assert api.measure(people, release, "table-loss").value == pytest.approx((2 + 1 / 3 - 4 / 3) / (4 - 4 / 3))
    lost, there = 2 * math.log2(3 / 2) + math.log2(3), 2 * math.log2(2) + 2 * math.log2(4)
    assert api.measure(people, release, "entropy-loss").value == pytest.approx(lost / there)


def test_a_release_that_changed_nothing_lost_nothing() -> None:
    release = of_cities(CITIES.frame["city"], ["1", "2", "3", "4", "5"])
    for measure in ("table-loss", "entropy-loss"):
        assert api.measure(CITIES, release, measure).value == 0


def test_a_release_that_says_nothing_lost_all() -> None:
    release = of_cities(pl.Series([None] * 5, dtype=pl.String), ["1", "2", "3", "4", "5"])
    for measure in ("table-loss", "entropy-loss"):
        assert api.measure(CITIES, release, measure).value == pytest.approx(1)
    assert api.measure(CITIES, release, "discernibility").value == 25
    assert api.measure(CITIES, release, "class-size").value == 5


def test_hierarchies_count_values_that_do_not_occur(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_text("a;ab;*\nb;ab;*\nc;cdef;*\nd;cdef;*\ne;cdef;*\nf;cdef;*\n", encoding="utf-8")
    release = of_cities(pl.Series(["ab", "ab", "ab", "cdef", "cdef"]), ["1", "2", "3", "4", "5"])
    found = api.measure(CITIES, release, "table-loss", hierarchies=tmp_path)
    assert found.value == pytest.approx((3 * 2 / 6 + 2 * 4 / 6 - 5 / 6) / (5 - 5 / 6))
    other = of_cities(pl.Series(["x", "x", "x", "y", "y"]), ["1", "2", "3", "4", "5"])
    with pytest.raises(ParameterError, match=r"column city: the released cells are on no level"):
        api.measure(CITIES, other, "table-loss", hierarchies=tmp_path)


def test_another_original_is_refused() -> None:
    release = of_cities(CITIES.frame["city"], ["1", "2", "3", "4", "5"])
    with pytest.raises(ParameterError, match="made of 5 rows, the original has 4"):
        api.measure(Table(CITIES.frame[:4], TEXTS), release, "table-loss")


def test_a_history_is_refused() -> None:
    history = api.sample(customers=3, rows=20, items=5)
    release = api.protect(history, "pseudonymize", seed=1)
    with pytest.raises((ParameterError, SchemaError), match="discernibility works on a table"):
        api.measure(history, release, "discernibility")
