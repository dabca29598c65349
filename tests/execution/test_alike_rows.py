"""Rows made alike on a cluster, by whole columns and class by class, are those of one machine."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.execution.sameness import on_cluster, same_release

from noren.data.frames import Table
from noren.data.hierarchies import interval_hierarchy, write_hierarchy
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.execution.plans import tables
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.mondrian import Mondrian

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "number": {"role": "identifier", "type": "integer", "optional": True},
            "age": {"role": "quasi", "type": "integer", "optional": True},
            "a city": {"role": "quasi", "optional": True},
            "day": {"role": "quasi", "type": "date", "optional": True},
            "illness": {"role": "sensitive", "optional": True},
            "visits": {"role": "other", "type": "integer", "optional": True},
        },
    }
)


def people(rows: int, seed: int = 1) -> Table:
    """People with blanks in every column."""
    random = np.random.Generator(np.random.PCG64(seed))
    columns = {
        "number": random.permutation(rows),
        "age": random.integers(20, 40, rows),
        "a city": random.choice(["Basel", "Bern", "Genf", "Zug", "?"], rows, p=[0.1, 0.2, 0.3, 0.35, 0.05]),
        "day": pl.Series(random.integers(18_000, 18_010, rows)).cast(pl.Int32).cast(pl.Date),
        "illness": random.choice(["flu", "cold", "rare"], rows, p=[0.5, 0.4, 0.1]),
        "visits": random.integers(0, 9, rows),
    }
    holes = [pl.when(pl.int_range(pl.len()) % 19 != at).then(name).alias(name) for at, name in enumerate(columns)]
    return Table.of(pl.DataFrame(columns).select(holes), SCHEMA)


def written_ladders(tmp_path: Path) -> Path:
    folder = tmp_path / "hierarchies"
    folder.mkdir()
    write_hierarchy(interval_hierarchy("age", range(20, 40), [5, 10]), folder / "age.csv")
    return folder


@pytest.fixture
def ladders(tmp_path: Path) -> Path:
    return written_ladders(tmp_path)


def combinations(table: Table, names: list[str]) -> tuple[Table, np.ndarray]:
    """Return what a cluster counts, in another order than the rows'."""
    counted = table.frame.group_by(names).len("rows").sort("rows", *names)
    schema = table.schema.model_copy(update={"columns": tuple(table.schema[name] for name in names)})
    return Table(counted.select(names), schema), counted["rows"].cast(pl.Int64).to_numpy()


@pytest.mark.parametrize("asked", [{}, {"l": 2}, {"t": 0.3}, {"l": 2, "diversity": "entropy"}])
@pytest.mark.parametrize("search", ["safe", "arx"])
@pytest.mark.parametrize("more", [{"missing": "category"}, {"missing": "drop"}, {"loss": "entropy"}])
def test_counts_are_enough_to_choose_levels(ladders: Path, asked: dict, more: dict, search: str) -> None:
    table = people(300)
    given = {"k": 3, "hierarchies": ladders, "quasi": ("age", "a city"), "search": search, **asked, **more}
    method = HierarchyMethod(suppression=0.1 if search == "arx" else 0.6, **given)
    quasi, sensitive = method.looked_at(SCHEMA)
    chosen = method.levelled(table, quasi, sensitive)
    some, rows = combinations(table, [column.name for column in [*quasi, *sensitive]])
    assert len(some) < len(table)
    again = method.levelled(some, quasi, sensitive, rows)
    assert method.statement(SCHEMA, again) == method.statement(SCHEMA, chosen)
    assert rows[again.deleted.to_numpy()].sum() == chosen.deleted.sum()


@pytest.mark.parametrize("asked", [{}, {"l": 2}, {"t": 0.4}])
def test_counts_are_enough_to_cut_classes(asked: dict) -> None:
    table = people(300)
    method = Mondrian(k=4, suppression=1.0, **asked)
    quasi, sensitive = method.looked_at(SCHEMA)
    parted = method.parted(table, quasi, sensitive)
    some, rows = combinations(table, [column.name for column in [*quasi, *sensitive]])
    assert len(some) < len(table)
    again = method.parted(some, quasi, sensitive, rows)
    assert (again.classes, again.suppressed) == (parted.classes, parted.suppressed)
    assert rows[again.deleted.to_numpy()].sum() == parted.deleted.sum() == parted.suppressed
    names = [column.name for column in [*quasi, *sensitive]]
    whole = pl.DataFrame([*table.frame.select(names), *(its.alias(f"{n}!") for n, its in parted.cells.items())])
    few = pl.DataFrame([*some.frame.select(names), *(its.alias(f"{n}!") for n, its in again.cells.items())])
    assert whole.unique().sort(names).equals(few.sort(names))


def test_whole_columns_are_raised_alike(spark, tmp_path: Path, ladders: Path) -> None:
    method = HierarchyMethod(k=3, l=2, hierarchies=ladders, suppression=0.1, missing="drop", identifiers="pseudonyms")
    release = same_release(method, people(400), spark, tmp_path)
    assert release.deleted_rows > release.statement.notes["incomplete_rows"] > 0


def test_classes_are_cut_alike(spark, tmp_path: Path) -> None:
    some = people(400).frame
    # values that go with a column: chance does not deal them, and classes fail
    alike = some.with_columns(illness=pl.when(pl.col("age") < 26).then(pl.lit("flu")).otherwise("illness"))
    release = same_release(Mondrian(k=4, l=2, suppression=0.4), Table(alike, SCHEMA), spark, tmp_path)
    assert release.statement.notes["classes"] > 5
    assert release.deleted_rows == release.statement.notes["suppressed_rows"] > 0


def test_what_stops_them(spark, tmp_path: Path, ladders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lying = on_cluster(people(30), spark, tmp_path / "original")
    with pytest.raises(ParameterError, match="k = 31 needs at least 31 rows, but there are 30"):
        tables.protect_combinations(HierarchyMethod(k=31, hierarchies=ladders), lying, seed=1)
    with pytest.raises(ParameterError, match="equal rows by their order, which Spark does not keep; leave it out"):
        tables.protect_combinations(Mondrian(k=2, relaxed=True), lying, seed=1)
    monkeypatch.setattr(tables, "MOST_COMBINATIONS", 5)
    with pytest.raises(ParameterError, match=r"the driver would hold \d\d combinations of values, more than 5"):
        tables.protect_combinations(Mondrian(k=2), lying, seed=1)
