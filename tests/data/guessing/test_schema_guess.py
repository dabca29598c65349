"""A first schema for a file nobody has described."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal
from tests.data.strategies import tables, text_tables

from noren.data.frames import Table
from noren.data.guessing import schema_guess as guess
from noren.data.guessing.schema_guess import SchemaGuess, guess_columns, guess_schema
from noren.data.reading import read, write
from noren.data.schema import Schema
from noren.errors import NorenError, SchemaError


def of(tmp_path: Path, content: str, name: str = "file.csv", encoding: str = "utf-8") -> SchemaGuess:
    (tmp_path / name).write_bytes(content.encode(encoding))
    return guess_schema(tmp_path / name)


def types(found: SchemaGuess) -> list[str]:
    return [str(column.type) for column in found.schema.columns]


def roles(found: SchemaGuess) -> list[str]:
    return [str(column.role) for column in found.schema.columns]


def test_a_history_in_english(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country\n"
        "536365,85123A,T-LIGHT HOLDER,6,2010-12-01 08:26,2.55,17850,United Kingdom\n"
        "C536379,D,Discount,-1,2010-12-01 09:41,27.5,,France\n",
    )
    assert found.schema.kind == "history"
    assert roles(found) == ["invoice", "item", "description", "quantity", "date", "price", "customer", "other"]
    assert types(found) == ["text", "text", "text", "integer", "datetime", "decimal", "text", "text"]
    assert found.schema["InvoiceDate"].format == "%Y-%m-%d %H:%M"
    assert found.schema["CustomerID"].optional
    assert found.schema["UnitPrice"].width == 0.01
    assert found.notes[0] == "read as UTF-8, delimiter ',', 8 columns, with a header"
    assert found.notes[1].startswith("guessed a history: InvoiceNo = invoice, StockCode = item")
    assert found.schema.text.model_dump() == {
        "delimiter": ",", "header": True, "encoding": "utf-8", "strip": False, "comment": None, "sheet": None
    }  # fmt: skip


def test_a_history_in_japanese(tmp_path: Path) -> None:
    found = of(
        tmp_path,
        "会員番号;購買日;商品コード;単価;数量\n007;2010年12月1日;A;120;2\n7;2010年12月2日;B;80;1\n",
        encoding="cp932",
    )
    assert roles(found) == ["customer", "date", "item", "price", "quantity"]
    assert found.schema["購買日"].format == "%Y年%m月%d日"
    assert found.notes[0] == "read as CP932 (Shift_JIS), delimiter ';', 5 columns, with a header"
    assert read(tmp_path / "file.csv").data.frame["会員番号"].to_list() == ["007", "7"]


def test_the_contests_tables_are_known_by_their_order(tmp_path: Path) -> None:
    found = of(tmp_path, "12583,2010/12/1,22728,3.75,24\n7,2010/12/2,85123A,2,1\n")
    assert roles(found) == ["customer", "date", "item", "price", "quantity"]
    assert found.schema.names == ("column1", "column2", "column3", "column4", "column5")
    found = of(tmp_path, "12583,536370,2010/12/1,8:45,22728,3.75,24\n")
    assert roles(found) == ["customer", "invoice", "date", "time", "item", "price", "quantity"]
    found = of(tmp_path, "12583,2010/12/1,22728,dear,24\n")
    assert found.schema.kind == "table"


def test_a_table(tmp_path: Path) -> None:
    rows = "".join(f"p{i},{20 + i % 3},{'fm'[i % 2]},{30 + i % 4}.5,flu\n" for i in range(20))
    found = of(tmp_path, "id,age,sex,weight,disease\n" + rows)
    assert found.schema.kind == "table"
    assert roles(found) == ["identifier", "quasi", "quasi", "quasi", "sensitive"]
    assert types(found) == ["text", "integer", "text", "decimal", "text"]
    assert found.schema["sex"].domain == ("f", "m")
    assert found.schema["disease"].domain == ("flu",)
    assert found.questions == ()


def test_an_email_is_an_identifier_even_when_some_repeat() -> None:
    people = pl.DataFrame({"e-mail": ["a@x", "b@x", "c@x", "a@x"], "town": ["u", "u", "v", "v"]})
    assert [str(c.role) for c in guess_columns(people).schema.columns] == ["identifier", "quasi"]


def test_what_could_go_either_way_is_asked(tmp_path: Path) -> None:
    found = of(tmp_path, "customer,when,item\na,03/04/2010,x\nb,05/06/2010,y\n")
    assert str(found.questions[0]) == "when: day first or month first? Every value allows both; %d/%m/%Y was chosen"
    assert roles(found) == ["customer", "date", "item"]
    assert not found.questions[0].stops
    found = of(tmp_path, "customer,date,item\na,03/14/2010,x\n")
    assert found.questions == ()
    assert found.schema["date"].format == "%m/%d/%Y"


@pytest.mark.parametrize(
    ("values", "kind", "pattern"),
    [
        (["1", "-2", "+3"], "integer", None),
        (["1", "007"], "text", None),  # names
        (["1.5", "007.5"], "text", None),
        (["9" * 20, "1"], "text", None),  # too long for a number
        (["1.5", "2"], "decimal", None),
        (["1.5", "1e3"], "decimal", None),
        (["１", "２"], "integer", None),  # full-width digits are digits
        (["20101201", "20111231"], "date", "%Y%m%d"),
        (["20101201", "20111331"], "integer", None),
        (["00010203", "00010204"], "text", None),
        (["2010/12/1"], "date", "%Y/%m/%d"),
        (["2010-12-01"], "date", "%Y-%m-%d"),
        (["31/12/2010"], "date", "%d/%m/%Y"),
        (["31.12.2010"], "date", "%d.%m.%Y"),
        (["2010/12/1", "2010-12-01"], "date", None),  # the two usual ways, each read
        (["2010/12/1", "1.12.2010"], "text", None),
        (["8:45", "23:59"], "time", "%H:%M"),
        (["8:45:30"], "time", "%H:%M:%S"),
        (["2010/12/1 8:45"], "datetime", "%Y/%m/%d %H:%M"),
        (["2010-12-01T08:45:00"], "datetime", "%Y-%m-%dT%H:%M:%S"),
        (["a", "1"], "text", None),
        (["", ""], "text", None),
    ],
)
def test_types_of_texts(values: list[str], kind: str, pattern: str | None) -> None:
    [column] = guess_columns(pl.DataFrame({"x": values})).schema.columns
    assert (str(column.type), column.format) == (kind, pattern)


@pytest.mark.parametrize(
    ("values", "width"),
    [([1.0, 2.0], 1.0), ([1.5, 2.0], 0.01), ([1.25], 0.01), ([1.125], 0.001), ([1.0005], 0.0001), ([1 / 3], None)],
)
def test_the_grid_of_numbers(values: list[float], width: float | None) -> None:
    [column] = guess_columns(pl.DataFrame({"x": values})).schema.columns
    assert column.width == width
    assert str(column.type) == ("integer" if width == 1.0 else "decimal")


def test_whole_numbers_with_gaps_as_pandas_has_them() -> None:
    [column] = guess_columns(pl.DataFrame({"x": [1.0, float("nan")]})).schema.columns
    assert (str(column.type), column.optional) == ("integer", True)
    for odd in (float("inf"), 1e300, 5e-324):
        [column] = guess_columns(pl.DataFrame({"x": [1.0, odd]})).schema.columns
        assert str(column.type) == "decimal"


def test_types_of_frames() -> None:
    frame = pl.DataFrame(
        {
            "day": [dt.date(2010, 12, 1)],
            "midnight": [dt.datetime(2010, 12, 1)],
            "moment": [dt.datetime(2010, 12, 1, 8)],
            "time": [dt.time(8)],
            "whole": pl.Series([1], dtype=pl.UInt8),
            "money": pl.Series(["1.5"]).cast(pl.Decimal(5, 2)),
            "flag": [True],
            "kind": pl.Series(["u"], dtype=pl.Categorical),
            "list": [["a"]],
            "bytes": [b"a"],
        }
    )
    found = guess_columns(frame)
    assert types(found) == [*("date", "date", "datetime", "time", "integer", "decimal", "text", "text", "text", "text")]
    assert roles(found)[-2:] == ["other", "other"]


def test_a_quantity_that_is_not_written_as_one_stays_a_number(tmp_path: Path) -> None:
    found = of(tmp_path, "customer,date,item,quantity\na,2010/12/1,x,1e3\nb,2010/12/1,y,2.0\n")
    assert types(found)[3] == "decimal"
    assert read(tmp_path / "file.csv").data.frame["quantity"].to_list() == [1000.0, 2.0]
    assert types(of(tmp_path, "customer,date,item,quantity\na,2010/12/1,x,3.0\n"))[3] == "integer"


def test_spaces_after_the_delimiter_are_stripped(tmp_path: Path) -> None:
    found = of(tmp_path, "39, State-gov, 13\n50, Private, 9\n")
    assert found.schema.text.strip
    assert read(tmp_path / "file.csv").data.frame.row(0) == (39, "State-gov", 13)


def test_other_formats_are_guessed_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"customer": [7, 8], "date": [dt.date(2010, 12, 1)] * 2, "item": ["x", "y"], "price": [1, 2]})
    frame.write_parquet(tmp_path / "shop.parquet")
    frame.write_excel(tmp_path / "shop.xlsx")
    for name, said in (
        ("shop.parquet", "read as Parquet, 4 columns, 2 rows"),
        ("shop.xlsx", "read as Excel (Sheet1), 4 columns, 2 rows"),
    ):
        found = guess_schema(tmp_path / name)
        assert found.notes[0] == said
        assert roles(found) == ["customer", "date", "item", "price"]
        assert types(found) == ["text", "date", "text", "decimal"]
        assert read(tmp_path / name).data.frame.row(0) == ("7", dt.date(2010, 12, 1), "x", 1.0)


@pytest.mark.parametrize(
    ("name", "schema"),
    [("shop.csv", "shop"), ("my shop (1).csv.gz", "my-shop-1"), ("顧客.csv", "custom"), (".x.csv", "custom")],
)
def test_the_schema_is_named_after_the_file(tmp_path: Path, name: str, schema: str) -> None:
    assert of(tmp_path, "a,b\n1,2\n", name).schema.name == schema


def test_only_the_first_rows_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guess, "SAMPLE_ROWS", 3)
    assert types(of(tmp_path, "a,b\n" + "1,2\n" * 3 + "x,y\n")) == ["integer", "integer"]


def test_a_header_alone_says_little(tmp_path: Path) -> None:
    assert types(of(tmp_path, "a,b\n")) == ["text", "text"]


def test_a_name_no_column_may_have() -> None:
    with pytest.raises(SchemaError, match=r"'': a column name has 1 to 200 characters; rename the column"):
        guess_columns(pl.DataFrame({"": [1]}))
    with pytest.raises(SchemaError, match=r"'\*': '\*' is a pattern for several columns"):
        guess_columns(pl.DataFrame({"*": [1]}))


@given(table=text_tables())
def test_what_is_guessed_can_be_written_down_and_read_with(tmp_path: Path, table: Table) -> None:
    write(table, tmp_path / "table.csv")
    try:
        found = guess_schema(tmp_path / "table.csv")
    except NorenError:
        return  # a header that repeats, a name that is too long: said elsewhere
    assert Schema.from_toml(found.schema.to_toml()) == found.schema


@given(table=tables())
def test_a_typed_file_can_be_read_as_it_is_guessed(tmp_path: Path, table: Table) -> None:
    write(table, tmp_path / "table.parquet")
    found = read(tmp_path / "table.parquet").data
    assert found.frame.columns == table.frame.columns
    assert len(found) == len(table)
    texts = [c.name for c in found.schema.columns if c.type == "text" and table.schema[c.name].type == "text"]
    assert_frame_equal(found.frame.select(texts), table.frame.select(texts))


def test_the_contests_own_tables(shared: Path) -> None:
    for name, columns in (("pwscup2018_final_T.csv", 5), ("pwscup2016_T.csv", 7)):
        found = guess_schema(shared / "data" / name)
        assert found.schema.kind == "history"
        assert len(found.schema.columns) == columns
    assert guess_schema(shared / "data/adult.data").schema.kind == "table"
    retail = guess_schema(shared / "data/online_retail.parquet")
    assert {"customer", "date", "item", "price", "quantity"} <= set(roles(retail))


def test_what_was_understood_is_shown_beside_an_example(tmp_path: Path) -> None:
    found = of(tmp_path, '会員,購入日,価格,率,備考\n007,H30.4.1,"1,280円",12.5%,x\n8,R6.4.1,980円,3%,\x1by\n')
    told = [(u.column, u.type, u.written, u.example, u.value) for u in found.understood]
    assert told[1:4] == [
        ("購入日", "date", "dates in Japanese eras", "H30.4.1", "2018/4/1"),
        ("価格", "integer" if found.schema.kind == "table" else "decimal", "numbers like 1,234.56", "1,280円", "1280"),
        ("率", "decimal", "percentages like 1,234.56%", "12.5%", "0.125"),
    ]
    assert told[0][3:] == ("007", "007")
    assert told[4] == ("備考", "text", "unchanged", "x", "x")
    assert all(u.example.isprintable() and len(u.example) <= 50 for u in found.understood)


def test_columns_without_a_name_of_their_own_are_given_one(tmp_path: Path) -> None:
    found = of(tmp_path, ",age,age\nx,1,2\ny,3,4\n")
    assert found.schema.names == ("column1", "age", "age_2")
    assert found.notes[1:3] == ("column 1 ('') is now named column1", "column 3 ('age') is now named age_2")
    assert read(tmp_path / "file.csv").data.frame.row(1) == ("y", 3, 4)


@pytest.mark.parametrize("kind", ["table", "history"])
def test_codes_of_places_and_of_what_people_are_like_are_no_quantities(kind: str) -> None:
    codes = ["ZIP", "GENDER", "home_state_id", "Marital_Status", "郵便番号", "都道府県コード"]
    numbers = ["age", "sex_ratio", "num_children", "state_income", "region_population"]
    rows = pl.DataFrame(
        {"customer": [1, 2, 1, 3], "product": list("abab")} | {name: [1, 2, 1, 0] for name in codes + numbers}
    )
    scales = {str(column.name): str(column.scale) for column in guess_columns(rows, kind=kind).schema.columns}
    assert {name: scales[name] for name in codes + numbers} == dict.fromkeys(codes, "nominal") | dict.fromkeys(
        numbers, "ratio"
    )
    states = pl.DataFrame({"state": range(500), "postcode": range(10_000, 10_500)})
    assert [str(column.scale) for column in guess_columns(states, kind="table").schema.columns] == ["ratio", "nominal"]
