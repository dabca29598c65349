"""Parquet and Excel: the same values back, and no harm from hostile files."""

from __future__ import annotations

import datetime as dt
import io
import os
import struct
import zipfile
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given
from polars.testing import assert_frame_equal
from tests.data.strategies import excel_tables, tables

from noren.data.formats import parquet, workbooks
from noren.data.formats.parquet import parquet_blocks
from noren.data.formats.source import Source, explain_damage
from noren.data.formats.workbooks import excel_sheet
from noren.data.frames import Table
from noren.data.guessing.schema_guess import guess_schema
from noren.data.reading import read, write
from noren.data.schema import Schema
from noren.errors import FileError, NorenError, ParameterError, ValueInCellError

SHEET = "xl/worksheets/sheet1.xml"
PAIR = Schema.of({"kind": "table", "columns": {"a": {}, "b": {"optional": True}}})


@given(table=tables())
def test_a_table_comes_back_from_parquet(tmp_path: Path, table: Table) -> None:
    write(table, tmp_path / "table.parquet")
    assert_frame_equal(read(tmp_path / "table.parquet", table.schema).data.frame, table.frame)


@given(table=excel_tables())
def test_a_table_comes_back_from_excel(tmp_path: Path, table: Table) -> None:
    write(table, tmp_path / "table.xlsx")
    assert_frame_equal(read(tmp_path / "table.xlsx", table.schema).data.frame, table.frame)


def test_formats_are_known_by_their_content(tmp_path: Path) -> None:
    table = Table(pl.DataFrame({"a": ["x"], "b": ["y"]}), PAIR)
    for name in ("t.parquet", "t.xlsx", "t.csv"):
        write(table, tmp_path / name)
    (tmp_path / "t.parquet").rename(tmp_path / "no ending")
    assert Source.open(tmp_path / "no ending").kind == "parquet"
    assert Source.open(tmp_path / "t.csv").kind == "text"
    assert read(tmp_path / "no ending", PAIR).data.frame.rows() == [("x", "y")]
    assert Source.open(tmp_path / "t.xlsx").kind == "excel"


# --- Parquet ---------------------------------------------------------------------------------------------------------


def test_customers_that_differ_by_a_zero_stay_apart(tmp_path: Path) -> None:
    frame = pl.DataFrame({"customer": ["007", "7"], "date": [dt.date(2010, 12, 1)] * 2, "item": ["01", "1"]})
    for name in ("shop.parquet", "shop.xlsx"):
        (frame.write_parquet if name.endswith("parquet") else frame.write_excel)(tmp_path / name)
        guess = guess_schema(tmp_path / name)
        assert [str(c.role) for c in guess.schema.columns] == ["customer", "date", "item"]
        history = read(tmp_path / name).data
        assert history.frame["customer"].to_list() == ["007", "7"]
        assert history.frame["item"].to_list() == ["01", "1"]


def test_parquet_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"a": [f"a{i}" for i in range(100)], "b": ["x"] * 99 + [None]})
    frame.write_parquet(path, row_group_size=30)
    monkeypatch.setattr(parquet, "_BLOCK_ROWS", 7)
    heights = [len(block) for block in parquet_blocks(path)]
    assert max(heights) <= 7
    assert sum(heights) == 100
    assert_frame_equal(read(path, PAIR).data.frame, frame)
    assert guess_schema(path).notes[0] == "read as Parquet, 2 columns, 100 rows"
    needed = PAIR.model_copy(update={"columns": tuple(c.model_copy(update={"optional": False}) for c in PAIR.columns)})
    with pytest.raises(ValueInCellError, match="row 100, column b, '': the value is missing"):
        read(path, needed)


def test_texts_that_are_not_utf_8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.table({"a": pa.array([b"x", b"\xff\xfe"]), "b": ["y", "z"]})
    text = table.set_column(0, "a", table["a"].chunk(0).view(pa.string()))
    pq.write_table(text, path)
    with pytest.raises(FileError, match="this is not a readable Parquet file"):
        read(path, PAIR)
    noted = pa.schema(
        [pa.field("a", pa.list_(pa.field("x", pa.string(), metadata={"k": b"\xff"}))), pa.field("b", pa.string())]
    )
    pq.write_table(pa.table({"a": [["x"]], "b": ["y"]}, schema=noted), path)
    with pytest.raises(FileError, match="this is not a readable Parquet file"):
        read(path, PAIR)


def test_a_file_without_rows(tmp_path: Path) -> None:
    pl.DataFrame({"a": [], "b": []}).write_parquet(tmp_path / "t.parquet")
    for look in (guess_schema, lambda path: read(path, PAIR)):
        with pytest.raises(FileError, match=r"t\.parquet: the file has no rows"):
            look(tmp_path / "t.parquet")


class PanicException(BaseException):
    """What native code raises where it gives up."""


def test_a_panic_of_native_code_is_a_damaged_file_and_an_interrupt_is_not(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"this is not a readable Parquet file \(out of range\); export it again"):
        _raise_inside(tmp_path, PanicException("out of range\nsecond line"))
    with pytest.raises(FileError, match=r"\(ValueError\)"):
        _raise_inside(tmp_path, ValueError())
    with pytest.raises(KeyboardInterrupt):
        _raise_inside(tmp_path, KeyboardInterrupt())
    with pytest.raises(NorenError, match=r"^said already$"):
        _raise_inside(tmp_path, NorenError("said already"))


def _raise_inside(path: Path, error: BaseException) -> None:
    with explain_damage(path, "Parquet"):
        raise error


# --- Excel -----------------------------------------------------------------------------------------------------------


def sheet(path: Path, *rows: tuple[object, ...]) -> Path:
    with xlsxwriter.Workbook(str(path), {"strings_to_urls": False}) as book:
        page = book.add_worksheet()
        for i, row in enumerate(rows):
            page.write_row(i, 0, row)
    return path


def test_a_column_of_numbers_and_names_keeps_both(tmp_path: Path) -> None:
    rows = [(i, i / 2) for i in range(1500)] + [("x7", "007"), ("85123A", "n/a")]
    frame = read(sheet(tmp_path / "t.xlsx", ("a", "b"), *rows), PAIR).data.frame
    assert len(frame) == 1502
    assert frame["a"].null_count() == frame["b"].null_count() == 0
    assert frame.row(7) == ("7", "3.5")
    assert frame.row(1500) == ("x7", "007")  # with the default of the reader, null and 7.0
    assert frame.row(1501) == ("85123A", "n/a")


def test_the_row_of_a_complaint_is_that_of_the_sheet(tmp_path: Path) -> None:
    schema = Schema.of({"kind": "table", "columns": {"a": {"type": "integer"}}})
    with pytest.raises(ValueInCellError, match=r"t\.xlsx, row 3, column a, 'x': this is not a whole number"):
        read(sheet(tmp_path / "t.xlsx", ("a",), (1,), ("x",)), schema)


def test_names_that_end_in_a_number(tmp_path: Path) -> None:
    frame = excel_sheet(sheet(tmp_path / "t.xlsx", ("a", "a_1", "__UNNAMED__9"), (1, 2, 3))).frame
    assert frame.columns == ["a", "a_1", "__UNNAMED__9"]


@pytest.mark.parametrize(
    "text", ["=1+1", "{=1}", "http://example.org", "mailto:x", "_x0041_", "a\x01b", " a ", "a\r\nb", "+1", "TRUE"]
)
def test_texts_are_neither_formulas_nor_links(tmp_path: Path, text: str) -> None:
    write(Table(pl.DataFrame({"a": [text], "b": ["x"]}), PAIR), tmp_path / "t.xlsx")
    assert read(tmp_path / "t.xlsx", PAIR).data.frame.rows() == [(text, "x")]


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("text", "x" * 32_768, "32,767 characters per cell, numbers of 15 digits and dates from 1900"),
        ("integer", 10**15 + 1, "32,767 characters per cell, numbers of 15 digits and dates from 1900"),
        ("date", dt.date(1899, 12, 31), "32,767 characters per cell, numbers of 15 digits and dates from 1900"),
        ("datetime", dt.datetime(1899, 12, 31), "32,767 characters per cell, numbers of 15 digits and dates from 1900"),
    ],
)
def test_what_no_sheet_holds_is_refused_before_it_is_cut(tmp_path: Path, kind: str, value: object, says: str) -> None:
    schema = Schema.of({"kind": "table", "columns": {"a": {"type": kind, "optional": True}}})
    frame = pl.DataFrame({"a": pl.Series([None, value], dtype=schema["a"].dtype)})
    with pytest.raises(ParameterError) as caught:
        write(Table(frame, schema), tmp_path / "t.xlsx")
    assert str(caught.value).startswith(f"{tmp_path / 't.xlsx'}, row 3, column a, '")
    assert f"{says}; write Parquet or CSV instead" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_sheet_has_its_bounds(tmp_path: Path) -> None:
    long = pl.DataFrame({"a": pl.repeat("x", 1 << 20, eager=True), "b": pl.repeat("y", 1 << 20, eager=True)})
    with pytest.raises(
        ParameterError, match=r"a sheet holds 1,048,575 rows, 16,384 columns.*; write Parquet or CSV instead"
    ):
        write(Table(long, PAIR), tmp_path / "t.xlsx")
    names = [f"c{i}" for i in range((1 << 14) + 1)]
    wide = Schema.of({"kind": "table", "columns": {name: {} for name in names}})
    with pytest.raises(ParameterError, match="a sheet holds 1,048,575 rows, 16,384 columns"):
        write(Table(pl.DataFrame([dict.fromkeys(names, "x")]), wide), tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


# --- hostile workbooks -----------------------------------------------------------------------------------------------


def rebuilt(path: Path, change: dict[str, bytes]) -> Path:
    """Replace members of a small workbook."""
    sheet(path, ("a", "b"), ("x", "y"))
    with zipfile.ZipFile(path) as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (members | change).items():
            archive.writestr(name, content)
    return path


def sheet_xml(rows: bytes) -> bytes:
    head = (
        b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    )
    return head + rows + b"</sheetData></worksheet>"


FIRST = b'<row r="1"><c r="A1"><v>1</v></c></row>'
LAST = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>'
FAR = {
    "a far corner": FIRST + LAST,
    "with spaces": FIRST + b"<row><c\n r\t=\n'XFD1048576' ><v>1</v></c></row>",
    "with a prefix": FIRST + b'<x:row><x:c r="xfd1048576"><v>1</v></x:c></x:row>',
    "cells that give no place": FIRST + b'<row r="1048576">' + b"<c><v>1</v></c>" * 16_384 + b"</row>",
    "across chunks": FIRST + b" " * (2**20 - 250) + LAST,
    "in an endless tag": FIRST + LAST.replace(b"<row ", b"<row" + b" " * (3 * 2**20)),
    "in leading zeros": FIRST + b'<row><c r="XFD0001048576"><v>1</v></c></row>',
    "rows that give no place": b'<row r="1048576"><c r="ABC1048576"><v>1</v></c></row>' + b"<row></row>" * 9,
}


@pytest.mark.parametrize("name", FAR)
def test_a_cell_far_away_does_not_take_all_memory(tmp_path: Path, name: str) -> None:
    path = rebuilt(tmp_path / "bomb.xlsx", {SHEET: sheet_xml(FAR[name])})
    with pytest.raises(FileError) as caught:
        excel_sheet(path)
    assert f"bomb.xlsx: the sheet {SHEET} spans " in str(caught.value)
    assert "cells, more than 50,000,000; delete cells far from the data" in str(caught.value)


def test_a_sheet_whose_cells_give_no_places(tmp_path: Path) -> None:
    row = b'<row><c t="str"><v>%s</v></c><c t="str"><v>%s</v></c></row>'
    rows = row % (b"a", b"b") + b"".join(row % (b"x", b"%d" % i) for i in range(3000))
    frame = excel_sheet(rebuilt(tmp_path / "plain.xlsx", {SHEET: sheet_xml(rows)})).frame
    assert frame.shape == (3000, 2)
    assert frame.row(2999) == ("x", "2999")


def test_a_workbook_that_unpacks_too_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "LARGEST_WORKBOOK", 3_000_000)
    path = rebuilt(tmp_path / "bomb.xlsx", {"xl/media/picture.bin": b"\0" * 5_000_000})
    assert path.stat().st_size < 20_000
    with pytest.raises(FileError, match="the file decodes to more than 3,000,000 bytes; split it"):
        excel_sheet(path)


def test_a_workbook_that_understates_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "LARGEST_WORKBOOK", 3_000_000)
    path = rebuilt(tmp_path / "bomb.xlsx", {"xl/media/picture.bin": b"\0" * 5_000_000})
    content = path.read_bytes().replace(struct.pack("<I", 5_000_000), struct.pack("<I", 100))
    path.write_bytes(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.getinfo("xl/media/picture.bin").file_size == 100
    measured = []
    monkeypatch.setattr(workbooks._Extent, "look_at", lambda self, chunk: measured.append(len(chunk)))
    with pytest.raises(FileError, match=r"not a readable Excel file \(xl/media/picture.bin is larger than it says\)"):
        excel_sheet(path)
    assert sum(measured) < 100_000  # nothing of the bomb: it is refused with its first chunk


def test_a_workbook_of_1_7_gb_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rebuilt(tmp_path / "bomb.xlsx", {"xl/media/picture.bin": b"\0" * 5_000_000})
    size = struct.pack("<I", 1_700_000_000)  # as a file of that size says; nothing of it is unpacked
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 5_000_000), size))
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_about: pytest.fail("it was unpacked"))
    with pytest.raises(FileError, match="the file decodes to more than 1,073,741,824 bytes; split it"):
        excel_sheet(path)


def test_measuring_stops_where_a_sheet_reaches_too_far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = rebuilt(tmp_path / "bomb.xlsx", {SHEET: sheet_xml(FIRST + LAST + b" " * 5_000_000)})
    chunks: list[int] = []
    look_at = workbooks._Extent.look_at

    def counted(self: workbooks._Extent, chunk: bytes) -> None:
        chunks.append(len(chunk))
        look_at(self, chunk)

    monkeypatch.setattr(workbooks._Extent, "look_at", counted)
    with pytest.raises(FileError, match="spans"):
        excel_sheet(path)
    assert sum(chunks) < 2 * 2**20


def test_a_large_picture_is_no_bomb(tmp_path: Path) -> None:
    path = rebuilt(tmp_path / "t.xlsx", {"xl/media/picture.bin": b"\0" * 2_500_000 + os.urandom(100)})
    assert excel_sheet(path).frame.rows() == [("x", "y")]


def test_a_damaged_member(tmp_path: Path) -> None:
    path = rebuilt(tmp_path / "t.xlsx", {})
    content = bytearray(path.read_bytes())
    content[content.index(b"xl/worksheets") + 60] ^= 0xFF
    path.write_bytes(bytes(content))
    with pytest.raises(FileError, match="this is not a readable Excel file"):
        excel_sheet(path)
