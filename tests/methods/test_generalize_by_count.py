"""Generalize-by-count: S1's figures, and its promise on any history."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from noren.data.cells import contains
from noren.data.checks import check_release
from noren.data.contest_files import write_rows
from noren.data.frames import History
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.measures.safety.classes import audit
from noren.measures.utility.cell_error import CellError
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.protocols import Evidence

SCHEMA = Schema.preset("pwscup2018")
U_OF_S1 = dict(
    zip(
        (2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20),
        (0.3482, 0.4724, 0.5422, 0.5831, 0.6152, 0.6424, 0.6796, 0.7178, 0.7486, 0.7816, 0.8329),
        strict=True,
    )
)
U_WITH_SUPPRESSED_CELLS = {2: 0.324, 3: 0.438, 4: 0.498, 6: 0.562, 10: 0.638, 20: 0.714}


def of_lines(text: str) -> History:
    rows = [line.split() for line in text.strip().splitlines()]
    columns: dict[str, Any] = dict(zip(SCHEMA.names, map(list, zip(*rows, strict=True)), strict=True))
    columns["price"] = [float(price) for price in columns["price"]]
    columns["quantity"] = [int(quantity) for quantity in columns["quantity"]]
    return History.of(columns, SCHEMA)


# the customers of S1's pages ① to ③; its dates have no year
EXAMPLE = of_lines(
    """
    A 2011/11/14 158  2   1
    A 2011/11/2  B20  2.5 2
    A 2011/4/6   891  3   10
    A 2011/8/2   291D 10  8
    B 2011/11/4  324  1   3
    B 2011/10/10 521P 2   1
    B 2011/5/28  G402 2   9
    C 2011/1/3   B20  2.5 2
    C 2011/4/2   521P 2   10
    """
)


def value(original: History, release: Release) -> float:
    return CellError().measure(Evidence(original, release)).value


# --- the paper -------------------------------------------------------------------------------------------------------


def test_the_example_of_s1() -> None:
    release = GeneralizeByCount(k=3).protect(EXAMPLE, seed=1)
    lines = release.aligned().lines().to_list()
    first = "[2011/1/3;2011/8/2],{291D;B20;G402},[2;10],[2;9]"
    second = "[2011/4/2;2011/10/10],{521P;891},[2;3],[1;10]"
    gone = "*,*,*,*,*"
    a, b, c = (lines[at][:2] for at in (2, 5, 7))
    assert sorted([a, b, c]) == ["10", "11", "12"]
    assert lines == [
        *(gone, gone, f"{a},{second}", f"{a},{first}"),
        *(gone, f"{b},{second}", f"{b},{first}"),
        *(f"{c},{first}", f"{c},{second}"),
    ]
    assert release.deleted_rows == 3


@pytest.fixture(scope="module")
def preliminary(shared: Path) -> History:
    data = read(shared / "data" / "pwscup2018_preliminary_T.csv", "pwscup2018").data
    assert isinstance(data, History)
    return data


@pytest.mark.parametrize(("k", "expected"), U_OF_S1.items())
def test_the_table_of_s1(preliminary: History, k: int, expected: float) -> None:
    assert round(value(preliminary, GeneralizeByCount(k=k).protect(preliminary, seed=1)), 4) == expected


@pytest.mark.parametrize(("k", "expected"), U_WITH_SUPPRESSED_CELLS.items())
def test_suppressed_cells_lower_the_error(preliminary: History, k: int, expected: float) -> None:
    release = GeneralizeByCount(k=k, suppress_cells=True).protect(preliminary, seed=1)
    assert round(value(preliminary, release), 3) == expected


@pytest.mark.parametrize("suppress_cells", [False, True])
def test_the_official_checker_accepts_it(
    preliminary: History, shared: Path, tmp_path: Path, suppress_cells: bool
) -> None:
    aligned = GeneralizeByCount(k=4, suppress_cells=suppress_cells).protect(preliminary, seed=1).aligned()
    assert isinstance(aligned, History)
    write_rows(aligned, tmp_path / "A.csv")
    report = check_release("pwscup2018", shared / "data" / "pwscup2018_preliminary_T.csv", tmp_path / "A.csv")
    assert report.valid, report


# --- the promise -----------------------------------------------------------------------------------------------------

Row = tuple[str, int, str, int, int]
ROWS = st.lists(
    st.tuples(
        st.sampled_from("abcdefg"), st.integers(1, 28), st.sampled_from("uvwxyz"), st.integers(1, 9), st.integers(1, 5)
    ),
    min_size=1,
    max_size=40,
)


def drawn(rows: list[Row]) -> History:
    return of_lines("\n".join(f"{who} 2011/3/{day} {item} {price / 2} {many}" for who, day, item, price, many in rows))


@given(rows=ROWS, k=st.integers(2, 4), suppress_cells=st.booleans(), seed=st.integers(0, 99))
@settings(deadline=None)
def test_every_public_history_is_shared_by_k_and_every_cell_is_true(
    rows: list[Row], k: int, suppress_cells: bool, seed: int
) -> None:
    original = drawn(rows)
    method = GeneralizeByCount(k=k, suppress_cells=suppress_cells)
    if len(original.customers) < k:
        with pytest.raises(ParameterError, match=r"customers, but there are .; use a smaller value"):
            method.protect(original, seed=seed)
        return
    release = method.protect(original, seed=seed)
    histories: dict[str, list[str]] = {}
    for line in release.public.lines():
        pseudonym, _comma, rest = line.partition(",")
        histories.setdefault(pseudonym, []).append(rest)
    shared_by = Counter(tuple(sorted(rest)) for rest in histories.values())
    assert min(shared_by.values()) >= k
    # nobody vanishes, and a customer has one pseudonym
    assert release.secret.pseudonyms["customer"].sort().to_list() == original.customers.sort().to_list()
    assert len(histories) == len(original.customers)
    aligned = release.aligned()
    for column in original.measured():
        assert contains(aligned.frame[column.name], original.frame[column.name]).all()


def told(values: list[int], column: list[int], *, suppress_cells: bool) -> tuple[int, int] | None:
    """Return the interval of some values, in steps of the grid, or nothing where that is cheaper by S0's costs."""
    lo, hi = min(values), max(values)
    mean = sum(column) / len(column)
    sd = (sum((x - mean) ** 2 for x in column) / len(column)) ** 0.5
    if lo < hi and suppress_cells:
        steps = range(lo, hi + 1)
        total = sum(sum(abs(x - y) for y in steps) / len(steps) / sd for x in values)
        return None if total > len(values) + 1e-12 else (lo, hi)
    return lo, hi


def spelled(ends: tuple[int, int] | None, write: Callable[[int], str]) -> str:
    if ends is None:
        return "*"
    return write(ends[0]) if ends[0] == ends[1] else f"[{write(ends[0])};{write(ends[1])}]"


@given(rows=ROWS, k=st.integers(2, 4), suppress_cells=st.booleans())
@settings(deadline=None)
def test_against_plain_python(rows: list[Row], k: int, suppress_cells: bool) -> None:
    customers = list(dict.fromkeys(row[0] for row in rows))
    assume(len(customers) >= k)
    customers.sort(key=lambda who: -sum(row[0] == who for row in rows))
    groups = [customers[start : start + k] for start in range(0, len(customers) - len(customers) % k, k)]
    groups[-1] += [who for who in customers if not any(who in group for group in groups)]

    expected = ["*,*,*,*"] * len(rows)
    for group in groups:
        piles = [[at for at, row in enumerate(rows) if row[0] == who] for who in group]
        for pile in piles:
            pile.sort(key=lambda at: (-rows[at][3], -rows[at][4]))
        for together in zip(*piles, strict=False):
            # prices are drawn in steps of 0.5, so on the grid of 0.01 they are 50 steps apart
            dates, prices, quantities = (
                told([w * rows[at][c] for at in together], [w * row[c] for row in rows], suppress_cells=suppress_cells)  # type: ignore[misc]
                for c, w in ((1, 1), (3, 50), (4, 1))
            )
            items = sorted({rows[at][2] for at in together})
            line = [
                spelled(dates, lambda day: f"2011/3/{day}"),
                items[0] if len(items) == 1 else "{" + ";".join(items) + "}",
                spelled(prices, lambda pence: f"{pence / 100:g}"),
                spelled(quantities, str),
            ]
            for at in together:
                expected[at] = ",".join(line)

    aligned = GeneralizeByCount(k=k, suppress_cells=suppress_cells).protect(drawn(rows), seed=1).aligned()
    assert [line.partition(",")[2] for line in aligned.lines()] == expected


def test_same_seed_same_bytes_and_the_seed_moves_names_alone(tmp_path: Path) -> None:
    for folder, seed in (("one", 5), ("two", 5), ("other", 8)):
        GeneralizeByCount(k=3).protect(EXAMPLE, seed=seed).save(tmp_path / folder, official=True)
    names = [path.relative_to(tmp_path / "one") for path in sorted((tmp_path / "one").rglob("*")) if path.is_file()]
    assert len(names) == 8
    assert all((tmp_path / "one" / n).read_bytes() == (tmp_path / "two" / n).read_bytes() for n in names)
    one, other = ((tmp_path / f / "secret" / "A.csv").read_text().splitlines() for f in ("one", "other"))
    assert one != other
    assert [line.partition(",")[2] for line in one] == [line.partition(",")[2] for line in other]


def test_saved_and_loaded_it_scores_the_same(tmp_path: Path) -> None:
    release = GeneralizeByCount(k=2, suppress_cells=True).protect(EXAMPLE, seed=5)
    release.save(tmp_path / "release")
    assert value(EXAMPLE, Release.load(tmp_path / "release")) == value(EXAMPLE, release) > 0


# --- other schemas ---------------------------------------------------------------------------------------------------


def retail() -> History:
    rows = {
        "InvoiceNo": ["1", "1", "2", "3"],
        "StockCode": ["x", "y", "x", "z"],
        "Description": ["X", None, "X", "Z"],
        "Quantity": [1, 2, -3, 4],
        "InvoiceDate": ["2010-12-01 08:26:00", "2010-12-01 08:26:00", "2010-12-02 09:00:00", "2010-12-03 10:30:00"],
        "UnitPrice": [1.0, 2.0, 3.0, 9.0],
        "CustomerID": ["a", "a", "b", None],
        "Country": ["France", "France", "Japan", "Japan"],
    }
    return History.of(rows, Schema.preset("online-retail"))


def test_columns_that_would_tell_and_rows_of_nobody_go() -> None:
    original = retail()
    release = GeneralizeByCount(k=2).protect(original, seed=1)
    said = "*,{x;y},*,[-3;2],[2010/12/1 8:26;2010/12/2 9:00],[2;3],%d,*"
    # a's dearer row, y, meets b's only row; a's other row and nobody's row are deleted
    assert release.public.lines().to_list() == [said % name for name in (10, 11)]
    assert release.secret.origin.sort().to_list() == [1, 2]
    assert release.deleted_rows == 2
    assert release.statement.notes == {
        "suppressed_columns": ["InvoiceNo", "Description", "Country"],
        "rows_without_customer": 1,
    }
    assert release.public.frame.schema["InvoiceDate"] == pl.Struct({"lo": pl.Datetime("us"), "hi": pl.Datetime("us")})
    for name in ("InvoiceNo", "Description", "Country"):
        assert release.public.frame[name].null_count() == 2


def test_without_price_and_quantity_rows_keep_their_order() -> None:
    schema = Schema.of({"columns": {"who": {"role": "customer"}, "when": {"role": "date"}, "what": {"role": "item"}}})
    rows = {"who": ["a", "b", "b", "a"], "when": ["2011/1/1", "2011/1/2", "2011/1/3", "2011/1/4"], "what": list("pqrs")}
    release = GeneralizeByCount(k=2).protect(History.of(rows, schema), seed=1)
    first, second = "[2011/1/1;2011/1/2],{p;q}", "[2011/1/3;2011/1/4],{r;s}"
    assert release.public.lines().to_list() == [f"{n},{said}" for n in (10, 11) for said in (first, second)]


def test_a_blank_beside_a_value_is_said_of_nobody() -> None:
    schema = Schema.of(
        {
            "columns": {
                "who": {"role": "customer"},
                "when": {"role": "date"},
                "what": {"role": "item", "optional": True},
                "price": {"role": "price", "optional": True},
            }
        }
    )
    rows = {
        "who": ["a", "b", "a", "b"],
        "when": ["2011/1/1"] * 4,
        "what": ["p", None, None, None],
        "price": [None, 2.5, 7.0, None],
    }
    for suppress_cells in (False, True):
        release = GeneralizeByCount(k=2, suppress_cells=suppress_cells).protect(History.of(rows, schema), seed=1)
        # prices first, missing last: 7 meets 2.5, and the two rows without a price meet. Both ends of the interval are
        # one standard deviation from the middle, so it costs as much as nothing would, and stays. Of those without a
        # price one has the item p, the other none: p would be untrue of it
        said = ["2011/1/1,*,*", "2011/1/1,*,[2.5;7]"]
        assert release.public.lines().to_list() == [f"{n},{row}" for n in (10, 11) for row in said]
        audit(History.of(rows, schema), release)
        # of 12 cells p is lost, and the two prices cost 1 each
        score = CellError().measure(Evidence(History.of(rows, schema), release))
        assert score.value == pytest.approx(3 / 12)


# --- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 0, -3])
def test_k_below_2_protects_nobody(k: int) -> None:
    with pytest.raises(ParameterError, match=f"^k = {k} is out of range; use k >= 2$"):
        methods.create("generalize-by-count", k=k)


def test_k_above_the_number_of_customers() -> None:
    problem = r"^k = 4 needs at least 4 customers, but there are 3; use a smaller value"
    with pytest.raises(ParameterError, match=problem):
        GeneralizeByCount(k=4).protect(EXAMPLE, seed=1)


def test_the_statement_says_what_was_done() -> None:
    statement = methods.create("generalize-by-count", k=3).protect(EXAMPLE, seed=1).statement
    assert statement.method == "generalize-by-count"
    assert statement.parameters == {"k": 3, "suppress_cells": False, "categories": None}
    assert statement.promise == "each public history is shared by at least k customers"


def test_what_is_generalised_already_is_refused() -> None:
    release = GeneralizeByCount(k=3).protect(EXAMPLE, seed=1)
    with pytest.raises(SchemaError, match="the original is already generalised"):
        GeneralizeByCount(k=3).protect(release.public, seed=1)  # type: ignore[arg-type]


def test_long_histories_are_as_if_they_were_never_there() -> None:
    """The public rows are those of the data without them, and so is what k promises."""
    without = EXAMPLE.take((EXAMPLE["customer"] != "A").arg_true())
    long_left_out = GeneralizeByCount(k=2, most_rows=3).protect(EXAMPLE, seed=1)
    never_there = GeneralizeByCount(k=2).protect(without, seed=1)

    def rows(release: Release) -> list[str]:
        return sorted(release.public.without(["customer"]).lines())

    assert rows(long_left_out) == rows(never_there)
    assert long_left_out.deleted_rows == 4 + never_there.deleted_rows
    assert long_left_out.statement.parameters["most_rows"] == 3
    assert "most_rows" not in never_there.statement.parameters
    audit(EXAMPLE, long_left_out)
    with pytest.raises(ParameterError, match="k = 2 needs at least 2 customers, but there are 1"):
        GeneralizeByCount(k=2, most_rows=2).protect(EXAMPLE, seed=1)
    with pytest.raises(ParameterError, match="most_rows = 0 is out of range; use most_rows >= 1"):
        methods.create("generalize-by-count", k=2, most_rows=0)
