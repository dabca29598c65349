"""Microaggregate: medians and modes by hand, never dearer than intervals, its promise, who refuses it."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.awkward_histories import AWKWARD
from tests.conftest import Command
from tests.methods.test_generalize import of_rows, some_history, value
from tests.methods.test_mondrian import SCHEMA as PEOPLE
from tests.methods.test_mondrian import some_people

from noren import api
from noren.data.checks import check_release
from noren.data.compatibility import class_sizes
from noren.data.contest_files import write_rows
from noren.data.frames import History, Table
from noren.data.reading import read
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import CheckFailedError, ParameterError
from noren.judgement.judging import judge, verdict
from noren.judgement.outcome import run_outcome
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import get_rule
from noren.measures.safety.classes import Classes, audit
from noren.methods import methods
from noren.methods.generalize import Generalize
from noren.methods.microaggregate import Microaggregate
from noren.progress import Enough
from noren.protocols import Evidence
from noren.sweeps.defaults import default_method

OPTIONAL = Schema.of(
    {
        "name": "blanks",
        "columns": {
            "who": {"role": "customer"},
            "what": {"role": "item", "optional": True},
            "price": {"role": "price", "optional": True},
        },
    }
)


def public_lines(release: Release) -> set[str]:
    """Return the public rows without their pseudonyms."""
    return {line.split(",", 1)[1] for line in release.public.lines()}


def of_blanks(*rows: tuple[str, str | None, float | None]) -> History:
    return History.of(dict(zip(OPTIONAL.names, map(list, zip(*rows, strict=True)), strict=True)), OPTIONAL)


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_median_and_mode_by_hand() -> None:
    original = of_rows(
        [
            ("a", "2011/1/1", "x", 1.25, 1),
            ("b", "2011/1/3", "y", 1.50, 2),
            ("c", "2011/1/4", "x", 2.10, 2),
            ("d", "2011/1/9", "z", 1.75, 3),
        ]
    )
    release = Microaggregate(k=4).protect(original, seed=1)
    # lower medians: the second of four; x stands twice
    assert public_lines(release) == {"2011/1/3,x,1.5,2"}
    date, price, quantity = (2 + 1 + 6, 0.25 + 0.6 + 0.25, 1 + 1)
    deviations = [np.std([1, 3, 4, 9]), np.std([1.25, 1.5, 2.1, 1.75]), np.std([1, 2, 2, 3])]
    expected = (2 + date / deviations[0] + price / deviations[1] + quantity / deviations[2]) / 16
    assert release.statement.notes["U"] == pytest.approx(expected, abs=1e-12)
    assert value(original, release) == pytest.approx(expected, abs=1e-12)


def test_a_tie_of_items_goes_to_the_smaller_code_whoever_has_it() -> None:
    for items in ("21", "12"):
        original = of_rows([(who, "2011/1/1", what, 1.0, 1) for who, what in zip("ab", items, strict=True)])
        assert public_lines(Microaggregate(k=2).protect(original, seed=1)) == {"2011/1/1,1,1,1"}


def test_a_median_that_costs_more_than_nothing_is_not_said() -> None:
    """Prices 1 and 10 among sixteen of 1: 9 over a deviation of 2.06 is more than the 2 that nothing costs."""
    pair = of_rows([("a", "2011/1/1", "x", 1.0, 1), ("b", "2011/1/1", "x", 10.0, 1), *twins(8)])
    release = Microaggregate(k=2).protect(pair, seed=1)
    assert {line for line in public_lines(release) if ",x," in line} == {"2011/1/1,x,*,1"}
    assert value(pair, release) == release.statement.notes["U"] == pytest.approx(2 / (18 * 4))
    release = Microaggregate(k=2, suppress_cells=False).protect(pair, seed=1)
    assert {line for line in public_lines(release) if ",x," in line} == {"2011/1/1,x,1,1"}
    assert value(pair, release) == pytest.approx(9 / float(np.std([10.0, *[1.0] * 17])) / (18 * 4))


def twins(pairs: int) -> list[tuple[Any, ...]]:
    """Return pairs of equal customers far from all others, who are best left to one another."""
    return [(f"t{at}", f"2011/{2 + at // 2}/1", f"t{at // 2}", 1.0, 1) for at in range(2 * pairs)]


def test_blanks_are_values_of_their_own() -> None:
    mostly = of_blanks(("a", "x", 2.0), ("b", "x", 2.5), ("c", None, None), ("d", "y", 9.0))
    release = Microaggregate(k=4).protect(mostly, seed=1)
    # saying 2.5 costs (0.5 + 6.5) / sd and 1 for the blank; sd of 2, 2.5, 9 is 3.189: 3.19 is more than 3 for nothing
    assert public_lines(release) == {"x,*"}
    assert value(mostly, release) == release.statement.notes["U"] == pytest.approx((2 + 3) / 8)
    near = of_blanks(("a", "x", 2.0), ("b", "x", 2.5), ("c", None, None), ("d", None, 3.0))
    release = Microaggregate(k=4).protect(near, seed=1)
    # an item at a tie with nothing is said; of the prices 2.5 costs 1 / sd = 2.449 and 1, nothing costs 3
    assert public_lines(release) == {"x,*"}
    assert value(near, release) == release.statement.notes["U"] == pytest.approx((2 + 3) / 8)
    blank = of_blanks(("a", None, 2.0), ("b", None, 2.0), ("c", "x", None))
    release = Microaggregate(k=3).protect(blank, seed=1)
    assert public_lines(release) == {"*,2"}  # one value: it is right twice and wrong of the blank
    assert value(blank, release) == release.statement.notes["U"] == pytest.approx(2 / 6)


# --- against intervals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("k", [2, 3, 5])
def test_never_dearer_than_intervals_of_the_same_groups(k: int, suppress: bool) -> None:
    kept = []

    class Searched(Generalize):
        def _searched(self, *given: Any) -> Any:
            kept.append(super()._searched(*given))
            return kept[-1]

    class SameGroups(Microaggregate):
        def _searched(self, *_given: Any) -> Any:
            return kept[-1]

    for seed in (1, 2):
        original = some_history(30, seed)
        settings: dict[str, Any] = {"k": k, "suppress_cells": suppress, "effort": "quick", "lower_bound": "exact"}
        intervals = Searched(**settings).protect(original, seed=seed)
        medians = SameGroups(**settings).protect(original, seed=seed)
        own = Microaggregate(**settings).protect(original, seed=seed)
        errors = [value(original, release) for release in (intervals, medians, own)]
        assert errors[1] <= errors[0] + 1e-12
        assert medians.deleted_rows <= intervals.deleted_rows
        if k == 2:  # a pair costs the same either way, and both are the optimum
            assert errors[0] == pytest.approx(errors[1], abs=1e-12) == pytest.approx(errors[2], abs=1e-12)
            assert own.statement.notes["proved_optimal"] is True
        else:
            assert errors[2] < errors[1]
        assert own.statement.notes["U"] == pytest.approx(errors[2], abs=1e-12)
        assert own.statement.notes["lower_bound"] <= errors[2] + 1e-9


# --- the promise -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 4])
def test_every_history_is_shared_and_made_of_values_that_stand_in_the_column(k: int) -> None:
    original = some_history(31, k)
    release = api.protect(original, "microaggregate", k=k, effort="quick", seed=1)  # audited
    assert isinstance(release.public, History)
    assert min(class_sizes(release.public)) >= k
    assert release_facts(release).smallest_class == min(class_sizes(release.public))
    assert not release.public.generalised
    for column in original.measured():
        said = release.public.frame[column.name].drop_nulls()
        assert said.dtype == original.frame[column.name].dtype
        assert said.is_in(original.frame[column.name].unique().implode()).all()


def test_same_seed_same_bytes() -> None:
    original = some_history(20, 4)
    lines = [Microaggregate(k=3).protect(original, seed=seed).public.lines().to_list() for seed in (7, 7)]
    assert lines[0] == lines[1]


def test_the_statement_says_that_rows_are_not_true() -> None:
    release = Microaggregate(k=3, effort="quick").protect(some_history(9, 1), seed=1)
    assert release.statement.promise.endswith("its values are medians and modes of theirs, and not true of each")
    assert release.statement.notes["truthful"] is False
    assert not release.statement.is_truthful
    assert Generalize(k=3).protect(some_history(9, 1), seed=1).statement.is_truthful


def test_classes_are_counted_by_equal_histories_and_a_false_claim_is_found_out() -> None:
    original = some_history(12, 1)
    release = Microaggregate(k=4, effort="quick").protect(original, seed=1)
    score = Classes().measure(Evidence(original, release))
    assert (score.value, score.parts["one_to_one"], score.notes["holds"]) == (4.0, 4.0, True)
    said = release.statement
    claimed = Release(release.public, release.secret, Statement(said.method, {"k": 5}, notes={"truthful": False}))
    with pytest.raises(CheckFailedError, match="claims k=5, but one pseudonym fits only 4"):
        audit(original, claimed)
    untold = Release(release.public, release.secret, Statement(said.method, {"k": 4}))
    with pytest.raises(CheckFailedError, match="claims k=4"):
        audit(original, untold)  # who claims truth is held to it


def test_alike_pseudonyms_of_one_customer_are_no_class() -> None:
    original = of_rows([("a", "2011/1/1", "x", 1.0, 1), ("a", "2011/2/1", "x", 1.0, 1), ("b", "2011/1/1", "x", 1.0, 1)])
    public = original.frame.with_columns(pl.Series("customer", ["1", "2", "3"]), date=pl.lit(dt.date(2011, 1, 1)))
    said = Statement("hand", {"k": 3}, notes={"truthful": False})
    score = Classes().measure(Evidence(original, Release.of_aligned(original, History(public, original.schema), said)))
    assert (score.value, score.notes["holds"]) == (1.0, False)


def test_it_is_judged_by_its_k() -> None:
    outcome = run_outcome(some_history(30, 2), "microaggregate", k=5, effort="quick", seed=1, attacks=["jaccard"])
    verdict = judge(outcome)
    assert verdict.status == "proved"
    assert verdict.risk == pytest.approx(1 / 5)


def test_the_checker_of_2018_refuses_it(tmp_path: Path) -> None:
    original = of_rows([("10", "2010/12/1", "1", 1.0, 1), ("11", "2010/12/2", "2", 1.0, 1)])
    write_rows(original, tmp_path / "T.csv")
    aligned = Microaggregate(k=2).protect(original, seed=1).aligned()
    assert isinstance(aligned, History)
    write_rows(aligned, tmp_path / "A.csv")
    report = check_release("pwscup2018", tmp_path / "T.csv", tmp_path / "A.csv")
    assert not report.valid
    assert {problem.rule for problem in report.problems} == {
        "the cell must contain the original date 2010/12/2",
        "the cell must contain the original item 2",
    }


# --- anybody's data --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(AWKWARD) - {"one row", "one customer"}))
def test_awkward_histories(name: str) -> None:
    original = AWKWARD[name]()
    release = api.protect(original, "microaggregate", k=2, effort="quick", seed=1)
    assert value(original, release) == pytest.approx(release.statement.notes["U"], abs=1e-9)


@pytest.mark.parametrize("name", ["cdnow", "groceries_members"])
def test_shops_of_other_kinds(name: str, shared: Path) -> None:
    whole = read(shared / "data" / f"{name}.parquet").data
    assert isinstance(whole, History)
    column = whole.schema.role("customer").name
    some = whole.frame[column].drop_nulls().unique(maintain_order=True).head(31)
    original = History(whole.frame.filter(pl.col(column).is_in(some.implode())), whole.schema)
    release = api.protect(original, "microaggregate", k=3, effort="quick", seed=1)
    assert isinstance(release.public, History)
    assert min(class_sizes(release.public)) >= 3
    assert value(original, release) == pytest.approx(release.statement.notes["U"], abs=1e-9)


@pytest.mark.parametrize(
    ("people", "words"), [(count, f"k = 4 needs at least 4 customers, but there are {count};") for count in (1, 2, 3)]
)
def test_too_few_customers(people: int, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Microaggregate(k=4).protect(some_history(people, 1), seed=1)


def test_categories_are_said_by_their_mode(tmp_path: Path) -> None:
    original = of_rows([(who, "2011/1/1", what, 1.0, 1) for who, what in zip("abc", ("x1", "y", "x2"), strict=True)])
    shelves = tmp_path / "shelves.csv"
    shelves.write_text("item,category\nx1,x\nx2,x\ny,y\n")
    release = methods.create("microaggregate", k=3, categories=shelves).protect(original, seed=1)
    assert public_lines(release) == {"2011/1/1,x,1,1"}
    assert value(original, release) == release.statement.notes["U"] == pytest.approx(1 / 12)


# --- tables ----------------------------------------------------------------------------------------------------------

NUMBER = {"role": "quasi", "type": "integer"}


def test_a_table_by_hand() -> None:
    people = Table.of(
        {
            "age": [20, 27, 61, 68, 64, 21],
            "born": [dt.date(1990, 1, day) for day in (1, 2, 10, 11, 13, 4)],
            "city": ["Bern", "Zug", "Genf", "Basel", "Genf", "Zug"],
            "illness": ["flu", "cold", "flu", "flu", "cold", "cough"],
        },
        PEOPLE,
    )
    release = api.protect(people, "microaggregate", k=3, seed=1)
    assert release.public.lines().to_list() == [
        *(f"22.66667,1990/1/2,Zug,{illness}" for illness in ("cold", "cough", "flu")),
        *(f"64.33333,1990/1/11,Genf,{illness}" for illness in ("cold", "flu", "flu")),
    ]
    assert release.statement.parameters == {"k": 3, "effort": "normal", "quasi": [], "identifiers": "drop"}
    assert not release.statement.is_truthful
    assert (release.statement.notes["classes"], release.statement.notes["proved_optimal"]) == (2, False)


@pytest.mark.parametrize("rows", [5, 9, 10, 60, 2001])
@pytest.mark.parametrize("gaps", [False, True])
def test_classes_of_a_table_are_proved(rows: int, gaps: bool) -> None:
    people = some_people(rows, rows, gaps=gaps)
    release = api.protect(people, "microaggregate", k=5, effort="quick", identifiers="pseudonyms", seed=1)
    classes = release.public.frame.group_by("age", "born", "city").len()["len"]
    assert classes.min() >= 5  # type: ignore[operator]
    assert rows >= 10 or len(classes) == 1
    assert api.measure(people, release, "classes").notes["holds"]
    guarantee = verdict(people, release, "partner", attacks=[]).guarantee
    assert guarantee is not None
    assert (guarantee.by, guarantee.k >= 5) == ("classes", True)
    again = api.protect(people, "microaggregate", k=5, effort="quick", identifiers="pseudonyms", seed=1)
    assert again.public.lines().to_list() == release.public.lines().to_list()


def test_one_column_of_a_table_is_optimal_and_constant_ones_do_not_matter() -> None:
    ages = [3, 9, 1, 2, 8, 7, 10]
    schema = Schema.of({"kind": "table", "columns": dict.fromkeys(("age", "one"), NUMBER)})
    release = api.protect(Table.of({"age": ages, "one": [4] * 7}, schema), "microaggregate", k=3, seed=1)
    assert release.statement.notes["proved_optimal"]
    assert release.aligned().frame["age"].to_list() == [2.0, 8.5, 2.0, 2.0, 8.5, 8.5, 8.5]
    assert release.public.frame["one"].to_list() == [4.0] * 7
    same = api.protect(Table.of({"age": [5] * 7, "one": [4] * 7}, schema), "microaggregate", k=3, seed=1)
    assert set(same.public.lines()) == {"5,4"}


def test_a_table_that_is_too_small_and_parameters_of_the_other_kind() -> None:
    people = some_people(1, 4)
    with pytest.raises(ParameterError, match="k = 5 needs at least 5 rows, but there are 4; use a smaller k"):
        api.protect(people, "microaggregate", k=5, seed=1)
    with pytest.raises(ParameterError, match="--survival does not apply to a table; omit it"):
        api.protect(people, "microaggregate", survival=0.9, seed=1)
    with pytest.raises(ParameterError, match="--quasi does not apply to a history; omit it"):
        api.protect(some_history(1, 4), "microaggregate", k=2, quasi=["price"], seed=1)


def test_a_table_is_searched_for_seconds_or_until_enough() -> None:
    people = some_people(1, 200)
    heard: list[float] = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        if best is not None:
            heard.append(best)
            if len(heard) > 3:
                raise Enough

    release = api.protect(people, "microaggregate", k=3, effort=60.0, seed=1, progress=progress)
    assert release.statement.notes["stopped"]
    assert release.statement.notes["by_the_clock"]
    assert release.statement.notes["information_loss"] == pytest.approx(heard[-1])
    assert heard[-1] < heard[0]
    api.protect(people, "microaggregate", k=3, effort=0.05, seed=1)


def test_tables_are_still_protected_by_mondrian() -> None:
    assert default_method(PEOPLE, {}, get_rule("partner")).name == "mondrian"


def test_census_from_the_command_line(shared: Path, noren: Command, tmp_path: Path) -> None:
    census = pl.read_csv(shared / "data/casc_census.csv")
    schema = Schema.of({"kind": "table", "columns": dict.fromkeys(census.columns, NUMBER)})
    (tmp_path / "schema.toml").write_text(schema.to_toml(), encoding="utf-8")
    census.write_csv(tmp_path / "census.csv")
    made = noren("protect", tmp_path / "census.csv", "--schema", tmp_path / "schema.toml", "--method", "microaggregate",
                 "--k", 5, "--effort", "quick", "--out", tmp_path / "r")  # fmt: skip
    assert made.code == 0
    told = noren("judge", tmp_path / "census.csv", tmp_path / "r", "--schema", tmp_path / "schema.toml", "--json")
    assert (told.code, told.json["verdict"]) == (0, "proved")
