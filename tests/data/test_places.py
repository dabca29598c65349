"""Check-ins and addresses on a map: latitude and longitude are found, and become cells of a grid."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.categories import grid_categories
from noren.data.frames import History, Table
from noren.data.guessing.roles import coordinates
from noren.data.guessing.schema_guess import guess_columns
from noren.data.hierarchies.builder import ColumnValues
from noren.data.hierarchies.builders import builder_of, usual_builder
from noren.data.schema import Column, Schema
from noren.errors import ParameterError

# centre, name of the cell of 0.05 degrees: two districts of Tokyo and one of New York
DISTRICTS = {
    "N35.65-35.7 E139.7-139.75": (35.6595, 139.7005),
    "N35.7-35.75 E139.75-139.8": (35.7138, 139.7770),
    "N40.7-40.75 W74-74.05": (40.7127, -74.0134),
}


def check_ins(names: str, users: int = 30, rows: int = 400) -> pl.DataFrame:
    """Return check-ins as Foursquare's public files have them, of 5 venues in each of three districts."""
    chance = random.Random(7)
    venues = [
        (f"4b{chance.getrandbits(80):020x}", place, lat + i * 0.003, lon + i * 0.003)
        for place, (lat, lon) in DISTRICTS.items()
        for i in range(5)
    ]
    made = []
    for _row in range(rows):
        venue, _place, lat, lon = chance.choice(venues)
        day = chance.randrange(1, 29)
        weekday = ("Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri")[day % 7]  # 1 April 2012 was a Sunday
        when = f"{weekday} Apr {day:02d} {chance.randrange(24):02d}:{chance.randrange(60):02d}:07 +0000 2012"
        made.append((str(chance.randrange(users)), venue, "Coffee Shop", str(lat), str(lon), when))
    return pl.DataFrame(made, schema=names.split(), orient="row")


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("lat lon", True),
        ("latitude longitude", True),
        ("venue_lat venue_lng", True),
        ("緯度 経度", True),
        ("lat price", False),
        ("lat latitude lon", False),
        ("flat salon", False),
        ("Breitengrad Längengrad", True),
        ("Breite Länge", False),  # of a parcel
    ],
)
def test_names(names: str, found: bool) -> None:
    rows = pl.DataFrame({name: [35.6, 89.0] for name in names.split()})
    place = coordinates([Column(name=name, type="decimal") for name in rows.columns], rows)
    assert place == (tuple(names.split()) if found else None)


def test_ranges() -> None:
    columns = [Column(name="lat", type="decimal"), Column(name="lon", type="decimal")]
    for lat, lon, found in ((90.0, -180.0, True), (90.1, 0.0, False), (0.0, 181.0, False), (None, 1.0, False)):
        rows = pl.DataFrame({"lat": [lat], "lon": [lon]}, schema={"lat": pl.Float64, "lon": pl.Float64})
        assert (coordinates(columns, rows) is not None) == found


@pytest.mark.parametrize(
    ("names", "item"),
    [
        ("userId venueId venueCategory latitude longitude utcTimestamp", "venueId"),
        ("user location_id kind lat lon time", "location_id"),
        ("利用者 地点 種類 緯度 経度 日時", "地点"),
    ],
)
def test_the_venue_is_the_item(names: str, item: str) -> None:
    schema = guess_columns(check_ins(names)).schema
    roles = {str(column.role): column.name for column in schema.columns if column.role != "other"}
    assert roles == {"customer": names.split()[0], "item": item, "date": names.split()[-1]}


def built(column: str, values: list[float | None], by: str = "", text: str = "") -> dict[str, tuple[str, ...]]:
    """Return the labels of a column beside which the other coordinate stands."""
    names = ("lat", "lon")
    schema = Schema.of({"kind": "table", "columns": {n: {"type": "decimal", "optional": True} for n in names}})
    rows = Table.of({n: values if n == column else [0.0] * len(values) for n in names}, schema)
    about = ColumnValues(rows, schema[column])
    made = (builder_of(by, text) if by else usual_builder(about)).build(about)
    return {value: tuple(labels[:-1]) for value, *labels in made.labels.rows()}


def test_cells_of_a_grid_by_default() -> None:
    assert built("lat", [35.65858, None, -33.8568, 35.66]) == {
        "-33.8568": ("-33.86--33.85", "-33.9--33.8", "-34--33"),
        "35.65858": ("35.65-35.66", "35.6-35.7", "35-36"),
        "35.66": ("35.66-35.67", "35.6-35.7", "35-36"),
    }
    assert built("lon", [139.7454], "grid", "0.5, 10") == {"139.7454": ("139.5-140", "130-140")}
    for wrong in ("0.1, 0.25", "1, 0.1", "ten"):
        with pytest.raises(ParameterError):
            built("lon", [139.7454], "grid", wrong)


@given(st.lists(st.floats(-90, 90), min_size=1, max_size=6))
def test_cells_hold_their_values(values: list[float]) -> None:
    for value, labels in built("lat", list(values)).items():  # a label that did not nest would have been refused
        for label, width in zip(labels, (0.01, 0.1, 1.0), strict=True):
            low, high = (float(sign + end) for sign, end in _ends(label))
            assert high - low == pytest.approx(width)
            assert low - 1e-6 <= float(value) <= high + 1e-6


def _ends(label: str) -> list[tuple[str, str]]:
    first, second = (label[1:] if label[0] == "-" else label).split("-", 1)
    return [("-" if label[0] == "-" else "", first), ("", second)]


def test_one_coordinate_alone_is_a_number() -> None:
    schema = Schema.of({"kind": "table", "columns": {"lat": {"role": "quasi", "type": "decimal"}}})
    assert usual_builder(ColumnValues(Table.of({"lat": [35.6, 36.0]}, schema), schema["lat"])).by == "widths"


def test_venues_by_cell() -> None:
    frame = check_ins("user venue kind lat lon time")
    schema = guess_columns(frame).schema
    lost = frame.with_columns(pl.when(pl.col("venue") == frame["venue"][0]).then(None).otherwise("lat").alias("lat"))
    cells = grid_categories(History.of(frame, schema), 0.05)
    assert {c: len(venues) for c, venues in cells.groups().items()} == dict.fromkeys(DISTRICTS, 5)
    optional = schema.model_copy(
        update={"columns": tuple(c.model_copy(update={"optional": True}) for c in schema.columns)}
    )
    assert grid_categories(History.of(lost, optional), 0.05).of_item[frame["venue"][0]] == "unknown"
    with pytest.raises(ParameterError, match="no columns of latitude and longitude"):
        grid_categories(History.of(frame.drop("lon"), schema.without(["lon"])), 0.05)


def test_check_ins_leave_counts_of_regions(noren, tmp_path: Path) -> None:
    frame = check_ins("user venue kind lat lon time")
    frame.write_csv(tmp_path / "went.csv")
    answer = noren("categorize", tmp_path / "went.csv", "--grid", 0.05, "--out", tmp_path / "cells.csv", "--json")
    assert answer.code == 0, answer.err
    assert [one["category"] for one in answer.json["categories"]] == sorted(DISTRICTS)
    method = ("--method", "generalize", "--k", 3, "--categories", tmp_path / "cells.csv", "--seed", 1)
    answer = noren("protect", tmp_path / "went.csv", *method, "--out", tmp_path / "r")
    assert answer.code == 0, answer.err
    public = pl.read_parquet(tmp_path / "r" / "public.parquet")
    assert public["lat"].null_count() == public["lon"].null_count() == len(public)
    exact = public.filter(pl.col("venue").list.len() == 1)["venue"].list.first().cast(pl.String)
    assert set(exact) == set(DISTRICTS)
    assert len(exact) >= 0.6 * len(frame)
