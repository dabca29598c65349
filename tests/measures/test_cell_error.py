"""Cell-error is the official U on every official vector, and the mean over all draws on anything."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.contest_files import read_rows
from noren.data.frames import History, Table
from noren.data.reading import read_release
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.measures import measures
from noren.measures.utility.cell_error import CellError
from noren.protocols import Evidence, Score

SCHEMA = Schema.preset("pwscup2018")
ROLES = ("date", "item", "price", "quantity")
VECTORS = ["random_final", "delete_final", "pair_final", "copy_final", "edge_final", "pair_preliminary", "edge_small"]
# where the official script looks away, and what the cells are worth (see the page of this measure)
OURS = {
    "NOT_CHECKED_wrong_exact_value": {"quantity": 5 / 3 / 4},
    "NOT_CHECKED_range_without_original": {"quantity": 17 / 3 / 4},
    "constant_dates_with_range": {"date": 1 / 4},
}
T = ["1,2010/12/1,A1,1.50,2", "1,2010/12/3,B2,2.00,4", "2,2010/12/8,C3,4.25,4", "2,2011/1/1,A1,0.50,10"]


def of_lines(path: Path, lines: list[str]) -> History:
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return read_rows(path, SCHEMA)


def score(folder: Path, original: list[str], released: list[str]) -> Score:
    data = of_lines(folder / "T.csv", original)
    aligned = of_lines(folder / "A.csv", released)
    return CellError().measure(Evidence(data, Release.of_aligned(data, aligned, Statement("hand"))))


# --- the official script ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def index(shared: Path) -> dict[str, Any]:
    return dict(json.loads((shared / "oracles" / "INDEX.json").read_text(encoding="utf-8"))["pwscup2018"])


@pytest.fixture(scope="module")
def originals(shared: Path, index: dict[str, Any]) -> dict[str, History]:
    found = {}
    for name in ("final", "preliminary", "small"):
        about = index["inputs"][name]
        path = shared / "data" / about["data"] if "data" in about else shared / "oracles" / about["file"]
        found[name] = read_rows(path, SCHEMA)
    return found


def assert_official(found: Score, expected: dict[str, Any]) -> None:
    assert found.value == pytest.approx(expected["U"], rel=1e-12, abs=0)
    assert set(found.parts) == set(ROLES)
    for role in ROLES:
        assert found.parts[role] == pytest.approx(expected["U_by_column"][role], rel=1e-12, abs=0)


@pytest.mark.parametrize("name", VECTORS)
def test_the_official_values(name: str, shared: Path, index: dict[str, Any], originals: dict[str, History]) -> None:
    vector = next(v for v in index["vectors"] if v["id"] == f"pwscup2018/{name}")
    original = originals[vector["T"]]
    found = CellError().measure(Evidence(original, read_release(shared / "oracles" / vector["files"]["A"], original)))
    assert_official(found, vector["expected"])
    assert found.notes["deleted_rows"] == vector["expected"]["deleted_rows"]


def test_every_vector_is_tested(index: dict[str, Any]) -> None:
    assert [v["id"] for v in index["vectors"]] == [f"pwscup2018/{name}" for name in VECTORS]


def test_the_small_tables_that_the_checker_accepts(
    shared: Path, index: dict[str, Any], originals: dict[str, History]
) -> None:
    accepted = [case for case in index["format_check_A"]["cases"] if "U" in case]
    assert len(accepted) == 11
    for case in accepted:
        release = read_release(shared / "oracles" / case["file"], originals["small"])
        assert_official(CellError().measure(Evidence(originals["small"], release)), case)


def test_the_tiny_tables(index: dict[str, Any], tmp_path: Path) -> None:
    cases = index["utility_tiny"]["cases"]
    assert set(OURS) <= {case["id"] for case in cases}
    for case in cases:
        found = score(tmp_path, case["T"], case["A"])
        if case["id"] in OURS:
            parts = {role: OURS[case["id"]].get(role, 0.0) for role in ROLES}
            assert dict(found.parts) == pytest.approx(parts, rel=1e-12)
            assert found.value == pytest.approx(sum(parts.values()) / 4, rel=1e-12)
        else:
            assert_official(found, case)


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_a_table_worked_by_hand(tmp_path: Path) -> None:
    # quantities 2 4 4 10: mean 5, variance (9 + 1 + 1 + 25)/4 = 9, sd 3
    found = score(
        tmp_path,
        T,
        ["7,2010/12/1,A1,1.50,*", "7,2010/12/3,{A1;B2;C3},2,[3;5]", "*,*,*,*,*", "9,2011/1/1,{A1;C3},0.5,[7;10]"],
    )
    assert found.parts["date"] == 1 / 4
    assert found.parts["item"] == pytest.approx((2 / 3 + 1 + 1 / 2) / 4)
    assert found.parts["price"] == 1 / 4
    # [3;5] around 4: 1, 0, 1; [7;10] below 10: 3, 2, 1, 0
    assert found.parts["quantity"] == pytest.approx((1 + 2 / 3 / 3 + 1 + 6 / 4 / 3) / 4)
    assert found.value == pytest.approx(sum(found.parts.values()) / 4)
    assert found.notes == {"deleted_rows": 1}


def test_the_worked_example_of_s1(tmp_path: Path) -> None:
    original = ["13047,2010/12/1,84879,1.69,32", "13047,2010/12/2,22745,2.1,6", "13047,2010/12/3,22748,2.1,6"]
    # S1 prints released prices of 2.0 but reckons with a distance of 0.01 each, which 2.09 has
    released = ["1,2010/12/3,10000,1.68,31", "1,2010/12/3,20000,2.09,5", "1,2010/12/3,30000,2.09,5"]
    sums = {role: 3 * part for role, part in score(tmp_path, original, released).parts.items()}
    assert sums["item"] == 3.0
    assert sums["price"] == pytest.approx(0.155, abs=5e-4)
    assert sums["quantity"] == pytest.approx(0.245, abs=5e-4)
    # (2 + 1 + 0)/0.816 is 3.67; S1 prints 3.76, hence 7.16 in sum and 0.60 for U where it is 7.07 and 0.59
    assert sums["date"] == pytest.approx(3 / math.sqrt(2 / 3))
    assert score(tmp_path, original, released).value == pytest.approx(7.0742 / 12, abs=1e-5)
    # with the printed prices
    printed = [line.replace("2.09", "2.0") for line in released]
    assert score(tmp_path, original, printed).value == pytest.approx(8.0055 / 12, abs=1e-5)


def test_a_wrong_item_and_a_set_without_the_true_one_cost_1(tmp_path: Path) -> None:
    released = ["7,2010/12/1,Z9,1.5,2", "7,2010/12/3,{A1;C3},2,4", "9,2010/12/8,C3,4.25,4", "9,2011/1/1,A1,0.5,10"]
    assert score(tmp_path, T, released).parts == {"date": 0.0, "item": 0.5, "price": 0.0, "quantity": 0.0}


def test_an_exact_copy_costs_nothing_and_nothing_costs_1(tmp_path: Path) -> None:
    assert score(tmp_path, T, T).value == 0.0
    assert score(tmp_path, T, ["*,*,*,*,*"] * 4).value == 1.0


def test_constant_columns(tmp_path: Path) -> None:
    same = ["1,2010/12/1,A,3,2", "2,2010/12/1,A,3,2"]
    assert score(tmp_path, same, ["8,2010/12/1,A,3,2", "9,2010/12/1,A,3,2"]).value == 0.0
    found = score(tmp_path, same, ["8,[2010/12/1;2010/12/2],A,3,2", "9,2010/12/1,A,[3;3],7"])
    assert found.parts == {"date": 0.5, "item": 0.0, "price": 0.0, "quantity": 0.5}


def test_only_the_columns_there_are_count() -> None:
    roles = {"who": {"role": "customer"}, "what": {"role": "item"}, "when": {"role": "date", "type": "datetime"}}
    schema = Schema.of({"columns": roles})
    original = History.of(
        {"who": ["a", "b"], "what": ["x", "y"], "when": ["2011-01-01 00:00:00", "2011-01-02 12:00:00"]}, schema
    )
    # the standard deviation is 18 hours, and so far the second time moved; the first item is gone
    later = original.frame["when"].dt.offset_by(pl.Series(["0h", "18h"]))
    moved = original.frame.with_columns(what=pl.Series([None, "y"]), when=later)
    release = Release.of_aligned(original, History(moved, schema), Statement("hand"))
    found = CellError().measure(Evidence(original, release))
    assert found.parts == {"date": 0.5, "item": 0.5}
    assert found.value == 0.5


def test_missing_originals() -> None:
    roles = {"who": {"role": "customer"}, "what": {"role": "item"}, "when": {"role": "date"}}
    schema = Schema.of({"columns": {**roles, "price": {"role": "price", "optional": True}}})
    original = History.of(
        {"who": list("abcd"), "what": list("wxyz"), "when": ["2011/1/1"] * 4, "price": [None, None, 1.0, 3.0]}, schema
    )
    released = original.frame.with_columns(price=pl.Series([None, 5.0, 1.0, 3.0]))
    release = Release.of_aligned(original, History(released, schema), Statement("hand"))
    # nothing lost, something invented, two right
    assert CellError().measure(Evidence(original, release)).parts["price"] == 0.25


# --- against the definition ------------------------------------------------------------------------------------------

VALUES = st.tuples(st.integers(0, 40), st.sampled_from("PQRS"), st.integers(1, 400), st.integers(1, 30))
SPREADS = st.tuples(*[st.one_of(st.none(), st.integers(-5, 12))] * 6)


@given(rows=st.lists(st.tuples(VALUES, SPREADS, st.sets(st.sampled_from("PQRS"), max_size=4)), min_size=2, max_size=12))
@examples(60)
def test_the_mean_error_over_all_draws(rows: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    def day(at: int) -> str:
        return f"2010/12/{at + 1}" if at < 31 else f"2011/1/{at - 30}"

    writers: dict[int, Callable[[int], str]] = {0: day, 2: lambda pence: f"{pence / 100:.2f}", 3: str}
    original, released = [], []
    costs: dict[int, list[Any]] = {column: [] for column in range(4)}
    for values, spreads, items in rows:
        cells = [""] * 4
        for place, (column, write) in enumerate(writers.items()):
            low, more = spreads[2 * place], spreads[2 * place + 1]
            least = 0 if column == 0 else 1
            if low is None:
                cells[column], ys = "*", None
            else:
                lo = max(values[column] + low, least)
                hi = lo + max(more or 0, 0)
                cells[column], ys = f"[{write(lo)};{write(hi)}]", range(lo, hi + 1)
            costs[column].append((values[column], ys))
        cells[1] = "{" + ";".join(sorted(items)) + "}" if items else "*"
        costs[1].append((values[1], sorted(items)))
        original.append(f"1,{day(values[0])},{values[1]},{values[2] / 100:.2f},{values[3]}")
        released.append(",".join(["9", *cells]))

    expected = []
    for column in range(4):
        known = [x for x, _ys in costs[column]]
        if column == 1:
            expected.append(sum(sum(x != y for y in ys) / len(ys) if ys else 1 for x, ys in costs[1]) / len(rows))
            continue
        mean = math.fsum(known) / len(known)
        sd = math.sqrt(math.fsum((x - mean) ** 2 for x in known) / len(known))

        def cost(x: int, ys: range | None, sd: float = sd) -> float:
            if ys is None:
                return 1
            if len(set(known)) == 1:  # noqa: B023
                return float(set(ys) != {x})
            return sum(abs(x - y) for y in ys) / len(ys) / sd

        expected.append(math.fsum(cost(x, ys) for x, ys in costs[column]) / len(rows))

    found = score(tmp_path_factory.mktemp("rows"), original, released)
    assert list(found.parts.values()) == pytest.approx(expected, rel=1e-9)
    assert found.value == pytest.approx(sum(expected) / 4, rel=1e-9)


# --- what it needs ---------------------------------------------------------------------------------------------------


def test_a_published_copy_cannot_be_measured(tmp_path: Path) -> None:
    data = of_lines(tmp_path / "T.csv", T)
    Release.of_aligned(data, data, Statement("copy")).publish(tmp_path / "published")
    with pytest.raises(ParameterError, match="no secret part"):
        CellError().measure(Evidence(data, Release.load(tmp_path / "published")))


def test_another_original_is_refused(tmp_path: Path) -> None:
    data, other = of_lines(tmp_path / "T.csv", T), of_lines(tmp_path / "other.csv", T[:3])
    release = Release.of_aligned(data, data, Statement("copy"))
    with pytest.raises(ParameterError, match="made of 4 rows, the original has 3"):
        CellError().measure(Evidence(other, release))


def test_a_table_is_refused(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    table = Table.of({"age": ["1"]}, schema)
    release = Release(table, Secret(pl.DataFrame(), pl.Series([0], dtype=pl.UInt32), 1), Statement("copy"))
    with pytest.raises(SchemaError, match="original is a table"):
        CellError().measure(Evidence(table, release))
    with pytest.raises(SchemaError, match="release is a table"):
        CellError().measure(Evidence(of_lines(tmp_path / "T.csv", T[:1]), release))


def test_it_declares_itself() -> None:
    measure = measures["cell-error"]
    assert (measure.goal, measure.bounds) == ("lower", (0.0, None))
    assert measure.needs == {"original", "public", "secret"}
