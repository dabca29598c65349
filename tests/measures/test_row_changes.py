"""E4, E5 and E6 are the judges' of PWS Cup 2017 on every vector."""

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import pwscup2017
from tests.pwscup2017 import VECTORS, history

import noren
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures import measures


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_values(name: str, shared: Path) -> None:
    expected = pwscup2017.expected(shared, name)["E"]
    original, release = pwscup2017.rows(shared, name, "T"), pwscup2017.release(shared, name)
    for measure in ("e4", "e5", "e6"):
        value = noren.measure(original, release, measure).value
        assert value == pytest.approx(expected[measure.upper()]["value"], abs=1e-9), measure
    exact = noren.measure(original, release, "e6").parts["share"]
    assert exact == pwscup2017.index(shared)[name]["deleted_rows"] / len(original)


ROWS = st.lists(
    st.tuples(st.integers(0, 364), st.integers(-20, 20), st.integers(1, 900), st.integers(1, 900), st.booleans()),
    min_size=1,
    max_size=8,
)


@given(ROWS)
def test_row_by_row(rows: list[tuple[int, int, int, int, bool]]) -> None:
    first = date(2011, 1, 1)

    def made(days: list[date | None], prices: list[float | None], names: list[str | None]) -> History:
        whole = {
            "item": [None if n is None else "x" for n in names],
            "quantity": [None if n is None else 1 for n in names],
        }
        frame = pl.DataFrame({"customer": names, "date": days, "price": prices} | whole)
        types = {"customer": pl.String, "item": pl.String, "date": pl.Date, "price": pl.Float64, "quantity": pl.Int64}
        return History(frame.cast(types), Schema.preset("pwscup2018"))  # type: ignore[arg-type]

    days = [first + timedelta(day) for day, *_rest in rows]
    prices = [pence / 100 for _d, _m, pence, *_rest in rows]
    original = made(list(days), list(prices), ["ann"] * len(rows))
    aligned = made(
        [day + timedelta(move) if kept else None for day, (_d, move, _p, _q, kept) in zip(days, rows, strict=True)],
        [other / 100 if kept else None for *_rest, other, kept in rows],
        ["p" if kept else None for *_rest, kept in rows],
    )
    release = Release.of_aligned(original, aligned, Statement("hand"))
    moved = sum(abs(move) for _d, move, _p, _q, kept in rows if kept)
    apart = sum(1 - min(p, q) / max(p, q) for _d, _m, p, q, kept in rows if kept)
    deleted = sum(not kept for *_rest, kept in rows)
    if deleted == len(rows):  # nothing is left to compare, which is no perfect score
        for measure in ("e4", "e5"):
            with pytest.raises(ParameterError, match="no row has a "):
                noren.measure(original, release, measure)
    else:
        assert noren.measure(original, release, "e4").value == pytest.approx(moved / (31 * len(rows)), abs=1e-12)
        assert noren.measure(original, release, "e5").value == pytest.approx(apart / len(rows), abs=1e-12)
    e6 = noren.measure(original, release, "e6")
    assert (e6.value, e6.parts["share"]) == (round(deleted / len(rows), 4), deleted / len(rows))


def test_a_suppressed_cell_costs_1() -> None:
    original = history("ann 1/1 a 2 1", "bob 1/1 a 4 1")
    aligned = history("p 1/1 a 2 1", "q 1/1 a 4 1")
    hidden = aligned.frame.with_columns(pl.when(pl.col("customer") == "q").then(pl.col("date", "price")))
    release = Release.of_aligned(original, History(hidden, aligned.schema), Statement("hand"))
    assert [noren.measure(original, release, name).value for name in ("e4", "e5", "e6")] == [0.5, 0.5, 0.0]
    assert noren.measure(original, release, "e4").notes == {"rows_changed": 1}


def test_deleted_rows_of_a_generalised_release(small: History) -> None:
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    assert noren.measure(small, release, "e6").parts["share"] == release.deleted_rows / len(small) > 0


def test_pseudonyms_that_end_in_del_are_no_deleted_rows() -> None:
    original = history("ann 1/1 a 2 1")
    release = Release.of_aligned(original, history("MODEL 1/1 a 2 1"), Statement("hand"))
    assert noren.measure(original, release, "e6").value == 0.0


def test_what_they_need() -> None:
    assert measures["e4"].needs == measures["e5"].needs == {"original", "secret", "exact"}
    assert measures["e6"].needs == {"original", "secret"}
    no_price = Schema.from_toml(
        'kind = "history"\n[columns]\ncustomer = { role = "customer" }\ndate = { role = "date" }\n'
        'item = { role = "item" }\n'
    )
    assert [name for name in ("e1", "e2", "e3", "e4", "e5", "e6") if measures[name].fits(no_price)] == [
        "e3",
        "e4",
        "e6",
    ]
