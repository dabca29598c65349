"""Data frames in and out: Polars, pandas, Arrow and files mean the same, and what goes out comes back."""

from __future__ import annotations

import datetime as dt
import sys
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal
from tests.data.strategies import Drawn, drawn_releases, tables

import noren
from noren.api import as_records
from noren.data.contest_files import read_rows
from noren.data.formats.render import Spelling
from noren.data.frames import History, Records, Table, frame_of
from noren.data.release import Release, Statement
from noren.data.schema import Schema, TextLayout
from noren.errors import FileError, ParameterError, SchemaError, ValueInCellError

ROWS = {
    "customer": ["a", "a", "b", "b"],
    "date": [dt.date(2010, 12, 1), dt.date(2010, 12, 3), dt.date(2010, 12, 8), dt.date(2011, 1, 1)],
    "item": ["x", "y", "x", "z"],
    "price": [1.5, 2.0, 1.5, 0.5],
    "quantity": [2, 4, 4, 10],
}
SCHEMA = Schema.preset("pwscup2018")
SHOP = SCHEMA.model_copy(update={"name": "shop", "official": None, "text": TextLayout()})
HISTORY = History.of(ROWS, SCHEMA)
PEOPLE = Schema.of(
    {
        "kind": "table",
        "columns": {
            "age": {"role": "quasi", "type": "integer", "optional": True},
            "city": {"role": "quasi", "optional": True},
        },
    }
)


def csv_file(folder: Path) -> Path:
    pl.DataFrame(ROWS).write_csv(folder / "T.csv", date_format="%Y/%m/%d")
    return folder / "T.csv"


def parquet_file(folder: Path) -> str:
    pl.DataFrame(ROWS).write_parquet(folder / "T.parquet")
    return str(folder / "T.parquet")


MAKES = {
    "polars": lambda _folder: pl.DataFrame(ROWS),
    "lazy": lambda _folder: pl.LazyFrame(ROWS),
    "pandas": lambda _folder: pd.DataFrame(ROWS),
    "arrow": lambda _folder: pa.table(ROWS),
    "a batch of arrow": lambda _folder: pa.RecordBatch.from_pydict(ROWS),
    "columns by name": lambda _folder: ROWS,
    "rows": lambda _folder: pl.DataFrame(ROWS).to_dicts(),
    "a path": csv_file,
    "a path as text": parquet_file,
}


# --- in --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKES)
def test_data_of_every_make_mean_the_same_to_every_function(make: str, tmp_path: Path) -> None:
    data = MAKES[make](tmp_path)
    assert as_records(data, SHOP).lines().to_list() == HISTORY.lines().to_list()
    assert as_records(data).digest() == HISTORY.digest(), "guessed"
    release = noren.protect(data, "generalize-by-count", k=2, schema=SHOP, seed=1)
    assert release.public.lines().to_list() == (
        noren.protect(HISTORY, "generalize-by-count", k=2, seed=1).public.lines().to_list()
    )
    guess = noren.attack(data, release, "unique-rows", schema=SHOP, known=data)
    assert len(guess) == 0
    assert noren.measure(data, release, "cell-error", schema=SHOP) == noren.measure(HISTORY, release, "cell-error")


PANDAS_COLUMNS: dict[str, tuple[str, Any, list[Any]]] = {
    "category": ("city", pd.Categorical(["Kyoto", None, "Kyoto"]), ["Kyoto", None, "Kyoto"]),
    "category of numbers": ("age", pd.Categorical([31, None, 44]), [31, None, 44]),
    "objects, None": ("city", pd.Series(["Kyoto", None, "Nara"], dtype=object), ["Kyoto", None, "Nara"]),
    "objects, NaN": ("city", pd.Series(["Kyoto", np.nan, "Nara"], dtype=object), ["Kyoto", None, "Nara"]),
    "objects, NA": ("city", pd.Series(["Kyoto", pd.NA, "Nara"], dtype=object), ["Kyoto", None, "Nara"]),
    "strings": ("city", pd.Series(["Kyoto", None, "Nara"], dtype="string"), ["Kyoto", None, "Nara"]),
    "strings of Arrow": ("city", pd.Series(["Kyoto", None], dtype=pd.ArrowDtype(pa.string())), ["Kyoto", None]),
    "an empty text": ("city", ["", "Nara"], [None, "Nara"]),
    "numbers that name": ("city", [606.0, None, 610.0], ["606", None, "610"]),
    "floats with NaN": ("age", [31.0, np.nan, 44.0], [31, None, 44]),
    "Int64": ("age", pd.Series([31, None, 2**60 + 1], dtype="Int64"), [31, None, 2**60 + 1]),
    "Float64": ("age", pd.Series([31, None], dtype="Float64"), [31, None]),
    "small numbers": ("age", pd.Series([31, 44], dtype="uint8"), [31, 44]),
    "texts": ("age", ["31", "44"], [31, 44]),
    "decimals": ("age", pd.Series([Decimal(31), None], dtype=object), [31, None]),
    "days": ("day", pd.to_datetime(["2010-12-01", None]), [dt.date(2010, 12, 1), None]),
    "days in nanoseconds": ("day", pd.to_datetime(["2010-12-01"]).astype("datetime64[ns]"), [dt.date(2010, 12, 1)]),
    "days of a place": ("day", pd.to_datetime(["2010-12-01"]).tz_localize("Asia/Tokyo"), [dt.date(2010, 12, 1)]),
    "days as objects": ("day", pd.Series([dt.date(2010, 12, 1), None], dtype=object), [dt.date(2010, 12, 1), None]),
    "moments": ("moment", pd.to_datetime(["2010-12-01 08:45:30.5"]), [dt.datetime(2010, 12, 1, 8, 45, 30, 500_000)]),
    "times": ("time", pd.Series([dt.time(8, 45), None], dtype=object), [dt.time(8, 45), None]),
}


@pytest.mark.parametrize("about", PANDAS_COLUMNS)
def test_every_type_of_pandas_column(about: str) -> None:
    name, values, expected = PANDAS_COLUMNS[about]
    kinds = {"age": "integer", "city": "text", "day": "date", "moment": "datetime", "time": "time"}
    schema = Schema.of({"kind": "table", "columns": {name: {"role": "quasi", "type": kinds[name], "optional": True}}})
    assert Table.of(pd.DataFrame({name: values}), schema).frame[name].to_list() == expected


def test_the_index_is_not_read() -> None:
    odd = pd.DataFrame(ROWS, index=[9, 9, -1, 4])
    assert as_records(odd, SCHEMA).digest() == HISTORY.digest()
    turned = pd.DataFrame(ROWS).sort_values("price")
    assert as_records(turned, SCHEMA)["price"].to_list() == [0.5, 1.5, 1.5, 2.0], "rows come as they stand"
    indexed = pd.DataFrame(ROWS).set_index("customer")
    with pytest.raises(SchemaError, match=r"'customer' is the index of the pandas frame, .* with reset_index"):
        as_records(indexed, SCHEMA)
    with pytest.raises(SchemaError, match="reset_index"):
        History.of(indexed, SCHEMA)
    assert as_records(indexed.reset_index(), SCHEMA).digest() == HISTORY.digest()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pd.Series(["85123A", 85123], dtype=object), r"column item: .*pandas type object.*astype\(str\)"),
        (pd.Series([object(), 1], dtype=object), "column item: .*cannot be read"),
        (pd.Series([1j, 2j]), "column item: .*complex128"),
        (pd.period_range("2010-12", periods=2, freq="M"), r"item: values of pandas type period\[M\] cannot be read"),
        (pd.interval_range(0, 2), "column item: values of pandas type interval"),
    ],
    ids=["mixed", "objects", "complex", "periods", "intervals"],
)
def test_a_column_that_pandas_alone_understands_is_named_with_its_cure(values: Any, said: str) -> None:
    with pytest.raises(SchemaError, match=said):
        as_records(pd.DataFrame({"customer": ["a", "b"], "item": values}), SCHEMA)


def test_what_is_no_table_is_said() -> None:
    with pytest.raises(SchemaError, match="two columns are named 'item'"):
        as_records(pd.DataFrame([["a", "b"]], columns=["item", "item"]))
    for odd in (5, b"customer", object(), pd.Series([1])):
        with pytest.raises(ParameterError, match=r"\w+ is not a table; give .*or the path of a file"):
            as_records(odd)
    nothings: list[Any] = [None, [], pl.DataFrame(), pd.DataFrame()]
    for nothing in nothings:
        with pytest.raises(ParameterError, match="the data has no columns"):
            as_records(nothing)
    with pytest.raises(ParameterError, match="the lazy frame cannot be collected"):
        as_records(pl.LazyFrame(ROWS).select("nothing"))
    with pytest.raises(FileError, match="there is no such file"):
        as_records("nowhere.csv", SCHEMA)


def test_a_table_with_a_column_nobody_described_is_refused_as_a_file_is(tmp_path: Path) -> None:
    wide = pl.DataFrame({"age": [31], "city": ["Nara"], "ssn": ["123"]})
    wide.write_csv(tmp_path / "wide.csv")
    for data in (wide, wide.to_pandas(), tmp_path / "wide.csv"):
        with pytest.raises(SchemaError, match="column ssn: the schema custom does not describe this column"):
            as_records(data, PEOPLE)
    more = pl.DataFrame(ROWS).with_columns(till=pl.lit(3))
    assert as_records(more, SCHEMA).schema.names == tuple(ROWS), "in a history others are left out"


def test_a_guess_that_could_go_either_way_is_asked(tmp_path: Path) -> None:
    either = pl.DataFrame(ROWS).with_columns(date=pl.Series(["3/4/2011", "1/2/2011", "5/6/2011", "7/8/2011"]))
    either.write_csv(tmp_path / "either.csv")
    for data in (either, either.to_pandas(), tmp_path / "either.csv"):
        with pytest.raises(SchemaError, match=r"date: day first or month first\?.*give a schema that answers it"):
            noren.protect(data, "pseudonymize")
    plain = either.with_columns(date=pl.Series(["13/4/2011", "1/2/2011", "5/6/2011", "7/8/2011"]))
    assert as_records(plain)["date"][1] == dt.date(2011, 2, 1)
    with pytest.raises(SchemaError, match="date, price, quantity, item look like purchases, but no column is the"):
        as_records(pl.DataFrame(ROWS).drop("customer"))


# --- out -------------------------------------------------------------------------------------------------------------

CELLS = {
    "customer": ["7", "7", "8", "8"],
    "date": [{"lo": dt.date(2010, 12, 1), "hi": dt.date(2010, 12, 3)}] * 2 + [None] * 2,
    "item": [["x", "y"]] * 2 + [["z"], None],
    "price": [1.5, 2.0, None, 0.5],
    "quantity": [{"lo": 2, "hi": 4}] * 2 + [{"lo": 10, "hi": 10}] * 2,
}
TEXTS = {
    "customer": ["7", "7", "8", "8"],
    "date": ["[2010/12/1;2010/12/3]"] * 2 + ["*"] * 2,
    "item": ["{x;y}"] * 2 + ["z", "*"],
    "price": [1.5, 2.0, None, 0.5],
    "quantity": ["[2;4]"] * 2 + ["10"] * 2,
}


def test_generalised_cells_go_out_as_texts_or_typed_and_come_back() -> None:
    rows = History.of_release(CELLS, SCHEMA)
    assert rows.to_polars().to_dict(as_series=False) == TEXTS
    assert rows.to_pandas().astype(object).where(lambda f: f.notna(), None).to_dict("list") == TEXTS
    assert rows.to_polars(cells="typed").to_dict(as_series=False) == CELLS
    typed = rows.to_pandas(cells="typed")
    assert typed["date"].to_list() == CELLS["date"]
    assert typed["item"].to_list() == CELLS["item"]
    for back in (rows.to_polars(), rows.to_pandas(), rows.to_polars(cells="typed"), typed):
        assert History.of_release(back, SCHEMA).frame.to_dict(as_series=False) == CELLS


def test_a_release_hands_out_its_public_part() -> None:
    release = Release.of_aligned(HISTORY, History.of_release(CELLS, SCHEMA), Statement("by hand"))
    assert_frame_equal(release.to_polars(), release.public.to_polars())
    assert release.to_pandas()["item"].to_list() == release.public.to_polars()["item"].to_list()
    assert len(release.to_pandas(cells="typed")) == 4


def test_a_frame_does_not_tell_what_was_taken_out() -> None:
    domain = pl.List(pl.Enum(["x", "y", "z", "taken out"]))
    rows = History.of_release(CELLS, SCHEMA)
    wide = replace(rows, frame=rows.frame.with_columns(pl.col("item").cast(domain), extra=pl.lit("taken out")))
    for frame in (wide.to_polars(cells="typed"), wide.to_polars()):
        assert "taken out" not in str(frame.schema) + str(frame.to_dict(as_series=False))
        assert frame.columns == list(SCHEMA.names)
    assert wide.to_polars(cells="typed").schema["item"] == pl.List(pl.Enum(["x", "y", "z"]))


def test_types_of_pandas_columns_that_go_out() -> None:
    out = HISTORY.to_pandas()
    assert [str(out[name].dtype)[:10] for name in ("date", "price", "quantity")] == ["datetime64", "float64", "int64"]
    assert out["customer"].dtype == pd.DataFrame({"x": ["text"]})["x"].dtype
    assert isinstance(out.index, pd.RangeIndex)
    gaps = Table.of({"age": [2**60 + 1, None], "city": [None, "Nara"]}, PEOPLE).to_pandas()
    assert gaps["age"].dtype == "Int64"
    assert gaps["age"][0] == 2**60 + 1, "a float would have lost the last digit"
    assert gaps.isna().to_numpy().tolist() == [[False, True], [True, False]]
    guess = noren.attack(HISTORY, noren.protect(HISTORY, "pseudonymize", seed=1), "unique-rows")
    assert guess.to_pandas()["customer"].to_list() == guess.to_polars()["customer"].to_list() == ["a", "b"]


def test_without_pandas_all_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    release = noren.protect(pl.DataFrame(ROWS), "pseudonymize", schema=SCHEMA, seed=1)
    assert len(release.to_polars()) == 4
    for thing in (release, release.public, noren.attack(HISTORY, release, "unique-rows")):
        with pytest.raises(ParameterError, match=r"pandas is not installed; install it.*or use to_polars"):
            thing.to_pandas()


def plain(rows: Records) -> list[str]:
    return replace(rows, spelling=Spelling()).lines().to_list()


@given(tables())
def test_tables_come_back_as_they_went_out(table: Table) -> None:
    for frame in (table.to_polars(), table.to_polars().to_arrow(), table.to_pandas()):
        assert_frame_equal(Table.of(frame, table.schema).frame, table.frame)


@given(drawn_releases())
def test_releases_come_back_as_they_went_out(tmp_path: Path, drawn: Drawn) -> None:
    file = tmp_path / "A.csv"
    file.write_bytes(drawn.content)
    rows = read_rows(file, SCHEMA)
    for cells in ("text", "typed"):
        for frame in (rows.to_polars(cells=cells), rows.to_pandas(cells=cells)):
            assert plain(History.of_release(frame, SCHEMA)) == plain(rows)
    assert rows.to_polars().columns == list(SCHEMA.names)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("item", "{x;x}", "row 2, column item, '{x;x}': a set lists different values, none of them empty"),
        ("quantity", "[4;2]", r"row 2, column quantity, '\[4;2\]': a range starts with its smaller end"),
        ("quantity", "[4;", "row 2, column quantity"),
        ("price", "dear", "row 2, column price, 'dear': this is not a finite number"),
        ("quantity", {"lo": 4, "hi": 2}, r"row 2, column quantity, '\[4;2\]': a range starts with its smaller end"),
        ("quantity", {"lo": 4, "hi": None}, r"row 2, column quantity, '\[4;None\]'"),
    ],
)
def test_a_released_cell_that_is_none_is_named(name: str, value: Any, said: str) -> None:
    first = {"lo": 1, "hi": 1} if isinstance(value, dict) else "1"
    with pytest.raises(ValueInCellError, match=said):
        History.of_release({**CELLS, name: [first, value, first, first]}, SCHEMA)


# --- releases of any make --------------------------------------------------------------------------------------------


def test_public_rows_of_every_make_are_attacked_alike(small: History, tmp_path: Path) -> None:
    release = noren.protect(small, "pseudonymize", seed=1)
    expected = noren.attack(small, release, "unique-rows")
    assert len(expected) == 30
    release.publish(tmp_path / "published", official=True, override="a test")
    for public in (
        release.public,
        release.to_polars(),
        release.to_pandas(),
        tmp_path / "published",
        str(tmp_path / "published" / "public.csv"),
    ):
        assert_frame_equal(noren.attack(small, public, "unique-rows").pairs, expected.pairs)


def test_rows_in_the_originals_order_are_measured_as_a_release(small: History, tmp_path: Path) -> None:
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    expected = noren.measure(small, release, "cell-error")
    assert expected.value > 0
    aligned = release.aligned()
    release.save(tmp_path / "saved", official=True)
    for rows in (
        aligned,
        aligned.to_polars(),
        aligned.to_pandas(),
        tmp_path / "saved",
        tmp_path / "saved/secret/A.csv",
    ):
        assert noren.measure(small, rows, "cell-error").value == pytest.approx(expected.value, abs=1e-12)
    with pytest.raises(ParameterError, match="the release has 599 rows, the original 600"):
        noren.measure(small, aligned.to_polars()[:599], "cell-error")


def test_a_table_of_ones_own_making_is_measured() -> None:
    people = Schema.of({"kind": "table", "columns": {"id": {"role": "identifier"}, "sex": {"role": "quasi"}}})
    table = Table.of({"id": ["1", "2", "3", "4"], "sex": ["f", "f", "f", "m"]}, people)
    mine = pd.DataFrame({"sex": ["f", "f", "m", "m"]})
    assert noren.measure(table, mine, "l1-precision").value == 0.75
    with pytest.raises(SchemaError, match="column name: the schema custom does not describe this column"):
        noren.measure(table, mine.assign(name="x"), "l1-precision")


def test_guesses_of_ones_own_making_are_judged(small: History) -> None:
    release = noren.protect(small, "pseudonymize", seed=1)
    truth = release.secret.pseudonyms.select("pseudonym", "customer")
    half = truth.with_columns(
        customer=pl.when(pl.int_range(pl.len()) < 15).then("customer").otherwise(pl.lit("nobody"))
    )
    score = noren.measure(small, release, "reid-rate", guesses={"all": truth.to_pandas(), "half": half})
    assert score.parts["all"] == 1.0
    assert score.parts["half"] == 0.5
    with pytest.raises(SchemaError, match="the data has no column 'customer'"):
        noren.measure(small, release, "reid-rate", guesses={"bad": truth.drop("customer")})


def test_data_in_memory_are_checked_as_the_files_they_would_be(small: History, small_csv: Path) -> None:
    release = noren.protect(small, "generalize-by-count", k=3, seed=1)
    bad = release.aligned().to_pandas()
    bad.loc[3, "customer"] = "nobody in particular, at all"
    for original in (small, small.to_pandas(), small_csv):
        assert noren.check(original, release, schema="pwscup2018").valid
        assert noren.check(original, release.aligned().to_polars(), schema="pwscup2018").valid
    found = noren.check(small, bad, schema="pwscup2018")
    assert not found.valid
    assert {problem.row for problem in found.problems} == {4}
    guess = noren.attack(small, release, "nearest")
    assert noren.check(small, release, schema="pwscup2018", guess=guess).valid
    pairs = guess.to_pandas().assign(customer="nobody")
    assert not noren.check(small, release, schema="pwscup2018", guess=pairs).valid
    with pytest.raises(ParameterError, match="nothing to check"):
        noren.check(small, schema="pwscup2018")


def test_a_reconstruction_needs_what_the_release_says(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"sex": {"role": "quasi", "domain": ["f", "m"]}}})
    release = noren.protect(pl.DataFrame({"sex": ["f"] * 60 + ["m"] * 40}), "retention", k=2, schema=schema, seed=1)
    release.save(tmp_path / "saved")
    first, second = (noren.reconstruct(r, "em").table.tolist() for r in (release, tmp_path / "saved"))
    assert first == second
    assert sum(first) == pytest.approx(100)
    with pytest.raises(ParameterError, match="rows alone do not show how they were perturbed"):
        noren.reconstruct(release.to_pandas())


def test_a_frame_stays_the_frame_it_is() -> None:
    frame = pl.DataFrame(ROWS)
    assert frame_of(frame) is frame
