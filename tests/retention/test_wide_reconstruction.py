"""Tables too large to be written down: their tables of one and two attributes, and records, from the public part."""

from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from noren.api import protect, reconstruct
from noren.data.frames import Table
from noren.data.reading import read
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.retention.reconstructed import WideReconstruction

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "sex": {"role": "quasi", "domain": ["f", "m"]},
            "town": {"role": "quasi", "domain": ["a", "b", "c"]},
            "job": {"role": "quasi", "domain": ["u", "v", "w", "x"]},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 9.0},
        },
    }
)
NAMES = ("sex", "town", "job", "age")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything above 100 cells is too large: the four attributes have 240."""
    monkeypatch.setattr("noren.retention.reconstruction.LARGEST_TABLE", 100)


def people(rows: int = 20_000) -> Table:
    draws = np.random.default_rng(1)
    sex = draws.integers(0, 2, rows)
    job = np.where(draws.random(rows) < 0.8, 2 * sex, draws.integers(0, 4, rows))
    age = np.clip(np.rint(draws.normal(3 + 3 * sex, 1.5)), 0, 9).astype(np.int64)
    frame = pl.DataFrame(
        {
            "sex": [("f", "m")[v] for v in sex],
            "town": [("a", "b", "c")[v] for v in draws.choice(3, rows, p=[0.6, 0.3, 0.1])],
            "job": [("u", "v", "w", "x")[v] for v in job],
            "age": age,
        }
    )
    return Table.of(frame, SCHEMA)


def wide(release: Release, model: str = "auto", **more: int) -> WideReconstruction:
    found = reconstruct(release, model, **more)  # type: ignore[arg-type]
    assert isinstance(found, WideReconstruction)
    return found


def precision(x: np.ndarray, y: np.ndarray) -> float:
    return 1 - float(np.abs(x - y).sum()) / (2 * float(x.sum()))


def test_tables_and_records_from_the_published_part(small: None, tmp_path: Path) -> None:
    original = people()
    release = Release.load(protect(original, "retention", rho=0.4, seed=1).publish(tmp_path / "p"))
    found = wide(release)
    made = found.perturbation
    records = made.places(found.records(seed=3))
    for names in [*((name,) for name in NAMES), *combinations(NAMES, 2)]:
        some = made.only([NAMES.index(name) for name in names])
        truth = some.table(some.codes(original.frame))
        assert precision(truth, found.margin(names)) > 0.9, names
        drawn = some.table([records[NAMES.index(name)] for name in names])
        assert precision(found.margin(names), drawn) > 0.97, names
    assert found.margin(["job", "sex"]) == pytest.approx(found.margin(["sex", "job"]).T)
    assert list(found.made_of)[:2] in (["sex × age", "sex × job"], ["sex × job", "sex × age"])
    assert found.records(seed=3).equals(found.records(seed=3))
    assert not found.records(seed=3).equals(found.records(seed=4))


def test_what_such_a_table_cannot_say(small: None) -> None:
    found = wide(protect(people(300), "retention", k=2, seed=1))
    assert found.intervals is None
    with pytest.raises(ParameterError, match=r"the cross tabulation would have 240 cells; choose fewer attributes"):
        _ = found.table
    with pytest.raises(ParameterError, match=r"reconstruct only these attributes \(--attributes\)"):
        found.margin(["sex", "town", "job"])


@pytest.mark.parametrize("model", ["em", "ml", "loglinear"])
def test_models_of_whole_tables_say_what_to_do(small: None, model: str) -> None:
    release = protect(people(300), "retention", k=2, seed=1)
    with pytest.raises(ParameterError, match=rf"{model} needs the whole table.*240 cells; use --model auto or indep"):
        reconstruct(release, model)  # type: ignore[arg-type]
    assert reconstruct(release, model, attributes=["sex", "town"]).table.shape == (2, 3)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="named twice"):
        reconstruct(release, model, attributes=["sex", "sex"])  # type: ignore[arg-type]


def test_as_released_and_independent(small: None) -> None:
    release = protect(people(2000), "retention", k=2, seed=1)
    none = wide(release, "none")
    seen = release.public.frame
    assert none.margin(["town"]).tolist() == [float((seen["town"] == t).sum()) for t in "abc"]
    assert none.records(1).sort(NAMES).equals(seen.select(NAMES).sort(NAMES))
    apart = wide(release, "independence")
    assert apart.margin(["sex", "job"]) == pytest.approx(
        np.outer(apart.margin(["sex"]), apart.margin(["job"])) / 2000, rel=1e-6
    )
    assert len(apart.records()) == 2000


def test_interactions_are_those_of_the_named_columns() -> None:
    """Sex and job go together; the town is in no interaction, so it is independent of both."""
    release = protect(people(2000), "retention", k=2, seed=1)
    names, both = ["job", "sex", "town"], [["sex", "job"]]
    found = reconstruct(release, "loglinear", attributes=names, interactions=both)
    table = found.table / found.table.sum()
    pair, town = table.sum(axis=2), table.sum(axis=(0, 1))
    assert table == pytest.approx(pair[:, :, None] * town, abs=1e-9)
    assert abs(pair - np.outer(pair.sum(axis=1), pair.sum(axis=0))).sum() > 0.3


@pytest.mark.parametrize("model", ["auto", "none", "independence"])
def test_intervals_of_every_table(small: None, model: str) -> None:
    original = people(5000)
    release = protect(original, "retention", rho=0.5, seed=1)
    found = wide(release, model, bootstrap=8, seed=1)
    frame = found.cells()
    assert frame.columns == ["first", "first_value", "second", "second_value", "records", "low", "high"]
    sizes = (2, 3, 4, 10)
    assert len(frame) == sum(sizes) + sum(a * b for a, b in combinations(sizes, 2))
    singles = frame.filter(pl.col("second") == "")
    assert singles.group_by("first").agg(pl.col("records").sum())["records"].to_list() == pytest.approx([5000] * 4)
    town = frame.filter(first="town", second="", first_value="a")
    assert town["low"].item() == pytest.approx(found.own_intervals["town"].low[0])
    # 3,000 of 5,000: the count of rows seen has an error of about 35, and kept by 1/2 twice that; as released it is
    # too low by several hundred, and the interval holds both
    low, high = (300, 1200) if model == "none" else (150, 600)
    assert low < town["high"].item() - town["low"].item() < high
    pair = frame.filter(first="sex", second="age")
    assert pair["high"].to_numpy() == pytest.approx(found.pair_intervals[0, 3].high.ravel())
    assert wide(release, model).cells().columns[-1] == "records"


def test_a_large_table_that_fits_memory_is_made_of_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    original = people()
    release = protect(original, "retention", rho=0.4, seed=1)
    monkeypatch.setattr("noren.retention.reconstruction.LARGEST_AUTO", 100)
    found = reconstruct(release, "auto")
    made = found.perturbation
    assert found.made_of == {"tree of pairs": 1.0}
    assert found.table.shape == (2, 3, 4, 10)
    assert found.table.sum() == pytest.approx(20_000)
    assert precision(made.table(made.codes(original.frame)), found.table) > 0.87


def test_nine_attributes_of_adult(shared: Path) -> None:
    original = read(shared / "data" / "adult.data", "adult").data
    quasi = [c.name for c in original.schema.columns if c.role == "quasi"]
    release = protect(original, "retention", attributes=quasi, classes=["age=20..90:5"], k=2, seed=301)
    found = wide(release)
    made = found.perturbation
    assert made.cells == 571_536_000
    own, raw = [], []
    for a, name in enumerate(made.names):
        some = made.only([a])
        truth = some.table(some.codes(original.frame))
        own.append(precision(truth, found.margin([name])))
        raw.append(precision(truth, some.table(some.places(release.public.frame))))
    assert np.mean(own) > 0.88
    assert np.mean(raw) < 0.6
