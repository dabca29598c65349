"""Inferences on releases whose answer is known: a copy tells everything, other people's data and pure noise nothing."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.errors import ParameterError, SchemaError
from noren.inference.findings import Inferred, mean_of, membership_result
from noren.inference.inferences import by_likelihood
from noren.inference.people import PeoplePool, pool_of, reject_overlap, split
from noren.inference.study import InferenceStudy, infer, inferred_from

NOISE: dict[str, Any] = {"method": "retention", "reconstruct": "none", "hold_out": 0.4}
TOLD = {"illness": {"role": "sensitive", "domain": ["a", "b", "c", "d"]}}
SMALL = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi", "type": "integer", "minimum": 0, "maximum": 99},
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            **TOLD,
        },
    }
)


def purchases(customers: int = 120, seed: int = 1) -> History:
    return noren.sample(customers=customers, rows=customers * 12, items=200, seed=seed)


def people(count: int, seed: int) -> Table:
    draw = np.random.default_rng(seed)
    rows = {
        "age": draw.integers(0, 100, count),
        "sex": draw.choice(["f", "m"], count),
        "illness": draw.choice(["a", "b", "c", "d"], count),
    }
    return Table.of(rows, SMALL)


def by(study: InferenceStudy, way: str) -> Inferred:
    return next(one for one in study.inferred if one.by == way)


def value(one: Inferred, name: str) -> float:
    return one.numbers[name].value


def test_pseudonyms_alone_tell_everybody_and_half_of_a_history_the_rest() -> None:
    study = infer(purchases(), method="pseudonymize", hold_out=0.3, seeds=2)
    for way in ("likelihood", "nearness"):
        assert value(by(study, way), "tpr at 0.01") == 1.0
        assert value(by(study, way), "auc") == 1.0
    unseen = by(study, "most alike")
    assert value(unseen, "success") > 0.9
    assert value(unseen, "risk") > 0.8
    assert study.seeds == 2


def test_a_release_of_other_people_tells_nothing() -> None:
    whole = purchases(400)
    theirs, ours = split(whole, 0.5, 7)
    release = noren.protect(theirs, "generalize-by-count", k=5, seed=1)
    areas = []
    for seed in range(6):
        members, controls = split(ours, 0.5, seed)
        study = inferred_from(members, controls, release.public, release.statement, seed=seed)
        for one in study.inferred[:2]:
            said = one.numbers["auc"]
            areas.append(said.low <= 0.5 <= said.high)
            assert one.surely(0.0005) < 0.1
        assert study.inferred[2].surely(0.0005) <= 0.0
    assert sum(areas) >= 10


def test_noise_that_keeps_nothing_tells_nothing_and_one_that_keeps_all_tells_all() -> None:
    cities = tuple(f"city {at}" for at in range(300))
    schema = Schema.of({"kind": "table", "columns": {"city": {"role": "quasi", "domain": cities}, **TOLD}})
    draw = np.random.default_rng(1)
    data = Table.of({"city": draw.choice(cities, 400), "illness": draw.choice(list("abcd"), 400)}, schema)
    common: dict[str, Any] = {
        "attributes": ["city", "illness"],
        "reconstruct": "none",
        "method": "retention",
        "hold_out": 0.4,
    }
    nothing = infer(data, seeds=1, rho=0.0, **common)
    assert value(nothing.inferred[0], "auc") == 0.5
    assert value(nothing.inferred[0], "tpr at 0.1") == pytest.approx(0.1)
    everything = infer(data, seeds=2, rho=0.999, **common)
    # a control is alike to one of 240 members in 1,200 cells with a chance of about 0.2
    assert value(everything.inferred[0], "auc") > 0.8
    assert value(by(everything, "vote"), "risk") > 0.4


def test_likelihoods_of_retention_by_brute_force() -> None:
    data, rho = people(30, 3), 0.5
    release = noren.protect(data, "retention", rho=rho, attributes=["sex", "illness"], reconstruct="none", seed=1)
    pool = pool_of(data, people(25, 4), 1000, 0)
    known = list(zip(pool.people.frame["sex"], pool.people.frame["illness"], strict=True))
    rows = list(zip(release.public.frame["sex"], release.public.frame["illness"], strict=True))

    def chance(person: tuple[str, str], row: tuple[str, str]) -> float:
        parts = [(1 - rho) / size + rho * (a == b) for a, b, size in zip(person, row, (2, 4), strict=True)]
        return parts[0] * parts[1]

    wanted = [sum(chance(p, row) / sum(chance(q, row) for q in known) for row in rows) for p in known]
    assert by_likelihood(pool, release.public, release.statement).tolist() == pytest.approx(wanted)


def test_who_shares_a_class_by_hand() -> None:
    def table(ages: list[object]) -> Table:
        schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
        return Table(pl.DataFrame({"age": ages}), schema)

    ages = pl.Series("age", [{"lo": 0, "hi": 9}] * 3 + [{"lo": 20, "hi": 29}])
    public = Table(pl.DataFrame([ages]), table([1]).schema)
    pool = PeoplePool(table([5, 6, 7, 8, 25, 50]), np.ones(6, dtype=bool), np.zeros(6, dtype=bool))
    # four people share three rows, one has a row alone, one fits nothing
    assert by_likelihood(pool, public, Statement("hand")).tolist() == pytest.approx([0.75] * 4 + [1.0, 0.0])


def test_classes_of_people() -> None:
    study = infer(sample_people(300, seed=1), method="mondrian", k=5, hold_out=0.3, seeds=1)
    assert {one.about for one in study.inferred} == {"", "income", "illness"}
    assert value(by(study, "likelihood"), "auc") > 0.6


def test_one_class_of_everybody_tells_nobody() -> None:
    data = sample_people(120, seed=1)
    quasi = [column.name for column in data.schema.with_role("quasi")]
    members, controls = split(data, 0.4, 1)
    hidden = members.frame.with_columns(pl.lit(None, members.frame[name].dtype).alias(name) for name in quasi)
    public = Table(
        hidden.select([*quasi]), members.schema.model_copy(update={"columns": data.schema.with_role("quasi")})
    )
    study = inferred_from(members, controls, public, Statement("hand"), threats=["membership"])
    assert value(by(study, "likelihood"), "auc") == 0.5


def test_the_same_seed_gives_the_same_numbers() -> None:
    data = purchases(80)
    first, second = (infer(data, method="generalize-by-count", k=3, hold_out=0.4, seeds=2, seed=5) for _ in range(2))
    assert first == second


def test_a_release_there_is_with_a_control_group() -> None:
    members, controls = split(purchases(), 0.4, 1)
    release = noren.protect(members, "pseudonymize", seed=1)
    study = noren.infer(members, release, control=controls)
    assert study.seeds == 0
    # above all 48 controls false alarms are surely rarer than 1 - 0.0125^(1/48) = 0.087; and 72 of 72 members are
    assert by(study, "likelihood").surely(0.025) == pytest.approx(0.0125 ** (1 / 72) - 0.1)
    assert by(study, "likelihood").surely(0.0005) == -0.1  # 0.0005 is too sure for 48
    assert value(by(study, "likelihood"), "tpr at 0.1") == 1.0


# --- what is refused -------------------------------------------------------------------------------------------------


def released(members: Records) -> Release:
    return noren.protect(members, "pseudonymize", seed=1)


def test_controls_who_are_in_the_data_are_counted_and_refused() -> None:
    whole = purchases()
    members, controls = split(whole, 0.4, 1)
    with pytest.raises(ParameterError, match="48 of 120 people of the control group are in the data"):
        infer(controls, released(controls), control=whole)
    name = controls.schema.role("customer").name
    renamed = members.frame.with_columns(("x" + pl.col(name).cast(pl.String)).alias(name))
    with pytest.raises(ParameterError, match="72 of 72 records of the control group are in the data"):
        reject_overlap(members, History(renamed, members.schema))


def test_people_who_are_alike_by_nature_are_no_overlap() -> None:
    reject_overlap(people(5000, 1), people(500, 2))
    with pytest.raises(ParameterError, match="records of the control group"):
        reject_overlap(people(300, 1), Table(people(300, 1).frame[:100], SMALL))


@pytest.mark.parametrize("count", [1, 2, 30])
def test_too_few_people(count: int) -> None:
    with pytest.raises(ParameterError, match="too few"):
        infer(purchases(count), method="pseudonymize", hold_out=0.5)


def test_no_sensitive_column() -> None:
    data = people(100, 1)
    plain = Table(
        data.frame,
        SMALL.model_copy(
            update={"columns": (*SMALL.columns[:2], SMALL["illness"].model_copy(update={"role": "other"}))}
        ),
    )
    asked: dict[str, Any] = {
        "method": "retention",
        "rho": 0.5,
        "attributes": ["age", "sex"],
        "reconstruct": "none",
        "hold_out": 0.4,
    }
    with pytest.raises(SchemaError, match="no sensitive column"):
        infer(plain, threats=["attribute"], **asked)
    study = infer(plain, seeds=1, **asked)
    assert "no sensitive column" in study.not_tried["attribute"]
    assert [one.about for one in infer(plain, secret="sex", threats=["attribute"], seeds=1, **asked).inferred] == [
        "sex"
    ]
    with pytest.raises(SchemaError, match="no column 'sexx'"):
        infer(plain, secret="sexx", threats=["attribute"], **asked)


def test_what_is_asked_must_be_whole() -> None:
    data = purchases(60)
    with pytest.raises(ParameterError, match="control group"):
        infer(data, released(data))
    with pytest.raises(ParameterError, match="a method"):
        infer(data)
    with pytest.raises(ParameterError, match="no threat 'member'"):
        infer(data, method="pseudonymize", threats=["member"])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match=r"hold-out = 1.5 is out of range"):
        infer(data, method="pseudonymize", hold_out=1.5)


def test_seeds_that_agree_by_luck_are_no_more_sure_than_their_people() -> None:
    draw = np.random.default_rng(1)
    scores, member = draw.normal(size=80), np.arange(80) < 40
    one = membership_result("hand", scores + member, member, np.zeros(80, dtype=bool))
    alone, twice = one.numbers["auc"], mean_of([one, one]).numbers["auc"]
    assert twice.value == alone.value
    assert twice.low == pytest.approx(alone.value - (alone.value - alone.low) / 2**0.5)
    assert twice.high == pytest.approx(alone.value + (alone.high - alone.value) / 2**0.5)
    assert twice.low < twice.value < twice.high
