"""Past the documents: thresholds and plans worked out by hand, and how results stand beside the teams'."""

from typing import Any

import pytest

from noren.api import sample
from noren.data.frames import History
from noren.drawing.base import COLOURS
from noren.reproduce import beyond as document
from noren.reproduce import beyond_work as work
from noren.reproduce import s4
from noren.reproduce.beyond import DOCUMENT
from noren.reproduce.frame import Comparison, Extent, UnitResults
from noren.reproduce.s0 import TABLE_3
from noren.reproduce.s4 import KS, TABLE_5
from noren.work.store import WorkUnit

QUICK, FULL = Extent(quick=True), Extent()


def by_place(compared: Comparison) -> dict[tuple[str, str], Any]:
    return {(cell.row, cell.column): cell.ours for cell in compared.cells}


def test_the_sharp_bound_beside_the_papers() -> None:
    compared = document.bound(UnitResults(QUICK, {}))
    cells = by_place(compared)
    assert [cells[f"n' = {n}", "S0's bound"] for n in (7, 17, 18, 24, 99, 999)] == [7, 14, 15, 18, 64, 612]
    assert [cells[f"n' = {n}", "sharp bound"] for n in (7, 17, 18, 24, 99, 999)] == [7, 14, 14, 18, 52, 392]
    assert cells["n' = 999", "difference"] == 612 - 392
    assert (
        "agree up to n' = 17. If all 999 are named, the sharp bound requires 392 right answers" in compared.remarks[0]
    )
    assert "<svg" in compared.charts[0].draw()


def test_what_the_best_attacker_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "SIZES", (2, 3, 7))
    plans = [document._plan(size, bound) for size in (2, 3, 7) for bound in ("paper", "sharp")]
    found = UnitResults(QUICK, {unit: unit.work(*unit.arguments) for unit in plans})
    compared = document.classes(found)
    cells = by_place(compared)
    assert cells["k = 2", "S0's bound: right answers / names"] == "18/24"
    assert cells["k = 2", "S0's bound: success probability of the best attack"] == pytest.approx(299 / 4096)
    # one customer for both of 63 pairs: 63 sure hits
    assert cells["k = 2", "sharp bound: right answers / names"] == "63/126"
    assert cells["k = 2", "sharp bound: probability of surviving 13 attackers"] == 0
    # two triples and one of a third
    assert cells["k = 3", "sharp bound: success probability of the best attack"] == pytest.approx(1 / 108)
    assert cells["k = 7", "S0's bound: success probability of the best attack"] == pytest.approx(1 / 5040)
    assert "Of 6 releases by pairs in 2018, 3 were never re-identified." in compared.remarks[0]


def frontier_results(asked: Extent) -> dict[WorkUnit, Any]:
    results: dict[WorkUnit, Any] = {}
    for unit in document.frontier_units(asked):
        if unit.work is work.plan:
            results[unit] = {"named": 7, "needed": 7, "chance": 0.0, "survival": 0.9}
        else:
            results[unit] = {"U": 0.25, "deleted": 10, "lower_bound": 0.2, "optimal": True}
    return results


def test_the_frontier_beside_the_teams() -> None:
    compared = document.frontier(UnitResults(FULL, frontier_results(FULL)))
    assert by_place(compared)["k = 3", "lower bound"] == 0.2
    assert {cell.note for cell in compared.cells if cell.row == "k = 3"} == {"", "proved optimal"}
    drawn = compared.charts[0].draw()
    assert drawn.count("k = 10") >= 2  # ours and S1's
    assert drawn.count(COLOURS["teal"]) == 2 + sum(not hit for _u, hit in TABLE_3.values())  # twice in the legend


def test_quick_searches_pairs_alone() -> None:
    cells = by_place(document.frontier(UnitResults(QUICK, frontier_results(QUICK))))
    assert cells["k = 2", "generalize"] == 0.25
    assert cells["k = 3", "generalize"] is None


def test_what_auto_gains() -> None:
    results = {
        s4.adult_unit(table, k, seed, "auto"): {"perturbed": 30.0, "reconstructed": TABLE_5[table][2][at] + 1 + at}
        for table in TABLE_5
        for at, k in enumerate(KS)
        for seed in FULL.seeds(full=s4.SEEDS)
    }
    compared = document.gains(UnitResults(FULL, results))
    assert by_place(compared)["t1, k = 10", "difference"] == pytest.approx(3.0)
    assert compared.remarks == ["auto gains +2.0 points on average over 12 cells (+1.0 to +3.0)."]
    assert document.gains(UnitResults(QUICK, {})).remarks == []


def book(*emm: float, certified: float | None = None) -> dict[str, Any]:
    return {
        "months": [f"2011/{i}" for i in range(1, 13)],
        "mm": [0.1] * 12,
        "emm": list(emm),
        "interval": [(0.05, 0.15)] * 12,
        "certified": [certified] * 12,
    }


def test_a_year_of_a_ledger() -> None:
    units = document.year_units(FULL)
    low, high = book(*[0.2] * 12), book(*[0.2] * 4, *[0.3] * 8)
    by_name = {
        "monthly-pseudonyms": low,
        document.STORY: high,
        "by count, k = 3": book(certified=1 / 3),
        "by count, k = 5, cells suppressed": book(certified=0.2),
    }
    results = {unit: by_name[str(unit.arguments[0])] for unit in units}
    compared = document.year(UnitResults(FULL, results))
    assert compared.remarks[1:3] == [
        "monthly-pseudonyms: linkage: a budget of 0.265 is enough for the whole year.",
        "thin 10 %, perturb: S1–S8: a budget of 0.265 is exceeded in 2011/5.",
    ]
    assert compared.remarks[-2:] == [
        "by count, k = 3: certified: a budget of 0.265 is exceeded in 2011/1.",
        "by count, k = 5, cells suppressed: certified: a budget of 0.265 is enough for the whole year.",
    ]
    noted = [cell for cell in compared.cells if cell.note == "95 %: 0.050–0.150"]
    assert {(cell.row, cell.column) for cell in noted} >= {("thin 10 %, perturb: linkage", "after month 12")}
    assert len(noted) == 4
    cells = by_place(compared)
    assert cells["by count, k = 3: linkage", "after month 4"] == 0.1
    assert cells["by count, k = 3: certified", "after month 1"] == pytest.approx(1 / 3)
    assert "<svg" in compared.charts[0].draw()
    [unit] = document.year_units(QUICK)
    shown = document.year(UnitResults(QUICK, {unit: high}))
    assert sum(cell.ours is not None for cell in shown.cells) == len(document.DISPLAYED_MONTHS)
    assert "<svg" in shown.charts[0].draw()


def test_which_way_to_publish() -> None:
    results = {unit: {"U": int(unit.arguments[3]) / 10, "deleted": 7} for unit in document.monthly_units(FULL)}
    cells = by_place(document.monthly(UnitResults(FULL, results)))
    assert cells["new groups and pseudonyms each month", "U"] == pytest.approx(0.2)
    assert cells["groups of the whole year, one pseudonym", "rows deleted"] == 7
    assert [unit.arguments[0] for unit in document.monthly_units(QUICK)] == ["months"]


@pytest.mark.slow
def test_the_work_on_small_data(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {
        work.HISTORIES: sample(customers=8, rows=60, items=20, seed=1, schema="pwscup2018"),
        work.MONTHS: sample(customers=12, rows=600, items=30, seed=1, schema="pwscup2017"),
    }

    def given(name: str) -> History:
        return data[name]

    monkeypatch.setattr(work, "customers_of", given)
    work._shop.cache_clear()
    try:
        best, counted = work.grouped(2, "quick"), work.by_count(2, True)
        assert best["lower_bound"] <= best["U"] + 1e-9 <= counted["U"] + 2e-9
        assert work.by_count(2, False)["U"] >= counted["U"]
        ways = {way: work.published(way, 2, "quick", 1) for way in ("months", "year", "cut")}
        assert ways["cut"]["U"] > max(
            ways["months"]["U"], ways["year"]["U"]
        )  # who bought nothing takes the others along
        assert ways["cut"]["deleted"] > ways["year"]["deleted"]
        year = work.ledger_year("monthly-pseudonyms", "s1-s8")
        assert year["months"][0] == "2010/12"
        assert year["emm"] == sorted(year["emm"])
        assert year["emm"][-1] > 0.9  # pseudonyms alone hide nobody
    finally:
        work._shop.cache_clear()


def test_the_document() -> None:
    assert [part.key for part in DOCUMENT.parts] == [
        "bound",
        "classes",
        "frontier",
        "reconstruction",
        "ledger",
        "inference",
        "monthly",
    ]
