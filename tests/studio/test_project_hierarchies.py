"""Hierarchies of a project: first ones by what values are, a person's own ones, and why a column has none."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.data.frames import Table
from noren.data.hierarchies import Hierarchy, read_hierarchies
from noren.data.hierarchies.builder import ColumnValues
from noren.data.hierarchies.numbers import number_hierarchy
from noren.data.samples.people import sample_people
from noren.data.schema import Column, Schema
from noren.errors import ParameterError
from noren.methods.hierarchy import HierarchyMethod
from noren.progress import silent
from noren.studio import hierarchies
from noren.studio.pages import data_parts
from noren.studio.work import reading


def table_of(**columns: tuple[dict[str, Any], list[Any]]) -> Table:
    schema = Schema.of(
        {"kind": "table", "columns": {name: {"role": "quasi"} | about for name, (about, _v) in columns.items()}}
    )
    return Table.of({name: values for name, (_about, values) in columns.items()}, schema)


def made_for(tmp_path: Path, **columns: tuple[dict[str, Any], list[Any]]) -> dict[str, list[tuple[str, ...]]]:
    table = table_of(**columns)
    assert hierarchies.make_hierarchies(table, tmp_path) == []
    return {
        name: made.labels.rows() for name, made in read_hierarchies(tmp_path / "hierarchies", list(columns)).items()
    }


def test_first_hierarchies_by_what_values_are(tmp_path: Path) -> None:
    day, moment = dt.date(1990, 5, 17), dt.datetime(1990, 5, 17, 8, 26)
    made = made_for(
        tmp_path,
        age=({"type": "integer", "minimum": 20.0, "maximum": 22.0}, [20, 22]),
        price=({"type": "decimal", "width": 0.5}, [1.0, 2.5]),
        born=({"type": "date"}, [day, day]),
        seen=({"type": "datetime"}, [moment, moment]),
        hour=({"type": "time"}, [dt.time(8, 26), dt.time(9, 0)]),
        code=({"domain": ["E119", "E110", "J450"]}, ["E119", "J450"]),
        long=({}, ["1234567890", "1234500000"]),
        city=({}, ["Bern", "?"]),
    )
    assert made["age"] == [("20", "20-21", "*"), ("21", "20-21", "*"), ("22", "22-23", "*")]  # every year there can be
    assert made["price"] == [("1", "1-1.5", "*"), ("1.5", "1-1.5", "*"), ("2", "2-2.5", "*"), ("2.5", "2-2.5", "*")]
    assert made["born"] == [("1990/5/17", "1990-05", "1990-Q2", "1990", "*")]
    assert made["seen"] == [("1990/5/17 8:26", "1990/5/17", "1990-05", "1990", "*")]
    assert made["hour"] == [("8:26", "8:00-8:59", "*"), ("9:00", "9:00-9:59", "*")]
    assert made["code"][0] == ("E110", "E11*", "E1**", "E***", "*")  # what the domain declares, seen or not
    assert made["long"][1] == ("1234567890", "1234567***", "1234******", "1*********", "*")
    assert made["city"] == [("Bern", "*")]  # ? says that a value is missing


def test_numbers_beyond_a_grid_keep_their_digits(tmp_path: Path) -> None:
    high = 10**17 + 1
    made = made_for(tmp_path, a=({"type": "integer"}, [high, 3]), b=({"type": "decimal"}, [0.12345, 1.98765]))
    assert made["a"][1][:2] == (str(high), "100000000000000000-109999999999999999")
    assert made["b"] == [
        ("0.12345", "0-0.2", "0-0.4", "0-0.8", "0-1.6", "*"),
        ("1.98765", "1.8-2", "1.6-2", "1.6-2.4", "1.6-3.2", "*"),
    ]


def test_levels_tell_labels_and_rows(tmp_path: Path) -> None:
    table = table_of(age=({"type": "integer"}, [20, 20, 21, 27]))
    hierarchies.make_hierarchies(table, tmp_path)
    about = hierarchies.hierarchy_facts(tmp_path)[0]
    assert about["widths"] == [2, 4]
    assert [(level["labels"], level["least"]) for level in about["levels"]] == [(8, 1), (4, 1), (2, 1), (1, 4)]
    assert about["levels"][1]["examples"] == [["20-21", 3], ["26-27", 1]]
    assert data_parts.levels_sentence(about) == "4 levels: 8 → 4 → 2 → 1"


def test_columns_without_a_hierarchy_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hierarchies, "MOST_VALUES", 2)
    table = table_of(
        many=({}, ["x", "y", "z"]), none=({"optional": True}, [None] * 3), **{"n" * 199: ({}, ["a", "b", "a"])}
    )
    hierarchies.make_hierarchies(table, tmp_path)
    assert [about["reason"] for about in hierarchies.hierarchy_facts(tmp_path)] == [
        "too-many",
        "no-values",
        "name-too-long",
    ]
    assert not (tmp_path / "hierarchies").exists()  # an empty folder would stop the methods
    assert "more than 50,000 different values" in data_parts.levels_sentence(hierarchies.hierarchy_facts(tmp_path)[0])


def test_what_a_person_gave_stays_while_it_fits(tmp_path: Path) -> None:
    table = table_of(city=({}, ["Bern", "Genf"]), age=({"type": "integer"}, [20, 40]))
    hierarchies.make_hierarchies(table, tmp_path)
    own = Hierarchy.of("city", [("Bern", "CH", "*"), ("Genf", "CH", "*")])
    city, age = (ColumnValues(table, column) for column in table.schema.columns)
    hierarchies.keep_hierarchy(city, table.schema, tmp_path, own)
    hierarchies.keep_hierarchy(age, table.schema, tmp_path, hierarchies.BuilderRequest("widths", "10"))
    assert hierarchies.make_hierarchies(table, tmp_path) == []
    assert [about["made"] for about in hierarchies.hierarchy_facts(tmp_path)] == ["uploaded", "widths"]
    other = table_of(city=({}, ["Bern", "Chur"]), age=({"type": "integer"}, [5, 6]))
    assert hierarchies.make_hierarchies(other, tmp_path) == ["city"]
    assert [about["made"] for about in hierarchies.hierarchy_facts(tmp_path)] == ["default", "widths"]
    assert hierarchies.make_hierarchies(table_of(sex=({}, ["f", "m"])), tmp_path) == ["age"]
    assert [file.name for file in (tmp_path / "hierarchies").iterdir()] == ["sex.csv"]


def test_ranges_are_made_of_whole_ranges() -> None:
    column = Column(name="age", role="quasi", type="integer")
    for widths in ([5, 12], [1], [5, 5], [0.5]):
        with pytest.raises(ParameterError, match="cannot be made of ranges of"):
            number_hierarchy(column, pl.Series([20, 21]), widths)


def test_first_hierarchies_let_the_method_run(tmp_path: Path) -> None:
    people = sample_people(300, seed=2)
    hierarchies.make_hierarchies(people, tmp_path)
    release = HierarchyMethod(k=4, suppression=0.05, hierarchies=tmp_path / "hierarchies").protect(people, seed=1)
    quasi = [column.name for column in people.schema.with_role("quasi")]
    assert release.public.texts().group_by(quasi).len()["len"].min() >= 4  # type: ignore[operator]


def test_adult_gets_hierarchies(shared: Path, tmp_path: Path) -> None:
    order = {"kind": "read", "project": "p" * 12, "root": str(tmp_path), "language": "en", "dataset": "adult"}
    folder = tmp_path / "projects" / ("p" * 12) / "jobs" / ("j" * 12)
    folder.mkdir(parents=True)
    facts = reading.do(order, folder, silent)
    assert (facts["rows"], facts["kind"], facts["open"]) == (32_561, "table", [])
    made = {about["name"]: about for about in hierarchies.hierarchy_facts(tmp_path / "projects" / ("p" * 12))}
    assert made["age"]["widths"] == [5, 10, 20, 40]
    assert made["sex"]["levels"][0]["examples"] == [["Male", 21_790], ["Female", 10_771]]
    assert len(made) == 9
