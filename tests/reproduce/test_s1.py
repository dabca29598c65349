"""S1: its table to the third decimal, its examples, its errata."""

from pathlib import Path

import numpy as np
import pytest
from tests.conftest import Command

from noren.reproduce import s1 as document
from noren.reproduce import s1_work as work
from noren.reproduce.frame import Extent, UnitResults
from noren.reproduce.run import DocumentChoice, reproduce
from noren.reproduce.s1 import COUNTED, DOCUMENT, ITEMS, TABLE
from noren.work.store import WorkUnit

QUICK = Extent(quick=True)


def run(units: list[WorkUnit]) -> UnitResults:
    return UnitResults(QUICK, {unit: unit.work(*unit.arguments) for unit in units})


# --- without data ----------------------------------------------------------------------------------------------------


def test_the_examples_of_the_pages_row_by_row() -> None:
    compared = document.generalised_rows(run([document.EXAMPLES]))
    assert len(compared.cells) == 21
    assert all(cell.exact and cell.ok for cell in compared.cells)
    said = [cell.ours for cell in compared.cells]
    assert said[:3] == ["[2010/11/2;2011/4/6],{A;B;C},[1;3],[1;10]"] * 3
    assert said[-1] == "[2011/4/2;2011/10/10],general,[2;3],[1;10]"


def test_the_error_of_three_rows() -> None:
    cells = {(c.row, c.column): c for c in document.rows_error(run(list(document.ERRORS))).cells}
    meant, printed = "price 2.09", "price 2.00"
    assert cells["price: sum", meant].ours == pytest.approx(0.03 / 0.193275, abs=1e-5)
    assert cells["price: sum", printed].ours == pytest.approx(0.21 / 0.193275, abs=1e-4)
    assert cells["U", meant].ours == pytest.approx(7.0742 / 12, abs=1e-5)
    assert cells["U", printed].ours == pytest.approx(8.0055 / 12, abs=1e-5)
    assert [c.row for c in cells.values() if c.fails] == []
    # dates twice, prices once, the sum and U twice
    assert sum(c.ok is False for c in cells.values()) == 7


def test_who_is_left_over_stays_alone() -> None:
    counts = np.array([5, 1, 4, 2, 3, 9, 1])
    # by count 9 5 4 | 3 2 1 | 1, the last one in the order given
    assert work.groups_by_count(counts, 3).tolist() == [0, 1, 0, 1, 1, 0, 2]
    assert work.groups_by_count(counts, 4).tolist() == [0, 2, 0, 1, 0, 0, 3]
    assert work.groups_by_count(counts, 7).tolist() == [0] * 7


def of_table(u: dict[int, float], ks: tuple[int, ...] = ()) -> UnitResults:
    results = {document.unit(k, "items"): value for k, value in u.items()}
    results |= {document.deleted_unit(k): value for k, value in u.items() if 1000 % k}
    return UnitResults(QUICK, results | {document.unit(k, "categories"): u[k] - 0.02 for k in ks})


def test_the_table_beside_the_paper() -> None:
    compared = document.table(of_table({k: said[0] + 0.0004 for k, said in TABLE.items()}, (2, 20)))
    cells = {(c.row, c.column): c for c in compared.cells}
    # five columns, one more for each k that leaves customers over, and the best k
    assert len(cells) == 5 * 11 + 5 + 1
    assert [c for c in compared.cells if c.fails] == []
    assert cells["k = 20", "items: U + 1/k"].ok is False
    assert cells["k = 20", "items: U + 1/k"].erratum == "sum"
    assert (cells["best k", "items: U + 1/k"].ours, cells["best k", "items: U + 1/k"].ok) == (6, True)
    assert cells["k = 3", "categories: U"].ours is None
    assert cells["k = 2", "categories: U"].ours == pytest.approx(0.3284)
    assert cells["k = 15", "items: U"].note == "customers left over: 10"
    assert cells["k = 15", "items: U: customers left over deleted"].ok is True
    assert ("k = 20", "items: U: customers left over deleted") not in cells
    # a U that is off by one in the third decimal is an error
    off = document.table(of_table({k: said[0] + 0.001 * (k == 7) for k, said in TABLE.items()}))
    assert [c.row for c in off.cells if c.fails and c.column == "items: U"] == ["k = 7"]


def test_the_sums_of_the_table_but_one() -> None:
    (erratum,) = [erratum for erratum in DOCUMENT.errata() if erratum.key == "sum"]
    assert [cell.row for cell in erratum.cells if not cell.ok] == ["k = 20"]
    assert sum(COUNTED.values()) == 3156 < ITEMS


def test_the_best_groups_beside_the_paper() -> None:
    best = {"U": 0.2, "lower_bound": 0.2, "optimal": True, "deleted": 0}
    compared = document.beyond(UnitResults(QUICK, {document.best_unit(2): best, document.count_unit(6, True): 0.7}))
    cells = {(c.row, c.column): c for c in compared.cells}
    assert (cells["k = 2", "generalize"].ok, cells["k = 2", "generalize"].note) == (True, "proved optimal")
    assert cells["k = 6", "cells suppressed"].ok is False
    assert cells["k = 6", "cells suppressed"].fails is False
    assert cells["k = 3", "lower bound"].ours is None
    assert ("k = 5", "generalize") not in cells


def test_the_figure_is_drawn() -> None:
    (chart,) = document.figure(of_table({k: said[0] for k, said in TABLE.items()}, (2,))).charts
    assert chart.draw().startswith("<svg")


def test_without_data_the_rest_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    report = reproduce([DOCUMENT], QUICK, folder=tmp_path / "kept", workers=1)
    missing = [part.part.key for part in report.documents[0].parts if part.missing]
    assert missing == ["categories", "table-1", "figure-1", "beyond"]
    assert (report.computed, report.failed) == (3, [])


def test_the_command(noren: Command, tmp_path: Path) -> None:
    answer = noren("reproduce", "S1", "--part", "alike", "--json", "--cache", tmp_path, "--workers", 1)
    assert answer.code == 0
    (document,) = answer.json["documents"]
    assert [len(part["cells"]) for part in document["parts"]] == [21]


# --- on the published data -------------------------------------------------------------------------------------------


def test_u_where_the_rest_decides(shared: Path) -> None:
    """Eleven U are the paper's; those of k = 12 and 15 are so where the rest stays as it is, or is deleted."""
    deleted = [work.deleting_the_rest(k) for k in (6, 7, 12, 15)]
    assert deleted == pytest.approx([0.6151, 0.6417, 0.7484, 0.7803], abs=5e-5)
    assert [round(u, 3) for u in deleted] == [TABLE[k][0] for k in (6, 7, 12, 15)]
    assert work.leaving_the_rest(12, "items") == pytest.approx(0.74839, abs=1e-5)
    assert work.leaving_the_rest(15, "items") == pytest.approx(0.78014, abs=1e-5)
    assert work.by_count(15, False) == pytest.approx(0.78159, abs=1e-5)
    assert work.by_count(6, True) == pytest.approx(0.562, abs=5e-4)


def test_choices_of_parts() -> None:
    assert [part.key for part in DocumentChoice(tables=("1",)).of(DOCUMENT)] == ["table-1"]
    assert len(document.table_units(QUICK)) == 11 + 5 + 1 + 3
    assert len(document.beyond_units(Extent())) == 2 * 11 + 5
