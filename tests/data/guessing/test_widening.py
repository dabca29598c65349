"""A guess never rejects data: what holds for the first rows widens to hold them all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from noren.data.formats import parquet, text_files
from noren.data.guessing import schema_guess as guess
from noren.data.guessing.schema_guess import guess_columns, guess_schema
from noren.data.reading import ReadResult, convert, fit_schema, read, read_blocks
from noren.data.schema import Schema
from noren.errors import ValueInCellError


@pytest.fixture(autouse=True)
def _three_rows_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "SAMPLE_ROWS", 3)
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 64)
    monkeypatch.setattr(parquet, "_BLOCK_ROWS", 4)


def saved(tmp_path: Path, usual: list[str], odd: str, rows: int = 40) -> Path:
    """A table of two columns whose last row but one is odd."""
    cells = [usual[i % len(usual)] for i in range(rows)] + [odd, usual[0]]
    path = tmp_path / "table.csv"
    path.write_text("x;id\n" + "".join(f"{cell};p{i}\n" for i, cell in enumerate(cells)))
    return path


def column(found: ReadResult) -> tuple[str, str | None, str | None, float | None, bool]:
    about = found.data.schema["x"]
    return str(about.type), about.format, about.number, about.width, about.optional


@pytest.mark.parametrize(
    ("usual", "odd", "expected", "value"),
    [
        (["1", "2"], "A12", ("text", None, None, None, False), "A12"),
        (["1", "2"], "", ("integer", None, None, 1.0, True), None),
        (["1", "2"], "2.5", ("decimal", None, None, 0.01, False), 2.5),
        (["1", "2"], "1,280", ("integer", None, "1,234.56", 1.0, False), 1280),
        (["1", "2"], "3,5", ("decimal", None, "1.234,56", 0.01, False), 3.5),
        (["1", "2"], "9" * 23, ("text", None, None, None, False), "9" * 23),
        (["1.25", "2.50"], "0.005", ("decimal", None, None, 0.001, False), 0.005),
        (["1.25", "2.50"], "0.123456", ("decimal", None, None, None, False), 0.123456),
        (["1.25", "2.50"], "1e999", ("text", None, None, None, False), "1e999"),
        (["20100101", "20100102"], "20109999", ("integer", None, None, 1.0, False), 20109999),
        (["2010-12-01"], "n/a", ("text", None, None, None, False), "n/a"),
        (["8:45"], "8:45:30", ("time", "%H:%M:%S", None, 1.0, False), None),
    ],
)
def test_types_grids_and_empty_cells_widen(
    tmp_path: Path, usual: list[str], odd: str, expected: tuple[object, ...], value: object
) -> None:
    path = saved(tmp_path, usual, odd)
    assert guess_schema(path).schema["x"].type != "text"
    found = read(path)
    assert column(found) == expected
    assert len(found.data) == 42
    if value is not None:
        assert found.data.frame["x"][40] == value
    assert found.data.schema.guessed
    # block by block it is the same, and so is a file that is written
    whole = fit_schema(path, guess_schema(path).schema)
    assert whole == found.data.schema
    assert_frame_equal(pl.concat(read_blocks(path, whole)), found.data.frame)
    assert convert(path, tmp_path / "out.parquet") == 42
    assert_frame_equal(pl.read_parquet(tmp_path / "out.parquet"), found.data.frame)


def test_the_type_that_gave_way_is_said_with_its_cell(tmp_path: Path) -> None:
    found = read(saved(tmp_path, ["1", "2"], "A12"))
    assert found.notes[-1] == "x: read as text, because row 42 has 'A12'"


def test_the_day_comes_first_until_a_row_says_otherwise(tmp_path: Path) -> None:
    found = read(saved(tmp_path, ["03/04/2011", "05/06/2011"], "03/14/2011"))
    assert found.data.schema["x"].format == "%m/%d/%Y"
    assert [str(day) for day in found.data.frame["x"][39:42]] == ["2011-05-06", "2011-03-14", "2011-03-04"]


def test_a_domain_grows_and_past_a_hundred_values_is_left_out(tmp_path: Path) -> None:
    found = read(saved(tmp_path, ["Japan", "France"], "Malta"))
    assert found.data.schema["x"].domain == ("France", "Japan", "Malta")
    path = tmp_path / "many.csv"
    path.write_text("x;y\n" + "".join(f"town {i if i > 5 else 0};{i}\n" for i in range(200)))
    assert guess_schema(path).schema["x"].domain == ("town 0",)
    assert read(path).data.schema["x"].domain is None


def test_what_a_person_declares_rejects_and_says_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("town,age\n" + "a,1\n" * 20 + "Malta,x\n" + "a,2\n" * 20 + "Cyprus,1\nMalta,y\n")
    declared = Schema.of({"kind": "table", "columns": {"town": {"domain": ["a"]}, "age": {"type": "integer"}}})
    with pytest.raises(ValueInCellError) as caught:
        read(path, declared)
    assert str(caught.value).split("\n") == [
        f"{path}, row 22, column age, 'x': this is not a whole number; write it like 12; 2 cells, also 'y'",
        "  row 22, column town, 'Malta': the value is not in the declared domain (1 values); correct it, or add it to "
        "the domain in the schema; 3 cells, also 'Cyprus'",
    ]
    assert [(p.column, p.row, p.cells) for p in caught.value.problems] == [("age", 22, 2), ("town", 22, 3)]
    taken = read(path, declared.model_copy(update={"guessed": True})).data.schema
    assert (taken["town"].domain, str(taken["age"].type)) == (("Cyprus", "Malta", "a"), "text")


def test_no_more_than_twenty_kinds_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 1000)
    names = [f"c{i}" for i in range(25)]
    path = tmp_path / "wide.csv"
    path.write_text(",".join(names) + "\n" + ",".join(["x"] * 25) + "\n")
    schema = Schema.of({"kind": "table", "columns": {name: {"type": "integer"} for name in names}})
    with pytest.raises(ValueInCellError) as caught:
        read(path, schema)
    lines = str(caught.value).split("\n")
    assert len(lines) == 21
    assert lines[-1] == "  and 5 more kinds of problems"
    assert len(caught.value.problems) == 25


def test_a_column_that_loses_its_type_loses_its_role(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    rows = "".join(f"c{i},2010/12/{i % 28 + 1},i,1.5,2\n" for i in range(40))
    path.write_text("customer,date,item,price,quantity\n" + rows + "c,unknown,i,free,2\n")
    found = read(path).data.schema
    assert [str(c.role) for c in found.columns] == ["customer", "other", "item", "other", "quantity"]


def test_parquet_widens_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"x": ["1"] * 9 + ["A12"], "y": [1.0] * 9 + [float("nan")], "z": [1.5] * 9 + [float("inf")]})
    frame.write_parquet(tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet").data
    assert [str(c.type) for c in found.schema.columns] == ["text", "integer", "text"]
    assert found.frame.row(9) == ("A12", None, "inf")
    assert found.schema["y"].optional


def test_a_guess_says_that_it_is_one_in_its_file() -> None:
    schema = guess_columns(pl.DataFrame({"a": [1, 2]})).schema
    assert schema.guessed
    text = schema.to_toml()
    assert "# Take the next line out, and rows that do not fit are refused.\nguessed = true\n" in text
    assert Schema.from_toml(text) == schema
    assert not Schema.from_toml(text.replace("guessed = true\n", "")).guessed
    assert not Schema.preset("adult").guessed
