"""Releases of releases: the map, the rows and the words compose, however the steps are grouped."""

import datetime as dt
from dataclasses import replace
from functools import reduce
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from tests.methods.histories import Stuffed, histories, history, known

from noren.data.frames import History, Records, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms
from noren.methods.perturb import Perturb
from noren.methods.pseudonymize import Pseudonymize
from noren.methods.swap import Swap
from noren.methods.thin import Thin
from noren.protocols import Method

STEPS: list[Method] = [
    Pseudonymize(),
    MonthlyPseudonyms(),
    Perturb(days=9, price=0.5),
    Thin(share=0.3),
    Thin(share=0.6, allow_vanish=True),
    Swap(share=0.8),
    Stuffed(),
]
chains = st.lists(st.sampled_from(STEPS), min_size=3, max_size=3)


def stages_of(original: History, steps: list[Method]) -> list[Release]:
    made: list[Release] = []
    data: Records = original
    for at, step in enumerate(steps):
        assert isinstance(data, History)
        made.append(step.protect(data, seed=at))
        data = made[-1].public
    return made


@given(original=histories(), steps=chains)
def test_it_does_not_matter_how_steps_are_grouped(original: History, steps: list[Method]) -> None:
    first, second, third = stages_of(original, steps)
    left, right = first.then(second).then(third), first.then(second.then(third))
    assert_frame_equal(left.secret.pseudonyms, right.secret.pseudonyms)
    assert left.secret.origin.to_list() == right.secret.origin.to_list()
    assert left.statement == right.statement
    assert left.public.lines().to_list() == right.public.lines().to_list()


@given(original=histories(), steps=chains)
def test_maps_rows_and_counts_by_hand(original: History, steps: list[Method]) -> None:
    stages = stages_of(original, steps)
    whole = reduce(Release.then, stages)
    # who is behind each pseudonym: follow it back, step by step
    behind = {}
    for pseudonym in known(stages[-1]):
        name: str | None = pseudonym
        for stage in reversed(stages):
            name = known(stage).get(name or "")
        if name is not None:
            behind[pseudonym] = name
    assert known(whole) == behind
    # where each row came from: follow it back, too
    origins = []
    for place in range(len(whole.public)):
        at: int | None = place
        for stage in reversed(stages):
            at = None if at is None else stage.secret.origin[at]
        origins.append(at)
    assert whole.secret.origin.to_list() == origins
    assert whole.inserted_rows == origins.count(None)
    assert len(whole.public) - whole.inserted_rows + whole.deleted_rows == len(original)
    assert whole.secret.digest == original.digest()
    # every public row stands under a pseudonym that the map knows
    assert set(whole.public["customer"]) == set(behind)
    # who owns the rows: their buyers, unless rows were exchanged
    if not any(isinstance(step, Swap) for step in steps):
        rows = [(at, place) for at, place in enumerate(origins) if place is not None]
        owners = whole.by_name()["customer"]
        assert [owners[at] for at, _place in rows] == [original["customer"][place] for _at, place in rows]
    assert len(whole.aligned()) == len(original)


def test_the_period_is_the_later_one_else_the_earlier_one() -> None:
    original = history("ann 2010/12/1 a 1 1", "ann 2011/1/31 b 1 1", "bob 2011/2/1 a 1 1")
    monthly, plain, quarterly = MonthlyPseudonyms(), Pseudonymize(), MonthlyPseudonyms(period="quarter")
    expected = {"month": ["2010/12", "2011/1", "2011/2"], "quarter": ["2010/Q4", "2011/Q1", "2011/Q1"]}
    orders: list[tuple[list[Method], str]] = [
        ([monthly, plain], "month"),
        ([plain, monthly], "month"),
        ([monthly, quarterly], "quarter"),
        ([quarterly, monthly], "month"),
    ]
    for steps, period in orders:
        whole = reduce(Release.then, stages_of(original, steps))
        assert whole.secret.pseudonyms.columns == ["pseudonym", "customer", "period"]
        assert sorted(whole.secret.pseudonyms["period"]) == expected[period]
        assert dict(whole.secret.pseudonyms.select("period", "customer").rows())[expected[period][0]] == "ann"
    whole = reduce(Release.then, stages_of(original, [plain, plain]))
    assert whole.secret.pseudonyms.columns == ["pseudonym", "customer"]


def test_a_month_filled_with_added_rows_alone_is_its_customers() -> None:
    original = history("ann 2010/12/1 a 1 1", "bob 2011/1/1 a 1 1")
    first = Pseudonymize().protect(original, seed=1)
    added = first.public.take(pl.Series([0]))
    late = replace(added, frame=added.frame.with_columns(date=pl.lit(dt.date(2011, 5, 1))))
    stuffed = Release.of_aligned(original, first.aligned(), Statement("hand"), inserted=late)
    assert isinstance(stuffed.public, History)
    whole = stuffed.then(MonthlyPseudonyms().protect(stuffed.public, seed=1))
    assert whole.inserted_rows == 1
    assert (
        dict(whole.secret.pseudonyms.select("period", "customer").rows())["2011/5"]
        == known(first)[added.frame["customer"][0]]
    )


def test_given_pseudonyms_are_kept_where_rows_changed_hands() -> None:
    original = history("ann 2010/12/1 a 1 1", "bob 2010/12/2 b 1 1")
    aligned = History(original.frame.with_columns(customer=pl.Series(["11", "10"])), original.schema)
    given_map = pl.DataFrame({"pseudonym": ["10", "11"], "customer": ["ann", "bob"]})
    release = Release.of_aligned(original, aligned, Statement("hand"), pseudonyms=given_map)
    assert_frame_equal(release.secret.pseudonyms, given_map)
    assert release.by_name()["customer"].to_list() == ["ann", "bob"]  # sorted by pseudonym: bob's row is ann's now
    assert release.by_name().frame["item"].to_list() == ["b", "a"]


def test_only_releases_of_one_another_go_together(tmp_path: Path) -> None:
    original = history("ann 2010/12/1 a 1 1", "bob 2010/12/2 b 1 1")
    first, other = Pseudonymize().protect(original, seed=1), Pseudonymize().protect(original, seed=3)
    assert isinstance(first.public, History)
    second = Pseudonymize().protect(first.public, seed=1)
    with pytest.raises(ParameterError, match="not made from the public part of the first; protect that public part"):
        first.then(other)
    first.publish(tmp_path / "public")
    with pytest.raises(ParameterError, match="while its secret part is present"):
        Release.load(tmp_path / "public").then(second)
    first.save(tmp_path / "release")
    assert known(Release.load(tmp_path / "release").then(second)) == known(first.then(second))


def test_a_pseudonym_of_several_people_is_refused() -> None:
    original = history("ann 2010/12/1 a 1 1", "bob 2011/1/2 b 1 1")
    public = History(original.frame.with_columns(customer=pl.lit("7")), original.schema)
    pseudonyms = pl.DataFrame({"pseudonym": ["7", "7"], "customer": ["ann", "bob"], "period": ["2010/12", "2011/1"]})
    shared = Release(public, Secret(pseudonyms, pl.Series([0, 1]), 2), Statement("hand"))
    with pytest.raises(ParameterError, match="a pseudonym of the release belongs to several customers"):
        shared.then(Pseudonymize().protect(public, seed=1))
    with pytest.raises(ParameterError, match="several customers"):
        shared.by_name()


def test_tables_go_together_too() -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "scale": "ratio", "type": "integer"}}})
    table = Table.of({"age": [30, 20, 10]}, schema)
    first = Release.of_aligned(table, table, Statement("one"))
    whole = first.then(Release.of_aligned(first.public, first.public, Statement("two")))
    assert whole.secret.origin.to_list() == [2, 1, 0]
    assert whole.by_name() is whole.public
    assert [step["method"] for step in whole.statement.parameters["steps"]] == ["one", "two"]


class TestStatement:
    def test_a_chain_says_what_each_step_says(self) -> None:
        steps = [
            Statement("thin", {"share": 0.1}, "some rows are gone"),
            Statement("generalize-by-count", {"k": 3}, "k alike", notes={"categories": {"c": ["x"]}, "U": 0.2}),
        ]
        said = Statement.of_chain(steps)
        assert said.method == "chain"
        assert said.parameters == {
            "steps": [{"method": "thin", "share": 0.1}, {"method": "generalize-by-count", "k": 3}]
        }
        assert said.notes["categories"] == {"c": ["x"]}
        assert "U" not in said.notes
        assert [step.as_dict() for step in said.steps] == [step.as_dict() for step in steps]

    def test_a_single_method_is_its_own_step(self) -> None:
        one = Statement("thin", {"share": 0.1})
        assert one.steps == [one]
        assert Statement.of_chain([Statement.of_chain([one]), one]).steps == [one, one]

    @pytest.mark.parametrize(
        ("parameters", "notes"),
        [
            ({}, {}),
            ({"steps": [{"method": "thin"}]}, {"steps": []}),
            ({"steps": [{"method": 3}]}, {"steps": [{"promise": "", "notes": {}}]}),
            ({"steps": ["thin"]}, {"steps": [{"promise": "", "notes": {}}]}),
            ({"steps": [{"method": "thin"}]}, {"steps": [{"promise": "", "notes": 3}]}),
        ],
    )
    def test_a_chain_that_does_not_tell_its_steps_is_one(self, parameters, notes) -> None:
        damaged = Statement("chain", parameters, notes=notes)
        assert damaged.steps == [damaged]
