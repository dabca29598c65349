"""The table of people: what it promises, that its columns depend on one another, and that methods run on it at once."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren.data.frames import Table
from noren.data.samples.people import MOST_PEOPLE, _drawn, sample_people
from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.methods.mondrian import Mondrian
from noren.methods.retention import Retention


@pytest.fixture(scope="module")
def people() -> Table:
    return sample_people(20_000, seed=3)


def association(a: pl.Series, b: pl.Series) -> float:
    """Return Cramér's V of two columns: 0 for independent ones, 1 where one tells the other."""
    counts = pl.DataFrame({"a": a.cast(pl.String), "b": b.cast(pl.String)}).pivot(
        "b", index="a", values="a", aggregate_function="len"
    )
    table = counts.drop("a").fill_null(0).to_numpy().astype(float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return float(np.sqrt(((table - expected) ** 2 / expected).sum() / table.sum() / (min(table.shape) - 1)))


def test_the_same_seed_gives_the_same_rows_and_another_one_others() -> None:
    def digest(seed: int) -> str:
        return hashlib.sha256(sample_people(500, seed=seed).frame.write_csv().encode()).hexdigest()

    assert digest(7) == digest(7)
    assert digest(7) != digest(8)


def test_every_column_has_a_role_and_every_value_a_place_in_its_domain(people: Table) -> None:
    assert people.schema == Schema.preset("people")
    assert all("role" in column.model_fields_set for column in people.schema.columns)
    roles = {column.name: column.role for column in people.schema.columns}
    assert [name for name, role in roles.items() if role == Role.IDENTIFIER] == ["person"]
    assert [name for name, role in roles.items() if role == Role.SENSITIVE] == ["income", "illness"]
    assert people.frame.null_count().sum_horizontal().item() == 0
    for column in people.schema.columns:
        if column.domain is not None:
            assert set(people.frame[column.name]) == set(column.domain), column.name  # no value that nobody has
    assert people.frame["person"].n_unique() == len(people)
    assert (people.frame["age"].min(), people.frame["age"].max()) == (17, 90)


def test_columns_depend_on_one_another(people: Table) -> None:
    frame = people.frame
    decade = frame["age"] // 10
    for a, b in (
        (decade, frame["marital-status"]),
        (frame["sex"], frame["occupation"]),
        (frame["education"], frame["occupation"]),
        (frame["education"], frame["income"]),
        (decade, frame["illness"]),
    ):
        assert association(a, b) > 0.15
    # and columns that the structure does not join do not
    assert association(frame["sex"], frame["region"]) < 0.05
    assert association(frame["region"], frame["illness"]) < 0.05


def test_people_are_as_the_structure_says(people: Table) -> None:
    frame = people.frame
    assert (frame.filter(pl.col("occupation") == "Not working")["weekly-hours"] == 0).all()
    assert (frame.filter(pl.col("occupation") != "Not working")["weekly-hours"] >= 4).all()
    assert frame.filter((pl.col("education") == "Doctorate") & (pl.col("age") < 27)).is_empty()
    assert frame.filter((pl.col("marital-status") == "Widowed") & (pl.col("age") < 30)).is_empty()

    def share(column: str, value: str, where: pl.Expr) -> float:
        return float((frame.filter(where)[column] == value).mean())  # type: ignore[arg-type]

    school = [share("income", "over 70k", pl.col("education") == e) for e in ("High school", "Bachelor", "Master")]
    assert school == sorted(school)
    assert school[0] < 0.03 < 0.2 < school[2]
    assert share("marital-status", "Never married", pl.col("age") < 20) > 0.9
    assert share("marital-status", "Married", pl.col("age").is_between(50, 59)) > 0.6
    city = pl.col("region").str.ends_with("1")
    assert abs(frame.select(city.mean()).item() - 0.5) < 0.02
    assert share("education", "Master", city) > share("education", "Master", ~city)


def test_drawing_follows_the_weights() -> None:
    class Told:
        def random(self, rows: int) -> np.ndarray:
            return np.array([0.0, 0.24, 0.26, 0.999])[:rows]

    weights = np.log(np.array([[1.0, 2.0, 1.0]] * 4))  # a quarter, a half, a quarter
    assert _drawn(Told(), weights).tolist() == [0, 0, 1, 2]  # type: ignore[arg-type]


def test_methods_run_on_it_at_once() -> None:
    small = sample_people(300, seed=1)
    assert len(Retention(k=3).protect(small, seed=1).public) == 300
    release = Mondrian(k=5).protect(small, seed=1)
    quasi = [column.name for column in small.schema.with_role(Role.QUASI)]
    assert release.public.texts().group_by(quasi).len()["len"].min() == 5


@pytest.mark.parametrize("rows", [0, -1, MOST_PEOPLE + 1])
def test_impossible_sizes_are_refused(rows: int) -> None:
    with pytest.raises(ParameterError, match="out of range; use 1 <= rows <= 10,000,000"):
        sample_people(rows)


def test_one_person_is_a_table_too() -> None:
    assert sample_people(1).frame["person"].to_list() == ["P0001"]
    assert sample_people(100_000).frame["person"][-1] == "P100000"


def test_the_command_line_writes_them(noren: Any, tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    said = noren("sample", "--kind", "people", "--rows", 200, "--seed", 5, "--out", file, "--json").json
    assert said["rows"] == 200
    assert pl.read_csv(file, infer_schema=False).height == 200
    assert said["unique"] <= said["combinations"] <= 200
    released = noren("protect", file, "--schema", "people", "--method", "mondrian", "--k", 4, "--out", tmp_path / "r")
    assert released.code == 0, released.err
    assert "people" in noren("sample", "--kind", "people", "--rows", 5, "--out", file).out
    refused = noren("sample", "--kind", "people", "--schema", "adult", "--out", tmp_path / "x.csv")
    assert (refused.code, "--kind people and --schema, --master exclude each other" in refused.err) == (2, True)
    assert not (tmp_path / "x.csv").exists()
