"""Classes cut one by one: lawful, tight, and as their cells say."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import Command

from noren import api
from noren.data.cells import contains
from noren.data.frames import Table
from noren.data.release import Release
from noren.data.schema import Schema
from noren.errors import ParameterError

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi", "type": "integer", "optional": True},
            "born": {"role": "quasi", "type": "date"},
            "city": {"role": "quasi", "optional": True},
            "illness": {"role": "sensitive"},
        },
    }
)


def some_people(seed: int, rows: int, *, gaps: bool = False) -> Table:
    random = np.random.Generator(np.random.PCG64(seed))
    ages = random.integers(0, 90, rows).tolist()
    cities = random.choice(["Basel", "Bern", "Genf", "Zug"], rows, p=[0.1, 0.2, 0.3, 0.4]).tolist()
    if gaps:
        ages = [None if random.random() < 0.1 else age for age in ages]
        cities = [None if random.random() < 0.1 else city for city in cities]
    return Table.of(
        {
            "age": pl.Series(ages, dtype=pl.Int64),
            "born": [dt.date(1990, 1, 1) + dt.timedelta(days=int(d)) for d in random.integers(0, 4000, rows)],
            "city": pl.Series(cities, dtype=pl.String),
            "illness": random.choice(["flu", "cold", "rare"], rows).tolist(),
        },
        SCHEMA,
    )


@pytest.mark.parametrize("relaxed", [False, True])
@given(seed=st.integers(0, 1000), k=st.integers(2, 7), gaps=st.booleans())
def test_every_row_is_alike_to_k_minus_1_others_and_fits_its_cells(
    seed: int, k: int, relaxed: bool, gaps: bool
) -> None:
    people = some_people(seed, 60, gaps=gaps)
    release = api.protect(people, "mondrian", k=k, relaxed=relaxed, seed=1)  # the audit counts classes
    assert len(release.public) == 60
    aligned = release.aligned()
    for name in ("age", "born", "city"):
        values = people.frame[name]
        fits = contains(aligned.frame[name], values)
        assert fits.filter(values.is_not_null()).all()
        # a class that lacks a value shows nothing, so nobody learns who lacks it
        assert aligned.frame[name].filter(values.is_null()).null_count() == values.null_count()
    assert aligned.frame["illness"].to_list() == people.frame["illness"].to_list()


def test_less_is_lost_than_by_whole_columns(tmp_path: Path) -> None:
    people = some_people(1, 300)
    strict = api.protect(people, "mondrian", k=3, seed=1)
    (tmp_path / "city.csv").write_text("Basel;*\nBern;*\nGenf;*\nZug;*\n", encoding="utf-8")
    whole = api.protect(people, "hierarchy", k=3, hierarchies=tmp_path, seed=1)
    for measure in ("table-loss", "entropy-loss", "discernibility", "class-size"):
        assert api.measure(people, strict, measure).value < api.measure(people, whole, measure).value


def test_cells_by_hand_with_a_set_and_a_date() -> None:
    people = Table.of(
        {
            "age": [20, 22, 60, 64],
            "born": [dt.date(1990, 1, 1)] * 2 + [dt.date(1950, 3, 2), dt.date(1950, 3, 5)],
            "city": ["Zug", "Bern", "Zug", "Zug"],
            "illness": ["flu"] * 4,
        },
        SCHEMA,
    )
    assert api.protect(people, "mondrian", k=2, seed=1).public.lines().to_list() == [
        "[20;22],1990/1/1,{Bern;Zug},flu",
        "[20;22],1990/1/1,{Bern;Zug},flu",
        "[60;64],[1950/3/2;1950/3/5],Zug,flu",
        "[60;64],[1950/3/2;1950/3/5],Zug,flu",
    ]


def test_hierarchies_keep_neighbours_together(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"city": {"role": "quasi"}}})
    cities = ["Bern"] * 5 + ["Rom"] * 4 + ["Genf"] * 3 + ["Mailand"] * 2
    people = Table.of({"city": cities}, schema)
    (tmp_path / "city.csv").write_text(
        "Bern;Switzerland;*\nRom;Italy;*\nGenf;Switzerland;*\nMailand;Italy;*\n", encoding="utf-8"
    )
    by_country = api.protect(people, "mondrian", k=6, hierarchies=tmp_path, seed=1)
    by_frequency = api.protect(people, "mondrian", k=5, seed=1)
    assert set(by_country.public.lines()) == {"{Bern;Genf}", "{Mailand;Rom}"}
    assert set(by_frequency.public.lines()) == {"Bern", "{Genf;Mailand;Rom}"}


def test_sensitive_values_differ_in_every_class() -> None:
    people = some_people(3, 200)
    release = api.protect(people, "mondrian", k=2, l=3, seed=1)
    score = api.measure(people, release, "classes")
    assert (score.parts["l_distinct"], score.notes["holds"]) == (3, True)
    assert release.deleted_rows == release.statement.notes["suppressed_rows"] <= 20
    close = api.protect(people, "mondrian", k=2, t=0.2, suppression=0.3, seed=1)
    told = api.measure(people, close, "classes")
    assert told.notes["sensitive"]["illness"]["t_equal_to_original"] <= 0.2 + 1e-9
    assert told.notes["classes"] == close.statement.notes["classes"] > 1
    with pytest.raises(ParameterError, match="even all rows together"):
        api.protect(people, "mondrian", k=2, l=4, seed=1)


def test_a_release_comes_back_from_its_folder(tmp_path: Path) -> None:
    release = api.protect(some_people(2, 50), "mondrian", k=3, seed=1)
    release.save(tmp_path / "m")
    assert Release.load(tmp_path / "m").public.lines().to_list() == release.public.lines().to_list()


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_no_and_one_row(rows: int) -> None:
    with pytest.raises(ParameterError, match=f"k = 2 needs at least 2 rows, but there are {rows}"):
        api.protect(Table(some_people(1, 5).frame[:rows], SCHEMA), "mondrian", k=2, seed=1)


def test_adult_from_the_command_line(shared: Path, noren: Command, tmp_path: Path) -> None:
    adult = shared / "data" / "adult.data"
    done = noren("protect", adult, "--schema", "adult", "--method", "mondrian", "--k", 5, "--out", tmp_path / "m")
    assert done.code == 0
    measured = noren("measure", adult, tmp_path / "m", "--schema", "adult", "--measures", "classes", "--json")
    assert measured.json["results"]["classes"]["value"] == 5
