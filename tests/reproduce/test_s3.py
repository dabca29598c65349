"""S3: Table 1 and figures 2 to 4 beside releases of ours."""

from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Command

from noren.reproduce import s3 as document
from noren.reproduce import s3_work as work
from noren.reproduce.frame import Extent, UnitResults
from noren.reproduce.run import reproduce
from noren.reproduce.s3 import DOCUMENT, TABLE_1

FULL, QUICK = Extent(), Extent(quick=True)


def judged(attacks: tuple[str, ...], rates: dict[str, list[float]]) -> dict[str, Any]:
    """What a unit returns, where each attack finds so much after each of twelve months."""
    curves = {attack: rates.get(attack, [0.0] * 12) for attack in attacks}
    return {
        "months": [str(month) for month in range(12)],
        "um": {attack: curve[-1] / 2 for attack, curve in curves.items()},
        "mm": {attack: curve[-1] for attack, curve in curves.items()},
        "emm": {attack: max(curve) for attack, curve in curves.items()},
        "curve": curves,
    }


FALLING = [0.9, *[0.5] * 10, 0.45]
LATE = [0.0, 0.6, *[0.0] * 10]


def found(asked: Extent = QUICK) -> UnitResults:
    """S2 falls, S4 has one good month, S8 is steady; linkage finds everybody."""
    simple = judged(work.SIMPLE, {"s2": FALLING, "s4": LATE, "s8": [0.3] * 12})
    best = judged(("linkage",), {"linkage": [1.0] * 12})
    return UnitResults(asked, {u: simple if u.work is work.matched else best for u in document.units(asked)})


def test_table_1_beside_the_paper() -> None:
    compared = document.table_1(found())
    cells = {(c.row, c.column): c for c in compared.cells}
    assert len(cells) == 4 * len(TABLE_1) + 5 * len(work.RELEASES) + 1
    assert [c for c in compared.cells if c.fails] == []
    assert cells["No5", "EMM/MM"].ours == pytest.approx(0.433 / 0.307)
    assert (cells["No5", "EMM"].paper, cells["No5", "EMM"].ours) == (0.433, None)
    ours = {column: cells["swap 50 %", column].ours for column in ("UM", "MM", "EMM", "EMM/MM", "EMM (linkage)")}
    assert ours == {"UM": 0.225, "MM": 0.45, "EMM": 0.9, "EMM/MM": 2.0, "EMM (linkage)": 1.0}
    assert cells["swap 50 %", "EMM/MM"].note == "best attack: S2"
    assert "up to 2.00 times, in one of 8 runs with MM of at least 0.01; in S3 up to 1.41 times" in compared.remarks[1]
    assert "in 8 of 8 runs" in compared.remarks[2]


def test_three_seeds_and_their_spread() -> None:
    cells = document.table_1(found(FULL)).cells
    (emm,) = [c for c in cells if (c.row, c.column) == ("swap 50 %", "EMM")]
    assert (emm.seeds, emm.spread) == (3, 0.0)


@pytest.mark.parametrize(("mm", "emm", "printed"), [(0.047, 0.053, 1.127), (0.994, 1.000, 1.006)])
def test_a_quotient_of_rounded_numbers(mm: float, emm: float, printed: float) -> None:
    assert abs(emm / mm - printed) <= document.ratio_room(mm, emm) < 0.03


def test_nothing_run_says_so() -> None:
    compared = document.table_1(UnitResults(QUICK, {}))
    assert len(compared.remarks) == 1
    assert {c.ours for c in compared.cells if c.row in work.RELEASES} == {None}


def test_figure_2_is_the_largest_of_six_month_by_month() -> None:
    compared = document.figure(2, found())
    cells = {(c.row, c.column): c.ours for c in compared.cells}
    name = "pseudonyms alone"
    assert cells[name, "after month 1"] == 0.9
    assert cells[name, "after month 12"] == 0.45
    assert cells[name, "month of the largest"] == 1
    # in the second month S4 finds more than S2
    runs = found().over_seeds(document._matched, name, full=3)
    assert document._curve(runs, work.BY_KEY)[1] == 0.6
    assert document._curve(runs, ("s7",)) == [0.0] * 12


def test_figure_4_is_drawn_and_says_how_often_s8_finds_more() -> None:
    compared = document.figure(4, found())
    assert "S8 finds more than the best of S1 to S6 in 0 of 8 releases" in compared.remarks[1]
    (chart,) = compared.charts
    assert chart.draw().startswith("<svg")


def test_without_data_nothing_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    report = reproduce([DOCUMENT], QUICK, folder=tmp_path / "kept", workers=1)
    assert all(part.missing for part in report.documents[0].parts)
    assert len(report.documents[0].errata) == 3


def test_there_are_six_releases_at_least() -> None:
    assert len(work.RELEASES) == 8
    assert len(document.units(QUICK)) == 16
    assert len(document.units(FULL)) == 48


# --- on the published data -------------------------------------------------------------------------------------------


def test_known_runs(shared: Path) -> None:
    plain = work.matched("pseudonyms alone", 1)
    assert len(plain["months"]) == 12
    assert plain["emm"]["s7"] == pytest.approx(0.995, abs=0.005)
    assert all(plain["emm"][attack] >= plain["mm"][attack] for attack in work.SIMPLE)
    assert all(max(plain["curve"][attack]) == plain["emm"][attack] for attack in work.SIMPLE)
    assert all(plain["curve"][attack][-1] == pytest.approx(plain["mm"][attack]) for attack in work.SIMPLE)
    swapped = work.matched("swap 50 %", 1)
    assert max(swapped["emm"].values()) == pytest.approx(0.554, abs=0.005)
    assert work.linked("swap 50 %", 1)["emm"]["linkage"] == pytest.approx(0.967, abs=0.03)


def test_the_command_names_what_it_ran(noren: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    answer = noren("reproduce", "S3", "--table", 1, "--json", "--cache", tmp_path / "kept", "--workers", 1)
    assert answer.code == 0
    (part,) = answer.json["documents"][0]["parts"]
    assert part["key"] == "table-1"
