"""The final of 2018 played again: lots inside classes, customers left alone, who wins."""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren import sample
from noren.contest.standings import ranks
from noren.data.compatibility import class_sizes, history_classes
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.kernels.judging.survival import AttackPlan, best_plan
from noren.measures.utility.cell_error import CellError
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Evidence
from noren.reproduce import s0 as document
from noren.reproduce import s0_work as work
from noren.reproduce.frame import Comparison, Extent, UnitResults
from noren.reproduce.s0 import KINDS
from noren.reproduce.s0_work import ENTRIES, class_members, leave_unprotected, random_guess

FULL = Extent(wanted_seeds=2)


def shop(customers: int) -> History:
    """Everybody buys once; 1 and 2, 3 and 4, … buy the same day, and nobody else does."""
    names = [str(i) for i in range(customers)]
    days = [f"2010/12/{1 + i // 2}" for i in range(customers)]
    rows = {"customer": names, "date": days, "item": ["a"] * customers, "price": [1.0] * customers}
    return History.of(rows | {"quantity": [1] * customers}, Schema.preset("pwscup2018"))


@pytest.fixture(scope="module")
def bought() -> History:
    made = sample(customers=12, rows=120, items=20, seed=3, schema="pwscup2018")
    assert isinstance(made, History)
    return made


def public_of(release: Release) -> History:
    assert isinstance(release.public, History)
    return release.public


def hits(guess: pl.DataFrame, release: Release) -> int:
    return guess.join(release.secret.pseudonyms.cast(pl.String), on=["pseudonym", "customer"]).height


# --- lots ------------------------------------------------------------------------------------------------------------


def test_lots_are_drawn_inside_classes_as_the_plan_says() -> None:
    original = shop(24)
    release = Pseudonymize().protect(original, seed=5)
    found = class_members(original, public_of(release))
    assert found.size.tolist() == [2] * 24
    plan = best_plan([2] * 12)
    assert (plan.named, plan.needed) == (24, 18)
    draws = np.random.Generator(np.random.Philox(1))
    counts = Counter(hits(random_guess(found, plan, draws), release) for _try in range(1500))
    assert all(right % 2 == 0 for right in counts)  # both of a pair, or neither
    effective = sum(count for right, count in counts.items() if right >= plan.needed) / 1500
    spread = (plan.chance * (1 - plan.chance) / 1500) ** 0.5
    assert abs(effective - 299 / 4096) < 4 * spread


def test_a_sure_plan_has_one_hit_in_each_class_whatever_the_lots() -> None:
    original = shop(10)
    release = Pseudonymize().protect(original, seed=5)
    found = class_members(original, public_of(release))
    plan = AttackPlan(6, 3, 1.0, ((2, 2, 3),), sure=True)
    draws = np.random.Generator(np.random.Philox(1))
    for _try in range(5):
        guess = random_guess(found, plan, draws)
        assert (guess.height, guess["pseudonym"].n_unique(), guess["customer"].n_unique()) == (6, 6, 3)
        assert hits(guess, release) == 3


def test_smaller_classes_come_first_and_some_are_named_in_part() -> None:
    original = shop(9)  # the ninth is alone
    release = Pseudonymize().protect(original, seed=5)
    found = class_members(original, public_of(release))
    guess = random_guess(
        found, AttackPlan(4, 4, 0.25, ((1, 1, 1), (2, 1, 1), (2, 2, 1))), np.random.Generator(np.random.Philox(1))
    )
    by_day = guess["customer"].cast(pl.Int64) // 2
    assert guess["customer"][0] == "8"
    assert sorted(Counter(by_day.to_list()).values()) == [1, 1, 2]


# --- customers left alone --------------------------------------------------------------------------------------------


def test_customers_are_left_alone_two_by_two_where_that_saves_most(bought: History) -> None:
    pairs = GeneralizeByCount(k=2).protect(bought, seed=1)
    mixed = leave_unprotected(bought, pairs, 2)
    assert Counter(class_sizes(public_of(mixed))) == {1: 2, 2: 5}
    before, after = (CellError().measure(Evidence(bought, one)).value for one in (pairs, mixed))
    plain = mixed.by_name().texts().join(bought.texts(), on=bought.schema.names, how="semi")
    alone = [
        name
        for name, rows in plain["customer"].value_counts().rows()
        if rows == bought.texts().filter(customer=name).height
    ]
    assert len(alone) == 2
    # no other pair would have saved more
    others = [left_alone_pair(bought, pairs, group) for group in range(6)]
    assert after == pytest.approx(min(others))
    assert after < before


def left_alone_pair(original: History, release: Release, group: int) -> float:
    """U where one pair is left alone, by brute force."""
    members = history_classes(public_of(release)).filter(pl.col("class") == group)["pseudonym"]
    known = release.secret.pseudonyms.cast(pl.String)
    theirs = known.filter(pl.col("pseudonym").is_in(members.implode()))["customer"]
    whose = original.texts()["customer"].is_in(theirs.implode())
    aligned, plain = release.aligned().texts(), original.texts()
    mixed = aligned.select(
        pl.when(whose & (pl.lit(name) != "customer")).then(plain[name]).otherwise(pl.col(name)).alias(name)
        for name in aligned.columns
    )
    # a row that was deleted has no pseudonym; any one will do for U
    mixed = mixed.with_columns(pl.when(whose).then(plain["customer"]).otherwise(pl.col("customer")).alias("customer"))
    made = Release.of_aligned(original, History.of_release(mixed, original.schema), Statement("hand"))
    return CellError().measure(Evidence(original, made)).value


# --- who wins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "survival"),
    [
        ([0.0, 0.2, 0.3], [0.0, 0.4, 0.9]),
        ([0.2, 0.2, 0.2, 0.1, 0.5], [0.4, 0.3, 0.2, 0.1, 0.0]),
        ([0.3, 0.3], [0.0, 0.0]),
    ],
)
def test_chances_to_win_are_those_of_all_outcomes(scores: list[float], survival: list[float]) -> None:
    expected = np.zeros(len(scores))
    for alive in product((False, True), repeat=len(scores)):
        chance = np.prod([s if a else 1 - s for s, a in zip(survival, alive, strict=True)])
        first = ranks([(False, score) if a else None for a, score in zip(alive, scores, strict=True)])
        expected += chance * np.array([rank == 1 for rank in first])
    assert document.win_chances(scores, survival) == pytest.approx(expected)


def test_the_entries_are_of_table_5s_kinds() -> None:
    assert Counter(entry.kind for entry in ENTRIES.values()) == {kind: count for kind, (count, _alive) in KINDS.items()}
    assert len(ENTRIES) == 13
    assert document.entry_label("D") == "generalize, k = 2, 2 customers unprotected"


def made_up(effective: dict[str, dict[str, int]]) -> UnitResults:
    """All work done, by hand: A has the least U, M the most, and each attacker's chance is 0 or 1."""
    results: dict[Any, Any] = {}
    for unit in document.cup_units(FULL):
        team = str(unit.arguments[0])
        if unit.work is work.entered:
            plans = {bound: {"chance": float(effective[bound].get(team, 0) > 0)} for bound in work.BOUNDS}
            u = (list(ENTRIES).index(team) + 1) / 100
            results[unit] = {"values": {"cell-error": u}, "deleted": 7, "classes": {"2": 500}, "plans": plans}
        elif unit.work is work.played:
            results[unit] = [effective[str(unit.arguments[1])].get(team, 0)] * work.CUPS
        elif unit.work is work.registered:
            results[unit] = {"named": 9.0, "right": 9.0, "effective": {"paper": False, "sharp": True}}
    return UnitResults(FULL, results)


def by_place(compared: Comparison) -> dict[tuple[str, str], Any]:
    return {(cell.row, cell.column): cell for cell in compared.cells}


def test_the_least_error_among_those_who_survive_wins() -> None:
    broken = {"paper": {"A": 12, "B": 1}, "sharp": dict.fromkeys("ABCDEFGHIJK", 12)}
    compared = document.contest(made_up(broken))
    cells = by_place(compared)
    for bound, winner in (("S0's bound", "C"), ("sharp bound", "L")):
        won = {row[0]: cell.ours for (row, column), cell in cells.items() if column == f"{bound}: won"}
        sure = {row[0]: cell.ours for (row, column), cell in cells.items() if column == f"{bound}: wins"}
        assert won == sure == {team: float(team == winner) for team in ENTRIES}
    assert cells["pairs", "S0's bound: survivors"].ours == 6
    assert (cells["pairs", "S0's bound: survivors"].paper, cells["pairs", "sharp bound: survivors"].ours) == (3, 0)
    assert cells["A: pseudonymize", "sharp bound: registered attacks"].ours == "8/8"
    winner = "Winners by sharp bound: generalize, k = 3 100.0% (won: 100.0%, 95 %: 98.2%–100.0%)."
    assert any(winner in remark for remark in compared.remarks)
    assert compared.charts[0].draw().startswith("<svg")


def test_where_nobody_survives_nobody_is_first() -> None:
    everybody = dict.fromkeys(ENTRIES, 3)
    cells = by_place(document.contest(made_up({"paper": everybody, "sharp": everybody})))
    assert {cells[row, column].ours for row, column in cells if column == "S0's bound: won"} == {0.0}
    assert cells["A: pseudonymize", "S0's bound: survives"].ours == 0


def test_a_quick_run_names_no_winner() -> None:
    whole = made_up({"paper": {}, "sharp": {}})
    quick = Extent(quick=True)
    some = {unit: whole[unit] for unit in document.cup_units(quick) if unit in whole}
    cells = by_place(document.contest(UnitResults(quick, some)))
    assert cells["A: pseudonymize", "S0's bound: survives"].ours == 1
    assert cells["A: pseudonymize", "S0's bound: wins"].ours is None
    assert cells["L: generalize, k = 3", "U"].ours is None
