"""Association, clustering and prediction: tables whose answer is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noren.api import measure, protect
from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, interval_hierarchy, write_hierarchy
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.kernels.judging.statistics import cramers_v

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
            "pay": {"role": "sensitive", "domain": ["high", "low"]},
        },
    }
)


def people(rows: int = 1500) -> Table:
    """Pay follows town for nine people in ten; sex has nothing to do with anything."""
    draws = np.random.default_rng(1)
    town = draws.integers(0, 3, rows)
    odd = draws.random(rows) < 0.1
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[i] for i in draws.integers(0, 2, rows)],
            "town": [("a", "b", "c")[i] for i in town],
            "age": draws.integers(0, 30, rows) + 30 * town,
            "pay": [("low", "high")[i] for i in ((town == 0) ^ odd).astype(int)],
        }
    )
    return Table.of(frame, SCHEMA)


def unchanged(original: Table) -> Release:
    return Release.of_aligned(original, original, Statement("hand"))


def shuffled(original: Table) -> Release:
    draws = np.random.default_rng(2)
    frame = original.frame.select(
        original.frame[name].gather(pl.Series(draws.permutation(len(original)))) for name in original.frame.columns
    )
    return Release.of_aligned(original, Table(frame, SCHEMA), Statement("hand"))


def test_cramers_v_is_the_textbooks() -> None:
    # 10 30 / 20 40: chi-square 100·(10·40-30·20)²/(40·60·30·70) = 0.794
    one = np.repeat([0, 0, 1, 1], [10, 30, 20, 40])
    two = np.repeat([0, 1, 0, 1], [10, 30, 20, 40])
    assert cramers_v(one, two) == pytest.approx(np.sqrt(0.7936508 / 100))
    assert cramers_v(one, np.zeros(100, dtype=np.int64)) == 0
    assert cramers_v(np.array([], dtype=np.int64), np.array([], dtype=np.int64)) == 0


def test_association() -> None:
    original = people()
    assert measure(original, unchanged(original), "association").value == 0
    score = measure(original, shuffled(original), "association")
    assert score.parts["town × pay"] < -0.7
    assert score.parts["town × age"] < -0.5
    assert abs(score.parts["sex × town"]) < 0.1
    assert score.value == pytest.approx(np.mean(np.abs(list(score.parts.values()))))
    assert len(score.parts) == 6


def test_clusters() -> None:
    original = people()
    same = measure(original, unchanged(original), "clustering", clusters=3)
    assert same.value == pytest.approx(1)
    lost = measure(original, shuffled(original), "clustering", clusters=3)
    assert lost.value < 0.9
    few = original.frame.with_columns(sex=pl.lit("f"), town=pl.lit("a"), age=pl.lit(1), pay=pl.lit("low"))
    with pytest.raises(ParameterError, match="all rows are the same"):
        measure(original, Release.of_aligned(original, Table(few, SCHEMA), Statement("hand")), "clustering")


def test_prediction() -> None:
    original = people()
    same = measure(original, unchanged(original), "prediction")
    assert same.notes == {"target": "pay", "held_back": 450}
    assert same.value == same.parts["original"] == pytest.approx(0.9, abs=0.03)
    lost = measure(original, shuffled(original), "prediction")
    assert lost.value < 0.75
    assert lost.parts["original"] == same.parts["original"]
    alone = protect(original, "retention", attributes=["pay"], k=2, seed=1)
    assert measure(original, alone, "prediction").value == pytest.approx(same.parts["commonest"], abs=0.01)
    numbers = protect(original, "retention", attributes=["age"], k=2, seed=1)
    with pytest.raises(ParameterError, match="no text column to predict"):
        measure(original, numbers, "prediction")
    with pytest.raises(ParameterError, match="holds numbers"):
        measure(original, unchanged(original), "prediction", target="age")


def test_a_perturbed_table_is_reconstructed_before_it_is_analysed() -> None:
    original = people()
    release = protect(original, "retention", attributes=["town", "pay"], k=2, seed=1)
    before, after = (measure(original, release, "association", model=m).value for m in ("none", "auto"))
    assert after < before / 2
    assert measure(original, release, "prediction").value > 0.8
    assert measure(original, release, "clustering", clusters=3).value <= 1


def test_prediction_where_columns_became_labels(tmp_path: Path) -> None:
    write_hierarchy(interval_hierarchy("age", range(100), [10, 50]), tmp_path / "age.csv")
    write_hierarchy(Hierarchy.of("sex", [("f", "*"), ("m", "*")]), tmp_path / "sex.csv")
    write_hierarchy(Hierarchy.of("town", [(town, "*") for town in "abc"]), tmp_path / "town.csv")
    columns = {
        "sex": {"role": "quasi"},
        "town": {"role": "other"},
        "pay": {"role": "other"},
        "age": {"role": "quasi", "type": "integer"},
    }
    original = Table(people(400).frame.select(list(columns)), Schema.of({"kind": "table", "columns": columns}))
    release = protect(original, "hierarchy", k=20, hierarchies=tmp_path, seed=1)
    # ages are texts in the release, and the last of texts; what is learnt is the last that both sides have
    assert release.public.frame["age"].dtype == pl.String
    score = measure(original, release, "prediction")
    assert score.notes["target"] == "pay"
    assert score.value > 0.8
    with pytest.raises(ParameterError, match=r"age is generalised in the release; use one of sex, town, pay"):
        measure(original, release, "prediction", target="age")


def test_association_needs_two_columns() -> None:
    alone = Table(people(50).frame.select("sex"), Schema.of({"kind": "table", "columns": {"sex": {"role": "quasi"}}}))
    with pytest.raises(ParameterError, match="fewer than two columns"):
        measure(alone, unchanged(alone), "association")
