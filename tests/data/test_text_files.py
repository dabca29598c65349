"""CSV files: what is written is read back, in blocks of any size."""

from __future__ import annotations

import datetime as dt
import gzip
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal
from tests.data.strategies import text_tables

from noren.data.formats import text_files
from noren.data.formats.source import Source
from noren.data.formats.text_files import column_names, text_blocks
from noren.data.frames import Table
from noren.data.reading import read, read_blocks, write
from noren.data.schema import Schema
from noren.errors import FileError, FormatError, OutputError, ValueInCellError

SHOP = Schema.of({"columns": {role: {"role": role} for role in ("customer", "date", "item", "price", "quantity")}})
HEADER = b"customer,date,item,price,quantity\n"
ROW = b"a,2010/12/1,x,1.5,2\n"
TEXTS = Schema.of({"kind": "table", "columns": {"a": {}, "b": {}}})


def read_bytes(tmp_path: Path, content: bytes, schema: Schema = SHOP) -> pl.DataFrame:
    (tmp_path / "file.csv").write_bytes(content)
    return read(tmp_path / "file.csv", schema).data.frame


@given(table=text_tables())
def test_a_table_comes_back_from_its_text_file(tmp_path: Path, table: Table) -> None:
    for name in ("table.csv", "table.txt"):
        write(table, tmp_path / name)
        assert_frame_equal(read(tmp_path / name, table.schema).data.frame, table.frame)
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress((tmp_path / "table.csv").read_bytes()))
    assert_frame_equal(read(tmp_path / "table.csv.gz", table.schema).data.frame, table.frame)


@given(table=text_tables())
def test_a_table_comes_back_from_tabs(tmp_path: Path, table: Table) -> None:
    tabs = table.schema.text.model_copy(update={"delimiter": "\t"})
    write(table, tmp_path / "table.tsv")
    assert_frame_equal(
        read(tmp_path / "table.tsv", table.schema.model_copy(update={"text": tabs})).data.frame, table.frame
    )


@pytest.mark.parametrize(
    "cell", ["", '"', 'a"b', "a,b", "a\nb", "a\r\nb", "a\rb", " a ", "顧客、商品", "007", "-", "''"]
)
def test_what_a_cell_may_hold(tmp_path: Path, cell: str) -> None:
    quoted = '"' + cell.replace('"', '""') + '"'
    frame = read_bytes(
        tmp_path,
        f"a,b\n{quoted},x\n".encode(),
        Schema.of({"kind": "table", "columns": {"a": {"optional": True}, "b": {}}}),
    )
    assert frame.rows() == [(cell or None, "x")]


def test_one_column_keeps_its_empty_cells(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"a": {"optional": True}}})
    table = Table(pl.DataFrame({"a": ["x", None, ";", None]}), schema)
    write(table, tmp_path / "one.csv")
    assert read(tmp_path / "one.csv", schema).data.frame["a"].to_list() == ["x", None, ";", None]


def test_a_character_that_the_encoding_lacks_is_named(tmp_path: Path) -> None:
    schema = TEXTS.model_copy(update={"text": TEXTS.text.model_copy(update={"encoding": "iso-8859-1"})})
    with pytest.raises(
        OutputError, match="was not written: '顧' does not exist in iso-8859-1; set encoding = \"utf-8\""
    ):
        write(Table(pl.DataFrame({"a": ["é"], "b": ["顧客"]}), schema), tmp_path / "out.csv")
    schema = TEXTS.model_copy(update={"text": TEXTS.text.model_copy(update={"encoding": "no such"})})
    with pytest.raises(OutputError, match="unknown encoding: no such"):
        write(Table(pl.DataFrame({"a": ["é"], "b": ["x"]}), schema), tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_values_of_every_type(tmp_path: Path) -> None:
    kinds = ("text", "integer", "decimal", "date", "time", "datetime")
    schema = Schema.of({"kind": "table", "columns": {kind: {"type": kind} for kind in kinds}})
    frame = read_bytes(
        tmp_path,
        b"text,integer,decimal,date,time,datetime\n"
        b"007,12.0,2.10,2010/12/1,8:45,2010-12-01T08:45\n"
        b"x,-3,1e3,2010-12-01,08:45:30.25,2010/12/1 8:45:30\n",
        schema,
    )
    assert frame.rows() == [
        ("007", 12, 2.1, dt.date(2010, 12, 1), dt.time(8, 45), dt.datetime(2010, 12, 1, 8, 45)),
        ("x", -3, 1000.0, dt.date(2010, 12, 1), dt.time(8, 45, 30, 250_000), dt.datetime(2010, 12, 1, 8, 45, 30)),
    ]


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"], ids=["LF", "CR LF", "CR"])
@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n\n"], ids=["no final", "final", "blank lines"])
def test_line_ends_of_any_kind(tmp_path: Path, newline: bytes, end: bytes) -> None:
    content = (HEADER + ROW + ROW.strip() + end).replace(b"\n", newline)
    assert len(read_bytes(tmp_path, content)) == 2


def test_line_ends_may_differ_within_a_file(tmp_path: Path) -> None:
    assert len(read_bytes(tmp_path, HEADER + ROW + ROW.replace(b"\n", b"\r\n") + ROW.replace(b"\n", b"\r"))) == 3


def test_columns_are_found_by_name_in_any_order(tmp_path: Path) -> None:
    frame = read_bytes(tmp_path, b" quantity , item,customer,date,price\n2,x,a,2010/12/1,1.5\n")
    assert frame.rows() == [("a", dt.date(2010, 12, 1), "x", 1.5, 2)]


def test_other_columns_of_a_history_are_left_out_and_said(tmp_path: Path) -> None:
    (tmp_path / "shop.csv").write_bytes(b"shop," + HEADER + b"7," + ROW)
    found = read(tmp_path / "shop.csv", SHOP)
    assert found.data.frame.columns == list(SHOP.names)
    assert found.notes == ("read as UTF-8, delimiter ',', 6 columns, with a header", "columns not read: shop")


def test_a_header_whose_name_holds_a_line_end(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"a\nb": {}, "c": {}}})
    assert read_bytes(tmp_path, b'"a\nb",c\n1,2\n3,4\n', schema).rows() == [("1", "2"), ("3", "4")]
    with pytest.raises(FormatError, match="row 3, '3': the row has 1 cells"):
        read_bytes(tmp_path, b'"a\nb",c\n1,2\n3\n', schema)


def test_names_without_a_header(tmp_path: Path) -> None:
    (tmp_path / "T.csv").write_bytes(b"1,2\n3,4\n")
    assert column_names(Source.open(tmp_path / "T.csv").text_form()) == ["column1", "column2"]


@pytest.mark.slow
def test_ten_thousand_columns(tmp_path: Path) -> None:
    names = [f"column number {i}" for i in range(10_000)]
    schema = Schema.of({"kind": "table", "columns": {name: {"type": "integer", "optional": True} for name in names}})
    content = (",".join(names) + "\n" + ",".join(map(str, range(10_000))) + "\n" + "," * 9_999 + "7\n").encode()
    frame = read_bytes(tmp_path, content, schema)
    assert frame.shape == (2, 10_000)
    assert frame[0, 9_998] == 9_998
    assert frame.row(1) == (*[None] * 9_999, 7)
    with pytest.raises(ValueInCellError, match="row 2, column column number 9999, 'x': this is not a whole number"):
        read_bytes(tmp_path, content.replace(b",9999\n", b",x\n"), schema)


# --- blocks ----------------------------------------------------------------------------------------------------------


def shop(rows: int) -> bytes:
    return HEADER + b"".join(
        b"c%d,2010/12/%d,i%d,%d.25,%d\n" % (i % 7, i % 30 + 1, i % 5, i, i + 1) for i in range(rows)
    )


@pytest.mark.parametrize("size", [64, 100, 1000, 8 << 20])
def test_the_same_rows_for_any_block_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    path = tmp_path / "shop.csv"
    path.write_bytes(shop(200))
    whole = read(path, SHOP).data.frame
    monkeypatch.setattr(text_files, "BLOCK_BYTES", size)
    form = Source.open(path).text_form(SHOP.text, SHOP.names)
    numbered = list(text_blocks(path, form))
    starts = [row for row, _block in numbered]
    heights = [len(block) for _row, block in numbered]
    assert max(heights) * len(b"c0,2010/12/1,i0,0.25,1\n") <= size + 64  # no block holds much more than its bytes
    assert len(numbered) >= min(200, len(shop(200)) // size)
    assert starts == [2 + sum(heights[:i]) for i in range(len(heights))]
    assert_frame_equal(pl.concat(read_blocks(path, SHOP)), whole)


@pytest.mark.parametrize("size", [64, 8 << 20])
def test_a_complaint_names_the_same_row_for_any_block_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", size)
    rows = shop(100)
    for bad, row, says in (
        (b"c,2010/12/1,x,1\n", 102, "the row has 4 cells"),
        (b"c,2010/12/1,x,one,1\n", 102, "column price, 'one'"),
        (b"\n" + ROW, 102, "the line is empty"),
        (
            b"\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n" * 9 + ROW,
            102,
            "the line is empty",
        ),
        (b"c,2010/12/1,%s,1,1\n" % (b"x" * 40), 0, ""),
    ):
        if row:
            with pytest.raises((FormatError, ValueInCellError), match=f"row {row}.*{says}"):
                read_bytes(tmp_path, rows + bad)
        else:
            assert len(read_bytes(tmp_path, rows + bad)) == 101


def test_blank_lines_at_the_end_may_span_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 64)
    assert len(read_bytes(tmp_path, shop(10) + b"\n" * 300)) == 10


def test_a_row_longer_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 64)
    with pytest.raises(FormatError, match="csv: a row is longer than 64 bytes; check for a missing quote"):
        read_bytes(tmp_path, HEADER + ROW * 9 + b"a,2010/12/1," + b"x" * 500 + b",1,1\n")


def test_the_first_complaint_wins_on_any_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "BLOCK_BYTES", 64)
    content = shop(20) + b"c,2010/12/1,x,bad,1\n" + shop(4)[len(HEADER) :] + b"ragged\n"
    for threads in (1, 4):
        monkeypatch.setattr("noren.data.reading.TYPING_THREADS", threads)
        with pytest.raises(ValueInCellError, match="row 22, column price, 'bad'"):
            read_bytes(tmp_path, content)


def test_nothing_but_empty_rows(tmp_path: Path) -> None:
    schema = Schema.of(
        {"kind": "table", "text": {"header": True}, "columns": {"a": {"optional": True}, "b": {"optional": True}}}
    )
    with pytest.raises(FileError, match="the file has no rows"):
        read_bytes(tmp_path, b"a,b\n,\n,\n", schema)
    headless = schema.model_copy(update={"text": schema.text.model_copy(update={"header": False})})
    with pytest.raises(FileError, match="csv: the file has no rows"):
        read_bytes(tmp_path, b",\n,\n", headless)


@pytest.mark.parametrize(
    ("content", "encoding", "kind", "says"),
    [
        (b"", "utf-8", FileError, "the file has no rows"),
        (b"a,b\n\xff,1\n", "utf-8", FormatError, "invalid UTF8 data"),
        (b"a,b\n\x81,1\n", "cp932", FormatError, "'81': the bytes are not cp932"),
    ],
)
def test_a_file_that_changed_since_it_was_scanned(
    tmp_path: Path, content: bytes, encoding: str, kind: type[Exception], says: str
) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(b"a,b\n1,2\n")
    form = replace(Source.open(path).text_form(), encoding=encoding)
    path.write_bytes(content)
    with pytest.raises(kind) as caught:
        list(text_blocks(path, form))
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["adult.data", "adult.test"])
def test_a_public_table(shared: Path, name: str) -> None:
    found = read(shared / "data" / name, "adult").data
    rows = {"adult.data": 32_561, "adult.test": 16_281}[name]
    ages = {"adult.data": (17, 90, 1_256_257), "adult.test": (17, 90, 631_173)}[name]
    assert len(found) == rows
    assert (found.frame["age"].min(), found.frame["age"].max(), found.frame["age"].sum()) == ages
