"""S0: Table 4, its examples, the correlations of its own lines, and what its tables stand beside."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Command

from noren.reproduce import s0 as document
from noren.reproduce import s0_work as work
from noren.reproduce.frame import Comparison, Extent, UnitResults
from noren.reproduce.run import DocumentChoice, reproduce
from noren.reproduce.s0 import BEYOND, COLUMNS, CORRELATIONS, DOCUMENT, TABLE_3, TABLE_4, TABLES

QUICK = Extent(quick=True)
NOTHING = UnitResults(QUICK, {})


def by_place(compared: Comparison) -> dict[tuple[str, str], Any]:
    return {(cell.row, cell.column): cell for cell in compared.cells}


def test_all_of_table_4() -> None:
    compared = document.table_4(NOTHING)
    exact = [cell for cell in compared.cells if cell.exact]
    assert len(exact) == len(TABLE_4) == 70
    assert all(cell.ok for cell in exact)
    cells = by_place(compared)
    assert (cells["n' = 6", "r(n')"].ours, cells["n' = 7", "r(n')"].ours) == ("*", 7)
    assert (cells["n' = 99", "r(n')"].ours, cells["n' = 99", "sharp bound"].ours) == (64, 52)
    assert (cells["n' = 999", "r(n')"].ours, cells["n' = 999", "sharp bound"].ours) == (612, 392)


def test_what_the_text_works_out() -> None:
    found = UnitResults(QUICK, {unit: unit.work(*unit.arguments) for unit in document.SURVIVING})
    cells = by_place(document.examples(found))
    assert [cell for cell in cells.values() if cell.fails] == []
    assert cells["k = 2: success probability of the best attack", "S0's bound"].ours == pytest.approx(299 / 4096)
    assert cells["k = 2: probability of surviving 13 attackers", "sharp bound"].ours == 0
    # two triples and one of a third: 1/6 · 1/6 · 1/3
    survives = cells["k = 3: probability of surviving 13 attackers", "sharp bound"].ours
    assert survives == pytest.approx((1 - 1 / 108) ** 13)


def test_table_5_beside_what_is_to_be_expected() -> None:
    results = {unit: {"chance": 0.5, "survival": 0.25} for unit in document.OF_KINDS}
    cells = by_place(document.kinds(UnitResults(QUICK, results)))
    column = "S0's bound: survivors"
    assert (cells["pairs", column].paper, cells["pairs", column].ours) == (3, 1.5)
    assert cells["based on triples", column].ours is None
    assert sum(cell.ours for (_row, column), cell in cells.items() if column == "releases") == 13


def test_two_customers_alone_are_found_more_often_than_pairs() -> None:
    # seven of seven: the two who are alone, two pairs and one of a third, 1/2 · 1/2 · 1/2
    assert work.surviving(2, 2, "paper")["chance"] == pytest.approx(1 / 8)


def test_table_3_has_the_best_pairs_beside_three_teams() -> None:
    best = {"U": 0.20601, "deleted": 2622, "lower_bound": 0.20601}
    compared = document.table_3(UnitResults(QUICK, {document.BEST: best}))
    same = [cell.row for cell in compared.cells if cell.ours is not None]
    assert same == ["team 01", "team 11", "team 14"]
    assert all(cell.ok for cell in compared.cells if cell.ours is not None)
    assert "2,622 rows deleted and a lower bound of 0.20601" in compared.remarks[0]
    assert any(cell.fails for cell in document.table_3(UnitResults(QUICK, {document.BEST: best | {"U": 0.207}})).cells)


def test_every_printed_correlation_follows_from_the_printed_lines() -> None:
    cells = document.correlations(NOTHING).cells
    exact = [cell for cell in cells if cell.exact]
    assert len(exact) == 2 * len(CORRELATIONS) + 1 == 51
    assert all(cell.ok for cell in exact)
    assert sum(cell.paper == "yes" for cell in exact) == len(BEYOND) == 8


def results(slope: float) -> dict[str, Any]:
    """U grows from release to release, and every error with it, or against it."""
    parts = [part for columns in COLUMNS.values() for part in columns]
    found = {}
    for i, name in enumerate(document.QUICK):
        errors = dict.fromkeys(parts, 10 + slope * i + 0.1 * (i % 2))
        found[name] = {"U": 0.2 + 0.05 * i, "draws": 2, "errors": errors, "spread": dict.fromkeys(parts, 0.1)}
    return found


def of_releases(slope: float) -> UnitResults:
    ours = {document.release_unit(name, QUICK): result for name, result in results(slope).items()}
    printed = {
        part: said for n, columns in COLUMNS.items() for part, said in zip(columns, TABLES[n]["01"], strict=True)
    }
    drawn = {"draws": 5, "errors": printed, "spread": dict.fromkeys(printed, 0.0)}
    return UnitResults(QUICK, ours | {document.TEAM_01: drawn})


@pytest.mark.parametrize("number", COLUMNS)
def test_tables_6_to_10_beside_the_paper(number: int) -> None:
    compared = document.table(number, of_releases(1.0))
    columns = len(COLUMNS[number])
    assert len(compared.cells) == columns * (len(TABLE_3) + len(document.QUICK) + 2)
    assert [cell for cell in compared.cells if cell.fails] == []
    cells = by_place(compared)
    first = document.column_titles()[COLUMNS[number][0]]
    assert cells["team 01 (U 0.206)", first].ok is True
    assert cells["team 12 (U 0.476)", first].ours is None
    assert cells["team 14 (U 0.206)", first].ours == pytest.approx(16)  # the seventh release, the best pairs
    assert cells["our releases: correlation with U", first].ours == pytest.approx(1, abs=0.001)


def test_correlations_of_our_releases() -> None:
    cells, correlation = by_place(document.correlations(of_releases(-1.0))), "our releases: correlation with U"
    assert cells["significance limit, 7 releases", correlation].ours == pytest.approx(0.754, abs=0.001)
    assert cells["RFM", correlation].ours == pytest.approx(-1, abs=0.001)
    assert cells["RFM", "our releases: significant"].ours == "yes"
    compared = document.correlations(of_releases(0.0))
    assert by_place(compared)["RFM", "our releases: significant"].ours == "no"
    assert "agree on 17 of 25" in compared.remarks[1]
    assert "RFM" in compared.remarks[0]


def test_there_are_more_releases_than_teams_and_the_best_pairs_among_them() -> None:
    assert len(work.RELEASES) == 16
    assert document.WINNER in work.RELEASES
    assert set(document.QUICK) < set(work.RELEASES)
    assert len(document.units(QUICK)) == 8


def test_printed_sums_of_dates_follow_from_printed_means() -> None:
    (erratum,) = [erratum for erratum in DOCUMENT.errata() if erratum.key == "dates"]
    assert [cell.ok for cell in erratum.cells] == [True] * 3


def test_without_data_the_rest_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    choice = DocumentChoice(tables=("3", "4", "6", "7"), parts=("correlations",))
    report = reproduce([DOCUMENT], QUICK, choice, folder=tmp_path / "kept", workers=1)
    missing = [part.part.key for part in report.documents[0].parts if part.missing]
    assert missing == ["table-3", "table-6", "table-7", "correlations"]
    assert (report.computed, report.failed) == (0, [])


def test_the_command(noren: Command, tmp_path: Path) -> None:
    answer = noren("reproduce", "S0", "--table", 4, "--json", "--cache", tmp_path, "--workers", 1)
    assert answer.code == 0
    assert [len(part["cells"]) for part in answer.json["documents"][0]["parts"]] == [140]


# --- on the published data -------------------------------------------------------------------------------------------


def test_team_01_on_its_published_draws(shared: Path) -> None:
    team = work.team_01()
    assert team["draws"] == 5
    assert team["errors"]["rows"] == 2622
    found = UnitResults(QUICK, {document.TEAM_01: team})
    for number in COLUMNS:
        cells = [c for c in document.table(number, found).cells if c.row.startswith("team 01")]
        assert [c.column for c in cells if c.ok is False and not c.erratum] == []
    assert team["errors"]["retail"] == pytest.approx(0.785, abs=0.004)


def test_a_release_of_ours(shared: Path) -> None:
    ours = work.useful("by count, k = 2", 1)
    assert ours["U"] == pytest.approx(0.3435, abs=1e-4)
    assert (ours["deleted"], ours["errors"]["rows"]) == (1284, 1284)
